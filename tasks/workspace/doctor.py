"""Everything that is wrong in a workspace, said at once: errors that stop a run, and warnings. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.document import Document
from schemas.errors import InputError
from schemas.question import KeyPoint, Question
from schemas.setup import Judge, Setup
from tasks.runs.paid_seats import check_seats, prompts_of
from tasks.runs.prepare import saved_path
from tasks.text.words import LANGUAGES
from tasks.workspace.doubts import doubts_about_documents, doubts_about_labels, doubts_about_points, named
from tasks.workspace.gold import GoldFinder
from tasks.workspace.lenient import (
    noted,
    read_every_answer,
    read_every_document,
    read_every_point,
    read_every_question,
)
from tasks.workspace.prompts import read_prompt
from tasks.workspace.settings import load_grading, load_judge, load_setup, names_in, read_text


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, and how much was looked at."""

    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    looked_at: str

    def told(self) -> list[str]:
        """The same for a person, errors first."""
        return [
            *(f"error: {problem}" for problem in self.errors),
            *(f"warning: {problem}" for problem in self.warnings),
            f"{self.looked_at}: {len(self.errors)} errors, {len(self.warnings)} warnings",
        ]


def examine(workspace: Path) -> Diagnosis:
    """Check every setup, judge, question, key point, document, saved answer and prompt of a workspace."""
    errors: list[str] = []
    warnings: list[str] = []
    setups = _setups(workspace, errors)
    _check_judging(workspace, errors)
    before = len(errors)
    questions = read_every_question(workspace, errors)
    all_known = len(errors) == before
    points = read_every_point(workspace, questions, errors, all_known=all_known)
    documents = _documents(workspace, setups, errors)
    for setup in setups:
        if setup.answers is not None:
            warnings += _check_answers(workspace, setup, questions, errors, all_known=all_known)
    warnings += doubts_about_labels(questions, points)
    if documents:
        finder = GoldFinder({document.document_id: document for document in documents})
        _check_gold(workspace, questions, points, finder, errors)
        texts = {document.document_id: document.text for document in documents}
        warnings += doubts_about_documents(documents, setups, questions, points)
        warnings += doubts_about_points(questions, points, texts, finder)
    elif any(entry.document is not None for question in questions for entry in question.gold):
        warnings.append("gold was not looked up, since there are no documents that could be read")
    n_points = sum(map(len, points.values()))
    looked_at = f"{len(setups)} setups, {len(questions)} questions, {n_points} key points, {len(documents)} documents"
    return Diagnosis(tuple(errors), tuple(warnings), looked_at)


def _setups(workspace: Path, errors: list[str]) -> list[Setup]:
    folder = workspace / "setups"
    if not names_in(folder):
        errors.append(f"{folder}: there is no setup. Add a file such as v1.toml; an empty one takes every default.")
    setups: list[Setup] = []
    for name in names_in(folder):
        with noted(errors):
            setups.append(load_setup(workspace, name))
    for setup in setups:
        with noted(errors):
            _check_seats(workspace, [setup], Judge(name="offline"))
        if setup.retrieval.stemmer not in LANGUAGES:
            problem = f"key retrieval.stemmer: unknown language {setup.retrieval.stemmer!r}"
            where = str(folder / f"{setup.name}.toml")
            errors.append(str(InputError(problem, where=where, allowed=", ".join(sorted(LANGUAGES)))))
    return setups


def _check_judging(workspace: Path, errors: list[str]) -> None:
    folder = workspace / "judges"
    if not names_in(folder):
        errors.append(
            f"{folder}: there is no judge. Add a file such as offline.toml; an empty one is the offline judge."
        )
    for name in names_in(folder):
        with noted(errors):
            judge = load_judge(workspace, name)
            _check_seats(workspace, [], judge)
            if judge.drafter is not None:
                read_prompt(workspace, judge.drafter.prompt)
    with noted(errors):
        load_grading(workspace)
    for path in sorted(path for path in (workspace / "prompts").rglob("*") if path.is_file()):
        with noted(errors):
            if not read_text(path).strip():
                errors.append(f"{path}: the prompt is empty.")


def _check_seats(workspace: Path, setups: Sequence[Setup], judge: Judge) -> None:
    """Find prompts and prices of Claude seats; a key is asked for when they are."""
    prompts_of(workspace, setups, judge)
    check_seats(workspace, setups, judge, batch=False, asks=False)


def _documents(workspace: Path, setups: Sequence[Setup], errors: list[str]) -> list[Document]:
    """The corpus; one who only grades saved answers may have none."""
    needed = (workspace / "corpus").is_dir() or any(setup.answers is None for setup in setups)
    return read_every_document(workspace, errors) if needed else []


def _check_answers(
    workspace: Path, setup: Setup, questions: Sequence[Question], errors: list[str], *, all_known: bool
) -> list[str]:
    answered: Mapping[str, object] = {}
    with noted(errors):
        path = saved_path(workspace, setup)
        answered = read_every_answer(path, errors)
        known = {question.id for question in questions}
        if unknown := [name for name in answered if all_known and name not in known]:
            errors.append(f"{path}: {len(unknown)} answers belong to no question of questions.jsonl: {named(unknown)}.")
    missing = [question.id for question in questions if question.id not in answered]
    if answered and missing:
        return [f"setup {setup.name} has no answer to {len(missing)} questions: {named(missing)}"]
    return []


def _check_gold(
    workspace: Path,
    questions: Sequence[Question],
    points: Mapping[str, Sequence[KeyPoint]],
    finder: GoldFinder,
    errors: list[str],
) -> None:
    for question in questions:
        where = f"{workspace / 'questions.jsonl'} question {question.id}"
        for entry in question.gold:
            with noted(errors):
                finder.resolve([entry], where=where)
        for point in points.get(question.id, ()):
            where = f"{workspace / 'keypoints.json'} question {question.id} point {point.id}"
            for entry in point.gold:
                with noted(errors):
                    finder.resolve([entry], where=where)
