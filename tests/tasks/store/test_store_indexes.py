"""Saved search indexes: built once, opened when wanted, built anew when damaged."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import tasks.store.indexes as indexes_module
from schemas.errors import StoreError
from tasks.search.bm25 import Bm25Index, IndexedChunk
from tasks.store.indexes import open_index

TEXTS = ["logs are kept for thirty days", "backups start at night", "keys expire after one year"]


class Builder:
    """Builds the index, and counts how often."""

    def __init__(self) -> None:
        self.n_built = 0

    def __call__(self) -> Bm25Index:
        self.n_built += 1
        chunks = [IndexedChunk(n, 0, len(text), 0, len(text), 5, f"{n:032x}") for n, text in enumerate(TEXTS)]
        return Bm25Index.build(TEXTS, chunks, k1=1.2, b=0.75, stemmer="english")


@pytest.fixture
def build() -> Builder:
    return Builder()


@pytest.fixture
def opened(tmp_path: Path, build: Builder, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Open the index as a new process would, and search it."""

    def search() -> list[int]:
        indexes_module._open.clear()
        return [hit.chunk.document for hit in open_index(tmp_path, "a" * 32, build).search("backup", depth=3)]

    yielded = search
    monkeypatch.setattr(indexes_module, "_open", type(indexes_module._open)())
    return yielded


def test_an_index_is_built_once_and_found_again(opened: Callable[[], list[int]], build: Builder) -> None:
    assert [opened(), opened()] == [[1], [1]]
    assert build.n_built == 1


def _cut_all(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize("damage", [_cut_all, _empty, shutil.rmtree], ids=["cut off", "emptied", "deleted"])
def test_a_damaged_index_is_built_anew_and_stays_mended(
    damage: Callable[[Path], None], opened: Callable[[], list[int]], build: Builder, tmp_path: Path
) -> None:
    opened()
    damage(tmp_path / ("a" * 32))
    assert [opened(), opened()] == [[1], [1]]
    assert build.n_built == 2


def test_what_a_killed_process_left_is_no_obstacle(
    opened: Callable[[], list[int]], build: Builder, tmp_path: Path
) -> None:
    for name in (f".{'a' * 32}.building", f".{'a' * 32}.building.tmp", f"..{'a' * 32}.building.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").write_bytes(b"half")
    assert opened() == [1]
    assert build.n_built == 1


def test_a_folder_that_cannot_be_written_is_a_clear_error(
    opened: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Bm25Index, "save", full)
    with pytest.raises(StoreError, match="disk is full"):
        opened()
