"""A Prefect server and a worker for one person on one machine: loopback only, telemetry off."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from flows.prefect_api import add_schedule, answers, end_orphans, is_deployed
from schemas.errors import FourcellsError, InputError

ROOT: Final = Path(__file__).resolve().parents[1]
POOL: Final = "fourcells"
_HOST: Final = "127.0.0.1"
_PORT: Final = 4200
_PATIENCE_S: Final = 120.0
_GRACE_S: Final = 10.0
_PROCESSES: Final = 2  # server and worker
_DEPLOYMENT: Final = "evaluate/nightly"
# Made once and switched off: a deployment that is made anew leaves schedules alone, and they are the person's.
_SCHEDULE: Final = "0 3 * * *"
# What a worker takes along when it starts, and what a person may set only afterwards.
_TAKEN_ALONG: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "AWS_BEARER_TOKEN_BEDROCK")


def home() -> Path:
    """Where server and worker keep their files: a folder of ours under the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(os.environ.get("FOURCELLS_SERVER_HOME") or Path(base) / "fourcells")


def start(workspace: Path | None) -> str:
    """Start server and worker unless they run already, and deploy prefect.yaml.

    Args:
        workspace: What deployments evaluate by default; None leaves it to their parameter.

    Returns:
        The server's API address.

    Raises:
        InputError: When they run already over another workspace, or without a key that is set by now.
        FourcellsError: When something does not come up; everything that was started is stopped again.
    """
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    api, running, with_what = _state()
    if len(running) == _PROCESSES and answers(api):
        _require_same(with_what, workspace)
        return api
    stop()
    port = _free_port()
    api = f"http://{_HOST}:{port}/api"
    environment = _environment(api, folder, workspace)
    started: list[psutil.Process] = []
    try:
        server = [*_prefect(), "server", "start", "--host", _HOST, "--port", str(port)]
        started.append(_spawn(server, environment, folder / "server.log"))
        _save(api, started, workspace)
        _wait_for(api, folder / "server.log", started[0])
        end_orphans(api, POOL)
        is_new = not is_deployed(api, _DEPLOYMENT)
        _run([*_prefect(), "work-pool", "create", POOL, "--type", "process", "--overwrite"], environment)
        _run([*_prefect(), "--no-prompt", "deploy", "--all"], environment)
        if is_new:
            add_schedule(api, _DEPLOYMENT, _SCHEDULE)
        worker = [*_prefect(), "worker", "start", "--pool", POOL, "--name", "fourcells"]
        started.append(_spawn(worker, environment, folder / "worker.log"))
        _save(api, started, workspace)
    except BaseException:
        stop()
        raise
    return api


def stop() -> int:
    """Stop what `start` started, with everything it started. Returns how many processes were stopped."""
    _, running, _ = _state()
    # Runs first, then the worker, then the server: each still tells the next how it ended.
    _end(_runs())
    for process in reversed(running):
        with suppress(psutil.NoSuchProcess):
            _end([*process.children(recursive=True), process])
    _list().unlink(missing_ok=True)
    return len(running)


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(processes, timeout=_GRACE_S)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=_GRACE_S)


def _runs() -> list[psutil.Process]:
    """Flow runs of our worker, also of one that was killed: they live on without it."""
    ours = str(home() / "prefect")
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            environment = process.environ()
            if environment.get("PREFECT_HOME") == ours and "PREFECT__FLOW_RUN_ID" in environment:
                found.append(process)
    return found


def _require_same(with_what: Mapping[str, object], workspace: Path | None) -> None:
    """Refuse to call it started when it runs with something else than was asked for now.

    Raises:
        InputError: Naming what differs.
    """
    over, taken = with_what.get("workspace"), with_what.get("taken_along")
    again = "Run fourcells down, then fourcells up."
    if workspace is not None and over != str(workspace):
        raise InputError(f"server and worker run already, over {over or 'the built-in workspace'}", remedy=again)
    late = [name for name in _taken_along() if name not in taken] if isinstance(taken, list) else []
    if late:
        raise InputError(f"server and worker run already, without {', '.join(late)}", remedy=again)


def _taken_along() -> list[str]:
    return [name for name in _TAKEN_ALONG if os.environ.get(name)]


def _prefect() -> list[str]:
    return [sys.executable, "-m", "prefect"]


def _environment(api: str, folder: Path, workspace: Path | None) -> Mapping[str, str]:
    ours = {
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_API_URL": api,
        # On another port than 4200 the UI finds its API only when told.
        "PREFECT_UI_API_URL": api,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        # UI v2 calls an analytics host on every page, whatever the settings say.
        "PREFECT_SERVER_UI_V2_ENABLED": "false",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        # Task runs are written together, once a second: one by one, as is the default, they cost more processor time
        # than most shards. Below a second Prefect makes 0 of it and never rests.
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_LOGGING_EXTRA_LOGGERS": "fourcells",
        "PWD": str(ROOT),
    }
    if workspace is not None:
        ours["FOURCELLS_WORKSPACE"] = str(workspace)
    (folder / "prefect").mkdir(parents=True, exist_ok=True)
    return {**os.environ, **ours}


def _spawn(command: list[str], environment: Mapping[str, str], log: Path) -> psutil.Process:
    with log.open("ab") as sink:
        # A session of its own: the terminal's Ctrl-C does not reach it.
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            command,
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    return psutil.Process(process.pid)


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        command, cwd=ROOT, env=dict(environment), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise FourcellsError(f"prefect {' '.join(command[3:6])} failed: {said[-1] if said else 'no message'}")


def _wait_for(api: str, log: Path, process: psutil.Process) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and _lives(process):
        if answers(api):
            return
        time.sleep(0.2)
    raise FourcellsError("the Prefect server did not come up", where=str(log), remedy="This log says why.")


def _free_port() -> int:
    with socket.socket() as probe:
        # Connections of a server that has just ended do not hold its port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, _PORT))
        except OSError:
            probe.close()
            with socket.socket() as other:
                other.bind((_HOST, 0))
                return int(other.getsockname()[1])
        return _PORT


def _list() -> Path:
    return home() / "processes.json"


def _state() -> tuple[str, list[psutil.Process], Mapping[str, object]]:
    """The API address, those of the processes that were started which still live, and what they were started with."""
    try:
        found = json.loads(_list().read_bytes())
        api, entries = str(found["api"]), [(int(pid), float(created)) for pid, created in found["processes"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return "", [], {}
    living = []
    for pid, created in entries:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            # The number may belong to another process by now.
            if abs(process.create_time() - created) < 1 and _lives(process):
                living.append(process)
    return api, living, found


def _save(api: str, processes: list[psutil.Process], workspace: Path | None) -> None:
    known = {
        "api": api,
        "processes": [[process.pid, process.create_time()] for process in processes],
        "workspace": os.environ.get("FOURCELLS_WORKSPACE") if workspace is None else str(workspace),
        "taken_along": _taken_along(),
    }
    _list().write_text(json.dumps(known), encoding="utf-8")


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
