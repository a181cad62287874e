"""Changing `keypoints.json`: whole, in an order that diffs well in git, and never over what somebody else changed."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.errors import InputError
from schemas.question import KeyPoint, Question
from tasks.workspace.questions import read_point_lists
from tasks.workspace.settings import read_text
from tasks.workspace.writing import replace_text

Lists = Mapping[str, Sequence[KeyPoint]]


def change_lists(workspace: Path, known: Mapping[str, Question], change: Callable[[Lists], Lists]) -> None:
    """Read the file anew, and replace the lists of some questions.

    Points that stay as they were keep the very text they have in the file.

    Args:
        workspace: Its folder.
        known: All questions, by id.
        change: Told every list as the file has it now; returns the new ones of the questions to change.

    Raises:
        InputError: When the file cannot be read, or what `change` raises; nothing is written then.
    """
    path = workspace / "keypoints.json"
    lists = read_point_lists(workspace, known)
    raw: dict[str, list[dict[str, Any]]] = json.loads(read_text(path)) if path.exists() else {}
    new = change(lists)
    if not new:
        return
    for question_id, points in new.items():
        entries = zip(lists.get(question_id, ()), raw.get(question_id, []), strict=True)
        kept = {point.id: (point, entry) for point, entry in entries}
        raw[question_id] = [
            kept[point.id][1] if point.id in kept and kept[point.id][0] == point else as_json(point) for point in points
        ]
    replace_text(path, json.dumps(raw, indent=2, ensure_ascii=False) + "\n")


def replace_list(
    workspace: Path,
    known: Mapping[str, Question],
    question_id: str,
    *,
    before: Sequence[KeyPoint],
    after: Sequence[KeyPoint],
) -> None:
    """Replace the points of one question, which are still `before`.

    Raises:
        InputError: When the file has others now; it is left as it is.
    """

    def change(lists: Lists) -> Lists:
        if list(lists.get(question_id, ())) != list(before):
            raise InputError(
                f"the points of question {question_id} were changed by somebody else meanwhile",
                where=str(workspace / "keypoints.json"),
                remedy="Your last change was not saved, all before it were. Start the review again.",
            )
        return {question_id: after}

    change_lists(workspace, known, change)


def as_json(point: KeyPoint) -> dict[str, Any]:
    """A point as the file has it: its fields in their order, and of gold and edits what was given.

    >>> as_json(KeyPoint(id="q1/1", text="Logs are kept."))
    {'id': 'q1/1', 'text': 'Logs are kept.', 'weight': 'vital', 'documents': [], 'status': 'draft'}
    """
    always = point.model_dump(mode="json", include={"id", "text", "weight", "documents", "status"})
    given = {**point.model_dump(mode="json", exclude_defaults=True), **always}
    return {name: given[name] for name in KeyPoint.model_fields if name in given}
