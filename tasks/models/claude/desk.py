"""The desk: where stages hand in what their rows ask of a model, and get the results as they come."""

import asyncio
import logging
import queue
import threading
import weakref
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Final, Generic, TypeVar

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError, StoppedError
from schemas.seats import Failure, Given
from schemas.state import State
from tasks.models.claude.budget import Budget
from tasks.models.claude.connection import check_credentials, wire
from tasks.models.claude.conversation import Conversation
from tasks.models.claude.prices import rates_of
from tasks.models.claude.purchases import BatchSender, Buy, Purchases
from tasks.models.claude.sending import Clock, LiveSender
from tasks.store.journal import Journal

log = logging.getLogger("fourcells.models")

# Talks under way for each call that may be in flight: enough that those that wait to be tried again, or look
# something up, leave no slot empty; few enough that their texts fit into memory.
_TALKS_A_SLOT: Final = 4
_MORE_TALKS: Final = 64
_SOON_S: Final = 0.25
T = TypeVar("T")


class Desk:
    """Takes a run's talks with models, from any thread. One per run and process.

    Args:
        journal: Where replies are kept.
        budget: What the run may spend.
        batch: Send in message batches, at half the price.
        owner: Names this run in claims on calls; no two runs share it.
        clock: For waits and latencies.
    """

    def __init__(
        self, journal: Journal, *, budget: Budget, batch: bool = False, owner: str, clock: Clock | None = None
    ) -> None:
        clock = clock or Clock()
        committed: set[asyncio.Task[Any]] = set()
        self._stopped = False
        self._telling = threading.Lock()
        self._told = False
        self._sessions: weakref.WeakSet[_Session[Any]] = weakref.WeakSet()
        self._purchases = Purchases(
            journal=journal,
            budget=budget,
            live=LiveSender(committed, clock=clock),
            batches=_batches(journal, budget, clock) if batch else None,
            owner=owner,
            committed=committed,
            clock=clock,
            writers=wire().writers,
        )

    @property
    def paid_usd(self) -> float:
        """What has been paid so far, in US dollars."""
        return self._purchases.budget.spent_usd

    def stop(self) -> None:
        """End every talk under way, and each that would begin, until `resume`: who waits for them has `StoppedError`.

        For another thread than those that wait. No new call is made; what is in flight is kept first, as after a
        Ctrl-C of their own.
        """
        self._stopped = True
        for session in tuple(self._sessions):
            session.interrupt()

    def resume(self) -> None:
        """Take talks again."""
        self._stopped = False
        self._purchases.resume()

    def close(self) -> None:
        """Close the journal: nothing is asked any more."""
        self._purchases.journal.close()

    def converse(
        self,
        settings: ClaudeSettings,
        talks: Sequence[Callable[[Conversation], Awaitable[T | Failure]]],
        *,
        trial: int = 0,
    ) -> Generator[Given[T], None, None]:
        """Hold talks, each with a conversation of its own, and yield what they came to, in the order they end.

        An unforeseen error in a talk is the failure of its row. When the caller stops early, no new call is made,
        and those in flight are waited for, since they are paid for.

        Args:
            settings: Of the seat.
            talks: Called in the event loop's thread; none may block for long.
            trial: The reading that the rows belong to.

        Raises:
            FourcellsError: When a key, an extra, a price or the endpoint is wrong; calls in flight are kept first.
        """
        check_credentials(settings)
        rates_of(settings)
        session = _Session(self._purchases, settings, talks, trial=trial, waits=self._tell)
        self._sessions.add(session)
        if self._stopped:
            session.interrupt()
        else:
            self._told = False
        return session.results()

    def _tell(self) -> None:
        """Say what a stop waits for; its sessions wait together, so the first speaks for all."""
        n = sum(not call.done() for call in tuple(self._purchases.committed))
        with self._telling:
            if n and not self._told:
                self._told = True
                calls = "1 call" if n == 1 else f"{n} calls"
                log.warning(
                    "waiting for %s in flight, so that what was paid for is kept; Ctrl-C again leaves them", calls
                )


