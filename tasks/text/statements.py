"""The statements of a passage: the smallest stretches of it that can be evidence on their own."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tasks.text.blocks import Block, cells, find_blocks
from tasks.text.fold import Span

# A stop ends a sentence when white space follows, or at once where the script has none; not behind an initial
# or an abbreviation. A border too many or too few costs little here, so speed goes before finesse.
_STOP: Final = re.compile(r"[.!?…؟]+[\"'”’)\]*_]*\s+|[。！？।॥]+[」』”）]*\s*")
_ABBREVIATED: Final = re.compile(
    r"(?:\A|[\s(])(?:[A-Za-z]|e\.g|i\.e|z\.B|d\.h|Dr|Mrs?|Ms|Jr|Sr|St|vs|cf|ca|etc|bzw|approx)\Z"
)
# "No. 5" is a number; "No. It stays." an answer.
_NUMBERED: Final = re.compile(r"(?:\A|[\s(])(?:[Nn]o|Nr)\Z")
_LINE: Final = re.compile(r"[^\n]*\S[^\n]*")
# Text without stops (logs, minified code) is cut at white space: nobody reads a page as one quote.
_LONGEST: Final = 600
_QUESTION: Final = re.compile(r"[?？؟][\s\"'”’)\]*_」』]*\Z")
_LETTER: Final = re.compile(r"\w")
_SPACE: Final = re.compile(r"\s")


class Statement(NamedTuple):
    """A sentence, list item, code line or table cell of a passage.

    Attributes:
        span: What to quote: of a table cell, its whole row.
        parts: What it says: of a table cell, the row's first cell, the column's header and itself.
        under: The headings it stands under, outermost first, and the question that it follows in its paragraph.
    """

    span: Span
    parts: tuple[Span, ...]
    under: tuple[Span, ...]


def find_statements(passage: str) -> list[Statement]:
    r"""Cut a passage into statements, in order; what is only white space, rules or headings is none.

    >>> table = "# Logs\n| Plan | Kept |\n|---|---|\n| Team | 3 days |"
    >>> [[table[a:b] for a, b in statement.parts] for statement in find_statements(table)]
    [['Logs'], ['Team', 'Kept', '3 days']]
    """
    return list(_statements(passage))


def _statements(passage: str) -> Iterator[Statement]:
    headings: list[tuple[int, Span]] = []
    header: list[Span] = []
    for block in find_blocks(passage):
        under = tuple(span for _, span in headings)
        if block.kind == "heading":
            body = Span(block.body_start, block.body_end)
            outer = [heading for heading in headings if heading[0] < _level(passage, block)]
            headings = [*outer, (_level(passage, block), body)]
            yield Statement(Span(block.start, block.end), (body,), tuple(span for _, span in outer))
        elif block.kind == "header_row":
            header = [Span(*cell) for cell in cells(passage, block)]
        elif block.kind == "row":
            yield from _cells(passage, block, header, under)
        elif block.kind == "code":
            yield from (Statement(span, (span,), under) for span in _lines(passage, block))
        elif block.kind not in {"layout", "delimiter_row"}:
            yield from _answered(passage, list(_sentences(passage, block)), under)
        if block.kind not in {"header_row", "delimiter_row", "row"}:
            header = []


def _level(passage: str, block: Block) -> int:
    marks = passage[block.start : block.body_start].lstrip()
    return marks.count("#") or 7


def _cells(passage: str, row: Block, header: Sequence[Span], under: tuple[Span, ...]) -> Iterator[Statement]:
    spans = [Span(*cell) for cell in cells(passage, row)]
    whole = Span(row.start, row.end)
    if len(spans) == 1 or len(header) != len(spans):
        yield from (Statement(span, (span,), under) for span in _bounded(passage, *whole))
        return
    for title, cell in zip(header[1:], spans[1:], strict=True):
        yield Statement(whole, (spans[0], title, cell), under)


def _lines(passage: str, block: Block) -> Iterator[Span]:
    for line in _LINE.finditer(passage, block.body_start, block.body_end):
        text = line.group()
        yield from _bounded(passage, line.start() + len(text) - len(text.lstrip()), line.start() + len(text.rstrip()))


def _answered(passage: str, sentences: Sequence[Span], under: tuple[Span, ...]) -> Iterator[Statement]:
    """The sentences, but for questions that others follow: they state nothing and say what the next one is about."""
    asked: tuple[Span, ...] = ()
    for at, span in enumerate(sentences, start=1):
        if at < len(sentences) and _QUESTION.search(passage, span.start, span.end):
            asked = (*asked, span)
        else:
            yield Statement(span, (span,), (*under, *asked))
            asked = ()


def _sentences(passage: str, block: Block) -> Iterator[Span]:
    start = at = block.body_start
    says_something = False
    for stop in _STOP.finditer(passage, block.body_start, block.body_end):
        says_something = says_something or _LETTER.search(passage, at, stop.start()) is not None
        at = stop.end()
        before = passage[max(start, stop.start() - 8) : stop.start()]
        numbered = passage[at : at + 1].isdigit() and _NUMBERED.search(before)
        abbreviated = stop.group()[0] == "." and (numbered or _ABBREVIATED.search(before))
        if says_something and not abbreviated:
            yield from _bounded(passage, start, stop.start() + len(stop.group().rstrip()))
            start, says_something = at, False
    yield from _bounded(passage, start, block.body_end)


def _bounded(passage: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _LONGEST:
        space = _SPACE.search(passage, start + _LONGEST // 2, start + _LONGEST)
        cut = space.start() if space else start + _LONGEST
        yield Span(start, cut)
        start = cut + (passage[cut : cut + 1].isspace())
    if start < end:
        yield Span(start, end)
