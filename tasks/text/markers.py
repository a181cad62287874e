"""Citation markers of an answer, and the code and links in which no marker is looked for."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tasks.text.blocks import Block, find_blocks


class Marker(NamedTuple):
    """A citation at characters `start` to `end`; `numbers` as written, in order, with ranges filled in."""

    start: int
    end: int
    numbers: tuple[int, ...]


class Link(NamedTuple):
    """A Markdown link or image at `start` to `end`; its visible text is `text_start` to `text_end`."""

    start: int
    end: int
    text_start: int
    text_end: int


_MAX_DIGITS: Final = 3  # four digits are a year
_MAX_RANGE: Final = 100
_WORD: Final = (
    r"(?:docs?|documents?|passages?|sources?|src|refs?|references?|chunks?|contexts?|excerpts?|snippets?|citations?"
    r"|cite"
    r"|results?|quellen?|dokumente?|fuentes?|documentos?|sources?|文档|文件|来源|资料|段落|文書|資料|出典)"
)
_NUMBER: Final = rf"(?:{_WORD}\.?\s*)?[#^]?\d{{1,{_MAX_DIGITS}}}"
_PART: Final = rf"{_NUMBER}(?:\s?[-–—~]\s?[#^]?\d{{1,{_MAX_DIGITS}}})?"
_LIST: Final = rf"(?:{_WORD}\s?[.:]?\s?)?{_PART}(?:\s?[,;、，；&]\s?{_PART}){{0,200}}"
_MARKER: Final = re.compile(
    rf"\\?\[\s?(?P<square>{_LIST})\s?\\?\]"
    rf"|［\s?(?P<wide>{_LIST})\s?］"
    rf"|〔\s?(?P<shell>{_LIST})\s?〕"
    rf"|【\s?(?:(?P<lens>{_LIST})|\d{{1,3}}:(?P<second>\d{{1,3}}))\s?(?:†[^【】\n]{{0,200}})?】"
    rf"|\[(?P<dagger>\d{{1,{_MAX_DIGITS}}})†[^\[\]\n]{{0,200}}\]",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"(\d+)\s?[-–—~]\s?[#^]?(\d+)|(\d+)")
_LINK: Final = re.compile(
    r"!?\[(?P<text>(?:[^\[\]]"
    r"|\[[^\[\]\n]{0,100}\]){0,300})\]\(\s?[^\s()]{0,1000}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?"
    r"(?:\s[\"'][^\"'\n]{0,200}[\"'])?\s?\)"
)
_ADDRESS: Final = re.compile(r"(?:https?|ftp)://[^\s<>\"'`，。、；）」』】]+|www\.[^\s<>\"'`，。、；）」』】]+")
_TICKS: Final = re.compile(r"(?<!\\)`+")
_DEFINITION: Final = re.compile(r"\\?\]:(?!:)")
# "range [0, 1]" and "= [1, 2]" are values; so is anything that goes on like code.
_VALUE_BEFORE: Final = re.compile(r"(?:[=∈]\s*|\w\(\s*)$")
_LIST_BEFORE: Final = re.compile(
    r"\b(?:ranges?|intervals?|arrays?|lists?|vectors?|tuples?|shape|returns?|equals|values? in)\s*$"
)
_CODE_AFTER: Final = re.compile(r"\.?[A-Za-z_]|\s?(?:=(?!=>)|==|\+=|\()|\[(?!\^?\d)|->")
_NAME_BEFORE: Final = re.compile(r"[A-Za-z_$][\w$.]*$")
# No words of prose; "20 items[1]" is a citation, unless code follows.
_INDEXED: Final = re.compile(r"(?:argv|args|arr|array|cols?|vec|buf|nums|str|dict|tuple|params|elems?|matrix)")
_LOOK_BACK: Final = 40


def find_markers(text: str, *, blocks: Sequence[Block] | None = None) -> list[Marker]:
    """Find the citation markers outside code and links, in order.

    Array indexes, value lists, years and link or footnote definitions are none. "items[0]" and "days[1]" look alike: a
    bracket right behind a name counts as an index when it holds 0, the name is an identifier, or code follows.

    Args:
        text: An answer.
        blocks: Its blocks, where they are known already.

    >>> [(m.numbers, m.start) for m in find_markers("Kept 7 days [1, 3-5][doc 2]; see items[0] and [2024].")]
    [((1, 3, 4, 5), 12), ((2,), 20)]
    """
    hidden = Cover(_hidden(text, find_blocks(text) if blocks is None else blocks))
    found: list[Marker] = []
    last_end, last_was_marker = -1, False
    for match in _MARKER.finditer(text):
        start, end = match.span()
        if hidden.covers(start):
            continue
        numbers = _numbers(match)
        attached = start == last_end
        is_marker = bool(numbers) and (last_was_marker if attached else _cites(text, match, numbers))
        if is_marker and not _defines(text, start, end):
            found.append(Marker(start, end, numbers))
        last_end, last_was_marker = end, is_marker
    return found


def find_links(text: str) -> list[Link]:
    """Find Markdown links and images, in order.

    >>> find_links("See [the docs](a.md).")
    [Link(start=4, end=20, text_start=5, text_end=13)]
    """
    return [Link(*match.span(), *match.span("text")) for match in _LINK.finditer(text)]


def find_addresses(text: str) -> list[tuple[int, int]]:
    """Find web addresses, without the punctuation that ends their sentence.

    >>> find_addresses("See https://a.io/b.html.")
    [(4, 23)]
    """
    found: list[tuple[int, int]] = []
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(".,;:!?*_)]'" if "(" not in match.group() else ".,;:!?*_]'")
        found.append((match.start(), match.start() + len(address)))
    return found


def find_code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Find inline code in a stretch: a run of backticks up to the next run of the same length.

    >>> find_code_spans("set `a` or ``b`c``", 0, 18)
    [(4, 7), (11, 18)]
    """
    if text.find("`", start, end) < 0:
        return []
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    closing: dict[int, int] = {}
    partner = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        partner[at] = closing.get(length, -1)
        closing[length] = at
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(runs):
        if partner[at] < 0:
            at += 1
        else:
            found.append((runs[at][0], runs[partner[at]][1]))
            at = partner[at] + 1
    return found


