"""What of an answer can be told without a reader."""

import pytest

from tasks.models.claude.units import number_sentences


@pytest.mark.parametrize(
    ("start", "end", "stretches"),
    [
        pytest.param(0, 22, ["It is 5", ".", "Six."], id="all of it"),
        pytest.param(12, 14, [], id="white space alone"),
        pytest.param(7, 12, ["."], id="white space before a citation"),
        pytest.param(8, 11, [], id="a citation alone"),
    ],
)
def test_stretches_between_citations_hold_ink(start: int, end: int, stretches: list[str]) -> None:
    text = "It is 5 [1].  [2] Six."
    found = number_sentences(text).outside_citations(start, end)
    assert [text[a:b] for a, b in found] == stretches


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        pytest.param(
            "| a | b |\n|---|---|\n| 1 | 2 |\n|  |  |\n", ["| a | b |", "|---|---|", "|  |  |"], id="an empty row"
        ),
        pytest.param("Run:\n\n```sh\n```\n\nDone.", ["```sh\n```"], id="a block of code without code"),
        pytest.param("```sh\nls\n```", ["```sh\n", "```"], id="fences"),
    ],
)
def test_what_states_nothing_for_certain(text: str, rest: list[str]) -> None:
    assert [text[start:end].removeprefix("\n") for _, start, end in number_sentences(text).rest] == rest
