"""One folder of diskcache as a typed map from text to bytes: nothing evicted, nothing pickled, nothing swallowed."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import diskcache

from schemas.errors import StoreError
from tasks.store.files import store_error, sync

_HUGE: Final = 2**62
_SETTINGS: Final[dict[str, Any]] = {
    # By default the oldest entries are deleted without a word when a gigabyte is full.
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": _HUGE,
    "statistics": 0,
    "sqlite_synchronous": 1,
    # Everything inside SQLite: its commit is the one moment at which an entry is there.
    "disk_min_file_size": _HUGE,
}
_RAW: Final = 1
_MODE: Final = 0o700
_RESULT = TypeVar("_RESULT")


class HeldError(StoreError):
    """Another process, or thread, holds the database longer than the caller would wait."""


class Transaction(Protocol):
    """What of diskcache.Cache is used inside a transaction."""

    def get(self, key: str) -> bytes | None:
        """The value, None where there is none or it has expired."""
        ...

    def set(self, key: str, value: bytes, expire: float | None = None) -> bool:
        """Put a value, for so many seconds."""
        ...

    def add(self, key: str, value: bytes, expire: float | None = None) -> bool:
        """Put a value where there is none; whether that was so."""
        ...

    def delete(self, key: str) -> bool:
        """Take a value away; whether there was one."""
        ...

    def iterkeys(self) -> Iterator[str]:
        """All keys in order, expired ones included."""
        ...

    def expire(self) -> int:
        """Delete what has expired."""
        ...


class PlainDisk(diskcache.Disk):  # type: ignore[misc]
    """Stores str, bytes, int and float as they are, and refuses everything else in both directions.

    diskcache unpickles what it finds (CVE-2025-69872): whoever can write the file could run code here.
    """

    def put(self, key: object) -> tuple[str, bool]:
        """Take a text as key.

        Raises:
            TypeError: For any other key.
        """
        if type(key) is not str:
            msg = f"a key of the journal is a str, not {type(key).__name__}"
            raise TypeError(msg)
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Give a key back.

        Raises:
            StoreError: For a key that was not stored as text.
        """
        if not raw or not isinstance(key, str):
            problem = _foreign(self._directory)
            raise problem
        return key

    def store(self, value: object, read: object, key: object = diskcache.UNKNOWN) -> tuple[object, ...]:
        """Take a plain value.

        Raises:
            TypeError: For a value that would have to be pickled, or a file.
        """
        if read or type(value) not in {str, bytes, int, float}:
            msg = f"the journal holds str, bytes, int and float, not {type(value).__name__} ({key})"
            raise TypeError(msg)
        stored: tuple[object, ...] = super().store(value, read, key=key)
        return stored

    def fetch(self, mode: object, filename: object, value: object, read: object) -> object:
        """Give a value back.

        Raises:
            StoreError: For a value that was pickled or lies in a file of its own: we never wrote it.
        """
        if mode != _RAW or filename is not None or read:
            problem = _foreign(self._directory)
            raise problem
        return bytes(value) if isinstance(value, memoryview) else value


class _Cache(diskcache.Cache):  # type: ignore[misc]
    """Opens without waiting for the disk, since opening writes two dozen settings; what is kept later waits."""

    _waits = False

    @property
    def _con(self) -> sqlite3.Connection:
        known = getattr(self._local, "con", None)
        connection: sqlite3.Connection = super()._con
        if self._waits and connection is not known:
            connection.execute("PRAGMA synchronous = FULL")
        return connection

    def wait_for_disk(self) -> None:
        """From now on a commit returns when it would outlive a power cut."""
        self.close()
        self._waits = True


