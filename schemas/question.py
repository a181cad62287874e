"""Questions and their key points."""

from typing import Literal

from pydantic import Field

from schemas.gold import GoldEntry, GoldRule, ResolvedGold
from schemas.record import Record

Answerable = Literal["yes", "no", "unknown"]


class Question(Record):
    """A line of `questions.jsonl`.

    Attributes:
        answerable: A field of its own, never inferred from empty gold.
        gold_rule: `all` entries are jointly required, or `any` suffices; None takes the default (`all`).
        reference: Somebody's model answer, if that is all there is; `keypoints from-references` splits it.
        cluster: Questions about the same page share one; comparisons then count the cluster, not the question.
    """

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    answerable: Answerable = "yes"
    gold: tuple[GoldEntry, ...] = ()
    gold_rule: GoldRule = "all"
    tags: dict[str, str] = Field(default_factory=dict)
    reference: str | None = None
    cluster: str | None = None


Changed = Literal["text", "weight", "status", "split"]


class Edit(Record):
    """One recorded change of a key point: who, when (an ISO date or time), why, and what stood there before and after.

    Attributes:
        of: What was changed. `split` stands on a point that was made of a part of another's text, which is `before`.
    """

    who: str
    when: str
    why: str
    before: str
    after: str
    of: Changed = "text"


PointStatus = Literal["draft", "drafted by rule, not reviewed", "reviewed", "dropped"]


class KeyPoint(Record):
    """One thing a right answer says, drawn from the full documents.

    A dropped point stays in its file, so that the decision is on record and can be taken back; no run reads it.
    """

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    weight: Literal["vital", "okay"] = "vital"
    documents: tuple[str, ...] = ()
    gold: tuple[GoldEntry, ...] = ()
    status: PointStatus = "draft"
    edits: tuple[Edit, ...] = ()


class AskedPoint(Record):
    """A key point as a run uses it: its gold resolved, its weight settled (none vital: all are)."""

    point_id: str
    point_key: str
    text: str
    vital: bool
    status: PointStatus
    gold: tuple[ResolvedGold, ...] = ()


class AskedQuestion(Record):
    """A question as a run uses it.

    `unresolved` is set when gold did not resolve and the person said `--skip-unresolved`.
    """

    question_id: str
    question_key: str
    text: str
    answerable: Answerable
    gold_rule: GoldRule
    gold: tuple[ResolvedGold, ...] = ()
    unresolved: bool = False
    points: tuple[AskedPoint, ...] = ()
    tags: dict[str, str] = Field(default_factory=dict)
