"""Blocks of Markdown as assistants write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.blocks import cells, find_blocks

LINES = st.lists(
    st.sampled_from(
        ["- a", "  - b", "1. c", "> q", ">", "| a | b |", "|---|---|", "```", "~~~", "# h", "---", "===", "", " ", "\t", "text", "    x",
         "•", "a|b", "> - i", "\r", "2) d", "text:", "[1]", "63. 0"]
    ),
    max_size=25,
)  # fmt: skip


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.body_start : block.body_end]) for block in find_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("one\ntwo\n\nthree", [("paragraph", "one\ntwo"), ("paragraph", "three")], id="a blank line parts paragraphs"),
        pytest.param("## Limits ##\ntext", [("heading", "Limits"), ("paragraph", "text")], id="hashes are not the heading's text"),
        pytest.param("Limits\n------\ntext", [("heading", "Limits"), ("paragraph", "text")], id="an underlined line is a heading"),
        pytest.param("It is 5.\n---\ntext", [("paragraph", "It is 5."), ("layout", ""), ("paragraph", "text")], id="a sentence over dashes is none"),
        pytest.param("#1 choice", [("paragraph", "#1 choice")], id="a number sign is no heading"),
        pytest.param("Intro:\n- a\n- b", [("paragraph", "Intro:"), ("item", "a"), ("item", "b")], id="a list right under its intro"),
        pytest.param("• a\n◦ b\n(1) c\na) d\n① e", [("item", x) for x in "abcde"], id="bullets CommonMark does not know"),
        pytest.param("- [x] done\n- [ ] open", [("item", "done"), ("item", "open")], id="check boxes are layout"),
        pytest.param("- a\n  goes on", [("item", "a\n  goes on")], id="an item's second line"),
        pytest.param("- a\nTeam:\n- b", [("item", "a"), ("paragraph", "Team:"), ("item", "b")], id="a flush line that opens the next list"),
        pytest.param("- a\n[1][2]", [("item", "a"), ("paragraph", "[1][2]")], id="a flush line that cites for the list"),
        pytest.param("1986. It was", [("paragraph", "1986. It was")], id="a year is no label"),
        pytest.param("63. 0", [("paragraph", "63. 0")], id="a lone number is no label"),
        pytest.param("3. c\n4. d", [("item", "c"), ("item", "d")], id="a list that starts late"),
        pytest.param("```py\nx = 1\n```", [("code", "x = 1")], id="a fence"),
        pytest.param("```\nx = 1\n\ny", [("code", "x = 1\n\ny")], id="a fence never closed"),
        pytest.param("text\n\n    x = 1\n\n    y\ntext", [("paragraph", "text"), ("code", "x = 1\n\n    y"), ("paragraph", "text")], id="indented code"),
        pytest.param("    all\n    of it", [("paragraph", "all\n    of it")], id="a margin shared by the whole text is no code"),
        pytest.param("> a\n> b\n>\n> - c", [("quote", "a\n> b"), ("layout", ""), ("item", "c")], id="a block quote with a list"),
        pytest.param("* * *", [("layout", "")], id="a rule"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\t\n", [], id="white space only"),
    ],
)  # fmt: skip
def test_blocks_are_taken_as_meant(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_nesting_counts_the_items_around_a_block() -> None:
    text = "- a\n  - b\n    - c\n\n    of b\n- d\n\nout"
    assert [(text[b.body_start : b.body_end], b.depth) for b in find_blocks(text)] == [
        ("a", 0), ("b", 1), ("c", 2), ("of b", 2), ("d", 0), ("out", 0),
    ]  # fmt: skip


def test_a_table_has_header_delimiter_and_rows() -> None:
    text = "| Plan | Days |\n|:--|--:|\n| Team | 7 |\nStarter | 3\n\nafter"
    assert [block.kind for block in find_blocks(text)] == ["header_row", "delimiter_row", "row", "row", "paragraph"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param("| a | b |", ["a", "b"], id="outer pipes"),
        pytest.param("a | b", ["a", "b"], id="no outer pipes"),
        pytest.param("| `a|b` | c |", ["`a|b`", "c"], id="a pipe in code does not divide"),
        pytest.param(r"| a \| b | c |", [r"a \| b", "c"], id="an escaped pipe does not divide"),
        pytest.param("| a | |", ["a", ""], id="an empty cell is a cell"),
    ],
)
def test_cells_of_a_row(row: str, expected: list[str]) -> None:
    text = "| h | i |\n|---|---|\n" + row
    assert [text[start:end] for start, end in cells(text, find_blocks(text)[2])] == expected


@given(st.one_of(st.text(max_size=200), LINES.map("\n".join)))
def test_every_character_lies_in_one_block_or_is_white_space(text: str) -> None:
    done = 0
    for block in find_blocks(text):
        assert done <= block.start < block.end
        assert not text[done : block.start].strip()
        assert block.start <= block.body_start <= block.body_end <= block.end
        done = block.end
    assert not text[done:].strip()
