"""Retrieval scores: every measure of every ranking and context of the runs looked at, or why there is none."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from schemas.plan import Shard
from schemas.question import AskedQuestion
from schemas.setup import Grading
from schemas.state import Reason
from schemas.trail import Step, Trail
from tasks.metrics import columns
from tasks.metrics.evidence import (
    Crossing,
    PassagePlace,
    arrivals,
    can_match,
    completion_ranks,
    find_crossing,
    has_span,
    recall_at_tokens,
    span_coverages,
)
from tasks.metrics.ranking import context_all, context_hit, context_recall, ndcg_at_k
from tasks.runs.run import Run, open_run
from tasks.store.database import Database, Pick
from tasks.store.places import ELSEWHERE, Places
from tasks.text.tokens import cut_to_tokens

_COLUMNS: Final = {
    "place": "int64",
    "setup": "string",
    "question_id": "string",
    "metric": "string",
    "value": "double",
    "reason": "string",
}
# Questions whose passages are in memory together; parts that two batches share are opened for each.
_BATCH: Final = 4_000
_OF_CONTEXT: Final = ("context_recall", "context_hit", "context_all")


def add_retrieval_scores(database: Database, workspace: Path, picks: Sequence[Pick], grading: Grading) -> None:
    """Make `retrieval_scores` known to a database: one row per setup, question and measure."""
    setups = [open_run(str(workspace), pick.run_id).setup(pick.setup).setup for pick in picks]
    imported: dict[int, int] = {}
    # Asked only where a setup does not say it: the longest ranking takes reading all of them.
    if any(setup.answers is not None for setup in setups):
        imported = {row["place"]: row["depth"] for row in database.run("depths")}
    scores: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for place, (pick, setup) in enumerate(zip(picks, setups, strict=True)):
        run = open_run(str(workspace), pick.run_id)
        # Lists that are all empty are whole at any depth: nothing was retrieved.
        depth = setup.retrieval.depth if setup.answers is None else imported.get(place) or max(grading.k)
        for found in _scored(run, pick.setup, _Cuts(grading.k, grading.budget_tokens, depth)):
            n = len(found.question_ids)
            scores["place"] += [place] * n
            scores["setup"] += [pick.setup] * n
            scores["question_id"] += found.question_ids
            scores["metric"] += [found.metric] * n
            scores["value"] += found.values or [None] * n
            scores["reason"] += found.reasons or [None] * n
    database.add_columns("retrieval_scores", scores, _COLUMNS)


class Asked(NamedTuple):
    """One question of a setup, with what became of it."""

    question: AskedQuestion
    trail: Trail


def asked_of(run: Run, setup: str) -> Iterator[Asked]:
    """The questions of a setup that the run has reached."""
    trails = {trail.question_id: trail for trail in run.folder.all_trails(setup)}
    for question in run.asked(_whole(run, setup)):
        if question.question_id in trails:
            yield Asked(question, trails[question.question_id])


def _whole(run: Run, setup: str) -> Shard:
    planned = run.setup(setup)
    size = run.plan.n_questions if planned.asked is None else len(planned.asked)
    return Shard(workspace=str(run.workspace), run_id=run.plan.run_id, setup=setup, number=0, start=0, stop=size)


@dataclass(frozen=True)
class _Cuts:
    """Where rankings are cut. `depth` is how many passages were stored at most: of more, nothing is known."""

    k: tuple[int, ...]
    budget_tokens: int
    depth: int

    def names(self) -> list[str]:
        """The measures of a ranking that every question has, with a value or a reason."""
        at_k = [f"{name}@{k}" for name in ("recall", "hit", "all", "precision", "ndcg") for k in self.k]
        return [*at_k, "mrr", f"recall@{self.budget_tokens}t"]


class _Scores(NamedTuple):
    """One measure of some questions: a value for each, or the reason why it has none."""

    metric: str
    question_ids: Sequence[str]
    values: Sequence[float | None] = ()
    reasons: Sequence[str | None] = ()


class _Placed(NamedTuple):
    """A question with gold, and where the passages stand that it got."""

    question: AskedQuestion
    key: str
    places: Sequence[PassagePlace]
    crossing: Crossing | None = None


class _Reached(NamedTuple):
    """A question that the run has reached."""

    question: AskedQuestion
    ranking: Step
    context: Step


def _scored(run: Run, setup: str, cuts: _Cuts) -> Iterator[_Scores]:
    steps = run.folder.steps(setup, ("ranking", "context"))
    questions = run.asked(_whole(run, setup))
    reached = [_Reached(q, *steps[q.question_id]) for q in questions if q.question_id in steps]
    for start in range(0, len(reached), _BATCH):
        batch = reached[start : start + _BATCH]
        yield from _of_rankings(run, [(one.question, one.ranking) for one in batch], cuts)
        yield from _of_contexts(run, [(one.question, one.context) for one in batch])


def _why_none(question: AskedQuestion, step: Step) -> str | None:
    if question.answerable == "no":
        return Reason.UNANSWERABLE
    if question.unresolved:
        return Reason.UNRESOLVED
    if not question.gold:
        return Reason.UNLABELLED
    return None if step.scored else step.reason or str(step.state)


def _without(batch: Sequence[tuple[AskedQuestion, Step]], names: Sequence[str]) -> Iterator[_Scores]:
    """The questions that have no score, and why."""
    reasons = {question.question_id: why for question, step in batch if (why := _why_none(question, step))}
    for name in names:
        yield _Scores(name, list(reasons), reasons=list(reasons.values()))


def _unmatched(
    placed: Sequence[tuple[AskedQuestion, Sequence[PassagePlace]]], names: Sequence[str]
) -> Iterator[_Scores]:
    """The questions whose gold is ids of an index that these lists do not come from: no score, and not 0."""
    ids = [question.question_id for question, places in placed if not can_match(question.gold, places)]
    for name in names if ids else ():
        yield _Scores(name, ids, reasons=[Reason.UNRESOLVED] * len(ids))


def _with(batch: Sequence[tuple[AskedQuestion, Step]]) -> list[tuple[AskedQuestion, str]]:
    """The other questions, with the keys of their rows."""
    return [(question, step.key) for question, step in batch if step.key and _why_none(question, step) is None]


def _of_rankings(run: Run, batch: Sequence[tuple[AskedQuestion, Step]], cuts: _Cuts) -> Iterator[_Scores]:
    yield from _without(batch, cuts.names())
    wanted = _with(batch)
    ranked = Places(run.store.rows("ranking"), [key for _, key in wanted])
    placed = [
        _Placed(
            question,
            key,
            ranked.of(key, _documents(question)),
            find_crossing(ranked.n_tokens(key), budget=cuts.budget_tokens),
        )
        for question, key in wanted
    ]
    yield from _unmatched([(one.question, one.places) for one in placed], cuts.names())
    placed = [one for one in placed if can_match(one.question.gold, one.places)]
    ids = [one.question.question_id for one in placed]
    ranks = [completion_ranks(one.question.gold, one.places) for one in placed]
    kept = _ink_within_budget(run, placed)
    within_budget = [
        recall_at_tokens(one.question.gold, one.places, crossing=one.crossing, ink_kept=kept.get(number, 0))
        for number, one in enumerate(placed)
    ]
    completions = _completions(ranks, cuts.depth)
    yield _Scores("mrr", ids, columns.reciprocal_rank(completions).to_list())
    yield _Scores(f"recall@{cuts.budget_tokens}t", ids, within_budget)
    within = [k for k in cuts.k if k <= cuts.depth]
    yield from _at_each_k(placed, completions, within)
    yield from _gains_at_each_k(placed, ranks, within)
    for k in cuts.k:
        if k > cuts.depth:
            for name in ("recall", "hit", "all", "precision", "ndcg"):
                yield _Scores(f"{name}@{k}", ids, reasons=[Reason.NO_RANKING] * len(ids))


def _completions(ranks: Sequence[Sequence[int | None]], depth: int) -> columns.Completions:
    return columns.Completions(
        depth=depth,
        entry_offsets=np.cumsum([0, *(len(own) for own in ranks)], dtype=np.int64),
        ranks=np.array([rank or 0 for own in ranks for rank in own], np.int64),
    )


def _at_each_k(placed: Sequence[_Placed], completions: columns.Completions, ks: Sequence[int]) -> Iterator[_Scores]:
    ids = [one.question.question_id for one in placed]
    any_suffices = np.array([one.question.gold_rule == "any" for one in placed], np.bool_)
    for k in ks:
        yield _Scores(f"recall@{k}", ids, columns.recall_at_k(completions, k=k).to_list())
        yield _Scores(f"hit@{k}", ids, columns.hit_at_k(completions, k=k).to_list())
        yield _Scores(f"all@{k}", ids, columns.all_at_k(completions, k=k, any_suffices=any_suffices).to_list())
        yield _Scores(f"precision@{k}", ids, columns.precision_at_k(completions, k=k).to_list())


def _gains_at_each_k(
    placed: Sequence[_Placed], ranks: Sequence[Sequence[int | None]], ks: Sequence[int]
) -> Iterator[_Scores]:
    """Coverage of questions with a span among their gold, nDCG of all others."""
    spans = [one for one in placed if has_span(one.question.gold)]
    span_ids = [one.question.question_id for one in spans]
    covered = [span_coverages(one.question.gold, one.places, ks=ks) for one in spans]
    others = [(one.question, own) for one, own in zip(placed, ranks, strict=True) if not has_span(one.question.gold)]
    for position, k in enumerate(ks):
        yield _Scores(f"span_coverage@{k}", span_ids, [shares[position] for shares in covered])
        yield _Scores(f"ndcg@{k}", span_ids, reasons=[Reason.SPAN_GOLD] * len(span_ids))
        gains = [ndcg_at_k(own, k=k, grades=[entry.grade for entry in question.gold]) for question, own in others]
        yield _Scores(f"ndcg@{k}", [question.question_id for question, _ in others], gains)


def _ink_within_budget(run: Run, placed: Sequence[_Placed]) -> dict[int, int]:
    """Non-space characters of the passage that crosses the budget before the cut, by position.

    Only for questions where it matters: reading texts is what costs.
    """
    crossed: dict[int, Crossing] = {}
    for number, (question, _, places, crossing) in enumerate(placed):
        if crossing is None or not crossing.tokens_left or places[crossing.position] is ELSEWHERE:
            continue
        none, whole = (
            recall_at_tokens(question.gold, places, crossing=crossing, ink_kept=ink) for ink in (0, sys.maxsize)
        )
        if none != whole:
            crossed[number] = crossing
    rows = run.store.rows("ranking").fetch((placed[number].key for number in crossed), ["key", "passages"])
    texts = run.texts.passages(
        rows[placed[number].key]["passages"][crossing.position] for number, crossing in crossed.items()
    )
    return {
        number: len("".join(cut_to_tokens(text, crossing.tokens_left).split()))
        for (number, crossing), text in zip(crossed.items(), texts, strict=True)
    }


def _documents(question: AskedQuestion) -> list[str]:
    return [place.target_id for entry in question.gold for place in entry.places]


def _of_contexts(run: Run, batch: Sequence[tuple[AskedQuestion, Step]]) -> Iterator[_Scores]:
    yield from _without(batch, _OF_CONTEXT)
    wanted = _with(batch)
    given = Places(run.store.rows("context"), [key for _, key in wanted])
    placed = [(question, given.of(key, _documents(question))) for question, key in wanted]
    yield from _unmatched(placed, _OF_CONTEXT)
    placed = [(question, places) for question, places in placed if can_match(question.gold, places)]
    arrived = [arrivals(question.gold, places) for question, places in placed]
    ids = [question.question_id for question, _ in placed]
    yield _Scores("context_recall", ids, [context_recall(own) for own in arrived])
    yield _Scores("context_hit", ids, [context_hit(own) for own in arrived])
    all_arrived = [context_all(own, rule=q.gold_rule) for (q, _), own in zip(placed, arrived, strict=True)]
    yield _Scores("context_all", ids, all_arrived)
