"""A desk that asks nobody: it counts what would be asked, and what that would cost."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from schemas.claude import ClaudeSettings
from schemas.seats import Failure, Given
from schemas.spent import FREE
from schemas.state import State
from tasks.models.claude.conversation import COMPLETE, Conversation, RawReply
from tasks.models.claude.desk import Desk
from tasks.models.claude.prices import rates_of, window_of
from tasks.models.claude.request import ModelRequest, request_key
from tasks.store.journal import Journal

# Of English text, roughly; a model's own tokens are only known from its replies.
_BYTES_A_TOKEN: Final = 4
_USUAL_WINDOW: Final = 200_000
_NOT_ASKED: Final = Failure(state=State.OVER_BUDGET, kind="Estimate", message="an estimate asks nothing")
T = TypeVar("T")


@dataclass
class Tally:
    """What was counted since the last look."""

    n_kept: int = 0
    n_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    most_usd: float = 0.0


class EstimatingDesk(Desk):
    """Counts requests instead of sending them; equal ones, and those with a kept reply, cost nothing.

    Args:
        journal: Of the workspace; only read.
        batch: Whether a batch is what is asked for, at half the price.

    Attributes:
        reply_tokens: How long the next replies are taken to be.
        n_parts: In how many calls the next requests are made.
        tally: What was counted; set it anew to count apart.
    """

    def __init__(self, journal: Journal, *, batch: bool = False) -> None:
        self.reply_tokens = 0
        self.n_parts = 1
        self.tally = Tally()
        self._journal = journal
        self._batch = batch
        self._counted: set[str] = set()

    def converse(
        self,
        settings: ClaudeSettings,
        talks: Sequence[Callable[[Conversation], Awaitable[T | Failure]]],
        *,
        trial: int = 0,
    ) -> Generator[Given[T], None, None]:
        """Let each talk ask its first question, and count it."""
        conversation = _Counted(settings, self, trial=trial)
        for position, talk in enumerate(talks):
            # A talk that is never answered never waits, so it ends by itself.
            reply = asyncio.run(cast("Coroutine[Any, Any, T | Failure]", talk(conversation)))
            yield Given(position, reply, FREE)

    def count(self, settings: ClaudeSettings, request: ModelRequest) -> None:
        """Add a request to the tally."""
        key = request_key(settings, request)
        if key in self._counted or self._journal.replies(key):
            self.tally.n_kept += 1
            return
        self._counted.add(key)
        rates = rates_of(settings)
        n_input, n_most = n_tokens(request), int(request.params["max_tokens"])
        n_output = min(self.reply_tokens, n_most)
        usage = {"input_tokens": n_input, "output_tokens": n_output}
        self.tally.n_calls += self.n_parts
        self.tally.input_tokens += self.n_parts * n_input
        self.tally.output_tokens += self.n_parts * n_output
        self.tally.cost_usd += self.n_parts * rates.cost(usage, batch=self._batch)
        self.tally.most_usd += self.n_parts * rates.worst(n_input, n_most, batch=self._batch)


class _Counted(Conversation):
    """A conversation that gets no reply."""

    def __init__(self, settings: ClaudeSettings, desk: EstimatingDesk, *, trial: int) -> None:
        self.settings = settings
        self.trial = trial
        self.spent = FREE
        self._desk = desk

    async def ask(
        self,
        request: ModelRequest,
        parse: Callable[[RawReply], T],  # noqa: ARG002 - there is nothing to parse
        *,
        complete: frozenset[str] = COMPLETE,  # noqa: ARG002
        most: int | None = None,  # noqa: ARG002
    ) -> T | Failure:
        self._desk.count(self.settings, request)
        return _NOT_ASKED

    async def count_tokens(self, request: ModelRequest) -> int:
        return n_tokens(request)

    def window(self) -> int:
        return window_of(self.settings) or _USUAL_WINDOW


def n_tokens(request: ModelRequest) -> int:
    """Tokens of a request's input, at four bytes each; schema and instructions are part of it."""
    params = {name: value for name, value in request.params.items() if name not in {"model", "max_tokens"}}
    return len(json.dumps(params, ensure_ascii=False).encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN
