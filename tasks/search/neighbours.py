"""From the first k passages of a ranking to the stretches of text a writer is given."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Stretch(NamedTuple):
    """Characters of a document, with the same borders in non-space characters."""

    document: str
    start: int
    end: int
    ink_start: int
    ink_end: int


def with_neighbours(
    ranked: Sequence[Stretch], chunks: Mapping[str, Sequence[Stretch]], *, neighbours: int
) -> list[Stretch]:
    """Widen each passage by `neighbours` chunks either side and merge what touches.

    Documents come in the order of their best passage, and inside a document the text runs in reading order.

    Args:
        ranked: The first k passages, best first; each is one of its document's chunks.
        chunks: All chunks of each document that occurs, in reading order.
        neighbours: At least 1.

    >>> a = [Stretch("a", 0, 9, 0, 9), Stretch("a", 10, 19, 9, 18), Stretch("a", 20, 29, 18, 27)]
    >>> with_neighbours([a[2], a[0]], {"a": a}, neighbours=1)
    [Stretch(document='a', start=0, end=29, ink_start=0, ink_end=27)]
    """
    taken: dict[str, set[int]] = {}
    for passage in ranked:
        own = chunks[passage.document]
        at = next(i for i, chunk in enumerate(own) if chunk.start == passage.start and chunk.end == passage.end)
        around = range(max(0, at - neighbours), min(len(own), at + neighbours + 1))
        taken.setdefault(passage.document, set()).update(around)
    found: list[Stretch] = []
    for document, positions in taken.items():
        found.extend(_merged(chunks[document], sorted(positions)))
    return found


def _merged(chunks: Sequence[Stretch], positions: Sequence[int]) -> list[Stretch]:
    merged: list[Stretch] = []
    last = None
    for position in positions:
        chunk = chunks[position]
        if last is not None and position == last + 1:
            before = merged[-1]
            merged[-1] = before._replace(end=max(before.end, chunk.end), ink_end=max(before.ink_end, chunk.ink_end))
        else:
            merged.append(chunk)
        last = position
    return merged
