"""Comparing setups: the latest runs, their retrieval scores, and the database that every table is made from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import InputError
from schemas.plan import Plan
from tasks.models.table import claude_settings, models_of
from tasks.runs.alike import difference
from tasks.runs.run import open_run
from tasks.scores import add_retrieval_scores
from tasks.store.database import Database, Pick
from tasks.store.runs import RunRecord, list_runs
from tasks.store.store import Store


@dataclass(frozen=True)
class Comparison:
    """Setups side by side, each from one run.

    Attributes:
        workspace: Where it lies now; a run's plan says where it lay then.
        picks: Which run each setup comes from, in the order of tables.
        runs: Those runs.
        plan: Of the newest of them: its cuts are the ones that tables use; its thresholds are those of all.
        database: Holds `answer_scores` and `retrieval_scores`.
        notes: What a reader has to know before comparing.
    """

    workspace: Path
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
    mates = [record for record in records if record.judge == records[-1].judge]
    latest = _latest(mates, setups)
    newest = max(latest.values(), key=mates.index)
    picks, notes = _picks(store, latest, newest, chosen=bool(setups))
    runs = {record.run_id: record for record in mates if any(pick.run_id == record.run_id for pick in picks)}
    plan = open_run(str(workspace), newest.run_id).plan
    database = Database(store, picks)
    database.grade_by(plan.grading)
    _refuse_mixed(database, plan, setups=[pick.setup for pick in picks])
    add_retrieval_scores(database, workspace, picks, plan.grading)
    database.run("answers")
    notes += [*_unfinished(picks, runs), *_asked_less(database)]
    return Comparison(workspace, tuple(picks), runs, plan, database, (*plan.notes, *notes))


def _unfinished(picks: Sequence[Pick], runs: Mapping[str, RunRecord]) -> Iterator[str]:
    """What a run that did not come to its end has to say beside its numbers."""
    for run_id, record in runs.items():
        names = ", ".join(pick.setup for pick in picks if pick.run_id == run_id)
        if record.fate == "running":
            yield f"{names}: run {run_id} is under way; these are its numbers so far"
        elif record.fate not in {"done", "failed_rows"}:
            yield f"{names}: run {run_id} was {record.fate} before its end; run it again for the rest"
        elif record.until != "attribute":
            yield f"{names}: run {run_id} was to end with {record.until}; --run shows an earlier one"


def _asked_less(database: Database) -> Iterator[str]:
    """Setups that were not asked all that the others were: their means are over other questions."""
    for row in database.run("asked_less"):
        yield (
            f"{row['setup']} was asked {row['n']} of these {row['n_all']} questions, and its numbers stand for "
            "those alone"
        )


def _refuse_mixed(database: Database, plan: Plan, *, setups: Sequence[str]) -> None:
    """Hold verdicts of two models apart: a name such as "latest" may have moved on between two calls.

    Raises:
        InputError: With the command that grades anew.
    """
    if not claude_settings(plan.judge.reader, plan.judge.judge):
        return
    replied: dict[str, set[str]] = {}
    for row in database.run("who_replied"):
        replied.setdefault(row["stage"], set()).update(models_of(row["judge_id"]))
    for stage, models in replied.items():
        if len(models) > 1:
            again = "--fresh-reader" if stage == "read" else "--fresh"
            names = " ".join(f"--setup {name}" for name in setups)
            raise InputError(
                f"{stage}: replies came from {len(models)} models ({', '.join(sorted(models))}), and their verdicts do "
                "not compare",
                remedy=f"Grade once more with: fourcells grade {names} --judge {plan.judge.name} {again}.",
            )


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


def _latest(records: Sequence[RunRecord], setups: Sequence[str]) -> dict[str, RunRecord]:
    """The latest run of each setup that is wanted, in the order of tables.

    Raises:
        InputError: When a setup was never run.
    """
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
    return {name: latest[name] for name in setups or sorted(latest)}


def _picks(
    store: Store, latest: Mapping[str, RunRecord], newest: RunRecord, *, chosen: bool
) -> tuple[list[Pick], list[str]]:
    """Take the setups that stand beside the newest; say of the others why not.

    Raises:
        InputError: When a person chose one of the others, with the command that brings it up to date.
    """
    notes, picks = [], []
    for name, record in latest.items():
        found = difference(store.runs_folder, record, newest)
        if found is None:
            picks.append(Pick(record.run_id, name))
            continue
        cure = f"fourcells {found.verb} --setup {name} --judge {record.judge}"
        if chosen:
            raise InputError(
                f"the latest run of setup {name} {found.told}, unlike that of {', '.join(newest.setups)}, and their "
                "numbers do not compare",
                remedy=f"Bring it up to date with: {cure}.",
            )
        notes.append(f"{name} is left out: its latest run {found.told}. Bring it up to date with: {cure}")
    return picks, notes
