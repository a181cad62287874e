"""The statements of a passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.statements import find_statements


def quoted(passage: str) -> list[str]:
    return [passage[statement.span.start : statement.span.end] for statement in find_statements(passage)]


@pytest.mark.parametrize(
    ("passage", "statements"),
    [
        pytest.param("One. Two! Three?", ["One.", "Two!", "Three?"], id="sentences"),
        pytest.param(
            "Dr. No is 3.5 m tall, e.g. here. Yes.", ["Dr. No is 3.5 m tall, e.g. here.", "Yes."], id="abbreviations"
        ),
        pytest.param("One\ntwo. Three", ["One\ntwo.", "Three"], id="wrapped line"),
        pytest.param("- one\n- two. Three", ["- one"[2:], "two.", "Three"], id="list items"),
        pytest.param("```\na = 1\n\nb = 2\n```", ["a = 1", "b = 2"], id="code lines"),
        pytest.param("一。二！三", ["一。", "二！", "三"], id="Chinese"),
        pytest.param("हाँ। नहीं।", ["हाँ।", "नहीं।"], id="Hindi"),
        pytest.param(". . hello . you", [". . hello .", "you"], id="stops that end nothing"),
        pytest.param("x" * 1300, ["x" * 600, "x" * 600, "x" * 100], id="no stop at all"),
        pytest.param(" \n\n", [], id="white space"),
    ],
)
def test_found(passage: str, statements: list[str]) -> None:
    assert quoted(passage) == statements


def test_a_table_cell_says_its_row_and_column_and_quotes_the_row() -> None:
    table = "| Plan | Logs | Seats |\n|---|---|---|\n| Team | 30 days | 10 |\n"
    said = [[table[a:b] for a, b in statement.parts] for statement in find_statements(table)]
    assert said == [["Team", "Logs", "30 days"], ["Team", "Seats", "10"]]
    assert quoted(table) == ["| Team | 30 days | 10 |"] * 2


def test_headings_stand_over_what_follows_until_the_next_of_their_level() -> None:
    page = "# Plans\n\n## Team\n\nSeats: 10.\n\n## Starter\n\nSeats: 1.\n"
    under = [[page[a:b] for a, b in statement.under] for statement in find_statements(page)]
    assert under == [[], ["Plans"], ["Plans", "Team"], ["Plans"], ["Plans", "Starter"]]


def test_a_question_stands_over_the_sentence_behind_it() -> None:
    page = "**Can it be moved?** No. It stays.\n\nIs it? Why?\n"
    said = [(page[slice(*one.span)], [page[slice(*span)] for span in one.under]) for one in find_statements(page)]
    question = "**Can it be moved?**"
    assert said == [("No.", [question]), ("It stays.", []), ("Why?", ["Is it?"])]


@given(passage=st.one_of(st.text(), st.text(alphabet="ab.| #\n-`")))
def test_statements_lie_in_the_passage(passage: str) -> None:
    for statement in find_statements(passage):
        for start, end in (statement.span, *statement.parts, *statement.under):
            assert 0 <= start <= end <= len(passage)
        assert passage[statement.span.start : statement.span.end].strip()
