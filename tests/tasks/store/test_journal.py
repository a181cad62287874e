"""The journal: what is kept stays, for every thread and process; what cannot be kept or read is said."""

import itertools
import json
import pickle
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import StoreError
from tasks.store.entries import Entries
from tasks.store.journal import Attempt, Journal, Kept
from tests.claims import claim

NUMBERS = itertools.count()
KEY, OTHER = "a" * 32, "b" * 32
ROOT = Path(__file__).resolve().parents[3]


def kept(body: str = "{}", *, cost_usd: float = 0.25) -> Kept:
    return Kept(
        body=body,
        request_id="req_1",
        received_at="2026-01-01T00:00:00Z",
        latency_s=1.5,
        cost_usd=cost_usd,
        batch=False,
    )


@pytest.fixture(scope="module")
def one_journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    opened = Journal(tmp_path_factory.mktemp("journal"))
    yield opened
    opened.close()


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in another process, with `journal` open there."""
    start = f"import os\nfrom pathlib import Path\nfrom tasks.store.journal import Journal, Kept\njournal = Journal(Path({str(folder)!r}))\n"
    return subprocess.run([sys.executable, "-c", start + code], cwd=ROOT, check=False, capture_output=True, text=True)


def test_reading_an_absent_journal_makes_nothing(journal: Journal, folder: Path) -> None:
    assert journal.replies(KEY) == []
    assert journal.open_batches() == []
    assert journal.known_batches() == set()
    journal.release(KEY, 0, owner="run")
    assert not folder.exists()


def test_the_first_write_makes_a_folder_for_its_owner_only(journal: Journal, folder: Path) -> None:
    journal.keep(KEY, 0, kept())
    for made in (folder, folder / "replies"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_attempts_come_back_in_order_up_to_the_first_that_is_missing(journal: Journal) -> None:
    first, second, fourth = kept("1"), kept("2"), kept("4")
    journal.keep(KEY, 1, second)
    assert journal.replies(KEY) == []
    journal.keep(KEY, 0, first)
    journal.keep(KEY, 3, fourth)
    assert journal.replies(KEY) == [first, second]
    assert journal.replies(OTHER) == []


ANY_KEPT = st.builds(
    Kept,
    body=st.text(st.characters(), max_size=50),
    request_id=st.none() | st.text(max_size=10),
    received_at=st.just("2026-01-01T00:00:00Z"),
    latency_s=st.floats(0, 1e6),
    cost_usd=st.floats(0, 1e6),
    batch=st.booleans(),
)


@given(written=ANY_KEPT)
def test_what_is_kept_is_read_back(written: Kept, one_journal: Journal) -> None:
    key = f"{next(NUMBERS):032x}"
    assert one_journal.keep(key, 0, written)
    assert one_journal.replies(key) == [written]


def test_a_body_of_ten_megabytes_stays_inside_the_database(journal: Journal, folder: Path) -> None:
    large = kept("x" * 10_000_000)
    journal.keep(KEY, 0, large)
    assert journal.replies(KEY) == [large]
    assert not list(folder.rglob("*.val"))


def test_replies_outlive_a_killed_process(journal: Journal, folder: Path) -> None:
    code = """
journal.keep("k", 0, Kept(body="paid", request_id=None, received_at="", latency_s=0, cost_usd=1, batch=False))
os.kill(os.getpid(), 9)
"""
    assert _run(code, folder).returncode == -signal.SIGKILL
    assert [reply.body for reply in journal.replies("k")] == ["paid"]


def test_replies_and_batches_wait_for_the_disk_in_every_thread_and_claims_do_not(journal: Journal) -> None:
    journal.keep(KEY, 0, kept())
    _taken(journal, "i1", "x-0")
    claim(journal, KEY, 1, owner="run", seconds=60)

    def level(entries: Entries) -> int:
        ((found,),) = entries._cache._sql("PRAGMA synchronous").fetchall()
        return int(found)

    everything = (journal._replies, journal._batches, journal._claims._entries)
    with ThreadPoolExecutor(1) as pool:
        assert list(pool.map(level, everything)) == [level(each) for each in everything] == [2, 2, 1]


def test_threads_and_processes_keep_at_once_and_nothing_is_lost(journal: Journal, folder: Path) -> None:
    code = """
for number in range(40):
    journal.keep("process", number, Kept(body=str(number), request_id=None, received_at="", latency_s=0, cost_usd=1, batch=False))
