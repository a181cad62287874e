"""Rows of one record: which keys are there, what they hold, and publishing new ones."""

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import StoreDamagedError, StoreError
from tasks.store.files import is_damage, store_error
from tasks.store.key_index import KeyIndex, carried_columns
from tasks.store.layout import table_of
from tasks.store.parts import Part, PartList

log = logging.getLogger("fourcells.store")

# Above this many files a query pays more for opening files than for reading them.
COMPACT_ABOVE: Final = 200
# Parts of this size are left alone: merging them again would cost memory and writing, and save no files.
LARGE_BYTES: Final = 64_000_000

Row = dict[str, Any]
_UNREADABLE: Final = (OSError, ValueError, pa.ArrowException)


class Rows:
    """All rows of one record. One object serves all threads of a process."""

    def __init__(self, parts: PartList, run_id: str) -> None:
        self.parts = parts
        self.record = parts.record
        self._run_id = run_id
        self._guard = threading.RLock()
        # Of the list that `_live` and `_index` were made from; None makes the next look read all of it anew.
        self._stamp: tuple[int, int, int] | None = None
        self._live: list[Part] = []
        self._index = KeyIndex(self.record)

    def carried(self, keys: Sequence[str]) -> list[Row | None]:
        """For each key the columns that later stages need, or None where there is no row."""
        with self._guard:
            self._refresh()
            return self._index.carried(keys)

    def fetch(self, keys: Iterable[str], columns: Sequence[str] | None = None) -> dict[str, Row]:
        """Read whole rows, by key.

        Raises:
            StoreDamagedError: When a key has no row, or a part turned out to be unreadable. The part is put
                aside by then, and running again computes its rows again.
        """
        wanted = list(dict.fromkeys(keys))
        names = None if columns is None else list(columns)
        found: dict[str, Row] = {}
        for own, table in self._parts_of(wanted, names):
            found.update(zip(own, table.to_pylist(), strict=True))
        return found

    def table(self, keys: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Read some columns of rows, one row for each key, in their order; each key is given once.

        Raises:
            StoreDamagedError: As `fetch` does.
        """
        parts = list(self._parts_of(keys, list(columns)))
        if not parts:
            return self.parts.empty(columns)
        order = {key: number for number, key in enumerate(key for own, _ in parts for key in own)}
        return pa.concat_tables([table for _, table in parts]).take(pa.array([order[key] for key in keys]))

    def _parts_of(self, wanted: Sequence[str], columns: list[str] | None) -> Iterator[tuple[list[str], pa.Table]]:
        """The rows of some keys, part by part, with the keys in the rows' order."""
        if not wanted:
            return
        with self._guard:
            self._refresh()
            places = self._index.places(wanted)
            live = list(self._live)
        by_part: dict[int, list[tuple[int, str]]] = {}
        for key, place in zip(wanted, places, strict=True):
            if place is None:
                raise self._gone(places.count(None))
            by_part.setdefault(place[0], []).append((place[1], key))
        for number, entries in by_part.items():
            entries.sort()
            table = self._read(live[number], columns, [row for row, _ in entries])
            yield [key for _, key in entries], table

    def publish(self, rows: Sequence[Row]) -> int:
        """Save rows durably; rows whose key is there already are dropped, so a key has one row.

        Returns:
            How many were new.
        """
        if not rows:
            return 0
        unique = {row["key"]: row for row in rows}
        made = {"made_by": self._run_id, "made_at": datetime.now(UTC)}
        table = table_of(self.record, [{**row, **made} for row in unique.values()])
        with self._guard, self.parts.locked():
            self._refresh()
            table = table.filter(pa.array([not known for known in self._index.has(list(unique))], pa.bool_()))
            if table.num_rows:
                # An interrupt between these lines must not leave a part that is listed and not looked into.
                self._stamp = None
                self._live.append(self.parts.add(table))
                self._index.add(table.select(carried_columns(self.record)), len(self._live) - 1)
                self._stamp = self.parts.stamp()
            if len(self._live) > COMPACT_ABOVE:
                self._compact()
        return int(table.num_rows)

    def compact(self) -> tuple[int, int]:
        """Merge small parts. Returns the number of parts before and after."""
        with self._guard, self.parts.locked():
            self._refresh()
            before = len(self._live)
            self._compact()
            self.parts.sweep()
            return before, len(self._live)

    def keep_only(self, keys: set[str], *, made_before: datetime) -> int:
        """Drop rows made before a moment whose keys are not among these. Returns how many."""
        dropped = 0
        with self._guard, self.parts.locked():
            self._refresh()
            for part in list(self._live):
                table = self._read(part, None, None)
                made = table.column("made_at").to_pylist()
                names = table.column("key").to_pylist()
                mask = [key in keys or at >= made_before for key, at in zip(names, made, strict=True)]
                if not all(mask):
                    self._stamp = None
                    self.parts.replace(table.filter(pa.array(mask, pa.bool_())), [part])
                    dropped += mask.count(False)
        return dropped

    def count(self) -> int:
        """How many rows there are."""
        with self._guard:
            self._refresh()
            return sum(part.n_rows for part in self._live)

    def sums(self, columns: Sequence[str]) -> list[int]:
        """Each column summed over all rows; NULL adds nothing."""
        with self._guard:
            self._refresh()
            tables = [self._read(part, list(columns), None) for part in self._live]
        return [sum(pc.sum(table.column(name)).as_py() or 0 for table in tables) for name in columns]

    def live_paths(self) -> list[str]:
        """Paths of the live parts, for queries; each was found whole when this process first saw it."""
        with self._guard:
            self._refresh()
            return [str(self.parts.path(part)) for part in self._live]

    def _compact(self) -> None:
        for small in _heaps(self._live):
            # In the order of publishing: rows of one run, which are read together, stay together.
            table = pa.concat_tables([self._read(part, None, None) for part in small])
            self._stamp = None
            self.parts.replace(table, small)
        self._refresh()

    def _read(self, part: Part, columns: list[str] | None, rows: list[int] | None) -> pa.Table:
        try:
            return self.parts.read(part, columns, rows=rows)
        except _UNREADABLE as error:
            _require_damage(error, self.parts.path(part))
            log.warning("%s part %s cannot be read (%s): put into quarantine/", self.record, part.name, error)
            self.parts.retire_broken([part])
            raise StoreDamagedError(
                f"a saved part of {part.n_rows} {self.record} rows could not be read and was put aside",
                where=str(self.parts.path(part)),
                remedy="Run the same command again: its rows are computed again, everything else is reused.",
            ) from error

    def _gone(self, n_rows: int) -> StoreDamagedError:
        return StoreDamagedError(
            f"{n_rows} saved {self.record} rows are no longer there",
            where=str(self.parts.folder),
            remedy="`fourcells run` computes them again; everything else is reused.",
        )

    def _refresh(self) -> None:
        # Taken before the list is read: a part that comes in between is then seen at the next look. Taken
        # after, it would never be seen, and its keys would be published twice.
        stamp = self.parts.stamp()
        if stamp == self._stamp:
            return
        anew, self._stamp = self._stamp is None, None
        while True:
            live = self.parts.live()
            if anew or live[: len(self._live)] != self._live:
                self._live, self._index, anew = [], KeyIndex(self.record), False
            broken = self._load(live[len(self._live) :])
            if not broken:
                break
            self.parts.retire_broken(broken)
            stamp = self.parts.stamp()
        self._stamp = stamp

    def _load(self, fresh: list[Part]) -> list[Part]:
        broken = []
        for part in fresh:
            try:
                table = self.parts.load(part, carried_columns(self.record))
            except _UNREADABLE as error:
                _require_damage(error, self.parts.path(part))
                log.warning(
                    "%s part %s cannot be read (%s): put into quarantine/; its %d rows are computed again when "
                    "they are needed", self.record, part.name, error, part.n_rows,
                )  # fmt: skip
                broken.append(part)
                continue
            self._live.append(part)
            self._index.add(table, len(self._live) - 1)
        return broken


def _require_damage(error: Exception, path: Path) -> None:
    """Let a part be put aside only when it is damaged.

    Raises:
        StoreError: When the machine could not read it now.
    """
    if not is_damage(error):
        problem = store_error(error, path) if isinstance(error, OSError) else StoreError(str(error), where=str(path))
        raise problem from error


def _heaps(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Small parts, in heaps that each make one large part at most."""
    heap: list[Part] = []
    size = 0
    for part in parts:
        if part.n_bytes >= LARGE_BYTES:
            continue
        heap.append(part)
        size += part.n_bytes
        if size >= LARGE_BYTES:
            yield heap
            heap, size = [], 0
    if len(heap) > 1:
        yield heap
