"""A damaged store is said and mended by the next run; a full disk is one clear error, and the rest comes later."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
import pytest

from schemas.errors import StoreError
from tests.small_workspace import Summary, run_all, stored, tables, timeless, totals

_WRITE: Final = os.write


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 7)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def _swap(path: Path) -> None:
    """Another record's part under this name."""
    shutil.copy(next(iter((path.parents[1] / "document").glob("*.parquet"))), path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a part cut off": _cut,
    "a part deleted": Path.unlink,
    "a foreign part": _swap,
    "a byte changed in the middle": _flip,
}
RECORDS = ["document", "question", "chunks", "context", "answer", "grounding", "cell"]


def _check_mended(workspace: Path, undisturbed: tuple[Path, Summary]) -> Summary:
    again = run_all(workspace)
    assert tables(again) == tables(undisturbed[1])
    assert timeless(stored(workspace)) == timeless(stored(undisturbed[0]))
    return again


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_reported_and_exactly_its_rows_are_computed_again(
    damage: Callable[[Path], object], done: Path, finished: tuple[Path, Summary], caplog: pytest.LogCaptureFixture
) -> None:
    part = next(iter((done / "store" / "rows" / "answer").glob("*.parquet")))
    lost = set(pq.read_table(part, columns=["key"]).column("key").to_pylist())
    damage(part)
    again = _check_mended(done, finished)
    assert f"answer part {part.stem}" in caplog.text
    assert totals(again, "computed") == {
        **dict.fromkeys(totals(again, "computed"), 0),
        "generate": len(lost),
    }
    after = stored(done)
    assert {key for key, row in after["answer"].items() if row["made_by"] == again["run_id"]} == lost


@pytest.mark.parametrize("record", RECORDS)
def test_losing_every_part_of_a_record_costs_its_rows_and_nothing_else(
    record: str, done: Path, finished: tuple[Path, Summary], caplog: pytest.LogCaptureFixture
) -> None:
    before = stored(done)
    for part in (done / "store" / "rows" / record).glob("*.parquet"):
        _flip(part)
    again = _check_mended(done, finished)
    assert f"{record} part" in caplog.text
    made = {name for name, rows in stored(done).items() if any(r["made_by"] == again["run_id"] for r in rows.values())}
    assert made == {record}
    assert all(stored(done)[name] == rows for name, rows in before.items() if name != record)


def test_a_damaged_search_index_is_built_anew(done: Path, finished: tuple[Path, Summary]) -> None:
    for path in (done / "store" / "index").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    shutil.rmtree(done / "store" / "rows" / "ranking")
    again = _check_mended(done, finished)
    assert totals(again, "computed")["retrieve"] == 24
    assert totals(again, "computed")["generate"] == 0


def test_a_newer_store_is_refused_before_any_work(done: Path) -> None:
    before = sorted(path for path in (done / "store").rglob("*"))
    (done / "store" / "store.json").write_text(json.dumps({"schema": 99}), encoding="utf-8")
    with pytest.raises(StoreError, match=r"schema 99.*Use the release that wrote it, or move the store") as caught:
        run_all(done)
    assert caught.value.exit_code == 2
    assert sorted(path for path in (done / "store").rglob("*")) == before


class TestFullDisk:
    def _check(self, workspace: Path, undisturbed: tuple[Path, Summary], make_room: Callable[[], object]) -> None:
        with pytest.raises(StoreError, match=r"disk is full.*saved so far are kept and readable.*run the same command"):
            run_all(workspace)
        saved = stored(workspace)
        make_room()
        _check_mended(workspace, undisturbed)
        after = stored(workspace)
        assert all(after[record][key] == row for record, rows in saved.items() for key, row in rows.items())

    @pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9], ids=lambda share: f"after {share:.0%} of all bytes")
    def test_at_any_moment_of_a_run(
        self, share: float, workspace: Path, finished: tuple[Path, Summary], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        parts = [p for p in (finished[0] / "store").rglob("*") if p.is_file() and "index" not in p.parts]
        room = int(sum(path.stat().st_size for path in parts) * share)

        def write(descriptor: int, content: memoryview) -> int:
            nonlocal room
            if room <= 0:
                raise OSError(28, "No space left on device")
            written = _WRITE(descriptor, content[:room])
            room -= written
            return written

        monkeypatch.setattr(os, "write", write)
        self._check(workspace, finished, monkeypatch.undo)

    @pytest.mark.parametrize("room_kb", [60, 180], ids=lambda room_kb: f"room for {room_kb} kB")
    def test_on_a_real_full_disk(
        self, room_kb: int, small_disk: Path, workspace: Path, finished: tuple[Path, Summary]
    ) -> None:
        on_disk = Path(shutil.copytree(workspace, small_disk / "workspace"))
        ballast = small_disk / "ballast"
        free = os.statvfs(small_disk)
        ballast.write_bytes(b"x" * (free.f_bavail * free.f_frsize - room_kb * 1024))
        self._check(on_disk, finished, ballast.unlink)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607 - fixed arguments
