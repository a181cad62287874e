"""Stage attribute-to-cell: one label per question, with its reason, its owner and the rows behind it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from schemas.passage import Passage
from schemas.plan import Shard, StageCount
from schemas.state import State
from schemas.trail import Step, Trail
from tasks.metrics.arrival import weigh_arrival, weigh_point
from tasks.metrics.cells import Facts, Missing, PointFacts, find_cell
from tasks.metrics.evidence import InkRange, PassagePlace, can_match
from tasks.runs.run import Run, open_run
from tasks.stage import Item, Making, Outcomes, counted, each, items_of, settle
from tasks.store.keys import Material, key
from tasks.store.rows import Row

Value = TypeVar("Value")

_BEHIND = ("context", "answer", "reading", "grounding", "correctness")


def attribute(shard: Shard) -> StageCount:
    """Label a shard's questions; also those in which a stage failed, as undetermined."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, _cells(run))
    run.save(shard, trails)
    return counted("attribute", shard, items)


def _cells(run: Run) -> Making:
    grading = run.plan.grading
    thresholds: Material = {"grounded_at": grading.grounded_at, "correct_at": grading.correct_at}

    def key_of(item: Item) -> str:
        question, steps = item.question, [getattr(item.trail, name) for name in _BEHIND]
        return key(
            "cell",
            question=question.text,
            answerable=question.answerable,
            gold_rule=question.gold_rule,
            gold=[entry.model_dump() for entry in question.gold],
            points=[
                [point.point_id, point.text, point.vital, [entry.model_dump() for entry in point.gold]]
                for point in question.points
            ],
            **{name: step.key if step.scored else None for name, step in zip(_BEHIND, steps, strict=True)},
            states=[[step.state, step.reason] for step in steps] + [question.unresolved],
            thresholds=thresholds,
            calibration=None,
        )

    def compute(items: Sequence[Item]) -> Outcomes:
        rows = {name: _rows(run, name, items) for name in _BEHIND}

        def make(item: Item) -> Row:
            behind = {name: rows[name].get(getattr(item.trail, name).key or "") for name in _BEHIND}
            facts = _facts(run, item, behind)
            cell = find_cell(facts, grounded_at=grading.grounded_at, correct_at=grading.correct_at)
            return cell.model_dump(mode="json")

        return each(make, items)

    return Making("cell", key_of, compute, _carry)


def _carry(trail: Trail, row: Row) -> None:
    trail.label = row["label"]


def _rows(run: Run, record: str, items: Sequence[Item]) -> dict[str, Row]:
    steps: list[Step] = [getattr(item.trail, record) for item in items]
    return run.store.rows(record).fetch(step.key or "" for step in steps if step.scored)


def _facts(run: Run, item: Item, behind: dict[str, Row | None]) -> Facts:
    question, trail = item.question, item.trail
    context, grounding = behind["context"], behind["grounding"]
    passages = context["passages"] if context else []
    places = [PassagePlace.of(Passage.model_validate(passage)) for passage in passages]
    quotes = _quote_places(run, passages, places, grounding) if grounding else []

    def points(row: Row) -> tuple[PointFacts, ...]:
        return tuple(
            PointFacts(
                point_id=point.point_id,
                verdict=verdict["verdict"],
                vital=point.vital,
                arrival=weigh_point(
                    point.gold,
                    question_gold=question.gold,
                    question_rule=question.gold_rule,
                    context=places,
                    quotes=quotes,
                ),
            )
            for point, verdict in zip(question.points, row["verdicts"], strict=True)
        )

    return Facts(
        answerable=question.answerable,
        answer=_known(trail.answer, behind["answer"], lambda row: row["no_answer"]),
        abstained=_known(
            trail.reading,
            behind["reading"],
            lambda row: row["form"] == "NOT_COVERED" and not row["gives_answer"],
        ),
        correctness=_known(trail.correctness, behind["correctness"], points),
        claims=_known(trail.grounding, grounding, lambda row: tuple(verdict["verdict"] for verdict in row["verdicts"])),
        n_passages=_known(trail.context, context, lambda row: len(row["passages"])),
        question_arrival=weigh_arrival(question.gold, rule=question.gold_rule, context=places, quotes=quotes),
        unresolved=question.unresolved or not can_match(question.gold, places),
    )


def _known(step: Step, row: Row | None, read: Callable[[Row], Value]) -> Value | Missing:
    if row is not None:
        return read(row)
    return Missing(step.state or State.BLOCKED, step.reason or "")


def _quote_places(
    run: Run, passages: Sequence[Row], places: Sequence[PassagePlace], grounding: Row
) -> list[PassagePlace]:
    """Where the verified quotes of SUPPORTED claims stand in their documents."""
    texts = run.texts.passages(passages)
    return [
        _quote_place(places[quote["passage"] - 1], texts[quote["passage"] - 1], quote)
        for verdict in grounding["verdicts"]
        if verdict["verdict"] == "SUPPORTED"
        for quote in verdict["quotes"]
    ]


def _quote_place(passage: PassagePlace, text: str, quote: dict[str, Any]) -> PassagePlace:
    """A quote's ink in its document: counted from the passage's start, whatever white space an import changed."""
    start = len("".join(text[: quote["start"]].split()))
    end = start + len("".join(text[quote["start"] : quote["end"]].split()))
    ink: list[InkRange] = []
    base = 0
    for part in passage.ink:
        length = part.end - part.start
        first, last = max(start - base, 0), min(end - base, length)
        if first < last:
            ink.append(InkRange(part.start + first, part.start + last))
        # Stretches that do not touch are joined by one "…".
        base += length + 1
    return PassagePlace(passage.document_id, tuple(ink), passage.foreign_id)
