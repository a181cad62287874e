"""Reviewing as a state machine: what each action changes and records, and that undoing leaves no trace."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InputError
from schemas.gold import GoldEntry
from schemas.question import Edit, KeyPoint
from tasks.workspace.review import Action, Clock, Review

Do = Callable[[Review], object]

GOLD = (GoldEntry(document="a.md", quote="30 days"),)
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def clock(start: datetime = NOON, *, step: timedelta = timedelta(seconds=1)) -> Clock:
    times: Iterator[datetime] = (start + number * step for number in range(10**6))
    return lambda: next(times)


def points() -> dict[str, list[KeyPoint]]:
    return {
        "q1": [
            KeyPoint(id="q1/1", text="Logs stay 30 days and are free.", gold=GOLD, documents=("a.md",)),
            KeyPoint(id="q1/2", text="Owners export them.", weight="okay", status="reviewed"),
        ],
        "q2": [KeyPoint(id="q2/1", text="Backups stay a week.", status="drafted by rule, not reviewed")],
    }


def sitting(
    lists: dict[str, Sequence[KeyPoint]] | None = None,
    *,
    who: str = "Ana",
    now: Clock | None = None,
    every: bool = False,
) -> Review:
    return Review(lists if lists is not None else {**points()}, who=who, now=now or clock(), every=every)


def at(review: Review) -> str | None:
    return review.here.point.id if review.here is not None else None


def edit(*, of: str, before: str, after: str, why: str = "", when: str = "2026-11-30T12:00:00.000+00:00") -> Edit:
    return Edit(who="Ana", when=when, why=why, before=before, after=after, of=of)  # type: ignore[arg-type]


CHANGES: dict[str, tuple[Do, dict[str, object], Edit, str]] = {
    "accept": (
        lambda review: review.accept(),
        {"status": "reviewed"},
        edit(of="status", before="draft", after="reviewed"),
        "q2/1",
    ),
    "drop": (
        lambda review: review.drop("trivial"),
        {"status": "dropped"},
        edit(of="status", before="draft", after="dropped", why="trivial"),
        "q2/1",
    ),
    "mark": (
        lambda review: review.mark("nice to know"),
        {"weight": "okay"},
        edit(of="weight", before="vital", after="okay", why="nice to know"),
        "q1/1",
    ),
    "edit": (
        lambda review: review.edit("  Logs stay\n30 days. ", "shorter"),
        {"text": "Logs stay 30 days."},
        edit(of="text", before="Logs stay 30 days and are free.", after="Logs stay 30 days.", why="shorter"),
        "q1/1",
    ),
}


@pytest.mark.parametrize(("do", "changed", "recorded", "then"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_recorded_with_who_when_and_why(
    do: Do, changed: dict[str, object], recorded: Edit, then: str
) -> None:
    review = sitting()
    do(review)
    before = points()["q1"][0]
    assert review.lists["q1"][0] == before.model_copy(update={**changed, "edits": (recorded,)})
    assert review.lists["q1"][1:] == tuple(points()["q1"][1:])
    assert at(review) == then


def test_a_split_makes_points_with_ids_of_their_own() -> None:
    review = sitting()
    action = review.split(["Logs stay 30 days.", "Logs are free.", " "], "two things")
    assert (action.point_id, action.parts, action.told()) == ("q1/1", ("q1/3",), "split in 2")
    first, second, third = review.lists["q1"]
    assert (first.id, first.text, third.id) == ("q1/1", "Logs stay 30 days.", "q1/2")
    assert second == KeyPoint(
        id="q1/3",
        text="Logs are free.",
        documents=("a.md",),
        gold=GOLD,
        edits=(edit(of="split", before="Logs stay 30 days and are free.", after="Logs are free.", why="two things"),),
    )
    seen = [at(review)]
    for _ in range(2):
        review.next()
        seen.append(at(review))
    assert seen == ["q1/1", "q1/3", "q2/1"]


def test_a_split_into_one_is_none() -> None:
    with pytest.raises(ValueError, match="two texts"):
        sitting().split(["Logs stay 30 days."], "why")


def _accept_the_second(review: Review) -> None:
    review.next()
    review.accept()


def _go_far(review: Review) -> None:
    for _ in range(9):
        review.next()
    assert review.here is None
    review.back()
    assert at(review) == "q2/1"


NOTHING: dict[str, Do] = {
    "a text as it was": lambda review: review.edit("Logs stay 30 days  and are free.", "no reason"),
    "accepting what is reviewed": _accept_the_second,
    "going beyond the end": _go_far,
    "going back before the beginning": Review.back,
}


@pytest.mark.parametrize("do", NOTHING.values(), ids=NOTHING)
def test_what_changes_nothing_is_not_recorded(do: Do) -> None:
    review = sitting(every=True)
    do(review)
    assert review.lists == {name: tuple(found) for name, found in points().items()}
    assert (review.n_actions, review.last()) == (0, None)


def test_the_walk_is_through_what_is_not_reviewed() -> None:
    review = sitting()
    seen = []
    while review.here is not None:
        seen.append((review.here.point.id, review.here.number, review.here.n_points))
        review.accept()
    assert seen == [("q1/1", 1, 2), ("q2/1", 2, 2)]
    assert review.n_open == 0
    # Another sitting has nothing to do, unless it is asked for everything.
    assert sitting({**review.lists}).here is None
    assert sitting({**review.lists}, every=True).here is not None


def test_dropped_points_come_back_with_all() -> None:
    review = sitting()
    review.drop("trivial")
    again = sitting({**review.lists}, every=True, now=clock(NOON + timedelta(days=1)))
    assert at(again) == "q1/1"
    again.accept("not trivial after all")
    assert [one.after for one in again.lists["q1"][0].edits] == ["dropped", "reviewed"]
    assert again.lists["q1"][0].status == "reviewed"


DOING = st.sampled_from([
    *(change[0] for change in CHANGES.values()),
    lambda review: review.split(["Logs.", "Free.", "Always."], "three things"),
    lambda review: review.edit("Another text.", "other"),
    Review.next,
    Review.back,
])


def carry_out(review: Review, doing: Sequence[Do]) -> None:
    for do in doing:
        if review.here is not None:
            do(review)


def undo_all(review: Review) -> int:
    n = 0
    while review.undo() is not None:
        n += 1
    return n


@given(doing=st.lists(DOING, max_size=12), step=st.sampled_from([-1, 0, 1]))
def test_undoing_everything_leaves_no_trace(doing: list[Do], step: int) -> None:
    # Whatever the clock does: within a sitting the order is known.
    review = sitting(every=True, now=clock(step=timedelta(seconds=step)))
    carry_out(review, doing)
    n_actions = review.n_actions
    assert undo_all(review) == n_actions
    assert review.lists == {name: tuple(found) for name, found in points().items()}


@given(first=st.lists(DOING, max_size=8), second=st.lists(DOING, max_size=8))
def test_a_later_sitting_undoes_an_earlier_one(first: list[Do], second: list[Do]) -> None:
    one = sitting(every=True)
    carry_out(one, first)
    other = sitting({**one.lists}, who="Ben", every=True, now=clock(NOON + timedelta(days=1)))
    carry_out(other, second)
    third = sitting({**other.lists})
    assert undo_all(third) == one.n_actions + other.n_actions
    assert third.lists == {name: tuple(found) for name, found in points().items()}


def test_undo_tells_whose_action_it_takes_back_and_goes_to_its_point() -> None:
    first = sitting()
    first.accept()
    first.edit("Backups stay for seven days.", "a week can be five days")
    later = sitting({**first.lists}, who="Ben")
    last = later.last()
    assert last is not None
    assert (last.point_id, last.edit.who, last.this_sitting) == ("q2/1", "Ana", False)
    later.undo()
    later.undo()
    # It was not on this sitting's walk, and has to be seen now.
    assert at(later) == "q1/1"
    assert later.here is not None
    assert later.here.n_points == 2


@pytest.mark.parametrize(
    "by_hand",
    [{"text": "Changed in an editor."}, {"status": "draft"}, {"edits": ()}],
    ids=["text", "status", "edits"],
)
def test_what_was_changed_by_hand_since_is_not_undone(by_hand: dict[str, object]) -> None:
    first = sitting()
    first.edit("Logs stay 30 days.", "shorter")
    first.accept()
    point = first.lists["q1"][0].model_copy(update=by_hand)
    lists = {**first.lists, "q1": (point, *first.lists["q1"][1:])}
    later = sitting({**lists})
    if "text" in by_hand:
        later.undo()  # the acceptance, which stands on the status
    if by_hand == {"edits": ()}:
        assert later.undo() is None
        return
    kept = dict(later.lists)
    with pytest.raises(InputError, match="changed by hand"):
        later.undo()
    assert later.lists == kept


def test_an_edit_with_a_date_alone_was_made_by_hand_and_is_not_undone() -> None:
    by_hand = edit(of="text", before="x", after="Owners export them.", when="2026-11-21")
    lists = points()
    lists["q1"][1] = lists["q1"][1].model_copy(update={"edits": (by_hand,)})
    assert sitting({**lists}).last() is None


def test_a_split_whose_first_point_is_gone_is_not_undone() -> None:
    first = sitting()
    first.split(["Logs stay 30 days.", "Logs are free."], "two things")
    later = sitting({**first.lists, "q1": first.lists["q1"][1:]})
    with pytest.raises(InputError, match="is gone"):
        later.undo()


def test_an_action_tells_its_kind() -> None:
    recorded = edit(of="status", before="draft", after="dropped")
    assert Action("q1", "q1/1", recorded).told() == "dropped"
