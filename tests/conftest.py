"""Workspaces for tests: a fresh one, and one that was run."""

import gc
import shutil
import signal
from pathlib import Path

import pytest

from tests.small_workspace import Summary, run_all, write_workspace
from tests.stub.fixtures import stub, stub_server

__all__ = ["stub", "stub_server"]

# A job in the background of a script is started with Ctrl-C ignored, and so would be all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The client spares the collector what is there when it opens. Here that is other tests' remains.
gc.freeze = lambda: None


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The small workspace; nothing was run yet."""
    return write_workspace(tmp_path / "workspace")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    """The small workspace after a run, with that run's document. Copy it; never write to it."""
    folder = write_workspace(tmp_path_factory.mktemp("finished") / "workspace")
    return folder, run_all(folder)


@pytest.fixture
def done(finished: tuple[Path, Summary], tmp_path: Path) -> Path:
    """A copy of the finished workspace, to do with as a test likes."""
    return Path(shutil.copytree(finished[0], tmp_path / "done"))
