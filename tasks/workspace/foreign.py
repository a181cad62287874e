"""Rows of a file that somebody else wrote: JSONL, JSON, CSV or Parquet, read whole before anything is done."""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.errors import InputError
from tasks.workspace.settings import parse_json, read_text


class ForeignRow(NamedTuple):
    """A row, and the file and line it came from."""

    where: str
    fields: Mapping[str, Any]


def read_rows(path: Path) -> list[ForeignRow]:
    """Read all rows; the file's ending says how.

    Raises:
        InputError: When there is no such file, its ending is unknown, it is not UTF-8, a line cannot be read, a
            row is no object, or there is no row.
    """
    if not path.is_file():
        problem = "there is no such file"
        raise InputError(problem, where=str(path))
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        problem = f"the ending {path.suffix!r} says nothing about how to read this file"
        raise InputError(problem, where=str(path), allowed=", ".join(_READERS))
    rows = list(reader(path))
    if not rows:
        problem = "there is no row in it"
        raise InputError(problem, where=str(path))
    return rows


def columns_of(rows: list[ForeignRow]) -> list[str]:
    """Names of all columns, in the order of first appearance.

    >>> columns_of([ForeignRow("line 1", {"a": 1}), ForeignRow("line 2", {"b": 1, "a": 2})])
    ['a', 'b']
    """
    return list(dict.fromkeys(name for row in rows for name in row.fields))


def _read_jsonl(path: Path) -> Iterator[ForeignRow]:
    # Not splitlines(): it also breaks at U+2028 and others that may stand inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            where = f"{path} line {number}"
            yield ForeignRow(where, _object(parse_json(line, where=where), where))


def _read_json(path: Path) -> Iterator[ForeignRow]:
    data = parse_json(read_text(path), where=str(path))
    if not isinstance(data, list):
        problem = f"expected a list of objects, got {_kind(data)}"
        remedy = "Write [{...}, {...}], or one object per line in a .jsonl file."
        raise InputError(problem, where=str(path), remedy=remedy)
    for number, entry in enumerate(data, start=1):
        where = f"{path} row {number}"
        yield ForeignRow(where, _object(entry, where))


def _read_csv(path: Path) -> Iterator[ForeignRow]:
    # A cell may hold five whole passages; Python's own limit is 128 KB.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    text = read_text(path)
    first_line = text.split("\n", 1)[0]
    # Spreadsheets of many countries write ";"; column names hold none of the three.
    reader = csv.reader(StringIO(text, newline=""), delimiter=max(",;\t", key=first_line.count), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if twice := [name for name in header if header.count(name) > 1]:
            problem = f"column {twice[0]!r} is there twice"
            raise InputError(problem, where=f"{path} line 1", remedy="Give one of them another name.")
        before = reader.line_num
        for cells in reader:
            where, before = f"{path} line {before + 1}", reader.line_num
            if not any(cells):
                continue
            if len(cells) != len(header):
                problem = f"{len(cells)} cells under {len(header)} column names"
                remedy = 'Put cells that hold the delimiter or a line break in double quotes, and write " as "".'
                raise InputError(problem, where=where, remedy=remedy)
            yield ForeignRow(where, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        problem = f"not valid CSV: {error}"
        raise InputError(problem, where=f"{path} line {reader.line_num}") from None


def _read_parquet(path: Path) -> Iterator[ForeignRow]:
    # Imported here: pyarrow is heavy, and only Parquet needs it.
    from tasks.store.tabular import read_parquet_rows  # noqa: PLC0415

    for number, fields in enumerate(read_parquet_rows(path), start=1):
        yield ForeignRow(f"{path} row {number}", fields)


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        problem = f"expected an object with named values, got {_kind(value)}"
        raise InputError(problem, where=where)
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


_READERS: Final[Mapping[str, Callable[[Path], Iterator[ForeignRow]]]] = {
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}
