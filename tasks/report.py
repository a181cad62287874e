"""The report: the numbers of a comparison as tables a person reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks.compare import Comparison
from tasks.summary import summarize
from tasks.tables.cells import cell_table, threshold_table
from tasks.tables.claims import unsupported_table, verdict_table
from tasks.tables.compared import count_table, main_table
from tasks.tables.costs import cost_table
from tasks.tables.ledger import ledger_table
from tasks.tables.table import Table

_MOST_SHOWN: Final = 10


def report_tables(comparison: Comparison, *, title: str = "Setups compared") -> list[Table]:
    """The whole report as tables, in reading order."""
    summary = summarize(comparison)
    tables = [main_table(comparison, summary, title), count_table(comparison, summary)]
    if any(setup["cells"] for setup in summary["setups"].values()):
        tables += [cell_table(comparison), threshold_table(comparison)]
    if any(setup["took"] for setup in summary["setups"].values()):
        tables.append(cost_table(summary))
    tables.append(ledger_table(summary))
    comparison.database.run("claims")
    unsupported = comparison.database.run("unsupported")
    if unsupported:
        more = len(unsupported) - _MOST_SHOWN
        below = (f"{more} more: fourcells unsupported",) if more > 0 else ()
        tables.append(unsupported_table(_spread(unsupported), below=below))
    verdicts = comparison.database.run("verdicts_to_read")
    if verdicts:
        tables.append(verdict_table(verdicts))
    return tables


def _spread(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first rows of every setup in turn, so that none fills the list alone."""
    turns: Counter[str] = Counter()
    turned = []
    for row in rows:
        turned.append((turns[row["setup"]], row))
        turns[row["setup"]] += 1
    return [row for turn, row in sorted(turned, key=lambda pair: pair[0])][:_MOST_SHOWN]
