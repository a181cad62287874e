"""The columnar measures give what the scalar definitions give."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.gold import ResolvedGold, ResolvedPlace
from tasks.metrics import columns, ranking
from tasks.metrics.columns import CodedRankings, Completions, Scores, complete
from tasks.metrics.evidence import PassagePlace, completion_ranks

DEPTH = 6


class Asked(NamedTuple):
    """One question: document codes as ranked, and the places of each gold entry."""

    ranked: list[int]
    gold: list[list[int]]


def offsets(sizes: Sequence[int]) -> columns.Ints:
    return np.concatenate(([0], np.cumsum(np.array(sizes, dtype=np.int64)))).astype(np.int64)


def integers(values: Sequence[int]) -> columns.Ints:
    return np.array(values, dtype=np.int64)


def code(asked: Sequence[Asked], *, with_alternatives: bool = True) -> CodedRankings:
    entries = [entry for question in asked for entry in question.gold]
    return CodedRankings(
        depth=DEPTH,
        passage_offsets=offsets([len(question.ranked) for question in asked]),
        passage_codes=integers([document for question in asked for document in question.ranked]),
        entry_offsets=offsets([len(question.gold) for question in asked]),
        gold_codes=integers([place for entry in entries for place in entry]),
        place_offsets=offsets([len(entry) for entry in entries]) if with_alternatives else None,
    )


def scalar_ranks(question: Asked) -> list[int | None]:
    gold = [
        ResolvedGold(places=tuple(ResolvedPlace(kind="document", target_id=str(place)) for place in entry))
        for entry in question.gold
    ]
    passages = [PassagePlace(None if document < 0 else str(document)) for document in question.ranked]
    return completion_ranks(gold, passages)


ASKED = st.lists(
    st.builds(
        Asked,
        st.lists(st.integers(-1, 7), max_size=DEPTH),
        st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=3), max_size=4),
    ),
    max_size=8,
)


@given(ASKED, st.integers(1, DEPTH), st.data())
def test_columnar_is_scalar(asked: list[Asked], k: int, data: st.DataObject) -> None:
    completions = complete(code(asked))
    expected = [scalar_ranks(question) for question in asked]
    assert [rank or None for rank in completions.ranks.tolist()] == [r for ranks in expected for r in ranks]
    sizes = [len(ranks) for ranks in expected]
    grades = [data.draw(st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=n, max_size=n)) for n in sizes]
    rules = data.draw(st.lists(st.booleans(), min_size=len(asked), max_size=len(asked)))
    flat = np.array([grade for of_question in grades for grade in of_question], dtype=np.float64)

    def agree(scores: Scores, scalar: list[float | None]) -> None:
        assert scores.to_list() == [None if value is None else pytest.approx(value) for value in scalar]
        assert np.isfinite(scores.values).all()

    agree(columns.recall_at_k(completions, k=k), [ranking.recall_at_k(ranks, k=k) for ranks in expected])
    agree(columns.hit_at_k(completions, k=k), [ranking.hit_at_k(ranks, k=k) for ranks in expected])
    agree(columns.precision_at_k(completions, k=k), [ranking.precision_at_k(ranks, k=k) for ranks in expected])
    agree(columns.reciprocal_rank(completions), [ranking.reciprocal_rank(ranks) for ranks in expected])
    agree(
        columns.all_at_k(completions, k=k, any_suffices=np.array(rules, dtype=np.bool_)),
        [
            ranking.all_at_k(ranks, k=k, rule="any" if is_any else "all")
            for ranks, is_any in zip(expected, rules, strict=True)
        ],
    )
    agree(
        columns.ndcg_at_k(completions, k=k, grades=flat),
        [ranking.ndcg_at_k(ranks, k=k, grades=g) for ranks, g in zip(expected, grades, strict=True)],
    )


def test_many_questions_cross_the_borders_of_blocks() -> None:
    rng = np.random.default_rng(7)
    asked = [
        Asked(rng.integers(0, 9, rng.integers(0, DEPTH + 1)).tolist(), [[int(rng.integers(0, 9))]]) for _ in range(9000)
    ]
    ranks = complete(code(asked, with_alternatives=False)).ranks.tolist()
    assert [rank or None for rank in ranks] == [scalar_ranks(question)[0] for question in asked]


def test_entries_without_alternatives_need_no_place_offsets() -> None:
    asked = [Asked([3, 1, 3], [[1], [3]]), Asked([], [[0]]), Asked([2], [])]
    with_places, without = complete(code(asked)), complete(code(asked, with_alternatives=False))
    assert with_places.ranks.tolist() == without.ranks.tolist() == [2, 1, 0]


def test_no_questions_give_empty_scores_and_no_mean() -> None:
    completions = complete(code([]))
    for scores in (
        columns.recall_at_k(completions, k=1),
        columns.reciprocal_rank(completions),
        columns.precision_at_k(completions, k=1),
        columns.ndcg_at_k(completions, k=1, grades=np.empty(0)),
    ):
        assert scores.to_list() == []
        assert scores.mean() is None


def test_a_mean_leaves_undefined_questions_out() -> None:
    scores = columns.recall_at_k(complete(code([Asked([1], [[1]]), Asked([1], []), Asked([], [[1]])])), k=3)
    assert scores.to_list() == [1.0, None, 0.0]
    assert (scores.mean(), scores.n_scored) == (0.5, 2)


@pytest.mark.parametrize("k", [0, DEPTH + 1])
def test_a_k_beyond_the_stored_depth_is_an_error(k: int) -> None:
    with pytest.raises(ValueError, match=f"stored depth {DEPTH}, got {k}"):
        columns.recall_at_k(complete(code([Asked([1], [[1]])])), k=k)


def test_ndcg_needs_one_grade_above_zero_for_each_entry() -> None:
    completions = complete(code([Asked([1], [[1], [2]])]))
    for grades in ([1.0], [1.0, 0.0]):
        with pytest.raises(ValueError, match="one grade above 0"):
            columns.ndcg_at_k(completions, k=1, grades=np.array(grades))


BROKEN: dict[str, tuple[dict[str, list[int]], str]] = {
    "offsets that end early": ({"passage_offsets": [0, 1, 2]}, "passage_offsets must rise from 0 to 3"),
    "offsets that fall": ({"passage_offsets": [0, 4, 3]}, "passage_offsets must rise"),
    "offsets that start late": ({"entry_offsets": [1, 1, 2]}, "entry_offsets must rise"),
    "other numbers of questions": ({"entry_offsets": [0, 2]}, "the same questions"),
    "a ranking longer than the depth": (
        {"passage_offsets": [0, 8, 8], "passage_codes": [1] * 8},
        "longer than the stored depth 6",
    ),
    "an entry without a place": ({"place_offsets": [0, 2, 2]}, "at least one place"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, list[int]], message: str) -> None:
    arrays = {
        "passage_offsets": [0, 2, 3],
        "passage_codes": [1, 2, 3],
        "entry_offsets": [0, 1, 2],
        "gold_codes": [1, 2],
        **change,
    }
    with pytest.raises(ValueError, match=message):
        CodedRankings(depth=DEPTH, **{name: integers(values) for name, values in arrays.items()})


def test_completions_of_any_gold_are_checked_too() -> None:
    with pytest.raises(ValueError, match="entry_offsets must rise from 0 to 1"):
        Completions(depth=DEPTH, entry_offsets=integers([0, 2]), ranks=integers([1]))
