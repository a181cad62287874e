"""The Prefect flow on a real server gives the rows that the walk in this process gives."""

from pathlib import Path

import pytest
import yaml
from prefect.flows import load_flow_from_entrypoint

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENTS = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_deployment_entrypoint_loads(deployment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)


def test_flow_and_walk_give_the_same_rows() -> None:
    """Filled in below once the shared workspace fixture is there."""
