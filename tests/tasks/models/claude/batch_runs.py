"""Runs against the double of the Message Batches API, and what came of them."""

import asyncio
import json
from collections.abc import Callable

from schemas.claude import ClaudeSettings
from schemas.state import State
from tasks.models.claude.batches import Batches
from tasks.models.claude.budget import Budget
from tasks.models.claude.errors import CallFailedError
from tasks.models.claude.purchases import Bought
from tasks.store.journal import Journal, Kept
from tests.tasks.models.claude.batch_double import Double, FakeClock

SEAT = ClaudeSettings(provider="anthropic", model="claude-opus-4-1")
KEYS = [f"{number:032x}" for number in range(8)]
PARAMS = {"model": "claude-opus-4-1", "max_tokens": 9, "messages": []}
Outcome = Kept | BaseException


class Run:
    """One run against the double: a sender of its own over a journal."""

    def __init__(self, double: Double, journal: Journal) -> None:
        self.double = double
        self.journal = journal
        self.clock = FakeClock()
        self.budget = Budget(None)
        self.told: list[tuple[str, int, int]] = []
        self.batches = Batches(
            journal,
            self.budget,
            clock=self.clock.clock(),
            connect=double.connect,
            progress=lambda *told: self.told.append(told),
        )

    async def send(self, *keys: str, settings: ClaudeSettings = SEAT, attempt: int = 0) -> list[Outcome]:
        bought = await self.buy(*keys, settings=settings, attempt=attempt)
        return [each.kept if isinstance(each, Bought) else each for each in bought]

    async def buy(self, *keys: str, settings: ClaudeSettings = SEAT, attempt: int = 0) -> list[Bought | BaseException]:
        sends = [self.batches.send(settings, key, attempt, PARAMS) for key in keys]
        return list(await asyncio.wait_for(asyncio.gather(*sends, return_exceptions=True), timeout=30))

    def ask(self, *keys: str, settings: ClaudeSettings = SEAT) -> list[Outcome]:
        return asyncio.run(self.send(*keys, settings=settings))


def texts(outcomes: list[Outcome]) -> list[str]:
    return [json.loads(kept_of(each).body)["content"][0]["text"] for each in outcomes]


def kept_of(outcome: Outcome) -> Kept:
    assert isinstance(outcome, Kept), outcome
    return outcome


def failures(outcomes: list[Outcome]) -> list[tuple[State, str]]:
    for each in outcomes:
        assert isinstance(each, CallFailedError), each
    return [(each.failure.state, each.failure.kind) for each in outcomes if isinstance(each, CallFailedError)]


def named(*keys: str, attempt: int = 0) -> list[str]:
    return [f"{key}-{attempt}" for key in keys]


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0)


def stop_after_submitting(double: Double, journal: Journal, *keys: str) -> None:
    """A run that a person stops as soon as its batch is there."""
    double.polls = 1_000_000

    async def scene() -> None:
        sending = asyncio.create_task(Run(double, journal).send(*keys))
        await until(lambda: double.n("status"))
        sending.cancel()
        await asyncio.wait([sending])

    asyncio.run(scene())
    for batch in double.batches.values():
        batch.polls_left = 1
    double.polls = 1
    double.calls.clear()


def place_of(double: Double, journal: Journal) -> str:
    return Run(double, journal).batches._outbox(SEAT).name
