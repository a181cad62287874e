"""The client against a double of the API that others wrote: it plays the faults, and judges how we take them."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from schemas.claude import ClaudeSettings, Price
from schemas.seats import Failure, Given
from schemas.state import State
from tasks.models.claude.budget import Budget
from tasks.models.claude.conversation import Conversation, InvalidReplyError, RawReply
from tasks.models.claude.desk import Desk
from tasks.models.claude.errors import (
    DEADLINE,
    INVALID_REPLY,
    NO_ROOM,
    PATIENCE,
    TOO_LONG,
    EndpointError,
)
from tasks.models.claude.request import make_request
from tasks.models.claude.sending import Clock
from tasks.store.journal import Journal

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

# Real waits, as short as the double can tell from none.
SHORT_S = 0.06
GOOD = json.dumps({"word": "yes"})


class Peer(NamedTuple):
    """The double, and a client of ours that talks to it."""

    llmock: "LLMock"
    journal: Journal

    def ask(self, text: str = "Is it so?", *, times: int = 1, **others: object) -> list[Given[str]]:
        """Put one or several different questions through a new desk."""
        settings = ClaudeSettings.model_validate({
            "provider": "anthropic",
            "model": "claude-sonnet-4-6",
            "base_url": self.llmock.base_url("anthropic"),
            "price": Price(input_usd=1, output_usd=1),
            **others,
        })

        async def talk(number: int, conversation: Conversation) -> str | Failure:
            # The double takes what is equal for one call that is tried again.
            request = make_request(settings, system="Answer.", content=[f"{number}. {text}"], schema=None)
            return await conversation.ask(request, _word)

        talks = [partial(talk, number) for number in range(times)]
        # Jitter that doubles but never lasts: the double looks for waits that grow.
        clock = Clock(jitter=lambda _, most: most / 8)
        desk = Desk(self.journal, budget=Budget(None), owner="test", clock=clock)
        return list(desk.converse(settings, talks))

    @property
    def n_requests(self) -> int:
        """How many came there."""
        return len(self.llmock.requests)


def _word(reply: RawReply) -> str:
    try:
        return str(json.loads(reply.text)["word"])
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidReplyError(str(error)) from None


def only(given: list[Given[str]]) -> str | Failure:
    """The one result."""
    [(_, reply, _)] = given
    return reply


@pytest.fixture
def peer(llmock: "LLMock", tmp_path: Path) -> Iterator[Peer]:
    journal = Journal(tmp_path / "journal")
    yield Peer(llmock, journal)
    journal.close()


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_tried_again_after_the_time_asked_for(peer: Peer, status: int) -> None:
    peer.llmock.fail(status, times=2, retry_after=SHORT_S).reply(GOOD)
    assert only(peer.ask()) == "yes"
    assert peer.n_requests == 3
    peer.llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [400, 422])
def test_what_cannot_pass_fails_its_row_at_once(peer: Peer, status: int) -> None:
    peer.llmock.fail(status)
    failure = only(peer.ask())
    assert isinstance(failure, Failure)
    assert failure.state is State.ERRORED
    assert peer.n_requests == 1
    peer.llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_every_call_would_meet_stops_the_run(peer: Peer, status: int) -> None:
    peer.llmock.fail(status, times=None)
    with pytest.raises(EndpointError, match=str(status)):
        peer.ask()
    peer.llmock.assert_resilient(strict=True)


def test_a_prompt_beyond_the_window_has_a_kind_of_its_own(peer: Peer) -> None:
    peer.llmock.limits(context_window=100)
    failure = only(peer.ask("word " * 2_000))
    assert isinstance(failure, Failure)
    assert failure.kind == TOO_LONG
    assert peer.n_requests == 1


def test_an_outage_ends_when_patience_does(peer: Peer) -> None:
    peer.llmock.fail(529, times=None, retry_after=SHORT_S)
    failure = only(peer.ask(patience_s=0.8))
    assert isinstance(failure, Failure)
    assert (failure.state, failure.kind) == (State.TIMED_OUT, PATIENCE)
    assert peer.n_requests >= 2
    peer.llmock.assert_resilient(strict=True)


def test_a_slow_reply_is_dropped_at_the_deadline_and_asked_for_once_more(peer: Peer) -> None:
    peer.llmock.delay(1.2).reply(GOOD, times=2)
    assert only(peer.ask(deadline_s=0.5)) == "yes"
    assert peer.n_requests == 2


def test_two_deadlines_are_enough(peer: Peer) -> None:
    peer.llmock.delay(0.3, times=None)
    failure = only(peer.ask(deadline_s=0.1))
    assert isinstance(failure, Failure)
    assert (failure.state, failure.kind) == (State.TIMED_OUT, DEADLINE)
    assert peer.n_requests == 2


def test_a_reply_cut_short_is_no_reply_and_not_asked_for_again(peer: Peer) -> None:
    peer.llmock.reply(json.dumps({"word": "yes " * 50}), times=None)
    for _ in range(2):
        failure = only(peer.ask(max_tokens=5))
        assert isinstance(failure, Failure)
        assert (failure.state, failure.kind) == (State.TRUNCATED, NO_ROOM)
    assert peer.n_requests == 1


def test_an_invalid_reply_is_asked_for_once_more(peer: Peer) -> None:
    peer.llmock.reply('{"word": ').reply(GOOD)
    [(_, reply, spent)] = peer.ask()
    assert reply == "yes"
    assert spent.n_calls == 2
    assert peer.n_requests == 2


def test_two_invalid_replies_are_a_failed_row(peer: Peer) -> None:
    peer.llmock.reply("No JSON.", times=None)
    failure = only(peer.ask())
    assert isinstance(failure, Failure)
    assert (failure.state, failure.kind) == (State.INVALID, INVALID_REPLY)
    assert peer.n_requests == 2


def test_what_was_paid_for_is_not_asked_for_again(peer: Peer) -> None:
    peer.llmock.reply(GOOD, times=None)
    first, second = peer.ask(times=3), peer.ask(times=3)
    assert peer.n_requests == 3
    assert [reply for _, reply, _ in first] == [reply for _, reply, _ in second] == ["yes"] * 3
    assert sum(spent.paid_usd for _, _, spent in first) > 0
    assert sum(spent.paid_usd for _, _, spent in second) == 0


def test_one_call_that_is_limited_costs_the_others_nothing(peer: Peer) -> None:
    peer.llmock.rate_limit(times=2, retry_after=SHORT_S).reply(GOOD, times=None)
    given = peer.ask(times=8, concurrency=2)
    assert [reply for _, reply, _ in given] == ["yes"] * 8
    assert peer.n_requests == 10
    peer.llmock.assert_resilient()
