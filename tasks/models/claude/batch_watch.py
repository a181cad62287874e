"""Waiting for one message batch: whose it is, how far it is, and its results into the journal before anywhere else."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError, StoreError
from schemas.seats import Failure
from schemas.state import BATCH_UNREAD, State
from tasks.models.claude.batch_api import BatchApi, NoSuchBatchError, Status
from tasks.models.claude.errors import CallFailedError
from tasks.models.claude.message import read_message
from tasks.models.claude.prices import Rates, rates_of
from tasks.models.claude.purchases import Bought
from tasks.models.claude.sending import Clock
from tasks.store.journal import Attempt, Journal, Kept
from tasks.store.open_batch import OpenBatch

log = logging.getLogger("fourcells.models")

# Not the names of errors: nothing went wrong with the request, and the next run sends it again.
EXPIRED: Final = "BatchExpired"
CANCELED: Final = "BatchCanceled"
OVERDUE: Final = "BatchOverdue"
_FIRST_POLL_S: Final = 2.0
_LONGEST_POLL_S: Final = 60.0
_SLOWER: Final = 1.5
_SAY_EVERY_S: Final = 30.0
# Past the moment at which the API itself ends every batch.
_MARGIN_S: Final = 3_600.0
_CHUNK: Final = 500

Outcome: TypeAlias = Bought | Failure | FourcellsError
Progress: TypeAlias = Callable[[str, int, int], None]


def call_of(custom_id: str) -> tuple[str, int]:
    """Which request, and which attempt at it, a name in a batch stands for.

    >>> call_of("0f-1")
    ('0f', 1)
    """
    request_key, _, attempt = custom_id.rpartition("-")
    return request_key, int(attempt)


def kept_replies(journal: Journal, custom_ids: Iterable[str]) -> dict[str, Kept]:
    """Replies that are in the journal, by custom id.

    Raises:
        StoreError: When the journal cannot be read.
    """
    found: dict[str, Kept] = {}
    for custom_id in custom_ids:
        request_key, attempt = call_of(custom_id)
        kept = journal.replies(request_key)
        if len(kept) > attempt:
            found[custom_id] = kept[attempt]
    return found


def label_of(settings: ClaudeSettings) -> str:
    """What a later process has to know of a request to price its reply: kept beside its id."""
    return settings.model_copy(update={"base_url": None}).model_dump_json(include={"provider", "model", "price"})


async def find_batch(api: BatchApi, journal: Journal, intent: OpenBatch, clock: Clock) -> str | None:
    """Find the batch of an intent whose process never learnt its id.

    It is one that was made after the intent, has as many requests, and is none that we know; its results name it.

    Returns:
        Its id; None when it was never made.

    Raises:
        CallFailedError: When the endpoint does not answer.
    """
    ours = intent.custom_ids
    started_s, wait_s = clock.now(), _FIRST_POLL_S
    candidates = [status for status in await api.since(intent.after) if status.n_requests == len(ours)]
    while True:
        # Read each time: another intent's batch is not ours, and it gets its id any moment.
        known = await asyncio.to_thread(journal.known_batches)
        candidates = [status for status in candidates if status.batch_id not in known]
        for status in [each for each in candidates if each.ended]:
            # Custom ids are hashes of requests: one of ours is in no batch of anybody else.
            with contextlib.suppress(NoSuchBatchError):
                if await api.first_result(status.batch_id) in ours:
                    return status.batch_id
        candidates = [status for status in candidates if not status.ended]
        if not candidates:
            return None
        log.info("looking whether batch %s is one that an earlier attempt submitted", candidates[0].batch_id)
        _check_overdue(candidates[0], clock.now() - started_s)
        await clock.sleep(wait_s)
        wait_s = min(wait_s * _SLOWER, _LONGEST_POLL_S)
        candidates = await _looked_at_again(api, candidates)


@dataclass(eq=False)
class Watch:
    """Waits for one batch.

    Attributes:
        batch: As the journal has it.
        deliver: Takes what became of a request; whether anybody wanted it.
        unwanted: Takes the US dollars of a reply that nobody in this run has asked for yet, and that is new.
        progress: Takes the batch's id, requests done, and all.
    """

    batch: OpenBatch
    api: BatchApi
    journal: Journal
    clock: Clock
    deliver: Callable[[str, Outcome], bool]
    unwanted: Callable[[float], None]
    progress: Progress | None = None
    _labels: dict[str, str] = field(init=False, default_factory=dict)
    _rates: dict[str, Rates] = field(init=False, default_factory=dict)
    _seen: set[str] = field(init=False, default_factory=set)
    _unread: set[str] = field(init=False, default_factory=set)
    _broken: Exception | None = field(init=False, default=None)
    _said_at_s: float | None = field(init=False, default=None)

    async def run(self) -> bool:
        """Wait until the batch has ended and all of its results are kept and delivered.

        For results that cannot be read it stays open, and for them alone.

        Returns:
            False when there is no such batch (any more): its requests may be submitted anew.

        Raises:
            CallFailedError: When the endpoint does not answer, or the batch does not end. It stays open for all that
                was not read.
            FourcellsError: When the run has to stop. It stays open.
        """
        self._labels = {each: label for label, ids in self.batch.requests.items() for each in ids}
        batch = await self._identified()
        if batch is None or batch.batch_id is None:
            return False
        there = True
        try:
            await self._wait(batch.batch_id)
            last = await self._take_results(batch.batch_id)
        except NoSuchBatchError:
            there, last = False, []
        if isinstance(self._broken, NoSuchBatchError):
            there = False
        if not there:
            log.warning("batch %s is not there any more; what it has not answered is sent anew", batch.batch_id)
            self._unread.clear()
        # Before anybody hears of the last of them: the run may end with it, and an open batch would be waited for
        # by the next one, which would get the same failures again instead of sending anew.
        await asyncio.to_thread(self.journal.finish, batch, unread=self._unread)
        for custom_id, outcome in last:
            self._hand_on(custom_id, outcome)
        if there and self._broken is not None:
            raise self._broken
        return there

    async def _identified(self) -> OpenBatch | None:
        """The batch with its id, found out if need be; None when it was never submitted, or is finished by now."""
        batch: OpenBatch | None = self.batch
        wait_s = _FIRST_POLL_S
        while batch is not None and batch.batch_id is None:
            with self.journal.submitting(batch.intent_id) as mine:
                # Read again: it may have been attached since.
                batch = await self._reloaded(batch)
                if mine and batch is not None and batch.batch_id is None:
                    return await self._found(batch)
            if batch is not None and batch.batch_id is None:
                await self.clock.sleep(wait_s)
                wait_s = min(wait_s * _SLOWER, _LONGEST_POLL_S)
        return batch

    async def _reloaded(self, batch: OpenBatch) -> OpenBatch | None:
        batches = await asyncio.to_thread(self.journal.open_batches)
        return next((each for each in batches if each.intent_id == batch.intent_id), None)

    async def _found(self, batch: OpenBatch) -> OpenBatch | None:
        batch_id = await find_batch(self.api, self.journal, batch, self.clock)
        if batch_id is None:
            await asyncio.to_thread(self.journal.finish, batch)
            return None
        log.info("batch %s was submitted by an earlier run", batch_id)
        await asyncio.to_thread(self.journal.attach, batch.intent_id, batch_id)
        return replace(batch, batch_id=batch_id)

    async def _wait(self, batch_id: str) -> None:
        started_s, wait_s = self.clock.now(), _FIRST_POLL_S
        while not (status := await self.api.status(batch_id)).ended:
            self._tell(status)
            _check_overdue(status, self.clock.now() - started_s)
            await self.clock.sleep(wait_s)
            wait_s = min(wait_s * _SLOWER, _LONGEST_POLL_S)
        self._said_at_s = None
        self._tell(status)

    def _tell(self, status: Status) -> None:
        if self.progress is not None:
            self.progress(status.batch_id, status.n_done, status.n_requests)
        now_s = self.clock.now()
        if self._said_at_s is None or now_s - self._said_at_s >= _SAY_EVERY_S:
            self._said_at_s = now_s
            log.info("batch %s: %d of %d done", status.batch_id, status.n_done, status.n_requests)

    async def _take_results(self, batch_id: str) -> list[tuple[str, Outcome]]:
        """Keep all replies, also when the rest cannot be read; hand most on at once, and give back all else.

        Raises:
            StoreError: When replies cannot be kept.
        """
        chunk: dict[str, Kept] = {}
        last: list[tuple[str, Outcome]] = []
        try:
            async with contextlib.aclosing(self.api.results(batch_id)) as results:
                async for custom_id, result in results:
                    # A broken line begins anew, so a result may come twice.
                    if custom_id in self._seen or custom_id not in self._labels:
                        continue
                    self._seen.add(custom_id)
                    outcome = self._read(custom_id, result)
                    if not isinstance(outcome, Kept):
                        last.append((custom_id, outcome))
                        continue
                    if len(chunk) >= _CHUNK:
                        for each, bought in await self._keep(chunk):
                            self._hand_on(each, bought)
                        chunk = {}
                    chunk[custom_id] = outcome
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - raised when all that was read is kept
            self._broken = error
            self._unread |= self._labels.keys() - self._seen
        return [*last, *await self._keep(chunk)]

    async def _keep(self, chunk: Mapping[str, Kept]) -> list[tuple[str, Outcome]]:
        """Keep replies; who keeps one first, of all processes that read it, has paid for it."""
        attempts = [Attempt(*call_of(custom_id), kept) for custom_id, kept in chunk.items()]
        new = await asyncio.to_thread(self.journal.keep_all, attempts)
        return [(each, Bought(kept, paid)) for (each, kept), paid in zip(chunk.items(), new, strict=True)]

    def _hand_on(self, custom_id: str, outcome: Outcome) -> None:
        wanted = self.deliver(custom_id, outcome)
        if isinstance(outcome, Bought) and not wanted and outcome.paid:
            self.unwanted(outcome.kept.cost_usd)

    def _read(self, custom_id: str, result: Mapping[str, Any]) -> Kept | Failure | FourcellsError:
        """One result. Whatever is odd about it is its own failure."""
        try:
            if result["type"] == "succeeded":
                return self._kept(custom_id, result["message"])
            return self._failed(result)
        except Exception as error:  # noqa: BLE001 - one odd result must not cost the others
            self._unread.add(custom_id)
            return Failure(
                state=State.ERRORED,
                kind=BATCH_UNREAD,
                message=f"its result in batch {self.batch.batch_id or ''} cannot be read ({type(error).__name__}: "
                f"{error}); the same command with --batch reads it again",
            )

    def _kept(self, custom_id: str, message: Mapping[str, Any]) -> Kept:
        body = json.dumps(dict(message), separators=(",", ":"))
        label = self._labels[custom_id]
        if label not in self._rates:
            self._rates[label] = rates_of(ClaudeSettings.model_validate_json(label))
        read = read_message(body)
        return Kept(
            body=body,
            request_id=None,
            received_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            latency_s=0.0,
            cost_usd=0.0 if read is None else self._rates[label].cost(read.usage, batch=True),
            batch=True,
        )

    def _failed(self, result: Mapping[str, Any]) -> Failure | FourcellsError:
        match result.get("type"):
            case "errored":
                try:
                    return self.api.failure_of(result.get("error") or {})
                except FourcellsError as error:
                    return error
            case "canceled":
                return _again(CANCELED, "its batch was canceled; the next run sends it anew")
            case "expired":
                return _again(EXPIRED, "its batch expired before its turn; the next run sends it anew")
            case other:
                return _again(EXPIRED, f"its batch ended with {other!r} for it; the next run sends it anew")


def _again(kind: str, message: str) -> Failure:
    return Failure(state=State.ERRORED, kind=kind, message=message)


async def _looked_at_again(api: BatchApi, batches: Iterable[Status]) -> list[Status]:
    found: list[Status] = []
    for batch in batches:
        with contextlib.suppress(NoSuchBatchError):
            found.append(await api.status(batch.batch_id))
    return found


def _check_overdue(status: Status, waited_s: float) -> None:
    if waited_s > status.lifetime_s + _MARGIN_S:
        message = f"batch {status.batch_id} has not ended in {waited_s / 3_600:.0f} hours; the next run asks again"
        raise CallFailedError(Failure(state=State.TIMED_OUT, kind=OVERDUE, message=message))
