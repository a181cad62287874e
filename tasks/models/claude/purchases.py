"""Buying replies, each of them once: over equal requests of this run, over runs at the same time, within the budget."""

import asyncio
import contextlib
import functools
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError, StoreError
from schemas.seats import Failure
from schemas.state import IN_BATCH, State
from tasks.models.claude.budget import Budget
from tasks.models.claude.errors import BUDGET, CallFailedError
from tasks.models.claude.grouped import Grouped
from tasks.models.claude.holds import Call, Holds, OnTheWay
from tasks.models.claude.prices import rates_of
from tasks.models.claude.request import ModelRequest
from tasks.models.claude.sending import Clock, LiveSender
from tasks.store.journal import Attempt, Journal, Kept
from tasks.store.open_batch import OpenBatch

_FIRST_LOOK_S: Final = 0.2
_LONGEST_LOOK_S: Final = 2.0
_LOOK_AT_ENDING_S: Final = 0.1
# A token of text takes two bytes or more nearly everywhere. A bound that always holds, one byte a token, would set
# three or four times the real cost aside and leave most of a budget unused.
_BYTES_A_TOKEN: Final = 2
_OVER_BUDGET: Final = Failure(
    state=State.OVER_BUDGET, kind=BUDGET, message="the rest of the budget does not reach for this call's worst case"
)


class Bought(NamedTuple):
    """A reply, and whether this caller is the one who paid for it."""

    kept: Kept
    paid: bool


class BatchSender(Protocol):
    """A way to get replies by the batch: it does not buy twice, and keeps replies itself."""

    async def send(self, settings: ClaudeSettings, request_key: str, attempt: int, params: Mapping[str, Any]) -> Bought:
        """Send a request with others and wait for its reply.

        Raises:
            CallFailedError: When none came.
            FourcellsError: When the run has to stop.
        """
        ...


def custom_id_of(request_key: str, attempt: int) -> str:
    """The name of a request in its batch: at most 64 letters, digits, "-" and "_".

    >>> custom_id_of("0f", 1)
    '0f-1'
    """
    return f"{request_key}-{attempt}"


@dataclass(eq=False)
class Buy:
    """One attempt at one request on its way to the journal.

    Attributes:
        n_waiting: Talks that want it; when nobody does any more, and nothing was sent, it ends.
        paid: False when the reply turned out to be there.
        look_s: Seconds until the next look whether another process is through with it.
    """

    request_key: str
    attempt: int
    task: "asyncio.Task[Kept]" = field(init=False)
    n_waiting: int = 0
    paid: bool = False
    look_s: float = _FIRST_LOOK_S

    @property
    def call(self) -> Call:
        """Its name in claims."""
        return self.request_key, self.attempt


