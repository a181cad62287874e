"""`questions.jsonl`, `keypoints.json` and `answers/*.jsonl`: read whole, checked whole, before anything is computed."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from schemas.errors import InputError
from schemas.question import KeyPoint, Question
from schemas.saved import SavedAnswer, ranking_fault
from tasks.workspace.settings import as_object, parse_json, parse_object, read_text, validate

Model = TypeVar("Model", bound=BaseModel)


def read_questions(workspace: Path) -> list[Question]:
    """Read `questions.jsonl`.

    Raises:
        InputError: When there is none, it is empty, a line is wrong, or an id is there twice.
    """
    path = workspace / "questions.jsonl"
    questions: dict[str, Question] = {}
    lines: dict[str, int] = {}
    for number, question in _lines(path, Question):
        if question.id in questions:
            raise InputError(
                f"question id {question.id!r} is there twice (first in line {lines[question.id]})",
                where=f"{path} line {number}",
                remedy="Give one of them another id.",
            )
        if not question.text.strip():
            raise InputError("the question's text is empty", where=f"{path} line {number}")
        questions[question.id] = question
        lines[question.id] = number
    if not questions:
        raise InputError(
            "there is no question in it",
            where=str(path),
            remedy='Write one per line, like {"id": "q1", "text": "How long are logs kept?"}.',
        )
    return list(questions.values())


def choose_questions(questions: Sequence[Question], wanted: Sequence[str]) -> list[Question]:
    """The questions with these ids, in the order in which they were asked for; without any, all.

    Raises:
        InputError: When an id is unknown.
    """
    by_id = {question.id: question for question in questions}
    if unknown := [name for name in wanted if name not in by_id]:
        begun = [name for name in by_id if name.startswith(unknown[0])][:3]
        near = begun or difflib.get_close_matches(unknown[0], by_id, n=1)
        raise InputError(
            f"unknown question {unknown[0]!r}",
            allowed=f"one of the {len(by_id)} ids in questions.jsonl",
            remedy=f"Did you mean {' or '.join(near)}?" if near else "",
        )
    return [by_id[name] for name in dict.fromkeys(wanted)] or list(questions)


def read_key_points(workspace: Path, known: Mapping[str, Question]) -> dict[str, tuple[KeyPoint, ...]]:
    """Read the key points of each question id that are in use: all but those a person dropped.

    Raises:
        InputError: When a question is unknown, a record is wrong, or a point id is there twice.
    """
    return {question_id: in_use(points) for question_id, points in read_point_lists(workspace, known).items()}


def in_use(points: Iterable[KeyPoint]) -> tuple[KeyPoint, ...]:
    """The points that were not dropped."""
    return tuple(point for point in points if point.status != "dropped")


def read_point_lists(workspace: Path, known: Mapping[str, Question]) -> dict[str, tuple[KeyPoint, ...]]:
    """Read `keypoints.json` as it stands, dropped points and all. A workspace without the file has none.

    Raises:
        InputError: When a question is unknown, a record is wrong, or a point id is there twice.
    """
    path = workspace / "keypoints.json"
    if not path.exists():
        return {}
    data = parse_json(read_text(path), where=str(path))
    if not isinstance(data, dict):
        raise InputError("expected an object of question ids", where=str(path), allowed='{"q1": [{"id": …}]}')
    found: dict[str, tuple[KeyPoint, ...]] = {}
    seen: dict[str, str] = {}
    for question_id, entries in data.items():
        where = f"{path} question {question_id}"
        if question_id not in known:
            raise InputError(
                f"key points for question {question_id!r}, which is not in questions.jsonl", where=str(path)
            )
        if not isinstance(entries, list):
            raise InputError("expected a list of points", where=where)
        points = tuple(
            validate(KeyPoint, as_object(entry, where=where), where=f"{where} point {number}")
            for number, entry in enumerate(entries, start=1)
        )
        for point in points:
            if point.id in seen:
                raise InputError(f"point id {point.id!r} is there twice (first for {seen[point.id]})", where=where)
            seen[point.id] = question_id
        found[question_id] = points
    return found


def read_saved_answers(path: Path) -> dict[str, SavedAnswer]:
    """Read saved answers, by question id.

    Raises:
        InputError: When the file is missing or empty, a line is wrong, or a question is answered twice.
    """
    found: dict[str, SavedAnswer] = {}
    for number, saved in _lines(path, SavedAnswer):
        if saved.question_id in found:
            raise InputError(f"question {saved.question_id!r} is answered twice", where=f"{path} line {number}")
        if (fault := ranking_fault(saved.passages or ())) is not None:
            raise InputError(
                f"question {saved.question_id!r} has {fault}, and a ranking has every rank from 1 once",
                where=f"{path} line {number}",
                remedy="Where only a part of the retriever's list was recorded, leave out all ranks: it is a context.",
            )
        found[saved.question_id] = saved
    if not found:
        raise InputError("there is no saved answer in it", where=str(path))
    return found


def _lines(path: Path, model: type[Model]) -> Iterator[tuple[int, Model]]:
    if not path.is_file():
        raise InputError("there is no such file", where=str(path))
    # Not splitlines(): it also breaks at U+2028 and others that may stand inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        yield number, validate(model, parse_object(line, where=where), where=where)
