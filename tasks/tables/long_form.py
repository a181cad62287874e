"""Every number of a comparison in long form, for other programs."""

from collections.abc import Mapping
from typing import Any

from tasks.tables.table import Column, Table


def numbers_table(summary: Mapping[str, Any]) -> Table:
    """Every number in long form, unrounded: one row per setup and metric."""
    return Table(
        "Numbers",
        (Column("setup", right=False), Column("metric", right=False), Column("value"), Column("n")),
        tuple(
            (name, metric, None if entry["value"] is None else repr(entry["value"]), str(entry["n"]))
            for name, setup in summary["setups"].items()
            for metric, entry in setup["metrics"].items()
        ),
    )
