"""A stub of the Messages API: in a thread for tests, or as a process of its own.

    python -m tests.stub.server --port 0 --settings '{"latency_s": 0.2}'

prints its address and serves until its standard input closes or it is told to end. It never leaves this machine.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from tests.stub.counts import Stats
from tests.stub.routes import Routes
from tests.stub.settings import Fault, StubSettings
from tests.stub.wire import Line

HOST: Final = "127.0.0.1"
_BACKLOG: Final = 1_024
_T = TypeVar("_T")


class Serving:
    """A listening server on the running loop."""

    def __init__(self, routes: Routes, server: asyncio.Server, lines: set[Line]) -> None:
        self.routes = routes
        self.url = routes.base_url
        self._server = server
        self._lines = lines

    @classmethod
    async def begin(cls, settings: StubSettings, port: int = 0) -> Self:
        """Listen; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        routes = Routes(loop, settings)
        lines: set[Line] = set()
        server = await loop.create_server(lambda: Line(routes.handle, lines), HOST, port, backlog=_BACKLOG)
        routes.base_url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        return cls(routes, server, lines)

    async def end(self) -> None:
        """Close every connection, whatever waits on it."""
        self._server.close()
        for line in list(self._lines):
            line.reset()
        await asyncio.sleep(0)


class StubServer:
    """A stub in a thread of this process.

    >>> with StubServer() as stub:
    ...     stub.stats().messages
    0
    """

    def __init__(self, settings: StubSettings | None = None) -> None:
        self.url = ""
        self._settings = settings or StubSettings()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stub", daemon=True)
        self._serving: Serving | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        began = asyncio.run_coroutine_threadsafe(Serving.begin(self._settings), self._loop)
        self._serving = began.result()
        self.url = self._serving.url
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._serving is not None
        asyncio.run_coroutine_threadsafe(self._serving.end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def stats(self) -> Stats:
        """What it saw since it began or was reset."""
        return self._on_loop(lambda routes: routes.counts.stats())

    def bodies(self, route: str = "POST /v1/messages") -> list[Any]:
        """The bodies of a route's requests, in the order of arrival."""
        found = self._on_loop(lambda routes: [body for where, body in routes.counts.bodies if where == route])
        return [json.loads(body) for body in found]

    def change(self, *faults: Fault, **settings: object) -> None:
        """Behave otherwise from now on: these faults, and these settings where they differ from now."""
        self._on_loop(lambda routes: routes.change(_changed(routes.settings, faults, settings)))

    def reset(self, *faults: Fault, **settings: object) -> None:
        """Forget everything, batches and prompt cache too; then as `change`, beginning from how it was made."""
        self._on_loop(lambda routes: routes.reset(_changed(self._settings, faults, settings)))

    def _on_loop(self, call: Callable[[Routes], _T]) -> _T:
        assert self._serving is not None
        routes = self._serving.routes
        done: Future[_T] = Future()

        def run() -> None:
            try:
                done.set_result(call(routes))
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to the caller
                done.set_exception(error)

        self._loop.call_soon_threadsafe(run)
        return done.result()


def _changed(settings: StubSettings, faults: tuple[Fault, ...], others: dict[str, object]) -> StubSettings:
    return StubSettings.model_validate({**settings.model_dump(), **others, "faults": faults})


async def serve(settings: StubSettings, port: int) -> None:
    """Serve until standard input closes or a signal comes."""
    serving = await Serving.begin(settings, port)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, over.set)
    watch = threading.Thread(target=_wait_for_end, args=(loop, over), daemon=True)
    watch.start()
    sys.stdout.write(f"{serving.url}\n")
    sys.stdout.flush()
    await over.wait()
    await serving.end()


def _wait_for_end(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    # Not through sys.stdin: its lock, held while waiting, makes the interpreter abort when it ends.
    while os.read(0, 1 << 16):
        pass
    # The loop may have ended by a signal meanwhile.
    if not loop.is_closed():
        loop.call_soon_threadsafe(over.set)


def main(arguments: list[str]) -> int:
    """The process."""
    parser = argparse.ArgumentParser(prog="python -m tests.stub.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--settings", default="{}", help="JSON of tests.stub.settings.StubSettings")
    given = parser.parse_args(arguments)
    asyncio.run(serve(StubSettings.model_validate_json(given.settings), given.port))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
