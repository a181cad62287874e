"""Retrieval scores: every measure of every ranking and context of the runs looked at, or why there is none."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.plan import Shard
from schemas.question import AskedQuestion
from schemas.setup import Grading
from schemas.state import Reason
from schemas.trail import Step, Trail
from tasks.metrics.evidence import (
    Crossing,
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
_BATCH: Final = 1_000


def add_retrieval_scores(database: Database, workspace: Path, picks: Sequence[Pick], grading: Grading) -> None:
    """Make `retrieval_scores` known to a database: one row per setup, question and measure."""
    depths = {row["place"]: row["depth"] for row in database.run("depths")}
    scores: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for place, pick in enumerate(picks):
        run = open_run(str(workspace), pick.run_id)
        setup = run.setup(pick.setup).setup
        depth = setup.retrieval.depth if setup.answers is None else depths.get(place, 0)
        cuts = _Cuts(grading.k, grading.budget_tokens, depth)
        for question_id, found in _retrieval_scores(run, pick.setup, cuts):
            values = list(found.values())
            scores["place"] += [place] * len(found)
            scores["setup"] += [pick.setup] * len(found)
            scores["question_id"] += [question_id] * len(found)
            scores["metric"] += found
            scores["value"] += [None if isinstance(value, str) else value for value in values]
            scores["reason"] += [value if isinstance(value, str) else None for value in values]
    database.add_columns("retrieval_scores", scores, _COLUMNS)


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


# A score, or the reason why there is none.
_Scored = dict[str, float | str | None]


def _retrieval_scores(run: Run, setup: str, cuts: _Cuts) -> Iterator[tuple[str, _Scored]]:
    asked = list(asked_of(run, setup))
    for start in range(0, len(asked), _BATCH):
        yield from _score_batch(run, asked[start : start + _BATCH], cuts)


def _score_batch(run: Run, batch: Sequence[Asked], cuts: _Cuts) -> Iterator[tuple[str, _Scored]]:
    labelled = [trail for question, trail in batch if _no_gold(question) is None]
    ranked = _places_of(run, "ranking", [trail.ranking for trail in labelled])
    given = _places_of(run, "context", [trail.context for trail in labelled])
    kept = _ink_within_budget(run, batch, ranked, cuts.budget_tokens)
    for question, trail in batch:
        ranking = _of_ranking(question, ranked, trail.ranking, cuts, kept.get(question.question_id, 0))
        yield question.question_id, {**ranking, **_of_context(question, given, trail.context)}


def _places_of(run: Run, record: str, steps: Sequence[Step]) -> Places:
    return Places(run.store.rows(record), [step.key or "" for step in steps if step.scored])


def _ink_within_budget(run: Run, batch: Sequence[Asked], ranked: Places, budget: int) -> dict[str, int]:
    """Non-space characters of the passage that crosses the budget before the cut, by question id.

    Only for questions where it matters: reading texts is what costs.
    """
    crossed: dict[str, tuple[str, Crossing]] = {}
    for question, trail in batch:
        key = trail.ranking.key or ""
        if not trail.ranking.scored or key not in ranked:
            continue
        crossing = find_crossing(ranked.n_tokens(key), budget=budget)
        if crossing is None or not crossing.tokens_left:
            continue
        places = ranked.of(key, _documents(question))
        if places[crossing.position] is ELSEWHERE:
            continue
        none, whole = (
            recall_at_tokens(question.gold, places, crossing=crossing, ink_kept=ink) for ink in (0, sys.maxsize)
        )
        if none != whole:
            crossed[question.question_id] = key, crossing
    rows = run.store.rows("ranking").fetch((key for key, _ in crossed.values()), ["key", "passages"])
    texts = run.texts.passages(rows[key]["passages"][crossing.position] for key, crossing in crossed.values())
    return {
        name: len("".join(cut_to_tokens(text, crossing.tokens_left).split()))
        for (name, (_, crossing)), text in zip(crossed.items(), texts, strict=True)
    }


def _documents(question: AskedQuestion) -> list[str]:
    return [place.target_id for entry in question.gold for place in entry.places]


def _no_gold(question: AskedQuestion) -> str | None:
    if question.answerable == "no":
        return Reason.UNANSWERABLE
    if question.unresolved:
        return Reason.UNRESOLVED
    return None if question.gold else Reason.UNLABELLED


def _why_missing(step: Step) -> str | None:
    return None if step.scored else step.reason or str(step.state)


def _of_ranking(question: AskedQuestion, ranked: Places, step: Step, cuts: _Cuts, ink_kept: int) -> _Scored:
    key, reason = step.key, _no_gold(question) or _why_missing(step)
    if reason or key is None:
        names = [f"{name}@{k}" for name in ("recall", "hit", "all", "precision", "ndcg") for k in cuts.k]
        return dict.fromkeys([*names, "mrr", f"recall@{cuts.budget_tokens}t"], reason)
    places = ranked.of(key, _documents(question))
    crossing = find_crossing(ranked.n_tokens(key), budget=cuts.budget_tokens)
    ranks = completion_ranks(question.gold, places)
    found: _Scored = {
        "mrr": reciprocal_rank(ranks),
        f"recall@{cuts.budget_tokens}t": recall_at_tokens(question.gold, places, crossing=crossing, ink_kept=ink_kept),
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


def _of_context(question: AskedQuestion, given: Places, step: Step) -> _Scored:
    key, reason = step.key, _no_gold(question) or _why_missing(step)
    if reason or key is None:
        return dict.fromkeys(("context_recall", "context_hit", "context_all"), reason)
    arrived = arrivals(question.gold, given.of(key, _documents(question)))
    return {
        "context_recall": context_recall(arrived),
        "context_hit": context_hit(arrived),
        "context_all": context_all(arrived, rule=question.gold_rule),
    }
