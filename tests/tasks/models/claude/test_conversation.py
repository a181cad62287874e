"""What becomes of one row's request."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel

from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError
from schemas.seats import Failure, Given
from schemas.spent import Spent
from schemas.state import State
from tasks.models.claude.conversation import COMPLETE, Conversation, InvalidReplyError, RawReply
from tasks.models.claude.desk import Desk
from tasks.models.claude.request import make_request, request_key
from tasks.store.journal import Journal
from tests.tasks.models.claude.conftest import MakeDesk
from tests.tasks.models.claude.endpoint import Endpoint, FakeClock, message, refuse, reply

Talk = Callable[[Conversation], Awaitable[str | Failure]]


def text_of(raw: RawReply) -> str:
    if raw.text == "nonsense":
        raise InvalidReplyError("the reply has no verdict for claim 2")
    return raw.text


def asking(
    content: str = "question",
    *,
    parse: Callable[[RawReply], str] = text_of,
    complete: frozenset[str] = COMPLETE,
    most: int | None = None,
) -> Talk:
    async def talk(conversation: Conversation) -> str | Failure:
        request = make_request(conversation.settings, system="Say yes.", content=[content], schema=None)
        return await conversation.ask(request, parse, complete=complete, most=most)

    return talk


def one(desk: Desk, settings: ClaudeSettings, talk: Talk | None = None) -> Given[str]:
    [given] = desk.converse(settings, [talk or asking()])
    return given


def failure_of(given: Given[str]) -> tuple[State, str]:
    assert isinstance(given.reply, Failure), given.reply
    return given.reply.state, given.reply.kind


def test_a_reply_is_parsed_and_accounted_for(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    body = message("yes", cache_read_input_tokens=7, cache_creation_input_tokens=8)
    endpoint.script = [httpx2.Response(200, json=body)]
    given = one(make_desk(), endpoint.settings())
    assert given.reply == "yes"
    assert given.spent == Spent(
        n_calls=1,
        input_tokens=100,
        output_tokens=10,
        cache_read_tokens=7,
        cache_write_tokens=8,
        latency_s=0.0,
        cost_usd=0.01,
        paid_usd=0.01,
        model="some-model-20260101",
    )
    assert endpoint.paths == ["/v1/messages"]
    assert endpoint.headers[0]["anthropic-version"]
    assert set(endpoint.requests[0]) == {"model", "max_tokens", "system", "messages"}


def test_the_body_is_kept_as_it_came_before_anybody_reads_it(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal
) -> None:
    raw = json.dumps(message("nö"), ensure_ascii=False, indent=3).encode()
    endpoint.script = [httpx2.Response(200, content=raw, headers={"request-id": "req_7"})]
    settings = endpoint.settings()

    def parse(reply: RawReply) -> str:
        [kept] = journal.replies(
            request_key(settings, make_request(settings, system="Say yes.", content=["question"], schema=None))
        )
        assert (kept.body, kept.request_id, kept.batch, kept.cost_usd) == (raw.decode(), "req_7", False, 0.01)
        raise KeyError(reply.text)

    given = one(make_desk(), settings, asking(parse=parse))
    assert given.reply == Failure(state=State.ERRORED, kind="KeyError", message="'nö'")
    assert given.spent.cost_usd == 0.01


def test_a_kept_reply_is_used_again_and_costs_nothing_now(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    first = one(make_desk(), endpoint.settings())
    again = one(make_desk(budget_usd=0.0), endpoint.settings())
    assert again.reply == first.reply == "yes"
    assert (again.spent.cost_usd, again.spent.paid_usd) == (0.01, 0.0)
    assert len(endpoint.requests) == 1


def test_large_replies_need_no_streaming(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    assert one(make_desk(), endpoint.settings(max_tokens=128_000)).reply == "yes"


def test_an_invalid_reply_is_asked_for_once_more(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("nonsense"), reply("yes")]
    given = one(make_desk(), endpoint.settings())
    assert given.reply == "yes"
    assert (given.spent.n_calls, given.spent.paid_usd) == (2, 0.02)


def test_two_invalid_replies_are_a_failure(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("nonsense")]
    given = one(make_desk(), endpoint.settings())
    assert given.reply == Failure(
        state=State.INVALID, kind="InvalidReply", message="the reply has no verdict for claim 2"
    )
    assert len(endpoint.requests) == 2


def test_a_reply_that_pydantic_refuses_is_invalid(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    class Verdict(BaseModel):
        claim: int

    def parse(raw: RawReply) -> str:
        return str(Verdict.model_validate_json(raw.text).claim)

    endpoint.script = [reply("{}"), reply('{"claim": 2}')]
    assert one(make_desk(), endpoint.settings(), asking(parse=parse)).reply == "2"


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b'{"type": "message"}', b"[]", b"", b'{"content": 3}'])
def test_an_answer_that_is_no_message_is_invalid(endpoint: Endpoint, make_desk: MakeDesk, body: bytes) -> None:
    endpoint.script = [httpx2.Response(200, content=body)]
    given = one(make_desk(), endpoint.settings())
    assert failure_of(given) == (State.INVALID, "InvalidReply")
    assert given.spent == Spent(n_calls=2)


def test_attempts_come_in_pairs_over_runs(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("nonsense"), refuse(400, "invalid_request_error")]
    assert failure_of(one(make_desk(), endpoint.settings())) == (State.ERRORED, "BadRequestError")
    # Stopped after the first of a pair: only the second is left.
    endpoint.requests.clear()
    endpoint.script = [reply("nonsense")]
    assert failure_of(one(make_desk(), endpoint.settings())) == (State.INVALID, "InvalidReply")
    assert len(endpoint.requests) == 1
    # A new run may try a failed row again, with a pair of its own.
    given = one(make_desk(), endpoint.settings())
    assert failure_of(given) == (State.INVALID, "InvalidReply")
    assert len(endpoint.requests) == 3
    assert (given.spent.n_calls, given.spent.cost_usd, given.spent.paid_usd) == (4, 0.04, 0.02)


def test_a_limit_over_all_runs_ends_the_asking(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.handler = lambda _: reply("nonsense")
    one(make_desk(), endpoint.settings(), asking(most=4))
    one(make_desk(), endpoint.settings(), asking(most=4))
    assert len(endpoint.requests) == 4
    given = one(make_desk(), endpoint.settings(), asking(most=4))
    assert len(endpoint.requests) == 4
    assert isinstance(given.reply, Failure)
    assert "asked 4 times in vain" in given.reply.message


def test_equal_requests_of_one_run_share_its_pair(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("nonsense")]
    desk = make_desk()
    for _ in range(2):
        assert failure_of(one(desk, endpoint.settings())) == (State.INVALID, "InvalidReply")
    assert len(endpoint.requests) == 2


def test_a_refusal_is_asked_again_by_the_next_run_only(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("I cannot", stop_reason="refusal"), reply("yes")]
    desk = make_desk()
    for _ in range(2):
        assert failure_of(one(desk, endpoint.settings())) == (State.REFUSED, "Refusal")
    assert len(endpoint.requests) == 1
    assert one(make_desk(), endpoint.settings()).reply == "yes"


@pytest.mark.parametrize(
    ("stop_reason", "kind"),
    [("max_tokens", "MaxTokens"), ("model_context_window_exceeded", "ContextWindowExceeded")],
)
def test_a_truncated_reply_is_never_asked_for_again(
    endpoint: Endpoint, make_desk: MakeDesk, stop_reason: str, kind: str
) -> None:
    endpoint.script = [reply("y", stop_reason=stop_reason)]
    for _ in range(2):
        assert failure_of(one(make_desk(), endpoint.settings())) == (State.TRUNCATED, kind)
    assert len(endpoint.requests) == 1


def test_more_room_is_another_request(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    def handler(params: dict[str, Any]) -> httpx2.Response:
        return reply("y", stop_reason="max_tokens") if params["max_tokens"] < 2_000 else reply("yes")

    async def talk(conversation: Conversation) -> str | Failure:
        said: str | Failure = ""
        for max_tokens in (1_000, 2_000):
            request = make_request(conversation.settings, system="s", content=["c"], schema=None, max_tokens=max_tokens)
            said = await conversation.ask(request, text_of)
        return said

    endpoint.handler = handler
    for paid_usd in (0.02, 0.0):
        given = one(make_desk(), endpoint.settings(), talk)
        assert (given.reply, given.spent.n_calls, given.spent.paid_usd) == ("yes", 2, paid_usd)
    assert len(endpoint.requests) == 2


def test_a_writer_takes_what_a_judge_cannot_use(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply("I ca", stop_reason="max_tokens")]
    talk = asking(complete=COMPLETE | {"max_tokens"}, parse=lambda raw: f"{raw.text} ({raw.stop_reason})")
    assert one(make_desk(), endpoint.settings(), talk).reply == "I ca (max_tokens)"


def test_a_stop_reason_nobody_expects_is_invalid(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [reply(stop_reason="pause_turn")]
    assert failure_of(one(make_desk(), endpoint.settings())) == (State.INVALID, "InvalidReply")


@pytest.mark.parametrize(
    ("headers", "waited_s"),
    [
        ({}, 0.5),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0"}, 0.5),
        ({"retry_after_ms": "1500", "retry_after": "7"}, 1.5),
        ({"retry_after": "soon"}, 0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rate_limit_error"),
        (529, "overloaded_error"),
        (500, "api_error"),
        (503, "api_error"),
        (408, "t"),
        (409, "c"),
    ],
)
def test_what_a_server_says_passes_is_waited_for(
    endpoint: Endpoint,
    make_desk: MakeDesk,
    clock: FakeClock,
    headers: dict[str, str],
    waited_s: float,
    status: int,
    kind: str,
) -> None:
    endpoint.script = [refuse(status, kind, **headers), reply("yes")]
    given = one(make_desk(), endpoint.settings())
    assert given.reply == "yes"
    assert given.spent.n_calls == 1
    assert clock.waits == [waited_s]


def test_retry_after_may_be_a_date(endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock) -> None:
    date = datetime.now(UTC) + timedelta(seconds=60)
    endpoint.script = [refuse(429, "rate_limit_error", retry_after=f"{date:%a, %d %b %Y %H:%M:%S GMT}"), reply()]
    assert one(make_desk(), endpoint.settings()).reply == "yes"
    assert clock.waits == [pytest.approx(60.0, abs=30.0)]


def test_waits_double_up_to_thirty_seconds_until_patience_ends(
    endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock
) -> None:
    endpoint.script = [refuse(529, "overloaded_error", "Overloaded")]
    given = one(make_desk(), endpoint.settings(patience_s=100))
    assert clock.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert given.reply == Failure(
        state=State.TIMED_OUT,
        kind="Patience",
        message="given up after 9 attempts, since another would come after 100 s; "
        "the last: OverloadedError: 529: Overloaded",
    )


def test_a_wait_beyond_patience_is_not_begun(endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock) -> None:
    endpoint.script = [refuse(429, "rate_limit_error", retry_after="3600")]
    assert failure_of(one(make_desk(), endpoint.settings())) == (State.TIMED_OUT, "Patience")
    assert clock.waits == []


def test_a_server_that_says_another_attempt_is_no_use_is_believed(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [refuse(429, "rate_limit_error", x_should_retry="false")]
    assert failure_of(one(make_desk(), endpoint.settings())) == (State.ERRORED, "RateLimitError")
    assert len(endpoint.requests) == 1


def test_a_reset_connection_is_tried_again(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [httpx2.ReadError("reset by peer"), reply("yes")]
    assert one(make_desk(), endpoint.settings()).reply == "yes"


def test_a_stalled_call_is_tried_once_more(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    async def stall(_: dict[str, Any]) -> httpx2.Response:
        raise httpx2.ReadTimeout("nothing came")

    endpoint.handler = stall
    given = one(make_desk(), endpoint.settings(deadline_s=5))
    assert given.reply == Failure(state=State.TIMED_OUT, kind="Deadline", message="no reply within 5 s")
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "RequestTooLong"),
        (400, "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000", "RequestTooLong"),
        (400, "Input is too long for requested model.", "RequestTooLong"),
        (400, "This model's maximum context length is 8192 tokens.", "RequestTooLong"),
        (413, "Request exceeds the maximum size", "RequestTooLong"),
        (400, "max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens", "BadRequestError"),
        (400, "output_config.effort: unknown", "BadRequestError"),
        (422, "unprocessable", "UnprocessableEntityError"),
    ],
)
def test_a_request_at_fault_fails_its_row_at_once(
    endpoint: Endpoint, make_desk: MakeDesk, status: int, said: str, kind: str
) -> None:
    endpoint.script = [refuse(status, "invalid_request_error", said)]
    given = one(make_desk(), endpoint.settings())
    assert given.reply == Failure(state=State.ERRORED, kind=kind, message=f"{status}: {said}")
    assert given.spent == Spent()
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("status", "said", "told"),
    [
        (401, "invalid x-api-key", "Check ANTHROPIC_API_KEY"),
        (402, "no money", "Add credit"),
        (400, "Your credit balance is too low", "Add credit"),
        (403, "not allowed", "Ask for the right to use it"),
        (404, "model: some-model", "model 'some-model' is not found there (404: model: some-model). Check model"),
    ],
)
def test_what_every_row_would_meet_stops_the_run(
    endpoint: Endpoint, make_desk: MakeDesk, status: int, said: str, told: str
) -> None:
    endpoint.script = [refuse(status, "some_error", said)]
    with pytest.raises(FourcellsError) as caught:
        list(make_desk().converse(endpoint.settings(concurrency=1), [asking(f"question {n}") for n in range(50)]))
    assert told in str(caught.value)
    assert str(caught.value).startswith(endpoint.url)
    assert len(endpoint.requests) < 50


def test_tokens_are_counted_by_the_server(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [httpx2.Response(200, json={"input_tokens": 1_234})]
    assert one(make_desk(), endpoint.settings(), counting).reply == "1234"
    assert endpoint.paths == ["/v1/messages/count_tokens"]
    assert "max_tokens" not in endpoint.requests[0]


def test_tokens_are_estimated_where_the_server_does_not_count(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.script = [refuse(404, "not_found_error")]
    given = list(make_desk().converse(endpoint.settings(concurrency=1), [counting, counting]))
    assert [int(str(one.reply)) > 1_000 for one in given] == [True, True]


async def counting(conversation: Conversation) -> str:
    request = make_request(conversation.settings, system="s", content=["ä" * 1_500], schema=None)
    return str(await conversation.count_tokens(request))


def test_the_window_is_the_settings_or_the_usual_one(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    async def talk(conversation: Conversation) -> str:
        return str(conversation.window())

    assert one(make_desk(), endpoint.settings(context_window=50_000), talk).reply == "50000"
    assert one(make_desk(), endpoint.settings(), talk).reply == "200000"
