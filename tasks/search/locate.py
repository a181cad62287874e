"""Finding imported passages in the corpus, so that span gold can be measured on somebody else's retrieval."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from schemas.passage import Range
from tasks.text.ink import Ink


class Found(NamedTuple):
    """Where a passage stands."""

    document: str
    range: Range


class Locator:
    r"""Looks passages up by their non-space characters, since other pipelines change white space.

    Args:
        texts: By document id, in corpus order; where a passage stands in several documents, the first counts
            unless one is named.

    >>> Locator({"a.md": "Kept for\n30 days."}).find("for 30 days", document=None).range.start
    5
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._documents = texts
        self._inked: dict[str, str] = {}
        self._counters: dict[str, Ink] = {}
        self._seen: dict[tuple[str, str | None], Found | None] = {}

    def find(self, text: str, *, document: str | None) -> Found | None:
        """Document id and range of a passage, or None when its text is not in the corpus (or in the one named)."""
        question = (text, document)
        if question not in self._seen:
            self._seen[question] = next(self._find(text, document), None)
        return self._seen[question]

    def everywhere(self, text: str, *, document: str | None) -> Iterator[Found]:
        """All places where a text stands, in corpus order; in one document they do not overlap."""
        return self._find(text, document)

    def _find(self, text: str, document: str | None) -> Iterator[Found]:
        wanted = "".join(text.split())
        if not wanted:
            return
        if document is not None and document in self._documents:
            yield from self._within(document, wanted)
        elif wanted in self._all:
            for name in self._documents:
                yield from self._within(name, wanted)

    @cached_property
    def _all(self) -> str:
        # One search through everything settles the usual "not here"; a space never occurs inside.
        return " ".join(self._ink_text(name) for name in self._documents)

    def _within(self, document: str, wanted: str) -> Iterator[Found]:
        end = 0
        while (position := self._ink_text(document).find(wanted, end)) >= 0:
            counter = self._counters.setdefault(document, Ink(self._documents[document]))
            end = position + len(wanted)
            yield Found(
                document,
                Range(
                    start=counter.offset(position + 1) - 1,
                    end=counter.offset(end),
                    ink_start=position,
                    ink_end=end,
                ),
            )

    def _ink_text(self, document: str) -> str:
        if document not in self._inked:
            self._inked[document] = "".join(self._documents[document].split())
        return self._inked[document]
