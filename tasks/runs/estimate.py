"""What a run would ask of models and what that would cost: the stages' own requests, counted instead of sent."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from schemas.claude import ClaudeSettings
from schemas.expected import Expected
from schemas.plan import Shard
from schemas.seats import MOST_CLAIMS, GroundRequest, PointsRequest, ReadRequest
from schemas.state import State
from schemas.trail import Step
from tasks.generate import answers
from tasks.judge_correctness import judgements
from tasks.judge_grounding import groundings, readings
from tasks.models.claude.estimating import EstimatingDesk, Tally
from tasks.models.table import open_judge, open_reader
from tasks.runs.run import Run
from tasks.stage import BLOCKED, Item, Making, items_of, settle

# Tokens of a reply of each kind, until saved rows say better. Assumed, not measured.
_ASSUMED: Final = {"answer": 250, "reading": 700, "grounding": 900, "correctness": 350}
_LEAST_CALLS: Final = 5
# Stand for an answer that is not written yet, of about 270 tokens, and for its claims.
_CLAIM: Final = "An answer states about so much in a sentence."
_N_SENTENCES: Final = 24
_N_CLAIMS: Final = 8


def estimate(run: Run, desk: EstimatingDesk, shard: Shard) -> Iterator[Expected]:
    """Count what a shard's stages would ask, stage by stage.

    Rows that need a row which is not there yet are counted with a stand-in for it. Offline seats are not estimated:
    they do their work, which costs nothing and is kept.

    Args:
        run: Retrieved already, with `desk` as its desk.
        desk: Counts.
        shard: Of the run.
    """
    items = items_of(run, shard, run.trails(shard))
    setup, judge = run.setup(shard.setup).setup, run.plan.judge
    # Grading takes the answers it finds.
    writer = None if setup.answers or run.plan.grade_only else setup.writer
    seats: list[tuple[str, Making, object, Callable[[Run, str, Sequence[Item]], object]]] = [
        ("generate", answers(run, shard), writer, lambda *_: None),
        ("read", readings(run, shard.setup), judge.reader, _read),
        ("judge-grounding", groundings(run, shard.setup), judge.judge, _ground),
        ("judge-correctness", judgements(run, shard.setup), judge.judge, _check_points),
    ]
    for stage, making, settings, ask_stand_ins in seats:
        desk.tally = Tally()
        model = None
        if isinstance(settings, ClaudeSettings):
            model, desk.reply_tokens = settings.model, _reply_tokens(run, making.record)
            missing, blocked = _left(run, items, making)
            _count(desk, making, missing)
            ask_stand_ins(run, shard.setup, blocked)
        else:
            settle(run, items, making)
        if stage == "generate" and run.plan.grade_only:
            # What has no answer is not judged.
            items = [item for item in items if item.trail.answer.scored]
        n_saved = sum(getattr(item.trail, making.record).scored for item in items)
        yield Expected(
            setup=shard.setup,
            stage=stage,
            model=model,
            n_reused=n_saved + desk.tally.n_kept,
            n_calls=desk.tally.n_calls,
            input_tokens=desk.tally.input_tokens,
            output_tokens=desk.tally.output_tokens,
            cost_usd=desk.tally.cost_usd,
            most_usd=desk.tally.most_usd,
        )


def added(expected: Sequence[Expected]) -> list[Expected]:
    """Shards' counts added up by setup and stage, in the order of first appearance."""
    totals: dict[tuple[str, str], Expected] = {}
    for one in expected:
        name = (one.setup, one.stage)
        before = totals.get(name, Expected(setup=one.setup, stage=one.stage, model=one.model))
        sums = {
            field: getattr(before, field) + getattr(one, field)
            for field in ("n_reused", "n_calls", "input_tokens", "output_tokens", "cost_usd", "most_usd")
        }
        totals[name] = before.model_copy(update=sums)
    return list(totals.values())


def _count(desk: EstimatingDesk, making: Making, missing: Sequence[Item]) -> None:
    """Ask for the missing rows; over so many claims an answer is judged in parts (METRICS.md §3)."""
    groups: dict[int, list[Item]] = {}
    for item in missing:
        n_parts = -(-(item.trail.n_claims or 1) // MOST_CLAIMS) if making.record == "grounding" else 1
        groups.setdefault(max(1, n_parts), []).append(item)
    for n_parts, group in groups.items():
        # What is sent with each part is much the same.
        desk.n_parts = n_parts
        list(making.compute(group))
    desk.n_parts = 1


def _left(run: Run, items: Sequence[Item], making: Making) -> tuple[list[Item], list[Item]]:
    """Items whose row is missing, and items of which not even the key is known yet."""
    keyed: dict[str, list[Item]] = {}
    blocked: list[Item] = []
    for item in items:
        found = making.key_of(item)
        if isinstance(found, str):
            keyed.setdefault(found, []).append(item)
            continue
        setattr(item.trail, making.record, Step(state=found.state, reason=found.reason))
        if found is BLOCKED:
            blocked.append(item)
    missing: list[Item] = []
    for name, row in zip(keyed, run.store.rows(making.record).carried(list(keyed)), strict=True):
        for item in keyed[name]:
            setattr(item.trail, making.record, Step(state=None if row is None else State.SCORED, key=name))
            if row is not None and making.carry is not None:
                making.carry(item.trail, row)
        if row is None:
            missing.append(keyed[name][0])
    return missing, blocked


def _reply_tokens(run: Run, record: str) -> int:
    """Mean tokens of a saved reply of this kind, where there are enough of them."""
    n_tokens, n_calls = run.store.rows(record).sums(["output_tokens", "n_calls"])
    return _ASSUMED[record] if n_calls < _LEAST_CALLS else round(n_tokens / n_calls)


def _stand_in(item: Item, *, n_sentences: int = _N_SENTENCES) -> str:
    # Two setups' answers differ, and equal requests would count once.
    return " ".join([f"({item.trail.setup})", *([_CLAIM] * n_sentences)])


def _read(run: Run, setup: str, blocked: Sequence[Item]) -> None:
    requests = [ReadRequest(question=item.question.text, answer=_stand_in(item)) for item in blocked]
    list(open_reader(run.plan.judge, run.seating(setup)).read(requests))


def _ground(run: Run, setup: str, blocked: Sequence[Item]) -> None:
    given = [item for item in blocked if item.trail.context.scored]
    contexts = run.store.rows("context").fetch((item.trail.context.key or "" for item in given), ["passages"])
    requests = [
        GroundRequest(
            question=item.question.text,
            claims=(_stand_in(item, n_sentences=1),) * _N_CLAIMS,
            passages=tuple(run.texts.passages(contexts[item.trail.context.key or ""]["passages"])),
        )
        for item in given
    ]
    list(open_judge(run.plan.judge, run.seating(setup)).judge_grounding(requests))


def _check_points(run: Run, setup: str, blocked: Sequence[Item]) -> None:
    requests = [
        PointsRequest(
            question=item.question.text,
            answer=_stand_in(item),
            points=tuple(point.text for point in item.question.points),
        )
        for item in blocked
    ]
    list(open_judge(run.plan.judge, run.seating(setup)).judge_points(requests))