"""
    with ThreadPoolExecutor(9) as pool:
        process = pool.submit(_run, code, folder)
        keeps = [
            pool.submit(journal.keep, f"thread {number % 4}", number // 4, kept(str(number))) for number in range(160)
        ]
        assert process.result().stderr == ""
        for each in keeps:
            each.result()
    assert [reply.body for reply in journal.replies("process")] == [str(number) for number in range(40)]
    for thread in range(4):
        assert [reply.body for reply in journal.replies(f"thread {thread}")] == [str(n) for n in range(thread, 160, 4)]


def test_several_are_kept_in_one_transaction(journal: Journal) -> None:
    journal.keep_all(Attempt(f"key {number}", 0, kept(str(number))) for number in range(500))
    assert journal.replies("key 499") == [kept("499")]


def test_a_reply_that_is_there_stays_and_who_brings_it_again_is_told(journal: Journal, folder: Path) -> None:
    other = Journal(folder)
    assert journal.keep(KEY, 0, kept("first"))
    assert not other.keep(KEY, 0, kept("second"))
    again = [Attempt(KEY, 0, kept("third")), Attempt(KEY, 1, kept("new")), Attempt(KEY, 1, kept("twice"))]
    assert other.keep_all(again) == [False, True, False]
    assert journal.replies(KEY) == [kept("first"), kept("new")]
    other.close()


def test_of_many_who_bring_one_reply_one_is_the_first(folder: Path) -> None:
    journals = [Journal(folder) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: journals[n % 4].keep(KEY, 0, kept()), range(32))).count(True) == 1
    for opened in journals:
        opened.close()


def test_an_interrupted_writer_leaves_the_others_their_turn(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = journal._replies.write
    entered, go_on = threading.Event(), threading.Event()

    def interrupt(action: object) -> None:
        monkeypatch.setattr(journal._replies, "write", write)
        entered.set()
        go_on.wait(10)
        raise KeyboardInterrupt

    journal.keep(KEY, 0, kept("before"))
    monkeypatch.setattr(journal._replies, "write", interrupt)
    with ThreadPoolExecutor(2) as pool:
        interrupted = pool.submit(journal.keep, KEY, 1, kept("interrupted"))
        entered.wait(10)
        other = pool.submit(journal.keep, OTHER, 0, kept("other"))
        go_on.set()
        assert isinstance(interrupted.exception(), KeyboardInterrupt)
        other.result()
    assert journal.replies(OTHER) == [kept("other")]
    assert journal.replies(KEY) == [kept("before")]


# Batches.


def _taken(journal: Journal, intent_id: str, *custom_ids: str) -> set[str]:
    batch = journal.intent(intent_id, {"label": custom_ids}, endpoint="here", after="msgbatch_0")
    return set() if batch is None else batch.custom_ids


def test_a_batch_goes_from_intent_to_finish(journal: Journal) -> None:
    made = journal.intent("i1", {"a": ["x-0", "y-0"], "b": ["z-0"]}, endpoint="here", after="msgbatch_0")
    assert made is not None
    assert (made.requests, made.batch_id, made.after) == ({"a": ("x-0", "y-0"), "b": ("z-0",)}, None, "msgbatch_0")
    assert journal.open_batches() == [made]
    journal.attach("i1", "msgbatch_1")
    (batch,) = journal.open_batches()
    assert batch == replace(made, batch_id="msgbatch_1")
    assert journal.known_batches() == {"msgbatch_1"}
    journal.finish(batch)
    assert journal.open_batches() == []
    assert journal.known_batches() == {"msgbatch_1"}


def test_an_intent_takes_only_what_no_open_batch_holds(journal: Journal, folder: Path) -> None:
    other = Journal(folder)
    assert _taken(journal, "i1", "x-0", "y-0") == {"x-0", "y-0"}
    assert _taken(other, "i2", "y-0", "z-0", "z-0") == {"z-0"}
    assert _taken(other, "i3", "x-0", "z-0") == set()
    assert [batch.intent_id for batch in journal.open_batches()] == ["i1", "i2"]
    journal.finish(journal.open_batches()[0])
    assert _taken(other, "i4", "x-0") == {"x-0"}
    other.close()


def test_one_submits_at_a_time_and_a_killed_one_frees_its_place(journal: Journal, folder: Path) -> None:
    code = """
