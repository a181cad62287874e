"""The README's numbers and tables, made by the code: `make readme` writes them, a test compares."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

from rich.console import Console

from flows.estimating import expect
from flows.here import run_here
from tasks.compare import Comparison, compare
from tasks.metrics import METRICS
from tasks.report import report_tables
from tasks.runs.prepare import Request, prepare
from tasks.story import tell
from tasks.tables.table import Table, print_tables

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
_WIDTH = 100


def blocks(comparison: Comparison) -> dict[str, str]:
    """Every generated block of the README, by name."""
    return {name: make(comparison) for name, make in _BLOCKS.items()}


def run_built_in(workspace: Path) -> Comparison:
    """Run a copy of the built-in workspace."""
    shutil.copytree(ROOT / "data", workspace, ignore=shutil.ignore_patterns("store", "reports"))
    run_here(prepare(Request(workspace=workspace)), lambda _: None)
    return compare(workspace)


def _demo(comparison: Comparison) -> str:
    shown = [table for table in report_tables(comparison) if table.title.startswith(("Setups", "Cells"))]
    return "```\n" + _printed(shown) + "\n```"


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


# One question of each cell, in the order of the README's tour.
TOUR = (
    "b-011-receiver-answer-time",
    "b-017-team-200-per-second",
    "a-033-audit-trail-team",
    "a-020-enterprise-above-contract",
    "b-015-pause-with-end",
    "a-025-downgrade-undo-old-data",
    "a-042-third-party-pentest-report",
)


def _tour(comparison: Comparison) -> str:
    lines = ["| question | cell | reason | owner |", "| --- | --- | --- | --- |"]
    for question_id in TOUR:
        (story,) = [one for one in tell(comparison, question_id) if one["setup"] == "assistant"]
        cell = story["cell"]
        lines.append(f"| {story['question']} | `{cell['label']}` | {cell['reason'] or '-'} | {cell['owner']} |")
    return "\n".join(lines)


# What is worth asking, and how.
SLICES = {
    "questions that moved between v1 and w1": (
        "SELECT v.question_id, v.label AS v1, w.label AS w1 FROM cells AS v JOIN cells AS w USING (question_id) "
        "WHERE v.setup = 'v1' AND w.setup = 'w1' AND v.label <> w.label ORDER BY ALL"
    ),
    "unsupported claims by document": (
        "SELECT p.document_id, count(DISTINCT (c.question_id, c.number)) AS n FROM claims AS c "
        "JOIN passages AS p USING (setup, judge, question_id) "
        "WHERE c.verdict <> 'SUPPORTED' GROUP BY ALL ORDER BY n DESC LIMIT 10"
    ),
    "recall by k": (
        "SELECT setup, metric, avg(value) AS recall, count(value) AS n FROM scores WHERE metric LIKE 'recall@%' "
        "GROUP BY ALL ORDER BY ALL"
    ),
    "cost by stage": (
        "SELECT setup, stage, count(*) AS n, sum(cost_usd) AS cost_usd FROM costs GROUP BY ALL ORDER BY ALL"
    ),
    "cells by tag": (
        "SELECT tags['area'] AS area, label, count(*) AS n FROM cells WHERE setup = 'assistant' "
        "GROUP BY ALL ORDER BY area, n DESC"
    ),
    "points that nobody covers": (
        "SELECT point_id, any_value(text) AS text FROM points GROUP BY point_id "
        "HAVING count(*) FILTER (verdict = 'COVERED') = 0 ORDER BY point_id"
    ),
}


def _slices(_: Comparison) -> str:
    return "\n".join(["```sql", *(f"-- {title}\n{query};\n" for title, query in SLICES.items()), "```"])


# What a table of costs is computed for: one model in every seat.
MODELS = ("claude-haiku-4-5", "claude-sonnet-5-5", "claude-opus-5-5")


def _costs(comparison: Comparison) -> str:
    workspace = comparison.workspace
    setup, judge = workspace / "setups" / "claude-grounded.toml", workspace / "judges" / "claude.toml"
    lines = [
        "| model | writing and grading | by batch | grading saved answers | by batch |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for model in MODELS:
        for path in (setup, judge):
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(r"^model = .*$", f'model = "{model}"', text, flags=re.MULTILINE), encoding="utf-8")
        usd = [
            sum(
                one.cost_usd
                for one in expect(Request(workspace=workspace, setups=(name,), judge="claude", batch=batch))
            )
            for name in ("claude-grounded", "assistant")
            for batch in (False, True)
        ]
        lines.append(f"| {model} | {' | '.join(f'${value:.2f}' for value in usd)} |")
    return "\n".join(lines)


_BLOCKS: Mapping[str, Callable[[Comparison], str]] = {
    "demo": _demo,
    "tour": _tour,
    "metrics": _metrics,
    "slices": _slices,
    "costs": _costs,
}


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
    with tempfile.TemporaryDirectory() as folder:
        made = blocks(run_built_in(Path(folder) / "data"))
    README.write_text(filled(README.read_text(encoding="utf-8"), made), encoding="utf-8")
