"""Whose fault it is: questions by cell, and what other thresholds would say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.cell import Label
from tasks.compare import Comparison
from tasks.tables.compared import shown
from tasks.tables.table import Column, Table


def cell_table(comparison: Comparison) -> Table:
    """Every question in one cell, by setup, and where to start."""
    rows = comparison.database.run("cells")
    names = [pick.setup for pick in comparison.picks]
    counts: Counter[tuple[str, str, str, int]] = Counter()
    for row in rows:
        counts[row["label"], row["owner"], row["reason"], row["place"]] += row["n"]
    order = list(Label)
    lines = sorted({entry[:3] for entry in counts}, key=lambda line: (order.index(Label(line[0])), line[1:]))
    body = tuple(
        (
            f"{label}: {reason}" if reason else label,
            owner,
            *(str(counts[label, owner, reason, place] or "") for place in range(len(names))),
        )
        for label, owner, reason in lines
    )
    asked = [sum(n for entry, n in counts.items() if entry[3] == place) for place in range(len(names))]
    return Table(
        "Cells: every question in one, with its owner",
        (
            Column("cell", right=False),
            Column("owner", right=False),
            *(Column(name) for name in names),
        ),
        (*body, ("asked", None, *(str(n) for n in asked))),
        (
            *_page_level(rows),
            *(_advice(name, [row for row in rows if row["place"] == place]) for place, name in enumerate(names)),
        ),
    )


def _page_level(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    n = sum(row["n"] for row in rows if row["page_level"])
    return (
        [f"page-level: {n} of these rest on gold that names a page, which shows only that the page arrived"]
        if n
        else []
    )


def _advice(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    owners: Counter[str] = Counter()
    for row in rows:
        if row["owner"] != "nobody":
            owners[row["owner"].split(",")[0]] += row["n"]
    undetermined = sum(row["n"] for row in rows if row["label"] == "undetermined")
    if undetermined > owners.total():
        return f"{name}: {undetermined} are undetermined, more than all that failed: what their stages miss comes first"
    if not owners:
        return f"{name}: no question failed that has an owner"
    owner, n = min(owners.items(), key=lambda entry: (-entry[1], entry[0]))
    return f"{name}: start with: {owner} ({n} of {owners.total()} failing questions)"


def threshold_table(comparison: Comparison) -> Table:
    """How many questions would change column, and what would be correct, at other thresholds."""
    grading = comparison.plan.grading
    rows = tuple(
        (
            row["setup"],
            str(row["n_in_cells"]),
            str(row["change_at_08"]),
            str(row["change_at_10"]),
            shown("correct_rate", row["correct_rate_at_05"]),
            shown("correct_rate", row["correct_rate_at_10"]),
        )
        for row in comparison.database.run("thresholds")
    )
    return Table(
        f"Thresholds: grounded at {grading.grounded_at}, correct at {grading.correct_at}; what others would say",
        (
            Column("setup", right=False),
            Column("in the four cells"),
            Column("change column at 0.8"),
            Column("change column at 1.0"),
            Column("correct at 0.5"),
            Column("correct at 1.0"),
        ),
        rows,
    )
