"""Upkeep of a store: how large it is, fewer files, and dropping what nobody refers to."""

import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import FileLock

from schemas.errors import StoreDamagedError, StoreError
from tasks.store.files import store_error
from tasks.store.rows import Rows
from tasks.store.runs import STEPS, RunFolder, RunRecord, list_runs
from tasks.store.store import Store

_DOOMED: Final = ".deleted-"
_UNREADABLE: Final = "this run cannot be read, so nobody can say which rows it needs"
_REMEDY: Final = "Restore it from a backup, or delete its folder if you can do without it."


class Size(NamedTuple):
    """What one room of the store holds. `n_rows` and `n_parts` are None where there are no rows."""

    room: str
    n_rows: int | None
    n_parts: int | None
    n_bytes: int


def sizes(store: Store) -> list[Size]:
    """The size of each record's rows, of the indexes, the runs, the journal, and what was put aside.

    Bytes of rows include replaced parts, which stay for a day.
    """
    found = []
    for record in store.records():
        rows = store.rows(record)
        found.append(Size(record, rows.count(), len(rows.live_paths()), _bytes_under(rows.parts.folder)))
    rooms = (store.index_folder, store.runs_folder, store.journal_folder, store.root / "quarantine")
    return [*found, *(Size(room.name, None, None, _bytes_under(room)) for room in rooms)]


def compact(store: Store) -> dict[str, tuple[int, int]]:
    """Merge every record's parts into one; gives the number of parts before and after, by record."""
    return {record: store.rows(record).compact() for record in store.records()}


def all_runs(store: Store) -> list[RunRecord]:
    """All runs, oldest first.

    Raises:
        StoreError: When one cannot be read, since nobody can say then which rows it needs.
    """
    records = list_runs(store.runs_folder)
    known = {record.run_id for record in records}
    for folder in sorted(store.runs_folder.glob("*")):
        if folder.is_dir() and folder.name not in known:
            raise StoreError(_UNREADABLE, where=str(folder), remedy=_REMEDY)
    return records


def referred_keys(folder: RunFolder) -> dict[str, set[str]]:
    """Keys that a run's manifest, questions and documents name, by record.

    Raises:
        StoreError: When one of its files cannot be read.
    """
    try:
        manifest = folder.manifest()
        keys = {step: set(manifest.column(f"{step}_key").drop_null().to_pylist()) for step in STEPS}
        asked = set(folder.asked_keys())
        documents = {document.document_key for document in folder.plan().documents}
    except (OSError, ValueError, KeyError, pa.ArrowException, StoreDamagedError) as error:
        raise StoreError(_UNREADABLE, where=str(folder.folder), remedy=_REMEDY) from error
    return {**keys, "question": asked, "key_point": asked, "document": documents}


def named_documents(store: Store, kept: Mapping[str, Collection[str]]) -> set[str]:
    """Keys of the documents that kept rankings and contexts take their texts from.

    They may be older than the corpus of any kept run: an edit that changes no chunk changes no ranking.
    """
    found: set[str] = set()
    for record in ("ranking", "context"):
        names = pa.array(sorted(kept[record]), pa.string())
        for path in store.rows(record).live_paths():
            table = pq.read_table(path, columns=["key", "passages"])
            passages = table.filter(pc.is_in(table.column("key"), value_set=names)).column("passages")
            for chunk in passages.chunks:
                found.update(chunk.flatten().field("document_key").drop_null().unique().to_pylist())
    return found


class Loose(NamedTuple):
    """Rows of a record that may go, of how many, and about how many bytes they take."""

    record: str
    n_loose: int
    n_rows: int
    n_bytes: int


def loose_rows(store: Store, kept: Mapping[str, Collection[str]], *, made_before: datetime) -> list[Loose]:
    """Count the rows whose keys are not among those kept and that were made before a moment.

    Raises:
        StoreDamagedError: When a part turned out to be unreadable; it is put aside by then.
    """
    found = []
    for record in store.records():
        rows = store.rows(record)
        n_rows, paths = rows.count(), rows.live_paths()
        n_loose = sum(_count_loose(path, kept[record], made_before) for path in paths)
        n_bytes = sum(Path(path).stat().st_size for path in paths)
        found.append(Loose(record, n_loose, n_rows, n_bytes * n_loose // n_rows if n_rows else 0))
    return found


def _count_loose(path: str, kept: Collection[str], made_before: datetime) -> int:
    try:
        table = pq.read_table(path, columns=["key", "made_at"])
    except (OSError, ValueError, pa.ArrowException) as error:
        problem = f"a saved part cannot be read: {str(error).splitlines()[0]}"
        raise StoreDamagedError(problem, where=path, remedy="Run the same command again.") from error
    pairs = zip(table.column("key").to_pylist(), table.column("made_at").to_pylist(), strict=True)
    return sum(key not in kept and made_at < made_before for key, made_at in pairs)


def drop_rows(rows: Rows, kept: Collection[str], *, made_before: datetime) -> int:
    """Drop a record's loose rows; the space comes back when the replaced parts are a day old."""
    return rows.keep_only(set(kept), made_before=made_before)


def loose_indexes(store: Store, kept: Collection[str], *, made_before: datetime) -> list[Path]:
    """Index folders whose key is not among those kept and that were made before a moment."""
    folders = (path for path in sorted(store.index_folder.glob("*")) if path.is_dir())
    return [path for path in folders if path.name not in kept and path.stat().st_mtime < made_before.timestamp()]


def drop_folders(store: Store, paths: Sequence[Path]) -> None:
    """Delete folders of indexes or of runs, and what an interrupted deletion left behind.

    Raises:
        StoreError: When one cannot be deleted.
    """
    _delete(store, paths)


def _delete(store: Store, paths: Sequence[Path]) -> None:
    try:
        store.index_folder.mkdir(parents=True, exist_ok=True)
        # The lock under which indexes are built.
        with FileLock(store.index_folder / "lock"):
            for path in paths:
                # Moved away first: what is deleted in part must not be taken for whole.
                path.rename(store.root / f"{_DOOMED}{secrets.token_hex(8)}")
        for doomed in store.root.glob(f"{_DOOMED}*"):
            shutil.rmtree(doomed)
    except OSError as error:
        raise store_error(error, store.root) from error


def bytes_of(paths: Sequence[Path]) -> int:
    """Bytes in all files under these folders."""
    return sum(_bytes_under(path) for path in paths)


def _bytes_under(folder: Path) -> int:
    return sum(size for path in folder.rglob("*") for size in _file_size(path))


def _file_size(path: Path) -> Iterator[int]:
    try:
        if path.is_file():
            yield path.stat().st_size
    except FileNotFoundError:
        return  # another process has just replaced it
