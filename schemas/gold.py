"""Gold: where the answer stands in the full documents, so that labels survive re-chunking."""

from typing import Literal, Self

from pydantic import Field, model_validator

from schemas.record import Record

GoldRule = Literal["all", "any"]
GoldKind = Literal["span", "document", "passage"]


class Place(Record):
    """One place of evidence as a person writes it; exactly one of three kinds.

    A span (`document` with `quote`, or with `start` and `end`), a whole `document`, or the `passage` id of a
    foreign index.
    """

    document: str | None = None
    quote: str | None = Field(default=None, min_length=1)
    occurrence: int | None = Field(default=None, ge=1)
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=1)
    passage: str | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if (self.document is None) == (self.passage is None):
            msg = "gold names either a document or a passage"
            raise ValueError(msg)
        if self.quote is not None and not self.quote.strip():
            msg = "a quote holds text, not white space alone"
            raise ValueError(msg)
        offsets = (self.start is None) + (self.end is None)
        if offsets == 1 or (offsets == 0 and self.quote is not None):
            msg = "a span is given by a quote, or by start and end"
            raise ValueError(msg)
        if self.start is not None and self.end is not None and self.start >= self.end:
            msg = "a span's start lies before its end"
            raise ValueError(msg)
        if self.passage is not None and (self.quote is not None or offsets == 0):
            msg = "a foreign passage id takes no quote and no offsets"
            raise ValueError(msg)
        if self.occurrence is not None and self.quote is None:
            msg = "occurrence belongs to a quote"
            raise ValueError(msg)
        return self

    @property
    def kind(self) -> GoldKind:
        """What has to be retrieved.

        >>> Place(document="a.md", quote="30 days").kind
        'span'
        """
        if self.passage is not None:
            return "passage"
        return "document" if self.quote is None and self.start is None else "span"


class GoldEntry(Place):
    """A place of evidence, with places that serve as well (`alternatives`) and its `grade` for nDCG."""

    alternatives: tuple[Place, ...] = ()
    grade: float = Field(default=1.0, gt=0)


class ResolvedPlace(Record):
    """A place found in its document.

    `start` and `end` count characters; `ink_start` and `ink_end` count the non-space characters before them,
    so that "covers all non-space characters of the span" is arithmetic on intervals. All four are None for
    whole documents and foreign passages; `target_id` is the document's or the passage's id.
    """

    kind: GoldKind
    target_id: str
    start: int | None = None
    end: int | None = None
    ink_start: int | None = None
    ink_end: int | None = None


class ResolvedGold(Record):
    """One gold entry, resolved: the entry itself first, then its alternatives."""

    places: tuple[ResolvedPlace, ...] = Field(min_length=1)
    grade: float = 1.0
