"""The three seats, each defined by what it may see."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from schemas.answer import NoAnswer, Reading
from schemas.record import Record
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


class GroundRequest(Record):
    """What a judge of grounding sees: claims numbered from 1, and the passages the writer was given."""

    question: str
    claims: tuple[str, ...]
    passages: tuple[str, ...]


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


class Writer(Protocol):
    """Sees question and context, and answers."""

    def write(self, requests: Sequence[WriteRequest]) -> Iterator[tuple[int, Draft | Failure]]:
        """Yield (position of the request, reply), in any order."""
        ...


class Reader(Protocol):
    """Sees question and answer, and says what the answer claims."""

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[tuple[int, Reading | Failure]]:
        """Yield (position of the request, reading), in any order."""
        ...


class Judge(Protocol):
    """Sees claims and context, or answer and key points; gives exactly one verdict for each."""

    def judge_grounding(
        self, requests: Sequence[GroundRequest]
    ) -> Iterator[tuple[int, tuple[JudgedClaim, ...] | Failure]]:
        """Yield (position of the request, a verdict on each claim), in any order."""
        ...

    def judge_points(
        self, requests: Sequence[PointsRequest]
    ) -> Iterator[tuple[int, tuple[PointVerdict, ...] | Failure]]:
        """Yield (position of the request, a verdict on each key point), in any order."""
        ...
