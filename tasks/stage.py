"""The one way any stage reuses saved rows: keys of all inputs, rows stored, compute the missing, save as it goes."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.errors import FourcellsError
from schemas.plan import Shard, StageCount
from schemas.question import AskedQuestion
from schemas.seats import Failure, Given
from schemas.spent import Spent
from schemas.state import FAILED, Reason, State
from schemas.trail import Step, Trail
from tasks.runs.run import Run
from tasks.store.rows import Row

log = logging.getLogger("fourcells.stage")

MAX_ATTEMPTS: Final = 3
# What a stage makes of each question, in this order.
RECORDS: Final[dict[str, tuple[str, ...]]] = {
    "retrieve": ("ranking", "context"),
    "generate": ("answer",),
    "judge-grounding": ("reading", "grounding"),
    "judge-correctness": ("correctness",),
    "attribute": ("cell",),
}
_SAVE_EVERY_S: Final = 3.0
# What `fourcells grade` takes as it finds it.
_NOT_GRADING: Final = frozenset({"ranking", "context", "answer"})
_NOT_MADE: Final = Failure(state=State.BLOCKED, kind="NotAnswered", message="`fourcells run` has not made this row yet")
# So many failures of one kind a stretch tells one by one; what the budget did not reach is one line.
_TOLD: Final = 3
_NO_REPLY: Final = Failure(state=State.ERRORED, kind="NoReply", message="the stage gave no result for this row")


@dataclass(frozen=True)
class Item:
    """One question of a shard: what was asked, and what has become of it so far."""

    question: AskedQuestion
    trail: Trail


@dataclass(frozen=True)
class Settled:
    """A step that has no row to compute: not applicable, or blocked by an earlier stage."""

    state: State
    reason: str


BLOCKED: Final = Settled(State.BLOCKED, "an earlier stage has no result")


def not_applicable(reason: Reason) -> Settled:
    """There is nothing to score, and why."""
    return Settled(State.NOT_APPLICABLE, reason.value)


Outcomes = Iterator[Given[Row]]


@dataclass(frozen=True)
class Making:
    """How one record is made.

    Attributes:
        record: A record of the store, and the step of the trail it fills.
        key_of: The row's key, or why there is no row.
        compute: Takes the items whose rows are missing and yields rows or failures by position, in any order;
            rows come without their key.
        carry: Copies what later keys are made of from a row's carried columns to the trail.
        free: Taking over what somebody saved: done in `fourcells grade` too.
        seated: A seat makes the rows, so each says what it took; of other rows there is nothing to say.
    """

    record: str
    key_of: Callable[[Item], str | Settled]
    compute: Callable[[Sequence[Item]], Outcomes]
    carry: Callable[[Trail, Row], None] | None = None
    free: bool = False
    seated: bool = False


def settle(run: Run, items: Sequence[Item], making: Making) -> None:
    """Give every item of a shard its row: reused where the key is stored, computed where it is not.

    Rows are saved every few seconds and when the stage is interrupted. A failure is written to the trail and
    never becomes a row. Equal keys are computed once.
    """
    by_key: dict[str, list[Item]] = {}
    for item in items:
        found = making.key_of(item)
        step = Step(key=found) if isinstance(found, str) else Step(state=found.state, reason=found.reason)
        setattr(item.trail, making.record, step)
        if isinstance(found, str):
            by_key.setdefault(found, []).append(item)
    rows = run.store.rows(making.record)
    names = list(by_key)
    saved = rows.carried(names)
    missing = {name: by_key[name][0] for name, row in zip(names, saved, strict=True) if row is None}
    given_up: dict[str, Failure] = {}
    failures: dict[str, Failure] = {}
    if missing:
        given_up = _given_up(run, making, missing)
        todo = {name: item for name, item in missing.items() if name not in given_up}
        if todo:
            with run.under_way.settling(making.record, n_items=len(items), n_todo=len(todo)) as made:
                failures = _compute(run, making, todo, made)
        saved = rows.carried(names)
    for name, row in zip(names, saved, strict=True):
        tried = name in missing and name not in given_up
        failure = given_up.get(name) or failures.get(name) or _NO_REPLY
        for position, item in enumerate(by_key[name]):
            step = getattr(item.trail, making.record)
            # Equal keys are one row: it is new once.
            step.new = tried and position == 0
            if row is None:
                step.state, step.reason, step.message = failure.state, failure.kind, failure.message
                continue
            step.state = State.SCORED
            if making.carry is not None:
                making.carry(item.trail, row)


def _given_up(run: Run, making: Making, missing: Mapping[str, Item]) -> dict[str, Failure]:
    """Rows that this run does not try: what grading takes as it finds it, and what failed too often."""
    if run.plan.grade_only and not making.free and making.record in _NOT_GRADING:
        return dict.fromkeys(missing, _NOT_MADE)
    return _exhausted(run, making.record, missing)


def _compute(run: Run, making: Making, todo: Mapping[str, Item], made: Callable[[], None]) -> dict[str, Failure]:
    rows = run.store.rows(making.record)
    failures: dict[str, Failure] = {}
    names = list(todo)
    unsaved: list[Row] = []
    tally: Counter[tuple[State, str]] = Counter()
    saved_at = time.monotonic()
    try:
        for position, outcome, spent in making.compute(list(todo.values())):
            made()
            todo[names[position]].trail.add(paid_usd=spent.paid_usd, spent_s=spent.latency_s)
            if isinstance(outcome, Failure):
                failures[names[position]] = outcome
                _tell(making.record, todo[names[position]].question.question_id, outcome, tally)
                continue
            unsaved.append({"key": names[position], **outcome, **(_took(spent) if making.seated else {})})
            if time.monotonic() - saved_at > _SAVE_EVERY_S:
                rows.publish(unsaved)
                run.note_paid()
                unsaved, saved_at = [], time.monotonic()
    finally:
        rows.publish(unsaved)
        run.note_paid()
        _tell_rest(making.record, tally)
    return failures


def _tell(record: str, question_id: str, failure: Failure, tally: Counter[tuple[State, str]]) -> None:
    tally[failure.state, failure.kind] += 1
    if failure.state is not State.OVER_BUDGET and tally[failure.state, failure.kind] <= _TOLD:
        log.warning("%s of question %r failed: %s: %s", record, question_id, failure.kind, failure.message)


def _tell_rest(record: str, tally: Counter[tuple[State, str]]) -> None:
    for (state, kind), n in tally.items():
        if state is State.OVER_BUDGET:
            log.warning("%s of %d questions not tried: what is left of the budget does not reach for a call", record, n)
        elif n > _TOLD:
            log.warning("%s of %d more questions failed: %s", record, n - _TOLD, kind)


def _took(spent: Spent) -> Row:
    """What a row says of its making; which run paid for it is the manifest's to say."""
    return {
        "cost_usd": spent.cost_usd,
        "latency_s": spent.latency_s if spent.n_calls else None,
        "n_calls": spent.n_calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cache_read_tokens": spent.cache_read_tokens,
        "cache_write_tokens": spent.cache_write_tokens,
    }


