"""Runs of the real command that are stopped at counted moments, each in a process of its own.

Started by `test_crashes.py`: importing everything costs a second, a fork costs nothing. Reads a job from stdin and
prints what became of each run, as JSON.
"""

import json
import os
import random
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

# Audit events by which a process changes files; each is raised before it happens.
_CHANGES: Final = frozenset({"os.rename", "os.remove", "os.mkdir", "os.truncate", "shutil.rmtree"})
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def start(workspace: str, name: str, *, at: int = 0, by: signal.Signals = signal.SIGKILL) -> int:
    """Fork a process that runs a workspace, and stops itself by a signal just before its `at`-th change of a file.

    Returns:
        Its process id. Its output and the number of changes are left beside the workspace.
    """
    process = os.fork()
    if process:
        return process
    done = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal done
        writes = event in _CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & _WRITING)
        if writes and "/store" in str(args[0]):
            done += 1
            if done == at:
                os.kill(os.getpid(), by)

    base = Path(workspace).parent
    for descriptor, kind in ((1, "out"), (2, "err")):
        os.dup2(os.open(base / f"{name}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv = ["fourcells", "run", "--workspace", workspace, "--json"]
    sys.addaudithook(watch)
    code = 70
    try:
        main()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 71
    finally:
        (base / f"{name}.changes").write_text(str(done), encoding="utf-8")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wait(process: int) -> int:
    """Its exit code; minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def carry_out(job: dict[str, Any]) -> dict[str, Any]:
    """Run one workspace undisturbed, others stopped at seeded moments of as many changes, and one twice at once."""
    found: dict[str, Any] = {"undisturbed": wait(start(job["undisturbed"], "undisturbed"))}
    n_changes = int((Path(job["undisturbed"]).parent / "undisturbed.changes").read_text(encoding="utf-8"))
    moments = random.Random(job["seed"])  # noqa: S311 - chooses moments, no secrets
    found["n_changes"] = n_changes
    for kind, by in (("killed", signal.SIGKILL), ("interrupted", signal.SIGINT)):
        found[kind] = []
        for workspace in job[kind]:
            at = moments.randrange(n_changes // 4 if by == signal.SIGINT else 1, n_changes)
            found[kind].append({"at": at, "exit": wait(start(workspace, kind, at=at, by=by))})
    together = [start(job["together"], f"together{number}") for number in (1, 2)]
    found["together"] = [wait(process) for process in together]
    return found


if __name__ == "__main__":
    from flows.cli import main

    # What the command imports when it runs: once, before the forks.
    for module in ("flows.here", "flows.cli.progress", "tasks.compare", "tasks.runs.prepare", "tasks.report"):
        import_module(module)
    json.dump(carry_out(json.load(sys.stdin)), sys.stdout)
