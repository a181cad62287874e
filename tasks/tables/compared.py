"""The main table of a report, setups side by side, and the counts behind its numbers."""

from collections.abc import Mapping
from typing import Any, Final

from tasks.compare import Comparison
from tasks.metrics import parse_metric
from tasks.runs.run import open_run
from tasks.tables.table import Column, Table

# Columns of the main table with their importance: 0 is never left out, the highest goes first.
_MAIN: Final = (
    ("correct_rate", 0),
    ("supported_rate", 0),
    ("recall@{t}t", 0),
    ("covered_rate", 1),
    ("answer_words", 1),
    ("abstained_rate", 2),
    ("answers_with_unsupported", 3),
    ("context_recall", 4),
    ("missing_rate", 5),
    ("contradicted_rate", 6),
    ("recall@{k}", 7),
    ("relevancy_rate", 8),
    ("claims", 10),
    ("partly_rate", 11),
)
# The cut that the main table shows, or the nearest below it that grading.toml asks for.
_MAIN_K: Final = 5


def main_table(comparison: Comparison, summary: Mapping[str, Any], title: str) -> Table:
    """The numbers that people compare, one row per setup."""
    budget = comparison.plan.grading.budget_tokens
    k = max((k for k in comparison.plan.grading.k if k <= _MAIN_K), default=min(comparison.plan.grading.k))
    wanted = [(name.format(t=budget, k=k), importance) for name, importance in _MAIN]
    setups = summary["setups"]
    known = [(name, importance) for name, importance in wanted if any(name in s["metrics"] for s in setups.values())]
    rows = []
    for name, setup in setups.items():
        cells = [shown(metric, setup["metrics"].get(metric, {}).get("value")) for metric, _ in known]
        rows.append((name, *cells))
    columns = [Column("setup", right=False)]
    columns += [Column(parse_metric(name).heading, importance) for name, importance in known]
    return Table(title, tuple(columns), tuple(rows), _under_main(comparison, summary))


def _under_main(comparison: Comparison, summary: Mapping[str, Any]) -> tuple[str, ...]:
    lines = []
    if _text_differs(comparison):
        lines.append(
            f"recall@k: same k, different amount of text; recall @{comparison.plan.grading.budget_tokens} tokens "
            "compares these setups"
        )
    if summary["offline_judge"]:
        lines.append("offline judge: for wiring, demos and a first look, not a verdict")
    lines.extend(f"note: {note}" for note in comparison.notes)
    return tuple(lines)


def count_table(comparison: Comparison, summary: Mapping[str, Any]) -> Table:
    """What each kind of number counts: beside every mean stands its count."""
    budget = f"recall@{comparison.plan.grading.budget_tokens}t"
    counted = (
        ("questions with gold and ranking", budget),
        ("answerable and judged", "correct_rate"),
        ("claims", "supported_rate"),
        ("points", "covered_rate"),
        ("answers", "answer_words"),
    )
    rows = tuple(
        (
            name,
            *(str(setup["metrics"].get(metric, {}).get("n", 0)) for _, metric in counted),
            shown("context_tokens", setup["metrics"].get("context_tokens", {}).get("value")),
        )
        for name, setup in summary["setups"].items()
    )
    golds = tuple(
        f"gold: {row['n_questions']} questions, kind {row['gold_kind']!r}, rule {row['gold_rule']!r}, "
        f"{row['mean_gold']:.1f} entries on average"
        for row in comparison.database.run("gold")
    )
    points = comparison.database.run("reviewed")
    unreviewed = tuple(
        f"key points: {row['n']} of {sum(one['n'] for one in points)} are {row['status']}"
        for row in points
        if row["status"] != "reviewed"
    )
    columns = (
        Column("setup", right=False),
        *(Column(heading) for heading, _ in counted),
        Column("tokens in a context", 1),
    )
    return Table("Counts behind these numbers", columns, rows, (*golds, *unreviewed))


def _text_differs(comparison: Comparison) -> bool:
    """Whether k passages are different amounts of text in the setups compared."""
    shapes = set()
    for pick in comparison.picks:
        setup = open_run(str(comparison.workspace), pick.run_id).setup(pick.setup).setup
        imported = setup.answers or ""
        shapes.add((imported, setup.splitting.model_dump_json(), setup.context.k, setup.context.neighbours))
    return len(shapes) > 1


def shown(metric: str, value: float | None) -> str | None:
    """A number as printed: rounded here and nowhere before."""
    if value is None:
        return None
    unit = parse_metric(metric).metric.unit
    return f"{100 * value:.1f}%" if unit == "fraction" else f"{value:.0f}"
