"""Before the first stage: read and check everything, save what was asked as rows, and write the run's plan."""

import logging
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
from tasks.models.table import grounding_key, points_key, reader_key, writer_material, writer_prompt
from tasks.runs.paid_seats import check_seats, is_paid, notes_on, prompts_of
from tasks.runs.trials import NOTHING_FRESH, Fresh, trials_of
from tasks.store.keys import Material, digest, key, text_digest
from tasks.store.rows import Row
from tasks.store.runs import RunFolder, RunRecord, list_runs, new_run_id
from tasks.store.store import Store
from tasks.text.tokens import count_tokens
from tasks.text.words import LANGUAGES
from tasks.workspace.asked import ask
from tasks.workspace.corpus import read_corpus
from tasks.workspace.questions import choose_questions, read_key_points, read_questions, read_saved_answers
from tasks.workspace.settings import load_grading, load_judge, load_setup, names_in

log = logging.getLogger("fourcells.run")

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Request:
    """What a person asked for.

    Attributes:
        setups: Names; empty means all whose answers cost nothing.
        questions: Ids; empty means all there are.
        skip_unresolved: Go on when gold does not resolve, and count those questions apart.
        retry_failed: Try rows again that failed `max_attempts` times.
        grade_only: Judge the answers that exist and make none.
        fresh: What of the grading to do once more, beside what is saved.
        budget_usd: What the run may pay at most; None is no limit.
        batch: Send model calls through Message Batches.
        estimate: Nothing will be asked of a model, so no key is needed.
    """

    workspace: Path
    setups: Sequence[str] = ()
    judge: str = "offline"
    questions: Sequence[str] = ()
    until: Until = "attribute"
    skip_unresolved: bool = False
    retry_failed: bool = False
    grade_only: bool = False
    fresh: Fresh = NOTHING_FRESH
    budget_usd: float | None = None
    batch: bool = False
    estimate: bool = False


@dataclass(frozen=True)
class Checked:
    """A request, and everything it names, read and found right.

    Attributes:
        prompts: Texts by name.
        notes: What a person has to know before they trust the numbers.
        left_out: Names of setups that were not taken, since they cost money and nobody named them.
    """

    setups: tuple[PlannedSetup, ...]
    judge: Judge
    grading: Grading
    prompts: Mapping[str, str]
    notes: tuple[str, ...]
    left_out: Sequence[str]
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
    if checked.left_out:
        log.warning("left out, since their answers cost money: %s (--setup names one)", ", ".join(checked.left_out))
    for note in checked.notes:
        log.warning("%s", note)
    store = Store(request.workspace / "store", run_id=new_run_id())
    store.prepare()
    return _write_plan(store, request, checked)


def check(request: Request) -> Checked:
    """Read everything that a request names; nothing is written.

    Raises:
        InputError: For anything wrong.
    """
    workspace = request.workspace
    setups, left_out = _setups(request)
    judge, grading = load_judge(workspace, request.judge), load_grading(workspace)
    prompts = prompts_of(workspace, setups, judge)
    check_seats(workspace, setups, judge, batch=request.batch, asks=not request.estimate)
    for setup in setups:
        _check_depth(workspace, setup, grading)
    known = read_questions(workspace)
    points = read_key_points(workspace, {question.id: question for question in known})
    questions = choose_questions(known, request.questions)
    documents = read_corpus(workspace) if _needs_corpus(workspace, setups) else []
    asked = ask(questions, points, documents, skip_unresolved=request.skip_unresolved, where=workspace)
    planned = tuple(_plan_setup(workspace, setup, asked) for setup in setups)
    notes = tuple(notes_on(setups, judge))
    return Checked(planned, judge, grading, prompts, notes, left_out, questions, points, documents, asked)


