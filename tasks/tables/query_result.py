"""The result of a query, as records and as a table of text."""

import json
from typing import Any

from tasks.store.database import QueryResult
from tasks.tables.table import Column, Table


def as_records(result: QueryResult) -> list[dict[str, Any]]:
    """Rows as JSON-ready objects; of two columns with one name the later keeps it."""
    return [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows()]


def as_table(result: QueryResult) -> Table:
    """Rows as text: fractions with four digits, lists and records as JSON, NULL as a missing value."""
    rows = result.rows()
    numeric = [
        all(isinstance(row[i], int | float) and not isinstance(row[i], bool) for row in rows if row[i] is not None)
        for i in range(len(result.columns))
    ]
    columns = tuple(Column(name, right=right) for name, right in zip(result.columns, numeric, strict=True))
    below = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    return Table("", columns, tuple(tuple(map(_text, row)) for row in rows), (below,))


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, list | dict | tuple):
        return json.dumps(_plain(value), ensure_ascii=False)
    return str(value)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, int | float | str | None) else str(value)
