"""Parquet files that somebody else wrote or will read."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import InputError


def read_parquet_rows(path: Path) -> list[dict[str, Any]]:
    """Read all rows as mappings of plain Python values.

    Raises:
        InputError: When the file cannot be read, is no Parquet file, or names a column twice.
    """
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            table = file.read()
    except (OSError, ValueError, pa.ArrowException) as error:
        problem = f"not a readable Parquet file: {str(error).splitlines()[0]}"
        raise InputError(problem, where=str(path)) from None
    if twice := [name for name in names if names.count(name) > 1]:
        problem = f"column {twice[0]!r} is there twice"
        raise InputError(problem, where=str(path), remedy="Give one of them another name.")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as the content of a Parquet file."""
    sink = BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()
