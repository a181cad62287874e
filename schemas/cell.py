"""The cell of a question: exactly one label, its reason, its owner, and the rows behind it."""

from enum import StrEnum
from typing import Final, Literal

from schemas.record import Record
from schemas.verdict import PointWord

# METRICS.md §3 and §5; `grading.toml` may set others, and reports print the values used.
GROUNDED_AT: Final = 0.9
CORRECT_AT: Final = 0.75


class Label(StrEnum):
    """What became of a question, in the order in which it is decided (METRICS.md §6)."""

    UNDETERMINED = "undetermined"
    CORRECT = "correct"
    NO_ANSWER = "no_answer"
    ANSWERED_UNANSWERABLE = "answered_unanswerable"
    ABSTAINED_WITH_EVIDENCE = "abstained_with_evidence"
    ABSTAINED_WITHOUT_EVIDENCE = "abstained_without_evidence"
    UNATTRIBUTED = "unattributed"
    FAITHFUL_BUT_WRONG = "faithful_but_wrong"
    IGNORED_EVIDENCE = "ignored_evidence"
    FAITHFUL_TO_WRONG_PASSAGE = "faithful_to_wrong_passage"
    IMPROVISED = "improvised"


Owner = Literal["generation", "retrieval", "abstention", "corpus and labels", "retrieval, then abstention", "nobody"]


class FailedPoint(Record):
    """A point that failed: its verdict, and whether its gold arrived in the context and was used."""

    point_id: str
    verdict: PointWord
    arrived: bool | None
    used: bool | None


class Cell(Record):
    """One label, and what it was decided from, so that a person can overturn it.

    Attributes:
        reason: One of the words of METRICS.md §6; for `unattributed` and `undetermined` the stage or axis and
            why, as in "grounding: timed_out"; empty where the label says it all.
        correct: None where it could not be said.
        grounded: None where it could not be said; known for correct answers too.
        arrived: None where it could not be said, or was not asked.
        page_level: The evidence axis rests on document gold, which shows only that the page arrived.
    """

    label: Label
    reason: str
    owner: Owner
    correct: bool | None = None
    grounded: bool | None = None
    arrived: bool | None = None
    page_level: bool = False
    failed_points: tuple[FailedPoint, ...] = ()
