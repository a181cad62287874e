"""Who else is at a call: claims, kept alive as long as a call of ours is under way, and batches that are open."""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeAlias

from schemas.errors import FourcellsError
from tasks.models.claude.grouped import Grouped
from tasks.store.entries import HeldError
from tasks.store.journal import Journal
from tasks.store.open_batch import OpenBatch

log = logging.getLogger("fourcells.models")

# A claim ends with its process. Its time is for a process that stands still: suspended, or stopped with Ctrl-Z.
_LEASE_S: Final = 600.0
_RENEW_EVERY_S: Final = 60.0
# So many at once would hold the event loop.
_MOST_HERE: Final = 100

Call: TypeAlias = tuple[str, int]


class Holds:
    """Claims on calls: taken before a call is made, renewed until it is over. Used from one event loop only.

    Args:
        journal: Holds them for all processes.
        owner: Names the run in claims.
        writers: Threads that wait for the disk.
        sleep: Waits between renewals. Not a run's clock: the time of claims is the database's own.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        owner: str,
        writers: ThreadPoolExecutor,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._journal = journal
        self._owner = owner
        self._writers = writers
        self._sleep = sleep
        self._held: set[Call] = set()
        self._claims = Grouped(writers, self._claim_now_or_wait, here=self._claim_now, unwanted=self._give_back)
        self._renewing: asyncio.Task[None] | None = None

    async def claim(self, call: Call) -> bool:
        """Claim a call; False while somebody else is at it.

        Raises:
            StoreError: When the journal cannot be used.
        """
        claimed = await self._claims.do(call)
        if claimed:
            self._hold([call])
        return claimed

    async def claim_all(self, calls: Sequence[Call]) -> set[Call]:
        """Claim many calls in one transaction, and return those that nobody else is at. Not to be cancelled.

        Raises:
            StoreError: As above.
        """
        loop = asyncio.get_running_loop()
        taken = await loop.run_in_executor(self._writers, self._claim_now_or_wait, calls)
        claimed = {call for call, is_ours in zip(calls, taken, strict=True) if is_ours}
        self._hold(claimed)
        return claimed

    def release(self, calls: Collection[Call]) -> "Future[None]":
        """Give claims back; others may make these calls as soon as the result is there."""
        self.let_go(calls)
        return self._writers.submit(self._journal.release_all, tuple(calls), owner=self._owner)

    def let_go(self, calls: Collection[Call]) -> None:
        """Renew claims no longer: their replies are kept, and nobody asks for them any more."""
        self._held.difference_update(calls)
        if not self._held and self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None

    def _hold(self, calls: Collection[Call]) -> None:
        self._held.update(calls)
        if self._held and self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        while True:
            await self._sleep(_RENEW_EVERY_S)
            wanted = [(*call, _LEASE_S) for call in self._held]
            renew = functools.partial(self._journal.renew_all, wanted, owner=self._owner)
            try:
                await asyncio.get_running_loop().run_in_executor(self._writers, renew)
            except FourcellsError as error:
                # There are more chances before they run out; and what was paid for stops the run if it is not kept.
                log.warning("claims on calls under way were not renewed: %s", error)

    def _claim_now(self, calls: list[Call]) -> list[bool] | None:
        try:
            return None if len(calls) > _MOST_HERE else self._claim_now_or_wait(calls, patience_s=0.0)
        except HeldError:
            return None

    def _claim_now_or_wait(self, calls: Sequence[Call], *, patience_s: float | None = None) -> list[bool]:
        wanted = [(*call, _LEASE_S) for call in calls]
        return self._journal.claim_all(wanted, owner=self._owner, patience_s=patience_s)

    def _give_back(self, call: Call, claimed: bool) -> None:  # noqa: FBT001 - a result, not a switch
        if claimed:
            self.release([call])


class OnTheWay:
    """Requests that are in open batches, of whatever run and process. Used from one event loop only.

    Args:
        journal: Holds the batches.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamp: tuple[tuple[int, int], ...] = ()
        self._batches: dict[str, OpenBatch] = {}
        self._reading = asyncio.Lock()

    async def batch_of(self, custom_id: str) -> OpenBatch | None:
        """The open batch that holds a request, as of now. Batches are read again only when one has changed.

        Raises:
            StoreError: When the journal cannot be read.
        """
        if self._journal.batches_stamp() != self._stamp:
            async with self._reading:
                stamp = self._journal.batches_stamp()
                if stamp != self._stamp:
                    batches = await asyncio.to_thread(self._journal.open_batches)
                    self._batches = {each: batch for batch in batches for each in batch.custom_ids}
                    self._stamp = stamp
        return self._batches.get(custom_id)
