"""Comparing setups: the latest runs, their retrieval scores, and the database that every table is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import InputError
from schemas.plan import Plan
from tasks.models.table import claude_settings
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
        plan: Of the newest of them: its thresholds and cuts are the ones that tables use.
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
    newest = records[-1]
    mates = [record for record in records if record.judge == newest.judge]
    picks, notes = _picks(mates, setups)
    runs = {record.run_id: record for record in mates if any(pick.run_id == record.run_id for pick in picks)}
    plan = open_run(str(workspace), newest.run_id).plan
    database = Database(store, picks)
    _refuse_mixed(database, plan, setups=[pick.setup for pick in picks])
    add_retrieval_scores(database, workspace, picks, plan.grading)
    database.run("answers")
    return Comparison(workspace, tuple(picks), runs, plan, database, (*plan.notes, *notes))


def _refuse_mixed(database: Database, plan: Plan, *, setups: Sequence[str]) -> None:
    """Hold verdicts of two models apart: a name such as "latest" may have moved on between two calls.

    Raises:
        InputError: With the command that grades anew.
    """
    if not claude_settings(plan.judge.reader, plan.judge.judge):
        return
    replied: dict[str, set[str]] = {}
    for row in database.run("who_replied"):
        replied.setdefault(row["stage"], set()).add(row["judge_id"].rpartition(":")[2])
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
        if _judged_by(record) != _judged_by(newest):
            if setups:
                raise InputError(
                    f"the latest run of setup {name} was read or judged by another version of judge {record.judge} "
                    f"than that of {', '.join(newest.setups)}, and their verdicts do not compare",
                    remedy=f"Grade it again with: fourcells grade --setup {name} --judge {record.judge}.",
                )
            notes.append(
                f"{name} is left out: its latest run was read or judged by another version of judge {record.judge}. "
                f"Grade it again with: fourcells grade --setup {name} --judge {record.judge}"
            )
            continue
        picks.append(Pick(record.run_id, name))
    return picks, notes


def _judged_by(record: RunRecord) -> tuple[str, str, str]:
    return record.reader_key, record.judge_key, record.points_key
