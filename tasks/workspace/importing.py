"""Taking over saved answers: a file in plain or ragas column names becomes a setup that can be graded."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas.document import Document
from schemas.errors import InputError
from schemas.question import Question
from schemas.saved import SavedAnswer, SavedPassage
from tasks.search.locate import Locator
from tasks.text.visible import one_line
from tasks.workspace.columns import Columns, map_columns
from tasks.workspace.corpus import read_corpus
from tasks.workspace.foreign import columns_of, read_rows
from tasks.workspace.given import Given, read_given
from tasks.workspace.imported_gold import GoldResolver, Labels, new_labels, write_labels
from tasks.workspace.questions import read_questions
from tasks.workspace.settings import load_setup, names_in
from tasks.workspace.writing import replace_text

_NAME: Final = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True)
class Source:
    """A file of saved answers and how to read it.

    Attributes:
        by_hand: `WANTED=THEIRS` for columns whose names are not known.
        ranked: The passages stand in the retriever's order, so that they are a ranking too.
    """

    file: Path
    by_hand: Sequence[str] = ()
    ranked: bool = False


def import_answers(workspace: Path, source: Source, *, setup: str, replace: bool = False) -> list[str]:
    """Write `answers/SETUP.jsonl` and `setups/SETUP.toml`, and gold to questions that have none.

    Args:
        workspace: Its folder.
        source: The file.
        setup: The new setup's name.
        replace: Replace a setup of saved answers of that name.

    Returns:
        What was done, line by line.

    Raises:
        InputError: For anything wrong in the file or the name; nothing is written then.
    """
    check_setup_name(setup)
    _check_free(workspace, setup, replace=replace)
    columns, rows = read_source(source, needed=("question_id", "question"))
    questions = read_questions(workspace)
    documents = _documents(workspace)
    given = _by_question(rows, questions)
    answers = [_saved(name, row, documents) for name, row in given.items() if row.answer is not None]
    if not answers:
        problem = f"none of its {len(rows)} rows has an answer"
        raise InputError(problem, where=columns.where)
    locator = Locator({name: document.text for name, document in documents.items()})
    labels = new_labels(given, questions, GoldResolver(rows, documents, locator))
    write_labels(workspace, labels)
    text = "".join(f"{answer.model_dump_json(exclude_none=True)}\n" for answer in answers)
    replace_text(workspace / "answers" / f"{setup}.jsonl", text)
    # Last, since it is what makes the answers count.
    note = f"# Saved answers, imported from {json.dumps(source.file.name)}."
    replace_text(workspace / "setups" / f"{setup}.toml", f'{note}\nanswers = "{setup}.jsonl"\n')
    return [
        *_told_columns(source, columns, rows),
        *_told_answers(rows, answers, questions),
        *_told_labels(labels, has_corpus=bool(documents)),
        f"wrote answers/{setup}.jsonl and setups/{setup}.toml",
    ]


def check_setup_name(name: str) -> None:
    """Refuse a name that should not become a file's.

    Raises:
        InputError: Saying what a name may hold.
    """
    if not _NAME.fullmatch(name):
        shown = name if len(name) <= 80 else f"{name[:77]}..."
        problem = f"{shown!r} cannot be a setup's name, since it names a file"
        allowed = "1 to 80 of the letters a-z and A-Z, digits, '-', '_' and '.', not beginning with '.'"
        raise InputError(problem, allowed=allowed)


def read_source(source: Source, *, needed: tuple[str, ...]) -> tuple[Columns, list[Given]]:
    """Read a file of saved answers, with at least an answer and one of the columns needed.

    Raises:
        InputError: When it cannot be read, or a needed column is missing.
    """
    rows = read_rows(source.file)
    columns = map_columns(columns_of(rows), by_hand=source.by_hand, where=str(source.file))
    columns.need(*needed)
    columns.need("answer")
    return columns, read_given(rows, columns, ranked=source.ranked)


def _check_free(workspace: Path, setup: str, *, replace: bool) -> None:
    known = names_in(workspace / "setups")
    where = str(workspace / "setups" / f"{setup}.toml")
    if setup not in known:
        # Two names that differ in case only are one file on some systems.
        if same := [name for name in known if name.casefold() == setup.casefold()]:
            problem = f"there is a setup {same[0]!r}, which differs in upper and lower case only"
            raise InputError(problem, where=where, remedy="Choose another name.")
        if (workspace / "answers" / f"{setup}.jsonl").exists() and not replace:
            problem = f"there is a file answers/{setup}.jsonl already"
            raise InputError(problem, where=where, remedy="Choose another name, or say --replace.")
        return
    if not replace:
        problem = "there is a setup of that name already"
        raise InputError(problem, where=where, remedy="Choose another name, or say --replace.")
    if load_setup(workspace, setup).answers is None:
        problem = "--replace replaces setups of saved answers only, and this one answers by itself"
        raise InputError(problem, where=where, remedy="Choose another name.")


def _documents(workspace: Path) -> dict[str, Document]:
    """The corpus; saved answers can be taken over without one."""
    folder = workspace / "corpus"
    if not folder.is_dir() or not any(path.is_file() for path in folder.rglob("*")):
        return {}
    return {document.document_id: document for document in read_corpus(workspace)}


def _by_question(rows: Sequence[Given], questions: Sequence[Question]) -> dict[str, Given]:
    by_id = {question.id: question for question in questions}
    by_text: dict[str, list[Question]] = {}
    for question in questions:
        by_text.setdefault(_folded(question.text), []).append(question)
    matched = [(row, _match(row, by_id, by_text)) for row in rows]
    unmatched = [row for row, question in matched if question is None]
    if unmatched:
        raise _unmatched(unmatched, len(rows), questions)
    found: dict[str, Given] = {}
    for row, question in ((row, question) for row, question in matched if question is not None):
        if question.id in found:
            problem = f"question {question.id!r} is answered twice (first in {found[question.id].where})"
            remedy = "Keep one of them; answers of another setup go into a file of their own."
            raise InputError(problem, where=row.where, remedy=remedy)
        found[question.id] = row
    return found


def _match(row: Given, by_id: Mapping[str, Question], by_text: Mapping[str, list[Question]]) -> Question | None:
    same = by_text.get(_folded(row.question), []) if row.question else []
    question = by_id.get(row.question_id or "")
    if question is None:
        if len(same) > 1:
            problem = f"questions {same[0].id!r} and {same[1].id!r} have this row's text, so it could be either"
            raise InputError(problem, where=row.where, remedy="Give the rows question ids.")
        return same[0] if same else None
    if row.question and _folded(row.question) != _folded(question.text):
        problem = (
            f"question id {question.id!r} is {one_line(question.text, most=80)!r} in questions.jsonl, and "
            f"{one_line(row.question, most=80)!r} here"
        )
        remedy = "Say which counts by leaving the other unused: --column question= or --column question_id=."
        raise InputError(problem, where=row.where, remedy=remedy)
    return question


def _folded(text: str) -> str:
    return " ".join(text.split())


def _unmatched(rows: Sequence[Given], n_rows: int, questions: Sequence[Question]) -> InputError:
    first = rows[0]
    count = f"{len(rows)} of {n_rows} rows belong to no question of questions.jsonl; the first"
    if first.question:
        # Alike in words first: comparing letter by letter with each of many questions takes long.
        words = set(first.question.casefold().split())
        likely = sorted(questions, key=lambda one: -len(words & set(one.text.casefold().split())))[:20]
        text = first.question
        near = max(likely, key=lambda one: difflib.SequenceMatcher(None, text, one.text).ratio())
        problem = f"{count} asks {one_line(first.question, most=120)!r}"
        remedy = f"The nearest is {near.id!r}: {one_line(near.text, most=120)!r}. Correct it, or add the questions."
    elif first.question_id:
        close = difflib.get_close_matches(first.question_id, [question.id for question in questions], n=1, cutoff=0.0)
        problem = f"{count} has the id {first.question_id!r}"
        remedy = f"The nearest id is {close[0]!r}. Correct it, or add the questions."
    else:
        problem, remedy = f"{count} has neither an id nor a text of its question", "Fill it in, or leave the row out."
    return InputError(problem, where=first.where, remedy=remedy)


def _saved(question_id: str, row: Given, documents: Mapping[str, Document]) -> SavedAnswer:
    passages = row.passages
    if passages is None and row.bare and all(passage.id in documents for passage in row.bare):
        # A passage that is a whole document is known by the document's id alone.
        passages = tuple(passage.model_copy(update={"text": documents[passage.id or ""].text}) for passage in row.bare)
    if passages is not None:
        passages = tuple(_with_document(passage, documents) for passage in passages)
    return SavedAnswer(question_id=question_id, answer=row.answer or "", passages=passages)


def _with_document(passage: SavedPassage, documents: Mapping[str, Document]) -> SavedPassage:
    if passage.document is None and passage.id in documents:
        return passage.model_copy(update={"document": passage.id})
    return passage


def _told_columns(source: Source, columns: Columns, rows: Sequence[Given]) -> list[str]:
    lines = [f"{one_line(source.file.name)}: {len(rows)} rows"]
    lines += [f"  {wanted} <- {one_line(theirs, most=60)}" for wanted, theirs in columns.names.items()]
    if columns.unused:
        lines.append(f"  not used: {', '.join(one_line(name, most=60) for name in columns.unused)}")
    return lines


def _told_answers(rows: Sequence[Given], answers: Sequence[SavedAnswer], questions: Sequence[Question]) -> list[str]:
    passages = [answer.passages for answer in answers if answer.passages is not None]
    ranked = sum(bool(found) and all(passage.rank for passage in found) for found in passages)
    with_ids = sum(bool(found) and all(passage.id for passage in found) for found in passages)
    lines = [f"{len(answers)} answers to {len(questions)} questions"]
    if missing := len(rows) - len(answers):
        lines.append(f"{missing} rows have no answer and were left out")
    counts = f"{len(passages)} with passages, {ranked} with ranks, {with_ids} with passage ids"
    empty = sum(not found for found in passages)
    lines.append(counts + (f", {empty} that were given none" if empty else ""))
    if from_ids := sum(bool(row.bare) for row in rows):
        used = len(passages) - sum(row.passages is not None and row.answer is not None for row in rows)
        lines.append(f"{from_ids} have passage ids without texts; for {used} of them these are documents, taken whole")
    if len(passages) < len(answers):
        lines.append("answers without passages: groundedness and retrieval are not applicable, never zero")
    if passages and not ranked:
        lines.append("no ranks: a context and no ranking, so recall@k is not applicable (--ranked says it is one)")
    return lines


def _told_labels(labels: Labels, *, has_corpus: bool) -> list[str]:
    lines = []
    n_gold = sum("gold" in change for change in labels.changes.values())
    if n_gold:
        lines.append(
            f"gold added to {n_gold} questions, rule any: {labels.n_spans} spans of documents, "
            f"{labels.n_documents} documents, {labels.n_foreign} ids that only rankings with these ids can match"
        )
    if labels.n_foreign and not has_corpus:
        lines.append("the workspace has no documents: ids could not be traced to a place in them")
    if labels.n_lost:
        lines.append(f"{labels.n_lost} reference contexts are not in the corpus and were left out")
    if labels.n_kept:
        lines.append(f"{labels.n_kept} questions have gold already, which was kept")
    if labels.n_unanswerable:
        lines.append(f"{labels.n_unanswerable} questions are marked unanswerable; labels for them were not used")
    if labels.n_references:
        lines.append(
            f"reference answers added to {labels.n_references} questions; split them into key points with: "
            "fourcells keypoints from-references"
        )
    return lines
