"""Passages in portions that fit a window, claims in groups, and how what was judged apart is put together."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from schemas.verdict import JudgedClaim, JudgedWord, Quote

# Enough for the tags around a piece.
_TAG_BYTES: Final = 64
_LEAST_BYTES: Final = 256
_OVERLAP: Final = 0.1  # so that what stands across a cut is whole in one of the two pieces
_BORDERS: Final = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s*"), re.compile(r"\s+"))


class Piece(NamedTuple):
    """A passage, or a part of one, under the passage's number: a quote of it is looked up in the whole."""

    number: int
    text: str


def at_borders(opens: Sequence[bool], *, most: int) -> list[range]:
    """Positions in stretches of at most `most`, each cut at its last border where it has one.

    Args:
        opens: Of each position, whether it is the first of its paragraph.
        most: How many go together.

    >>> [list(stretch) for stretch in at_borders([number in {1, 3, 6} for number in range(1, 8)], most=4)]
    [[0, 1], [2, 3, 4], [5, 6]]
    """
    found: list[range] = []
    start = 0
    while len(opens) - start > most:
        borders = [at for at in range(start + 1, start + most + 1) if opens[at]]
        end = borders[-1] if borders else start + most
        found.append(range(start, end))
        start = end
    return [*found, range(start, len(opens))]


def portions(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    """Put pieces into portions of at most `room` bytes, in order; one that is larger is cut.

    >>> [[piece.number for piece in portion] for portion in portions([Piece(n, "x" * 400) for n in (1, 2, 3)], 1000)]
    [[1, 2], [3]]
    """
    found: list[list[Piece]] = []
    taken = 0
    for piece in (part for whole in pieces for part in cut(whole, room)):
        size = _size(piece.text)
        if not found or taken + size > room:
            found.append([])
            taken = 0
        found[-1].append(piece)
        taken += size
    return found


def halved(pieces: Sequence[Piece]) -> tuple[Sequence[Piece], Sequence[Piece]] | None:
    """Half the pieces and the rest; a single one is cut in two; None when nothing is left to halve."""
    if len(pieces) > 1:
        middle = len(pieces) // 2
        return pieces[:middle], pieces[middle:]
    if not pieces or _size(pieces[0].text) < 2 * _LEAST_BYTES:
        return None
    first, *rest = cut(pieces[0], int(_size(pieces[0].text) * 0.6))
    return [first], rest


def cut(piece: Piece, room: int) -> list[Piece]:
    """Cut a piece into overlapping ones of at most `room` bytes, at paragraphs, lines, sentences or words."""
    if _size(piece.text) <= room:
        return [piece]
    return [Piece(piece.number, text) for text in _cut(piece.text, max(room, _LEAST_BYTES) - _TAG_BYTES)]


def _cut(text: str, room: int) -> Iterator[str]:
    start = 0
    while True:
        end = start + len(text[start : start + room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore"))
        if end >= len(text):
            yield text[start:]
            return
        end = _border(text, start + (end - start) // 2, end) or end
        yield text[start:end]
        back = max(start + 1, end - int((end - start) * _OVERLAP))
        start = _border(text, back, end, first=True) or back


def _border(text: str, start: int, end: int, *, first: bool = False) -> int | None:
    """The last best border after `start` and at most at `end`, or the first one between them."""
    for border in _BORDERS:
        ends = [match.end() for match in border.finditer(text, start, end) if start < match.end()]
        if first and ends and ends[0] < end:
            return ends[0]
        if ends and not first:
            return ends[-1]
    return None


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + _TAG_BYTES


def combined(judged: Sequence[JudgedClaim]) -> JudgedClaim:
    """What several portions of the passages say of one claim, taken together.

    One that supports it is enough, as it would be in the whole; else one that contradicts it.

    >>> words = ("NOT_SUPPORTED", "SUPPORTED", "CONTRADICTED")
    >>> combined([JudgedClaim(number=1, verdict=word) for word in words]).verdict
    'SUPPORTED'
    """
    words: tuple[JudgedWord, ...] = ("SUPPORTED", "CONTRADICTED", "NOT_SUPPORTED")
    word = next(word for word in words if any(one.verdict == word for one in judged))
    telling = [one for one in judged if one.verdict == word]
    quotes: dict[Quote, None] = dict.fromkeys(quote for one in telling for quote in one.quotes)
    return telling[0].model_copy(update={"quotes": tuple(quotes)})