@dataclass(eq=False)
class Purchases:
    """All that one run buys. Used from the one event loop only.

    Attributes:
        journal: Where replies are kept before anybody reads them.
        live: Makes calls one by one.
        batches: Makes them instead, in a run that sends batches.
        committed: Tasks that wait for a reply that was asked for, or keep one: these are never cancelled.
        owner: Names this run in claims.
    """

    journal: Journal
    budget: Budget
    live: LiveSender
    batches: BatchSender | None
    owner: str
    committed: "set[asyncio.Task[Any]]"
    clock: Clock
    writers: ThreadPoolExecutor

    def __post_init__(self) -> None:
        """Nothing is bought yet."""
        self._buys: dict[tuple[str, int], Buy] = {}
        self._last: dict[str, int] = {}
        self._keeps = Grouped(self.writers, self._keep_all)
        self._holds = Holds(self.journal, owner=self.owner, writers=self.writers)
        self._on_the_way = OnTheWay(self.journal)
        self._unkept: StoreError | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def batch(self) -> bool:
        """Whether calls are sent in batches."""
        return self.batches is not None

    def resume(self) -> None:
        """Buy again after a reply could not be kept: the disk may have room by now."""
        self._unkept = None

    def attempts(self, request_key: str, n_kept: int) -> range:
        """Attempts that this run may make at a request of which none of the kept replies is usable.

        Attempts come in pairs, ask and ask again. So a resumed run goes on with the second of a pair, a new run
        may begin another pair, and a row with an equal request in the same run begins none.
        """
        last = self._last.get(request_key, n_kept + (1 if n_kept % 2 else 2))
        return range(n_kept, last)

    def unusable(self, request_key: str, attempts: range, attempt: int, *, again: bool) -> None:
        """Note that a reply was of no use, and whether asking once more may help."""
        self._last.setdefault(request_key, attempts.stop)
        if not again:
            self._last[request_key] = attempt + 1

    async def obtain(
        self, settings: ClaudeSettings, request_key: str, attempt: int, request: ModelRequest, *, begun: set[Buy]
    ) -> Bought:
        """Get the reply to one attempt: from whoever is already at it, in whatever process, or by a call.

        Args:
            settings: Of the seat.
            request_key: Of the request.
            attempt: Its number, from 0; all before it are kept.
            request: What to send.
            begun: Takes up the purchase until it is over, for who has to wait for it.

        Raises:
            CallFailedError: When no reply came.
            FourcellsError: When the run has to stop.
        """
        if self._unkept is not None:
            raise self._unkept
        name = (request_key, attempt)
        buy = self._buys.get(name)
        first = buy is None
        if buy is None:
            buy = Buy(request_key, attempt)
            self._buys[name] = buy
            buy.task = asyncio.create_task(self._buy(buy, settings, request.params))
            buy.task.add_done_callback(functools.partial(self._over, buy))
        begun.add(buy)
        buy.task.add_done_callback(functools.partial(_discard, begun, buy))
        buy.n_waiting += 1
        try:
            kept = await asyncio.shield(buy.task)
        finally:
            buy.n_waiting -= 1
            self._end_unwanted(buy)
        return Bought(kept, paid=first and buy.paid)

    async def settle(self, begun: set[Buy]) -> None:
        """Wait until what was sent is kept; what was not sent yet, or has to be sent again, ends."""
        while pending := [buy for buy in begun if not buy.n_waiting and not buy.task.done()]:
            for buy in pending:
                self._end_unwanted(buy)
            await asyncio.wait([buy.task for buy in pending], timeout=_LOOK_AT_ENDING_S)

    def _end_unwanted(self, buy: Buy) -> None:
        if not buy.n_waiting and not buy.task.done() and buy.task not in self.committed:
            # Out of sight at once, so that nobody joins what is ending.
            self._forget(buy)
            buy.task.cancel()

    def _over(self, buy: Buy, task: "asyncio.Task[Kept]") -> None:
        self._forget(buy)
        self.committed.discard(task)
        if not task.cancelled():
            # Seen here, since nobody else may be left to see it.
            task.exception()

    def _forget(self, buy: Buy) -> None:
        if self._buys.get((buy.request_key, buy.attempt)) is buy:
            del self._buys[buy.request_key, buy.attempt]

    async def _buy(self, buy: Buy, settings: ClaudeSettings, params: Mapping[str, Any]) -> Kept:
        try:
            if self.batches is None:
                return await self._buy_live(buy, settings, params)
            return await self._pay(buy, settings, params)
        except asyncio.CancelledError:
            if self._unkept is not None:
                raise self._unkept from None
            raise

    async def _buy_live(self, buy: Buy, settings: ClaudeSettings, params: Mapping[str, Any]) -> Kept:
        while not await self._claimed(buy):
            # Another process is at it, or was when we looked.
            if (found := self._found(buy)) is not None:
                return found
        try:
            kept = await self._kept_before(buy)
            if kept is None:
                kept = await self._pay(buy, settings, params)
        except CallFailedError:
            # Waited for, so that whoever tries again at once is not held up by us.
            with contextlib.suppress(FourcellsError):
                await asyncio.shield(asyncio.wrap_future(self._holds.release([buy.call])))
            raise
        except BaseException:
            # Who is cancelled, or stops the run, has no time; and a claim ends with its process anyway.
            self._holds.release([buy.call])
            raise
        self._holds.let_go([buy.call])
        return kept

    async def _kept_before(self, buy: Buy) -> Kept | None:
        """The reply that another process kept before we had the claim.

        Raises:
            CallFailedError: When it is in an open batch.
        """
        # In this order, since a batch is closed after its replies are kept.
        batch = await self._on_the_way.batch_of(custom_id_of(*buy.call))
        kept = self._found(buy)
        if kept is None and batch is not None:
            raise CallFailedError(_in_batch(batch))
        return kept

    async def _claimed(self, buy: Buy) -> bool:
        """Claim an attempt; False after a wait when another process is buying it."""
        if await self._holds.claim(buy.call):
            return True
        await self.clock.sleep(buy.look_s)
        buy.look_s = min(_LONGEST_LOOK_S, buy.look_s * 1.5)
        return False

    async def _pay(self, buy: Buy, settings: ClaudeSettings, params: Mapping[str, Any]) -> Kept:
        worst_usd = self._worst_usd(settings, params)
        if not await self.budget.reserve(worst_usd):
            raise CallFailedError(_OVER_BUDGET)
        paid_usd = 0.0
        try:
            if self.batches is None:
                kept = await self.live.send(settings, buy.request_key, buy.attempt, params)
                # Whatever becomes of it now.
                buy.paid, paid_usd = True, kept.cost_usd
                await self._keeps.do(Attempt(buy.request_key, buy.attempt, kept))
            else:
                kept, buy.paid = await self.batches.send(settings, buy.request_key, buy.attempt, params)
                paid_usd = kept.cost_usd if buy.paid else 0.0
        except StoreError as error:
            self._buy_no_more(error)
            raise
        finally:
            self.budget.settle(worst_usd, paid_usd)
        return kept

    def _buy_no_more(self, error: StoreError) -> None:
        """A reply was not kept, so the next ones would be lost as well: end all that is not in flight."""
        if self._unkept is None:
            self._unkept = error
            self._ending = asyncio.create_task(self._end_all())

    async def _end_all(self) -> None:
        while self._unkept is not None and (buys := [buy for buy in self._buys.values() if not buy.task.done()]):
            for buy in buys:
                # What is in flight may come back without a reply, and would be sent again.
                if buy.task not in self.committed:
                    buy.task.cancel()
            await asyncio.wait([buy.task for buy in buys], timeout=_LOOK_AT_ENDING_S)

    def _keep_all(self, attempts: list[Attempt]) -> list[bool]:
        return self.journal.keep_all(attempts)

    def _found(self, buy: Buy) -> Kept | None:
        replies = self.journal.replies(buy.request_key)
        return replies[buy.attempt] if len(replies) > buy.attempt else None

    def _worst_usd(self, settings: ClaudeSettings, params: Mapping[str, Any]) -> float:
        if self.budget.limit_usd is None:
            return 0.0
        n_bytes = len(json.dumps(params, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return rates_of(settings).worst(n_bytes // _BYTES_A_TOKEN, params["max_tokens"], batch=self.batch)


def _discard(begun: set[Buy], buy: Buy, _: object) -> None:
    begun.discard(buy)


def _in_batch(batch: OpenBatch) -> Failure:
    name = "that is being submitted" if batch.batch_id is None else batch.batch_id
    return Failure(
        state=State.ERRORED,
        kind=IN_BATCH,
        message=f"it is in message batch {name}, on its way; the same command with --batch waits for it",
    )
