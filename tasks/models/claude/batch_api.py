"""The calls of the Message Batches API: each under a deadline, repeated like a live call, read from raw JSON."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from schemas.claude import ClaudeSettings
from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude.connection import time_out
from tasks.models.claude.errors import PATIENCE, CallFailedError, EndpointError, Fault, fault_of
from tasks.models.claude.sending import Clock

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

_PATH: Final = "/v1/messages/batches"
_DOWNLOADS: Final = 5
_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
# A batch is up to 256 MB, which no deadline of a single call is made for.
_SLOWEST_BYTES_A_SECOND: Final = 1_000_000
_PAGE: Final = 100
# What a status of an item would have been as an answer to a live call: its code, and the SDK's error.
_ERRORS: Final[Mapping[str, tuple[int, str]]] = {
    "invalid_request_error": (400, "BadRequestError"),
    "authentication_error": (401, "AuthenticationError"),
    "billing_error": (402, "PaymentRequiredError"),
    "permission_error": (403, "PermissionDeniedError"),
    "not_found_error": (404, "NotFoundError"),
    "request_too_large": (413, "RequestTooLargeError"),
    "rate_limit_error": (429, "RateLimitError"),
    "timeout_error": (504, "GatewayTimeoutError"),
    "overloaded_error": (529, "OverloadedError"),
}
_ANY_ERROR: Final = (500, "InternalServerError")
_T = TypeVar("_T")


class NoSuchBatchError(Exception):
    """The endpoint has no such batch, or none at all."""


class UnsureError(CallFailedError):
    """A batch was sent and no answer came: it may be there all the same."""


class UnreadableLineError(Exception):
    """A line of results that does not say whose it is."""


class Status(NamedTuple):
    """A batch as the endpoint shows it.

    Attributes:
        n_done: Requests whose result is there. The API counts them only when the whole batch has ended.
        lifetime_s: Seconds from its creation until the API ends it at the latest.
    """

    batch_id: str
    ended: bool
    n_done: int
    n_requests: int
    lifetime_s: float


class Result(NamedTuple):
    """What became of one request of a batch: `body` is the API's `result` object."""

    custom_id: str
    body: Mapping[str, Any]


