"""Rows: what is published is read back, once per key, whatever happens to the parts."""

import errno
import os
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tasks.store.rows as rows_module
from schemas.errors import StoreDamagedError, StoreError
from tasks.store.keys import digest
from tasks.store.layout import CARRIED, SCHEMAS
from tasks.store.parts import Part, PartList
from tasks.store.rows import Row, Rows

Opened = Callable[[str], Rows]
MADE = {"made_by", "made_at"}
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "string": st.text(max_size=5),
    "large_string": st.text(max_size=5),
}


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Open a record's rows anew, as another process would."""

    def make(record: str) -> Rows:
        return Rows(PartList(tmp_path / "rows" / record, record, tmp_path / "quarantine"), "this run")

    return make


def _key(number: int) -> str:
    return digest(number)


def _answers(first: int, stop: int) -> list[Row]:
    return [{"key": _key(n), "text": f"answer {n}", "text_digest": _key(n), "n_words": n} for n in range(first, stop)]


def _values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_list(kind):
        return st.none() | st.lists(_values(kind.value_type), max_size=2)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: _values(field.type) for field in kind})
    if pa.types.is_map(kind):
        return st.none() | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2).map(
            lambda found: sorted(found.items())
        )
    return st.none() | SCALARS[str(kind)]


def _rows_of(record: str) -> st.SearchStrategy[list[Row]]:
    columns = {field.name: _values(field.type) for field in SCHEMAS[record] if field.name not in {"key", *MADE}}
    keys = st.integers(0, 2**128 - 1).map("{:032x}".format)
    return st.lists(st.fixed_dictionaries({"key": keys, **columns}), max_size=4, unique_by=lambda row: row["key"])


@pytest.mark.parametrize("record", SCHEMAS)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_what_is_published_is_read_back(record: str, opened: Opened, data: st.DataObject) -> None:
    published = data.draw(_rows_of(record))
    # A folder of its own for each example: keys of earlier ones would be dropped.
    folder = opened(record).parts.folder / secrets.token_hex(4)
    rows = Rows(PartList(folder, record, folder / "quarantine"), "this run")
    rows.publish(published)
    for reader in (rows, Rows(PartList(folder, record, folder / "quarantine"), "")):
        found = reader.fetch(row["key"] for row in published)
        assert [{n: v for n, v in found[row["key"]].items() if n not in MADE} for row in published] == published
        assert all(row["made_by"] == "this run" for row in found.values())
        carried = reader.carried([row["key"] for row in published])
        assert carried == [{name: row[name] for name in ("key", *CARRIED[record])} for row in published]


def test_a_key_keeps_its_first_row(opened: Opened) -> None:
    rows = opened("answer")
    assert rows.publish([{"key": _key(1), "text": "first"}]) == 1
    assert rows.publish([{"key": _key(1), "text": "second"}, {"key": _key(2), "text": "other"}]) == 1
    assert opened("answer").fetch([_key(1), _key(2)], ["text"]) == {
        _key(1): {"text": "first"},
        _key(2): {"text": "other"},
    }
    assert rows.count() == opened("answer").count() == 2


def test_rows_of_another_process_are_seen_without_reopening(opened: Opened) -> None:
    mine, other = opened("answer"), opened("answer")
    assert mine.carried([_key(1)]) == [None]
    other.publish(_answers(1, 2))
    assert mine.carried([_key(1)]) != [None]
    assert mine.publish(_answers(1, 3)) == 1


