"""The round trip that the README shows: up, run the deployment, down; a run that is killed is marked and resumed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
import pytest

from tests.small_workspace import run_all, stored, totals, write_workspace

pytestmark = pytest.mark.timeout(360)


@pytest.fixture
def environment(tmp_path: Path, workspace: Path) -> Iterator[dict[str, str]]:
    """`fourcells up` over a workspace of its own, and `down` whatever happens."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    ours = {**clean, "FOURCELLS_SERVER_HOME": str(tmp_path / "server")}
    try:
        said = fourcells(ours, "up", "--workspace", str(workspace))
        export = next(line for line in said.splitlines() if "export " in line)
        name, _, value = export.partition("export ")[2].partition("=")
        yield {**ours, name: value}
    finally:
        fourcells(ours, "down")


def fourcells(environment: dict[str, str], *options: str) -> str:
    command = [sys.executable, "-m", "flows.cli", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=180).stdout


def refused(environment: dict[str, str], *options: str) -> str:
    command = [sys.executable, "-m", "flows.cli", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 2
    return done.stderr


def prefect(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prefect", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=180)


def asked(environment: dict[str, str], what: str) -> list[dict[str, Any]]:
    """Everything of a kind that the server has."""
    request = Request(
        f"{environment['PREFECT_API_URL']}/{what}", data=b"{}", headers={"Content-Type": "application/json"}
    )
    with urlopen(request, timeout=30) as reply:
        found: list[dict[str, Any]] = json.load(reply)
    return found


def of_server(folder: Path) -> list[psutil.Process]:
    """Living processes whose environment names a server folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and str(folder) in process.environ().get("PREFECT_HOME", ""):
                found.append(process)
    return found


def test_round_trip(environment: dict[str, str], workspace: Path, tmp_path: Path) -> None:
    again = fourcells(environment, "up", "--workspace", str(workspace))
    assert environment["PREFECT_API_URL"] in again, "up is safe to call twice"
    other = write_workspace(tmp_path / "other")
    assert "run already, over" in refused(environment, "up", "--workspace", str(other))
    late = {**environment, "ANTHROPIC_API_KEY": "set-later"}
    assert "without ANTHROPIC_API_KEY" in refused(late, "up")

    ran = prefect(environment, "deployment", "run", "evaluate/nightly", "--watch")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Completed" in ran.stdout
    made = {artifact["key"] for artifact in asked(environment, "artifacts/filter")}
    assert made == {"comparison", "counts", "cells", "cells-by-setup", "cost", "ledger", "unsupported-claims"}
    wanted = {"index v1", "retrieve v1 0-8", "attribute w1 0-8"}
    # The server writes task runs down once a second.
    wait_for("task runs", lambda: wanted <= {run["name"] for run in asked(environment, "task_runs/filter")})
    said = [line["message"] for line in asked(environment, "logs/filter")]
    assert any("8 computed" in message for message in said), "our loggers' lines are in the run"

    # What the worker computed is what this process would have computed: nothing is left to do.
    assert set(totals(run_all(workspace), "computed").values()) == {0}

    assert "stopped server and worker" in fourcells(environment, "down")
    assert of_server(tmp_path / "server") == []
    assert "nothing was running" in fourcells(environment, "down")


def wait_for(what: str, found: Callable[[], bool], *, patience_s: float = 90) -> None:
    """Poll, since the server tells nobody."""
    until = time.monotonic() + patience_s
    while not found():
        assert time.monotonic() < until, what
        time.sleep(0.1)


def flow_runs(environment: dict[str, str]) -> list[dict[str, Any]]:
    """The flow runs that were asked for, the oldest first; those of a schedule are still to come."""
    found = [run for run in asked(environment, "flow_runs/filter") if not run["auto_scheduled"]]
    return sorted(found, key=lambda run: str(run["created"]))


def states(environment: dict[str, str]) -> list[str]:
    """How they stand."""
    return [run["state_name"] for run in flow_runs(environment)]


def wait_for_states(environment: dict[str, str], wanted: set[str]) -> None:
    """Until the newest flow run is in one of these states; a final state that is none of them is told at once."""
    final = {"Completed", "Failed", "Crashed", "Cancelled"}
    wait_for("the newest run has come so far", lambda: states(environment)[-1] in wanted | final)
    runs = flow_runs(environment)
    assert runs[-1]["state_name"] in wanted, [(run["state_name"], run["state"].get("message")) for run in runs]


@pytest.fixture
def larger(workspace: Path) -> Path:
    """The small workspace with enough questions for a run to be caught in the middle."""
    path = workspace / "questions.jsonl"
    first = json.loads(path.read_text("utf-8").splitlines()[0])
    more = [{"id": f"more-{i}", "text": f"{first['text']} Case {i}."} for i in range(4_000)]
    path.write_text(path.read_text("utf-8") + "".join(json.dumps(one) + "\n" for one in more), encoding="utf-8")
    return workspace


def test_a_killed_run_is_marked_and_the_next_computes_the_rest(larger: Path, environment: dict[str, str]) -> None:
    answers = larger / "store" / "rows" / "answer" / "parts.json"
    assert prefect(environment, "deployment", "run", "evaluate/nightly").returncode == 0
    wait_for("the first answers", answers.exists)

    second = prefect(environment, "deployment", "run", "evaluate/nightly")
    assert second.returncode == 0
    wait_for_states(environment, {"Cancelled"})

    runners = [p for p in psutil.process_iter() if running_flow(p, environment)]
    assert runners
    for process in runners:
        process.kill()
    wait_for("the first run is marked", lambda: states(environment)[0] == "Crashed")

    # Its successor is caught in the middle by `down`, and must not hold the deployment's one slot for ever.
    [deployment] = asked(environment, "deployments/filter")
    [schedule] = deployment["schedules"]
    assert (schedule["active"], schedule["schedule"]["cron"]) == (False, "0 3 * * *")
    made = prefect(environment, "deployment", "schedule", "create", "evaluate/nightly", "--cron", "30 4 * * *")
    assert made.returncode == 0, made.stderr
    assert prefect(environment, "deployment", "run", "evaluate/nightly").returncode == 0
    wait_for_states(environment, {"Running"})
    fourcells(environment, "down")
    assert of_server(Path(environment["FOURCELLS_SERVER_HOME"])) == []
    api = fourcells(environment, "up", "--workspace", str(larger))
    assert environment["PREFECT_API_URL"] in api, "the port is the same: nothing else took it"
    assert states(environment)[-1] == "Crashed"
    crons = {one["schedule"]["cron"] for one in asked(environment, "deployments/filter")[0]["schedules"]}
    assert crons == {"0 3 * * *", "30 4 * * *"}
    assert prefect(environment, "deployment", "run", "evaluate/nightly").returncode == 0
    wait_for_states(environment, {"Running"})

    # And when nobody can say any more how it ended.
    for process in of_server(Path(environment["FOURCELLS_SERVER_HOME"])):
        process.kill()
    fourcells(environment, "up", "--workspace", str(larger))
    assert states(environment)[-1] == "Crashed"
    assert prefect(environment, "deployment", "run", "evaluate/nightly").returncode == 0
    wait_for_states(environment, {"Running", "Completed"})
    fourcells(environment, "down")

    saved = len(stored(larger)["answer"])
    summary = run_all(larger)
    assert totals(summary, "reused")["generate"] >= saved > 0, "what was saved is not computed again"
    assert totals(summary, "computed")["attribute"] > 0, "the rest is"
    assert sum(summary["setups"]["v1"]["cells"].values()) == 4_008


def running_flow(process: psutil.Process, environment: dict[str, str]) -> bool:
    """Whether a process is a worker's flow run on our server."""
    with suppress(psutil.Error):
        mine = process.environ().get("PREFECT_API_URL") == environment["PREFECT_API_URL"]
        return mine and "PREFECT__FLOW_RUN_ID" in process.environ()
    return False
