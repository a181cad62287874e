"""What cites and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.markers import find_code_spans, find_links, find_markers


def found(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[marker.start : marker.end], marker.numbers) for marker in find_markers(text)]


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        pytest.param("[1]", (1,), id="single"),
        pytest.param("[1, 2]", (1, 2), id="list"),
        pytest.param("[1-3]", (1, 2, 3), id="range"),
        pytest.param("[1–3, 7]", (1, 2, 3, 7), id="range and list, long dash"),
        pytest.param("[doc 2]", (2,), id="doc"),
        pytest.param("[Docs 1, 2]", (1, 2), id="docs"),
        pytest.param("[Source: 4]", (4,), id="source"),
        pytest.param("[doc 1, doc 3]", (1, 3), id="word before each number"),
        pytest.param("[^1]", (1,), id="footnote"),
        pytest.param("【1†source】", (1,), id="lenticular with dagger"),
        pytest.param("【4:2†a.md】", (2,), id="message and source"),
        pytest.param("【3】", (3,), id="lenticular"),
        pytest.param("［1］", (1,), id="full width"),
        pytest.param("[来源 2]", (2,), id="Chinese word"),
        pytest.param(r"\[1\]", (1,), id="escaped"),
    ],
)
def test_forms_of_markers(marker: str, numbers: tuple[int, ...]) -> None:
    assert found(f"Kept 7 days {marker}.") == [(marker, numbers)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("See [1](a.md).", id="link text"),
        pytest.param("See [[1]](a.md).", id="bracketed link text"),
        pytest.param("See [docs](https://a.io/x[1]).", id="link target"),
        pytest.param("See https://a.io/x[1] there.", id="web address"),
        pytest.param("Use `x[1]` here.", id="inline code"),
        pytest.param("```\nx [1]\n```", id="fenced code"),
        pytest.param("Text.\n\n    x [1]", id="indented code"),
        pytest.param("Released in [2024].", id="year"),
        pytest.param("From [1999-2001].", id="years"),
        pytest.param("Take items[0] first.", id="index zero"),
        pytest.param("Take argv[1] or my_list[2] or a[3] or x.items[4].", id="indexes of identifiers"),
        pytest.param("Set items[1].name to it.", id="an index that goes on like code"),
        pytest.param("It returns matrix[1][2].", id="double index"),
        pytest.param("In the range [0, 1].", id="interval"),
        pytest.param("x = [1, 2]", id="value"),
        pytest.param("[1]: https://a.io", id="link definition"),
        pytest.param("Text.\n[^2]: A note.", id="footnote definition"),
        pytest.param("A [3-1] thing.", id="backward range"),
        pytest.param("- [x] done [ ] [1.5] [12:30]", id="other brackets"),
    ],
)
def test_no_markers(text: str) -> None:
    assert found(text) == []


def test_markers_in_a_row_are_resolved_one_by_one() -> None:
    assert found("Kept 7 days[1][2]; 20 items[3].") == [("[1]", (1,)), ("[2]", (2,)), ("[3]", (3,))]


def test_a_marker_may_stand_in_brackets_behind_other_script_and_between_words() -> None:
    assert [numbers for _, numbers in found("保留三天[1]。 It ([2], [3]) is, as [4] says.")] == [(1,), (2,), (3,), (4,)]


def test_code_spans_close_with_as_many_ticks() -> None:
    text = "a `b` ``c`d`` `open"
    assert [text[start:end] for start, end in find_code_spans(text, 0, len(text))] == ["`b`", "``c`d``"]


def test_links_know_their_text() -> None:
    text = "![an image](a.png) and [a (b)](c_(d).md)"
    assert [text[link.text_start : link.text_end] for link in find_links(text)] == ["an image", "a (b)"]


@given(st.one_of(st.text(max_size=150), st.text(alphabet="[]()1,- `^a】【†\n", max_size=80)))
def test_markers_are_in_order_and_hold_numbers(text: str) -> None:
    done = 0
    for marker in find_markers(text):
        assert done <= marker.start < marker.end <= len(text)
        assert marker.numbers
        done = marker.end
