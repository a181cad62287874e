"""Many talks at once: limits, equal requests, other processes and budgets."""

import asyncio
import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from schemas.claude import ClaudeSettings, Price
from schemas.errors import InputError
from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude import connection
from tasks.models.claude.budget import Budget
from tasks.models.claude.connection import wire
from tasks.models.claude.conversation import Conversation
from tasks.models.claude.desk import Desk
from tasks.models.claude.errors import EndpointError
from tasks.models.claude.purchases import Bought
from tasks.models.claude.request import request_key
from tasks.store.journal import Journal, Kept
from tests.claims import claim
from tests.tasks.models.claude.conftest import MakeDesk
from tests.tasks.models.claude.endpoint import Endpoint, FakeClock, asked, asking, many, refuse, reply, request


def kept(text: str) -> Kept:
    return Kept(
        body=reply(text).text,
        request_id=None,
        received_at="2026-01-01T00:00:00+00:00",
        latency_s=0.1,
        cost_usd=0.5,
        batch=False,
    )


def _ignore(_: object) -> None:
    """For what a lambda does beside."""


def test_every_talk_has_its_result(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    endpoint.handler = lambda params: reply(asked(params))
    given = list(make_desk().converse(endpoint.settings(), many(300)))
    assert {one.position: one.reply for one in given} == {n: f"question {n}" for n in range(300)}
    assert endpoint.peak == endpoint.settings().concurrency


def test_no_talks_no_results(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    assert list(make_desk().converse(endpoint.settings(), [])) == []


def test_all_threads_and_desks_share_the_slots(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    shared = make_desk()
    desks = [shared, shared, make_desk()]

    def shard(number: int) -> int:
        talks = [asking(f"question {number}.{n}") for n in range(60)]
        return len(list(desks[number].converse(endpoint.settings(concurrency=5), talks)))

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(shard, range(3))) == [60, 60, 60]
    assert endpoint.peak == 5


def test_who_waits_to_try_again_holds_no_slot(endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock) -> None:
    in_flight: list[int] = []
    settings = endpoint.settings(concurrency=1)
    limiter = wire().channel(settings).limiter
    clock.on_wait = lambda _: in_flight.append(limiter.in_flight)
    turned_away: set[str] = set()

    def handler(params: dict[str, Any]) -> httpx2.Response:
        first = asked(params) not in turned_away
        turned_away.add(asked(params))
        return refuse(429, "rate_limit_error", retry_after="30") if first else reply()

    endpoint.handler = handler
    assert [one.reply for one in make_desk().converse(settings, many(5))] == ["yes"] * 5
    assert clock.waits == [30.0] * 5
    assert in_flight == [0] * 5


def test_equal_requests_at_once_are_one_call(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    given = list(make_desk().converse(endpoint.settings(), [asking()] * 5))
    assert [one.reply for one in given] == ["yes"] * 5
    assert sorted(one.spent.paid_usd for one in given) == [0.0, 0.0, 0.0, 0.0, 0.01]
    assert {one.spent.cost_usd for one in given} == {0.01}
    assert len(endpoint.requests) == 1


def test_what_another_process_is_buying_is_waited_for(
    endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock, tmp_path: Path
) -> None:
    other = Journal(tmp_path / "journal")
    settings = endpoint.settings()
    key = request_key(settings, request(settings))
    assert claim(other, key, 0, owner="other", seconds=100)
    clock.on_wait = lambda n: _ignore(n == 3 and other.keep(key, 0, kept("theirs")))
    [given] = make_desk().converse(settings, [asking()])
    assert (given.reply, given.spent.cost_usd, given.spent.paid_usd) == ("theirs", 0.5, 0.0)
    assert clock.waits == pytest.approx([0.2, 0.3, 0.45])
    assert endpoint.requests == []
    other.close()


def test_what_another_process_gives_up_is_bought(
    endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock, tmp_path: Path
) -> None:
    other = Journal(tmp_path / "journal")
    settings = endpoint.settings()
    key = request_key(settings, request(settings))
    assert claim(other, key, 0, owner="other", seconds=100)
    clock.on_wait = lambda n: other.release(key, 0, owner="other") if n == 9 else None
    [given] = make_desk().converse(settings, [asking()])
    assert (given.reply, given.spent.paid_usd) == ("yes", 0.01)
    assert max(clock.waits) == 2.0
    other.close()


def test_a_reply_kept_between_the_look_and_the_claim_is_taken(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = endpoint.settings()
    claim_all = journal.claim_all

    def bought_meanwhile(wanted: list[tuple[str, int, float]], **others: Any) -> list[bool]:  # noqa: ANN401
        for key, attempt, _ in wanted:
            journal.keep(key, attempt, kept("theirs"))
        return claim_all(wanted, **others)

    monkeypatch.setattr(journal, "claim_all", bought_meanwhile)
    [given] = make_desk().converse(settings, [asking()])
    assert (given.reply, given.spent.paid_usd) == ("theirs", 0.0)


def test_a_process_that_holds_the_claims_does_not_hold_the_loop(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, tmp_path: Path
) -> None:
    assert claim(journal, "other", 0, owner="other", seconds=100)
    holder = sqlite3.connect(tmp_path / "journal" / "claims" / "cache.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as thread:
        given = thread.submit(lambda: list(make_desk().converse(endpoint.opened(), many(3))))
        for _ in range(20):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), wire().loop).result(timeout=0.5)
        assert endpoint.requests == []
        assert not given.done()
        holder.execute("ROLLBACK")
        assert [one.reply for one in given.result(timeout=30)] == ["yes"] * 3
    holder.close()


def test_who_finds_all_replies_kept_opens_no_client(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = endpoint.settings()
    for n in range(3):
        journal.keep(request_key(settings, request(settings, f"question {n}")), 0, kept("kept"))
    monkeypatch.setattr(connection, "open_client", lambda _: pytest.fail("opened"))
    assert [one.reply for one in make_desk().converse(settings, many(3))] == ["kept"] * 3


def test_an_endpoint_without_a_client_stops_the_run(
    endpoint: Endpoint, make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_to_open(_: ClaudeSettings) -> None:
        raise InputError("no client can be made")

    settings = endpoint.settings()
    with monkeypatch.context() as patch:
        patch.setattr(connection, "open_client", refuse_to_open)
        with pytest.raises(InputError, match="no client can be made"):
            list(make_desk().converse(settings, many(20)))
    # Once it can be made, no claim is left over.
    assert len(list(make_desk().converse(settings, many(20)))) == 20


def test_a_failed_call_gives_its_claim_back(endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock) -> None:
    endpoint.script = [refuse(400, "invalid_request_error"), reply("yes")]
    replies = [one.reply for _ in range(2) for one in make_desk().converse(endpoint.settings(), [asking()])]
    assert replies[1] == "yes"
    assert clock.waits == []


def test_an_unforeseen_error_fails_its_row_alone(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    async def broken(conversation: Conversation) -> str:
        await conversation.ask(request(conversation.settings, "paid before"), lambda raw: raw.text)
        raise LookupError("no such claim")

    given = {one.position: one for one in make_desk().converse(endpoint.settings(), [broken, asking()])}
    assert given[0].reply == Failure(state=State.ERRORED, kind="LookupError", message="no such claim")
    assert given[0].spent.paid_usd == 0.01
    assert given[1].reply == "yes"


def test_calls_that_do_not_fit_the_budget_are_not_made(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    # A thousand tokens of output are a dollar, and each reply takes half of that.
    endpoint.script = [reply(output_tokens=500)]
    settings = endpoint.settings(concurrency=4)
    given = list(make_desk(budget_usd=2.2).converse(settings, many(10)))
    states = [one.reply.state if isinstance(one.reply, Failure) else one.reply for one in given]
    assert states.count("yes") == len(endpoint.requests) == 3
    assert states.count(State.OVER_BUDGET) == 7
    assert sum(one.spent.paid_usd for one in given) == pytest.approx(1.5)
    failure = next(one.reply for one in given if isinstance(one.reply, Failure))
    assert failure.kind == "Budget"


def test_kept_replies_need_no_budget(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    list(make_desk().converse(endpoint.settings(), many(3)))
    given = list(make_desk(budget_usd=0.0).converse(endpoint.settings(), many(4)))
    assert [isinstance(one.reply, Failure) for one in sorted(given)] == [False, False, False, True]


def test_the_input_counts_in_the_worst_case(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    settings = endpoint.settings(price=Price(input_usd=1_000, output_usd=0))
    talks = [asking("x" * 4_000)]
    [given] = make_desk(budget_usd=3.0).converse(settings, talks)
    assert isinstance(given.reply, Failure)
    [given] = make_desk(budget_usd=6.0).converse(settings, talks)
    assert given.reply == "yes"


def test_an_address_where_nobody_answers_stops_the_run(
    endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock
) -> None:
    endpoint.script = [httpx2.ConnectError("connection refused")]
    with pytest.raises(EndpointError) as caught:
        list(make_desk().converse(endpoint.settings(concurrency=2), many(20)))
    assert f"{endpoint.url}: no connection in " in str(caught.value)
    assert "ConnectError connection refused" in str(caught.value)
    assert "base_url" in str(caught.value)
    assert clock.now_s - 1_000 < 60


def test_a_server_that_answered_before_is_waited_for(endpoint: Endpoint, make_desk: MakeDesk, clock: FakeClock) -> None:
    endpoint.script = [reply(), *[httpx2.ConnectError("connection refused")] * 8, reply()]
    settings = endpoint.settings(concurrency=1)
    made = make_desk()
    assert [one.reply for talk in many(2) for one in made.converse(settings, [talk])] == ["yes", "yes"]
    assert sum(clock.waits) > 60


def test_a_talk_gets_its_trial(endpoint: Endpoint, make_desk: MakeDesk) -> None:
    async def talk(conversation: Conversation) -> str:
        return str(conversation.trial)

    assert [one.reply for one in make_desk().converse(endpoint.settings(), [talk], trial=2)] == ["2"]


def test_another_way_of_sending_takes_the_same_path(endpoint: Endpoint, journal: Journal) -> None:
    class Everything:
        """Stands in for batches: replies when all of it is there, and keeps replies itself."""

        def __init__(self) -> None:
            self.n = 0
            self.all_there = asyncio.Event()

        async def send(
            self, settings: ClaudeSettings, request_key: str, attempt: int, params: Mapping[str, Any]
        ) -> Bought:
            assert settings.model == params["model"]
            self.n += 1
            if self.n == 200:
                self.all_there.set()
            await self.all_there.wait()
            return Bought(kept("by batch"), paid=journal.keep(request_key, attempt, kept("by batch")))

    made = Desk(journal, budget=Budget(None), owner="run", batch=True)
    made._purchases.batches = Everything()
    given = list(made.converse(endpoint.settings(), many(200)))
    assert {one.reply for one in given} == {"by batch"}
    assert {one.spent.paid_usd for one in given} == {0.5}
    assert endpoint.requests == []
