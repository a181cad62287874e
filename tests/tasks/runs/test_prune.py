"""Pruning drops what no run refers to, and nothing else; a dry run touches nothing."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.errors import StoreError
from tasks.runs.prune import Pruning, prune
from tasks.store.runs import RunFolder, list_runs
from tasks.store.store import Store
from tasks.store.upkeep import compact, sizes
from tests.small_workspace import run_all, stored, totals

NOW = timedelta(0)


def files(workspace: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (workspace / "store").rglob("*") if path.is_file()}


def change_a_document(workspace: Path) -> None:
    with (workspace / "corpus" / "backups.md").open("a") as file:
        file.write("\nBackups are encrypted with a key of their own.\n")


def n_rows(workspace: Path) -> dict[str, int]:
    return {size.room: size.n_rows for size in sizes(Store(workspace / "store")) if size.n_rows is not None}


def look(workspace: Path, keep_runs: int | None = None, older_than: timedelta = NOW) -> Pruning:
    return prune(workspace, keep_runs=keep_runs, older_than=older_than, really=False)


def test_everything_that_a_run_refers_to_stays(done: Path) -> None:
    before = files(done)
    found = look(done)
    assert found.told(done=False) == ["nothing to drop: runs refer to everything that is old enough"]
    assert files(done) == before


def test_rows_of_dropped_runs_go_and_shared_ones_stay(done: Path) -> None:
    old = stored(done)
    change_a_document(done)
    run_all(done)
    both = stored(done)
    before = files(done)
    told = look(done, keep_runs=1).told(done=False)
    assert told[-1].endswith("nothing was touched; --yes does it")
    assert any(line.startswith("would drop 1 of 7 document rows") for line in told)
    assert files(done) == before

    found = prune(done, keep_runs=1, older_than=NOW, really=True)
    left = stored(done)
    assert len(found.runs) == len(list_runs(done / "store" / "runs")) == 1
    assert {loose.record: loose.n_loose for loose in found.rows} == {
        record: len(both[record]) - len(left[record]) for record in both
    }
    assert len(found.indexes) == 3
    # What the newer run had taken over from the older one is still there.
    assert set(left["answer"]) & set(old["answer"])
    assert set(left["document"]) < set(both["document"])


def test_a_second_run_after_pruning_computes_nothing(done: Path) -> None:
    change_a_document(done)
    run_all(done)
    prune(done, keep_runs=1, older_than=NOW, really=True)
    assert set(totals(run_all(done), "computed").values()) == {0}


def test_what_was_just_made_stays(done: Path) -> None:
    found = look(done, keep_runs=0, older_than=timedelta(days=1))
    assert len(found.runs) == 1
    assert not any(loose.n_loose for loose in found.rows)
    assert not found.indexes


def test_all_of_it_goes_when_no_run_is_kept(done: Path) -> None:
    prune(done, keep_runs=0, older_than=NOW, really=True)
    assert set(n_rows(done).values()) == {0}
    assert [path.name for path in (done / "store" / "index").iterdir() if path.is_dir()] == []


@pytest.fixture
def running(done: Path) -> RunFolder:
    """The finished run, as it looks while it goes on in this process."""
    folder = RunFolder(done / "store" / "runs", list_runs(done / "store" / "runs")[0].run_id)
    folder.save(folder.record().model_copy(update={"state": "running", "pid": os.getpid()}))
    return folder


def test_a_run_under_way_is_neither_dropped_nor_disturbed(done: Path, running: RunFolder) -> None:
    assert look(done, keep_runs=0).runs == ()
    before = files(done)
    with pytest.raises(StoreError, match=f"is under way \\(process {os.getpid()}\\)"):
        prune(done, keep_runs=0, older_than=NOW, really=True)
    assert files(done) == before


def test_a_run_whose_process_is_gone_was_killed(done: Path, running: RunFolder) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    running.save(running.record().model_copy(update={"pid": child}))
    assert len(prune(done, keep_runs=0, older_than=NOW, really=True).runs) == 1


@pytest.mark.parametrize("name", ["run.json", "plan.json", "asked.parquet", "manifest.parquet"])
def test_a_run_that_cannot_be_read_keeps_everything(done: Path, name: str) -> None:
    before = n_rows(done)
    (done / "store" / "runs" / list_runs(done / "store" / "runs")[0].run_id / name).write_text("{")
    with pytest.raises(StoreError, match="nobody can say which rows it needs"):
        prune(done, keep_runs=None, older_than=NOW, really=True)
    assert n_rows(done) == before


def test_compacting_leaves_one_file_and_all_rows(done: Path) -> None:
    change_a_document(done)
    run_all(done)
    before = stored(done)
    parts = compact(Store(done / "store"))
    assert parts["document"] == (2, 1)
    assert {size.n_parts for size in sizes(Store(done / "store")) if size.n_rows} == {1}
    assert stored(done) == before


def test_sizes_of_a_store_that_was_never_used(tmp_path: Path) -> None:
    found = sizes(Store(tmp_path / "store"))
    assert {size.n_bytes for size in found} == {0}
    assert not (tmp_path / "store").exists()
