"""A person's way through key points: one action at a time, each on record, each undoable. No terminal, no files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from schemas.errors import InputError
from schemas.question import Changed, Edit, KeyPoint, Question
from tasks.workspace.questions import choose_questions, read_point_lists, read_questions

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Here:
    """The point in front of the person.

    Attributes:
        number: Which of `n_points` of the walk it is, from 1.
    """

    question_id: str
    point: KeyPoint
    number: int
    n_points: int


@dataclass(frozen=True)
class Action:
    """One change that was made: on one point, or by a split on several of one question.

    Attributes:
        edit: As it stands on record; of a split the one on the point that was split.
        parts: The points that a split made; empty for anything else.
        this_sitting: False for what an earlier sitting, or another person, did.
    """

    question_id: str
    point_id: str
    edit: Edit
    parts: tuple[str, ...] = ()
    this_sitting: bool = False

    def told(self) -> str:
        """What was done, in a word or two."""
        return f"split in {1 + len(self.parts)}" if self.parts else told(self.edit)


class Review:
    """What a person does in one sitting.

    Every action appends an `Edit` to its point; undoing takes that edit away again, so the edits in the file are all
    that undoing needs, in this sitting and in later ones, and what was undone leaves no trace.

    Args:
        lists: The points of the questions to walk through, in that order, dropped ones and all.
        who: Stands on every edit.
        now: The time.
        every: Walk through every point, not only through those that nobody reviewed.
    """

    def __init__(self, lists: Mapping[str, Sequence[KeyPoint]], *, who: str, now: Clock, every: bool = False) -> None:
        self.lists: dict[str, tuple[KeyPoint, ...]] = {name: tuple(points) for name, points in lists.items()}
        self._who = who
        self._now = now
        self._walk = [
            (name, point.id)
            for name, points in self.lists.items()
            for point in points
            if every or point.status not in {"reviewed", "dropped"}
        ]
        self._at = 0
        self._done: list[Action] = []

    @property
    def here(self) -> Here | None:
        """The point in front of the person; None behind the last."""
        if self._at >= len(self._walk):
            return None
        question_id, point_id = self._walk[self._at]
        return Here(question_id, self.point(question_id, point_id), self._at + 1, len(self._walk))

    @property
    def n_open(self) -> int:
        """How many points of all those given are still to be reviewed."""
        points = [point for found in self.lists.values() for point in found]
        return sum(point.status not in {"reviewed", "dropped"} for point in points)

    @property
    def n_actions(self) -> int:
        """How many changes of this sitting stand."""
        return len(self._done)

    def told(self) -> list[str]:
        """What was done and what is left, for a person."""
        n_points = sum(map(len, self.lists.values()))
        if not n_points:
            return ["there are no key points to review; fourcells keypoints draft or from-references makes some"]
        done = [f"{self.n_actions} changes, all saved"] if self.n_actions else []
        if not self.n_open:
            return [*done, f"all {n_points} points are reviewed; --all walks through them again"]
        return [*done, f"{self.n_open} of {n_points} points are not reviewed yet"]

    def point(self, question_id: str, point_id: str) -> KeyPoint:
        """A point by its id."""
        return next(point for point in self.lists[question_id] if point.id == point_id)

    def next(self) -> None:
        """Go on without a change."""
        self._at = min(self._at + 1, len(self._walk))

    def back(self) -> None:
        """Go back to the point before."""
        self._at = max(self._at - 1, 0)

    def accept(self, why: str = "") -> Action | None:
        """Make the point reviewed, and go on. None when it was already: then there is nothing to record."""
        action = self._change("status", "reviewed", why)
        self.next()
        return action

    def drop(self, why: str) -> Action | None:
        """Take the point out of use, and go on."""
        action = self._change("status", "dropped", why)
        self.next()
        return action

    def mark(self, why: str) -> Action | None:
        """Make a vital point okay, or an okay one vital."""
        here = self._here()
        return self._change("weight", "okay" if here.point.weight == "vital" else "vital", why)

    def edit(self, text: str, why: str) -> Action | None:
        """Give the point another text; it stays as reviewed, or not, as it was. None when the text is the same."""
        return self._change("text", _line(text), why)

    def split(self, texts: Sequence[str], why: str) -> Action:
        """Make several points of one. The first text stays with the point, the others become points behind it.

        The new points take over weight, documents, gold and status.

        Raises:
            ValueError: When there are not at least two texts.
        """
        first, *others = [line for text in texts if (line := _line(text))] or [""]
        if not others:
            msg = "a split takes two texts or more"
            raise ValueError(msg)
        here = self._here()
        old, when = here.point, self._time()
        points = list(self.lists[here.question_id])
        at = points.index(old)
        edit = Edit(who=self._who, when=when, why=why, before=old.text, after=first)
        points[at] = _with_edit(old, edit)
        names = self._free_ids(here.question_id, len(others))
        made = [
            old.model_copy(update={"id": name, "text": text, "edits": (_made(edit, text),)})
            for name, text in zip(names, others, strict=True)
        ]
        self.lists[here.question_id] = (*points[: at + 1], *made, *points[at + 1 :])
        self._walk[self._at + 1 : self._at + 1] = [(here.question_id, name) for name in names]
        return self._record(Action(here.question_id, old.id, edit, parts=tuple(names)))

    def last(self) -> Action | None:
        """What `undo` would take back: the last action of this sitting, else the last on record of all points given.

        An edit that has a date without a time was written by hand and is not counted.
        """
        if self._done:
            return self._done[-1]
        found = [
            (moment, Action(name, point.id, point.edits[-1]))
            for name, points in self.lists.items()
            for point in points
            if point.edits and (moment := _moment(point.edits[-1].when)) is not None
        ]
        if not found:
            return None
        # Of the points of a split, the one that was split is not the one that was made.
        _, action = max(found, key=lambda one: (one[0], one[1].edit.of != "split"))
        return replace(action, parts=self._parts(action))

    def undo(self) -> Action | None:
        """Take the last action back, and go to its point. None when there is none.

        Raises:
            InputError: When a point no longer is as the action left it, since it was edited by hand.
        """
        action = self.last()
        if action is None:
            return None
        if action.edit.of == "split":
            raise InputError(f"the point that {action.point_id} was split from is gone, so that cannot be undone")
        points = self.lists[action.question_id]
        for point in points:
            if point.id in {action.point_id, *action.parts} and not _is_as_left(point, action):
                raise InputError(
                    f"point {point.id} was changed by hand after it was {action.told()}, so that cannot be undone"
                )
        self.lists[action.question_id] = tuple(
            _without_edit(point) if point.id == action.point_id else point
            for point in points
            if point.id not in action.parts
        )
        self._walk = [place for place in self._walk if place[1] not in action.parts]
        if self._done:
            self._done.pop()
        self._go_to(action.question_id, action.point_id)
        return action

    def _here(self) -> Here:
        if self.here is None:
            msg = "there is no point here"
            raise ValueError(msg)
        return self.here

    def _change(self, of: Changed, after: str, why: str) -> Action | None:
        here = self._here()
        before = _value(here.point, of)
        if before == after:
            return None
        edit = Edit(who=self._who, when=self._time(), why=why, before=before, after=after, of=of)
        self.lists[here.question_id] = tuple(
            _with_edit(point, edit) if point.id == here.point.id else point for point in self.lists[here.question_id]
        )
        return self._record(Action(here.question_id, here.point.id, edit))

    def _record(self, action: Action) -> Action:
        done = replace(action, this_sitting=True)
        self._done.append(done)
        return done

    def _time(self) -> str:
        # Milliseconds keep the order of actions, by which a later sitting finds the last.
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")

    def _free_ids(self, question_id: str, n: int) -> list[str]:
        taken = {point.id for points in self.lists.values() for point in points}
        names = (f"{question_id}/{number}" for number in range(1, len(taken) + n + 1))
        return [name for name in names if name not in taken][:n]

    def _parts(self, action: Action) -> tuple[str, ...]:
        edit = action.edit
        return tuple(
            point.id
            for point in self.lists[action.question_id]
            if point.id != action.point_id and any(one.of == "split" and _same_act(one, edit) for one in point.edits)
        )

    def _go_to(self, question_id: str, point_id: str) -> None:
        place = (question_id, point_id)
        if place not in self._walk:
            # It was reviewed before this sitting, and is in front of the person now.
            self._walk.insert(self._at, place)
        self._at = self._walk.index(place)


def open_review(
    workspace: Path, wanted: Sequence[str], *, who: str, every: bool, now: Clock = utc_now
) -> tuple[Review, dict[str, Question]]:
    """A review of a workspace's points, or of those of some questions; and all questions, by id.

    Raises:
        InputError: When questions or key points cannot be read, or a question is unknown.
    """
    questions = read_questions(workspace)
    known = {question.id: question for question in questions}
    lists = read_point_lists(workspace, known)
    chosen = [question.id for question in choose_questions(questions, wanted) if question.id in lists]
    return Review({name: lists[name] for name in chosen}, who=who, now=now, every=every), known


def told(edit: Edit) -> str:
    """An edit in a few words.

    >>> told(Edit(who="Ana", when="2026-11-21", why="", before="draft", after="reviewed", of="status"))
    'accepted'
    """
    match edit.of:
        case "status":
            return {"reviewed": "accepted", "dropped": "dropped"}.get(edit.after, f"made {edit.after}")
        case "weight":
            return f"marked {edit.after}"
        case "split":
            return "split off"
        case "text":
            return "edited"


def _line(text: str) -> str:
    return " ".join(text.split())


def _value(point: KeyPoint, of: Changed) -> str:
    return {"text": point.text, "split": point.text, "weight": point.weight, "status": point.status}[of]


def _with_edit(point: KeyPoint, edit: Edit) -> KeyPoint:
    return _checked(point, {edit.of: edit.after, "edits": [*point.edits, edit]})


def _without_edit(point: KeyPoint) -> KeyPoint:
    *edits, last = point.edits
    return _checked(point, {last.of: last.before, "edits": edits})


def _checked(point: KeyPoint, changes: Mapping[str, object]) -> KeyPoint:
    return KeyPoint.model_validate({**{name: getattr(point, name) for name in KeyPoint.model_fields}, **changes})


def _made(edit: Edit, text: str) -> Edit:
    return edit.model_copy(update={"after": text, "of": "split"})


def _same_act(one: Edit, other: Edit) -> bool:
    return (one.who, one.when, one.before) == (other.who, other.when, other.before)


def _is_as_left(point: KeyPoint, action: Action) -> bool:
    if not point.edits:
        return False
    last = point.edits[-1]
    return _same_act(last, action.edit) and _value(point, last.of) == last.after


def _moment(when: str) -> datetime | None:
    """The time of an edit; None for a date alone, and for what is neither."""
    try:
        moment = datetime.fromisoformat(when) if len(when) > len("2026-11-21") else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
