"""Message batches: half the price, the same replies, and a failed row for what brought none."""

import asyncio
import logging
from collections.abc import Collection
from typing import Any

import httpx2
import pytest

from schemas.claude import Price
from schemas.errors import FourcellsError
from schemas.state import State
from tasks.models.claude import batches as batches_module
from tasks.models.claude.batch_watch import CANCELED, EXPIRED, OVERDUE
from tasks.models.claude.batches import LOST
from tasks.models.claude.errors import TOO_LONG, EndpointError
from tasks.models.claude.purchases import Bought
from tasks.store.journal import Journal
from tasks.store.open_batch import OpenBatch
from tests.tasks.models.claude.batch_double import Double, errored
from tests.tasks.models.claude.batch_runs import (
    KEYS,
    PARAMS,
    SEAT,
    Run,
    failures,
    kept_of,
    named,
    texts,
)


def test_what_is_wanted_at_once_goes_out_in_one_batch_at_half_the_price(double: Double, journal: Journal) -> None:
    run = Run(double, journal)
    outcomes = run.ask(*KEYS[:3])
    assert texts(outcomes) == named(*KEYS[:3])
    assert (double.n("post"), double.batches["msgbatch_0"].ids) == (1, named(*KEYS[:3]))
    assert double.batches["msgbatch_0"].params == [PARAMS] * 3
    for key, outcome in zip(KEYS, outcomes, strict=False):
        kept = kept_of(outcome)
        assert (kept.cost_usd, kept.batch, kept.latency_s) == (7.5, True, 0.0)
        assert journal.replies(key) == [kept]
    assert journal.open_batches() == []
    assert journal.known_batches() == {"msgbatch_0"}
    assert run.budget.spent_usd == 0.0


def test_equal_requests_are_one_and_attempts_are_several(double: Double, journal: Journal) -> None:
    run = Run(double, journal)

    async def scene() -> None:
        first, again = await asyncio.gather(run.send(KEYS[0], KEYS[0]), run.send(KEYS[0], attempt=1))
        assert texts([*first, *again]) == [*named(KEYS[0]) * 2, *named(KEYS[0], attempt=1)]

    asyncio.run(scene())
    assert double.batches["msgbatch_0"].ids == [*named(KEYS[0]), *named(KEYS[0], attempt=1)]


def test_a_price_of_ones_own_holds_in_batches_too(double: Double, journal: Journal) -> None:
    own = SEAT.model_copy(update={"model": "own", "price": Price(input_usd=4.0, output_usd=8.0)})
    assert kept_of(Run(double, journal).ask(KEYS[0], settings=own)[0]).cost_usd == 2.0


def test_models_share_a_batch_and_endpoints_do_not(double: Double, journal: Journal) -> None:
    run = Run(double, journal)
    other_model = SEAT.model_copy(update={"model": "claude-opus-4-0"})
    other_place = SEAT.model_copy(update={"base_url": "http://elsewhere.test"})

    async def scene() -> None:
        await asyncio.gather(
            run.send(KEYS[0]), run.send(KEYS[1], settings=other_model), run.send(KEYS[2], settings=other_place)
        )

    asyncio.run(scene())
    assert sorted(len(batch.ids) for batch in double.batches.values()) == [1, 2]


@pytest.mark.parametrize(
    ("result", "state", "kind"),
    [
        (errored("invalid_request_error", "prompt is too long: 250000 tokens"), State.ERRORED, TOO_LONG),
        (errored("request_too_large", "too much"), State.ERRORED, TOO_LONG),
        (errored("invalid_request_error", "effort: not allowed"), State.ERRORED, "BadRequestError"),
        (errored("overloaded_error", "Overloaded"), State.ERRORED, "OverloadedError"),
        (errored("api_error", "Internal server error"), State.ERRORED, "InternalServerError"),
        (errored("something_new", "?"), State.ERRORED, "InternalServerError"),
        ({"type": "expired"}, State.ERRORED, EXPIRED),
        ({"type": "canceled"}, State.ERRORED, CANCELED),
        ({"type": "something_new"}, State.ERRORED, EXPIRED),
    ],
    ids=["too long", "too large", "invalid", "overloaded", "server", "unknown error", "expired", "canceled", "unknown"],
)
def test_an_item_without_a_reply_is_a_failed_row_and_the_next_run_sends_it_anew(
    result: dict[str, Any], state: State, kind: str, double: Double, journal: Journal
) -> None:
    double.results[f"{KEYS[0]}-0"] = result
    failed, good = Run(double, journal).ask(KEYS[0], KEYS[1])
    assert failures([failed]) == [(state, kind)]
    assert texts([good]) == named(KEYS[1])
    assert journal.replies(KEYS[0]) == []
    double.results.clear()
    assert texts(Run(double, journal).ask(KEYS[0])) == named(KEYS[0])
    assert [batch.ids for batch in double.batches.values()] == [named(KEYS[0], KEYS[1]), named(KEYS[0])]


