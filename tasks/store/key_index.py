"""Keys of one record in memory: which are there, where their rows lie, and what later stages need of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tasks.store.layout import CARRIED, SCHEMAS


class _Sorted(NamedTuple):
    """Entries by the first half of their key. One value: an interrupt leaves the old one or the new one."""

    high: np.ndarray
    low: np.ndarray
    part: np.ndarray
    row: np.ndarray
    at: np.ndarray
    carried: pa.Table


class KeyIndex:
    """Sorted 64-bit halves of the keys, the place of each row, and the carried columns."""

    def __init__(self, record: str) -> None:
        schema = SCHEMAS[record]
        none = np.empty(0, np.uint64)
        places = np.empty(0, np.int64)
        empty = pa.schema([schema.field(name) for name in carried_columns(record)]).empty_table()
        self._sorted = _Sorted(none, none, places, places, places, empty)
        self._pending: list[tuple[pa.Table, int]] = []

    def add(self, table: pa.Table, part: int) -> None:
        """Take in the keys and carried columns of a part, given by its number."""
        self._pending.append((table, part))

    def has(self, keys: Sequence[str]) -> list[bool]:
        """Whether each key has a row."""
        found: list[bool] = (self._find(keys) >= 0).tolist()
        return found

    def carried(self, keys: Sequence[str]) -> list[dict[str, Any] | None]:
        """The carried columns of each key's row, None where there is no row."""
        positions = self._find(keys)
        found = np.flatnonzero(positions >= 0)
        rows: list[dict[str, Any] | None] = [None] * len(keys)
        if len(found):
            taken = self._sorted.carried.take(pa.array(self._sorted.at[positions[found]]))
            for place, row in zip(found.tolist(), taken.to_pylist(), strict=True):
                rows[place] = row
        return rows

    def places(self, keys: Sequence[str]) -> list[tuple[int, int] | None]:
        """Part number and row within it, for each key."""
        positions = self._find(keys)
        part, row = self._sorted.part[positions], self._sorted.row[positions]
        return [
            place if position >= 0 else None
            for position, place in zip(positions.tolist(), zip(part.tolist(), row.tolist(), strict=True), strict=True)
        ]

    def _find(self, keys: Sequence[str]) -> np.ndarray:
        self._settle()
        high, low = _halves(keys)
        known = self._sorted
        if not len(known.high):
            return np.full(len(keys), -1, np.int64)
        last = len(known.high) - 1
        position = np.minimum(np.searchsorted(known.high, high), last)
        while True:
            near = known.high[position] == high
            hit = near & (known.low[position] == low)
            # Keys that share their first half stand side by side: look at the next one.
            further = near & ~hit & (position < last)
            if not further.any():
                return np.where(hit, position, -1)
            position = position + further

    def _settle(self) -> None:
        if not self._pending:
            return
        known = self._sorted
        base = known.carried.num_rows
        highs, lows, parts, rows, ats = [known.high], [known.low], [known.part], [known.row], [known.at]
        tables = [known.carried]
        for table, part in self._pending:
            size = table.num_rows
            high, low = _halves(table.column("key").to_pylist())
            highs.append(high)
            lows.append(low)
            parts.append(np.full(size, part, np.int64))
            rows.append(np.arange(size))
            ats.append(np.arange(base, base + size))
            tables.append(table)
            base += size
        high = np.concatenate(highs)
        order = np.argsort(high, kind="stable")
        self._sorted = _Sorted(
            high[order],
            np.concatenate(lows)[order],
            np.concatenate(parts)[order],
            np.concatenate(rows)[order],
            np.concatenate(ats)[order],
            pa.concat_tables(tables).combine_chunks(),
        )
        self._pending = []


def carried_columns(record: str) -> list[str]:
    """The columns that an index holds in memory."""
    return ["key", *CARRIED[record]]


def _halves(keys: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The 128-bit keys as two arrays of 64 bits."""
    both = np.frombuffer(bytes.fromhex("".join(keys)), dtype=">u8").astype(np.uint64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()
