"""Fixtures for tests that need a Messages API."""

from collections.abc import Iterator

import pytest

from tests.stub.server import StubServer


@pytest.fixture(scope="session")
def stub_server() -> Iterator[StubServer]:
    """One stub for the session, started on first use. Use `stub`."""
    with StubServer() as server:
        yield server


@pytest.fixture
def stub(stub_server: StubServer, monkeypatch: pytest.MonkeyPatch) -> StubServer:
    """A fresh stub without faults or latency; the SDK's environment points at it."""
    stub_server.reset()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stub_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "stub-key")
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    return stub_server
