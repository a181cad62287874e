"""Coverage, correctness and the answer-level rates: hand-checked cases and laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answer import Form
from schemas.verdict import PointWord
from tasks.metrics.correctness import (
    CorrectSplit,
    JudgedPoint,
    Outcome,
    abstained_rate,
    answered_unanswerable_rate,
    correct_rate,
    coverage,
    false_abstention_rate,
    has_abstained,
    is_correct,
    is_hedged,
    mean_coverage,
    point_rate,
    relevancy_rate,
    split_correct,
    vital_coverage,
)

WORDS: tuple[PointWord, ...] = ("COVERED", "PARTLY", "MISSING", "CONTRADICTED")


def vital(*words: PointWord) -> list[JudgedPoint]:
    return [JudgedPoint(word) for word in words]


def okay(*words: PointWord) -> list[JudgedPoint]:
    return [JudgedPoint(word, vital=False) for word in words]


POINT_CASES: dict[str, tuple[list[JudgedPoint], float | None, float | None, bool | None]] = {
    # points, coverage, vital coverage, correct
    "all covered": (vital("COVERED", "COVERED"), 1.0, 1.0, True),
    "a vital point missing": (vital("COVERED", "COVERED", "COVERED", "MISSING"), 0.75, 0.75, False),
    "an okay point missing": (vital("COVERED") + okay("MISSING"), 0.5, 1.0, True),
    "an okay point contradicted": (vital("COVERED") + okay("CONTRADICTED"), 0.5, 1.0, False),
    "half partly reaches 0.75": (vital("COVERED", "PARTLY"), 0.75, 0.75, True),
    "all partly does not, though none is missing": (vital("PARTLY", "PARTLY"), 0.5, 0.5, False),
    "okay points lift coverage, not vital coverage": (vital("PARTLY") + okay("COVERED"), 0.75, 0.5, False),
    "none vital: all count as vital": (okay("COVERED", "MISSING"), 0.5, 0.5, False),
    "no points": ([], None, None, None),
}


@pytest.mark.parametrize(("points", "share", "vital_share", "correct"), POINT_CASES.values(), ids=POINT_CASES)
def test_points(
    points: list[JudgedPoint], share: float | None, vital_share: float | None, *, correct: bool | None
) -> None:
    assert coverage([point.verdict for point in points]) == share
    assert vital_coverage(points) == vital_share
    assert is_correct(points) is correct


def test_other_thresholds_of_correct() -> None:
    assert is_correct(vital("PARTLY"), threshold=0.5)
    assert not is_correct(vital("COVERED", "COVERED", "COVERED", "PARTLY"), threshold=1.0)


def test_point_rates_add_up_over_all_points() -> None:
    verdicts: list[PointWord] = ["COVERED", "COVERED", "PARTLY", "MISSING", "CONTRADICTED"]
    assert [point_rate(verdicts, word=word) for word in WORDS] == [0.4, 0.2, 0.2, 0.2]
    assert point_rate([], word="COVERED") is None


def test_mean_coverage_leaves_out_what_is_not_scored() -> None:
    assert mean_coverage([1.0, None, 0.0]) == 0.5
    assert mean_coverage([None]) is None


ABSTENTION_CASES: dict[str, tuple[Form, bool, bool, bool]] = {
    "not covered, no answer": ("NOT_COVERED", False, True, False),
    "not covered, answers all the same": ("NOT_COVERED", True, False, True),
    "partial": ("PARTIAL", True, False, False),
    "partial that gives nothing": ("PARTIAL", False, False, False),
    "full": ("FULL", True, False, False),
}


@pytest.mark.parametrize(
    ("form", "gives_answer", "abstained", "hedged"), ABSTENTION_CASES.values(), ids=ABSTENTION_CASES
)
def test_abstained_and_hedged(form: Form, *, gives_answer: bool, abstained: bool, hedged: bool) -> None:
    assert has_abstained(form, gives_answer=gives_answer) is abstained
    assert is_hedged(form, gives_answer=gives_answer) is hedged


def test_relevancy() -> None:
    assert relevancy_rate(["ADDRESSES", "ADDRESSES", "PARTLY", "OFF_TOPIC"]) == 0.625
    assert relevancy_rate(["ADDRESSES"], n_no_answer=1) == 0.5
    assert relevancy_rate([], n_no_answer=2) == 0.0
    assert relevancy_rate([]) is None


def test_a_setup_that_abstains_on_everything_has_no_relevancy() -> None:
    assert relevancy_rate(["ABSTAINS"] * 5) == 0


SCORED = Outcome(answerable="yes", abstained=False, correct=True, grounded=True)
WRONG = Outcome(answerable="yes", abstained=False, correct=False, grounded=True)
LUCKY = Outcome(answerable="yes", abstained=False, correct=True, grounded=False)
UNCHECKED = Outcome(answerable="yes", abstained=False, correct=True)
REFUSED = Outcome(answerable="yes", no_answer=True)
REFUSED_UNLABELLED = Outcome(answerable="yes", no_answer=True, labelled=False)
UNLABELLED = Outcome(answerable="yes", labelled=False, abstained=False)
ABSTAINED = Outcome(answerable="yes", abstained=True, correct=False, grounded=True)
UNREAD = Outcome(answerable="yes", correct=False)
RIGHTLY_ABSTAINED = Outcome(answerable="no", labelled=False, abstained=True)
ANSWERED_ANYWAY = Outcome(answerable="no", labelled=False, abstained=False)
REFUSED_UNANSWERABLE = Outcome(answerable="no", labelled=False, no_answer=True)
UNKNOWN = Outcome(answerable="unknown", abstained=True, correct=True)

RATE_CASES: dict[str, tuple[list[Outcome], tuple[float | None, ...]]] = {
    # correct_rate, abstained_rate, false_abstention_rate, answered_unanswerable_rate
    "right and wrong": ([SCORED, WRONG], (0.5, 0.0, 0.0, None)),
    "a refusal stands in every denominator": ([SCORED, REFUSED], (0.5, 0.0, 0.0, None)),
    "a refusal of an unlabelled question is not graded": (
        [SCORED, REFUSED_UNLABELLED],
        (1.0, 0.0, 0.0, None),
    ),
    "an unlabelled question is read and not graded": ([SCORED, UNLABELLED], (1.0, 0.0, 0.0, None)),
    "an abstention on an answerable question": ([SCORED, ABSTAINED], (0.5, 0.5, 0.5, None)),
    "a failed reading leaves only the reading's rates": (
        [SCORED, ABSTAINED, UNREAD],
        (1 / 3, 0.5, 0.5, None),
    ),
    "an unanswerable question is in no rate of answerable ones": (
        [SCORED, WRONG, RIGHTLY_ABSTAINED, ANSWERED_ANYWAY],
        (0.5, 0.25, 0.0, 0.5),
    ),
    "a refusal did not answer the unanswerable": (
        [ANSWERED_ANYWAY, REFUSED_UNANSWERABLE],
        (None, 0.0, None, 0.5),
    ),
    "unknown answerability: only how often it abstained": ([UNKNOWN], (None, 1.0, None, None)),
    "nothing asked": ([], (None, None, None, None)),
}


@pytest.mark.parametrize(("outcomes", "expected"), RATE_CASES.values(), ids=RATE_CASES)
def test_rates(outcomes: list[Outcome], expected: tuple[float | None, ...]) -> None:
    got = (
        correct_rate(outcomes),
        abstained_rate(outcomes),
        false_abstention_rate(outcomes),
        answered_unanswerable_rate(outcomes),
    )
    assert got == expected


SPLIT_CASES: dict[str, tuple[list[Outcome], CorrectSplit]] = {
    "by evidence and by luck": ([SCORED, LUCKY, WRONG, REFUSED], CorrectSplit(0.5, 0.25, 0.25, 0.0)),
    "one grounding not scored": ([SCORED, UNCHECKED, WRONG, WRONG], CorrectSplit(0.5, 0.25, 0.0, 0.25)),
    "no grounding known": ([UNCHECKED, WRONG], CorrectSplit(0.5, None, None, 0.5)),
    "none correct": ([WRONG], CorrectSplit(0.0, 0.0, 0.0, 0.0)),
    "nothing graded": ([UNLABELLED, RIGHTLY_ABSTAINED], CorrectSplit(None, None, None, None)),
}


@pytest.mark.parametrize(("outcomes", "expected"), SPLIT_CASES.values(), ids=SPLIT_CASES)
def test_split_of_correct(outcomes: list[Outcome], expected: CorrectSplit) -> None:
    assert split_correct(outcomes) == expected


POINTS = st.lists(st.builds(JudgedPoint, st.sampled_from(WORDS), st.booleans()), min_size=1, max_size=6)
OUTCOMES = st.lists(
    st.builds(
        Outcome,
        answerable=st.sampled_from(["yes", "no", "unknown"]),
        labelled=st.booleans(),
        no_answer=st.booleans(),
        abstained=st.sampled_from([None, True, False]),
        correct=st.sampled_from([None, True, False]),
        grounded=st.sampled_from([None, True, False]),
    ),
    max_size=12,
)


@given(POINTS, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_makes_no_more_correct(points: list[JudgedPoint], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert is_correct(points, threshold=low) or not is_correct(points, threshold=high)


@given(POINTS, st.data())
def test_the_order_of_points_changes_nothing(points: list[JudgedPoint], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(points))
    assert vital_coverage(shuffled) == vital_coverage(points)
    assert is_correct(shuffled) == is_correct(points)


@given(OUTCOMES)
def test_the_split_adds_up(outcomes: list[Outcome]) -> None:
    split = split_correct(outcomes)
    assert split.correct_rate == correct_rate(outcomes)
    if split.correct_rate is not None:
        parts = (split.correct_grounded, split.correct_not_grounded, split.correct_grounding_unknown)
        assert sum(part or 0.0 for part in parts) == pytest.approx(split.correct_rate)


@given(OUTCOMES)
def test_rates_of_answerable_questions_ignore_the_others(outcomes: list[Outcome]) -> None:
    answerable = [outcome for outcome in outcomes if outcome.answerable == "yes"]
    assert correct_rate(outcomes) == correct_rate(answerable)
    assert false_abstention_rate(outcomes) == false_abstention_rate(answerable)
    assert answered_unanswerable_rate(answerable) is None
