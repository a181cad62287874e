"""Runs that end before their end: Ctrl-C, a caller that goes away, an error that every row would meet."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from schemas.errors import StoppedError
from tasks.models.claude import desk
from tasks.models.claude.errors import EndpointError
from tasks.models.claude.request import request_key
from tasks.store.journal import Journal
from tests.tasks.models.claude.conftest import MakeDesk
from tests.tasks.models.claude.endpoint import Endpoint, FakeClock, Gate, asked, many, refuse, reply, request


class _Told(logging.Handler):
    """Does something when a line is logged."""

    def __init__(self, do: Callable[[], None]) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._do = do

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._do()


@pytest.fixture
def on_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], None]], _Told]]:
    handlers: list[_Told] = []
    monkeypatch.setattr(desk, "_SOON_S", 0.01)

    def listen(do: Callable[[], None]) -> _Told:
        handlers.append(_Told(do))
        desk.log.addHandler(handlers[-1])
        return handlers[-1]

    yield listen
    for handler in handlers:
        desk.log.removeHandler(handler)


WAITING = "waiting for 2 calls in flight, so that what was paid for is kept; Ctrl-C again leaves them"
OnLog = Callable[[Callable[[], None]], _Told]


def _held(endpoint: Endpoint, gate: Gate) -> None:
    """The first call comes back at once, the others wait at the gate."""

    async def handler(params: dict[str, Any]) -> httpx2.Response:
        if asked(params) != "question 0":
            await gate.wait()
        return reply()

    endpoint.handler = handler


def test_who_stops_early_makes_no_new_calls_and_loses_none_in_flight(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, on_log: OnLog
) -> None:
    gate = Gate()
    _held(endpoint, gate)
    told = on_log(gate.open)
    settings = endpoint.opened(concurrency=2)
    results = make_desk().converse(settings, many(20))
    next(results)
    for _ in range(2):
        gate.reached.acquire()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert told.lines == [WAITING]
    asked_for = [asked(params) for params in endpoint.requests]
    assert sorted(asked_for) == ["question 0", "question 1", "question 2"]
    assert all(journal.replies(request_key(settings, request(settings, text))) for text in asked_for)
    # What was not sent is free for the next run at once.
    assert len(list(make_desk().converse(settings, many(20)))) == 20
    assert len(endpoint.requests) == 20


def test_a_second_interrupt_leaves_at_once(endpoint: Endpoint, make_desk: MakeDesk, on_log: OnLog) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt("second")

    gate = Gate()
    _held(endpoint, gate)
    on_log(interrupt)
    results = make_desk().converse(endpoint.opened(concurrency=2), many(20))
    next(results)
    for _ in range(2):
        gate.reached.acquire()
    with pytest.raises(KeyboardInterrupt, match="second"):
        results.throw(KeyboardInterrupt("first"))
    assert endpoint.in_flight == 2
    gate.open()


def test_what_stops_together_speaks_once(endpoint: Endpoint, make_desk: MakeDesk, on_log: OnLog) -> None:
    gate = Gate()
    told = on_log(gate.open)

    async def handler(params: dict[str, Any]) -> httpx2.Response:
        await gate.wait()
        return reply()

    endpoint.handler = handler
    desk, errors = make_desk(), []

    def ask(position: int) -> None:
        with pytest.raises(StoppedError) as caught:
            list(desk.converse(endpoint.opened(concurrency=2), [many(2)[position]]))
        errors.append(caught.value)

    threads = [threading.Thread(target=ask, args=(position,)) for position in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        gate.reached.acquire()
    desk.stop()
    for thread in threads:
        thread.join()
    assert len(errors) == 2
    assert told.lines == [WAITING]


def test_a_closed_generator_stops_too(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    results = make_desk().converse(endpoint.opened(concurrency=1), many(500))
    next(results)
    results.close()
    n = len(endpoint.requests)
    assert n < 500
    assert endpoint.in_flight == 0


def test_an_error_of_all_waits_for_calls_in_flight(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, on_log: OnLog
) -> None:
    gate, in_flight = Gate(), asyncio.Event()
    on_log(gate.open)

    async def handler(params: dict[str, Any]) -> httpx2.Response:
        if asked(params) == "question 0":
            in_flight.set()
            await gate.wait()
            return reply()
        await in_flight.wait()
        return refuse(401, "authentication_error", "invalid x-api-key")

    endpoint.handler = handler
    settings = endpoint.opened(concurrency=2)
    with pytest.raises(EndpointError, match="the API key was refused"):
        list(make_desk().converse(settings, many(20)))
    assert journal.replies(request_key(settings, request(settings, "question 0")))
    assert len(endpoint.requests) == 2


def test_a_call_that_waits_to_be_tried_again_is_not_waited_for(
    endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = threading.Event()

    async def for_ever(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(clock, "sleep", for_ever)
    endpoint.handler = lambda params: reply() if "0" in asked(params) else refuse(429, "rate_limit_error")
    results = make_desk().converse(endpoint.opened(), many(2))
    next(results)
    waiting.wait()
    results.close()
    assert len(endpoint.requests) == 2


def test_ctrl_c_reaches_who_waits_for_results(endpoint: Endpoint, make_desk: MakeDesk, on_log: OnLog) -> None:
    gate = Gate()
    told = on_log(gate.open)
    main = threading.main_thread().ident
    assert main is not None

    arrived: list[str] = []

    async def handler(params: dict[str, Any]) -> httpx2.Response:
        arrived.append(asked(params))
        if len(arrived) == 2:
            signal.pthread_kill(main, signal.SIGINT)
        await gate.wait()
        return reply()

    endpoint.handler = handler
    with pytest.raises(KeyboardInterrupt):
        list(make_desk().converse(endpoint.opened(concurrency=2), many(20)))
    assert told.lines == [WAITING]
    assert len(endpoint.requests) == 2
