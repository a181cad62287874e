"""The Prefect flow on a real server gives the rows that the walk in this process gives."""

from pathlib import Path
from uuid import UUID

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, TaskRunFilter
from prefect.flows import load_flow_from_entrypoint

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