class Entries:
    """A map that many threads and processes share. Its folder is made by the first write.

    Args:
        root: Holds the folder; nobody but the owner may enter either.
        name: Of the folder, which holds the database.
        durable: Whether a write waits for the disk, so that it outlives a power cut, or only a killed process.
        patience_s: Seconds to wait for another process that holds the database.
        look_s: SQLite's own wait within it: the longest that a caller without patience is held up.
    """

    def __init__(self, root: Path, name: str, *, durable: bool, patience_s: float = 60.0, look_s: float = 1.0) -> None:
        self.folder = root / name
        self._durable = durable
        self._patience_s = patience_s
        self._look_s = look_s
        self._guard = threading.RLock()
        self._cache: Any = None

    def get(self, key: str) -> bytes | None:
        """The value of a key, None where there is none or it has expired.

        Raises:
            StoreError: When the database cannot be read.
        """
        if not self._exists():
            return None
        value: bytes | None = self._insist(lambda cache: cache.get(key), self._patience_s)
        return value

    def keys(self) -> list[str]:
        """All keys in order, expired ones included.

        Raises:
            StoreError: As above.
        """
        return self._insist(lambda cache: list(cache.iterkeys()), self._patience_s) if self._exists() else []

    def write(self, action: Callable[[Transaction], _RESULT], *, patience_s: float | None = None) -> _RESULT:
        """Do something to the diskcache.Cache in one transaction: all of it is there afterwards, or nothing.

        One writer a process at a time: SQLite lets writers sleep and try again, a lock wakes the next at once.

        Args:
            action: What to do.
            patience_s: Instead of that of all; 0 looks once.

        Raises:
            HeldError: When somebody else holds it longer.
            StoreError: When the disk is full, or the database is damaged.
        """
        patience_s = self._patience_s if patience_s is None else patience_s

        def transact(cache: Transaction) -> _RESULT:
            with self._cache.transact():
                return action(cache)

        if not self._guard.acquire(timeout=patience_s):
            problem = _held(self.folder, patience_s)
            raise problem
        try:
            return self._insist(transact, patience_s)
        finally:
            self._guard.release()

    def prepare(self) -> None:
        """Make the folder, for its owner only.

        Raises:
            StoreError: When it cannot be made.
        """
        try:
            for folder in (self.folder.parent, self.folder):
                if not folder.is_dir():
                    folder.mkdir(mode=_MODE, parents=True, exist_ok=True)
                    sync(folder.parent)
        except OSError as error:
            problem = store_error(error, self.folder)
            raise problem from error

    def close(self) -> None:
        """Close this thread's connection; those of other threads close when their threads end."""
        with self._guard:
            if self._cache is not None:
                self._cache.close()

    def _exists(self) -> bool:
        return self._cache is not None or (self.folder / diskcache.core.DBNAME).exists()

    def _insist(self, action: Callable[[Transaction], _RESULT], patience_s: float) -> _RESULT:
        """Repeat while another process holds the database, up to our patience; everything else is said at once."""
        started = time.monotonic()
        while True:
            try:
                return action(self._opened())
            except (diskcache.Timeout, sqlite3.Error, OSError) as error:
                # A failed COMMIT leaves its transaction open, and every later one would fail on this connection.
                self._drop_connection()
                # diskcache calls everything a time-out that BEGIN met; what it was is in the context.
                cause = error.__context__ if isinstance(error, diskcache.Timeout) else error
                if not _is_busy(cause):
                    problem = _said(cause, self.folder)
                    raise problem from error
                if time.monotonic() - started > patience_s:
                    problem = _held(self.folder, patience_s)
                    raise problem from error

    def _opened(self) -> Transaction:
        if self._cache is None:
            with self._guard:
                if self._cache is None:
                    self._cache = self._open()
        cache: Transaction = self._cache
        return cache

    def _open(self) -> object:
        place = str(self.folder.absolute())
        if os.path.expandvars(place) != place:
            # diskcache would put the variable's value in and write somewhere else.
            raise StoreError(
                "the journal cannot lie in a folder whose name reads like an environment variable",
                where=place,
                remedy="Rename the folder, or name another workspace with --workspace.",
            )
        self.prepare()
        cache = _Cache(place, timeout=min(self._look_s, self._patience_s), disk=PlainDisk, **_SETTINGS)
        if self._durable:
            cache.wait_for_disk()
        return cache

    def _drop_connection(self) -> None:
        if self._cache is not None:
            self._cache.close()


def _is_busy(error: BaseException | None) -> bool:
    name = getattr(error, "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _said(error: BaseException | None, folder: Path) -> StoreError:
    """Say in a person's words what SQLite or the operating system refused."""
    if isinstance(error, OSError):
        return store_error(error, folder)
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_FULL"):
        return StoreError(
            "the disk is full, or a quota is used up",
            where=str(folder),
            remedy="All replies kept so far are readable. Free some space and run the same command again; "
            "it goes on where it stopped and pays for nothing that is kept.",
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return damaged(folder, str(error))
    return StoreError(
        f"the journal cannot be used: {error}",
        where=str(folder),
        remedy="Give yourself the right to read and write there, or name another workspace with --workspace.",
    )


def damaged(folder: Path, what: str) -> StoreError:
    """The paragraph for a journal that is not what was written."""
    return StoreError(
        f"the journal of paid replies is damaged: {what}",
        where=str(folder),
        remedy="Restore this folder from a copy. Or move it away: scores already saved stay, "
        "a new journal is begun, and only replies whose rows are not saved yet are paid for again.",
    )


def _foreign(folder: str) -> StoreError:
    return StoreError(
        "the journal holds an entry that fourcells did not write, and reading it could run foreign code",
        where=folder,
        remedy="Find out who wrote there. Then restore this folder from a copy, or move it away to begin anew.",
    )


def _held(folder: Path, patience_s: float) -> HeldError:
    return HeldError(
        f"another process has held the journal for over {patience_s:g} seconds",
        where=str(folder),
        remedy="End that process, or wait for it, and run the same command again; it goes on where it stopped.",
    )
