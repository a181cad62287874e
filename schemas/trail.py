"""What became of each stage of one (setup, question): the row a shard hands from stage to stage.

Plain slots: there is one trail for each question of a run, and stages set its fields one by one.
"""

from dataclasses import dataclass, field

from schemas.state import State


@dataclass(slots=True, kw_only=True)
class Step:
    """One record of one row: its state, its key, and whether this run computed it.

    Attributes:
        reason: Why it is not_applicable, or the kind of error.
        message: The error's own words.
        key: Key of the row; kept for failed ones too, so that attempts can be counted.
        new: True when this run computed the row or tried to, False when it was reused or given up without
            trying, None when there was nothing to try.
    """

    state: State | None = None
    reason: str | None = None
    message: str | None = None
    key: str | None = None
    new: bool | None = None

    @property
    def scored(self) -> bool:
        """Whether there is a row to read."""
        return self.state is State.SCORED


@dataclass(slots=True, kw_only=True)
class Trail:
    """One row of a run's manifest. The digests are what later stages make their keys of."""

    setup: str
    question_id: str
    question_key: str
    ranking: Step = field(default_factory=Step)
    context: Step = field(default_factory=Step)
    answer: Step = field(default_factory=Step)
    reading: Step = field(default_factory=Step)
    grounding: Step = field(default_factory=Step)
    correctness: Step = field(default_factory=Step)
    cell: Step = field(default_factory=Step)
    passages_digest: str | None = None
    context_tokens: int | None = None
    answer_digest: str | None = None
    no_answer: str | None = None
    claims_digest: str | None = None
    n_claims: int | None = None
    label: str | None = None
    paid_usd: float = 0.0
    spent_s: float = 0.0

    def add(self, *, paid_usd: float, spent_s: float) -> None:
        """Add what this run paid for one stage of the row, and how long its calls took in all."""
        self.paid_usd += paid_usd
        self.spent_s += spent_s
