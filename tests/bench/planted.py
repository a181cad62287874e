"""The mistakes planted in the saved answers of the built-in workspace: how many the offline judge finds."""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from flows.here import run_here
from schemas.seats import Failure, GroundRequest, PointsRequest
from schemas.verdict import ClaimWord, PointWord
from tasks.models.offline_judge import OfflineJudge
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import open_run
from tasks.scores import asked_of
from tasks.text.quantities import claimed_numbers, numbers
from tasks.text.quotes import check_evidence
from tasks.workspace.folder import BUILT_IN
from tasks.workspace.questions import read_key_points, read_questions, read_saved_answers

SETUP: Final = "assistant"
_BAD_POINTS: Final = frozenset({"MISSING", "CONTRADICTED"})


class Answer(NamedTuple):
    """A saved answer: what was planted, and what the judge says of the same claims and points.

    Attributes:
        mistake: The kind of mistake planted, or None.
        claims: (planted, judged) of each claim.
        points: (planted, judged) of each key point.
        n_beyond_evidence: Good claims with a number that no passage has: worked out, or taken from the question.
    """

    question_id: str
    mistake: str | None
    claims: list[tuple[str, ClaimWord]]
    points: list[tuple[PointWord, PointWord]]
    n_beyond_evidence: int

    @property
    def has_bad_claims(self) -> bool:
        return any(planted != "SUPPORTED" for planted, _ in self.claims)

    @property
    def finds_claim(self) -> bool:
        """Whether a claim planted as bad is not given SUPPORTED."""
        return any(planted != "SUPPORTED" != judged for planted, judged in self.claims)

    @property
    def finds_point(self) -> bool:
        """Whether a point planted as missing or contradicted is judged one or the other."""
        return any(planted in _BAD_POINTS and judged in _BAD_POINTS for planted, judged in self.points)

    @property
    def has_bad_points(self) -> bool:
        return any(planted in _BAD_POINTS for planted, _ in self.points)

    @property
    def n_false_alarms(self) -> int:
        return sum(planted == "SUPPORTED" != judged for planted, judged in self.claims)

    @property
    def n_good_claims(self) -> int:
        return sum(planted == "SUPPORTED" for planted, _ in self.claims)


def judge_planted() -> list[Answer]:
    """Give the judge the planted claims themselves, so that no splitting stands between it and them."""
    labels = read_planted()
    questions = {question.id: question for question in read_questions(BUILT_IN)}
    points = read_key_points(BUILT_IN, questions)
    saved = read_saved_answers(BUILT_IN / "answers" / f"{SETUP}.jsonl")
    judge = OfflineJudge()
    answers: list[Answer] = []
    for label in labels:
        question = questions[label["question_id"]]
        answer = saved[question.id]
        claims = GroundRequest(
            question=question.text,
            claims=tuple(claim["text"] for claim in label["claims"]),
            passages=tuple(passage.text for passage in answer.passages or ()),
        )
        asked = [point for point in points.get(question.id, ()) if point.id in label["points"]]
        texts = tuple(point.text for point in asked)
        ((_, judged, _),) = judge.judge_grounding([claims])
        ((_, covered, _),) = judge.judge_points([
            PointsRequest(question=question.text, answer=answer.answer, points=texts)
        ])
        assert not isinstance(judged, Failure), judged
        assert not isinstance(covered, Failure), covered
        checked = check_evidence(claims.claims, judged, claims.passages)
        answers.append(
            Answer(
                question.id,
                label["mistake"],
                [(claim["verdict"], one.verdict) for claim, one in zip(label["claims"], checked, strict=True)],
                [(label["points"][point.id], one.verdict) for point, one in zip(asked, covered, strict=True)],
                _n_beyond_evidence(label["claims"], claims.passages),
            )
        )
    return answers


def _n_beyond_evidence(claims: Sequence[dict[str, str]], passages: Sequence[str]) -> int:
    there = [number for passage in passages for number in numbers(passage)]
    return sum(
        claim["verdict"] == "SUPPORTED"
        and any(not any(number.same(other) for other in there) for number in claimed_numbers(claim["text"]))
        for claim in claims
    )


def read_planted() -> list[dict[str, Any]]:
    """The labels of the planted mistakes, one a saved answer."""
    path = BUILT_IN / "labels" / "planted" / f"{SETUP}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measured_cells() -> Counter[tuple[str, str]]:
    """Planted against measured cell of the whole pipeline, reader and judge offline."""
    planted = {label["question_id"]: label["cell"] for label in read_planted()}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "data"
        shutil.copytree(BUILT_IN, workspace, ignore=shutil.ignore_patterns("store", "reports"))
        plan = prepare(Request(workspace=workspace, setups=(SETUP,)))
        run_here(plan, lambda _: None)
        run = open_run(str(workspace), plan.run_id)
        keys = {one.question.question_id: one.trail.cell.key or "" for one in asked_of(run, SETUP)}
        rows = run.store.rows("cell").fetch(list(keys.values()), ["label"])
        return Counter((planted[question_id], rows[key]["label"]) for question_id, key in keys.items() if key)
