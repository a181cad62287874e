"""Folding for quote lookup: what a faithful copy may change is made equal, and every offset leads back."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

_QUOTES: Final = "\"'«»‘’‚‛“”„‟‹›′″´＂＇「」『』〝〞〟"
_DASHES: Final = "-‐‑‒–—―−﹘﹣－⸺⸻"
# Emphasis, code marks, escapes and link brackets go wherever they stand ("max_events" is folded like
# "max\_events"): a rule that looks at neighbours would fold a quote unlike the passage it was cut from.
_MARKUP: Final = "*_`\\[]"
# Soft hyphens, zero-width and direction marks, variation selectors: seen by nobody, dropped by most copies.
_HIDDEN: Final = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_SPECIAL: Final = rf"\s{re.escape(_QUOTES + _DASHES + _MARKUP)}{_HIDDEN}"
_PLAIN: Final = r"!#$%&()+,./0-9:;<=>?@A-Z^a-z{|}~"
_TOKEN: Final = re.compile(
    # Never the character before a non-ASCII one, which may be a mark that joins it.
    rf"(?P<plain>[{_PLAIN}]+(?: [{_PLAIN}]+)*(?![^\x00-\x7f]))"
    r"|(?P<space>\s+)"
    r"|(?P<target>\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)?(?:\s\"[^\"\n]*\")?\))"
    rf"|(?P<quote>[{re.escape(_QUOTES)}]+)"
    rf"|(?P<dash>[{re.escape(_DASHES)}]+)"
    rf"|(?P<dropped>[{re.escape(_MARKUP)}{_HIDDEN}])"
    # Full-width forms apart: they change one by one, and the ideographs between them not at all.
    rf"|(?P<run>[^{_SPECIAL}\uff00-\uff65]+(?: [^{_SPECIAL}\uff00-\uff65]+)*|[\uff00-\uff65])"
)
_WORD_OR_SPACE: Final = re.compile(r"[^ ]+| ")
_WRITTEN_AS: Final = {"space": " ", "target": "", "quote": "'", "dash": "-", "dropped": ""}
# What NFKC brings forth in place of a compatibility character is folded like the character itself.
_REWRITE: Final = str.maketrans(dict.fromkeys(_QUOTES, "'") | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_MARKUP))
# Starters that join the character before them all the same: Hangul vowels and finals, halves of vowel signs.
_SECONDS: Final = re.compile(
    r"[\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0fb5\u0fb7\u102e"
    r"\u1161-\u1175\u11a8-\u11c2\u1b35\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af"
    r"\U00011930]"
)


class Span(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


class _Piece(NamedTuple):
    """Folded text of one stretch; `even` when each folded character stands for one of the original."""

    text: str
    start: int
    end: int
    even: bool


class Folded:
    """A folded text and the way back to the original."""

    def __init__(self, pieces: list[_Piece]) -> None:
        self.text = "".join(piece.text for piece in pieces)
        self._pieces = pieces
        self._borders: list[int] = []
        at = 0
        for piece in pieces:
            self._borders.append(at)
            at += len(piece.text)

    def original(self, start: int, end: int) -> Span:
        """Lead a range of the folded text back: the fewest whole characters of the original that hold it.

        Raises:
            ValueError: The range is empty or not inside the folded text.

        >>> fold("The  **log** is kept").original(4, 7)
        Span(start=7, end=10)
        """
        if not 0 <= start < end <= len(self.text):
            msg = f"no such range of the folded text: {start} to {end} of {len(self.text)} characters"
            raise ValueError(msg)
        return Span(self._character(start).start, self._character(end - 1).end)

    def _character(self, at: int) -> Span:
        number = bisect_right(self._borders, at) - 1
        piece = self._pieces[number]
        if not piece.even:
            return Span(piece.start, piece.end)
        offset = piece.start + at - self._borders[number]
        return Span(offset, offset + 1)


def fold(text: str) -> Folded:
    """Fold Unicode form (NFKC), case, white space, quote marks, dashes and Markdown marks, in linear time.

    Runs of white space become one space, of dashes one "-", of quote marks one "'". Emphasis, backticks,
    escapes, link brackets, link targets and invisible characters go.

    >>> fold("See  “Audit—Log” in [the *docs*](https://example.org)").text
    "see 'audit-log' in the docs"
    """
    return Folded(list(_pieces(text)))


def _pieces(text: str) -> Iterator[_Piece]:
    after_space = False
    for token in _TOKEN.finditer(text):
        kind, (start, end) = token.lastgroup or "", token.span()
        if kind == "plain":
            yield _Piece(token.group().lower(), start, end, even=True)
        elif kind == "run":
            yield from _run(token.group(), start)
        else:
            written = _WRITTEN_AS[kind]
            if not written or (written == " " and after_space):
                continue
            yield _Piece(written, start, end, even=False)
        after_space = kind == "space"


def _run(run: str, start: int) -> Iterator[_Piece]:
    folded = run.casefold()
    if len(folded) == len(run) and _is_composed(run) and (folded == run or _is_composed(folded)):
        yield _Piece(folded, start, start + len(run), even=True)
    elif " " in run:
        for part in _WORD_OR_SPACE.finditer(run):
            yield from _run(part.group(), start + part.start())
    else:
        yield from _clusters(run, start)


def _clusters(run: str, start: int) -> Iterator[_Piece]:
    at = 0
    while at < len(run):
        end = at + 1
        while end < len(run) and _joins(run[end]):
            end += 1
        written = _cluster(run[at:end])
        if written:
            yield _Piece(written, start + at, start + end, even=False)
        at = end


def _is_composed(text: str) -> bool:
    return unicodedata.is_normalized("NFKC", text)


def _cluster(cluster: str) -> str:
    composed = unicodedata.normalize("NFKC", cluster).casefold()
    return unicodedata.normalize("NFKC", composed).translate(_REWRITE)


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.combining(first) > 0 or _SECONDS.match(first) is not None
