"""Key points for people who have only a reference answer: its statements, drafted by rule."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from schemas.question import KeyPoint, Question
from tasks.tables import Column, Table
from tasks.text.claims import split_claims
from tasks.workspace.questions import read_key_points, read_questions
from tasks.workspace.settings import read_text
from tasks.workspace.writing import replace_text

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
    points = read_key_points(workspace, {question.id: question for question in questions})
    taken = {point.id for found in points.values() for point in found}
    drafts: dict[str, list[KeyPoint]] = {}
    counts: Counter[str] = Counter()
    for question in questions:
        if points.get(question.id):
            counts["with points"] += 1
        elif question.answerable == "no":
            counts["unanswerable"] += 1
        elif drafted := draft_points(question, taken=taken):
            drafts[question.id] = drafted
        else:
            counts["no reference"] += 1
    if drafts:
        _add(workspace / "keypoints.json", drafts)
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


def _add(path: Path, drafts: Mapping[str, Sequence[KeyPoint]]) -> None:
    data = json.loads(read_text(path)) if path.exists() else {}
    for question_id, points in drafts.items():
        data[question_id] = [
            point.model_dump(mode="json", include={"id", "text", "weight", "documents", "status"}) for point in points
        ]
    replace_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def status_counts(workspace: Path) -> dict[str, Any]:
    """How many key points there are by status, for how many questions, and how many questions have none.

    Raises:
        InputError: When questions or key points cannot be read.
    """
    questions = read_questions(workspace)
    points = read_key_points(workspace, {question.id: question for question in questions})
    statuses = sorted({point.status for found in points.values() for point in found})
    without = [question for question in questions if not points.get(question.id)]
    return {
        "questions": len(questions),
        "without_points": len(without),
        "without_points_unanswerable": sum(question.answerable == "no" for question in without),
        "by_status": {
            status: {
                "points": sum(point.status == status for found in points.values() for point in found),
                "questions": sum(any(point.status == status for point in found) for found in points.values()),
            }
            for status in statuses
        },
    }


def status_table(workspace: Path) -> Table:
    """The same for a person."""
    counts = status_counts(workspace)
    without, needless = counts["without_points"], counts["without_points_unanswerable"]
    return Table(
        title="Key points by status",
        columns=(Column("status", right=False), Column("points"), Column("questions")),
        rows=tuple(
            (status, str(count["points"]), str(count["questions"])) for status, count in counts["by_status"].items()
        ),
        below=(
            f"{counts['questions'] - without} of {counts['questions']} questions have key points",
            f"{without} have none, {needless} of them marked unanswerable, which need none",
        ),
    )
