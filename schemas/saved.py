"""Somebody's own saved answers, in the one form that `fourcells import` writes."""

from collections.abc import Sequence

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


def ranking_fault(passages: Sequence[SavedPassage]) -> str | None:
    """Say what is wrong with the ranks of passages: a ranking is the retriever's whole list, from its first on.

    >>> ranking_fault([SavedPassage(text="a", rank=1), SavedPassage(text="b", rank=3)])
    'ranks 1, 3 of 2 passages'
    >>> ranking_fault([SavedPassage(text="a")])
    """
    ranks = [passage.rank for passage in passages]
    if set(ranks) == {None} or sorted(rank or 0 for rank in ranks) == list(range(1, len(ranks) + 1)):
        return None
    told = ", ".join("none" if rank is None else str(rank) for rank in ranks[:10]) + (", …" if len(ranks) > 10 else "")
    return f"ranks {told} of {len(ranks)} passages"


class SavedAnswer(Record):
    """A line of `answers/NAME.jsonl`.

    Attributes:
        passages: None when nobody recorded them; an empty list says that the writer was given none.
    """

    question_id: str = Field(min_length=1)
    answer: str
    passages: tuple[SavedPassage, ...] | None = None
