"""Finding gold in the full documents: once, by verbatim quote, so that labels survive re-chunking."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import GoldEntry, Place, ResolvedGold, ResolvedPlace
from tasks.text.ink import Ink

# What a person wrote of one place: document, quote, occurrence, start, end.
_Quoted = tuple[str | None, str | None, int | None, int | None, int | None]


class GoldFinder:
    """Resolves gold against one corpus.

    Args:
        documents: By id.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._inks: dict[str, Ink] = {}
        # A question and its points often quote the same sentence: each quote is looked for once.
        self._found: dict[_Quoted, ResolvedPlace] = {}

    def resolve(self, entries: Sequence[GoldEntry], *, where: str) -> tuple[ResolvedGold, ...]:
        """Find every entry and its alternatives.

        Args:
            entries: As a person wrote them.
            where: The question or point, for the error.

        Raises:
            InputError: When a document is unknown, a quote is not in it or stands there more than once, or a
                range lies outside; shows the nearest text.
        """
        return tuple(
            ResolvedGold(
                places=tuple(self._place(place, where) for place in (entry, *entry.alternatives)),
                grade=entry.grade,
            )
            for entry in entries
        )

    def ink(self, document_id: str) -> Ink:
        """The counter of a document's non-space characters."""
        if document_id not in self._inks:
            self._inks[document_id] = Ink(self._documents[document_id].text)
        return self._inks[document_id]

    def _place(self, place: Place, where: str) -> ResolvedPlace:
        if place.passage is not None:
            return ResolvedPlace(kind="passage", target_id=place.passage)
        quoted = (place.document, place.quote, place.occurrence, place.start, place.end)
        if quoted not in self._found:
            self._found[quoted] = self._found_place(place, where)
        return self._found[quoted]

    def _found_place(self, place: Place, where: str) -> ResolvedPlace:
        document = self._document(place, where)
        if place.kind == "document":
            return ResolvedPlace(kind="document", target_id=document.document_id)
        start, end = self._borders(place, document, where)
        ink_start = self.ink(document.document_id).at(start)
        return ResolvedPlace(
            kind="span",
            target_id=document.document_id,
            start=start,
            end=end,
            ink_start=ink_start,
            ink_end=ink_start + len("".join(document.text[start:end].split())),
        )

    def _document(self, place: Place, where: str) -> Document:
        name = place.document or ""
        if name not in self._documents:
            near = difflib.get_close_matches(name, self._documents, n=1)
            hint = f"Did you mean {near[0]}?" if near else "Name a document of the corpus."
            raise InputError(f"gold names document {name!r}, which is not in the corpus", where=where, remedy=hint)
        return self._documents[name]

    def _borders(self, place: Place, document: Document, where: str) -> tuple[int, int]:
        if place.quote is None:
            start, end = place.start or 0, place.end or 0
            if end > len(document.text) or not document.text[start:end].strip():
                raise InputError(
                    f"gold range {start} to {end} of {document.document_id} holds no text (the document has "
                    f"{len(document.text)} characters)",
                    where=where,
                )
            return start, end
        starts = list(occurrences(place.quote, document.text))
        if not starts:
            raise InputError(
                f"gold quote {_short(place.quote)!r} is not in {document.document_id}",
                where=where,
                remedy=f"The nearest text there is {_short(nearest(place.quote, document.text))!r}. "
                "Copy the quote exactly as the document has it.",
            )
        if place.occurrence is None and len(starts) > 1:
            raise InputError(
                f"gold quote {_short(place.quote)!r} stands {len(starts)} times in {document.document_id}",
                where=where,
                remedy='Quote a little more, or say which one with "occurrence": 1 and so on.',
            )
        number = place.occurrence or 1
        if number > len(starts):
            raise InputError(
                f"gold asks for occurrence {number} of {_short(place.quote)!r}, and {document.document_id} has "
                f"{len(starts)}",
                where=where,
            )
        return starts[number - 1], starts[number - 1] + len(place.quote)


def occurrences(quote: str, text: str) -> Iterator[int]:
    """Where a quote stands in a text, letter for letter, overlapping ones included; `occurrence` 1 is the first."""
    position = text.find(quote)
    while position >= 0:
        yield position
        position = text.find(quote, position + 1)


def nearest(quote: str, text: str) -> str:
    r"""The line or stretch of a text that is most like a quote, for an error message.

    >>> nearest("kept for 31 days", "Short.\nLogs are kept for 30 days.\nBye.")
    'Logs are kept for 30 days.'
    """
    lines = [line.strip() for line in re.split(r"\n|(?<=[.!?])\s", text) if line.strip()]
    wanted = set(quote.casefold().split())
    likely = sorted(lines, key=lambda line: -len(wanted & set(line.casefold().split())))[:20]
    return max(likely, key=lambda line: difflib.SequenceMatcher(None, quote, line).ratio(), default="")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 100 else flat[:97] + "..."
