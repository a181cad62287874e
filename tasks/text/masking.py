"""Same-length copies of an answer in which what would disturb a reader of its sentences is blank."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tasks.text.blocks import QUOTE_MARK, Block
from tasks.text.markers import Cover, find_code, find_links, find_markers

_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~")
_BETWEEN: Final = re.compile(r"[ \t]*[,;&、，]?[ \t]*(?:(?:and|und|et|y)[ \t]+)?")
_BETWEEN_CHARS: Final = 8
_NOTE_OPEN: Final = re.compile(
    r"[(（]\s*(?:(?:see|sources?|refs?|references?|docs?|cf\.?|quellen?|vgl\.?|来源|出典)\s?[:：]?\s*)?$", re.IGNORECASE
)
_NOTE_CLOSE: Final = re.compile(r"[\s.]{0,5}[)）]")
_NAMED_NOTE: Final = re.compile(
    r"[(\[（](?:sources?|quellen?|src|来源|出典)\s?[:：]\s?[^()\[\]（）\n]{1,150}[)\]）]", re.IGNORECASE
)
_NUMBER_LINK: Final = re.compile(r"[\[\]\s\d,^]+")
_WINDOW: Final = 40


def citation_ranges(text: str, blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Find all that cites: markers with what joins them, numbered links, and notes such as "(Source: [2])".

    >>> text = "Kept 7 days ([1], [2]), see [3](a.md)."
    >>> [text[a:b] for a, b in citation_ranges(text, [])]
    ['([1], [2])', '[3](a.md)']
    """
    code = Cover(find_code(text, blocks))
    found = [(marker.start, marker.end) for marker in find_markers(text, blocks=blocks)]
    found += [
        (link.start, link.end)
        for link in find_links(text)
        if _NUMBER_LINK.fullmatch(text, link.text_start, link.text_end) and not code.covers(link.start)
    ]
    found += [match.span() for match in _NAMED_NOTE.finditer(text) if not code.covers(match.start())]
    grouped: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if grouped and start <= grouped[-1][1] + _BETWEEN_CHARS and _joins(text, grouped[-1][1], start):
            grouped[-1] = (grouped[-1][0], max(end, grouped[-1][1]))
        else:
            grouped.append((start, end))
    return [_with_note(text, start, end) for start, end in grouped]


def without_quote_marks(text: str, blocks: Iterable[Block]) -> str:
    r"""Blank the ">" of quoted lines; the first mark of a block lies before its body.

    >>> without_quote_marks("> a\n> b", [Block("quote", 0, 7, 2, 7, 0, True)])
    '> a\n  b'
    """
    parts: list[str] = []
    done = 0
    for block in blocks:
        if block.quoted and "\n" in text[block.body_start : block.body_end]:
            first = text.index("\n", block.body_start)
            body = QUOTE_MARK.sub(lambda match: " " * len(match.group()), text[first : block.body_end])
            parts += [text[done:first], body]
            done = block.body_end
    return "".join([*parts, text[done:]])


def masked(text: str, blocks: Sequence[Block], citations: Sequence[tuple[int, int]]) -> str:
    """Blank citations, and emphasis outside code.

    >>> masked("**Kept** 7 `**` days [1].", [Block("paragraph", 0, 25, 0, 25)], [(21, 24)])
    '  Kept   7 `**` days    .'
    """
    kept = [(start, end, text[start:end]) for start, end in find_code(text, blocks)]
    blank = [(start, end, " " * (end - start)) for start, end in citations]
    parts: list[str] = []
    done = 0
    for start, end, piece in sorted(kept + blank):
        if start >= done:
            parts += [_without_emphasis(text[done:start]), piece]
            done = end
    parts.append(_without_emphasis(text[done:]))
    return "".join(parts)


def _without_emphasis(text: str) -> str:
    return _EMPHASIS.sub(lambda match: " " * len(match.group()), text)


def _joins(text: str, end: int, start: int) -> bool:
    return start <= end or _BETWEEN.fullmatch(text, end, start) is not None


def _with_note(text: str, start: int, end: int) -> tuple[int, int]:
    """Take the brackets around markers along, with their "see" or "source:"."""
    opened = _NOTE_OPEN.search(text[max(0, start - _WINDOW) : start])
    closed = _NOTE_CLOSE.match(text, end)
    if opened is None or closed is None:
        return start, end
    return start - len(opened.group()), closed.end()
