"""The Prefect flow on a real server gives the rows that the walk in this process gives."""

import json
import sys
from pathlib import Path
from uuid import UUID

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, TaskRunFilter
from prefect.flows import load_flow_from_entrypoint

from flows.cli import main
from schemas.errors import StoreError
from schemas.plan import Shard, StageCount
from tasks.compare import compare
from tasks.generate import generate
from tasks.summary import summarize
from tests.small_workspace import run_all, stored, tables, timeless

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENTS = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_deployment_entrypoint_loads(deployment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)


def task_states(flow_run_id: UUID) -> dict[str, set[str]]:
    """Names of the states in which a flow run's task runs ended, by stage."""
    with get_client(sync_client=True) as client:
        runs = client.read_task_runs(
            flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id])), task_run_filter=TaskRunFilter()
        )
    found: dict[str, set[str]] = {}
    for run in runs:
        found.setdefault(run.name.split()[0], set()).add(str(run.state_name))
    return found


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.timeout(180)
def test_flow_and_walk_give_the_same_rows(workspace: Path, done: Path) -> None:
    from flows.evaluate import evaluate

    state = evaluate(workspace=str(workspace), return_state=True)
    assert state.is_completed()
    assert timeless(stored(workspace)) == timeless(stored(done))
    assert tables(run_all(workspace)) == tables(run_all(done))

    again = evaluate(workspace=str(workspace), return_state=True)
    assert again.state_details.flow_run_id is not None
    states = task_states(again.state_details.flow_run_id)
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
    state = module.evaluate(workspace=str(workspace), return_state=True)
    assert state.is_failed()
    assert "generate v2 0-8" in str(state.message)
    assert "the disk is full" in str(state.message)
    setups = summarize(compare(workspace))["setups"]
    assert sum(setups["v1"]["cells"].values()) == 8, "the other setups went through"
    assert setups["v2"]["cells"] == {}


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


def test_a_mistake_is_told_before_anything_is_recorded(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fourcells", "run", "--workspace", str(workspace), "--record", "--setup", "nope"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
