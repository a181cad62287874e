"""Questions as a run uses them: gold found in the documents, and which points are vital settled."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import ResolvedGold
from schemas.question import AskedPoint, AskedQuestion, KeyPoint, Question
from tasks.store.keys import key
from tasks.workspace.gold import GoldFinder


def ask(
    questions: Sequence[Question],
    points: Mapping[str, Sequence[KeyPoint]],
    documents: Sequence[Document],
    *,
    skip_unresolved: bool,
    where: Path,
) -> list[AskedQuestion]:
    """Resolve the gold of all questions and points.

    Raises:
        InputError: When gold does not resolve and `skip_unresolved` is off.
    """
    finder = GoldFinder({document.document_id: document for document in documents})
    files = _Files(str(where / "questions.jsonl"), str(where / "keypoints.json"))
    return [
        _ask(question, points.get(question.id, ()), finder, skip_unresolved=skip_unresolved, files=files)
        for question in questions
    ]


class _Files(NamedTuple):
    """Where questions and points were written, for errors."""

    questions: str
    points: str


def _ask(
    question: Question, points: Sequence[KeyPoint], finder: GoldFinder, *, skip_unresolved: bool, files: _Files
) -> AskedQuestion:
    name = f"question {question.id}"
    unresolved = False
    gold: tuple[ResolvedGold, ...] = ()
    point_gold: list[tuple[ResolvedGold, ...]] = [()] * len(points)
    try:
        gold = finder.resolve(question.gold, where=f"{files.questions} {name}")
        point_gold = [finder.resolve(point.gold, where=f"{files.points} {name} point {point.id}") for point in points]
    except InputError as error:
        if not skip_unresolved:
            error.remedy = f"{error.remedy} Or leave such questions out of recall with --skip-unresolved.".strip()
            raise
        unresolved = True
        gold, point_gold = (), [()] * len(points)
    any_vital = any(point.weight == "vital" for point in points)
    return AskedQuestion(
        question_id=question.id,
        question_key=question_key(question),
        text=question.text,
        answerable=question.answerable,
        gold_rule=question.gold_rule,
        gold=gold,
        unresolved=unresolved,
        tags=question.tags,
        points=tuple(
            AskedPoint(
                point_id=point.id,
                point_key=point_key(point),
                text=point.text,
                vital=point.weight == "vital" or not any_vital,
                status=point.status,
                gold=found,
            )
            for point, found in zip(points, point_gold, strict=True)
        ),
    )


def question_key(question: Question) -> str:
    """Key of a question's row: its whole content."""
    return key("question", content=question.model_dump(mode="json"))


def point_key(point: KeyPoint) -> str:
    """Key of a key point's row: its whole content."""
    return key("key_point", content=point.model_dump(mode="json"))
