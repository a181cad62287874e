"""What one row asks of a model: the journal first, then a call, then what its reply is good for."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import ValidationError

from schemas.claude import ClaudeSettings
from schemas.seats import Failure
from schemas.spent import FREE, Spent
from schemas.state import State
from tasks.models.claude.errors import INVALID_REPLY, NO_ROOM, REFUSAL, WINDOW, CallFailedError
from tasks.models.claude.message import Message, read_message, tokens
from tasks.models.claude.prices import window_of
from tasks.models.claude.purchases import Buy, Purchases
from tasks.models.claude.request import ModelRequest, request_key
from tasks.store.journal import Kept

COMPLETE: Final = frozenset({"end_turn", "stop_sequence"})
# What every Claude model of the last years takes in; the price list knows better of those it has.
_USUAL_WINDOW: Final = 200_000
# Of English text; only where a server cannot count.
_BYTES_A_TOKEN: Final = 3
T = TypeVar("T")


@dataclass(frozen=True)
class RawReply:
    """A reply that came whole.

    Attributes:
        text: Of all its text blocks, joined.
        model: The id that the API returned.
    """

    text: str
    stop_reason: str
    model: str


class InvalidReplyError(ValueError):
    """Raised by a parser: the reply breaks the schema or does not match what was asked."""


class Conversation:
    """What one row asks of a model; a new one per row.

    Args:
        settings: Of the seat.
        purchases: Of the run.
        trial: The reading this row belongs to, for `make_request`.
        begun: Takes up what this row buys, until it is kept.

    Attributes:
        spent: Summed over all replies that were looked at, those kept by earlier runs included.
    """

    def __init__(
        self, settings: ClaudeSettings, purchases: Purchases, *, trial: int = 0, begun: set[Buy] | None = None
    ) -> None:
        self.settings = settings
        self.trial = trial
        self.spent = FREE
        self._purchases = purchases
        self._begun = set() if begun is None else begun

    async def ask(
        self,
        request: ModelRequest,
        parse: Callable[[RawReply], T],
        *,
        complete: frozenset[str] = COMPLETE,
        most: int | None = None,
    ) -> T | Failure:
        """Ask, and ask once more when the reply is of no use; a usable reply of an earlier run is taken instead.

        A refusal is not asked again in this run. A reply that ran out of room is neither, in any run: asking for
        more room, or for less at once, is another request, and the caller's to make.

        Args:
            request: What to ask.
            parse: Makes the result of a reply.
            complete: Stop reasons whose replies go to `parse`.
            most: After so many useless replies, over all runs, nothing is asked any more. Rows of a store have a limit
                of their own.

        Returns:
            What `parse` made, or why there is nothing.

        Raises:
            FourcellsError: When every other call would meet the same.
        """
        key = request_key(self.settings, request)
        kept = self._purchases.journal.replies(key)
        outcome: T | Failure | None = None
        for reply in kept:
            outcome = self._judge(reply, parse, complete, paid=False)
            if not isinstance(outcome, Failure):
                return outcome
        if isinstance(outcome, Failure) and (final := _final(outcome, len(kept), most)) is not None:
            return final
        attempts = self._purchases.attempts(key, len(kept))
        for attempt in attempts:
            try:
                bought = await self._purchases.obtain(self.settings, key, attempt, request, begun=self._begun)
            except CallFailedError as error:
                return error.failure
            outcome = self._judge(bought.kept, parse, complete, paid=bought.paid)
            if not isinstance(outcome, Failure):
                return outcome
            again = outcome.state is State.INVALID
            self._purchases.unusable(key, attempts, attempt, again=again)
            if not again:
                return outcome
        assert outcome is not None  # noqa: S101 - there is an attempt, or a kept reply
        return outcome

    async def count_tokens(self, request: ModelRequest) -> int:
        """Tokens of a request's input: as the server counts, or UTF-8 bytes / 3 where it cannot.

        Raises:
            FourcellsError: When every other call would meet the same.
        """
        counted = await self._purchases.live.count_tokens(self.settings, request.params)
        if counted is not None:
            return counted
        text = json.dumps([request.params["system"], request.params["messages"]], ensure_ascii=False)
        return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN

    def window(self) -> int:
        """Tokens that the model takes in all, input and reply."""
        return window_of(self.settings) or _USUAL_WINDOW

    def _judge(
        self, kept: Kept, parse: Callable[[RawReply], T], complete: frozenset[str], *, paid: bool
    ) -> T | Failure:
        message = read_message(kept.body)
        self.spent += _spent(kept, message, paid=paid)
        if message is None:
            return _invalid("the reply is not a message of the Messages API")
        if message.stop_reason in complete:
            try:
                return parse(RawReply(text=message.text, stop_reason=message.stop_reason, model=message.model))
            except (InvalidReplyError, ValidationError) as error:
                return _invalid(str(error))
        return _incomplete(message)


def _final(last: Failure, n_kept: int, most: int | None) -> Failure | None:
    """The failure of a request that is not asked again in any run; None when it may be."""
    if last.state is State.TRUNCATED:
        return last
    if most is None or n_kept < most:
        return None
    told = f"{last.message} (asked {n_kept} times in vain; another model or prompt asks anew)"
    return last.model_copy(update={"message": told})


def _incomplete(message: Message) -> Failure:
    match message.stop_reason:
        case "refusal":
            return Failure(state=State.REFUSED, kind=REFUSAL, message="the model declined to reply")
        case "max_tokens":
            n_tokens = tokens(message.usage, "output_tokens")
            return Failure(
                state=State.TRUNCATED, kind=NO_ROOM, message=f"the reply ran out of room after {n_tokens:,} tokens"
            )
        case "model_context_window_exceeded":
            return Failure(
                state=State.TRUNCATED, kind=WINDOW, message="request and reply are longer than the context window"
            )
        case other:
            return _invalid(f"the reply ended with stop_reason {other!r}")


def _invalid(message: str) -> Failure:
    return Failure(state=State.INVALID, kind=INVALID_REPLY, message=message)


def _spent(kept: Kept, message: Message | None, *, paid: bool) -> Spent:
    usage = {} if message is None else message.usage
    return Spent(
        n_calls=1,
        input_tokens=tokens(usage, "input_tokens"),
        output_tokens=tokens(usage, "output_tokens"),
        cache_read_tokens=tokens(usage, "cache_read_input_tokens"),
        cache_write_tokens=tokens(usage, "cache_creation_input_tokens"),
        latency_s=kept.latency_s,
        cost_usd=kept.cost_usd,
        paid_usd=kept.cost_usd if paid else 0.0,
        model=None if message is None else message.model,
    )
