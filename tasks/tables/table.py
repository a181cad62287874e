"""Tables of text, and the forms in which they are printed."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Final, Literal

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from tasks.text.visible import one_line, visible

Form = Literal["text", "markdown", "csv", "json"]
# A heading breaks over so many lines before a column takes more width than its numbers need.
_HEADING_WIDTH: Final = 10
# What rich puts between two columns of this style.
_GAP: Final = 2
# A left column may be wrapped down to this width, or to its longest word.
_WRAPPED: Final = 16


@dataclass(frozen=True)
class Column:
    """A column. `importance` decides what is left out first where the width is short; 0 is never left out."""

    heading: str
    importance: int = 0
    right: bool = True


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of ready text; None is printed as a dash.

    Attributes:
        below: Lines under the table.
        n_labels: In a terminal, a row whose later columns are long is printed as a line of its first
            `n_labels` cells with the others under it; 0 prints an ordinary table.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    below: tuple[str, ...] = field(default=())
    n_labels: int = 0


def to_markdown(tables: Sequence[Table]) -> str:
    """All columns of all tables, as GitHub's Markdown."""
    parts = []
    for table in tables:
        lines = [f"## {table.title}", ""]
        if table.rows:
            lines.append(_row([column.heading for column in table.columns]))
            lines.append(_row(["---:" if column.right else ":---" for column in table.columns]))
            lines.extend(_row([cell if cell is not None else "-" for cell in row]) for row in table.rows)
        lines.extend(["", *table.below] if table.below else [])
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _row(cells: Sequence[str]) -> str:
    escaped = (one_line(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return "| " + " | ".join(escaped) + " |"


def to_csv(table: Table) -> str:
    """One table; a missing value is empty."""
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([column.heading for column in table.columns])
    writer.writerows([_safe(cell or "") for cell in row] for row in table.rows)
    return sink.getvalue()


def _safe(cell: str) -> str:
    # A spreadsheet would run a cell that begins like a formula; numbers keep their sign.
    risky = cell[:1] in {"=", "@", "\t"} or (cell[:1] in {"+", "-"} and not cell[1:2].isdigit())
    return "'" + visible(cell) if risky else visible(cell)


def print_tables(console: Console, tables: Sequence[Table]) -> None:
    """Print tables to a terminal, leaving out the least important columns where it is too narrow."""
    for table in tables:
        if table.title:
            console.print(Text(table.title, style="bold"))
        if table.n_labels:
            _print_stacked(console, table)
        elif table.rows:
            fitting, left_out = fit(table, console.width)
            console.print(_rich(fitting, console.width))
            if left_out:
                names = ", ".join(left_out)
                console.print(Text(f"left out for width: {names}; a wider terminal or --format markdown shows all"))
        for line in table.below:
            console.print(Text(visible(line)))
        console.print()


def fit(table: Table, width: int) -> tuple[Table, list[str]]:
    """Leave out columns, the least important first, until the table fits.

    Returns:
        The table, and the headings left out.
    """
    kept = list(range(len(table.columns)))
    while sum(_width(table, i) + _GAP for i in kept) - _GAP > width:
        droppable = [i for i in kept if table.columns[i].importance]
        if not droppable:
            break
        kept.remove(max(droppable, key=lambda i: table.columns[i].importance))
    left_out = [column.heading for i, column in enumerate(table.columns) if i not in kept]
    columns = tuple(table.columns[i] for i in kept)
    rows = tuple(tuple(row[i] for i in kept) for row in table.rows)
    return Table(table.title, columns, rows, table.below), left_out


def _width(table: Table, position: int) -> int:
    column = table.columns[position]
    longest = max((len(one_line(row[position] or "-")) for row in table.rows), default=0)
    words = max(len(word) for word in column.heading.split())
    if not column.right:
        unbroken = max((len(word) for row in table.rows for word in one_line(row[position] or "-").split()), default=0)
        return max(min(longest, _WRAPPED), unbroken, words)
    return max(longest, words, min(_HEADING_WIDTH, len(column.heading)))


def _print_stacked(console: Console, table: Table) -> None:
    for row in table.rows:
        console.print(Text("  ".join(one_line(cell or "-") for cell in row[: table.n_labels]), style="cyan"))
        for column, cell in zip(table.columns[table.n_labels :], row[table.n_labels :], strict=True):
            if cell:
                console.print(Padding(Text(f"{column.heading}: {one_line(cell)}"), (0, 0, 0, 4)))


def _rich(table: Table, width: int) -> RichTable:
    # Widths are given, since rich would rather cut a number than wrap a text.
    rich = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for column, wide in zip(table.columns, _widths(table, width), strict=True):
        rich.add_column(
            Text(column.heading, overflow="fold"),
            justify="right" if column.right else "left",
            width=wide,
            overflow="fold",
        )
    for row in table.rows:
        rich.add_row(*(Text(one_line(cell) if cell is not None else "-") for cell in row))
    return rich


def _widths(table: Table, width: int) -> list[int]:
    """Numbers take what they need; texts share the rest, the widest giving way first."""
    least = [_width(table, position) for position in range(len(table.columns))]
    widths = [
        small if column.right else max(small, *(len(one_line(row[position] or "-")) for row in table.rows))
        for position, (column, small) in enumerate(zip(table.columns, least, strict=True))
    ]
    room = width - _GAP * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda position: widths[position] - least[position])
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
    return widths