class BatchApi:
    """Batches of one endpoint.

    Args:
        client: Of the endpoint.
        settings: Whose deadline and patience hold for each call.
        clock: For waits.
    """

    def __init__(self, client: "AsyncAnthropic", settings: ClaudeSettings, *, clock: Clock) -> None:
        self.where = str(client.base_url).rstrip("/")
        self._client = client
        self._settings = settings
        self._clock = clock

    async def submit(self, requests: Sequence[bytes], *, already: Callable[[], Awaitable[str | None]]) -> str:
        """Submit a batch, once.

        Args:
            requests: Each one's JSON.
            already: Looks for the batch among those of the endpoint. An attempt without an answer may have made it,
                so this is asked before another one.

        Returns:
            The batch's id.

        Raises:
            UnsureError: When nobody could say whether it was made.
            CallFailedError: When it was not made.
            EndpointError: When nothing can be had there.
        """
        body = b'{"requests":[' + b",".join(requests) + b"]}"
        seconds = self._settings.deadline_s + len(body) / _SLOWEST_BYTES_A_SECOND

        async def post() -> str:
            response = await self._client.post(
                _PATH,
                cast_to=_response_class(),
                content=body,
                options={"headers": {"content-type": "application/json"}, "timeout": time_out(seconds)},
            )
            return str(response.json()["id"])

        tries, unsure = _Tries(self._settings, self._clock), False
        try:
            while True:
                try:
                    return await self._once(post, seconds)
                except _FaultError as error:
                    # Overloaded servers take nothing; any other silence or 5xx may have come after the deed.
                    unsure = unsure or (error.fault.again and not error.fault.overload)
                    await tries.wait(error.fault)
                if unsure and (found := await already()) is not None:
                    return found
        except NoSuchBatchError as error:
            problem = self._no_batches()
            raise problem from error
        except (CallFailedError, EndpointError) as error:
            if unsure:
                failure = error.failure if isinstance(error, CallFailedError) else _errored(error)
                raise UnsureError(failure) from error
            raise

    async def newest(self) -> str | None:
        """Id of the newest batch there, None when there is none.

        Raises:
            CallFailedError: When no answer came.
            EndpointError: When the endpoint has no batches.
        """
        page = await self._page({"limit": 1})
        return next((str(each["id"]) for each in page["data"]), None)

    async def since(self, batch_id: str | None) -> list[Status]:
        """All batches made after that one, the newest first.

        Raises:
            CallFailedError: When no answer came.
            EndpointError: As above.
        """
        found: list[Status] = []
        query: dict[str, Any] = {"limit": _PAGE}
        while True:
            page = await self._page(query)
            for each in page["data"]:
                if each["id"] == batch_id:
                    return found
                found.append(_status(each))
            if not page.get("has_more") or not page["data"]:
                return found
            query["after_id"] = page["data"][-1]["id"]

    async def status(self, batch_id: str) -> Status:
        """How far a batch is.

        Raises:
            NoSuchBatchError: When the endpoint does not have it (any more).
            CallFailedError: When no answer came.
        """
        return _status(await self._get(f"{_PATH}/{batch_id}", {}))

    async def results(self, batch_id: str) -> AsyncGenerator[Result, None]:
        """Results of a batch that has ended, as they come in, in any order; close the iterator when you stop early.

        When the line breaks they begin anew, so a result may come twice. So they do when a line cannot be read,
        after all the others.

        Raises:
            NoSuchBatchError: When they are gone; the API keeps them for 29 days.
            CallFailedError: When that happened again and again. The results so far are right.
        """
        tries = _Tries(self._settings, self._clock, most=_DOWNLOADS)
        while True:
            try:
                async with contextlib.aclosing(self._download(batch_id)) as results:
                    async for result in results:
                        yield result
            except _FaultError as error:
                await tries.wait(error.fault)
            else:
                return

    async def first_result(self, batch_id: str) -> str | None:
        """Custom id of a batch's first result: enough to say whose it is.

        Raises:
            NoSuchBatchError: As above.
            CallFailedError: As above.
        """
        async with contextlib.aclosing(self.results(batch_id)) as results:
            first = await anext(results, None)
        return None if first is None else first.custom_id

    def failure_of(self, error: Mapping[str, Any]) -> Failure:
        """What becomes of a request whose result is this error; the same as if a live call had met it.

        Raises:
            EndpointError: When every other request would meet the same.
        """
        import anthropic  # noqa: PLC0415 - importing the SDK takes most of a second
        import httpx2  # noqa: PLC0415

        inner = error.get("error") or {}
        status, name = _ERRORS.get(str(inner.get("type")), _ANY_ERROR)
        response = httpx2.Response(status, request=httpx2.Request("POST", self.where))
        kind: type[anthropic.APIStatusError] = getattr(anthropic, name, anthropic.APIStatusError)
        return fault_of(
            kind(str(inner.get("message")), response=response, body=error), self._settings, where=self.where
        ).failure

    async def _page(self, query: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        try:
            return await self._get(_PATH, query)
        except NoSuchBatchError as error:
            problem = self._no_batches()
            raise problem from error

    async def _get(self, path: str, query: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        async def get() -> Any:  # noqa: ANN401
            response = await self._client.get(
                path,
                cast_to=_response_class(),
                options={"params": dict(query), "timeout": time_out(self._settings.deadline_s)},
            )
            return response.json()

        return await self._insist(get)

    async def _download(self, batch_id: str) -> AsyncGenerator[Result, None]:
        # Not the batch's results_url: behind a gateway it may name another host, which our key is not meant for.
        seconds = self._settings.deadline_s
        response = await self._once(lambda: self._open(f"{_PATH}/{batch_id}/results"), seconds)
        lines = response.aiter_lines()
        unread: UnreadableLineError | None = None
        try:
            while (line := await self._once(lambda: anext(lines, None), seconds)) is not None:
                result = _result(line)
                if isinstance(result, Result):
                    yield result
                unread = unread or (result if isinstance(result, UnreadableLineError) else None)
        finally:
            with contextlib.suppress(Exception):
                await response.aclose()
        if unread is not None:
            raise _FaultError(Fault(failure=_errored(unread), again=True))

    async def _open(self, path: str) -> "httpx2.Response":
        from anthropic import AsyncStream  # noqa: PLC0415

        # With this class asked for, the SDK hands its response over unread.
        stream = await self._client.get(
            path,
            cast_to=_response_class(),
            options={"timeout": time_out(self._settings.deadline_s)},
            stream=True,
            stream_cls=AsyncStream[Any],
        )
        return cast("httpx2.Response", stream)

    async def _insist(self, call: Callable[[], Awaitable[_T]]) -> _T:
        tries = _Tries(self._settings, self._clock)
        while True:
            try:
                return await self._once(call, self._settings.deadline_s)
            except _FaultError as error:
                await tries.wait(error.fault)

    async def _once(self, call: Callable[[], Awaitable[_T]], seconds: float) -> _T:
        try:
            async with asyncio.timeout(seconds):
                return await call()
        except Exception as error:
            if getattr(error, "status_code", None) in {404, 405}:
                raise NoSuchBatchError from error
            fault = _fault_of_any(error, self._settings, self.where)
            raise _FaultError(fault) from error

    def _no_batches(self) -> EndpointError:
        return EndpointError(
            "this endpoint has no message batches",
            where=self.where,
            remedy="Run without --batch, or check base_url (without a final /v1) in the setup's or judge's TOML.",
        )


class _FaultError(Exception):
    """One attempt brought no answer."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.failure.message)
        self.fault = fault


class _Tries:
    """The waits between attempts at one thing, and their end."""

    def __init__(self, settings: ClaudeSettings, clock: Clock, *, most: int | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._most = most
        self._started_s = clock.now()
        self._n = 0

    async def wait(self, fault: Fault) -> None:
        """Wait before another attempt.

        Raises:
            CallFailedError: When no other attempt is to be made.
        """
        self._n += 1
        if not fault.again or self._n == self._most:
            raise CallFailedError(fault.failure)
        bound_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(self._n - 1, 10))
        wait_s = max(self._clock.jitter(0.0, bound_s), fault.retry_after_s or 0.0)
        if self._clock.now() + wait_s - self._started_s >= self._settings.patience_s:
            message = f"no answer within {self._settings.patience_s:g} s; the last: {fault.failure.message}"
            raise CallFailedError(Failure(state=State.TIMED_OUT, kind=PATIENCE, message=message))
        await self._clock.sleep(wait_s)


def _fault_of_any(error: Exception, settings: ClaudeSettings, where: str) -> Fault:
    """Say what an error means; beside those of the SDK those that reading a raw answer may meet."""
    import httpx2  # noqa: PLC0415

    if isinstance(error, httpx2.HTTPError):
        return Fault(failure=_errored(error), again=True, unreachable=True)
    if isinstance(error, ValueError | KeyError | TypeError):
        # A proxy's page instead of the API's JSON.
        return Fault(failure=_errored(error), again=True)
    return fault_of(error, settings, where=where)


def _errored(error: Exception) -> Failure:
    return Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error)[:500])


def _response_class() -> "type[httpx2.Response]":
    import httpx2  # noqa: PLC0415 - the SDK's own transport

    return httpx2.Response


def _status(batch: Mapping[str, Any]) -> Status:
    counts = {kind: int(n) for kind, n in batch["request_counts"].items()}
    created, expires = (datetime.fromisoformat(batch[name]) for name in ("created_at", "expires_at"))
    n_requests = sum(counts.values())
    return Status(
        batch_id=str(batch["id"]),
        ended=batch["processing_status"] == "ended",
        n_done=n_requests - counts.get("processing", 0),
        n_requests=n_requests,
        lifetime_s=max((expires - created).total_seconds(), 0.0),
    )


def _result(line: str) -> Result | UnreadableLineError | None:
    """Read a line of results; None where it is empty, an error when nobody can say whose result it is."""
    if not line.strip():
        return None
    try:
        result = json.loads(line)
        custom_id, body = str(result["custom_id"]), result.get("result")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return UnreadableLineError(f"a line of the batch's results cannot be read: {error!r}")
    return Result(custom_id, body if isinstance(body, dict) else {})
