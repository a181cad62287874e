"""Message batches: many calls sent together at half the price, waited for, and never submitted twice.

What is wanted is collected for a moment, claimed and submitted. Before that an intent is stored, after it the batch's
id, so whatever happens a later run, or another process, finds the batch again and waits for it.
"""

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError, InputError
from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude.batch_api import BatchApi, UnsureError
from tasks.models.claude.batch_watch import (
    Outcome,
    Progress,
    Watch,
    call_of,
    find_batch,
    kept_replies,
    label_of,
)
from tasks.models.claude.budget import Budget
from tasks.models.claude.connection import wire
from tasks.models.claude.errors import TOO_LONG, CallFailedError
from tasks.models.claude.holds import Call, Holds
from tasks.models.claude.outbox import Item, Outbox, Watched, request_json
from tasks.models.claude.purchases import Bought, custom_id_of
from tasks.models.claude.request import endpoint
from tasks.models.claude.sending import Clock
from tasks.store.journal import Journal
from tasks.store.open_batch import OpenBatch

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

log = logging.getLogger("fourcells.models")

LOST: Final = "BatchLost"
_QUIET_S: Final = 2.0
_FIRST_LOOK_S: Final = 1.0
_LONGEST_LOOK_S: Final = 15.0
# The API's limits: 100,000 requests, 256 MB.
_MOST_REQUESTS: Final = 100_000
_MOST_BYTES: Final = 250_000_000


def check_batches(settings: ClaudeSettings, *, where: str = "") -> None:
    """See, before a run, that a seat's calls can be sent in batches.

    Raises:
        InputError: For a provider whose batches are another API.
    """
    if settings.provider != "anthropic":
        raise InputError(
            f"message batches are sent to provider 'anthropic' only, and a seat has provider {settings.provider!r}",
            where=where,
            remedy='Run without --batch, or give this seat provider = "anthropic".',
        )


