"""Whole processes: the help, and the built-in workspace with nothing to compute."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.figure import Figure, Spread, run_command

_DATA: Final = Path(__file__).resolve().parents[2] / "data"


def measure_commands(folder: Path) -> Iterator[Figure]:
    """Start `fourcells` as a person does."""
    shown = Spread.of([run_command("--help").seconds for _ in range(7)])
    yield Figure("`fourcells --help`, whole process", "≤ 0.4 s", shown.shown(), shown.median <= 0.4)
    workspace = folder / "built-in"
    shutil.copytree(_DATA, workspace, ignore=shutil.ignore_patterns("store", "reports"))
    again = ("run", "--json", "--no-record", "--workspace", str(workspace))
    run_command(*again)
    warm = Spread.of([run_command(*again).seconds for _ in range(5)])
    work = "built-in workspace, nothing to compute, whole process, in-process mode"
    yield Figure(work, "≤ 1.5 s", warm.shown(), warm.median <= 1.5)
