"""The live parts of one record: Parquet files, and the one small list that says which of them count."""

import json
import logging
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from schemas.errors import StoreError
from tasks.store.files import store_error, write_whole
from tasks.store.layout import SCHEMAS

log = logging.getLogger("fourcells.store")

KEEP_RETIRED_S: Final = 86_400.0
_LOCK_PATIENCE_S: Final = 120.0
# One row group is what has to be read to fetch a single row.
_GROUP_ROWS: Final = 1_000
_GROUP_BYTES: Final = 2_000_000
_BLOCK_BYTES: Final = 1 << 20
# No statistics: they would repeat whole texts, and keys are hashes, of which no range can be skipped.
PARQUET: Final[dict[str, Any]] = {"compression": "zstd", "write_page_checksum": True, "write_statistics": False}


@dataclass(frozen=True)
class Part:
    """One live file: its name (hex only), rows, and size and checksum, by which a damaged file is noticed."""

    name: str
    n_rows: int
    n_bytes: int
    crc32: int


class PartList:
    """The live parts of one record in one folder.

    Args:
        folder: Holds the parts and their list.
        record: Whose columns the parts have.
        quarantine: Where a part that cannot be read is moved.
    """

    def __init__(self, folder: Path, record: str, quarantine: Path) -> None:
        self.folder = folder
        self.record = record
        self._quarantine = quarantine
        self._list = folder / "parts.json"
        # One object: it may be taken again by the thread that holds it.
        self._lock = FileLock(folder / "lock", timeout=_LOCK_PATIENCE_S)

    def stamp(self) -> tuple[int, int, int]:
        """Changes whenever the list does."""
        try:
            stat = self._list.stat()
        except FileNotFoundError:
            return (0, 0, 0)
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def live(self) -> list[Part]:
        """Read the list; parts that are gone, cut off or foreign are put aside with a warning."""
        parts = self._read()["parts"]
        broken = [part for part in parts if (problem := self._problem(part)) and self._warn(part, problem)]
        if broken:
            self.retire_broken(broken)
        return [part for part in parts if part not in broken]

    def path(self, part: Part) -> Path:
        """Where a part lies."""
        return self.folder / f"{part.name}.parquet"

    def add(self, table: pa.Table) -> Part:
        """Write a table as a new live part. Call it inside `locked()`.

        Raises:
            StoreError: When the disk is full; nothing is left behind then.
        """
        part = self._write(table)
        try:
            state = self._read()
            self._save([*state["parts"], part], state["retired"])
        except StoreError:
            # On a full disk an unlisted part would only take room.
            self.path(part).unlink(missing_ok=True)
            raise
        return part

    def replace(self, table: pa.Table, old: Iterable[Part]) -> None:
        """Put one part (or none, for no rows) in the place of old ones, whose files stay for a day.

        Readers that read the list before still find their files. Call it inside `locked()`.
        """
        gone = set(old)
        new = [self._write(table)] if table.num_rows else []
        state = self._read()
        now = time.time()
        retired = [*state["retired"], *({"name": part.name, "at": now} for part in gone)]
        self._save([*(part for part in state["parts"] if part not in gone), *new], retired)

    def sweep(self, *, older_than_s: float = KEEP_RETIRED_S) -> int:
        """Delete parts replaced longer ago than that, and what a killed process left. Call it inside `locked()`.

        Returns:
            How many replaced parts were deleted.
        """
        state = self._read()
        limit = time.time() - older_than_s
        old = [entry for entry in state["retired"] if entry["at"] <= limit]
        kept = [entry for entry in state["retired"] if entry["at"] > limit]
        for entry in old:
            (self.folder / f"{entry['name']}.parquet").unlink(missing_ok=True)
        if old:
            self._save(state["parts"], kept)
        known = {self.path(part) for part in state["parts"]}
        known |= {self.folder / f"{entry['name']}.parquet" for entry in kept}
        for leftover in {*self.folder.glob(".*.tmp"), *self.folder.glob("*.parquet")} - known:
            if leftover.stat().st_mtime <= limit:
                leftover.unlink(missing_ok=True)
        return len(old)

    def load(self, part: Part, columns: list[str]) -> pa.Table:
        """Check a part whole, once, and read some of its columns.

        Raises:
            OSError: When the file cannot be read (pyarrow's errors are among these).
            ValueError: When it is not the file that was written.
        """
        checksum = 0
        path = self.path(part)
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                checksum = zlib.crc32(block, checksum)
        if checksum != part.crc32:
            msg = "its bytes are not the ones that were written"
            raise ValueError(msg)
        with pq.ParquetFile(path) as content:
            if not content.schema_arrow.equals(SCHEMAS[self.record]):
                msg = f"its columns are not those of a {self.record}"
                raise ValueError(msg)
            return content.read(columns)

    def read(self, part: Part, columns: list[str] | None = None, *, rows: list[int] | None = None) -> pa.Table:
        """Read a part, or some of its rows (positions in ascending order).

        Raises:
            OSError: When the file cannot be read (pyarrow's errors are among these).
            ValueError: When it is no Parquet file.
        """
        with pq.ParquetFile(self.path(part), page_checksum_verification=True) as file:
            if rows is None:
                return file.read(columns)
            groups, within, base = [], [], 0
            wanted = iter(rows)
            row = next(wanted, None)
            taken = 0
            for number in range(file.num_row_groups):
                size = file.metadata.row_group(number).num_rows
                if row is not None and row < base + size:
                    groups.append(number)
                    while row is not None and row < base + size:
                        within.append(taken + row - base)
                        row = next(wanted, None)
                    taken += size
                base += size
            return file.read_row_groups(groups, columns).take(pa.array(within, pa.int64()))

    def empty(self, columns: Sequence[str]) -> pa.Table:
        """No rows, in those columns (`a` or `a.list.element.b`)."""
        return SCHEMAS[self.record].empty_table().select(list(dict.fromkeys(name.split(".")[0] for name in columns)))

    def retire_broken(self, broken: Iterable[Part]) -> None:
        """Move parts that cannot be read to the quarantine and strike them off the list.

        Raises:
            StoreError: When the store cannot be written.
        """
        with self.locked():
            state = self._read()
            gone = set(broken)
            for part in gone:
                try:
                    self._quarantine.mkdir(parents=True, exist_ok=True)
                    self.path(part).replace(self._quarantine / f"{self.record}-{part.name}.parquet")
                except FileNotFoundError:
                    continue
                except OSError as error:
                    problem = store_error(error, self._quarantine)
                    raise problem from error
            self._save([part for part in state["parts"] if part not in gone], state["retired"])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the record's lock, over all processes that use this store.

        Raises:
            StoreError: When another process does not let go of it, or the store cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except TimeoutError as error:
            message = "another fourcells process holds this store's lock for over two minutes"
            raise StoreError(message, where=str(self.folder), remedy="Wait for it, or stop it.") from error
        except OSError as error:
            problem = store_error(error, self.folder)
            raise problem from error
        try:
            yield
        finally:
            self._lock.release()

    def _write(self, table: pa.Table) -> Part:
        sink = BytesIO()
        fitting = _GROUP_BYTES * table.num_rows // max(table.nbytes, 1)
        pq.write_table(table, sink, row_group_size=min(max(fitting, 1), _GROUP_ROWS), **PARQUET)
        content = sink.getvalue()
        name = secrets.token_hex(16)
        write_whole(self.folder / f"{name}.parquet", content)
        return Part(name, table.num_rows, len(content), zlib.crc32(content))

    def _read(self) -> dict[str, Any]:
        try:
            raw = json.loads(self._list.read_bytes())
            parts = [Part(**entry) for entry in raw["parts"]]
            return {"parts": parts, "retired": list(raw["retired"])}
        except FileNotFoundError:
            return {"parts": [], "retired": []}
        except (ValueError, KeyError, TypeError) as error:
            message = "the list of parts cannot be read"
            remedy = "Restore this file from a backup, or delete this folder: its rows are then computed again."
            raise StoreError(message, where=str(self._list), remedy=remedy) from error

    def _save(self, parts: list[Part], retired: list[dict[str, Any]]) -> None:
        entries = [asdict(part) for part in parts]
        write_whole(self._list, json.dumps({"parts": entries, "retired": retired}).encode())

    def _problem(self, part: Part) -> str:
        try:
            n_bytes = self.path(part).stat().st_size
        except FileNotFoundError:
            return "is gone"
        return "" if n_bytes == part.n_bytes else f"has {n_bytes} bytes instead of {part.n_bytes}"

    def _warn(self, part: Part, problem: str) -> bool:
        log.warning(
            "%s part %s %s: put into quarantine/; its %d rows are computed again when they are needed",
            self.record, part.name, problem, part.n_rows,
        )  # fmt: skip
        return True
