"""Reading a workspace's records past the first mistake: all of them are collected, and what is right is kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from schemas.document import Document
from schemas.errors import InputError
from schemas.question import KeyPoint, Question
from schemas.saved import SavedAnswer
from tasks.workspace.corpus import HTML_SUFFIXES, TEXT_SUFFIXES, read_corpus
from tasks.workspace.questions import in_use, read_key_points, read_questions, read_saved_answers
from tasks.workspace.settings import as_object, parse_json, parse_object, read_text, validate

Model = TypeVar("Model", bound=BaseModel)


@contextmanager
def noted(errors: list[str]) -> Iterator[None]:
    """Add a mistake in what the person gave to a list, and go on behind the block."""
    try:
        yield
    except InputError as error:
        errors += [one.alone() for one in (error, *error.others)]


def read_every_question(workspace: Path, errors: list[str]) -> list[Question]:
    """Read the questions that are right, and note every mistake."""
    path = workspace / "questions.jsonl"
    before = len(errors)
    questions: dict[str, Question] = {}
    for where, question in _each(path, Question, errors):
        if question.id in questions:
            errors.append(f"{where}: question id {question.id!r} is there twice.")
        elif not question.text.strip():
            errors.append(f"{where}: the question's text is empty.")
        else:
            questions[question.id] = question
    if len(errors) == before:
        # What only the strict reader looks at, such as a file without any question.
        with noted(errors):
            read_questions(workspace)
    return list(questions.values())


def read_every_document(workspace: Path, errors: list[str]) -> list[Document]:
    """Read the corpus; when it cannot be, note every file that is not UTF-8, or else the first mistake."""
    found: list[Document] = []
    first: list[str] = []
    with noted(first):
        found = read_corpus(workspace)
    if not first:
        return found
    before = len(errors)
    for path in sorted((workspace / "corpus").rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace / "corpus").parts)
        if path.is_file() and not hidden and path.suffix.lower() in TEXT_SUFFIXES | HTML_SUFFIXES:
            with noted(errors):
                read_text(path)
    if len(errors) == before:
        errors += first
    return []


def read_every_answer(path: Path, errors: list[str]) -> dict[str, SavedAnswer]:
    """Read the saved answers that are right, and note every mistake."""
    before = len(errors)
    found: dict[str, SavedAnswer] = {}
    for where, saved in _each(path, SavedAnswer, errors):
        if saved.question_id in found:
            errors.append(f"{where}: question {saved.question_id!r} is answered twice.")
        found[saved.question_id] = saved
    if len(errors) == before:
        with noted(errors):
            read_saved_answers(path)
    return found


def read_every_point(
    workspace: Path, questions: Sequence[Question], errors: list[str], *, all_known: bool
) -> dict[str, tuple[KeyPoint, ...]]:
    """Read the key points in use that are right, and note every mistake.

    Args:
        workspace: Its folder.
        questions: Those that could be read.
        errors: Mistakes so far.
        all_known: These are all; otherwise nobody can say that a question is unknown.
    """
    path = workspace / "keypoints.json"
    before = len(errors)
    known = {question.id: question for question in questions}
    found: dict[str, tuple[KeyPoint, ...]] = {}
    seen: dict[str, str] = {}
    for question_id, entries in _point_lists(path, errors):
        where = f"{path} question {question_id}"
        if all_known and question_id not in known:
            errors.append(f"{where}: it is not in questions.jsonl.")
        points: list[KeyPoint] = []
        for number, entry in enumerate(entries, start=1):
            with noted(errors):
                points.append(validate(KeyPoint, as_object(entry, where=where), where=f"{where} point {number}"))
        for point in points:
            if point.id in seen:
                errors.append(f"{where}: point id {point.id!r} is there twice (first for {seen[point.id]}).")
            seen.setdefault(point.id, question_id)
        if question_id in known:
            found[question_id] = in_use(points)
    if all_known and len(errors) == before:
        with noted(errors):
            read_key_points(workspace, known)
    return found


def _point_lists(path: Path, errors: list[str]) -> list[tuple[str, list[Any]]]:
    if not path.exists():
        return []
    data: object = None
    with noted(errors):
        data = parse_json(read_text(path), where=str(path))
        if isinstance(data, dict):
            wrong = [name for name, entries in data.items() if not isinstance(entries, list)]
            errors.extend(f"{path} question {name}: expected a list of points." for name in wrong)
            return [(name, entries) for name, entries in data.items() if isinstance(entries, list)]
        errors.append(f"{path}: expected an object of question ids.")
    return []


def _each(path: Path, model: type[Model], errors: list[str]) -> Iterator[tuple[str, Model]]:
    lines: list[str] = []
    with noted(errors):
        lines = read_text(path).split("\n")
    for number, line in enumerate(lines, start=1):
        where = f"{path} line {number}"
        if line.strip():
            with noted(errors):
                record = validate(model, parse_object(line, where=where), where=where)
                yield where, record
