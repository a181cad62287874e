"""A journal, and where it lies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.store.journal import Journal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store" / "journal"


@pytest.fixture
def journal(folder: Path) -> Iterator[Journal]:
    opened = Journal(folder)
    yield opened
    opened.close()
