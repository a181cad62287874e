"""Claims that a person should read: without support, or with a word of the judge worth a look."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.tables.table import Column, Table
from tasks.text.visible import one_line


def unsupported_table(rows: Sequence[Mapping[str, Any]], *, below: tuple[str, ...] = ()) -> Table:
    """Claims without support in their context."""
    return Table(
        "Claims that their context does not support",
        (
            Column("setup", right=False),
            Column("question", right=False),
            Column("verdict", right=False),
            Column("claim", right=False),
        ),
        tuple((row["setup"], row["question_id"], row["verdict"], one_line(row["claim"], most=300)) for row in rows),
        below,
        n_labels=3,
    )


def verdict_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Verdicts with the quotes behind them."""
    return Table(
        "Verdicts to read: a judge's word is data to inspect",
        (
            Column("setup", right=False),
            Column("question", right=False),
            Column("verdict", right=False),
            Column("claim", right=False),
            Column("evidence", right=False),
        ),
        tuple(
            (
                row["setup"],
                row["question_id"],
                row["verdict"],
                one_line(row["claim"], most=300),
                one_line(row["quote"] or "", most=300),
            )
            for row in rows
        ),
        n_labels=3,
    )
