"""Buying replies, each of them once: over equal requests of this run, over runs at the same time, within the budget."""

import asyncio
import contextlib
import functools
import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError
from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude.budget import Budget
from tasks.models.claude.errors import BUDGET, CallFailedError
from tasks.models.claude.grouped import Grouped
from tasks.models.claude.prices import rates_of
from tasks.models.claude.request import ModelRequest
from tasks.models.claude.sending import Clock, LiveSender, Sender
from tasks.store.entries import HeldError
from tasks.store.journal import Attempt, Journal, Kept

_MARGIN_S: Final = 60.0
_FIRST_LOOK_S: Final = 0.2
_LONGEST_LOOK_S: Final = 2.0
_LOOK_AT_CLOSING_S: Final = 0.1
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


@dataclass(eq=False)
class Buy:
    """One attempt at one request on its way to the journal.

    Attributes:
        n_waiting: Talks that want it; when nobody does any more, and nothing was sent, it ends.
        paid: False when the reply turned out to be there.
    """

    request_key: str
    attempt: int
    task: "asyncio.Task[Kept]" = field(init=False)
    n_waiting: int = 0
    paid: bool = False


@dataclass(eq=False)
class Purchases:
    """All that one run buys. Used from the one event loop only.

    Attributes:
        journal: Where replies are kept before anybody reads them.
        sender: How calls are made.
        live: For what goes one by one anyway.
        batch: Whether `sender` sends batches, which has its own way of not buying twice, and of keeping replies.
        committed: Tasks that wait for a reply that was asked for, or keep one: these are never cancelled.
        owner: Names this run in claims.
    """

    journal: Journal
    budget: Budget
    sender: Sender
    live: LiveSender
    batch: bool
    owner: str
    committed: "set[asyncio.Task[Any]]"
    clock: Clock
    writers: ThreadPoolExecutor

    def __post_init__(self) -> None:
        """Nothing is bought yet."""
        self._buys: dict[tuple[str, int], Buy] = {}
        self._last: dict[str, int] = {}
        self._keeps = Grouped(self.writers, self._keep_all)
        self._claims = Grouped(self.writers, self._claim_all, here=self._claim_now, unwanted=self._give_back)

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
            await asyncio.wait([buy.task for buy in pending], timeout=_LOOK_AT_CLOSING_S)

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
        if not self.batch:
            found = await self._claimed_or_found(buy, settings)
            if found is not None:
                return found
        buy.paid = True
        try:
            return await self._pay(buy, settings, params)
        except CallFailedError:
            # Waited for, so that whoever tries again at once is not held up by us.
            if not self.batch:
                with contextlib.suppress(FourcellsError):
                    await asyncio.shield(asyncio.wrap_future(self._release(buy)))
            raise
        except BaseException:
            # Who is cancelled, or stops the run, has no time; and a claim ends with its process anyway.
            if not self.batch:
                self._release(buy)
            raise

    async def _pay(self, buy: Buy, settings: ClaudeSettings, params: Mapping[str, Any]) -> Kept:
        worst_usd = self._worst_usd(settings, params)
        if not await self.budget.reserve(worst_usd):
            raise CallFailedError(_OVER_BUDGET)
        cost_usd = 0.0
        try:
            kept = await self.sender.send(settings, buy.request_key, buy.attempt, params)
            cost_usd = kept.cost_usd
            if not self.batch:
                await self._keeps.do(Attempt(buy.request_key, buy.attempt, kept))
        finally:
            self.budget.settle(worst_usd, cost_usd)
        return kept

    async def _claimed_or_found(self, buy: Buy, settings: ClaudeSettings) -> Kept | None:
        """Claim an attempt, or wait for the reply that another process is buying."""
        # Long enough for every repetition; a process that ends takes its claims with it, so nobody waits for the dead.
        seconds = settings.patience_s + settings.deadline_s + _MARGIN_S
        look_s = _FIRST_LOOK_S
        while not await self._claims.do((buy, seconds)):
            await self.clock.sleep(look_s)
            look_s = min(_LONGEST_LOOK_S, look_s * 1.5)
            if (found := self._found(buy)) is not None:
                return found
        # Between our look into the journal and the claim another process may have bought it.
        found = self._found(buy)
        if found is not None:
            self._release(buy)
        return found

    def _keep_all(self, attempts: list[Attempt]) -> list[None]:
        self.journal.keep_all(attempts)
        return [None] * len(attempts)

    def _claim_now(self, wanted: list[tuple[Buy, float]]) -> list[bool] | None:
        try:
            return self._claim_all(wanted, patience_s=0.0)
        except HeldError:
            return None

    def _claim_all(self, wanted: list[tuple[Buy, float]], *, patience_s: float | None = None) -> list[bool]:
        claims = [(buy.request_key, buy.attempt, seconds) for buy, seconds in wanted]
        return self.journal.claim_all(claims, owner=self.owner, patience_s=patience_s)

    def _give_back(self, wanted: tuple[Buy, float], claimed: bool) -> None:  # noqa: FBT001 - a result, not a switch
        if claimed:
            self._release(wanted[0])

    def _release(self, buy: Buy) -> "Future[None]":
        return self.writers.submit(self.journal.release, buy.request_key, buy.attempt, owner=self.owner)

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
