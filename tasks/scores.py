"""Retrieval scores: every measure of every ranking and context of the runs looked at, or why there is none."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.passage import Passage
from schemas.plan import Shard
from schemas.question import AskedQuestion
from schemas.setup import Grading
from schemas.state import Reason
from schemas.trail import Step, Trail
from tasks.metrics.evidence import (
    PassagePlace,
    arrivals,
    completion_ranks,
    find_crossing,
    has_span,
    recall_at_tokens,
    span_coverage_at_k,
)
from tasks.metrics.ranking import (
    all_at_k,
    context_all,
    context_hit,
    context_recall,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from tasks.run import Run, open_run
from tasks.store.database import Database, Pick
from tasks.store.rows import Row
from tasks.text.tokens import cut_to_tokens

_COLUMNS: Final = {
    "place": "int64",
    "setup": "string",
    "question_id": "string",
    "metric": "string",
    "value": "double",
    "reason": "string",
}
_BATCH: Final = 1_000


def add_retrieval_scores(database: Database, workspace: Path, picks: Sequence[Pick], grading: Grading) -> None:
    """Make `retrieval_scores` known to a database: one row per setup, question and measure."""
    depths = {row["place"]: row["depth"] for row in database.run("depths")}
    scores = []
    for place, pick in enumerate(picks):
        run = open_run(str(workspace), pick.run_id)
        setup = run.setup(pick.setup).setup
        depth = setup.retrieval.depth if setup.answers is None else depths.get(place, 0)
        cuts = _Cuts(grading.k, grading.budget_tokens, depth)
        scores += [{"place": place, **score} for score in _retrieval_scores(run, pick.setup, cuts)]
    database.add_rows("retrieval_scores", scores, _COLUMNS)


class Asked(NamedTuple):
    """One question of a setup, with what became of it."""

    question: AskedQuestion
    trail: Trail


def asked_of(run: Run, setup: str) -> Iterator[Asked]:
    """The questions of a setup that the run has reached."""
    planned = run.setup(setup)
    size = run.plan.n_questions if planned.asked is None else len(planned.asked)
    whole = Shard(workspace=str(run.workspace), run_id=run.plan.run_id, setup=setup, number=0, start=0, stop=size)
    trails = {trail.question_id: trail for trail in run.folder.all_trails(setup)}
    for question in run.asked(whole):
        if question.question_id in trails:
            yield Asked(question, trails[question.question_id])


@dataclass(frozen=True)
class _Cuts:
    """Where rankings are cut. `depth` is how many passages were stored at most: of more, nothing is known."""

    k: tuple[int, ...]
    budget_tokens: int
    depth: int


def _retrieval_scores(run: Run, setup: str, cuts: _Cuts) -> Iterator[dict[str, Any]]:
    batch: list[Asked] = []
    for asked in asked_of(run, setup):
        batch.append(asked)
        if len(batch) == _BATCH:
            yield from _score_batch(run, batch, cuts)
            batch = []
    yield from _score_batch(run, batch, cuts)


def _score_batch(run: Run, batch: Sequence[Asked], cuts: _Cuts) -> Iterator[dict[str, Any]]:
    rankings = run.store.rows("ranking").fetch(a.trail.ranking.key or "" for a in batch if a.trail.ranking.scored)
    contexts = run.store.rows("context").fetch(a.trail.context.key or "" for a in batch if a.trail.context.scored)
    for question, trail in batch:
        reason = _no_gold(question)
        ranking = rankings.get(trail.ranking.key or "")
        context = contexts.get(trail.context.key or "")
        scores = {
            **_of_ranking(run, question, ranking, cuts, reason or _why_missing(trail.ranking)),
            **_of_context(question, context, reason or _why_missing(trail.context)),
        }
        for metric, value in scores.items():
            known = {"setup": trail.setup, "question_id": question.question_id, "metric": metric}
            is_reason = isinstance(value, str)
            yield {**known, "value": None if is_reason else value, "reason": value if is_reason else None}


def _no_gold(question: AskedQuestion) -> str | None:
    if question.answerable == "no":
        return Reason.UNANSWERABLE
    if question.unresolved:
        return Reason.UNRESOLVED
    return None if question.gold else Reason.UNLABELLED


def _why_missing(step: Step) -> str | None:
    return None if step.scored else step.reason or str(step.state)


# A score, or the reason why there is none.
_Scored = dict[str, float | str | None]


def _of_ranking(run: Run, question: AskedQuestion, row: Row | None, cuts: _Cuts, reason: str | None) -> _Scored:
    if reason or row is None:
        names = [f"{name}@{k}" for name in ("recall", "hit", "all", "precision", "ndcg") for k in cuts.k]
        return dict.fromkeys([*names, "mrr", f"recall@{cuts.budget_tokens}t"], reason)
    places = _places(row["passages"])
    ranks = completion_ranks(question.gold, places)
    found: _Scored = {
        "mrr": reciprocal_rank(ranks),
        f"recall@{cuts.budget_tokens}t": _within_budget(run, question, row, places, cuts.budget_tokens),
    }
    for k in cuts.k:
        found.update(_at_k(question, places, ranks, k) if k <= cuts.depth else _too_deep(k))
    return found


def _at_k(question: AskedQuestion, places: Sequence[PassagePlace], ranks: Sequence[int | None], k: int) -> _Scored:
    grades = [entry.grade for entry in question.gold]
    span = has_span(question.gold)
    found: _Scored = {
        f"recall@{k}": recall_at_k(ranks, k=k),
        f"hit@{k}": hit_at_k(ranks, k=k),
        f"all@{k}": all_at_k(ranks, k=k, rule=question.gold_rule),
        f"precision@{k}": precision_at_k(ranks, k=k),
        f"ndcg@{k}": Reason.SPAN_GOLD if span else ndcg_at_k(ranks, k=k, grades=grades),
    }
    if span:
        found[f"span_coverage@{k}"] = span_coverage_at_k(question.gold, places, k=k)
    return found


def _too_deep(k: int) -> _Scored:
    return {f"{name}@{k}": Reason.NO_RANKING for name in ("recall", "hit", "all", "precision", "ndcg")}


def _within_budget(
    run: Run, question: AskedQuestion, row: Row, places: Sequence[PassagePlace], budget: int
) -> float | None:
    crossing = find_crossing([passage["n_tokens"] for passage in row["passages"]], budget=budget)
    kept = 0
    if crossing is not None and crossing.tokens_left:
        text = run.texts.passages([row["passages"][crossing.position]])[0]
        kept = len("".join(cut_to_tokens(text, crossing.tokens_left).split()))
    return recall_at_tokens(question.gold, places, crossing=crossing, ink_kept=kept)


def _of_context(question: AskedQuestion, row: Row | None, reason: str | None) -> _Scored:
    if reason or row is None:
        return dict.fromkeys(("context_recall", "context_hit", "context_all"), reason)
    arrived = arrivals(question.gold, _places(row["passages"]))
    return {
        "context_recall": context_recall(arrived),
        "context_hit": context_hit(arrived),
        "context_all": context_all(arrived, rule=question.gold_rule),
    }


def _places(passages: Iterable[Row]) -> list[PassagePlace]:
    return [PassagePlace.of(Passage.model_validate(passage)) for passage in passages]
