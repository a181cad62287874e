"""The three seats, each defined by what it may see."""

from collections.abc import Iterator, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from schemas.answer import NoAnswer, Reading
from schemas.record import Record
from schemas.spent import FREE, Spent
from schemas.state import State
from schemas.verdict import JudgedClaim, PointVerdict


class WriteRequest(Record):
    """What a writer sees: the question and the passages it may use, numbered from 1 in this order."""

    question: str
    passages: tuple[str, ...]


class ReadRequest(Record):
    """What a reader sees: question and answer, never the context."""

    question: str
    answer: str


# Over so many claims an answer is judged in parts, at the borders of its paragraphs (METRICS.md §3).
MOST_CLAIMS: Final = 15


class GroundRequest(Record):
    """What a judge of grounding sees: claims numbered from 1, and the passages the writer was given.

    Attributes:
        opens: Of each claim, whether it begins a paragraph of the answer; empty where no parts are needed.
    """

    question: str
    claims: tuple[str, ...]
    passages: tuple[str, ...]
    opens: tuple[bool, ...] = ()


class PointsRequest(Record):
    """What a judge of correctness sees: question, answer and key points numbered from 1, never the context."""

    question: str
    answer: str
    points: tuple[str, ...]


class Draft(Record):
    """A writer's reply."""

    text: str
    no_answer: NoAnswer | None = None


class Failure(Record):
    """A reply that is not one: its state (a failed one), its kind and its message."""

    state: State
    kind: str
    message: str


Reply = TypeVar("Reply")


class Given(NamedTuple, Generic[Reply]):
    """What a seat gave for the request at `position`, and what that took (a failure may have cost something too)."""

    position: int
    reply: Reply | Failure
    spent: Spent = FREE


class Writer(Protocol):
    """Sees question and context, and answers."""

    def write(self, requests: Sequence[WriteRequest]) -> Iterator[Given[Draft]]:
        """Yield the replies, in any order."""
        ...


class Reader(Protocol):
    """Sees question and answer, and says what the answer claims."""

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Given[Reading]]:
        """Yield the readings, in any order."""
        ...


class Judge(Protocol):
    """Sees claims and context, or answer and key points; gives exactly one verdict for each."""

    def judge_grounding(self, requests: Sequence[GroundRequest]) -> Iterator[Given[tuple[JudgedClaim, ...]]]:
        """Yield a verdict on each claim of a request, the requests in any order."""
        ...

    def judge_points(self, requests: Sequence[PointsRequest]) -> Iterator[Given[tuple[PointVerdict, ...]]]:
        """Yield a verdict on each key point of a request, the requests in any order."""
        ...
