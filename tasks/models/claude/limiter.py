"""How many calls may be in flight: never more than configured, fewer while the server is overloaded."""

import asyncio
import contextlib
import heapq
import itertools
import logging
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

log = logging.getLogger("fourcells.models")

_SMALLEST_WINDOW: Final = 32
_TOO_MANY: Final = 0.25
_LOWER_TO: Final = 0.7
_RAISE_BY: Final = 0.1
_SAY_EVERY_S: Final = 10.0
_TICKETS: Final = itertools.count()


def draw_ticket() -> int:
    """A place in the queue. A call that is tried again keeps its own, so it never waits behind calls drawn later."""
    return next(_TICKETS)


class Slot(NamedTuple):
    """Leave to have one call in flight.

    Attributes:
        window: When it was given, in windows; says whether its outcome is news.
    """

    window: int


class Limiter:
    """Slots for calls to one model at one endpoint, over all threads and shards. Used from the one event loop only.

    Whenever more than a quarter of the attempts of a window were overloads, 0.7 of the slots remain; after a window
    with fewer a tenth is added again. So single 429 among many good replies change nothing.

    Args:
        name: What the log calls it.
        now: Seconds of a monotonic clock.
    """

    def __init__(self, name: Callable[[], str], *, now: Callable[[], float] = time.monotonic) -> None:
        self.in_flight = 0
        self.level = 0
        self._name = name
        self._now = now
        self._most = 0
        self._wanted: list[int] = []
        self._queue: list[tuple[int, int, asyncio.Future[None]]] = []
        self._entries = itertools.count()
        self._lowered = False
        self._admitting = False
        self._window = 0
        self._finished = 0
        self._overloads = 0
        self._said_at: float | None = None

    @contextlib.contextmanager
    def allowing(self, most: int) -> Iterator[None]:
        """Allow `most` calls in flight as long as this is open; of several limits at once the smallest holds."""
        self._wanted.append(most)
        self._set_most()
        try:
            yield
        finally:
            self._wanted.remove(most)
            self._set_most()

    async def acquire(self, ticket: int) -> Slot:
        """Wait for a slot; the lowest ticket is first. Give it back with `release`.

        Raises:
            CancelledError: When the caller no longer waits; a slot just given to it goes to the next.
        """
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (ticket, next(self._entries), turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.in_flight -= 1
                self._admit()
            raise
        return Slot(self._window)

    def release(self, slot: Slot, *, overloaded: bool) -> None:
        """Give a slot back, and say whether the server was overloaded."""
        self.in_flight -= 1
        # What was in flight when the number was lowered would only lower it a second time for the same reason.
        if slot.window == self._window:
            self._count(overloaded=overloaded)
        self._admit()

    def _count(self, *, overloaded: bool) -> None:
        size = max(_SMALLEST_WINDOW, self.level)
        self._finished += 1
        self._overloads += overloaded
        if self._overloads > _TOO_MANY * size:
            self._window += 1
            self._finished = self._overloads = 0
            self._lower()
        elif self._finished >= size:
            self._finished = self._overloads = 0
            self._raise()

    def _lower(self) -> None:
        before = self.level
        self.level = max(1, int(self.level * _LOWER_TO))
        self._lowered = self._lowered or self.level < before
        now = self._now()
        if self.level < before and (self._said_at is None or now - self._said_at >= _SAY_EVERY_S):
            self._said_at = now
            log.warning(
                "%s is overloaded (429 or 529): at most %d of %d calls in flight for now",
                self._name(), self.level, self._most,
            )  # fmt: skip

    def _raise(self) -> None:
        self.level = min(self._most, self.level + max(1, int(self.level * _RAISE_BY)))
        self._lowered = self._lowered and self.level < self._most

    def _set_most(self) -> None:
        if not self._wanted:
            return
        self._most = min(self._wanted)
        self.level = min(self.level, self._most) if self._lowered else self._most
        self._admit()

    def _admit(self) -> None:
        """Let the next in, one in each turn of the loop: of many calls begun together none would get out soon."""
        if not self._admitting and self._queue and self.in_flight < self.level:
            self._admitting = True
            asyncio.get_running_loop().call_soon(self._admit_one)

    def _admit_one(self) -> None:
        self._admitting = False
        while self._queue and self.in_flight < self.level:
            _, _, turn = heapq.heappop(self._queue)
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
                break
        self._admit()
