"""The README's numbers and tables, made by the code: `make readme` writes them, a test compares."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

from rich.console import Console

from flows.here import run_here
from tasks.compare import Comparison, compare
from tasks.metrics import METRICS
from tasks.prepare import Request, prepare
from tasks.report import report_tables
from tasks.tables import Table, print_tables

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
_WIDTH = 100


def blocks() -> dict[str, str]:
    """Every generated block of the README, by name."""
    with tempfile.TemporaryDirectory() as folder:
        comparison = _run(Path(folder) / "data")
        return {name: make(comparison) for name, make in _BLOCKS.items()}


def _run(workspace: Path) -> Comparison:
    shutil.copytree(ROOT / "data", workspace, ignore=shutil.ignore_patterns("store", "reports"))
    run_here(prepare(Request(workspace=workspace)), lambda _: None)
    return compare(workspace)


def _demo(comparison: Comparison) -> str:
    return "```\n" + _printed(report_tables(comparison)[:2]) + "\n```"


def _printed(tables: list[Table]) -> str:
    sink = StringIO()
    print_tables(Console(file=sink, width=_WIDTH, markup=False, highlight=False, emoji=False), tables)
    return "\n".join(line.rstrip() for line in sink.getvalue().strip("\n").splitlines())


def _metrics(_: Comparison) -> str:
    lines = ["| name | what it is | higher is |", "| --- | --- | --- |"]
    for name, metric in METRICS.items():
        better = {"higher": "better", "lower": "worse", None: "-"}[metric.better]
        lines.append(f"| `{name}` | {metric.meaning} | {better} |")
    return "\n".join(lines)


_BLOCKS: Mapping[str, Callable[[Comparison], str]] = {"demo": _demo, "metrics": _metrics}


def filled(text: str, made: Mapping[str, str]) -> str:
    """The README with every block replaced."""
    for name, block in made.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        found = pattern.findall(text)
        if len(found) != 1:
            sys.exit(f"README.md has {len(found)} blocks named {name}, expected one")
        (begin, end), (before, after) = found[0], (pattern.split(text)[0], pattern.split(text)[-1])
        text = f"{before}{begin}{block}\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8"), blocks()), encoding="utf-8")