class Cover:
    """Ranges in any order, asked for single places."""

    def __init__(self, ranges: Iterator[tuple[int, int]]) -> None:
        starts: list[int] = []
        ends: list[int] = []
        for start, end in sorted(ranges):
            starts.append(start)
            ends.append(max(end, ends[-1]) if ends else end)
        self._starts, self._ends = starts, ends

    def covers(self, at: int) -> bool:
        """Tell whether a place lies in one of the ranges."""
        index = bisect_right(self._starts, at) - 1
        return index >= 0 and at < self._ends[index]


def find_code(text: str, blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Give the ranges of code blocks and of inline code; code spans end with their block."""
    for block in blocks:
        if block.kind == "code":
            yield block.start, block.end
        else:
            yield from find_code_spans(text, block.start, block.end)


def _hidden(text: str, blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    yield from find_code(text, blocks)
    for link in find_links(text):
        yield link.start, link.end
    yield from find_addresses(text)


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    if match["second"]:  # OpenAI's 【4:2†name】 is message 4, source 2
        return (int(match["second"]),)
    inside = match["square"] or match["wide"] or match["shell"] or match["lens"] or match["dagger"]
    numbers: list[int] = []
    for first, last, single in _RANGE.findall(inside):
        if single:
            numbers.append(int(single))
        elif not int(first) < int(last) <= int(first) + _MAX_RANGE:
            return ()
        else:
            numbers.extend(range(int(first), int(last) + 1))
    return tuple(numbers)


def _cites(text: str, match: re.Match[str], numbers: tuple[int, ...]) -> bool:
    start, end = match.span()
    bare = match["square"]
    if bare is None or not bare[0].isdigit():
        return True
    before = text[max(0, start - _LOOK_BACK) : start]
    if _VALUE_BEFORE.search(before) or (len(numbers) > 1 and (0 in numbers or _LIST_BEFORE.search(before))):
        return False
    if not before or not (before[-1].isalnum() or before[-1] in "_$)]") or not before[-1].isascii():
        return True
    return not _is_index(before, text[end : end + 4], numbers)


def _is_index(before: str, after: str, numbers: tuple[int, ...]) -> bool:
    if 0 in numbers or before.endswith("()") or _CODE_AFTER.match(after):
        return True
    if before[-1] in ")]":
        return False
    name = _NAME_BEFORE.search(before)
    if name is None:
        return False
    word = name.group()
    return len(word) == 1 or bool(re.search(r"[_$.]|[a-z][A-Z]", word)) or _INDEXED.fullmatch(word) is not None


def _defines(text: str, start: int, end: int) -> bool:
    """Tell "[1]: https://..." and "[^1]: The note", which cite nothing, from a marker with a colon behind it."""
    line_start = text.rfind("\n", max(0, start - _LOOK_BACK), start) + 1
    opens_line = (line_start > 0 or start < _LOOK_BACK) and not text[line_start:start].strip(" \t>-*•")
    return opens_line and _DEFINITION.match(text, end - 1) is not None
