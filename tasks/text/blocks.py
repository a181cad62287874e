"""The blocks of an answer written in Markdown or something near it, with exact character ranges.

Assistants write looser than CommonMark: "•" bullets, "(a)" labels, tables without a delimiter row, fences that are
never closed, a list right under its intro. A line-by-line cut takes these as they are meant, in linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

BlockKind = Literal["paragraph", "heading", "item", "header_row", "delimiter_row", "row", "code", "quote", "layout"]


class Block(NamedTuple):
    """Characters `start` to `end`, without outer white space.

    Attributes:
        kind: A `layout` block is a rule, a lone ">" or the like: it holds no words. A `quote` is a paragraph in a
            block quote; items, rows, headings and code in one keep their kind and are `quoted`.
        body_start: Where the text begins, after bullet, hashes, quote mark or fence line.
        body_end: Where the text ends, before closing hashes or the closing fence.
        depth: How many list items it is inside of; an outermost item has 0, and a paragraph in it has 1.
        quoted: Whether its lines begin with ">".
    """

    kind: BlockKind
    start: int
    end: int
    body_start: int
    body_end: int
    depth: int = 0
    quoted: bool = False


QUOTE_MARK: Final = re.compile(r"[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^`\n]*$")
_HEADING: Final = re.compile(r"#{1,6}(?=\s|$)")
_CLOSING_HASHES: Final = re.compile(r"\s#+\s*$")
_RULE: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})$")
_UNDERLINE: Final = re.compile(r"(?:={2,}|-{2,})$")
_CELL_DASHES: Final = re.compile(r"[ \t]*:?-+:?[ \t]*")
_ITEM: Final = re.compile(
    r"(?:[-*+•‣⁃▪▫◦●○■□◆►➢➤✓✔–—·]|(?P<number>\d{1,3})[.)、]|\(\d{1,3}\)|（\d{1,3}）|[①-⑳]|[a-zA-Z]\)|\([a-zA-Z]\)"
    r"|[ivx]{2,4}\)|\([ivx]{2,4}\))(?:[ \t]+|(?<=[①-⑳、）]))(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_NUMBER_LABEL: Final = re.compile(r"^[ \t>]*(\d{1,3})[.)、]", re.MULTILINE)
_ENDED: Final = re.compile(r"[.!?…:;。！？：；؟।][\"'”’)\]*_」』）]*$")
_ONLY_MARKERS: Final = re.compile(r"[\s,;]*(?:[\[【［][^\[\]【】［］\n]{1,60}[\]】］][\s,;.]*)+$")
_TAB: Final = 4
_HEADING_CHARS: Final = 80  # a longer line over "---" is a paragraph and a rule, whatever CommonMark says


class _Line(NamedTuple):
    """A line without its quote marks: `text` is stripped and stands at `start`; `indent` is in columns."""

    text: str
    start: int
    mark: int
    indent: int
    quoted: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass
class _Scan:
    """The cut so far: blocks done, the one that is open, and the columns of the list items around it."""

    numbers: frozenset[int]
    blocks: list[Block] = field(default_factory=list)
    open: Block | None = None
    columns: list[int] = field(default_factory=list)
    fence: str = ""
    in_table: bool = False
    after_blank: bool = True
    last_text: str = ""

    def close(self) -> None:
        if self.open is not None:
            self.blocks.append(self.open)
        self.open = None
        self.fence = ""

    def add(self, kind: BlockKind, line: _Line, *, body: int | None = None, body_end: int | None = None) -> None:
        self.close()
        depth = len(self.columns) - (kind == "item")
        body_start = line.start if body is None else body
        end = line.end if body_end is None else body_end
        self.open = Block(kind, line.mark, line.end, body_start, max(body_start, end), depth, line.quoted)
        self.after_blank = False
        self.last_text = line.text

    def extend(self, line: _Line) -> None:
        assert self.open is not None  # noqa: S101 - callers look first; this tells the type checker
        self.open = self.open._replace(end=line.end, body_end=line.end)
        self.last_text = line.text

    def leave_items(self, indent: int) -> None:
        while self.columns and indent < self.columns[-1]:
            self.columns.pop()


def find_blocks(text: str) -> list[Block]:
    r"""Cut an answer into blocks, in order; what lies between them is white space.

    >>> [(b.kind, "- *a*\n\n| x |"[b.body_start:b.body_end]) for b in find_blocks("- *a*\n\n| x |")]
    [('item', '*a*'), ('row', '| x |')]
    """
    lines = list(_lines(text))
    scan = _Scan(numbers=frozenset(int(n) for n in _NUMBER_LABEL.findall(text)))
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else None
        _take(scan, line, following)
    scan.close()
    return scan.blocks


def cells(text: str, row: Block) -> list[tuple[int, int]]:
    r"""Find the ranges of a table row's cells, without outer white space; "\\|" and pipes in code do not divide.

    >>> line = "| Team | 7 days |"
    >>> [line[a:b] for a, b in cells(line, find_blocks(line)[0])]
    ['Team', '7 days']
    """
    body = text[row.body_start : row.body_end]
    edges = [-1, *_pipes(body), len(body)]
    ranges = [(row.body_start + a + 1, row.body_start + b) for a, b in pairwise(edges)]
    if body.startswith("|"):
        ranges = ranges[1:]
    if body.endswith("|") and len(ranges) > 1:
        ranges = ranges[:-1]
    return [_trimmed(text, a, b) for a, b in ranges]


def _pipes(line: str) -> list[int]:
    found: list[int] = []
    in_code = False
    balanced = line.count("`") % 2 == 0
    for match in re.finditer(r"\\.|[|`]", line):
        if match.group() == "`":
            in_code = balanced and not in_code
        elif match.group() == "|" and not in_code:
            found.append(match.start())
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return start + lead, max(start + lead, start + len(piece.rstrip()))


def _lines(text: str) -> Iterator[_Line]:
    """Give the lines; one margin that the whole text shares is taken off, or it would all be indented code."""
    found: list[_Line] = []
    for match in _LINE.finditer(text):
        raw = match.group()
        mark = QUOTE_MARK.match(raw)
        rest = raw[mark.end() :] if mark else raw
        stripped = rest.strip()
        lead = rest[: len(rest) - len(rest.lstrip())]
        start = match.start() + (mark.end() if mark else 0) + (len(lead) if stripped else 0)
        first = match.start() + len(raw) - len(raw.lstrip()) if mark else start
        indent = len(lead.rstrip("\r\n").expandtabs(_TAB))
        found.append(_Line(stripped, start, first, indent, quoted=mark is not None))
    margin = min((line.indent for line in found if line.text), default=0)
    for line in found:
        yield line._replace(indent=max(0, line.indent - margin)) if margin else line


def _take(scan: _Scan, line: _Line, following: _Line | None) -> None:
    """Put one line where it belongs; each reader says whether the line was its own."""
    if scan.fence and scan.open is not None and scan.open.quoted == line.quoted:
        _take_fenced(scan, line)
        return
    if not line.text:
        _take_blank(scan, line)
        return
    if scan.open is not None and scan.open.quoted != line.quoted:
        scan.close()
        scan.columns = []
        scan.in_table = False
    _ = (
        _opens_fence(scan, line)
        or _is_indented_code(scan, line)
        or _is_table_row(scan, line, following)
        or _is_underline(scan, line)
        or _is_single_line(scan, line)
        or _opens_item(scan, line)
        or _continues(scan, line)
        or _opens_paragraph(scan, line)
    )


def _take_fenced(scan: _Scan, line: _Line) -> None:
    code = scan.open
    assert code is not None  # noqa: S101 - callers look first; this tells the type checker
    if line.text.startswith(scan.fence) and not line.text.strip(scan.fence[0]):
        scan.open = code._replace(end=line.end)
        scan.close()
        scan.after_blank = True
    elif line.text:
        empty = code.body_start == code.body_end
        first = line.start - line.indent if empty and not line.quoted else line.start
        body_start = max(code.end, first) if empty else code.body_start
        scan.open = code._replace(end=line.end, body_start=body_start, body_end=line.end)
    elif line.quoted:
        scan.open = code._replace(end=line.start)


def _take_blank(scan: _Scan, line: _Line) -> None:
    code_goes_on = scan.open is not None and scan.open.kind == "code"
    if not code_goes_on or line.quoted:
        scan.close()
    if line.quoted:
        # The ">" of an empty quoted line is no white space and must lie in a block.
        end = line.mark + 1
        scan.blocks.append(Block("layout", line.mark, end, end, end, 0, quoted=True))
    scan.after_blank = True
    scan.in_table = False


def _opens_fence(scan: _Scan, line: _Line) -> bool:
    match = _FENCE.match(line.text)
    if match is None:
        return False
    if scan.after_blank:
        scan.leave_items(line.indent)
    scan.add("code", line, body=line.end)
    scan.fence = match.group(1)
    return True


def _is_indented_code(scan: _Scan, line: _Line) -> bool:
    column = scan.columns[-1] if scan.columns else 0
    goes_on = scan.open is not None and scan.open.kind == "code"
    if line.indent < column + _TAB or not (goes_on or scan.after_blank):
        if goes_on:
            scan.close()
        return False
    if goes_on:
        scan.extend(line)
        return True
    if _ITEM.match(line.text) and scan.columns:
        return False
    scan.add("code", line)
    return True


def _is_table_row(scan: _Scan, line: _Line, following: _Line | None) -> bool:
    if "|" not in line.text:
        scan.in_table = False
        return False
    is_boxed = line.text.startswith("|") and line.text.endswith("|") and len(line.text) > 1
    if _is_delimiter(line.text) and scan.last_text and scan.open is not None and scan.open.kind == "header_row":
        scan.add("delimiter_row", line)
        scan.in_table = True
    elif following is not None and _heads_table(line, following) and not scan.in_table:
        scan.add("header_row", line)
    elif scan.in_table or is_boxed:
        scan.add("delimiter_row" if _is_delimiter(line.text) else "row", line)
    else:
        return False
    return True


def _is_delimiter(line: str) -> bool:
    parts = line.strip("|").split("|")
    return "|" in line and all(_CELL_DASHES.fullmatch(part) for part in parts)


def _heads_table(line: _Line, following: _Line) -> bool:
    return (
        following.quoted == line.quoted
        and _is_delimiter(following.text)
        and not _is_delimiter(line.text)
        and len(_pipes(line.text.strip("|"))) == len(_pipes(following.text.strip("|")))
    )


def _is_underline(scan: _Scan, line: _Line) -> bool:
    over = scan.open
    if over is None or over.kind not in {"paragraph", "quote"} or scan.after_blank or not _UNDERLINE.match(line.text):
        return False
    one_line = over.body_end - over.body_start == len(scan.last_text)
    if one_line and len(scan.last_text) <= _HEADING_CHARS and not _ENDED.search(scan.last_text):
        scan.open = over._replace(kind="heading", end=line.end)
    else:
        scan.add("layout", line, body=line.end)
    scan.close()
    return True


def _is_single_line(scan: _Scan, line: _Line) -> bool:
    if _RULE.match(line.text):
        kind: BlockKind = "layout"
        body, body_end = line.end, line.end
    elif hashes := _HEADING.match(line.text):
        kind = "heading"
        rest = line.text[hashes.end() :]
        closing = _CLOSING_HASHES.search(rest)
        body = line.end - len(rest.lstrip())
        body_end = line.end - (len(closing.group()) if closing else 0)
    else:
        return False
    scan.columns = []
    scan.add(kind, line, body=body, body_end=body_end)
    scan.close()
    return True


def _opens_item(scan: _Scan, line: _Line) -> bool:
    match = _ITEM.match(line.text)
    if match is None or not _counts(scan, match):
        return False
    scan.leave_items(line.indent)
    scan.columns.append(max(line.indent + 1, line.indent + min(match.end(), _TAB)))
    scan.add("item", line, body=line.start + match.end())
    return True


def _counts(scan: _Scan, match: re.Match[str]) -> bool:
    """Tell a list's "3." from a number that ends a line's first sentence: some neighbour must be there too."""
    if match["number"] is None:
        return True
    number = int(match["number"])
    return number <= 1 or number - 1 in scan.numbers or number + 1 in scan.numbers


def _continues(scan: _Scan, line: _Line) -> bool:
    if scan.open is None or scan.after_blank or scan.open.kind not in {"paragraph", "quote", "item"}:
        return False
    # A flush line under an item is the item's own, unless it opens the next list or cites for the whole list.
    is_flush = scan.open.kind == "item" and line.indent < scan.columns[-1]
    if is_flush and (line.text.endswith((":", "：")) or _ONLY_MARKERS.match(line.text)):
        return False
    scan.extend(line)
    return True


def _opens_paragraph(scan: _Scan, line: _Line) -> bool:
    scan.leave_items(line.indent)
    scan.add("quote" if line.quoted else "paragraph", line)
    return True
