"""Documents, and the chunks they are split into."""

from schemas.record import Record


class Document(Record):
    """A page of the corpus.

    Attributes:
        document_id: The path under `corpus/`, or the `_id` of a BEIR file; never used as a file name.
        title: For people; not searched unless it stands in the text.
        text: All of it; every character offset in fourcells counts Unicode characters of this string from 0.
    """

    document_id: str
    title: str
    text: str


class Chunk(Record):
    """A stretch of a document that is indexed: `text == document.text[start:end]`.

    Attributes:
        start: First character.
        end: One past the last character.
        n_tokens: Its size by `tasks.search.tokens.count_tokens`.
    """

    start: int
    end: int
    n_tokens: int
