"""The Prefect flow on a real server gives the rows that the walk in this process gives."""

import asyncio
import json
import logging
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
import yaml
from prefect import Flow, State
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, TaskRunFilter
from prefect.context import SyncClientContext
from prefect.flows import load_flow_from_entrypoint

from flows.cli import main
from schemas.errors import StoppedError, StoreError
from schemas.plan import Shard, StageCount
from tasks.compare import compare
from tasks.generate import generate
from tasks.store.runs import list_runs
from tasks.summary import summarize
from tasks.tables.costs import dollars
from tests.claude_seats import SETUPS, seat_claude
from tests.small_workspace import run_all, stored, tables, timeless, write_workspace
from tests.stub.server import StubServer

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENTS = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_deployment_entrypoint_loads(deployment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)


def task_states(flow_run_id: UUID, *, n: int, patience_s: float = 60) -> dict[str, set[str]]:
    """Names of the states in which a flow run's task runs ended, by stage.

    The server writes task runs down after the flow has ended: asked for until there are n, all of them ended.
    """
    until = time.monotonic() + patience_s
    with get_client(sync_client=True) as client:
        while True:
            runs = client.read_task_runs(
                flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id])), task_run_filter=TaskRunFilter()
            )
            if len(runs) == n and all(run.state and run.state.is_final() for run in runs):
                break
            assert time.monotonic() < until, [(run.name, run.state_name) for run in runs]
            time.sleep(0.1)
    found: dict[str, set[str]] = {}
    for run in runs:
        found.setdefault(run.name.split()[0], set()).add(str(run.state_name))
    return found


def ended(flow: Flow[..., Coroutine[Any, Any, str | State[str]]], workspace: Path, **asked: object) -> State[str]:
    """How a flow run over a workspace ended."""

    async def run() -> State[str]:
        # The overloads of Flow take any coroutine for a result.
        return cast("State[str]", await flow(workspace=str(workspace), **asked, return_state=True))

    # As in flows/recorded.py: else a socket of Prefect's stays open.
    with SyncClientContext.get_or_create():
        return asyncio.run(run())


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_flow_and_walk_give_the_same_rows(workspace: Path, done: Path) -> None:
    from flows.evaluate import evaluate

    state = ended(evaluate, workspace)
    assert state.is_completed()
    assert timeless(stored(workspace)) == timeless(stored(done))
    assert tables(run_all(workspace)) == tables(run_all(done))

    again = ended(evaluate, workspace)
    assert again.state_details.flow_run_id is not None
    states = task_states(again.state_details.flow_run_id, n=3 * 6)
    assert set(states) == {"index", "retrieve", "generate", "judge-grounding", "judge-correctness", "attribute"}
    assert set.union(*states.values()) == {"Cached"}


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_a_failed_shard_fails_alone_and_the_flow_says_which(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import evaluate as module

    def breaks(shard: Shard) -> StageCount:
        if shard.setup == "v2":
            raise StoreError("the disk is full")
        return generate(shard)

    broken = module._as_task("generate", breaks)
    monkeypatch.setitem(module.TASKS, "generate", broken)
    state = ended(module.evaluate, workspace)
    assert state.is_failed()
    assert "generate v2 0-8" in str(state.message)
    assert "the disk is full" in str(state.message)
    setups = summarize(compare(workspace))["setups"]
    assert sum(setups["v1"]["cells"].values()) == 8, "the other setups went through"
    assert setups["v2"]["cells"] == {}


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_a_mistake_is_one_sentence_on_the_run_s_page(workspace: Path) -> None:
    from flows.evaluate import evaluate

    state = ended(evaluate, workspace, setups=["v3"])
    assert state.is_failed()
    assert str(state.message).startswith("unknown setup 'v3'")
    assert not (workspace / "store").exists()


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_a_spent_budget_stands_in_the_state(workspace: Path, stub: StubServer) -> None:
    from flows.evaluate import evaluate

    seat_claude(workspace)
    state = ended(evaluate, workspace, setups=["naive"], judge="claude", budget_usd=0.1)
    assert (state.is_completed(), state.name) == (True, "FailedRows")
    paid = list_runs(workspace / "store" / "runs")[-1].paid_usd
    assert str(state.message) == (
        "7 of 8 questions failed at a stage, the ledger says where; the budget did not reach 7: give a larger --budget; "
        f"paid ${dollars(paid)} of $0.10"
    )
    assert state.state_details.flow_run_id is not None
    states = task_states(state.state_details.flow_run_id, n=6)
    assert states["judge-correctness"] == {"FailedRows"}


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_a_stopped_run_is_marked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import evaluate as module

    def stops(_shard: Shard) -> StageCount:
        raise StoppedError("the run was stopped")

    def interrupted(_promises: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(module.TASKS, "generate", module._as_task("generate", stops))
    monkeypatch.setattr(module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ended(module.evaluate, workspace, setups=["v1"])
    assert list_runs(workspace / "store" / "runs")[-1].state == "interrupted"


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_run_with_a_prefect_api_is_recorded(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fourcells", "run", "--workspace", str(workspace), "--record", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}
    run_id = json.loads(capsys.readouterr().out)["run_id"]
    with get_client(sync_client=True) as client:
        found = client.read_artifacts()
    assert any(run_id in str(artifact.description) for artifact in found)


def test_a_long_stretch_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    from flows import evaluate as module

    monkeypatch.setattr(module, "_EVERY_S", -1.0)
    tell = module._telling(cast("Any", SimpleNamespace(paid_usd=0.5)))
    with caplog.at_level(logging.INFO, logger="fourcells.flow"):
        tell("answer")
        tell("answer")
    assert [record.getMessage() for record in caplog.records] == [
        "rows of answer made so far: 1, $0.50 paid",
        "rows of answer made so far: 2, $0.50 paid",
    ]


def test_a_mistake_is_told_before_anything_is_recorded(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fourcells", "run", "--workspace", str(workspace), "--record", "--setup", "nope"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_claude_seats_give_the_same_rows_in_both_modes(workspace: Path, tmp_path: Path, stub: StubServer) -> None:
    from flows.evaluate import evaluate

    # Which call finds the cache warm is the order's doing; without one, rows say the same tokens.
    stub.reset(cached_from_tokens=10**9)
    seat_claude(workspace)
    state = ended(evaluate, workspace, setups=list(SETUPS), judge="claude")
    assert state.is_completed()
    assert stub.stats().requests["POST /v1/messages"] > 0
    here = seat_claude(write_workspace(tmp_path / "here"))
    run_all(here, setups=SETUPS, judge="claude")
    assert timeless(stored(workspace)) == timeless(stored(here))
