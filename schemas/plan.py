"""A run's plan: everything that was asked, settled before the first stage."""

from typing import Literal

from pydantic import Field

from schemas.record import Record
from schemas.setup import Grading, Judge, Setup

Until = Literal["index", "retrieve", "generate", "judge-grounding", "judge-correctness", "attribute"]


class PlannedDocument(Record):
    """A document of the corpus, by reference."""

    document_id: str
    document_key: str
    text_digest: str


class PlannedSetup(Record):
    """A setup as a run takes it.

    Attributes:
        asked: Which of the asked questions it has to answer, by position; None means all.
        reading_trial: Which reading of the reader's this is (METRICS.md §7).
        judging_trial: Which one of the judge's.
    """

    setup: Setup
    asked: tuple[int, ...] | None = None
    answers_digest: str | None = None
    reading_trial: int = Field(default=0, ge=0)
    judging_trial: int = Field(default=0, ge=0)


class Plan(Record):
    """What a run does.

    Attributes:
        run_id: This attempt.
        inputs_id: What was asked; attempts at the same thing share it.
        grade_only: Saved answers are judged, and nothing before that is computed.
        prompts: Texts by name, as they stood when the run was prepared.
        notes: What a person has to know before they trust the numbers.
        budget_usd: What this run may pay at most; None is no limit.
        batch: Whether model calls go through Message Batches.
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
    prompts: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    budget_usd: float | None = Field(default=None, ge=0)
    batch: bool = False


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