class Batches:
    """Sends calls in batches. Used from the one event loop only.

    Args:
        journal: Holds intents and open batches too, so other processes see them.
        budget: Told of replies to what an earlier run submitted and nobody has asked for yet; what is asked for is
            the asker's to reserve and settle.
        clock: For waits.
        quiet_s: Seconds without a new request after which those collected are submitted.
        connect: Gives the SDK's client of an endpoint.
        progress: Takes a batch's id, requests done, and all, at every look.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget,
        *,
        clock: Clock | None = None,
        quiet_s: float = _QUIET_S,
        connect: "Callable[[ClaudeSettings], AsyncAnthropic] | None" = None,
        progress: Progress | None = None,
    ) -> None:
        self._journal = journal
        self._budget = budget
        self._clock = clock or Clock()
        self._quiet_s = quiet_s
        self._connect = connect or _client
        self._progress = progress
        self._holds = Holds(journal, owner=f"batches-{secrets.token_hex(8)}", writers=wire().writers)
        self._items: dict[str, Item] = {}
        self._outboxes: dict[str, Outbox] = {}
        self._watched: dict[str, Watched] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, settings: ClaudeSettings, request_key: str, attempt: int, params: Mapping[str, Any]) -> Bought:
        """Put a request into the next batch, or find it in one that is open, and wait for its reply.

        Args:
            settings: Of the seat.
            request_key: Of the request; with `attempt` its name in the batch.
            attempt: Its number.
            params: Keyword arguments of `messages.create`.

        Returns:
            The reply, in the journal by now, and whether it was this process that brought it there.

        Raises:
            CallFailedError: When none came. Unless the request itself is at fault, the next run sends it anew.
            FourcellsError: When the run has to stop.
        """
        check_batches(settings)
        custom_id = custom_id_of(request_key, attempt)
        outbox = self._outbox(settings)
        item = self._items.get(custom_id)
        if item is None:
            reply: asyncio.Future[Bought] = asyncio.get_running_loop().create_future()
            item = Item(custom_id, settings, request_json(custom_id, params), reply)
            self._items[custom_id] = item
            self._collect(outbox, item)
        item.n_waiting += 1
        try:
            return await asyncio.shield(item.reply)
        finally:
            item.n_waiting -= 1
            await self._leave(outbox, item)

    def _outbox(self, settings: ClaudeSettings) -> Outbox:
        name = json.dumps([settings.provider, endpoint(settings)])
        if name not in self._outboxes:
            api = BatchApi(self._connect(settings), settings, clock=self._clock)
            self._outboxes[name] = Outbox(name, api)
        return self._outboxes[name]

    def _collect(self, outbox: Outbox, item: Item) -> None:
        if len(outbox.pending) >= _MOST_REQUESTS or outbox.n_bytes + len(item.raw) > _MOST_BYTES:
            self._submit(outbox, outbox.take())
        outbox.put(item)
        if outbox.collecting is None:
            outbox.collecting = self._start(self._when_quiet(outbox))

    async def _when_quiet(self, outbox: Outbox) -> None:
        while True:
            n_arrived = outbox.n_arrived
            await self._clock.sleep(self._quiet_s)
            if outbox.n_arrived == n_arrived:
                break
        outbox.collecting = None
        self._submit(outbox, outbox.take())

    def _submit(self, outbox: Outbox, items: Sequence[Item]) -> None:
        if items:
            task = self._start(self._submit_or_join(outbox, items))
            for item in items:
                item.submitting = task

    async def _submit_or_join(self, outbox: Outbox, items: Sequence[Item]) -> None:
        """Get items into a batch each: the one they are in already, or a new one."""
        wanted = {item.custom_id: item for item in items}
        try:
            await self._take_out(outbox, wanted)
            if not wanted:
                return
            claimed = await self._claim(outbox, wanted)
            try:
                # Another process may have been at it between our look and our claim.
                await self._take_out(outbox, wanted)
                if wanted:
                    await self._post(outbox, wanted)
            finally:
                with contextlib.suppress(FourcellsError):
                    await asyncio.wrap_future(self._holds.release(claimed))
        except _TooManyError as error:
            self._submit(outbox, error.items[::2])
            self._submit(outbox, error.items[1::2])
        except Exception as error:  # noqa: BLE001 - raised in everybody who waits
            self._fail(wanted.values(), error)

    async def _take_out(self, outbox: Outbox, wanted: dict[str, Item]) -> None:
        """Take out what is kept, or in an open batch of whatever run and process, which is waited for then."""
        # Looked at first: a batch is closed after its replies are kept.
        batches = await asyncio.to_thread(self._journal.open_batches)
        for custom_id, kept in (await asyncio.to_thread(kept_replies, self._journal, tuple(wanted))).items():
            self._deliver(custom_id, Bought(kept, paid=False))
            del wanted[custom_id]
        for batch in batches:
            held = batch.custom_ids & wanted.keys()
            if held and batch.endpoint == outbox.name:
                log.info("%d requests are in a batch that is on its way already", len(held))
                self._watch(outbox, batch, [wanted.pop(custom_id) for custom_id in held])

    async def _claim(self, outbox: Outbox, wanted: dict[str, Item]) -> Collection[Call]:
        """Claim items; those that another process is buying are taken out and looked at again later."""
        claimed = await self._holds.claim_all([call_of(custom_id) for custom_id in wanted])
        held = [wanted.pop(each) for each in tuple(wanted) if call_of(each) not in claimed]
        if held:
            if not all(item.n_looks for item in held):
                log.info("%d requests are being sent by another process; waiting for their replies", len(held))
            for item in held:
                item.submitting = None
                item.n_looks += 1
            _ = self._start(self._look_later(outbox, held))
        return claimed

    async def _look_later(self, outbox: Outbox, items: Sequence[Item]) -> None:
        n = min(max(item.n_looks for item in items), 10)
        await self._clock.sleep(min(_FIRST_LOOK_S * 1.5**n, _LONGEST_LOOK_S))
        for item in items:
            self._again(outbox, item)

    async def _post(self, outbox: Outbox, wanted: dict[str, Item]) -> None:
        """Submit a batch."""
        intent_id = secrets.token_hex(8)
        with self._journal.submitting(intent_id):
            after = await outbox.api.newest()
            labels: dict[str, list[str]] = {}
            # Who has left meanwhile wants nothing bought.
            for item in [each for each in wanted.values() if not each.n_waiting]:
                del wanted[item.custom_id]
            for item in wanted.values():
                labels.setdefault(label_of(item.settings), []).append(item.custom_id)
            batch = await asyncio.to_thread(self._journal.intent, intent_id, labels, endpoint=outbox.name, after=after)
            ours = set() if batch is None else batch.custom_ids
            for custom_id in wanted.keys() - ours:
                # Another process was quicker: look again where it is.
                self._again(outbox, wanted.pop(custom_id))
            if batch is not None:
                await self._make(outbox, batch, [wanted[custom_id] for custom_id in sorted(ours)])

    async def _make(self, outbox: Outbox, intent: OpenBatch, items: Sequence[Item]) -> None:
        try:
            batch_id = await outbox.api.submit(
                [item.raw for item in items],
                already=lambda: find_batch(outbox.api, self._journal, intent, self._clock),
            )
        except UnsureError:
            # The intent stays, and the next run finds out.
            raise
        except (CallFailedError, FourcellsError) as error:
            await asyncio.to_thread(self._journal.finish, intent)
            if not _is_too_large(error) or len(items) == 1:
                raise
            raise _TooManyError(items) from error
        else:
            await asyncio.to_thread(self._journal.attach, intent.intent_id, batch_id)
            log.info("batch %s: %d requests submitted", batch_id, len(items))
            self._watch(outbox, replace(intent, batch_id=batch_id), items)

    def _watch(self, outbox: Outbox, batch: OpenBatch, items: Sequence[Item]) -> None:
        waiting = [item for item in items if item.n_waiting and not item.reply.done()]
        if not waiting:
            return
        watched = self._watched.get(batch.intent_id)
        if watched is None:
            watched = Watched(batch.intent_id, self._start(self._wait_for(outbox, batch)))
            self._watched[batch.intent_id] = watched
        watched.items.update(waiting)
        for item in waiting:
            item.watched = watched

    async def _wait_for(self, outbox: Outbox, batch: OpenBatch) -> None:
        watch = Watch(
            batch,
            outbox.api,
            self._journal,
            self._clock,
            deliver=self._deliver,
            unwanted=lambda usd: self._budget.settle(0.0, usd),
            progress=self._progress,
        )
        watched = self._watched[batch.intent_id]
        try:
            there = await watch.run()
            # Who joined while results were read may have missed his; and another process may have kept them.
            rest = {item.custom_id: item for item in watched.items}
            for custom_id, kept in (await asyncio.to_thread(kept_replies, self._journal, rest)).items():
                self._deliver(custom_id, Bought(kept, paid=False))
        except Exception as error:  # noqa: BLE001 - raised in everybody who waits
            self._fail(tuple(watched.items), error)
        else:
            for item in tuple(watched.items):
                if there:
                    self._fail([item], CallFailedError(_lost()))
                else:
                    self._again(outbox, item)
        finally:
            self._unwatch(batch.intent_id, watched)

    def _unwatch(self, intent_id: str, watched: Watched) -> None:
        if self._watched.get(intent_id) is watched:
            del self._watched[intent_id]

    def _deliver(self, custom_id: str, outcome: Outcome) -> bool:
        item = self._items.get(custom_id)
        if item is None or not item.n_waiting or item.reply.done():
            return False
        if isinstance(outcome, Bought):
            self._forget(item)
            item.reply.set_result(outcome)
        else:
            self._fail([item], CallFailedError(outcome) if isinstance(outcome, Failure) else outcome)
        return True

    def _fail(self, items: Collection[Item], error: Exception) -> None:
        for item in items:
            self._forget(item)
            if not item.reply.done():
                item.reply.set_exception(error)
                # Seen here: who waited may have left.
                item.reply.exception()

    def _again(self, outbox: Outbox, item: Item) -> None:
        """Back to where it is collected."""
        self._forget(item)
        if item.n_waiting and not item.reply.done():
            item.submitting = None
            self._items[item.custom_id] = item
            self._collect(outbox, item)

    def _forget(self, item: Item) -> None:
        if self._items.get(item.custom_id) is item:
            del self._items[item.custom_id]
        if item.watched is not None:
            item.watched.items.discard(item)
            item.watched = None

    async def _leave(self, outbox: Outbox, item: Item) -> None:
        """Somebody waits no longer. The batch goes on at the endpoint; a later run finds it."""
        if not item.is_abandoned():
            return
        while item.submitting is not None and not item.submitting.done():
            # Told to stop, even several times, this sees the id stored first; the deadline of the call is its end.
            try:
                await asyncio.wait([item.submitting])
            except asyncio.CancelledError:
                continue
        if not item.is_abandoned():
            return
        outbox.drop(item)
        watched = item.watched
        self._forget(item)
        item.reply.cancel()
        if watched is not None and not watched.items:
            # Out of sight at once, so that nobody joins what is ending.
            self._unwatch(watched.intent_id, watched)
            watched.task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class _TooManyError(Exception):
    """The server takes no batch as large as this one."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__(f"{len(items)} requests")
        self.items = items


def _client(settings: ClaudeSettings) -> "AsyncAnthropic":
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - importing the SDK takes most of a second

    client = wire().channel(settings).line.client
    assert isinstance(client, AsyncAnthropic)  # noqa: S101 - provider 'anthropic' has no other
    return client


def _is_too_large(error: Exception) -> bool:
    return isinstance(error, CallFailedError) and error.failure.kind == TOO_LONG


def _lost() -> Failure:
    message = "its batch ended without a result for it; the next run sends it anew"
    return Failure(state=State.ERRORED, kind=LOST, message=message)