class _Session(Generic[T]):
    """One call of `converse`: lanes in the event loop, a queue to the thread that wants the results."""

    def __init__(
        self,
        purchases: Purchases,
        settings: ClaudeSettings,
        talks: Sequence[Callable[[Conversation], Awaitable[T | Failure]]],
        *,
        trial: int,
        waits: Callable[[], None],
    ) -> None:
        self._purchases = purchases
        self._settings = settings
        self._talks = talks
        self._trial = trial
        self._waits = waits
        self._begun: set[Buy] = set()
        self._queue: queue.SimpleQueue[Given[T] | BaseException] = queue.SimpleQueue()
        self._stopping = asyncio.Event()
        self._finished = threading.Event()
        self._n_begun = 0
        self._n_open = 0

    def interrupt(self) -> None:
        """Let whoever waits for the next reply wait no longer."""
        self._queue.put(StoppedError("the run was stopped"))

    def results(self) -> Generator[Given[T], None, None]:
        if not self._talks:
            return
        # The loop itself holds tasks weakly.
        self._running = asyncio.run_coroutine_threadsafe(self._run(), wire().loop)
        try:
            for _ in self._talks:
                given = self._queue.get()
                if isinstance(given, BaseException):
                    raise given
                yield given
        finally:
            self._stop()

    def _stop(self) -> None:
        """Let nothing new begin, and wait for what is in flight; a second Ctrl-C ends the wait."""
        if self._finished.is_set() or threading.current_thread() is wire().thread:
            return
        wire().loop.call_soon_threadsafe(self._stopping.set)
        if self._finished.wait(_SOON_S):
            return
        self._waits()
        self._finished.wait()

    async def _run(self) -> None:
        try:
            with wire().channel(self._settings).limiter.allowing(self._settings.concurrency):
                await self._hold_talks()
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for it
            self._queue.put(error)
        finally:
            self._finished.set()

    async def _hold_talks(self) -> None:
        # A batch is worth its wait only when all of it goes out together.
        most = len(self._talks) if self._purchases.batch else self._settings.concurrency * _TALKS_A_SLOT + _MORE_TALKS
        lanes: list[asyncio.Task[None]] = []
        while len(lanes) < most and self._n_begun < len(self._talks) and not self._stopping.is_set():
            self._n_open += 1
            lanes.append(asyncio.create_task(self._lane()))
            # One after the other: what is ready to go out does so before more is prepared.
            await asyncio.sleep(0)
        await self._stopping.wait()
        for lane in lanes:
            lane.cancel()
        if lanes:
            await asyncio.wait(lanes)
        await self._purchases.settle(self._begun)

    async def _lane(self) -> None:
        """Hold one talk after another; the last lane to end, or an error of all, ends the session."""
        try:
            while self._n_begun < len(self._talks):
                position, self._n_begun = self._n_begun, self._n_begun + 1
                await self._hold(position)
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for it
            if not self._stopping.is_set():
                self._queue.put(error)
                self._stopping.set()
        self._n_open -= 1
        if not self._n_open:
            self._stopping.set()

    async def _hold(self, position: int) -> None:
        conversation = Conversation(self._settings, self._purchases, trial=self._trial, begun=self._begun)
        reply: T | Failure
        try:
            reply = await self._talks[position](conversation)
        except FourcellsError:
            raise
        except Exception as error:  # noqa: BLE001 - one row's bug must not cost the others
            reply = Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error))
        self._queue.put(Given(position, reply, conversation.spent))


def _batches(journal: Journal, budget: Budget, clock: Clock) -> BatchSender:
    from tasks.models.claude.batches import Batches  # noqa: PLC0415 - most runs send no batch

    return Batches(journal, budget, clock=clock)