def test_a_part_that_comes_while_the_list_is_read_is_not_overlooked(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = opened("answer"), opened("answer")
    live = mine.parts.live

    def live_then_published() -> list[Part]:
        found = live()
        monkeypatch.undo()
        other.publish(_answers(1, 2))
        return found

    other.publish(_answers(5, 6))
    monkeypatch.setattr(mine.parts, "live", live_then_published)
    assert mine.carried([_key(1)]) == [None]
    assert mine.carried([_key(1)]) != [None]
    assert mine.publish(_answers(1, 2)) == 0


def test_threads_that_publish_the_same_rows_leave_one_row_a_key(opened: Opened) -> None:
    rows = opened("answer")
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.extend(rows.publish(_answers(n, n + 5)) for n in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == rows.count() == 24


def test_unknown_keys_are_none_and_cannot_be_fetched(opened: Opened) -> None:
    rows = opened("answer")
    rows.publish(_answers(1, 3))
    assert [row and row["key"] for row in rows.carried([_key(9), _key(1), _key(9)])] == [None, _key(1), None]
    with pytest.raises(StoreDamagedError, match=r"2 saved answer rows are no longer there.*fourcells run"):
        rows.fetch([_key(1), _key(8), _key(9)])


def test_a_column_that_the_record_has_not_is_refused(opened: Opened) -> None:
    with pytest.raises(KeyError, match="answer row has no column wordcount"):
        opened("answer").publish([{"key": _key(1), "wordcount": 3}])


def test_keys_that_share_their_first_half_are_told_apart(opened: Opened) -> None:
    rows = opened("answer")
    twins = [f"{7:016x}{low:016x}" for low in (5, 1, 9, 3)]
    rows.publish([{"key": key, "text": key} for key in twins])
    assert rows.fetch(twins, ["text"]) == {key: {"text": key} for key in twins}
    assert rows.carried([f"{7:016x}{4:016x}", f"{8:016x}{9:016x}"]) == [None, None]


@pytest.mark.parametrize("record", ["answer", "cell"], ids=["carrying columns", "carrying one column"])
def test_nothing_asked_is_nothing_found(record: str, opened: Opened) -> None:
    rows = opened(record)
    assert (rows.carried([]), rows.fetch([]), rows.publish([]), rows.count(), rows.live_paths()) == ([], {}, 0, 0, [])
    assert rows.carried([_key(1)]) == [None]


class TestCompaction:
    def test_above_the_limit_every_row_is_kept(self, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rows_module, "COMPACT_ABOVE", 5)
        rows, reader = opened("answer"), opened("answer")
        for number in range(14):
            rows.publish(_answers(number, number + 1))
            assert len(reader.fetch(map(_key, range(number + 1)))) == number + 1
        assert len(rows.live_paths()) <= 5
        assert opened("answer").count() == 14

    def test_one_part_is_left_and_replaced_files_stay(self, opened: Opened) -> None:
        rows, reader = opened("answer"), opened("answer")
        for number in range(4):
            rows.publish(_answers(number * 3, number * 3 + 3))
        before = reader.live_paths()
        assert rows.compact() == (4, 1)
        assert rows.compact() == (1, 1)
        assert all(Path(path).exists() for path in before)
        assert reader.fetch([_key(7)])[_key(7)]["text"] == "answer 7"

    def test_large_parts_are_left_alone(self, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = opened("answer")
        rows.publish(_answers(0, 2_000))
        for number in range(2_000, 2_003):
            rows.publish(_answers(number, number + 1))
        large = rows.live_paths()[0]
        monkeypatch.setattr(rows_module, "LARGE_BYTES", Path(large).stat().st_size)
        assert rows.compact() == (4, 2)
        assert rows.live_paths()[0] == large
        assert len(rows.fetch(map(_key, range(2_003)))) == 2_003

    def test_who_made_a_row_and_when_survives(self, opened: Opened) -> None:
        rows = opened("answer")
        rows.publish(_answers(0, 2))
        rows.publish(_answers(2, 4))
        before = rows.fetch(map(_key, range(4)))
        rows.compact()
        assert opened("answer").fetch(map(_key, range(4))) == before


class TestKeepOnly:
    def test_rows_that_nothing_names_go(self, opened: Opened) -> None:
        rows = opened("answer")
        rows.publish(_answers(0, 3))
        rows.publish(_answers(3, 6))
        rows.publish(_answers(6, 7))
        later = datetime.now(UTC) + timedelta(seconds=1)
        assert rows.keep_only({_key(1), _key(6)}, made_before=later) == 5
        for reader in (rows, opened("answer")):
            assert [row is not None for row in reader.carried([_key(n) for n in range(7)])] == [
                number in {1, 6} for number in range(7)
            ]

    def test_rows_made_since_stay(self, opened: Opened) -> None:
        rows = opened("answer")
        rows.publish(_answers(0, 3))
        assert rows.keep_only(set(), made_before=datetime.now(UTC) - timedelta(minutes=1)) == 0
        assert rows.count() == 3


@pytest.mark.parametrize("moment", ["listed", "not yet indexed", "indexed"])
def test_an_interrupt_while_publishing_never_makes_a_key_twice(
    moment: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = opened("answer")
    rows.publish(_answers(0, 1))
    target, name = (rows.parts, "add") if moment == "listed" else (rows._index, "add")
    whole = getattr(target, name)

    def interrupted(*args: object) -> None:
        monkeypatch.undo()
        if moment != "not yet indexed":
            whole(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(target, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        rows.publish(_answers(1, 3))
    assert rows.publish(_answers(0, 4)) == 1
    assert rows.count() == opened("answer").count() == 4
    assert len(rows.fetch(map(_key, range(4)))) == 4


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES], ids=["too many open files", "no right to read"])
def test_what_the_machine_cannot_read_now_is_not_put_aside(
    number: int, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened("answer").publish(_answers(0, 3))

    def refuse(*_: object, **__: object) -> pa.Table:
        raise OSError(number, os.strerror(number))

    for reading in ("read", "load"):
        rows = opened("answer")
        with monkeypatch.context() as patched:
            patched.setattr(PartList, reading, refuse)
            with pytest.raises(StoreError) as caught:
                rows.fetch([_key(1)])
        assert not isinstance(caught.value, StoreDamagedError)
        assert opened("answer").fetch([_key(1)], ["text"])[_key(1)]["text"] == "answer 1"
