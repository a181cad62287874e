"""The budget: never more than the limit, never a wait for money that cannot come, first come first served."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.claude.budget import Budget

USD = st.integers(0, 400).map(lambda cents: cents / 100)


async def _settled() -> None:
    """Let every task run as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_without_a_limit_everything_fits() -> None:
    budget = Budget(None)
    assert asyncio.run(budget.reserve(1e9))
    budget.settle(1e9, 5.0)
    assert (budget.spent_usd, budget.limit_usd) == (5.0, None)


def test_what_is_set_aside_counts_and_what_is_given_back_is_free_again() -> None:
    async def scene() -> list[bool]:
        budget = Budget(1.0)
        first = await budget.reserve(0.75)
        budget.settle(0.75, 0.25)
        second = await budget.reserve(0.75)
        budget.settle(0.75, 0.75)
        return [first, second, await budget.reserve(0.01)]

    assert asyncio.run(scene()) == [True, True, False]


def test_a_tenth_ten_times_fits_a_whole_one() -> None:
    async def scene() -> list[bool]:
        budget = Budget(1.0)
        return [await budget.reserve(0.1) for _ in range(10)]

    assert all(asyncio.run(scene()))


@pytest.mark.parametrize(("paid", "fits"), [(0.1, True), (0.75, False)], ids=["cheap after all", "as dear as feared"])
def test_a_call_waits_for_those_in_flight(paid: float, fits: bool) -> None:  # noqa: FBT001
    async def scene() -> bool:
        budget = Budget(1.0)
        await budget.reserve(0.75)
        waiting = asyncio.create_task(budget.reserve(0.5))
        await _settled()
        assert not waiting.done()
        budget.settle(0.75, paid)
        return await waiting

    assert asyncio.run(scene()) is fits


def test_a_call_that_can_never_fit_is_refused_while_others_are_in_flight() -> None:
    async def scene() -> bool:
        budget = Budget(1.0)
        await budget.reserve(0.75)
        budget.settle(0.0, 0.5)
        return await budget.reserve(0.6)

    assert asyncio.run(scene()) is False


def test_a_dear_call_is_not_overtaken_by_cheap_ones() -> None:
    async def scene() -> list[str]:
        budget = Budget(1.0)
        order: list[str] = []

        async def call(name: str, usd: float) -> None:
            if await budget.reserve(usd):
                order.append(name)

        await budget.reserve(0.5)
        tasks = [asyncio.create_task(call("dear", 0.9))]
        await _settled()
        tasks += [asyncio.create_task(call(f"cheap {number}", 0.05)) for number in range(2)]
        await _settled()
        assert order == []
        budget.settle(0.5, 0.0)
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(scene()) == ["dear", "cheap 0", "cheap 1"]


def test_a_refused_call_at_the_head_lets_the_next_one_through() -> None:
    async def scene() -> tuple[bool, bool]:
        budget = Budget(1.0)
        await budget.reserve(0.6)
        dear, cheap = asyncio.create_task(budget.reserve(0.9)), asyncio.create_task(budget.reserve(0.2))
        await _settled()
        budget.settle(0.6, 0.6)
        return await dear, await cheap

    assert asyncio.run(scene()) == (False, True)


@pytest.mark.parametrize("served_first", [False, True], ids=["while waiting", "with the answer on its way"])
def test_a_cancelled_call_leaves_the_queue_and_its_money(served_first: bool) -> None:  # noqa: FBT001
    async def scene() -> None:
        budget = Budget(1.0)
        await budget.reserve(0.8)
        head, tail = asyncio.create_task(budget.reserve(0.9)), asyncio.create_task(budget.reserve(0.2))
        await _settled()
        if served_first:
            budget.settle(0.8, 0.0)
        head.cancel()
        with pytest.raises(asyncio.CancelledError):
            await head
        assert await tail
        if not served_first:
            budget.settle(0.8, 0.0)
        assert await budget.reserve(0.8)

    asyncio.run(scene())


@given(
    limit=USD,
    calls=st.lists(st.tuples(USD, st.floats(0, 1)), max_size=30),
    width=st.integers(1, 8),
    turns=st.lists(st.integers(0, 3), min_size=30, max_size=30),
)
def test_no_run_pays_more_than_its_limit_and_every_run_ends(
    limit: float, calls: list[tuple[float, float]], width: int, turns: list[int]
) -> None:
    async def scene() -> None:
        budget = Budget(limit)
        slots = asyncio.Semaphore(width)

        async def call(number: int) -> bool:
            usd, share = calls[number]
            async with slots:
                if not await budget.reserve(usd):
                    return False
                for _ in range(turns[number]):
                    await asyncio.sleep(0)
                budget.settle(usd, usd * share)
                assert budget.spent_usd <= limit + 1e-5
                return True

        made = await asyncio.wait_for(_all(call, len(calls)), timeout=30)
        assert budget.spent_usd == pytest.approx(
            sum(usd * share for (usd, share), bought in zip(calls, made, strict=True) if bought)
        )
        for (usd, _), bought in zip(calls, made, strict=True):
            # Refused only if it really did not fit: what was paid only grows.
            assert bought or budget.spent_usd + usd > limit

    asyncio.run(scene())


async def _all(call: Callable[[int], Awaitable[bool]], n: int) -> list[bool]:
    return list(await asyncio.gather(*(call(number) for number in range(n))))
