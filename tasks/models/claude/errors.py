"""What went wrong with a call, and what follows: another attempt, a failed row, or the end of the run."""

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError
from schemas.seats import Failure
from schemas.state import State

if TYPE_CHECKING:
    from anthropic import APIConnectionError, APIStatusError

# Kinds of failures, beside the names of the SDK's errors.
TOO_LONG: Final = "RequestTooLong"
NO_ROOM: Final = "MaxTokens"
WINDOW: Final = "ContextWindowExceeded"
REFUSAL: Final = "Refusal"
INVALID_REPLY: Final = "InvalidReply"
DEADLINE: Final = "Deadline"
PATIENCE: Final = "Patience"
BUDGET: Final = "Budget"

_OVERLOADS: Final = frozenset({429, 503, 529})
_AGAIN: Final = frozenset({408, 409, 429})
_LONGEST_MESSAGE: Final = 500
# In the words of Anthropic, Bedrock, and servers of other models. A max_tokens over the model's is another mistake.
_IS_TOO_LONG: Final = re.compile(
    r"\b(?:prompt|input|request)\b.{0,60}\btoo long|context (?:limit|length|window)|too many input tokens",
    re.IGNORECASE,
)
_CANNOT_PAY: Final = re.compile(r"credit balance", re.IGNORECASE)


class EndpointError(FourcellsError):
    """The endpoint refuses, or cannot be reached for, every call alike: the run stops; what was paid for is kept."""


class CallFailedError(Exception):
    """A call that brought no reply. Its row fails and no other."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.kind}: {failure.message}")
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why one attempt brought no reply.

    Attributes:
        failure: What becomes of the row if no further attempt is made.
        again: Whether another attempt may help.
        overload: The server has too much to do, so fewer calls should be in flight.
        late: The attempt's deadline passed.
        unreachable: No HTTP answer came at all.
        retry_after_s: Seconds that the server asks us to wait.
    """

    failure: Failure
    again: bool
    overload: bool = False
    late: bool = False
    unreachable: bool = False
    retry_after_s: float | None = None


def fault_of(error: Exception, settings: ClaudeSettings, *, where: str) -> Fault:
    """Say what an error of an attempt means.

    Args:
        error: What the SDK raised, or TimeoutError when the attempt's deadline passed.
        settings: Of the seat.
        where: The address, for the message.

    Raises:
        EndpointError: When every other call would meet the same.
        Exception: The error itself when it is none of a call's.
    """
    from anthropic import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415

    if isinstance(error, APIStatusError):
        return _status_fault(error, settings, where)
    if isinstance(error, TimeoutError) or (isinstance(error, APITimeoutError) and not _while_connecting(error)):
        message = f"no reply within {settings.deadline_s:g} s"
        return Fault(failure=_failure(State.TIMED_OUT, DEADLINE, message), again=True, late=True)
    if isinstance(error, APIConnectionError):
        cause = error.__cause__ or error
        message = f"no connection: {_kind(cause)} {cause}".strip()
        return Fault(failure=_failure(State.ERRORED, _kind(error), message), again=True, unreachable=True)
    return _foreign_fault(error, settings, where)


def silent_endpoint(where: str, seconds: float, last: Failure) -> EndpointError:
    """The paragraph for an endpoint that has never answered."""
    return EndpointError(
        f"no connection in {seconds:.0f} seconds; the last attempt ended with: {last.message}",
        where=where,
        remedy="Check that this address is right (base_url, region), that something listens there, and whether a "
        "proxy or firewall stands between. Then run the same command again; it goes on where it stopped.",
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date.

    >>> retry_after_s({"retry-after": "7"}), retry_after_s({"retry-after-ms": "250"}), retry_after_s({})
    (7.0, 0.25, None)
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    try:
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except (ValueError, OverflowError):  # a year that no clock has
        return None


def _status_fault(error: "APIStatusError", settings: ClaudeSettings, where: str) -> Fault:
    status = error.status_code
    said = error.api_message or error.message
    message = f"{status}: {said}"
    stop = _stop(status, said, settings, where)
    if stop is not None:
        raise stop from error
    if status == 413 or (status == 400 and _IS_TOO_LONG.search(said)):
        return Fault(failure=_failure(State.ERRORED, TOO_LONG, message), again=False)
    # A server that says itself whether another attempt is of use knows best.
    told = error.response.headers.get("x-should-retry")
    again = told == "true" or (told != "false" and (status in _AGAIN or status >= 500))
    return Fault(
        failure=_failure(State.ERRORED, _kind(error), message),
        again=again,
        overload=status in _OVERLOADS,
        retry_after_s=retry_after_s(error.response.headers),
    )


def _stop(status: int, said: str, settings: ClaudeSettings, where: str) -> EndpointError | None:
    """The paragraph for an answer that a thousand rows would get alike."""
    if status == 401:
        key = "ANTHROPIC_API_KEY" if settings.provider == "anthropic" else "the credentials of your cloud account"
        return EndpointError(f"the API key was refused ({status}: {said})", where=where, remedy=f"Check {key}.")
    if status == 402 or (status == 400 and _CANNOT_PAY.search(said)):
        return EndpointError(
            f"the account cannot pay for the calls ({status}: {said})",
            where=where,
            remedy="Add credit, then run the same command again; it goes on where it stopped.",
        )
    if status == 403:
        return EndpointError(
            f"the account may not use model {settings.model!r} ({status}: {said})",
            where=where,
            remedy="Ask for the right to use it, or name another model in the setup's or judge's TOML.",
        )
    if status == 404:
        return EndpointError(
            f"model {settings.model!r} is not found there ({status}: {said})",
            where=where,
            remedy="Check model and, when it is set, base_url (without a final /v1) in the setup's or judge's TOML.",
        )
    return None


def _foreign_fault(error: Exception, settings: ClaudeSettings, where: str) -> Fault:
    """Errors from before the request: the clouds' own libraries look for credentials at the first call.

    Raises:
        EndpointError: When no call can be made.
    """
    from anthropic import AnthropicError  # noqa: PLC0415

    if getattr(error, "retryable", False):
        return Fault(failure=_failure(State.ERRORED, _kind(error), str(error)), again=True, unreachable=True)
    if settings.provider == "anthropic" and not isinstance(error, AnthropicError):
        raise error
    raise EndpointError(
        f"the call could not be made: {_short(str(error)) or _kind(error)}",
        where=where,
        remedy="Check the credentials, the region and, for Vertex, the project.",
    ) from error


def _while_connecting(error: "APIConnectionError") -> bool:
    return type(error.__cause__).__name__ == "ConnectTimeout"


def _failure(state: State, kind: str, message: str) -> Failure:
    return Failure(state=state, kind=kind, message=_short(message))


def _short(message: str) -> str:
    # A proxy's error page is a whole HTML document.
    text = " ".join(message.split())
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _kind(error: BaseException) -> str:
    return type(error).__name__
