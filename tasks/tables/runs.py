"""The runs of a store."""

from collections.abc import Sequence

from tasks.store.runs import RunRecord
from tasks.tables.table import Column, Table


def runs_table(records: Sequence[RunRecord]) -> Table:
    """The runs of a store."""
    return Table(
        "Runs",
        (
            Column("run", right=False),
            Column("state", right=False),
            Column("until", right=False, importance=3),
            Column("judge", right=False),
            Column("setups", right=False),
            Column("questions", importance=4),
            Column("failed"),
            Column("started", right=False, importance=1),
            Column("same inputs", right=False, importance=2),
        ),
        tuple(
            (
                record.run_id,
                record.fate,
                record.until,
                record.judge,
                ", ".join(record.setups),
                str(record.n_questions),
                str(record.n_failed),
                record.started_at,
                record.inputs_id[:8],
            )
            for record in records
        ),
    )
