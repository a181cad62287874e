"""Parts on disk: what is damaged is put aside and said, what is whole stays; a full disk leaves nothing behind."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import tasks.store.files as files_module
import tasks.store.parts as parts_module
from schemas.errors import StoreDamagedError, StoreError
from tasks.store.files import write_whole
from tasks.store.keys import digest
from tasks.store.layout import table_of
from tasks.store.parts import PartList
from tasks.store.rows import Rows

KEYS = [digest(number) for number in range(40)]
Damage = Callable[[Path], object]


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)


def _swap(path: Path) -> None:
    pq.write_table(table_of("cell", [{"key": KEYS[0], "label": "correct"}]), path)


def _pad(path: Path) -> None:
    """A foreign file of the right size: not Parquet at all."""
    path.write_bytes(b"x" * path.stat().st_size)


DAMAGES: dict[str, Damage] = {
    "cut off": _cut,
    "deleted": Path.unlink,
    "one byte changed": _flip,
    "another record's file": _swap,
    "no Parquet file": _pad,
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[], Rows]:
    return lambda: Rows(PartList(tmp_path / "answer", "answer", tmp_path / "quarantine"), "run")


def _publish(rows: Rows, numbers: Sequence[int]) -> Path:
    rows.publish([{"key": KEYS[number], "text": f"answer {number}" * 50, "n_words": number} for number in numbers])
    return Path(rows.live_paths()[-1])


def _known(rows: Rows) -> list[int]:
    return [number for number, row in enumerate(rows.carried(KEYS)) if row is not None]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("position", [0, 1, 2], ids=["first part", "middle part", "last part"])
def test_a_damaged_part_is_put_aside_and_its_rows_come_again(
    damage: Damage, position: int, opened: Callable[[], Rows], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    groups = [range(4), range(4, 8), range(8, 12)]
    paths = [_publish(opened(), group) for group in groups]
    damage(paths[position])
    rows = opened()
    whole = [number for group in groups for number in group if group != groups[position]]
    assert _known(rows) == whole
    assert paths[position].stem in caplog.text
    assert "4 rows are computed again" in caplog.text
    assert not paths[position].exists()
    assert (tmp_path / "quarantine" / f"answer-{paths[position].name}").exists() is (damage is not Path.unlink)
    _publish(rows, range(12))
    caplog.clear()
    assert _known(opened()) == list(range(12))
    assert rows.fetch(KEYS[:12], ["n_words"]) == {KEYS[number]: {"n_words": number} for number in range(12)}
    assert caplog.text == ""


def test_two_damaged_parts_are_put_aside_at_once(opened: Callable[[], Rows]) -> None:
    paths = [_publish(opened(), [number]) for number in range(4)]
    _flip(paths[1])
    _cut(paths[2])
    rows = opened()
    assert _known(rows) == [0, 3]
    assert rows.fetch([KEYS[3]], ["n_words"]) == {KEYS[3]: {"n_words": 3}}


def test_damage_that_comes_after_the_first_look_is_found_by_the_page_checksum(
    opened: Callable[[], Rows], caplog: pytest.LogCaptureFixture
) -> None:
    rows = opened()
    path = _publish(rows, range(4))
    _publish(rows, range(4, 8))
    assert _known(rows) == list(range(8))
    content = bytearray(path.read_bytes())
    # In the pages of `text`, which no index holds.
    with pq.ParquetFile(path) as file:
        columns = file.metadata.row_group(0)
        text = next(columns.column(n) for n in range(columns.num_columns) if columns.column(n).path_in_schema == "text")
    content[text.dictionary_page_offset + text.total_compressed_size // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match=r"4 answer rows .* Run the same command again") as caught:
        rows.fetch(KEYS[:8])
    assert caught.value.exit_code == 3
    assert path.stem in caplog.text
    assert _known(rows) == _known(opened()) == list(range(4, 8))


def test_a_foreign_file_that_nobody_listed_is_not_read(opened: Callable[[], Rows], tmp_path: Path) -> None:
    _publish(opened(), range(2))
    shutil.copy(opened().live_paths()[0], tmp_path / "answer" / f"{'0' * 32}.parquet")
    assert opened().count() == 2


def test_an_unreadable_list_of_parts_is_said_with_the_way_out(opened: Callable[[], Rows], tmp_path: Path) -> None:
    _publish(opened(), range(2))
    (tmp_path / "answer" / "parts.json").write_text('{"parts": [{"name"', encoding="utf-8")
    with pytest.raises(StoreError, match=r"parts.json.*[Rr]estore"):
        opened().count()


class TestSweep:
    def _age(self, folder: Path, seconds: float) -> None:
        moment = time.time() - seconds
        for path in folder.iterdir():
            os.utime(path, (moment, moment))

    def test_replaced_parts_go_after_a_day(self, opened: Callable[[], Rows], monkeypatch: pytest.MonkeyPatch) -> None:
        rows = opened()
        old = [_publish(rows, [number]) for number in range(3)]
        rows.compact()
        rows.compact()
        assert all(path.exists() for path in old)
        now = time.time()
        monkeypatch.setattr(parts_module, "time", SimpleNamespace(time=lambda: now + 86_401))
        rows.compact()
        assert not any(path.exists() for path in old)
        assert _known(opened()) == [0, 1, 2]

    def test_leavings_of_a_killed_process_go_after_a_day(self, opened: Callable[[], Rows]) -> None:
        live = _publish(opened(), range(2))
        young, orphan, half = (live.with_name(name) for name in ("a.parquet", "b.parquet", ".c.parquet.1f.tmp"))
        for path in (orphan, half):
            path.write_bytes(b"half a file")
        self._age(live.parent, 90_000)
        young.write_bytes(b"a part that is being published")
        opened().compact()
        assert (live.exists(), young.exists(), orphan.exists(), half.exists()) == (True, True, False, False)


class _FullDisk:
    """`os`, with room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def write(self, descriptor: int, content: memoryview) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(descriptor, content[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.93, 0.999], ids=lambda share: f"room for {share:.1%} of it")
def test_a_full_disk_is_one_clear_error_and_leaves_the_store_as_it_was(
    share: float, opened: Callable[[], Rows], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = opened()
    _publish(rows, range(3))
    before = sorted(path.name for path in (tmp_path / "answer").iterdir())
    disk = _FullDisk(1_000_000)
    monkeypatch.setattr(files_module, "os", disk)
    dry = Rows(PartList(tmp_path / "dry", "answer", tmp_path / "quarantine"), "run")
    _publish(dry, range(3))
    disk.room = 1_000_000
    _publish(dry, range(3, 9))
    disk.room = int((1_000_000 - disk.room) * share)
    with pytest.raises(StoreError, match=r"disk is full.* Free some space and run the same command again"):
        _publish(rows, range(3, 9))
    monkeypatch.undo()
    assert sorted(path.name for path in (tmp_path / "answer").iterdir()) == before
    assert _known(rows) == _known(opened()) == [0, 1, 2]
    _publish(rows, range(9))
    assert _known(opened()) == list(range(9))


def test_a_store_that_may_not_be_written_says_so(opened: Callable[[], Rows], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreError, match=r"Permission denied.*--workspace"):
        opened().publish([{"key": KEYS[0]}])


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "list.json"
    write_whole(path, json.dumps(list(range(100))).encode())
    monkeypatch.setattr(files_module, "os", _FullDisk(10))
    with pytest.raises(StoreError):
        write_whole(path, b"another content, longer than the room there is")
    assert json.loads(path.read_bytes()) == list(range(100))
    assert list(tmp_path.iterdir()) == [path]
