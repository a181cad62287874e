"""Before the first stage: read and check everything, save what was asked as rows, and write the run's plan."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from schemas.document import Document
from schemas.errors import InputError
from schemas.plan import Plan, PlannedDocument, PlannedSetup, Until
from schemas.question import AskedQuestion, KeyPoint, Question
from schemas.setup import Grading, Judge, Setup
from tasks.models.table import judge_key, reader_key
from tasks.store.keys import digest, key, text_digest
from tasks.store.rows import Row
from tasks.store.runs import RunFolder, RunRecord, new_run_id
from tasks.store.store import Store
from tasks.text.tokens import count_tokens
from tasks.text.words import LANGUAGES
from tasks.workspace.asked import ask, point_key, question_key
from tasks.workspace.corpus import read_corpus
from tasks.workspace.questions import read_key_points, read_questions, read_saved_answers
from tasks.workspace.settings import load_grading, load_judge, load_setup, names_in

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Request:
    """What a person asked for.

    Attributes:
        setups: Names; empty means all there are.
        questions: Ids; empty means all there are.
        skip_unresolved: Go on when gold does not resolve, and count those questions apart.
        retry_failed: Try rows again that failed `max_attempts` times.
        grade_only: Judge the answers that exist and make none.
    """

    workspace: Path
    setups: Sequence[str] = ()
    judge: str = "offline"
    questions: Sequence[str] = ()
    until: Until = "attribute"
    skip_unresolved: bool = False
    retry_failed: bool = False
    grade_only: bool = False


@dataclass(frozen=True)
class Checked:
    """A request, and everything it names, read and found right."""

    setups: tuple[PlannedSetup, ...]
    judge: Judge
    grading: Grading
    questions: Sequence[Question]
    points: Mapping[str, Sequence[KeyPoint]]
    documents: Sequence[Document]
    asked: Sequence[AskedQuestion]


def prepare(request: Request) -> Plan:
    """Check a request whole, save what it asks as rows, and write its plan.

    Raises:
        InputError: For anything wrong in the workspace or the request; nothing is written then.
    """
    checked = check(request)
    store = Store(request.workspace / "store", run_id=new_run_id())
    store.prepare()
    return _write_plan(store, request, checked)


def check(request: Request) -> Checked:
    """Read everything that a request names; nothing is written.

    Raises:
        InputError: For anything wrong.
    """
    workspace = request.workspace
    setups = _setups(request)
    judge, grading = load_judge(workspace, request.judge), load_grading(workspace)
    for setup in setups:
        _check_depth(workspace, setup, grading)
    known = read_questions(workspace)
    points = read_key_points(workspace, {question.id: question for question in known})
    questions = _choose(known, request.questions)
    documents = read_corpus(workspace) if _needs_corpus(workspace, setups) else []
    asked = ask(questions, points, documents, skip_unresolved=request.skip_unresolved, where=workspace)
    planned = tuple(_plan_setup(workspace, setup, asked) for setup in setups)
    return Checked(planned, judge, grading, questions, points, documents, asked)


def _setups(request: Request) -> list[Setup]:
    names = list(dict.fromkeys(request.setups)) or names_in(request.workspace / "setups")
    if not names:
        raise InputError(
            "the workspace has no setup",
            where=str(request.workspace / "setups"),
            remedy="Add a file such as setups/v1.toml; an empty one takes every default.",
        )
    setups = [load_setup(request.workspace, name) for name in names]
    for setup in setups:
        if setup.retrieval.stemmer not in LANGUAGES:
            raise InputError(
                f"key retrieval.stemmer: unknown language {setup.retrieval.stemmer!r}",
                where=str(request.workspace / "setups" / f"{setup.name}.toml"),
                allowed=", ".join(sorted(LANGUAGES)),
            )
    return setups


def _check_depth(workspace: Path, setup: Setup, grading: Grading) -> None:
    if setup.answers is None and max(grading.k) > setup.retrieval.depth:
        raise InputError(
            f"key k: {max(grading.k)} is more than setup {setup.name} ranks (retrieval.depth is "
            f"{setup.retrieval.depth})",
            where=str(workspace / "grading.toml"),
            remedy="Lower k, or raise retrieval.depth in the setup.",
        )


def _choose(questions: list[Question], wanted: Sequence[str]) -> list[Question]:
    by_id = {question.id: question for question in questions}
    unknown = [name for name in wanted if name not in by_id]
    if unknown:
        raise InputError(f"unknown question {unknown[0]!r}", allowed=f"one of the {len(by_id)} ids in questions.jsonl")
    return [by_id[name] for name in dict.fromkeys(wanted)] or questions


def _needs_corpus(workspace: Path, setups: Sequence[Setup]) -> bool:
    """Saved answers can be graded without the documents; only gold and own setups need them."""
    return any(setup.answers is None for setup in setups) or (workspace / "corpus").is_dir()


def _plan_setup(workspace: Path, setup: Setup, asked: Sequence[AskedQuestion]) -> PlannedSetup:
    if setup.answers is None:
        return PlannedSetup(setup=setup)
    path = saved_path(workspace, setup)
    saved = read_saved_answers(path)
    known = {question.question_id for question in asked}
    if not known & set(saved):
        raise InputError(
            f"none of its {len(saved)} answers belongs to a question of questions.jsonl",
            where=str(path),
            remedy="question_id there has to be an id of questions.jsonl.",
        )
    positions = tuple(i for i, question in enumerate(asked) if question.question_id in saved)
    return PlannedSetup(setup=setup, asked=positions, answers_digest=_file_digest(path))


def saved_path(workspace: Path, setup: Setup) -> Path:
    """Where a setup's saved answers lie.

    Raises:
        InputError: When the setup names something outside `answers/`.
    """
    folder = workspace / "answers"
    name = setup.answers or ""
    if name not in {path.name for path in folder.glob("*.jsonl")}:
        raise InputError(
            f"key answers: there is no file {name!r} in answers/",
            where=str(workspace / "setups" / f"{setup.name}.toml"),
            allowed=", ".join(sorted(path.name for path in folder.glob("*.jsonl"))) or "none yet",
            remedy="Make one with: fourcells import FILE --setup NAME.",
        )
    return folder / name


def _file_digest(path: Path) -> str:
    return digest(path.read_bytes())


def _publish_documents(store: Store, documents: Sequence[Document]) -> tuple[PlannedDocument, ...]:
    """Documents, questions and points are rows too, so that an old run still reports when the workspace moved on."""
    references = tuple(_reference(document) for document in documents)
    by_key = {reference.document_key: document for reference, document in zip(references, documents, strict=True)}
    _publish_missing(store, "document", by_key, _document_row)
    return references


def _reference(document: Document) -> PlannedDocument:
    text = text_digest(document.text)
    name = key("document", document_id=document.document_id, text_digest=text)
    return PlannedDocument(document_id=document.document_id, document_key=name, text_digest=text)


def _document_row(document: Document) -> Row:
    return {
        **document.model_dump(),
        "text_digest": text_digest(document.text),
        "n_tokens": count_tokens(document.text),
        "n_words": len(document.text.split()),
    }


def _question_row(question: Question) -> Row:
    return {
        "question_id": question.id,
        **question.model_dump(mode="json", include={"text", "answerable", "gold_rule", "reference"}),
        "tags": sorted(question.tags.items()),
        "content": question.model_dump_json(),
    }


def _point_row(point: KeyPoint) -> Row:
    return {
        "point_id": point.id,
        **point.model_dump(mode="json", include={"text", "weight", "status"}),
        "content": point.model_dump_json(),
    }


def _publish_missing(store: Store, record: str, by_key: Mapping[str, Model], make_row: Callable[[Model], Row]) -> None:
    rows = store.rows(record)
    names = list(by_key)
    missing = [name for name, row in zip(names, rows.carried(names), strict=True) if row is None]
    rows.publish([{"key": name, **make_row(by_key[name])} for name in missing])


def _write_plan(store: Store, request: Request, parts: Checked) -> Plan:
    references = _publish_documents(store, parts.documents)
    _publish_missing(store, "question", {question_key(q): q for q in parts.questions}, _question_row)
    points = [point for question in parts.questions for point in parts.points.get(question.id, ())]
    _publish_missing(store, "key_point", {point_key(point): point for point in points}, _point_row)
    readers, judges = reader_key(parts.judge), judge_key(parts.judge)
    inputs_id = key(
        "inputs",
        setups=[planned.model_dump(mode="json", exclude={"asked"}) for planned in parts.setups],
        judge=[readers, judges],
        questions=[[q.question_key, [point.point_key for point in q.points]] for q in parts.asked],
        documents=[reference.document_key for reference in references],
        grading=parts.grading.model_dump(mode="json"),
        until=request.until,
    )
    plan = Plan(
        run_id=store.run_id,
        inputs_id=inputs_id,
        workspace=str(request.workspace),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        setups=parts.setups,
        judge=parts.judge,
        grading=parts.grading,
        until=request.until,
        documents=references,
        n_questions=len(parts.asked),
        retry_failed=request.retry_failed,
        grade_only=request.grade_only,
    )
    record = RunRecord(
        run_id=plan.run_id,
        inputs_id=inputs_id,
        state="running",
        started_at=plan.started_at,
        until=plan.until,
        setups=tuple(planned.setup.name for planned in plan.setups),
        judge=plan.judge.name,
        reader_key=readers,
        judge_key=judges,
        n_questions=plan.n_questions,
        pid=os.getpid(),
    )
    RunFolder(store.runs_folder, store.run_id).create(plan, record, parts.asked)
    return plan
