"""Each reply is bought once, beside batches too; and nothing more is bought when replies cannot be kept."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schemas.claude import ClaudeSettings
from schemas.errors import StoreError
from schemas.seats import Failure
from schemas.state import IN_BATCH, State
from tasks.models.claude.budget import Budget
from tasks.models.claude.connection import wire
from tasks.models.claude.desk import Desk
from tasks.models.claude.purchases import Bought, custom_id_of
from tasks.models.claude.request import request_key
from tasks.store.journal import Attempt, Journal, Kept
from tasks.store.open_batch import OpenBatch
from tests.claims import claim
from tests.tasks.models.claude.conftest import MakeDesk
from tests.tasks.models.claude.endpoint import Endpoint, FakeClock, Gate, many, refuse, reply, request


def kept(text: str) -> Kept:
    return Kept(
        body=reply(text).text,
        request_id=None,
        received_at="2026-01-01T00:00:00+00:00",
        latency_s=0.0,
        cost_usd=0.5,
        batch=True,
    )


def key_of(settings: ClaudeSettings, number: int) -> str:
    return request_key(settings, request(settings, f"question {number}"))


def submitted(journal: Journal, *keys: str, batch_id: str | None = "msgbatch_7") -> OpenBatch:
    assert journal.intent("i1", {"label": [custom_id_of(key, 0) for key in keys]}, endpoint="here")
    if batch_id is not None:
        journal.attach("i1", batch_id)
    return journal.open_batches()[0]


@pytest.mark.parametrize(
    ("batch_id", "said"), [("msgbatch_7", "in message batch msgbatch_7,"), (None, "that is being submitted,")]
)
def test_what_is_in_a_batch_is_not_bought_live_and_every_other_row_goes_on(
    batch_id: str | None, said: str, endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, tmp_path: Path
) -> None:
    settings = endpoint.settings()
    other = Journal(tmp_path / "journal")
    batch = submitted(other, key_of(settings, 1), key_of(settings, 3), batch_id=batch_id)
    made = make_desk()
    given = {one.position: one.reply for one in made.converse(settings, many(5))}
    failures = [given.pop(number) for number in (1, 3)]
    assert list(given.values()) == ["yes"] * 3
    for failure in failures:
        assert isinstance(failure, Failure)
        assert (failure.state, failure.kind) == (State.ERRORED, IN_BATCH)
        assert said in failure.message
        assert "the same command with --batch waits for it" in failure.message
    assert len(endpoint.requests) == 3
    assert made.paid_usd == pytest.approx(0.03)
    # Nobody is held up by us, and once it is closed the rest may be bought.
    assert claim(other, key_of(settings, 1), 0, owner="batch", seconds=60)
    other.release(key_of(settings, 1), 0, owner="batch")
    other.finish(batch)
    assert [one.reply for one in made.converse(settings, many(5))] == ["yes"] * 5
    assert len(endpoint.requests) == 5
    other.close()


def test_a_reply_of_a_batch_that_is_kept_already_is_taken(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal
) -> None:
    settings = endpoint.settings()
    submitted(journal, key_of(settings, 0))
    journal.keep(key_of(settings, 0), 0, kept("by batch"))
    [given] = make_desk().converse(settings, many(1))
    assert (given.reply, given.spent.paid_usd) == ("by batch", 0.0)


def test_a_batch_that_is_kept_and_closed_while_we_look_is_not_bought_again(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = endpoint.settings()
    batch = submitted(journal, key_of(settings, 0))
    open_batches = journal.open_batches

    def closed_meanwhile() -> list[OpenBatch]:
        journal.keep(key_of(settings, 0), 0, kept("by batch"))
        journal.finish(batch)
        return open_batches()

    monkeypatch.setattr(journal, "open_batches", closed_meanwhile)
    [given] = make_desk().converse(settings, many(1))
    assert (given.reply, given.spent.paid_usd, endpoint.requests) == ("by batch", 0.0, [])


def test_open_batches_are_not_read_for_every_call(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(journal, "0" * 32)
    reads: list[list[OpenBatch]] = []
    open_batches = journal.open_batches

    def read() -> list[OpenBatch]:
        reads.append(open_batches())
        return reads[-1]

    monkeypatch.setattr(journal, "open_batches", read)
    assert len(list(make_desk().converse(endpoint.settings(), many(200)))) == 200
    assert len(reads) <= 2


def test_what_is_under_way_is_claimed_and_what_is_over_is_not_renewed(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, tmp_path: Path
) -> None:
    gate, other = Gate(), Journal(tmp_path / "journal")
    settings = endpoint.opened(concurrency=1)

    async def handler(_: dict[str, Any]) -> Any:  # noqa: ANN401
        await gate.wait()
        return reply()

    endpoint.handler = handler
    made = make_desk()
    held = made._purchases._holds
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.extend(made.converse(settings, many(5))))
    thread.start()
    gate.reached.acquire()
    asyncio.run_coroutine_threadsafe(until(lambda: len(held._held) == 5), wire().loop).result(timeout=30)
    # Those too that wait for a slot.
    assert [claim(other, key_of(settings, n), 0, owner="other", seconds=60) for n in range(5)] == [False] * 5
    gate.open()
    thread.join()
    assert (len(results), held._held, held._renewing) == (5, set(), None)
    other.close()


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0)


def full_disk(journal: Journal, patch: pytest.MonkeyPatch, *, when: Callable[[], None] = lambda: None) -> None:
    def keep_all(attempts: list[Attempt]) -> list[bool]:
        when()
        raise StoreError("the disk is full")

    patch.setattr(journal, "keep_all", keep_all)


def test_after_a_reply_that_could_not_be_kept_no_call_of_any_session_goes_out(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    one, two = endpoint.opened(concurrency=1), endpoint.opened(concurrency=1, model="another-model")

    async def handler(params: dict[str, Any]) -> Any:  # noqa: ANN401
        if params["model"] == "another-model":
            await gate.wait()
        return reply()

    endpoint.handler = handler
    made = make_desk()
    caught: list[StoreError] = []

    def ask(settings: ClaudeSettings) -> None:
        with pytest.raises(StoreError) as raised:
            list(made.converse(settings, many(40)))
        caught.append(raised.value)

    waiting = threading.Thread(target=ask, args=(two,))
    waiting.start()
    gate.reached.acquire()
    full_disk(journal, monkeypatch)
    ask(one)
    gate.open()
    waiting.join()
    # Of the other session too, before any reply of its own: the one call that was in flight is all it made.
    assert caught[0] is caught[1]
    assert [params["model"] for params in endpoint.requests].count("another-model") == 1
    n = len(endpoint.requests)
    assert made.paid_usd == pytest.approx(0.01 * n)
    with pytest.raises(StoreError, match="the disk is full"):
        list(made.converse(one, many(3)))
    assert len(endpoint.requests) == n


def test_a_call_in_flight_that_brings_no_reply_is_not_sent_again_after_that(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, settings = Gate(), endpoint.opened(concurrency=2)
    sent: list[str] = []

    async def handler(params: dict[str, Any]) -> Any:  # noqa: ANN401
        sent.append("call")
        if len(sent) == 1:
            await gate.wait()
            return refuse(529, "overloaded_error", retry_after="20")
        return reply()

    async def for_ever(_: float) -> None:
        await asyncio.Event().wait()

    endpoint.handler = handler
    monkeypatch.setattr(clock, "sleep", for_ever)
    full_disk(journal, monkeypatch, when=gate.open)
    made = make_desk()
    with pytest.raises(StoreError):
        list(made.converse(settings, many(2)))
    assert len(sent) == 2
    assert made._purchases._buys == {}


def test_a_desk_goes_on_when_the_disk_has_room_again(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_desk()
    with monkeypatch.context() as patch:
        full_disk(journal, patch)
        with pytest.raises(StoreError):
            list(made.converse(endpoint.settings(), many(3)))
    made.resume()
    assert [one.reply for one in made.converse(endpoint.settings(), many(3))] == ["yes"] * 3


def test_a_claim_that_cannot_be_made_stops_its_session_alone(
    endpoint: Endpoint, make_desk: MakeDesk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_desk()

    def broken(*_: object, **__: object) -> list[bool]:
        raise StoreError("held")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "claim_all", broken)
        with pytest.raises(StoreError, match="held"):
            list(made.converse(endpoint.settings(), many(3)))
    assert endpoint.requests == []
    assert [one.reply for one in made.converse(endpoint.settings(), many(3))] == ["yes"] * 3


@dataclass
class Batches:
    """Stands in for batches, some of whose replies another process has kept, or which fail."""

    paid: Callable[[int], bool] = lambda _: True
    error: StoreError | None = None
    n: int = 0

    async def send(self, settings: ClaudeSettings, request_key: str, attempt: int, params: Mapping[str, Any]) -> Bought:
        assert (len(request_key), attempt, params["model"]) == (32, 0, settings.model)
        self.n += 1
        if self.error is not None:
            if self.n < 4:
                await asyncio.Event().wait()
            raise self.error
        return Bought(kept("by batch"), paid=self.paid(self.n))


def batching(journal: Journal, batches: Batches, *, budget_usd: float | None = None) -> Desk:
    made = Desk(journal, budget=Budget(budget_usd), owner="run", batch=True)
    made._purchases.batches = batches
    return made


def test_a_reply_that_another_process_kept_first_is_not_paid_by_this_one(endpoint: Endpoint, journal: Journal) -> None:
    made = batching(journal, Batches(paid=lambda n: n % 4 == 0))
    given = list(made.converse(endpoint.settings(), many(40)))
    assert {one.spent.cost_usd for one in given} == {0.5}
    assert sorted(one.spent.paid_usd for one in given) == [0.0] * 30 + [0.5] * 10
    assert made.paid_usd == 5.0


def test_what_another_process_paid_leaves_the_budget_alone(endpoint: Endpoint, journal: Journal) -> None:
    made = batching(journal, Batches(paid=lambda _: False), budget_usd=1.5)
    assert {one.reply for one in made.converse(endpoint.settings(), many(30))} == {"by batch"}
    assert made.paid_usd == 0.0


def test_a_reply_that_could_not_be_kept_ends_a_batch_run_too(endpoint: Endpoint, journal: Journal) -> None:
    made = batching(journal, Batches(error=StoreError("the disk is full")))
    with pytest.raises(StoreError, match="the disk is full"):
        list(made.converse(endpoint.settings(), many(6)))
    assert made._purchases._buys == {}
