"""Groundedness of an answer and of a setup: hand-checked cases and laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import ClaimWord
from tasks.metrics.grounding import (
    Groundedness,
    answers_with_unsupported,
    groundedness,
    is_grounded,
    mean_groundedness,
    mean_groundedness_all,
    supported_rate,
    unverified_rate,
)

Words = list[ClaimWord]
YES: ClaimWord = "SUPPORTED"
NO: ClaimWord = "NOT_SUPPORTED"
AGAINST: ClaimWord = "CONTRADICTED"
LOST: ClaimWord = "UNVERIFIED"

ANSWER_CASES: dict[str, tuple[Words, int | None, Groundedness | None]] = {
    "Dublin: two claims, one supported": ([YES, NO], 3, Groundedness(0.5, vacuous=False)),
    "all supported": ([YES, YES], 1, Groundedness(1.0, vacuous=False)),
    "contradicted and unverified are not supported": (
        [YES, AGAINST, LOST, NO],
        3,
        Groundedness(0.25, vacuous=False),
    ),
    "no claims is vacuous": ([], 3, Groundedness(1.0, vacuous=True)),
    "no claims and an empty context is vacuous too": ([], 0, Groundedness(1.0, vacuous=True)),
    "an empty context supports nothing": ([NO, NO], 0, Groundedness(0.0, vacuous=False)),
    "an empty context supports nothing whatever was judged": ([YES], 0, Groundedness(0.0, vacuous=False)),
    "a context that was not recorded": ([YES, NO], None, None),
    "not recorded and no claims": ([], None, None),
}


@pytest.mark.parametrize(("verdicts", "n_passages", "expected"), ANSWER_CASES.values(), ids=ANSWER_CASES)
def test_groundedness(verdicts: Words, n_passages: int | None, expected: Groundedness | None) -> None:
    assert groundedness(verdicts, n_passages=n_passages) == expected


GROUNDED_CASES: dict[str, tuple[Words, int | None, float, bool | None]] = {
    "nine of ten reach 0.9": ([YES] * 9 + [NO], 3, 0.9, True),
    "27 of 30 reach 0.9 to the last bit": ([YES] * 27 + [NO] * 3, 3, 0.9, True),
    "eight of nine do not": ([YES] * 8 + [NO], 3, 0.9, False),
    "eight of nine do at 0.8": ([YES] * 8 + [NO], 3, 0.8, True),
    "nine of ten do not at 1.0": ([YES] * 9 + [NO], 3, 1.0, False),
    "one contradiction is enough": ([YES] * 99 + [AGAINST], 3, 0.9, False),
    "one unverified among ten is not": ([YES] * 9 + [LOST], 3, 0.9, True),
    "no claims": ([], 3, 0.9, True),
    "an empty context with a claim": ([NO], 0, 0.9, False),
    "not recorded": ([YES], None, 0.9, None),
}


@pytest.mark.parametrize(
    ("verdicts", "n_passages", "threshold", "expected"), GROUNDED_CASES.values(), ids=GROUNDED_CASES
)
def test_is_grounded(verdicts: Words, n_passages: int | None, threshold: float, *, expected: bool | None) -> None:
    assert is_grounded(verdicts, n_passages=n_passages, threshold=threshold) is expected


SETUP_CASES: dict[str, tuple[list[Words], tuple[float | None, ...]]] = {
    # supported_rate, mean_groundedness, mean_groundedness_all, answers_with_unsupported, unverified_rate
    "a long flawed answer weighs in the micro rate": (
        [[YES], [YES, NO, AGAINST, LOST]],
        (0.4, 0.625, 0.625, 0.5, 0.2),
    ),
    "a vacuous answer counts only in the all-mean": ([[YES, NO], []], (0.5, 0.5, 0.75, 1.0, 0.0)),
    "a setup that abstains on everything": ([[], [], []], (None, None, 1.0, None, None)),
    "no answers": ([], (None, None, None, None, None)),
}


@pytest.mark.parametrize(("answers", "expected"), SETUP_CASES.values(), ids=SETUP_CASES)
def test_of_a_setup(answers: list[Words], expected: tuple[float | None, ...]) -> None:
    got = (
        supported_rate(answers),
        mean_groundedness(answers),
        mean_groundedness_all(answers),
        answers_with_unsupported(answers),
        unverified_rate(answers),
    )
    assert got == expected


WORDS = st.sampled_from([YES, NO, AGAINST, LOST])
ANSWERS = st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6)


@given(ANSWERS, st.data())
def test_the_order_of_answers_and_claims_changes_nothing(answers: list[Words], data: st.DataObject) -> None:
    shuffled = [data.draw(st.permutations(answer)) for answer in data.draw(st.permutations(answers))]
    assert supported_rate(shuffled) == supported_rate(answers)
    assert unverified_rate(shuffled) == unverified_rate(answers)
    assert answers_with_unsupported(shuffled) == answers_with_unsupported(answers)
    assert mean_groundedness(shuffled) == (
        None if mean_groundedness(answers) is None else pytest.approx(mean_groundedness(answers))
    )


@given(ANSWERS)
def test_vacuous_answers_never_lower_the_mean(answers: list[Words]) -> None:
    with_vacuous, without = mean_groundedness_all(answers), mean_groundedness(answers)
    assert with_vacuous is not None
    assert without is None or with_vacuous >= without - 1e-12


@given(st.lists(WORDS, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_grounds_no_more(verdicts: Words, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert is_grounded(verdicts, n_passages=1, threshold=low) or not is_grounded(verdicts, n_passages=1, threshold=high)
