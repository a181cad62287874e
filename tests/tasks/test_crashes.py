"""Stopped at any moment, or not alone: what was saved is reused, and the tables are those of an undisturbed run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from tasks.store.keys import digest
from tasks.store.parts import PartList
from tasks.store.rows import Rows
from tasks.store.runs import list_runs
from tests.small_workspace import Summary, run_all, stored, tables, timeless, totals, trails_of, write_workspace

_KILLS: Final = 10
_INTERRUPTS: Final = 3
_STEPS: Final = ("ranking", "context", "answer", "reading", "grounding", "correctness", "cell")

Stops = dict[str, Any]


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> Stops:
    """All runs of this file, made by one helper process."""
    base = tmp_path_factory.mktemp("stops")

    def make(name: str) -> str:
        return str(write_workspace(base / name / "workspace"))

    job = {
        "seed": 4,
        "undisturbed": make("undisturbed"),
        "killed": [make(f"killed{number}") for number in range(_KILLS)],
        "interrupted": [make(f"interrupted{number}") for number in range(_INTERRUPTS)],
        "together": make("together"),
    }
    helper = [sys.executable, str(Path(__file__).with_name("stopped_runs.py"))]
    ended = subprocess.run(helper, input=json.dumps(job), capture_output=True, text=True, check=False, timeout=80)
    assert ended.returncode == 0, ended.stderr
    return {"job": job, **json.loads(ended.stdout)}


def _check_rerun(workspace: Path, undisturbed: tuple[Path, Summary], log: pytest.LogCaptureFixture) -> None:
    before = stored(workspace)
    again = run_all(workspace)
    after = stored(workspace)
    assert tables(again) == tables(undisturbed[1])
    assert timeless(after) == timeless(stored(undisturbed[0]))
    for record, rows in before.items():
        assert {key: after[record][key] for key in rows} == rows, f"a saved {record} row was made again"
    gained = {record: len(rows) - len(before[record]) for record, rows in after.items()}
    steps = [trail for setup in again["setups"] for trail in trails_of(workspace, again["run_id"], setup).values()]
    assert {name: sum(bool(getattr(trail, name).new) for trail in steps) for name in _STEPS} == {
        name: gained[name] for name in _STEPS
    }
    assert totals(again, "computed")["index"] == gained["chunks"]
    assert "quarantine" not in log.text


def test_the_undisturbed_run_ends_well(stops: Stops, finished: tuple[Path, Summary]) -> None:
    workspace = Path(stops["job"]["undisturbed"])
    assert stops["undisturbed"] == 0
    assert stops["n_changes"] > 100
    printed = json.loads((workspace.parent / "undisturbed.out").read_text(encoding="utf-8"))
    assert tables(printed) == tables(finished[1])
    assert timeless(stored(workspace)) == timeless(stored(finished[0]))


@pytest.mark.parametrize("number", range(_KILLS), ids=lambda number: f"moment {number + 1}")
def test_after_kill_9_a_run_goes_on_where_the_killed_one_stopped(
    number: int, stops: Stops, finished: tuple[Path, Summary], caplog: pytest.LogCaptureFixture
) -> None:
    assert stops["killed"][number]["exit"] == -9
    _check_rerun(Path(stops["job"]["killed"][number]), finished, caplog)


@pytest.mark.parametrize("number", range(_INTERRUPTS), ids=lambda number: f"moment {number + 1}")
def test_ctrl_c_says_that_all_is_saved_and_the_next_run_reuses_it(
    number: int, stops: Stops, finished: tuple[Path, Summary], caplog: pytest.LogCaptureFixture
) -> None:
    workspace = Path(stops["job"]["interrupted"][number])
    said = (workspace.parent / "interrupted.err").read_text(encoding="utf-8")
    assert stops["interrupted"][number]["exit"] == 130, said
    assert said.splitlines()[-1] == (
        "fourcells: interrupted; everything computed so far is saved, run again for the rest"
    )
    assert "Traceback" not in said
    assert (workspace.parent / "interrupted.out").read_text(encoding="utf-8") == ""
    assert [record.state for record in list_runs(workspace / "store" / "runs")] == ["interrupted"]
    _check_rerun(workspace, finished, caplog)


def test_two_runs_at_once_both_finish_and_agree(stops: Stops, finished: tuple[Path, Summary]) -> None:
    workspace = Path(stops["job"]["together"])
    said = [(workspace.parent / f"together{number}.err").read_text(encoding="utf-8") for number in (1, 2)]
    assert stops["together"] == [0, 0], said
    printed = [
        json.loads((workspace.parent / f"together{number}.out").read_text(encoding="utf-8")) for number in (1, 2)
    ]
    assert tables(printed[0]) == tables(printed[1]) == tables(finished[1])
    assert printed[0]["run_id"] != printed[1]["run_id"]
    # `stored` fails when a key has two rows.
    assert timeless(stored(workspace)) == timeless(stored(finished[0]))
    assert not any(word in text for text in said for word in ("cannot be read", "quarantine", "Traceback"))


_COMPACTING: Final = """
import sys
from pathlib import Path
from tasks.store.keys import digest
from tasks.store.parts import PartList
from tasks.store.rows import Rows
folder = Path(sys.argv[1])
rows = Rows(PartList(folder, "answer", folder / "quarantine"), "other")
for n in range(100, 180):
    rows.publish([{"key": digest(n), "text": "new"}])
    if n % 2:
        rows.compact()
"""


def test_readers_work_while_another_process_compacts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def opened() -> Rows:
        return Rows(PartList(tmp_path, "answer", tmp_path / "quarantine"), "mine")

    keys = [digest(number) for number in range(100)]
    mine = opened()
    for start in range(0, 100, 10):
        mine.publish([{"key": key, "text": "old"} for key in keys[start : start + 10]])
    database, query = duckdb.connect(), "SELECT count(*) FROM read_parquet($paths) WHERE text = 'old'"
    n_reads, seen = 0, {len(mine.live_paths())}
    with subprocess.Popen([sys.executable, "-c", _COMPACTING, str(tmp_path)]) as other:
        while other.poll() is None or n_reads == 0:
            for rows in (mine, opened()):
                assert [row["text"] for row in rows.fetch(keys, ["text"]).values()] == ["old"] * 100
            paths = mine.live_paths()
            assert database.execute(query, {"paths": paths}).fetchall() == [(100,)]
            n_reads += 1
            seen.add(len(paths))
    assert other.returncode == 0
    assert len(seen) > 1
    assert opened().count() == 180
    assert caplog.text == ""
