import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from tasks.models.claude.limiter import Limiter, draw_ticket


def run(test: Callable[[Limiter], Awaitable[None]]) -> None:
    """Run a test with a limiter of 64 slots."""

    async def in_loop() -> None:
        limiter = Limiter(lambda: "some-model", now=lambda: 0.0)
        with limiter.allowing(64):
            await test(limiter)

    asyncio.run(in_loop())


async def finish(limiter: Limiter, overloads: list[bool]) -> None:
    """Attempts one after the other."""
    for overloaded in overloads:
        limiter.release(await limiter.acquire(draw_ticket()), overloaded=overloaded)


async def all_waiting() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_never_more_in_flight_than_configured_and_no_slot_left_empty() -> None:
    async def test(limiter: Limiter) -> None:
        seen: list[int] = []

        async def call() -> None:
            slot = await limiter.acquire(draw_ticket())
            seen.append(limiter.in_flight)
            # Longer than it takes to let as many in, one in each turn of the loop.
            for _ in range(100):
                await asyncio.sleep(0)
            limiter.release(slot, overloaded=False)

        await asyncio.gather(*(call() for _ in range(500)))
        assert max(seen) == 64
        assert limiter.in_flight == 0

    run(test)


def test_first_come_first_served_and_a_repetition_keeps_its_place() -> None:
    async def test(limiter: Limiter) -> None:
        order: list[str] = []

        async def call(name: str, ticket: int) -> None:
            slot = await limiter.acquire(ticket)
            order.append(name)
            limiter.release(slot, overloaded=False)

        with limiter.allowing(1):
            repeated = draw_ticket()
            held = await limiter.acquire(draw_ticket())
            calls = [asyncio.create_task(call(name, draw_ticket())) for name in "abc"]
            await all_waiting()
            calls.append(asyncio.create_task(call("repeated", repeated)))
            await all_waiting()
            limiter.release(held, overloaded=False)
            await asyncio.gather(*calls)
        assert order == ["repeated", "a", "b", "c"]

    run(test)


def test_of_two_limits_at_once_the_smaller_holds_while_it_is_there() -> None:
    async def test(limiter: Limiter) -> None:
        with limiter.allowing(3):
            assert limiter.level == 3
        assert limiter.level == 64

    run(test)


def test_an_overloaded_server_has_fewer_calls_down_to_one() -> None:
    async def test(limiter: Limiter) -> None:
        await finish(limiter, [True] * 17)
        assert limiter.level == 44
        await finish(limiter, [True] * 500)
        assert limiter.level == 1

    run(test)


def test_one_call_in_ten_turned_away_changes_nothing() -> None:
    async def test(limiter: Limiter) -> None:
        await finish(limiter, [n % 10 == 0 for n in range(2_000)])
        assert limiter.level == 64

    run(test)


def test_slots_come_back_a_tenth_at_a_time_up_to_the_limit() -> None:
    async def test(limiter: Limiter) -> None:
        await finish(limiter, [True] * 17)
        levels = []
        for _ in range(6):
            await finish(limiter, [False] * max(32, limiter.level))
            levels.append(limiter.level)
        assert levels == [48, 52, 57, 62, 64, 64]

    run(test)


def test_what_was_in_flight_when_slots_were_taken_away_takes_none_away_again() -> None:
    async def test(limiter: Limiter) -> None:
        slots = [await limiter.acquire(draw_ticket()) for _ in range(64)]
        for slot in slots:
            limiter.release(slot, overloaded=True)
        assert limiter.level == 44

    run(test)


def test_taken_away_slots_are_not_given_out_again() -> None:
    async def test(limiter: Limiter) -> None:
        slots = [await limiter.acquire(draw_ticket()) for _ in range(64)]
        waiting = asyncio.create_task(limiter.acquire(draw_ticket()))
        for slot in slots[:20]:
            limiter.release(slot, overloaded=True)
        await all_waiting()
        assert (limiter.in_flight, waiting.done()) == (44, False)
        limiter.release(slots[20], overloaded=False)
        await all_waiting()
        assert (limiter.in_flight, waiting.done()) == (44, True)

    run(test)


@pytest.mark.parametrize("given", [False, True], ids=["before it is given", "given, and not taken yet"])
def test_who_leaves_the_queue_loses_no_slot(given: bool) -> None:  # noqa: FBT001
    async def test(limiter: Limiter) -> None:
        with limiter.allowing(1):
            held = await limiter.acquire(draw_ticket())
            leaving = asyncio.create_task(limiter.acquire(draw_ticket()))
            next_one = asyncio.create_task(limiter.acquire(draw_ticket()))
            await all_waiting()
            # The first is told to stop before he takes the slot, which is given a turn of the loop after it is free.
            limiter.release(held, overloaded=False)
            if given:
                await asyncio.sleep(0)
            assert limiter.in_flight == given
            leaving.cancel()
            limiter.release(await asyncio.wait_for(next_one, 5), overloaded=False)
        assert limiter.in_flight == 0

    run(test)


def test_fewer_slots_are_told_once_in_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]

    async def test() -> None:
        limiter = Limiter(lambda: "some-model at somewhere", now=lambda: now[0])
        with limiter.allowing(64):
            await finish(limiter, [True] * 17)
            await finish(limiter, [True] * 17)
            now[0] = 10.0
            await finish(limiter, [True] * 17)

    with caplog.at_level(logging.WARNING, "fourcells.models"):
        asyncio.run(test())
    assert caplog.messages == [
        "some-model at somewhere is overloaded (429 or 529): at most 44 of 64 calls in flight for now",
        "some-model at somewhere is overloaded (429 or 529): at most 21 of 64 calls in flight for now",
    ]
