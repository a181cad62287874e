"""Open batches in the journal: closed for what was read, seen to change, and forgotten when they are over."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tasks.store.journal import Journal
from tasks.store.open_batch import OpenBatch

DAY_S = 86_400.0


def submitted(journal: Journal, intent_id: str, *custom_ids: str) -> OpenBatch:
    assert journal.intent(intent_id, {"a": custom_ids[:1], "b": custom_ids[1:]}, endpoint="here")
    journal.attach(intent_id, f"msgbatch_{intent_id}")
    return next(batch for batch in journal.open_batches() if batch.intent_id == intent_id)


def test_a_batch_stays_open_for_what_could_not_be_read(journal: Journal) -> None:
    batch = submitted(journal, "1", "x-0", "y-0", "z-0")
    journal.finish(batch, unread={"z-0", "of another batch"})
    (rest,) = journal.open_batches()
    assert (rest.requests, rest.batch_id) == ({"b": ("z-0",)}, "msgbatch_1")
    # The others may be sent anew.
    assert journal.intent("2", {"a": ["x-0", "z-0"]}, endpoint="here").custom_ids == {"x-0"}  # type: ignore[union-attr]
    journal.finish(rest)
    assert [each.intent_id for each in journal.open_batches()] == ["2"]


@pytest.mark.parametrize(
    ("theirs", "left"), [((), []), (("x-0",), []), (("x-0", "y-0"), ["y-0"])], ids=["all", "the other one", "one"]
)
def test_what_either_of_two_processes_has_read_is_not_read_again(
    theirs: tuple[str, ...], left: list[str], journal: Journal, folder: Path
) -> None:
    batch = submitted(journal, "1", "x-0", "y-0")
    other = Journal(folder)
    other.finish(batch, unread=theirs)
    journal.finish(batch, unread=["y-0"])
    assert [each for found in other.open_batches() for each in found.custom_ids] == left
    assert other.known_batches() == {"msgbatch_1"}
    other.close()


def test_a_batch_is_forgotten_when_nobody_could_fetch_it_any_more(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [time.time()]
    monkeypatch.setattr("diskcache.core.time", SimpleNamespace(time=lambda: now[0], sleep=time.sleep))
    journal.finish(submitted(journal, "1", "x-0"))
    now[0] += 29 * DAY_S
    journal.finish(submitted(journal, "2", "x-0"))
    assert journal.known_batches() == {"msgbatch_1", "msgbatch_2"}
    now[0] += 2 * DAY_S
    submitted(journal, "3", "y-0")
    journal.finish(submitted(journal, "4", "x-0"))
    assert journal.known_batches() == {"msgbatch_2", "msgbatch_3", "msgbatch_4"}


def test_the_stamp_is_another_one_after_every_change_of_any_process(journal: Journal, folder: Path) -> None:
    assert journal.batches_stamp() == ()
    journal.keep_all([])
    assert journal.batches_stamp() == ()
    other = Journal(folder)
    batch = submitted(other, "1", "x-0")
    stamps = [journal.batches_stamp()]
    assert journal.open_batches() == [batch]
    # Opening the database writes its settings.
    stamps.append(journal.batches_stamp())
    journal.open_batches()
    journal.keep_all([])
    assert journal.batches_stamp() == stamps[-1]
    other.attach("1", "msgbatch_2")
    stamps.append(journal.batches_stamp())
    other.finish(batch)
    stamps.append(journal.batches_stamp())
    assert len(set(stamps[1:])) == 3
    other.close()