def test_an_error_that_all_would_meet_stops_the_run(double: Double, journal: Journal) -> None:
    double.results[f"{KEYS[0]}-0"] = errored("not_found_error", "model: claude-opus-4-1")
    failed, good = Run(double, journal).ask(KEYS[0], KEYS[1])
    assert isinstance(failed, EndpointError)
    assert texts([good]) == named(KEYS[1])


def test_a_batch_is_closed_before_its_last_result_is_told(double: Double, journal: Journal) -> None:
    """The run may end with it; the next one must not find an open batch and the same failure again."""
    finish = journal.finish
    double.results[f"{KEYS[0]}-0"] = {"type": "expired"}

    async def scene() -> None:
        sending = asyncio.create_task(Run(double, journal).send(KEYS[0]))

        def check(batch: OpenBatch, *, unread: Collection[str] = ()) -> None:
            finish(batch, unread=unread)
            assert not sending.done()

        journal.finish = check  # type: ignore[method-assign]
        assert failures(await sending) == [(State.ERRORED, EXPIRED)]

    asyncio.run(scene())
    assert journal.open_batches() == []


def test_a_result_that_is_missing_is_a_failed_row(double: Double, journal: Journal) -> None:
    run = Run(double, journal)
    shown = double._results

    def without_first(batch_id: str) -> httpx2.Response:
        double.batches[batch_id].ids = [each for each in double.batches[batch_id].ids if each != f"{KEYS[0]}-0"]
        return shown(batch_id)

    double._results = without_first  # type: ignore[method-assign]
    lost, good = run.ask(KEYS[0], KEYS[1])
    assert failures([lost]) == [(State.ERRORED, LOST)]
    assert texts([good]) == named(KEYS[1])


# Limits and waits.


def test_a_batch_holds_no_more_than_the_api_takes(
    double: Double, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_MOST_REQUESTS", 3)
    assert texts(Run(double, journal).ask(*KEYS)) == named(*KEYS)
    assert sorted(len(batch.ids) for batch in double.batches.values()) == [2, 3, 3]
    monkeypatch.undo()
    monkeypatch.setattr(batches_module, "_MOST_BYTES", 250)
    more = [f"{number:032x}" for number in range(100, 105)]
    assert texts(Run(double, journal).ask(*more)) == named(*more)
    assert sorted(len(batch.ids) for batch in list(double.batches.values())[3:]) == [1, 2, 2]


def test_a_batch_that_is_too_large_for_the_server_goes_in_halves(double: Double, journal: Journal) -> None:
    double.most_requests = 3
    assert texts(Run(double, journal).ask(*KEYS)) == named(*KEYS)
    assert [len(batch.ids) for batch in double.batches.values()] == [2, 2, 2, 2]
    assert journal.open_batches() == []


def test_a_single_request_that_is_too_large_is_too_long(double: Double, journal: Journal) -> None:
    double.most_requests = 0
    assert failures(Run(double, journal).ask(KEYS[0])) == [(State.ERRORED, TOO_LONG)]


def test_looks_become_rarer_and_are_told(double: Double, journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "fourcells.models")
    double.polls = 30
    run = Run(double, journal)
    assert texts(run.ask(*KEYS[:2])) == named(*KEYS[:2])
    looks = run.clock.slept[-30:]
    assert (looks[:3], looks[-1]) == ([2.0, 3.0, 4.5], 60.0)
    assert (run.told[0], run.told[-1], len(run.told)) == (("msgbatch_0", 0, 2), ("msgbatch_0", 2, 2), 31)
    lines = [record.getMessage() for record in caplog.records]
    assert lines.count("batch msgbatch_0: 2 requests submitted") == 1
    assert 10 < lines.count("batch msgbatch_0: 0 of 2 done") < 30
    assert lines[-1] == "batch msgbatch_0: 2 of 2 done"


def test_a_batch_that_never_ends_does_not_hold_the_run(double: Double, journal: Journal) -> None:
    double.polls = 1_000_000
    run = Run(double, journal)
    assert failures(run.ask(KEYS[0])) == [(State.TIMED_OUT, OVERDUE)]
    assert 25 * 3_600 < run.clock.now_s < 25 * 3_600 + 120
    assert len(journal.open_batches()) == 1


def test_a_full_disk_stops_the_run_and_the_batch_stays_open(double: Double, journal: Journal) -> None:
    keep_all = journal.keep_all

    def full(attempts: object) -> list[bool]:
        raise FourcellsError("the disk is full")

    journal.keep_all = full  # type: ignore[method-assign]
    (stopped,) = Run(double, journal).ask(KEYS[0])
    assert str(stopped) == "the disk is full."
    journal.keep_all = keep_all  # type: ignore[method-assign]
    assert texts(Run(double, journal).ask(KEYS[0])) == named(KEYS[0])
    assert double.n("post") == 1


def test_text_that_has_no_utf_8_is_sent_as_an_escape(double: Double, journal: Journal) -> None:
    run = Run(double, journal)

    async def scene() -> Bought:
        return await run.batches.send(SEAT, KEYS[0], 0, PARAMS | {"stop_sequences": ["\ud800", "ä"]})

    asyncio.run(scene())
    assert double.batches["msgbatch_0"].params[0]["stop_sequences"] == ["\ud800", "ä"]
