"""Passages in portions: nothing is lost, nothing is too large, and what was judged apart comes together."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import JudgedClaim, JudgedWord, Quote
from tasks.models.claude.portions import Piece, combined, cut, halved, portions

TEXT = st.one_of(
    st.text(max_size=800), st.lists(st.sampled_from(["one two ", "\n\n", "\n", "保留三天。", "𝒳", "x" * 90, ". "]), max_size=200).map("".join)
)  # fmt: skip


@given(TEXT, st.integers(256, 900))
def test_the_parts_of_a_passage_hold_all_of_it(text: str, room: int) -> None:
    parts = [piece.text for piece in cut(Piece(7, text), room)]
    done = 0
    for part in parts:
        at = text.rfind(part, 0, done + len(part))  # no later than where the one before it ended
        assert 0 <= at <= done
        assert len(part.encode("utf-8", "replace")) <= room
        done = max(done, at + len(part))
    assert done == len(text)


def test_parts_overlap_and_begin_at_a_border() -> None:
    lines = [f"Line {n} of the log is kept for {n} days." for n in range(200)]
    parts = [piece.text for piece in cut(Piece(1, "\n".join(lines)), 1_000)]
    for before, after in pairwise(parts):
        assert after.split("\n")[0] in before.split("\n")
    assert {line for part in parts for line in part.splitlines()} == set(lines)


@given(st.lists(TEXT, max_size=12), st.integers(256, 2_000))
def test_portions_keep_room_and_order(texts: list[str], room: int) -> None:
    pieces = [Piece(n, text) for n, text in enumerate(texts, start=1)]
    found = portions(pieces, room)
    numbers = [piece.number for portion in found for piece in portion]
    assert numbers == sorted(numbers)
    assert set(numbers) == {piece.number for piece in pieces}
    assert all(sum(len(piece.text.encode("utf-8", "replace")) for piece in portion) <= room for portion in found)
    assert all(portion for portion in found)


@given(st.lists(TEXT, min_size=1, max_size=6))
def test_halving_ends(texts: list[str]) -> None:
    waiting: list[Sequence[Piece]] = [[Piece(n, text) for n, text in enumerate(texts)]]
    for _ in range(2_000):
        if not waiting:
            return
        pieces = waiting.pop()
        halves = halved(pieces)
        if halves is None:
            assert len(pieces) == 1
        else:
            assert all(halves)
            waiting += halves
    pytest.fail("no end")


@given(st.lists(st.sampled_from(["SUPPORTED", "CONTRADICTED", "NOT_SUPPORTED"]), min_size=1, max_size=6))
def test_one_portion_that_supports_is_enough(words: list[JudgedWord]) -> None:
    judged = [
        JudgedClaim(number=1, verdict=word, quotes=(Quote(text=word, passage=n),)) for n, word in enumerate(words, 1)
    ]
    together = combined(judged)
    counts = Counter(words)
    expected = "SUPPORTED" if counts["SUPPORTED"] else "CONTRADICTED" if counts["CONTRADICTED"] else "NOT_SUPPORTED"
    assert together.verdict == expected
    assert len(together.quotes) == counts[expected]
    assert combined(judged[::-1]).verdict == expected
