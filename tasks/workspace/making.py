"""Making a workspace: from nothing, from a folder in BEIR's layout, or from a file of saved answers."""

import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.errors import InputError
from schemas.question import Question
from tasks.workspace.beir import read_beir
from tasks.workspace.corpus import read_corpus
from tasks.workspace.folder import is_workspace
from tasks.workspace.given import Given
from tasks.workspace.importing import Source, check_setup_name, import_answers, read_source
from tasks.workspace.references import draft_from_references
from tasks.workspace.starter import BEIR_SETUPS, EXAMPLE, SETUPS, furnish


def make_workspace(folder: Path) -> list[str]:
    """Make a workspace with a short example, or give one that is there the files it lacks; none is overwritten.

    Returns:
        What was done, line by line.

    Raises:
        InputError: When the folder holds something else.
    """
    if is_workspace(folder):
        # A workspace in use gets no example: its questions would not fit.
        setups = {} if any((folder / "setups").glob("*.toml")) else SETUPS
        written = furnish(folder, setups)
        return [f"added {name}" for name in written] or ["nothing was missing; no file was touched"]
    with _new_folder(folder) as new:
        written = furnish(new, {**EXAMPLE, **SETUPS})
    return [f"wrote {name}" for name in written]


def make_from_beir(folder: Path, source: Path) -> list[str]:
    """Make a workspace of a BEIR folder: judgments become document gold, reference answers key points.

    Returns:
        What was done, line by line.

    Raises:
        InputError: When something is wrong with either folder; nothing is left behind then.
    """
    beir = read_beir(source)
    with _new_folder(folder) as new:
        (new / "corpus").mkdir()
        shutil.copyfile(beir.corpus, new / "corpus" / "corpus.jsonl")
        try:
            documents = {document.document_id for document in read_corpus(new)}
        except InputError as error:
            error.where = error.where.replace(str(new / "corpus"), str(source))
            raise
        _write_questions(new, beir.questions)
        furnish(new, {**BEIR_SETUPS, "keypoints.json": "{}\n"})
        drafted = draft_from_references(new)
    with_gold = [question for question in beir.questions if question.gold]
    n_entries = sum(len(question.gold) for question in with_gold)
    gold = f"{len(with_gold)} with gold: {n_entries} documents, rule any (from qrels/{beir.qrels.name})"
    lines = [f"{len(documents)} documents", f"{len(beir.questions)} questions, {gold}"]
    if beir.n_left_out:
        lines.append(f"{beir.n_left_out} queries were left out: no judgment above 0 and no reference answer")
    if unknown := [q.id for q in with_gold if any(entry.document not in documents for entry in q.gold)]:
        lines.append(
            f"{len(unknown)} questions name gold that is not in the corpus, first {unknown[0]!r}: a run stops there, "
            "or leaves them out of recall with --skip-unresolved"
        )
    return [
        *lines,
        *(drafted.told() if drafted.n_points else []),
        f"setups: {', '.join(Path(name).stem for name in BEIR_SETUPS)}",
    ]


def make_from_answers(folder: Path, source: Source, *, setup: str, corpus: Path | None) -> list[str]:
    """Make a workspace of a file of saved answers that also holds the questions.

    Args:
        folder: The new workspace.
        source: The file; its gold and references are taken over.
        setup: Name of the setup that the answers become.
        corpus: A folder of documents to copy; without one, gold ids match only rankings that carry them.

    Returns:
        What was done, line by line.

    Raises:
        InputError: When something is wrong with the file or a folder; nothing is left behind then.
    """
    check_setup_name(setup)
    _, rows = read_source(source, needed=("question",))
    questions = _questions_of(rows)
    with _new_folder(folder) as new:
        if corpus is not None:
            _copy_corpus(corpus, new)
        _write_questions(new, questions)
        furnish(new, {"keypoints.json": "{}\n"})
        lines = import_answers(new, source, setup=setup)
        drafted = draft_from_references(new)
    return [
        *(line for line in lines if "from-references" not in line),
        *(drafted.told() if drafted.n_points else []),
        f"{len(questions)} questions",
    ]


def _copy_corpus(corpus: Path, new: Path) -> None:
    if not corpus.is_dir():
        problem = "there is no such folder"
        raise InputError(problem, where=str(corpus))
    shutil.copytree(corpus, new / "corpus")
    try:
        read_corpus(new)
    except InputError as error:
        error.where = error.where.replace(str(new / "corpus"), str(corpus))
        raise


def _questions_of(rows: Sequence[Given]) -> list[Question]:
    width = len(str(len(rows)))
    questions: dict[str, Question] = {}
    texts: dict[str, Given] = {}
    for number, row in enumerate(rows, start=1):
        text = " ".join((row.question or "").split())
        if not text:
            problem = "the row has no text of its question"
            raise InputError(problem, where=row.where)
        if text in texts and row.question_id is None:
            problem = f"the question is asked twice (first in {texts[text].where})"
            raise InputError(problem, where=row.where, remedy="Keep one of the rows, or give them question ids.")
        name = row.question_id or f"q{number:0{width}d}"
        if name in questions:
            problem = f"question id {name!r} is there twice"
            raise InputError(problem, where=row.where, remedy="Give one of them another id.")
        texts.setdefault(text, row)
        labelled = bool(row.gold_ids or row.reference_contexts or row.reference)
        questions[name] = Question(id=name, text=row.question or "", answerable="yes" if labelled else "unknown")
    return list(questions.values())


def _write_questions(folder: Path, questions: Sequence[Question]) -> None:
    lines = [json.dumps(_question_line(question), ensure_ascii=False) for question in questions]
    (folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _question_line(question: Question) -> dict[str, Any]:
    line = {"id": question.id, "text": question.text, "answerable": question.answerable}
    line |= question.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return line | ({"gold_rule": question.gold_rule} if question.gold else {})


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder whose content becomes the new one's when all went well, and is gone otherwise.

    Raises:
        InputError: When the folder is there and holds something, or the place cannot be written.
    """
    _check_empty(folder)
    # Inside a folder that is there (an empty one may be somebody's current folder), beside one that is not.
    place = folder if folder.is_dir() else folder.parent
    temporary = place / f".fourcells-init-{secrets.token_hex(4)}"
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if place == folder:
            for path in temporary.iterdir():
                path.rename(folder / path.name)
        else:
            temporary.rename(folder)
    except OSError as error:
        problem = f"the workspace cannot be made: {error.strerror or error}"
        remedy = "Nothing was left behind."
        raise InputError(problem, where=str(error.filename or place), remedy=remedy) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_empty(folder: Path) -> None:
    if is_workspace(folder):
        problem = "this folder is a workspace already"
        raise InputError(problem, where=str(folder), remedy="Name a new folder; nothing in this one was touched.")
    if folder.exists() and not folder.is_dir():
        problem = "this is a file"
        raise InputError(problem, where=str(folder), remedy="Name a new folder.")
    # A repository that was just begun is as good as empty.
    if folder.is_dir() and (held := sorted(path.name for path in folder.iterdir() if path.name != ".git")):
        problem = f"this folder holds something else already: {held[0]!r}"
        problem += f" and {len(held) - 1} more" if len(held) > 1 else ""
        raise InputError(problem, where=str(folder), remedy="Name a new or an empty folder.")
