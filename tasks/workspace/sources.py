"""The text of the documents around gold: what a person, or a judge, reads beside a key point."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import GoldEntry
from schemas.question import KeyPoint, Question
from tasks.workspace.corpus import read_corpus
from tasks.workspace.gold import GoldFinder, nearest

_HEADING: Final = re.compile(r"^(#{1,6})[ \t].*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A paragraph, list or table of a document, and the headings it stands under, outermost first."""

    start: int
    end: int
    headings: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """What one gold entry points at.

    Attributes:
        document: The document's id; empty for an entry without one of ours.
        headings: Those above it, outermost first.
        before: Text before the quote: of its own block, and the block before unless that is a heading.
        quote: As the document has it; empty when the entry names no place inside the document.
        after: Text after the quote, likewise.
        note: What has to be said about it, such as a quote that is not found.
    """

    document: str
    headings: tuple[str, ...] = ()
    before: str = ""
    quote: str = ""
    after: str = ""
    note: str = ""


def block_around(text: str, start: int, end: int) -> Block:
    r"""The block in which a stretch stands, with the headings above it.

    >>> text = "# Logs\n\n## Team\n\nKept for 3 days.\n\n## Business\n\nKept for 9 days. Not more."
    >>> block = block_around(text, text.index("9"), text.index("9") + 1)
    >>> block.headings, text[block.start : block.end]
    (('# Logs', '## Business'), 'Kept for 9 days. Not more.')
    """
    gap = text.rfind("\n\n", 0, start)
    begin = gap + 2 if gap >= 0 else 0
    stop = text.find("\n\n", end)
    path: list[re.Match[str]] = []
    for heading in _HEADING.finditer(text, 0, begin):
        path = [*(above for above in path if len(above[1]) < len(heading[1])), heading]
    return Block(begin, stop if stop >= 0 else len(text), tuple(heading[0] for heading in path))


class SourceFinder:
    """Finds what stands behind key points in one corpus.

    Args:
        documents: By id.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._finder = GoldFinder(documents)

    def sources(self, question: Question, point: KeyPoint) -> list[Source]:
        """What each gold entry of a point points at; without gold of its own, its documents and the question's gold.

        Mistakes in the gold are told in place of the text: a person can still judge the point.
        """
        if point.gold:
            return [self._source(entry, point, note="") for entry in point.gold]
        note = "the point has no gold of its own: this is the question's"
        found = [self._source(entry, point, note=note) for entry in question.gold]
        shown = {source.document for source in found}
        named = [name for name in point.documents if name not in shown]
        return found + [self._source(GoldEntry(document=name), point, note="") for name in named]

    def _source(self, entry: GoldEntry, point: KeyPoint, *, note: str) -> Source:
        if entry.document is None:
            return Source("", note=f"gold is passage {entry.passage} of a foreign index, which holds no text here")
        notes = [note, f"{len(entry.alternatives)} more places say the same" if entry.alternatives else ""]
        try:
            place = self._finder.resolve([entry], where="")[0].places[0]
        except InputError as error:
            return Source(entry.document, note=str(error))
        text = self._documents[place.target_id].text
        if place.start is not None and place.end is not None:
            return _cut(place.target_id, text, place.start, place.end, note=_joined(notes))
        line = nearest(point.text, text)
        start = text.find(line)
        notes.append("gold is the whole document, without a quote: this is the text most like the point")
        return _cut(place.target_id, text, start, start, note=_joined(notes), end_of_block=start + len(line))


def _cut(document: str, text: str, start: int, end: int, *, note: str, end_of_block: int | None = None) -> Source:
    block = block_around(text, start, end if end_of_block is None else end_of_block)
    return Source(
        document,
        headings=block.headings,
        before=text[_with_block_before(text, block.start) : start].lstrip("\n"),
        quote=text[start:end],
        after=text[end : _with_block_after(text, block.end)].rstrip("\n"),
        note=note,
    )


def _with_block_before(text: str, start: int) -> int:
    """Where the block before begins, unless that is a heading, which is told anyway."""
    end = len(text[:start].rstrip("\n"))
    gap = text.rfind("\n\n", 0, end)
    begin = gap + 2 if gap >= 0 else 0
    return begin if end and not _HEADING.match(text, begin) else start


def _with_block_after(text: str, end: int) -> int:
    """Where the block after ends, unless that is a heading: another section begins there."""
    begin = len(text) - len(text[end:].lstrip("\n"))
    if begin == len(text) or _HEADING.match(text, begin):
        return end
    gap = text.find("\n\n", begin)
    return gap if gap >= 0 else len(text)


def _joined(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)


def clipped(source: Source, *, n_lines: int, width: int) -> Source:
    r"""Shorten the text around a quote to so many lines of a screen, the nearest kept; the quote itself stays whole.

    >>> clipped(Source("a.md", before="1\n2\n3 ", quote="Q", after=" 4\n5"), n_lines=3, width=80)
    Source(document='a.md', headings=(), before='…\n3 ', quote='Q', after=' 4\n…', note='')
    """
    room = max(n_lines - _n_lines(source.quote, width), 2)
    below = min(_n_lines(source.after, width), max(room // 2, room - _n_lines(source.before, width)))
    before = _clip(source.before[::-1], room - below, width)[::-1]
    return replace(source, before=before, after=_clip(source.after, below, width))


def _n_lines(text: str, width: int) -> int:
    return sum(1 + max(len(line) - 1, 0) // width for line in text.split("\n"))


def _clip(text: str, n_lines: int, width: int) -> str:
    """The beginning of a text that fills at most so many lines, with an ellipsis in place of the rest."""
    kept: list[str] = []
    n_used = 0
    for line in text.split("\n"):
        n_used += _n_lines(line, width)
        if n_used > n_lines:
            return "\n".join([*kept, "…"]) if kept else line[: n_lines * width] + "…"
        kept.append(line)
    return text


def open_sources(workspace: Path) -> SourceFinder:
    """The sources of a workspace; of one without documents, all that can be said is that there are none.

    Raises:
        InputError: When the corpus cannot be read.
    """
    documents = read_corpus(workspace) if (workspace / "corpus").is_dir() else []
    return SourceFinder({document.document_id: document for document in documents})
