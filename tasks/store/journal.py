"""The journal: every reply that was paid for, raw, from the moment it arrives."""

import json
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from filelock import FileLock, Timeout

from schemas.errors import StoreError
from tasks.store.claims import Claims
from tasks.store.entries import Entries, Transaction, damaged
from tasks.store.open_batch import OpenBatch

# Results of a batch can be fetched for 29 days; after that nobody can attach to it any more, and its id is deleted.
_REMEMBER_S: Final = 30 * 86_400.0
_FINISHED: Final = "finished/"
_OPEN: Final = "open/"
# Of SQLite: every commit writes to one of them.
_DATABASE: Final = ("cache.db", "cache.db-wal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One reply as it came.

    Attributes:
        body: Raw JSON of the message.
        request_id: The server's name for the request, for its support; None when it gave none.
        received_at: ISO 8601, UTC.
        latency_s: Seconds from sending to reply; 0 of a batch.
        cost_usd: At the prices of the day it was made.
        batch: Whether it came by a message batch, at half the price.
    """

    body: str
    request_id: str | None
    received_at: str
    latency_s: float
    cost_usd: float
    batch: bool


class Attempt(NamedTuple):
    """A reply to be kept, and what it is the reply to."""

    request_key: str
    attempt: int
    kept: Kept


@dataclass(eq=False)
class _Waiting:
    """Entries of one caller, on their way into a common transaction."""

    entries: list[tuple[str, bytes]]
    new: list[bool] = field(default_factory=list)
    done: bool = False
    error: StoreError | None = None


class Journal:
    """Replies under (request, attempt), claims on them, and open batches. For threads and processes at once.

    Args:
        folder: Made at the first write, for its owner's eyes only: replies hold what documents say.
        patience_s: Seconds to wait for another process that holds the journal.
    """

    def __init__(self, folder: Path, *, patience_s: float = 60.0) -> None:
        self._replies = Entries(folder, "replies", durable=True, patience_s=patience_s)
        self._batches = Entries(folder, "batches", durable=True, patience_s=patience_s)
        self._claims = Claims(folder, patience_s=patience_s)
        self._queue: list[_Waiting] = []
        self._queue_guard = threading.Lock()
        self._writer = threading.Lock()

    def ready(self) -> None:
        """Open what replies are kept in, before any is paid for.

        Raises:
            StoreError: When it cannot be written.
        """
        self._replies.write(lambda _: None)

    def replies(self, request_key: str) -> list[Kept]:
        """All kept replies to a request: attempts 0, 1, … in order, up to the first that is missing.

        Raises:
            StoreError: When the journal cannot be read.
        """
        kept: list[Kept] = []
        while (value := self._replies.get(_name(request_key, len(kept)))) is not None:
            kept.append(self._decode(value))
        return kept

    def keep(self, request_key: str, attempt: int, kept: Kept) -> bool:
        """Keep a reply; it outlives a power cut when this returns. Call it from a thread: it waits for the disk.

        Returns:
            Whether it is new. A reply that is there already stays: rows may have been made of it.

        Raises:
            StoreError: When it could not be kept.
        """
        return self.keep_all([Attempt(request_key, attempt, kept)])[0]

    def keep_all(self, attempts: Iterable[Attempt]) -> list[bool]:
        """Keep several replies in one transaction. Callers in other threads share it, and with it one wait.

        Returns:
            Whether each is new: of all who bring the same one, in whatever process, the first.

        Raises:
            StoreError: As above; then none of them is kept.
        """
        mine = _Waiting([(_name(key, attempt), _encode(kept)) for key, attempt, kept in attempts])
        with self._queue_guard:
            self._queue.append(mine)
        with self._writer:
            if not mine.done:
                self._write_queue(mine)
        if mine.error is not None:
            raise mine.error
        return mine.new

    def claim_all(
        self, wanted: Iterable[tuple[str, int, float]], *, owner: str, patience_s: float | None = None
    ) -> list[bool]:
        """Say of several attempts whether this caller may make each now: nobody else, in whatever process, is at it.

        A claim ends by its release, after its time, or with the process that made it.

        Args:
            wanted: Requests, attempts, and for how many seconds.
            owner: Who may release them.
            patience_s: Seconds to wait for others that hold the database; None takes the journal's, 0 looks once.

        Raises:
            HeldError: When they hold it longer.
            StoreError: When the journal cannot be used.
        """
        names = [(_name(key, attempt), seconds) for key, attempt, seconds in wanted]
        return self._claims.claim_all(names, owner=owner, patience_s=patience_s)

    def renew_all(self, wanted: Iterable[tuple[str, int, float]], *, owner: str) -> list[bool]:
        """Hold claims that were made here for so many seconds from now; says of each whether it was still held.

        Raises:
            StoreError: As above.
        """
        return self._claims.renew_all([(_name(key, attempt), s) for key, attempt, s in wanted], owner=owner)

    def release(self, request_key: str, attempt: int, *, owner: str) -> None:
        """End a claim of that owner, if there is one.

        Raises:
            StoreError: As above.
        """
        self.release_all([(request_key, attempt)], owner=owner)

    def release_all(self, calls: Iterable[tuple[str, int]], *, owner: str) -> None:
        """End several claims of that owner in one transaction.

        Raises:
            StoreError: As above.
        """
        self._claims.release_all([_name(key, attempt) for key, attempt in calls], owner=owner)

    def intent(
        self, intent_id: str, requests: Mapping[str, Sequence[str]], *, endpoint: str, after: str | None = None
    ) -> OpenBatch | None:
        """Say, before a batch is submitted, what will be in it; durable when this returns.

        Args:
            intent_id: A new one.
            requests: Custom ids by label.
            endpoint: Where it will be submitted.
            after: Id of the endpoint's newest batch so far.

        Returns:
            The intent with those of the ids that no other open batch holds: only they may be submitted. None when
            there is no such.

        Raises:
            StoreError: As above.
        """
        made_at_s = time.time()

        def record(cache: Transaction) -> OpenBatch | None:
            names = [name for name in cache.iterkeys() if name.startswith(_OPEN)]
            batches = [OpenBatch.read(value) for name in names if (value := cache.get(name)) is not None]
            taken = {custom_id for batch in batches for custom_id in batch.custom_ids}
            free: dict[str, tuple[str, ...]] = {}
            for label, custom_ids in requests.items():
                free[label] = tuple(each for each in dict.fromkeys(custom_ids) if each not in taken)
                taken.update(free[label])
            free = {label: custom_ids for label, custom_ids in free.items() if custom_ids}
            if not free:
                return None
            batch = OpenBatch(
                intent_id=intent_id, endpoint=endpoint, created_at_s=made_at_s, requests=free, after=after
            )
            cache.set(_OPEN + intent_id, batch.encoded())
            return batch

        return self._batches.write(record)

    def attach(self, intent_id: str, batch_id: str) -> None:
        """Store the id that the server gave the batch; durable when this returns.

        Raises:
            StoreError: As above.
        """

        def record(cache: Transaction) -> None:
            value = cache.get(_OPEN + intent_id)
            if value is not None:
                cache.set(_OPEN + intent_id, replace(OpenBatch.read(value), batch_id=batch_id).encoded())

        self._batches.write(record)

    def open_batches(self) -> list[OpenBatch]:
        """Batches, and intents, of all processes whose results are not all kept yet; the oldest first.

        Raises:
            StoreError: As above.
        """
        values = [self._batches.get(name) for name in self._batches.keys() if name.startswith(_OPEN)]  # noqa: SIM118
        return sorted((OpenBatch.read(value) for value in values if value), key=lambda batch: batch.created_at_s)

    def batches_stamp(self) -> tuple[tuple[int, int], ...]:
        """Something that is another one after every change of an open batch, and takes microseconds to get.

        Empty when there has never been a batch. Take it before reading the batches it stands for.
        """
        found: list[tuple[int, int]] = []
        for name in _DATABASE:
            with suppress(OSError):
                stat = (self._batches.folder / name).stat()
                found.append((stat.st_mtime_ns, stat.st_size))
        return tuple(found)

    def finish(self, batch: OpenBatch, *, unread: Collection[str] = ()) -> None:
        """Close a batch after its results were kept, or an intent that was never submitted.

        Args:
            batch: The batch.
            unread: Custom ids whose results could not be read: the batch stays open for them alone.

        Raises:
            StoreError: As above.
        """

        def record(cache: Transaction) -> None:
            value = cache.get(_OPEN + batch.intent_id)
            # Another process may have read some of them.
            rest = None if value is None else OpenBatch.read(value).only(unread)
            if rest is not None:
                cache.set(_OPEN + batch.intent_id, rest.encoded())
                return
            cache.delete(_OPEN + batch.intent_id)
            # Nothing is ever evicted, so what is over is deleted where more is made.
            cache.expire()
            if batch.batch_id is not None:
                cache.set(_FINISHED + batch.batch_id, b"", expire=_REMEMBER_S)

        self._batches.write(record)

    def known_batches(self) -> set[str]:
        """Ids of all batches that are or were ours, finished ones of the last 30 days included.

        Raises:
            StoreError: As above.
        """
        finished = {
            name.removeprefix(_FINISHED)
            for name in self._batches.keys()  # noqa: SIM118
            if name.startswith(_FINISHED)
        }
        return finished | {batch.batch_id for batch in self.open_batches() if batch.batch_id is not None}

    @contextmanager
    def submitting(self, intent_id: str) -> Iterator[bool]:
        """Be the one process that submits, or finds out about, an intent; False when another one is.

        The operating system frees it with a killed process, so an intent without a batch id whose place is free
        is one whose process ended between submitting and storing.
        """
        self._batches.prepare()
        path = self._batches.folder / f"{intent_id}.lock"
        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """End all claims made here and close the files."""
        self._claims.close()
        self._replies.close()
        self._batches.close()

    def _write_queue(self, mine: _Waiting) -> None:
        with self._queue_guard:
            group, self._queue = self._queue, []

        def put(cache: Transaction) -> None:
            for waiting in group:
                waiting.new = [cache.add(name, value) for name, value in waiting.entries]

        try:
            self._replies.write(put)
        except StoreError as error:
            for waiting in group:
                waiting.error = error
        except BaseException:
            # Interrupted: the others are still there and write themselves.
            with self._queue_guard:
                self._queue = [waiting for waiting in group if waiting is not mine] + self._queue
            raise
        for waiting in group:
            waiting.done = True

    def _decode(self, value: bytes) -> Kept:
        header, _, body = value.partition(b"\n")
        try:
            found = json.loads(header)
            if found.pop("crc32") != zlib.crc32(body):
                raise ValueError("an entry differs from its checksum")  # noqa: TRY301
            return Kept(body=body.decode("utf-8", "surrogatepass"), **found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = damaged(self._replies.folder, str(error))
            raise problem from error


def _name(request_key: str, attempt: int) -> str:
    return f"{request_key}/{attempt}"


def _encode(kept: Kept) -> bytes:
    # SQLite has no checksum of its own, and a flipped bit in a number would still be JSON.
    body = kept.body.encode("utf-8", "surrogatepass")
    header = {
        "request_id": kept.request_id,
        "received_at": kept.received_at,
        "latency_s": kept.latency_s,
        "cost_usd": kept.cost_usd,
        "batch": kept.batch,
        "crc32": zlib.crc32(body),
    }
    return json.dumps(header).encode() + b"\n" + body
