"""Message batches beside other processes: claimed before they are sent, and each reply paid by one."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.models.claude.purchases import Bought
from tasks.store.journal import Journal, Kept
from tests.claims import claim
from tests.tasks.models.claude.batch_double import Double, refusal
from tests.tasks.models.claude.batch_runs import (
    KEYS,
    Outcome,
    Run,
    failures,
    kept_of,
    named,
    stop_after_submitting,
    texts,
    until,
)


@pytest.fixture
def other(tmp_path: Path, journal: Journal) -> Iterator[Journal]:
    """The journal as another process has it."""
    opened = Journal(tmp_path / "journal")
    yield opened
    opened.close()


def live(text: str) -> Kept:
    return Kept(body=text, request_id=None, received_at="now", latency_s=1.0, cost_usd=1.0, batch=False)


def free(other: Journal, *keys: str) -> list[bool]:
    """Whether another process may buy requests; it does not."""
    claimed = [claim(other, key, 0, owner="asking", seconds=60) for key in keys]
    other.release_all([(key, 0) for key in keys], owner="asking")
    return claimed


def test_requests_are_claimed_while_they_are_sent_and_free_again_after_that(
    double: Double, journal: Journal, other: Journal
) -> None:
    double.polls = 1_000_000
    while_sent: list[bool] = []
    double.before_post = lambda: while_sent.extend(free(other, *KEYS[:3]))
    run = Run(double, journal)

    async def scene() -> None:
        sending = asyncio.create_task(run.send(*KEYS[:3]))
        await until(lambda: double.n("status"))
        await until(lambda: not run.batches._holds._held)
        async with asyncio.timeout(30):
            while not all(free(other, *KEYS[:3])):
                await asyncio.sleep(0)
        sending.cancel()
        await asyncio.wait([sending])

    asyncio.run(scene())
    assert while_sent == [False] * 3


@pytest.mark.parametrize("status", [400, 500])
def test_requests_of_a_batch_that_was_not_taken_are_free_again(
    status: int, double: Double, journal: Journal, other: Journal
) -> None:
    double.faults["post"] = [lambda: refusal(status, "invalid_request_error", "wrong")] * 1_000
    assert len(failures(Run(double, journal).ask(*KEYS[:2]))) == 2
    assert free(other, *KEYS[:2]) == [True, True]


def test_what_another_process_is_buying_is_left_out_and_its_reply_waited_for(
    double: Double, journal: Journal, other: Journal
) -> None:
    assert claim(other, KEYS[0], 0, owner="live", seconds=3_600)
    run = Run(double, journal)

    async def scene() -> list[Outcome]:
        sending = asyncio.create_task(run.send(*KEYS[:3]))
        await until(lambda: len(journal.replies(KEYS[2])))
        n = len(run.clock.slept)
        await until(lambda: len(run.clock.slept) > n + 20)
        assert not sending.done()
        other.keep(KEYS[0], 0, live("theirs"))
        return await sending

    theirs, *rest = asyncio.run(scene())
    assert kept_of(theirs) == live("theirs")
    assert texts(rest) == named(*KEYS[1:3])
    assert [batch.ids for batch in double.batches.values()] == [named(*KEYS[1:3])]
    assert max(run.clock.slept) == 15.0


def test_what_another_process_gives_up_goes_into_the_next_batch(
    double: Double, journal: Journal, other: Journal
) -> None:
    assert claim(other, KEYS[0], 0, owner="live", seconds=3_600)
    run = Run(double, journal)

    async def scene() -> list[Outcome]:
        sending = asyncio.create_task(run.send(*KEYS[:2]))
        await until(lambda: len(journal.replies(KEYS[1])))
        other.release(KEYS[0], 0, owner="live")
        return await sending

    assert texts(asyncio.run(scene())) == named(*KEYS[:2])
    assert [batch.ids for batch in double.batches.values()] == [named(KEYS[1]), named(KEYS[0])]


def test_who_waits_for_another_process_can_be_stopped(double: Double, journal: Journal, other: Journal) -> None:
    assert claim(other, KEYS[0], 0, owner="live", seconds=3_600)
    run = Run(double, journal)

    async def scene() -> None:
        sending = asyncio.create_task(run.send(KEYS[0]))
        await until(lambda: len(run.clock.slept) > 10)
        sending.cancel()
        await asyncio.wait([sending])
        await until(lambda: not run.batches._tasks)
        assert run.batches._items == {}

    asyncio.run(scene())
    assert double.calls == []


def test_what_was_bought_between_the_look_and_the_claim_is_not_sent(
    double: Double, journal: Journal, other: Journal
) -> None:
    run = Run(double, journal)
    claim_all = journal.claim_all

    def bought_meanwhile(wanted: list[tuple[str, int, float]], **how: object) -> list[bool]:
        other.keep(KEYS[0], 0, live("theirs"))
        return claim_all(wanted, **how)  # type: ignore[arg-type]

    journal.claim_all = bought_meanwhile  # type: ignore[method-assign, assignment]
    theirs, ours = asyncio.run(run.buy(*KEYS[:2]))
    assert theirs == Bought(live("theirs"), paid=False)
    assert isinstance(ours, Bought)
    assert ours.paid
    assert [batch.ids for batch in double.batches.values()] == [named(KEYS[1])]


def test_of_two_processes_that_wait_for_a_batch_one_has_paid_for_each_reply(
    double: Double, journal: Journal, other: Journal
) -> None:
    stop_after_submitting(double, journal, *KEYS[:6])
    runs = [Run(double, journal), Run(double, other)]

    async def scene() -> list[list[Bought | BaseException]]:
        # The third reply is asked for by nobody.
        wanted = [*KEYS[:2], *KEYS[3:6]]
        return list(await asyncio.gather(*(run.buy(*wanted) for run in runs)))

    bought = asyncio.run(scene())
    paid = [[each.paid for each in one if isinstance(each, Bought)] for one in bought]
    assert [one != another for one, another in zip(*paid, strict=True)] == [True] * 5
    assert sorted(run.budget.spent_usd for run in runs) == [0.0, 7.5]
    assert double.n("post") == 0
    assert journal.open_batches() == []


def test_a_reply_that_is_kept_already_is_not_paid_again(double: Double, journal: Journal, other: Journal) -> None:
    stop_after_submitting(double, journal, *KEYS[:2])
    run = Run(double, journal)
    keep_all, asked = journal.keep_all, threading.Event()

    def second(attempts: object) -> list[bool]:
        if not asked.is_set():
            asked.set()
            other.keep(KEYS[1], 0, live("theirs"))
        return keep_all(attempts)  # type: ignore[arg-type]

    journal.keep_all = second  # type: ignore[method-assign]
    (bought,) = asyncio.run(run.buy(KEYS[0]))
    assert isinstance(bought, Bought)
    assert bought.paid
    assert run.budget.spent_usd == 0.0
    assert journal.replies(KEYS[1]) == [live("theirs")]


def test_a_batch_that_two_processes_find_too_large_goes_in_halves_of_each(
    double: Double, journal: Journal, other: Journal
) -> None:
    double.most_requests = 3
    runs = [Run(double, journal), Run(double, other)]

    async def scene() -> list[list[Outcome]]:
        return list(await asyncio.gather(runs[0].send(*KEYS[:6]), runs[1].send(*KEYS[2:])))

    one, two = asyncio.run(scene())
    assert (texts(one), texts(two)) == (named(*KEYS[:6]), named(*KEYS[2:]))
    assert sorted(each for batch in double.batches.values() for each in batch.ids) == named(*KEYS)
