"""Sending a request until a reply comes: slots, deadlines and repetitions under one limit of patience."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from schemas.claude import ClaudeSettings
from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude.connection import Channel, time_out, wire
from tasks.models.claude.errors import PATIENCE, CallFailedError, EndpointError, Fault, fault_of, silent_endpoint
from tasks.models.claude.limiter import draw_ticket
from tasks.models.claude.message import read_message, read_usage
from tasks.models.claude.prices import rates_of
from tasks.store.journal import Kept

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger("fourcells.models")

_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
_DEADLINES: Final = 2
# An address that has never answered for so long is a wrong address, not a busy server.
_UNREACHABLE_S: Final = 20.0

Post = Callable[[float], Awaitable["httpx2.Response"]]


@dataclass(frozen=True)
class Clock:
    """Time and chance, so that tests need neither.

    Attributes:
        now: Seconds of a monotonic clock.
        jitter: A number between two others, at random.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[float, float], float] = random.uniform  # noqa: S311 - it spreads calls, and guards nothing


class _Answer(NamedTuple):
    response: "httpx2.Response"
    latency_s: float


class LiveSender:
    """Sends calls one by one.

    Args:
        committed: Tasks whose reply may be on its way, which must not be cancelled; this adds those that send.
        clock: For waits and latencies.
    """

    def __init__(self, committed: set["asyncio.Task[Any]"], *, clock: Clock) -> None:
        self._committed = committed
        self._clock = clock
        self._silent_since: dict[Channel, float] = {}
        # What one call learnt, those that wait for their turn need not learn again.
        self._stops: dict[Channel, EndpointError] = {}
        self._unpriced: set[Channel] = set()
        self._told: set[Channel] = set()

    async def send(self, settings: ClaudeSettings, request_key: str, attempt: int, params: Mapping[str, Any]) -> Kept:  # noqa: ARG002
        """Send a request until a reply comes, and leave its task committed: the reply is not kept yet.

        Raises:
            CallFailedError: When no reply came under the settings' patience, or another attempt cannot help.
            FourcellsError: When every other call would meet the same.
        """
        channel = wire().channel(settings)
        messages = (await channel.line.opened()).messages.with_raw_response

        async def post(seconds: float) -> "httpx2.Response":
            with self._commit():
                raw = await messages.create(**params, timeout=time_out(seconds))
            return cast("httpx2.Response", raw.http_response)

        answer = await self._insist(settings, channel, post)
        body = answer.response.text
        usage = read_usage(body)
        if not usage and read_message(body) is not None and channel not in self._unpriced:
            self._unpriced.add(channel)
            log.warning("%s says of a reply not what it took: such replies are counted as $0", channel.line.where)
        return Kept(
            body=body,
            request_id=answer.response.headers.get("request-id"),
            received_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            latency_s=answer.latency_s,
            cost_usd=rates_of(settings).cost(usage, batch=False),
            batch=False,
        )

    async def count_tokens(self, settings: ClaudeSettings, params: Mapping[str, Any]) -> int | None:
        """Ask the server how many tokens a request's input has; None where it cannot say.

        Raises:
            FourcellsError: When every other call would meet the same.
        """
        from anthropic import AnthropicError  # noqa: PLC0415

        channel = wire().channel(settings)
        if not channel.line.counts_tokens or settings.provider == "bedrock":
            return None
        messages = (await channel.line.opened()).messages.with_raw_response

        async def post(seconds: float) -> "httpx2.Response":
            counted = {name: value for name, value in params.items() if name != "max_tokens"}
            try:
                raw = await messages.count_tokens(**counted, timeout=time_out(seconds))
            except AnthropicError as error:
                if getattr(error, "status_code", None) in {404, 405, 501}:
                    channel.line.counts_tokens = False
                    raise _NoSuchCallError from error
                raise
            return raw.http_response

        try:
            answer = await self._insist(settings, channel, post)
            return int(answer.response.json()["input_tokens"])
        except (_NoSuchCallError, CallFailedError, ValueError, KeyError, TypeError):
            return None

    async def _insist(self, settings: ClaudeSettings, channel: Channel, post: Post) -> _Answer:
        ticket = draw_ticket()
        began_s: float | None = None
        n_late = n = 0
        while True:
            slot = await channel.limiter.acquire(ticket)
            if (stop := self._stops.get(channel)) is not None:
                channel.limiter.release(slot, overloaded=False)
                raise stop
            started_s = self._clock.now()
            # Time in the queue is our own doing and asks nobody's patience.
            began_s = started_s if began_s is None else began_s
            left_s = settings.patience_s - (started_s - began_s)
            fault: Fault | None = None
            try:
                async with asyncio.timeout(min(settings.deadline_s, left_s)):
                    response = await post(settings.deadline_s)
                channel.line.answered = True
                return _Answer(response, self._clock.now() - started_s)
            except _NoSuchCallError:
                raise
            except Exception as error:  # noqa: BLE001 - what is no call's error is raised again there
                fault = self._fault(channel, error, settings)
            finally:
                channel.limiter.release(slot, overloaded=fault is not None and fault.overload)
            n_late += fault.late
            if not fault.again or n_late >= _DEADLINES:
                raise CallFailedError(fault.failure)
            wait_s = self._wait_s(n, fault)
            if self._clock.now() + wait_s - began_s >= settings.patience_s:
                raise CallFailedError(_out_of_patience(settings, n + 1, fault.failure))
            if fault.unreachable and channel not in self._told:
                self._told.add(channel)
                log.warning(
                    "no connection to %s (%s); trying again for up to %.0f s",
                    channel.line.where, fault.failure.message, settings.patience_s,
                )  # fmt: skip
            await self._clock.sleep(wait_s)
            n += 1

    @contextlib.contextmanager
    def _commit(self) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - coroutines of ours run in tasks
        self._committed.add(task)
        try:
            yield
        except BaseException:
            self._committed.discard(task)
            raise

    def _fault(self, channel: Channel, error: Exception, settings: ClaudeSettings) -> Fault:
        """Say what an error means; of an endpoint that has never answered and stays silent, that the run stops.

        Raises:
            EndpointError: When every other call would meet the same.
        """
        line = channel.line
        try:
            fault = fault_of(error, settings, where=line.where)
            line.answered = line.answered or not (fault.unreachable or fault.late)
            if fault.unreachable and not line.answered:
                now = self._clock.now()
                silent_s = now - self._silent_since.setdefault(channel, now)
                if silent_s >= _UNREACHABLE_S:
                    error = silent_endpoint(line.where, silent_s, fault.failure)
                    raise error
        except EndpointError as stop:
            self._stops[channel] = stop
            raise
        return fault

    def _wait_s(self, n: int, fault: Fault) -> float:
        """Seconds before the next attempt: anything up to a bound that doubles, so that callers spread out."""
        bound_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(n, 10))
        return max(self._clock.jitter(0.0, bound_s), fault.retry_after_s or 0.0)


class _NoSuchCallError(Exception):
    """The endpoint does not count tokens."""


def _out_of_patience(settings: ClaudeSettings, n_attempts: int, last: Failure) -> Failure:
    return Failure(
        state=State.TIMED_OUT,
        kind=PATIENCE,
        message=f"given up after {n_attempts} attempts, since another would come after {settings.patience_s:g} s; "
        f"the last: {last.kind}: {last.message}",
    )
