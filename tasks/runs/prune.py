"""Dropping from a store what no run refers to; whatever was paid for and is still named by a run stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.errors import StoreError
from tasks.index import chunk_keys, index_key
from tasks.runs.run import Run
from tasks.store.runs import RunFolder, RunRecord
from tasks.store.store import Store
from tasks.store.upkeep import (
    Loose,
    all_runs,
    bytes_of,
    drop_folders,
    drop_rows,
    loose_indexes,
    loose_rows,
    named_documents,
    referred_keys,
)


@dataclass(frozen=True)
class Pruning:
    """What would go, or has gone.

    Attributes:
        runs: Ids of runs that are dropped first.
        rows: Loose rows, record by record.
        indexes: Keys of indexes.
    """

    runs: tuple[str, ...]
    rows: tuple[Loose, ...]
    indexes: tuple[str, ...]
    n_run_bytes: int
    n_index_bytes: int

    def told(self, *, done: bool) -> list[str]:
        """The same for a person, line by line."""
        verb = "dropped" if done else "would drop"
        lines = [f"{verb} run {run_id}" for run_id in self.runs]
        lines += [
            f"{verb} {loose.n_loose} of {loose.n_rows} {loose.record} rows, about {loose.n_bytes:,} bytes"
            for loose in self.rows
            if loose.n_loose
        ]
        lines += [f"{verb} index {name}" for name in self.indexes]
        if not lines:
            return ["nothing to drop: runs refer to everything that is old enough"]
        total = self.n_run_bytes + self.n_index_bytes + sum(loose.n_bytes for loose in self.rows)
        note = "the space of rows comes back within a day" if done else "nothing was touched; --yes does it"
        return [*lines, f"about {total:,} bytes in all; {note}"]


def prune(workspace: Path, *, keep_runs: int | None, older_than: timedelta, really: bool) -> Pruning:
    """Drop runs beyond the newest `keep_runs`, and rows and indexes that no kept run refers to.

    Args:
        workspace: Its folder.
        keep_runs: How many of the newest runs stay; None keeps all.
        older_than: Rows and indexes made within this time stay in any case.
        really: Do it, rather than say what would go.

    Raises:
        StoreError: When a run is under way: rows that it counts on could go; or when a run cannot be read.
    """
    store = Store(workspace / "store")
    runs = all_runs(store)
    if really:
        _refuse_while_running(runs, store)
    cut = len(runs) if keep_runs is None else keep_runs
    kept = [run for number, run in enumerate(reversed(runs)) if number < cut or run.is_alive]
    going = [run for run in runs if run not in kept]
    keys, indexes = _needed(workspace, store, kept)
    made_before = datetime.now(UTC) - older_than
    folders = loose_indexes(store, indexes, made_before=made_before)
    run_folders = [store.runs_folder / run.run_id for run in going]
    found = Pruning(
        runs=tuple(run.run_id for run in going),
        rows=tuple(loose_rows(store, keys, made_before=made_before)),
        indexes=tuple(path.name for path in folders),
        n_run_bytes=bytes_of(run_folders),
        n_index_bytes=bytes_of(folders),
    )
    if really:
        # Runs first: a run whose rows are gone could not be reported, rows without a run only take space.
        drop_folders(store, run_folders)
        for loose in found.rows:
            if loose.n_loose:
                drop_rows(store.rows(loose.record), keys[loose.record], made_before=made_before)
        drop_folders(store, folders)
    return found


def _refuse_while_running(runs: Sequence[RunRecord], store: Store) -> None:
    for run in runs:
        if run.is_alive:
            problem = f"run {run.run_id} is under way (process {run.pid})"
            remedy = "Wait for it. If it was killed and another program has its number now, delete the run's folder."
            raise StoreError(problem, where=str(store.runs_folder / run.run_id), remedy=remedy)


def _needed(workspace: Path, store: Store, kept: Sequence[RunRecord]) -> tuple[dict[str, set[str]], set[str]]:
    """Keys that kept runs refer to, by record, and the indexes that their setups search."""
    keys: dict[str, set[str]] = {record: set() for record in store.records()}
    indexes: set[str] = set()
    for record in kept:
        for name, found in referred_keys(RunFolder(store.runs_folder, record.run_id)).items():
            keys[name] |= found
        run = Run(workspace, record.run_id)
        for planned in run.plan.setups:
            if planned.setup.answers is None:
                keys["chunks"].update(chunk_keys(run.plan.documents, planned.setup).values())
                indexes.add(index_key(run, planned.setup))
    keys["document"] |= named_documents(store, keys)
    return keys, indexes