place = journal.submitting("i1")
place.__enter__()
journal.intent("i1", {"label": ["x-0"]}, endpoint="here")
os.kill(os.getpid(), 9)
"""
    assert _run(code, folder).returncode == -signal.SIGKILL
    assert [batch.batch_id for batch in journal.open_batches()] == [None]
    other = Journal(folder)
    with journal.submitting("i1") as mine:
        assert mine
        with other.submitting("i1") as theirs:
            assert not theirs
    with other.submitting("i1") as theirs:
        assert theirs


# What goes wrong.


def test_a_pickled_entry_is_refused(journal: Journal, folder: Path) -> None:
    journal.keep(KEY, 0, kept())
    journal.close()
    bomb = pickle.dumps({"a": 1})
    with sqlite3.connect(folder / "replies" / "cache.db") as connection:
        connection.execute("UPDATE Cache SET mode = 4, value = ?", (bomb,))
    connection.close()
    with pytest.raises(StoreError, match="did not write"):
        journal.replies(KEY)


@pytest.mark.parametrize("column", ["raw = 0, key = x'80049503'", "mode = 3, filename = '../../secret'"])
def test_a_foreign_key_or_file_is_refused(column: str, journal: Journal, folder: Path) -> None:
    _taken(journal, KEY, "x")
    journal.close()
    with sqlite3.connect(folder / "batches" / "cache.db") as connection:
        connection.execute(f"UPDATE Cache SET {column}")
    connection.close()
    with pytest.raises(StoreError, match="did not write"):
        journal.open_batches()


def test_only_plain_values_are_taken(journal: Journal) -> None:
    with pytest.raises(TypeError, match="not dict"):
        journal._replies.write(lambda cache: cache.set("a", {}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not tuple"):
        journal._replies.write(lambda cache: cache.set(("a",), b""))  # type: ignore[arg-type]


def test_a_flipped_bit_in_a_reply_is_noticed(journal: Journal, folder: Path) -> None:
    journal.keep(KEY, 0, kept('{"verdict": "supported"}'))
    journal.close()
    path = folder / "replies" / "cache.db"
    path.write_bytes(path.read_bytes().replace(b"supported", b"suppOrted"))
    with pytest.raises(StoreError, match="differs from its checksum"):
        journal.replies(KEY)


@pytest.mark.parametrize("damage", ["overwritten", "inner pages"])
def test_a_damaged_database_is_said_with_the_way_out(damage: str, journal: Journal, folder: Path) -> None:
    journal.keep_all(Attempt(f"{number:032x}", 0, kept("x" * 500)) for number in range(200))
    journal.close()
    path = folder / "replies" / "cache.db"
    content = bytearray(path.read_bytes())
    start = 0 if damage == "overwritten" else 4096
    content[start:] = b"\xff" * (len(content) - start)
    path.write_bytes(content)
    (folder / "replies" / "cache.db-wal").unlink(missing_ok=True)
    with pytest.raises(StoreError, match=r"damaged.*move it away"):
        Journal(folder).replies("0" * 32)


def test_a_full_disk_is_said_and_what_was_kept_stays(journal: Journal) -> None:
    journal.keep(KEY, 0, kept("before"))
    cache = journal._replies._cache
    pages = cache._sql("PRAGMA page_count").fetchall()[0][0]
    cache._sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"the disk is full.*Free some space"):
        journal.keep(KEY, 1, kept("x" * 100_000))
    assert journal.replies(KEY) == [kept("before")]
    journal.keep(KEY, 1, kept("after"))
    assert journal.replies(KEY) == [kept("before"), kept("after")]


def test_a_process_that_holds_the_journal_too_long_is_an_error_and_not_a_lost_reply(
    journal: Journal, folder: Path
) -> None:
    journal.keep(KEY, 0, kept("before"))
    hurried = Journal(folder, patience_s=0.1)
    hurried.replies(KEY)
    blocker = sqlite3.connect(folder / "replies" / "cache.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    assert hurried.replies(KEY) == [kept("before")]
    with pytest.raises(StoreError, match="another process has held the journal"):
        hurried.keep(KEY, 1, kept("after"))
    blocker.execute("ROLLBACK")
    blocker.close()
    journal.keep(KEY, 1, kept("after"))
    assert len(journal.replies(KEY)) == 2


def test_a_short_wait_for_another_process_is_waited_out(journal: Journal, folder: Path) -> None:
    patient = Journal(folder, patience_s=60)
    patient.keep(KEY, 0, kept("before"))
    blocker = sqlite3.connect(folder / "replies" / "cache.db", isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(patient.keep, KEY, 1, kept("after"))
        blocker.execute("COMMIT")
        waiting.result()
    blocker.close()
    assert patient.replies(KEY)[1] == kept("after")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        Journal(tmp_path / "file" / "journal").keep(KEY, 0, kept())


def test_a_name_that_reads_like_a_variable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEWHERE", "else")
    with pytest.raises(StoreError, match="environment variable"):
        Journal(tmp_path / "$SOMEWHERE").keep(KEY, 0, kept())


def test_the_entry_on_disk_stays_readable_for_later_releases(journal: Journal, folder: Path) -> None:
    """Pinned: another spelling would orphan every reply that somebody paid for."""
    journal.keep(KEY, 0, kept('{"id": "msg_1"}'))
    journal.close()
    with sqlite3.connect(folder / "replies" / "cache.db") as connection:
        ((key, mode, value),) = connection.execute("SELECT key, mode, value FROM Cache").fetchall()
    connection.close()
    header, body = value.split(b"\n", 1)
    assert (key, mode, body) == (f"{KEY}/0", 1, b'{"id": "msg_1"}')
    assert json.loads(header) == {
        "request_id": "req_1",
        "received_at": "2026-01-01T00:00:00Z",
        "latency_s": 1.5,
        "cost_usd": 0.25,
        "batch": False,
        "crc32": 1791272331,
    }


def test_another_process_reads_what_is_not_closed_yet(journal: Journal, folder: Path) -> None:
    journal.keep(KEY, 0, kept("here"))
    result = _run(f"print(journal.replies({KEY!r})[0].body, end='')", folder)
    assert (result.stdout, result.stderr) == ("here", "")
