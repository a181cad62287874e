"""A Prefect server and a worker for one person on one machine: loopback only, telemetry off."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from schemas.errors import FourcellsError

ROOT: Final = Path(__file__).resolve().parents[1]
POOL: Final = "fourcells"
_HOST: Final = "127.0.0.1"
_PORT: Final = 4200
_PATIENCE_S: Final = 120.0
_GRACE_S: Final = 10.0
_PROCESSES: Final = 2  # server and worker


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
        FourcellsError: When something does not come up; everything that was started is stopped again.
    """
    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    api, running = _state()
    if len(running) == _PROCESSES and _answers(api):
        return api
    stop()
    port = _free_port()
    api = f"http://{_HOST}:{port}/api"
    environment = _environment(api, folder, workspace)
    started: list[psutil.Process] = []
    try:
        server = [*_prefect(), "server", "start", "--host", _HOST, "--port", str(port)]
        started.append(_spawn(server, environment, folder / "server.log"))
        _save(api, started)
        _wait_for(api, folder / "server.log", started[0])
        _run([*_prefect(), "work-pool", "create", POOL, "--type", "process", "--overwrite"], environment)
        _run([*_prefect(), "--no-prompt", "deploy", "--all"], environment)
        worker = [*_prefect(), "worker", "start", "--pool", POOL, "--name", "fourcells"]
        started.append(_spawn(worker, environment, folder / "worker.log"))
        _save(api, started)
    except BaseException:
        stop()
        raise
    return api


def stop() -> int:
    """Stop what `start` started, with everything it started. Returns how many processes were stopped."""
    _, running = _state()
    # The worker first: it then takes no new run from a server that is going.
    family = [one for process in reversed(running) for one in (process, *process.children(recursive=True))]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(family, timeout=_GRACE_S)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=_GRACE_S)
    _list().unlink(missing_ok=True)
    return len(running)


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
        if _answers(api):
            return
        time.sleep(0.2)
    raise FourcellsError("the Prefect server did not come up", where=str(log), remedy="This log says why.")


def _answers(api: str) -> bool:
    try:
        with urllib.request.urlopen(f"{api}/health", timeout=2) as reply:  # noqa: S310 - our own address
            return bool(reply.status == 200)
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
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


def _state() -> tuple[str, list[psutil.Process]]:
    """The API address, and those of the processes that were started which still live."""
    try:
        found = json.loads(_list().read_bytes())
        api, entries = str(found["api"]), [(int(pid), float(created)) for pid, created in found["processes"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return "", []
    living = []
    for pid, created in entries:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            # The number may belong to another process by now.
            if abs(process.create_time() - created) < 1 and _lives(process):
                living.append(process)
    return api, living


def _save(api: str, processes: list[psutil.Process]) -> None:
    entries = [[process.pid, process.create_time()] for process in processes]
    _list().write_text(json.dumps({"api": api, "processes": entries}), encoding="utf-8")


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
