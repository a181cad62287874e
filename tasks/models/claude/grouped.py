"""Work for a thread, in groups: waiting for the disk once is as dear for one reply as for ten."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Grouped(Generic[Item, Result]):
    """Hands items to a thread: one at once, and all that come while the thread is busy together after it.

    What was handed in is done, even when its caller is cancelled meanwhile. Used from one event loop only.

    Args:
        executor: Of the thread.
        work: Does a group and gives a result for each item, in order; what it raises, all of the group meet.
        here: Tried before, in the loop's own thread, which is quicker; None when it would have to wait.
        unwanted: Told of each item and result whose caller did not wait for it.
    """

    def __init__(
        self,
        executor: Executor,
        work: Callable[[list[Item]], list[Result]],
        *,
        here: Callable[[list[Item]], list[Result] | None] | None = None,
        unwanted: Callable[[Item, Result], None] | None = None,
    ) -> None:
        self._executor = executor
        self._work = work
        self._here = here
        self._unwanted = unwanted
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._busy: asyncio.Task[None] | None = None

    async def do(self, item: Item) -> Result:
        """Have an item done.

        Raises:
            CancelledError: When the caller no longer waits; the item is done all the same.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._busy is None:
            self._busy = asyncio.create_task(self._empty())
        try:
            return await future
        except asyncio.CancelledError:
            # Done already, and its caller, cancelled before its turn came, will never see it.
            if self._unwanted is not None and not future.cancelled() and future.done() and future.exception() is None:
                self._unwanted(item, future.result())
            raise

    async def _empty(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            items = [item for item, _ in group]
            try:
                results = None if self._here is None else self._here(items)
                if results is None:
                    results = await loop.run_in_executor(self._executor, self._work, items)
            except Exception as error:  # noqa: BLE001 - raised where somebody waits for it
                for _, future in group:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (item, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)
                elif self._unwanted is not None:
                    self._unwanted(item, result)
        self._busy = None