def _exhausted(run: Run, record: str, missing: Mapping[str, Item]) -> dict[str, Failure]:
    """Rows that failed in `MAX_ATTEMPTS` runs are not tried again unless told."""
    if run.plan.retry_failed:
        return {}
    attempts = run.attempts(record)
    return {
        name: Failure(
            state=attempts[name].state,
            kind=attempts[name].reason,
            message=f"{attempts[name].message} (failed in {attempts[name].count} runs; --retry-failed tries again)",
        )
        for name in missing
        if name in attempts and attempts[name].count >= MAX_ATTEMPTS
    }


def each(make: Callable[[Item], Row | Failure], items: Sequence[Item]) -> Outcomes:
    """Make rows one by one; an unforeseen error fails its own row and no other.

    Raises:
        FourcellsError: A full or damaged store is nothing of one row's: every row would meet it.
    """
    for position, item in enumerate(items):
        try:
            yield Given(position, make(item))
        except FourcellsError:
            raise
        except Exception as error:  # noqa: BLE001 - one row's bug must not cost the others
            yield Given(position, Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error)))


def counted(stage: str, shard: Shard, items: Sequence[Item]) -> StageCount:
    """Count a shard's questions: computed when any of the stage's rows is new, reused when all were there."""
    computed = reused = failed = 0
    for item in items:
        steps: list[Step] = [getattr(item.trail, record) for record in RECORDS[stage]]
        if any(step.state in FAILED for step in steps):
            failed += 1
        elif any(step.new for step in steps):
            computed += 1
        elif any(step.scored for step in steps):
            reused += 1
    return StageCount(stage=stage, setup=shard.setup, computed=computed, reused=reused, failed=failed)


def items_of(run: Run, shard: Shard, trails: Sequence[Trail]) -> list[Item]:
    """A shard's questions with their trails."""
    return [Item(question, trail) for question, trail in zip(run.asked(shard), trails, strict=True)]