def _setups(request: Request) -> tuple[list[Setup], list[str]]:
    """The setups, and names of those left out: what costs money has to be named.

    Raises:
        InputError: When a name is unknown, a setup is wrong, or none is left.
    """
    named = list(dict.fromkeys(request.setups))
    names = named or names_in(request.workspace / "setups")
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
    if named:
        return setups, []
    # To grade what was written costs nothing of the writer's.
    written = _names_run(request.workspace) if request.grade_only else frozenset()
    paid = [setup.name for setup in setups if is_paid(setup) and setup.name not in written]
    free = [setup for setup in setups if setup.name not in paid]
    if not free:
        raise InputError(
            "every setup of the workspace writes with a model that costs money, and none is taken unless it is named",
            where=str(request.workspace / "setups"),
            allowed=", ".join(paid),
            remedy=f"Name one, and see first what it costs: fourcells run --setup {paid[0]} --estimate.",
        )
    return free, paid


def _names_run(workspace: Path) -> frozenset[str]:
    records = list_runs(Store(workspace / "store").runs_folder)
    return frozenset(name for record in records for name in record.setups)


def _check_depth(workspace: Path, setup: Setup, grading: Grading) -> None:
    if setup.answers is None and max(grading.k) > setup.retrieval.depth:
        raise InputError(
            f"key k: {max(grading.k)} is more than setup {setup.name} ranks (retrieval.depth is "
            f"{setup.retrieval.depth})",
            where=str(workspace / "grading.toml"),
            remedy="Lower k, or raise retrieval.depth in the setup.",
        )


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


def _publish_asked(store: Store, parts: Checked) -> None:
    """Questions and points, under the keys that were made when they were asked."""
    questions: dict[str, Question] = {}
    points: dict[str, KeyPoint] = {}
    for question, asked in zip(parts.questions, parts.asked, strict=True):
        questions[asked.question_key] = question
        own = parts.points.get(question.id, ())
        points.update((point.point_key, given) for point, given in zip(asked.points, own, strict=True))
    _publish_missing(store, "question", questions, _question_row)
    _publish_missing(store, "key_point", points, _point_row)


def _write_plan(store: Store, request: Request, parts: Checked) -> Plan:
    references = _publish_documents(store, parts.documents)
    _publish_asked(store, parts)
    readers, judges = reader_key(parts.judge, parts.prompts), grounding_key(parts.judge, parts.prompts)
    points_keys = points_key(parts.judge, parts.prompts)
    setups = _with_trials(store, request, parts.setups, readers, judges)
    inputs_id = key(
        "inputs",
        setups=[_setup_material(planned, parts.prompts) for planned in setups],
        judge=[readers, judges, points_keys],
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
        setups=setups,
        judge=parts.judge,
        grading=parts.grading,
        until=request.until,
        documents=references,
        n_questions=len(parts.asked),
        retry_failed=request.retry_failed,
        grade_only=request.grade_only,
        prompts=dict(parts.prompts),
        notes=parts.notes,
        budget_usd=request.budget_usd,
        batch=request.batch,
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
        points_key=points_keys,
        trials={planned.setup.name: (planned.reading_trial, planned.judging_trial) for planned in setups},
        n_questions=plan.n_questions,
        pid=os.getpid(),
    )
    RunFolder(store.runs_folder, store.run_id).create(plan, record, parts.asked)
    return plan


def _setup_material(planned: PlannedSetup, prompts: Mapping[str, str]) -> Material:
    setup = planned.setup
    return {
        **planned.model_dump(mode="json", exclude={"asked": True, "setup": {"writer"}}),
        "writer": writer_material(setup.writer),
        "prompt": writer_prompt(setup.writer, prompts),
    }


def _with_trials(
    store: Store, request: Request, setups: Sequence[PlannedSetup], readers: str, judges: str
) -> tuple[PlannedSetup, ...]:
    records = list_runs(store.runs_folder)
    found = []
    for planned in setups:
        name = planned.setup.name
        trials = trials_of(name, records, reader_key=readers, judge_key=judges, fresh=request.fresh)
        found.append(planned.model_copy(update={"reading_trial": trials.reading, "judging_trial": trials.judging}))
    return tuple(found)
