"""The answer against its key points, and what it says of itself. Source: METRICS.md §5."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.answer import Form, Relevancy
from schemas.cell import CORRECT_AT
from schemas.question import Answerable
from schemas.verdict import PointWord

_POINT_WORTH: Final[dict[PointWord, float]] = {
    "COVERED": 1.0,
    "PARTLY": 0.5,
    "MISSING": 0.0,
    "CONTRADICTED": 0.0,
}
_RELEVANCY_WORTH: Final[dict[Relevancy, float]] = {
    "ADDRESSES": 1.0,
    "PARTLY": 0.5,
    "OFF_TOPIC": 0.0,
    "ABSTAINS": 0.0,
}


class JudgedPoint(NamedTuple):
    """A key point's verdict, and whether the point is vital."""

    verdict: PointWord
    vital: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one question, as the answer-level rates need it.

    Attributes:
        answerable: As the question says.
        labelled: It has key points; without them no correctness can be scored, not even of a refusal.
        no_answer: The writer refused, was truncated or wrote nothing.
        abstained: None when the reading is not scored.
        correct: By its key points; None when correctness is not scored.
        grounded: None when grounding is not scored.
    """

    answerable: Answerable
    labelled: bool = True
    no_answer: bool = False
    abstained: bool | None = None
    correct: bool | None = None
    grounded: bool | None = None


class CorrectSplit(NamedTuple):
    """`correct_rate` and its parts, which add up to it: right by evidence, right by luck, and not known."""

    correct_rate: float | None
    correct_grounded: float | None
    correct_not_grounded: float | None
    correct_grounding_unknown: float | None


def coverage(verdicts: Sequence[PointWord]) -> float | None:
    """Share of the points that the answer makes, a PARTLY counting half.

    Returns:
        0-1; None without points.

    >>> coverage(["COVERED", "PARTLY", "MISSING", "CONTRADICTED"])
    0.375
    """
    return sum(_POINT_WORTH[word] for word in verdicts) / len(verdicts) if verdicts else None


def settle_vital(points: Sequence[JudgedPoint]) -> list[JudgedPoint]:
    """Make every point vital where none is.

    >>> settle_vital([JudgedPoint("COVERED", vital=False)])
    [JudgedPoint(verdict='COVERED', vital=True)]
    """
    if any(point.vital for point in points):
        return list(points)
    return [JudgedPoint(point.verdict, vital=True) for point in points]


def vital_coverage(points: Sequence[JudgedPoint]) -> float | None:
    """Coverage of the vital points; none vital: of all.

    Returns:
        0-1; None without points.

    >>> vital_coverage([JudgedPoint("PARTLY"), JudgedPoint("MISSING", vital=False)])
    0.5
    """
    return coverage([point.verdict for point in settle_vital(points) if point.vital])


def mean_coverage(coverages: Sequence[float | None]) -> float | None:
    """Mean coverage over answers; None (not scored) stays out.

    A writer's refusal on a question with key points stands in it with 0: it states none of them.

    Returns:
        0-1; None when nothing is scored.

    >>> mean_coverage([1.0, None, 0.5])
    0.75
    """
    return _mean(value for value in coverages if value is not None)


def point_rate(verdicts: Sequence[PointWord], *, word: PointWord) -> float | None:
    """Share of all points of all answers with this verdict: `covered_rate`, `partly_rate` and so on.

    Returns:
        0-1; None without points. The four rates add up to 1.

    >>> point_rate(["COVERED", "MISSING", "MISSING", "PARTLY"], word="MISSING")
    0.5
    """
    return _mean(float(verdict == word) for verdict in verdicts)


def is_correct(points: Sequence[JudgedPoint], *, threshold: float = CORRECT_AT) -> bool | None:
    """Say whether no vital point is MISSING, none CONTRADICTED, and vital coverage reaches the threshold.

    Args:
        points: All key points of the question.
        threshold: Least vital coverage.

    Returns:
        None without points.

    >>> is_correct([JudgedPoint("COVERED"), JudgedPoint("PARTLY"), JudgedPoint("MISSING", vital=False)])
    True
    >>> is_correct([JudgedPoint("COVERED"), JudgedPoint("CONTRADICTED", vital=False)])
    False
    """
    share = vital_coverage(points)
    if share is None:
        return None
    missing = any(point.vital and point.verdict == "MISSING" for point in settle_vital(points))
    contradicted = any(point.verdict == "CONTRADICTED" for point in points)
    return not missing and not contradicted and share >= threshold


def has_abstained(form: Form, *, gives_answer: bool) -> bool:
    """Say whether an answer says that the question is not covered, and gives none.

    >>> has_abstained("NOT_COVERED", gives_answer=False), has_abstained("PARTIAL", gives_answer=False)
    (True, False)
    """
    return form == "NOT_COVERED" and not gives_answer


def is_hedged(form: Form, *, gives_answer: bool) -> bool:
    """Say whether an answer says that the question is not covered and answers all the same.

    >>> is_hedged("NOT_COVERED", gives_answer=True)
    True
    """
    return form == "NOT_COVERED" and gives_answer


def relevancy_rate(relevancies: Sequence[Relevancy], *, n_no_answer: int = 0) -> float | None:
    """(ADDRESSES + half of PARTLY) over answers.

    Args:
        relevancies: The reader's word on each answer it read.
        n_no_answer: Answers that a writer refused or left empty: they stand among the answers with 0.

    Returns:
        0-1; None without answers.

    >>> relevancy_rate(["ADDRESSES", "PARTLY", "ABSTAINS"], n_no_answer=1)
    0.375
    """
    n_answers = len(relevancies) + n_no_answer
    return sum(_RELEVANCY_WORTH[word] for word in relevancies) / n_answers if n_answers else None


def abstained_rate(outcomes: Sequence[Outcome]) -> float | None:
    """Abstained answers over all answers, of answerable, unanswerable and unknown questions alike.

    It says how a setup behaves, not whether that was right: `false_abstention_rate` and
    `answered_unanswerable_rate` do. A writer's refusal stands among the answers and is no abstention.

    Returns:
        0-1; None when no reading is scored.

    >>> abstained_rate([Outcome(answerable="no", abstained=True), Outcome(answerable="yes", no_answer=True)])
    0.5
    """
    return _mean(float(bool(outcome.abstained)) for outcome in outcomes if _is_read(outcome))


def false_abstention_rate(outcomes: Sequence[Outcome]) -> float | None:
    """Abstained answers over the answers to answerable questions.

    Returns:
        0-1; None when no such answer was read.

    >>> answers = [Outcome(answerable=word, abstained=True) for word in ("no", "yes")]
    >>> false_abstention_rate([*answers, Outcome(answerable="yes", abstained=False)])
    0.5
    """
    return abstained_rate([outcome for outcome in outcomes if outcome.answerable == "yes"])


def answered_unanswerable_rate(outcomes: Sequence[Outcome]) -> float | None:
    """Answers that did answer, hedged ones included, over the answers to unanswerable questions.

    A writer's refusal stands among the answers, and did not answer.

    Returns:
        0-1; None when no such answer was read.

    >>> answered_unanswerable_rate([Outcome(answerable="no", abstained=flag) for flag in (True, False)])
    0.5
    """
    asked = [outcome for outcome in outcomes if outcome.answerable == "no" and _is_read(outcome)]
    return _mean(float(outcome.abstained is False and not outcome.no_answer) for outcome in asked)


def correct_rate(outcomes: Sequence[Outcome]) -> float | None:
    """Correct answers over the answerable questions whose correctness is scored.

    A writer's refusal on a question with key points is among them as not correct.

    Returns:
        0-1; None when there is none.

    >>> correct_rate([Outcome(answerable="yes", correct=True), Outcome(answerable="yes", no_answer=True)])
    0.5
    """
    return _mean(float(is_right) for _, is_right in _graded(outcomes))


def split_correct(outcomes: Sequence[Outcome]) -> CorrectSplit:
    """Split `correct_rate` by whether the correct answer is grounded; all parts over the same denominator.

    Returns:
        Fractions that add up to correct_rate. All None when nothing is graded; grounded and not grounded are
        None when answers are correct and the grounding of none of them is known.

    >>> answers = [Outcome(answerable="yes", correct=True, grounded=flag) for flag in (True, False)]
    >>> tuple(split_correct(answers))
    (1.0, 0.5, 0.5, 0.0)
    """
    graded = _graded(outcomes)
    if not graded:
        return CorrectSplit(None, None, None, None)
    right = [outcome.grounded for outcome, is_right in graded if is_right]
    unknown = right.count(None) / len(graded)
    if right and all(grounded is None for grounded in right):
        return CorrectSplit(unknown, None, None, unknown)
    shares = (right.count(True) / len(graded), right.count(False) / len(graded))
    return CorrectSplit(len(right) / len(graded), *shares, unknown)


def _graded(outcomes: Sequence[Outcome]) -> list[tuple[Outcome, bool]]:
    answerable = (outcome for outcome in outcomes if outcome.answerable == "yes" and outcome.labelled)
    return [
        (outcome, bool(outcome.correct) and not outcome.no_answer)
        for outcome in answerable
        if outcome.correct is not None or outcome.no_answer
    ]


def _is_read(outcome: Outcome) -> bool:
    return outcome.abstained is not None or outcome.no_answer


def _mean(values: Iterable[float]) -> float | None:
    kept = list(values)
    return sum(kept) / len(kept) if kept else None
