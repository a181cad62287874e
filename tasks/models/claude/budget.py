"""The money of one run: a call's worst case is set aside before it is made, and what it did cost is booked after."""

import asyncio
import math
from collections import deque
from typing import Final

# Sums of thousands of prices are off by far less, and no call costs as little.
_CENT_OF_A_CENT_OF_A_CENT: Final = 1e-6


class Budget:
    """What a run may spend. For one event loop only.

    Args:
        limit_usd: Most US dollars in all; None is no limit.

    >>> budget = Budget(1.0)
    >>> asyncio.run(budget.reserve(0.75)), asyncio.run(budget.reserve(2.0))
    (True, False)
    """

    def __init__(self, limit_usd: float | None) -> None:
        self._limit_usd = math.inf if limit_usd is None else limit_usd
        self._spent_usd = 0.0
        self._reserved_usd = 0.0
        self._n_reserved = 0
        self._waiting: deque[tuple[float, asyncio.Future[bool]]] = deque()

    @property
    def spent_usd(self) -> float:
        """What this run has paid so far."""
        return self._spent_usd

    @property
    def limit_usd(self) -> float | None:
        """Most that it may pay, None without a limit."""
        return None if math.isinf(self._limit_usd) else self._limit_usd

    async def reserve(self, usd: float) -> bool:
        """Set a call's worst case aside, or say that the budget does not reach.

        While other calls are in flight this waits: they mostly cost less than was set aside for them. Who comes
        first is served first, so a dear call is not overtaken by cheap ones for ever. Nobody waits for money that
        cannot come: a call that would not fit with everything in flight free of charge is refused at once.

        Args:
            usd: Most that the call can cost.
        """
        if not self._could_fit(usd):
            return False
        if not self._waiting and self._fits(usd):
            self._take(usd)
            return True
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        entry = (usd, future)
        self._waiting.append(entry)
        answered = False
        try:
            fits = await future
            answered = True
        finally:
            if not answered:
                self._leave(entry)
        return fits

    def settle(self, reserved_usd: float, paid_usd: float) -> None:
        """Give back what was set aside for a call and book what it cost: 0 for one that was not made.

        Args:
            reserved_usd: As reserved; 0 books a cost that was never reserved (a batch of an earlier run).
            paid_usd: Booked even where it is more than was set aside: it was paid.
        """
        if reserved_usd > 0:
            self._n_reserved -= 1
            self._reserved_usd = self._reserved_usd - reserved_usd if self._n_reserved else 0.0
        self._spent_usd += paid_usd
        self._serve()

    def _could_fit(self, usd: float) -> bool:
        """Whether the call would fit if nothing in flight cost anything."""
        return self._spent_usd + usd <= self._limit_usd + _CENT_OF_A_CENT_OF_A_CENT

    def _fits(self, usd: float) -> bool:
        return self._spent_usd + self._reserved_usd + usd <= self._limit_usd + _CENT_OF_A_CENT_OF_A_CENT

    def _take(self, usd: float) -> None:
        # A call that costs nothing is no hope for those who wait.
        if usd > 0:
            self._n_reserved += 1
            self._reserved_usd += usd

    def _leave(self, entry: tuple[float, asyncio.Future[bool]]) -> None:
        """Somebody who waited was cancelled, perhaps when the answer was already on its way."""
        usd, future = entry
        if entry in self._waiting:
            self._waiting.remove(entry)
        if not future.cancelled() and future.done() and future.result():
            self.settle(usd, 0.0)
        self._serve()

    def _serve(self) -> None:
        """Answer those who wait, in order, up to the first whose answer is still open."""
        while self._waiting:
            usd, future = self._waiting[0]
            if not future.done():
                if self._could_fit(usd) and not self._fits(usd):
                    return
                fits = self._fits(usd)
                if fits:
                    self._take(usd)
                future.set_result(fits)
            self._waiting.popleft()
