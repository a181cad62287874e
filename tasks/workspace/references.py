"""Key points for people who have only a reference answer: its statements, drafted by rule."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from schemas.question import KeyPoint, Question
from tasks.tables.table import Column, Table
from tasks.text.claims import split_claims
from tasks.workspace.doubts import named
from tasks.workspace.point_lists import change_lists
from tasks.workspace.questions import in_use, read_point_lists, read_questions

DRAFTED: Final = "drafted by rule, not reviewed"


@dataclass(frozen=True)
class Drafted:
    """How many points were drafted, and why the other questions got none."""

    n_points: int
    n_questions: int
    n_with_points: int
    n_without_reference: int
    n_unanswerable: int

    def told(self) -> list[str]:
        """The same for a person, line by line."""
        lines = [f"{self.n_points} key points for {self.n_questions} questions: {DRAFTED}, all vital"]
        if not self.n_points:
            lines = ["no key point was drafted"]
        if self.n_with_points:
            lines.append(f"{self.n_with_points} questions have key points already and were left alone")
        if self.n_without_reference:
            lines.append(f"{self.n_without_reference} questions have no reference answer that states anything")
        if self.n_unanswerable:
            lines.append(f"{self.n_unanswerable} questions are marked unanswerable and need none")
        return lines


def draft_from_references(workspace: Path) -> Drafted:
    """Split every question's reference into key points, all vital, and add them to `keypoints.json`.

    Questions that have points are left alone.

    Raises:
        InputError: When questions or key points cannot be read.
    """
    questions = read_questions(workspace)
    known = {question.id: question for question in questions}
    lists = read_point_lists(workspace, known)
    taken = {point.id for found in lists.values() for point in found}
    drafts: dict[str, list[KeyPoint]] = {}
    counts: Counter[str] = Counter()
    for question in questions:
        if in_use(lists.get(question.id, ())):
            counts["with points"] += 1
        elif question.answerable == "no":
            counts["unanswerable"] += 1
        elif drafted := draft_points(question, taken=taken):
            drafts[question.id] = drafted
        else:
            counts["no reference"] += 1
    # Behind what a person dropped, which stays on record.
    change_lists(workspace, known, lambda now: {name: [*now.get(name, ()), *drafts[name]] for name in drafts})
    return Drafted(
        n_points=sum(map(len, drafts.values())),
        n_questions=len(drafts),
        n_with_points=counts["with points"],
        n_without_reference=counts["no reference"],
        n_unanswerable=counts["unanswerable"],
    )


def draft_points(question: Question, *, taken: set[str]) -> list[KeyPoint]:
    """Make a question's reference into key points whose ids are not among those taken."""
    documents = tuple(dict.fromkeys(entry.document for entry in question.gold if entry.document is not None))
    names = (name for number in range(1, 10**6) if (name := f"{question.id}/{number}") not in taken)
    return [
        KeyPoint(id=next(names), text=text, weight="vital", documents=documents, status=DRAFTED)
        for text in split_reference(question.reference or "")
    ]


def split_reference(reference: str) -> list[str]:
    r"""Split a reference answer into statements, as a reader splits an answer into claims.

    >>> split_reference("Yes. Logs are kept for 30 days, e.g. on Team.\n- Audit logs stay for a year.")
    ['Yes. Logs are kept for 30 days, e.g. on Team.', 'Audit logs stay for a year.']
    """
    return [claim.text for claim in split_claims(reference).claims]


def status_counts(workspace: Path) -> dict[str, Any]:
    """How many key points there are by status, for how many questions and which, and how many questions have none.

    Dropped points are counted by status and nowhere else: a question that has no others has none.

    Raises:
        InputError: When questions or key points cannot be read.
    """
    questions = read_questions(workspace)
    lists = read_point_lists(workspace, {question.id: question for question in questions})
    by_question = {name: Counter(point.status for point in found) for name, found in lists.items() if found}
    without = [question for question in questions if not in_use(lists.get(question.id, ()))]
    return {
        "questions": len(questions),
        "without_points": len(without),
        "without_points_unanswerable": sum(question.answerable == "no" for question in without),
        "by_status": {
            status: {
                "points": sum(counts[status] for counts in by_question.values()),
                "questions": sum(status in counts for counts in by_question.values()),
            }
            for status in sorted({status for counts in by_question.values() for status in counts})
        },
        "by_question": {name: dict(sorted(counts.items())) for name, counts in by_question.items()},
    }


def status_table(workspace: Path) -> Table:
    """The same for a person; of the questions only those that wait for a review."""
    counts = status_counts(workspace)
    without, needless = counts["without_points"], counts["without_points_unanswerable"]
    waiting = {
        name: sum(n for status, n in found.items() if status not in {"reviewed", "dropped"})
        for name, found in counts["by_question"].items()
    }
    open_questions = [f"{name} ({n})" for name, n in waiting.items() if n]
    return Table(
        title="Key points by status",
        columns=(Column("status", right=False), Column("points"), Column("questions")),
        rows=tuple(
            (status, str(count["points"]), str(count["questions"])) for status, count in counts["by_status"].items()
        ),
        below=(
            f"{counts['questions'] - without} of {counts['questions']} questions have key points",
            f"{without} have none, {needless} of them marked unanswerable, which need none",
            *([f"not reviewed yet: {named(open_questions)}"] if open_questions else []),
        ),
    )
