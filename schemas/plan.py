"""A run's plan: everything that was asked, settled before the first stage."""

from typing import Literal

from schemas.record import Record
from schemas.setup import Grading, Judge, Setup

Until = Literal["index", "retrieve", "generate", "judge-grounding", "judge-correctness", "attribute"]


class PlannedDocument(Record):
    """A document of the corpus, by reference."""

    document_id: str
    document_key: str
    text_digest: str


class PlannedSetup(Record):
    """A setup and which of the asked questions it has to answer, by position; None means all."""

    setup: Setup
    asked: tuple[int, ...] | None = None
    answers_digest: str | None = None


class Plan(Record):
    """What a run does.

    Attributes:
        run_id: This attempt.
        inputs_id: What was asked; attempts at the same thing share it.
        grade_only: Saved answers are judged, and nothing before that is computed.
    """

    run_id: str
    inputs_id: str
    workspace: str
    started_at: str
    setups: tuple[PlannedSetup, ...]
    judge: Judge
    grading: Grading
    until: Until = "attribute"
    documents: tuple[PlannedDocument, ...]
    n_questions: int
    retry_failed: bool = False
    grade_only: bool = False


class Shard(Record):
    """A reference to a stretch of a setup's questions in a run: what stages hand to each other."""

    workspace: str
    run_id: str
    setup: str
    number: int
    start: int
    stop: int


class StageCount(Record):
    """What one stage did with one shard."""

    stage: str
    setup: str
    computed: int = 0
    reused: int = 0
    failed: int = 0
