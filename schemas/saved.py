"""Somebody's own saved answers, in the one form that `fourcells import` writes."""

from pydantic import Field

from schemas.record import Record


class SavedPassage(Record):
    """A passage that an assistant was given.

    Attributes:
        text: As it was given.
        id: The passage's id in the foreign index.
        document: The document it came from.
        rank: Its rank in the retriever's list, from 1. Without ranks the list is a context and no ranking.
    """

    text: str
    id: str | None = None
    document: str | None = None
    rank: int | None = Field(default=None, ge=1)


class SavedAnswer(Record):
    """A line of `answers/NAME.jsonl`.

    Attributes:
        passages: None when nobody recorded them; an empty list says that the writer was given none.
    """

    question_id: str = Field(min_length=1)
    answer: str
    passages: tuple[SavedPassage, ...] | None = None
