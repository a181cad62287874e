"""Comparing setups: the latest runs, their retrieval scores, and the database that every table is made from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.errors import InputError
from schemas.passage import Passage
from schemas.plan import Plan, Shard
from schemas.question import AskedQuestion
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
from tasks.store.runs import RunRecord, list_runs
from tasks.store.store import Store
from tasks.text.tokens import cut_to_tokens

_SCORE_COLUMNS: Final = {
    "place": "int64",
    "setup": "string",
    "question_id": "string",
    "metric": "string",
    "value": "double",
    "reason": "string",
}
_BATCH: Final = 1_000


@dataclass(frozen=True)
class Comparison:
    """Setups side by side, each from one run.

    Attributes:
        picks: Which run each setup comes from, in the order of tables.
        runs: Those runs.
        plan: Of the newest of them: its thresholds and cuts are the ones that tables use.
        database: Holds `answer_scores` and `retrieval_scores`.
        notes: What a reader has to know before comparing.
    """

    picks: tuple[Pick, ...]
    runs: Mapping[str, RunRecord]
    plan: Plan
    database: Database
    notes: tuple[str, ...]


def compare(
    workspace: Path, *, run_id: str | None = None, setups: Sequence[str] = (), judge: str | None = None
) -> Comparison:
    """Bring setups together: those of one run, or the latest run of each (setup, judge).

    Args:
        workspace: Its folder.
        run_id: A run, or the beginning of its id.
        setups: Names; empty means all that were run.
        judge: Whose verdicts; None means the newest run's.

    Raises:
        InputError: When there is no such run.
    """
    store = Store(workspace / "store")
    records = _matching(list_runs(store.runs_folder), run_id, judge)
    if not records:
        raise InputError("there is no such run yet", where=str(workspace), remedy="Start one with: fourcells run.")
    newest = records[-1]
    mates = [record for record in records if record.judge == newest.judge]
    picks, notes = _picks(mates, setups)
    runs = {record.run_id: record for record in mates if any(pick.run_id == record.run_id for pick in picks)}
    plan = open_run(str(workspace), newest.run_id).plan
    database = Database(store, picks)
    depths = {row["place"]: row["depth"] for row in database.run("depths")}
    scores = []
    for place, pick in enumerate(picks):
        run = open_run(str(workspace), pick.run_id)
        setup = run.setup(pick.setup).setup
        depth = setup.retrieval.depth if setup.answers is None else depths.get(place, 0)
        cuts = _Cuts(plan.grading.k, plan.grading.budget_tokens, depth)
        scores += [{"place": place, **score} for score in _retrieval_scores(run, pick.setup, cuts)]
    database.add_rows("retrieval_scores", scores, _SCORE_COLUMNS)
    database.run("answers")
    return Comparison(tuple(picks), runs, plan, database, tuple(notes))


def _matching(records: Sequence[RunRecord], run_id: str | None, judge: str | None) -> list[RunRecord]:
    found = [record for record in records if judge is None or record.judge == judge]
    if run_id is None:
        return found
    chosen = [record for record in found if record.run_id.startswith(run_id)]
    if len(chosen) > 1 and (exact := [record for record in chosen if record.run_id == run_id]):
        chosen = exact
    if len(chosen) != 1:
        raise InputError(
            f"{len(chosen)} runs begin with {run_id!r}" if chosen else f"unknown run {run_id!r}",
            allowed=", ".join(record.run_id for record in records[-5:]) or "none yet",
            remedy="List them with: fourcells runs.",
        )
    return chosen


def _picks(records: Sequence[RunRecord], setups: Sequence[str]) -> tuple[list[Pick], list[str]]:
    latest: dict[str, RunRecord] = {}
    for record in records:
        latest.update(dict.fromkeys(record.setups, record))
    unknown = [name for name in setups if name not in latest]
    if unknown:
        raise InputError(
            f"setup {unknown[0]!r} was never run",
            allowed=", ".join(sorted(latest)),
            remedy=f"Run it with: fourcells run --setup {unknown[0]}.",
        )
    newest = records[-1]
    notes, picks = [], []
    for name in setups or sorted(latest):
        record = latest[name]
        # Verdicts of two judges or readers do not compare (METRICS.md §7).
        if (record.reader_key, record.judge_key) != (newest.reader_key, newest.judge_key):
            notes.append(
                f"{name} is left out: its latest run was read or judged by another version of judge {record.judge}. "
                f"Grade it again with: fourcells grade --setup {name} --judge {record.judge}"
            )
            continue
        picks.append(Pick(record.run_id, name))
    return picks, notes


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
