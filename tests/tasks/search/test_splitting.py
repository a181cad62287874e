"""Splitting keeps offsets, sizes and headings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.setup import SplitByHeading, SplitByTokens, SplitNot
from tasks.search.splitting import split
from tasks.text.tokens import count_tokens

GUIDE = "# Guide\n\nIntro words.\n\n## Limits\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n# no heading\n```\n\n## End\n\nBye.\n"

SETTINGS = [
    SplitByTokens(max_tokens=16),
    SplitByTokens(max_tokens=16, overlap_tokens=4),
    SplitByTokens(),
    SplitByHeading(by="heading"),
    SplitNot(by="document"),
]

pieces = st.sampled_from([*"ab \n#-|`*.é天ا", "\n\n", "\n# ", "```\n", "\n- ", "word word. "])
markdown = st.lists(pieces, max_size=200).map("".join)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@given(text=markdown)
def test_chunks_equal_their_slice_and_lose_no_ink(settings: SplitByTokens, text: str) -> None:
    chunks = split(text, settings)
    covered: set[int] = set()
    for chunk in chunks:
        piece = text[chunk.start : chunk.end]
        assert piece == piece.strip()
        assert piece
        assert chunk.n_tokens == count_tokens(piece)
        covered.update(range(chunk.start, chunk.end))
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)
    assert {i for i, char in enumerate(text) if not char.isspace()} <= covered


@given(text=markdown)
def test_no_chunk_is_larger_than_asked(text: str) -> None:
    assert all(chunk.n_tokens <= 16 for chunk in split(text, SplitByTokens(max_tokens=16)))


@pytest.mark.parametrize(
    ("settings", "pieces"),
    [
        pytest.param(
            SplitByHeading(by="heading"),
            ["# Guide\n\nIntro words.", GUIDE[GUIDE.index("## Limits") : GUIDE.index("\n\n## End")], "## End\n\nBye."],
            id="one chunk per heading, and none for a hash in code",
        ),
        pytest.param(
            SplitByHeading(by="heading", max_level=1), [GUIDE.strip()], id="deeper headings stay inside their chunk"
        ),
        pytest.param(SplitNot(by="document"), [GUIDE.strip()], id="the whole document"),
    ],
)
def test_pieces(settings: SplitByHeading, pieces: list[str]) -> None:
    assert [GUIDE[chunk.start : chunk.end] for chunk in split(GUIDE, settings)] == pieces


def test_text_before_the_first_heading_is_a_chunk() -> None:
    text = "Preface.\n\n# One\n\nText."
    assert [text[c.start : c.end] for c in split(text, SplitByHeading(by="heading"))] == ["Preface.", "# One\n\nText."]


@pytest.mark.parametrize("text", ["", " \n\n\t "], ids=["empty", "only white space"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_text_no_chunk(text: str, settings: SplitByTokens) -> None:
    assert split(text, settings) == []


def test_overlap_is_shared_by_neighbours() -> None:
    text = " ".join(f"word{i}." for i in range(100))
    chunks = split(text, SplitByTokens(max_tokens=32, overlap_tokens=8))
    assert all(later.start < earlier.end for earlier, later in pairwise(chunks))


def test_characters_and_bytes_count_alike_in_plain_english() -> None:
    """The quick way for ASCII text gives what counting tokens gives: one letter more is another alphabet."""
    text = " ".join(f"Sentence number {i} says something plain." for i in range(200))
    plain = split(text, SplitByTokens(max_tokens=64))
    counted = split(text + " é", SplitByTokens(max_tokens=64))
    assert plain[:-1] == counted[: len(plain) - 1]


def test_five_megabytes_without_a_border_are_split_in_seconds() -> None:
    text = "x" * 5_000_000
    chunks = split(text, SplitByTokens(max_tokens=2_000))
    assert sum(chunk.end - chunk.start for chunk in chunks) == len(text)
