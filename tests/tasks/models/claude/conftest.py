"""An endpoint in memory, and a journal."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tasks.models.claude import connection
from tasks.models.claude.budget import Budget
from tasks.models.claude.desk import Desk
from tasks.store.journal import Journal
from tests.tasks.models.claude.batch_double import Double
from tests.tasks.models.claude.endpoint import Endpoint, FakeClock

_NUMBERS = itertools.count()

MakeDesk = Callable[..., Desk]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """Clients are kept by address for the whole process, so each test has an address of its own."""
    made = Endpoint(url=f"http://endpoint-{next(_NUMBERS)}.test")
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setattr(connection, "open_client", made.open_client)
    return made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal")
    yield made
    made.close()


@pytest.fixture
def double() -> Double:
    """An endpoint that takes batches."""
    return Double()


@pytest.fixture
def make_desk(journal: Journal, clock: FakeClock) -> MakeDesk:
    """Each desk is a run of its own, with the same journal unless told."""

    def make(*, budget_usd: float | None = None, own: Journal | None = None) -> Desk:
        owner = f"run-{next(_NUMBERS)}"
        return Desk(own or journal, budget=Budget(budget_usd), owner=owner, clock=clock.clock())

    return make
