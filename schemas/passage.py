"""Passages: stretches of documents as ranked or as given to the writer. Two lists, never mixed."""

from schemas.record import Record


class Range(Record):
    """Characters `start` to `end` of a document, and the same border counted in non-space characters."""

    start: int
    end: int
    ink_start: int
    ink_end: int


class Passage(Record):
    """A stretch of text at a rank or in a context.

    Attributes:
        document_id: None when an imported passage names none and was not found in the corpus.
        document_key: Key of the document's row, so that the text can be had after the workspace moved on.
        ranges: Where the passage stands in the document; empty when that is unknown.
        text: Kept for imported passages, exactly as they were given; None where the document row has it.
        text_digest: Digest of the passage's text, which later keys are made of.
        foreign_id: The id under which somebody else's index knows it.
        score: The retriever's, in a ranking; None in a context.
    """

    document_id: str | None
    document_key: str | None
    ranges: tuple[Range, ...]
    n_tokens: int
    text_digest: str
    text: str | None = None
    foreign_id: str | None = None
    score: float | None = None


class Ranking(Record):
    """What the retriever returned, best first, before neighbours, merging, cut-offs or the prompt's room."""

    passages: tuple[Passage, ...]


class Context(Record):
    """What the writer was given, in the order in which it was given."""

    passages: tuple[Passage, ...]
    n_tokens: int
    passages_digest: str
