"""Positions counted in non-space characters ("ink"): what a passage covers of a span, whatever the spacing."""

from bisect import bisect_right
from typing import Final

_STEP: Final = 4_096


class Ink:
    """Counts the non-space characters before any offset of one text.

    >>> ink = Ink("a b  c")
    >>> ink.at(0), ink.at(1), ink.at(2), ink.at(6)
    (0, 1, 1, 3)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        # A checkpoint every so many characters keeps a look-up short in a document of any length.
        self._counts = [0]
        for start in range(0, len(text), _STEP):
            self._counts.append(self._counts[-1] + _count(text[start : start + _STEP]))

    def at(self, offset: int) -> int:
        """Non-space characters before `offset`."""
        block = min(offset // _STEP, len(self._counts) - 1)
        return self._counts[block] + _count(self._text[block * _STEP : offset])

    def offset(self, ink: int) -> int:
        """The first offset with so many non-space characters before it."""
        block = max(bisect_right(self._counts, ink - 1) - 1, 0) if ink else 0
        left = ink - self._counts[block]
        for position in range(block * _STEP, len(self._text)):
            if left <= 0:
                return position
            left -= not self._text[position].isspace()
        return len(self._text)


def _count(text: str) -> int:
    return sum(map(len, text.split()))
