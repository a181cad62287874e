"""The retrieval measures on completion ranks: hand-checked cases and laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.ranking import (
    all_at_k,
    context_all,
    context_hit,
    context_recall,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

RankList = list[int | None]

CASES: dict[str, tuple[RankList, int, tuple[float, float, float, float, float]]] = {
    # ranks, k: recall, hit, all of them, precision, reciprocal rank
    "the first of two at rank 3, the other absent": ([3, None], 5, (0.5, 1, 0, 0.2, 1 / 3)),
    "two of three in the first five": ([1, 5, 9], 5, (2 / 3, 1, 0, 0.4, 1)),
    "all at the first rank by one passage": ([1, 1], 2, (1, 1, 1, 0.5, 1)),
    "just outside k": ([6], 5, (0, 0, 0, 0, 1 / 6)),
    "at k": ([5], 5, (1, 1, 1, 0.2, 0.2)),
    "nothing retrieved": ([None, None], 5, (0, 0, 0, 0, 0)),
    "fewer passages than k": ([1], 10, (1, 1, 1, 0.1, 1)),
    "every passage relevant": ([2, 1, 3], 3, (1, 1, 1, 1, 1)),
}


@pytest.mark.parametrize(("ranks", "k", "expected"), CASES.values(), ids=CASES)
def test_measures(ranks: RankList, k: int, expected: tuple[float, ...]) -> None:
    got = (
        recall_at_k(ranks, k=k),
        hit_at_k(ranks, k=k),
        all_at_k(ranks, k=k, rule="all"),
        precision_at_k(ranks, k=k),
        reciprocal_rank(ranks),
    )
    assert got == pytest.approx(expected)


def test_two_of_three_gold_in_the_first_five_reads_0_67() -> None:
    assert f"{recall_at_k([1, 5, 9], k=5):.2f}" == "0.67"


NDCG_CASES: dict[str, tuple[RankList, list[float], int, float]] = {
    "best order": ([1, 2], [2, 1], 2, 1.0),
    "the lower grade first": ([2, 1], [2, 1], 2, (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))),
    "the only document at rank 3": ([3], [1], 5, 0.5),
    "the only document beyond k": ([3], [1], 2, 0.0),
    "a missing entry stays in the ideal": ([1, None], [1, 1], 2, 1 / (1 + 1 / math.log2(3))),
    "more gold than k: the ideal has k": ([1, None, None], [1, 1, 1], 1, 1.0),
    "one passage completes two: it gains the higher": ([1, 1], [1, 3], 1, 1.0),
    "one passage completes two: not both": ([1, 1], [1, 1], 2, 1 / (1 + 1 / math.log2(3))),
    "gain is linear in the grade": ([None, 1], [3, 1], 1, 1 / 3),
}


@pytest.mark.parametrize(("ranks", "grades", "k", "expected"), NDCG_CASES.values(), ids=NDCG_CASES)
def test_ndcg(ranks: RankList, grades: list[float], k: int, expected: float) -> None:
    assert ndcg_at_k(ranks, k=k, grades=grades) == pytest.approx(expected)


def test_empty_gold_is_undefined_everywhere() -> None:
    assert recall_at_k([], k=5) is None
    assert hit_at_k([], k=5) is None
    assert all_at_k([], k=5, rule="all") is None
    assert all_at_k([], k=5, rule="any") is None
    assert precision_at_k([], k=5) is None
    assert reciprocal_rank([]) is None
    assert ndcg_at_k([], k=5, grades=[]) is None
    assert context_recall([]) is None
    assert context_hit([]) is None
    assert context_all([], rule="all") is None


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_an_error_also_without_gold(k: int) -> None:
    for measure in (recall_at_k, hit_at_k, precision_at_k):
        with pytest.raises(ValueError, match=f"got {k}"):
            measure([], k=k)
    with pytest.raises(ValueError, match=f"got {k}"):
        all_at_k([], k=k, rule="any")
    with pytest.raises(ValueError, match=f"got {k}"):
        ndcg_at_k([], k=k, grades=[])


def test_grades_are_above_zero_and_one_for_each_entry() -> None:
    with pytest.raises(ValueError, match="got 0"):
        ndcg_at_k([1, 2], k=1, grades=[1, 0])
    with pytest.raises(ValueError, match="argument"):
        ndcg_at_k([1, 2], k=1, grades=[1])


CONTEXT_CASES: dict[str, tuple[list[bool], tuple[float, float, float, float]]] = {
    # arrived: recall, hit, all under rule "all", all under rule "any"
    "half": ([True, False], (0.5, 1, 0, 1)),
    "whole": ([True, True], (1, 1, 1, 1)),
    "an empty context": ([False, False], (0, 0, 0, 0)),
}


@pytest.mark.parametrize(("arrived", "expected"), CONTEXT_CASES.values(), ids=CONTEXT_CASES)
def test_context_measures(arrived: list[bool], expected: tuple[float, ...]) -> None:
    got = (
        context_recall(arrived),
        context_hit(arrived),
        context_all(arrived, rule="all"),
        context_all(arrived, rule="any"),
    )
    assert got == expected


RANKS = st.lists(st.one_of(st.none(), st.integers(1, 20)), min_size=1, max_size=6)
K = st.integers(1, 20)


@given(RANKS, K)
def test_recall_never_falls_as_k_grows(ranks: RankList, k: int) -> None:
    assert (recall_at_k(ranks, k=k) or 0.0) <= (recall_at_k(ranks, k=k + 1) or 0.0)


@given(RANKS, K)
def test_all_is_never_above_recall_and_recall_never_above_hit(ranks: RankList, k: int) -> None:
    everything, any_one = all_at_k(ranks, k=k, rule="all"), all_at_k(ranks, k=k, rule="any")
    recall, hit = recall_at_k(ranks, k=k), hit_at_k(ranks, k=k)
    assert everything is not None
    assert recall is not None
    assert hit is not None
    assert everything <= recall <= hit == any_one


@given(RANKS, K, st.data())
def test_the_order_of_gold_entries_changes_nothing(ranks: RankList, k: int, data: st.DataObject) -> None:
    grades = data.draw(st.lists(st.sampled_from([1.0, 2.0, 4.0]), min_size=len(ranks), max_size=len(ranks)))
    order = data.draw(st.permutations(range(len(ranks))))
    shuffled = [ranks[at] for at in order]
    assert recall_at_k(shuffled, k=k) == recall_at_k(ranks, k=k)
    assert precision_at_k(shuffled, k=k) == precision_at_k(ranks, k=k)
    assert reciprocal_rank(shuffled) == reciprocal_rank(ranks)
    regraded = ndcg_at_k(shuffled, k=k, grades=[grades[at] for at in order])
    assert regraded == pytest.approx(ndcg_at_k(ranks, k=k, grades=grades), abs=1e-12)


@given(RANKS, K, st.data())
def test_ndcg_lies_between_zero_and_one(ranks: RankList, k: int, data: st.DataObject) -> None:
    grades = data.draw(st.lists(st.floats(0.1, 10), min_size=len(ranks), max_size=len(ranks)))
    value = ndcg_at_k(ranks, k=k, grades=grades)
    assert value is not None
    assert 0 <= value <= 1 + 1e-12
