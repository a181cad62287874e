"""Which run each setup of a comparison comes from."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from schemas.claude import ClaudeJudgeSettings, ClaudeReaderSettings
from schemas.errors import InputError
from schemas.plan import Plan
from schemas.setup import Judge
from tasks.compare import _latest, _matching, _picks, _refuse_mixed, compare
from tasks.store.database import Database, Pick
from tasks.store.runs import RunRecord
from tasks.store.store import Store
from tests.small_workspace import GOLD, POINTS, walk_all


def ran(run_id: str, *setups: str, **changes: str) -> RunRecord:
    values: dict[str, Any] = {
        "run_id": run_id,
        "inputs_id": "i",
        "state": "done",
        "started_at": "2026-01-01",
        "until": "attribute",
        "setups": setups,
        "judge": "offline",
        "reader_key": "r1",
        "judge_key": "j1",
        "points_key": "p1",
        "trials": {},
        "n_questions": 1,
    }
    return RunRecord(**values | changes)


RUNS = [ran("0101-a", "v1"), ran("0102-b", "v1", judge="claude"), ran("0102-bc", "v2")]


@pytest.mark.parametrize(
    ("run_id", "judge", "found"),
    [
        pytest.param(None, None, ["0101-a", "0102-b", "0102-bc"], id="all"),
        pytest.param(None, "claude", ["0102-b"], id="of one judge"),
        pytest.param("0101", None, ["0101-a"], id="by its beginning"),
        pytest.param("0102-b", None, ["0102-b"], id="a whole id, which another begins with too"),
        pytest.param("0102", "offline", ["0102-bc"], id="by its beginning, of one judge"),
    ],
)
def test_runs_are_found_by_the_beginning_of_their_id_and_by_judge(
    run_id: str | None, judge: str | None, found: list[str]
) -> None:
    assert [record.run_id for record in _matching(RUNS, run_id, judge)] == found


@pytest.mark.parametrize(
    ("run_id", "says"),
    [
        pytest.param("0102", "2 runs begin with '0102'", id="more than one"),
        pytest.param("0103", "unknown run '0103'", id="none"),
    ],
)
def test_a_beginning_that_names_no_single_run_is_refused(run_id: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        _matching(RUNS, run_id, None)


def test_each_setup_comes_from_its_latest_run() -> None:
    latest = _latest([ran("1", "w1", "v1", "v2"), ran("2", "v2", "w1"), ran("3", "w1")], [])
    assert [(name, record.run_id) for name, record in latest.items()] == [("v1", "1"), ("v2", "2"), ("w1", "3")]


def test_named_setups_come_alone_and_in_the_order_named() -> None:
    assert list(_latest([ran("1", "v1", "v2", "w1")], ["w1", "v1"])) == ["w1", "v1"]


def test_a_setup_that_was_never_run_is_refused() -> None:
    with pytest.raises(InputError, match="'v3' was never run") as caught:
        _latest([ran("1", "v1", "v2")], ["v1", "v3"])
    assert "fourcells run --setup v3" in caught.value.remedy


@pytest.mark.parametrize("part", ["reader_key", "judge_key", "points_key"])
def test_verdicts_of_another_version_of_the_judge_are_left_out_and_said(part: str, tmp_path: Path) -> None:
    newest = ran("2", "v2", "w1")
    latest = {"v1": ran("1", "v1", **{part: "old"}), "v2": newest, "w1": newest}
    picks, notes = _picks(Store(tmp_path), latest, newest, chosen=False)
    assert picks == [Pick("2", "v2"), Pick("2", "w1")]
    assert len(notes) == 1
    assert notes[0].startswith("v1 is left out: its latest run was read or judged by another version of judge offline")
    with pytest.raises(InputError, match="numbers do not compare") as caught:
        _picks(Store(tmp_path), latest, newest, chosen=True)
    assert "fourcells grade --setup v1 --judge offline" in caught.value.remedy


CLAUDE = Judge(
    name="claude",
    reader=ClaudeReaderSettings(provider="anthropic", model="claude-x"),
    judge=ClaudeJudgeSettings(provider="anthropic", model="claude-x"),
)


def replies(*rows: tuple[str, str]) -> tuple[Database, Plan]:
    """A database that knows who replied, and a plan that seats a model."""
    found = [{"stage": stage, "judge_id": f"key:{model}"} for stage, model in rows]
    return cast(Database, SimpleNamespace(run=lambda _: found)), cast(Plan, SimpleNamespace(judge=CLAUDE))


@pytest.mark.parametrize(
    ("stage", "again"), [("read", "--fresh-reader"), ("judge-grounding", "--fresh"), ("judge-correctness", "--fresh")]
)
def test_the_remedy_names_the_seat_that_moved_on(stage: str, again: str) -> None:
    database, plan = replies((stage, "claude-x-1"), (stage, "claude-x-2"), ("read", "claude-x-1"))
    with pytest.raises(InputError) as caught:
        _refuse_mixed(database, plan, setups=["v1", "v2"])
    assert f"{stage}: replies came from 2 models (claude-x-1, claude-x-2)" in str(caught.value)
    assert f"fourcells grade --setup v1 --setup v2 --judge claude {again}." in str(caught.value)


def test_reader_and_judge_may_be_two_models() -> None:
    database, plan = replies(("read", "claude-x-1"), ("judge-grounding", "claude-x-2"))
    _refuse_mixed(database, plan, setups=["v1"])


def test_what_two_runs_asked_is_counted_once(done: Path) -> None:
    walk_all(done, setups=("v1",))
    comparison = compare(done)
    assert len(comparison.runs) == 2
    gold = comparison.database.run("gold")
    assert gold == [{"gold_kind": "span", "gold_rule": "all", "n_questions": len(GOLD), "mean_gold": 1.0}]
    assert comparison.database.run("reviewed") == [{"status": "draft", "n": sum(map(len, POINTS.values()))}]
