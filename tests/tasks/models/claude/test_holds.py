"""Claims that live as long as their calls, and batches that are looked at only when one has changed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from schemas.errors import StoreError
from tasks.models.claude.holds import Holds, OnTheWay
from tasks.store.journal import Journal
from tasks.store.open_batch import OpenBatch
from tests.claims import claim

CALL, OTHER = ("a" * 32, 0), ("b" * 32, 1)


class Time:
    """The database's time, which passes by waiting."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = time.time()
        self.n_waits = 0
        monkeypatch.setattr("diskcache.core.time", SimpleNamespace(time=lambda: self.now_s, sleep=time.sleep))

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.n_waits += 1
        await asyncio.sleep(0)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.fixture
def writers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0)


def run(scene: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await scene()

    asyncio.run(whole())


def test_a_claim_holds_as_long_as_its_call_is_under_way(
    journal: Journal, tmp_path: Path, database: Time, writers: ThreadPoolExecutor
) -> None:
    other = Journal(tmp_path / "journal")
    holds = Holds(journal, owner="run", writers=writers, sleep=database.sleep)

    async def scene() -> None:
        assert await holds.claim(CALL)
        began_s = database.now_s
        await until(lambda: database.now_s - began_s > 10_000)
        assert not claim(other, *CALL, owner="other", seconds=60)
        assert not await holds.claim(CALL)
        await asyncio.wrap_future(holds.release([CALL]))
        assert claim(other, *CALL, owner="other", seconds=60)

    run(scene)
    other.close()


def test_nothing_is_renewed_when_no_call_is_under_way(
    journal: Journal, database: Time, writers: ThreadPoolExecutor
) -> None:
    holds = Holds(journal, owner="run", writers=writers, sleep=database.sleep)

    async def scene() -> None:
        assert await holds.claim_all([CALL, OTHER]) == {CALL, OTHER}
        assert holds._renewing is not None
        await until(lambda: database.n_waits > 3)
        holds.let_go([CALL])
        renewing = holds._renewing
        await asyncio.wrap_future(holds.release([OTHER]))
        await until(renewing.done)
        n_waits = database.n_waits
        for _ in range(20):
            await asyncio.sleep(0)
        assert database.n_waits == n_waits
        # And again with the next one.
        assert await holds.claim(OTHER)
        await until(lambda: database.n_waits > n_waits)
        holds.let_go([OTHER])

    run(scene)


def test_many_are_renewed_in_one_transaction_and_a_failure_is_not_the_last_word(
    journal: Journal, database: Time, writers: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[int] = []

    def renew(wanted: list[tuple[str, int, float]], *, owner: str) -> list[bool]:
        renewed.append(len(wanted))
        raise StoreError("held")

    monkeypatch.setattr(journal, "renew_all", renew)
    holds = Holds(journal, owner="run", writers=writers, sleep=database.sleep)

    async def scene() -> None:
        calls = [("a", n) for n in range(500)]
        assert all(await asyncio.gather(*(holds.claim(call) for call in calls)))
        n = len(renewed)
        await until(lambda: len(renewed) > n + 2)
        assert renewed[-1] == 500
        holds.let_go(calls)

    run(scene)


def test_of_many_calls_those_that_nobody_else_is_at_are_claimed(
    journal: Journal, tmp_path: Path, writers: ThreadPoolExecutor
) -> None:
    other = Journal(tmp_path / "journal")
    holds = Holds(journal, owner="run", writers=writers)

    async def scene() -> None:
        assert claim(other, *OTHER, owner="other", seconds=60)
        assert await holds.claim_all([CALL, OTHER]) == {CALL}
        await asyncio.wrap_future(holds.release([CALL, OTHER]))
        assert not claim(journal, *OTHER, owner="third", seconds=60)

    run(scene)
    other.close()


def test_open_batches_are_read_once_until_one_changes(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Journal(tmp_path / "journal")
    reads: list[list[OpenBatch]] = []
    open_batches = journal.open_batches

    def read() -> list[OpenBatch]:
        reads.append(open_batches())
        return reads[-1]

    monkeypatch.setattr(journal, "open_batches", read)
    on_the_way = OnTheWay(journal)

    async def scene() -> None:
        assert [await on_the_way.batch_of("x-0") for _ in range(100)] == [None] * 100
        assert reads == []
        other.intent("i1", {"label": ["x-0"]}, endpoint="here")
        assert all(await asyncio.gather(*(on_the_way.batch_of("x-0") for _ in range(100))))
        assert await on_the_way.batch_of("y-0") is None
        # Opening the database writes to it, too.
        assert len(reads) <= 2
        other.attach("i1", "msgbatch_1")
        batch = await on_the_way.batch_of("x-0")
        assert batch is not None
        assert batch.batch_id == "msgbatch_1"
        other.finish(batch)
        assert await on_the_way.batch_of("x-0") is None
        assert len(reads) <= 4

    run(scene)
    other.close()
