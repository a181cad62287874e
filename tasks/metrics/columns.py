"""The retrieval measures for many questions at once: flat arrays with offsets, no loop over questions.

`tasks.metrics.ranking` holds the definitions; these give the same numbers. Rows of question i are
`offsets[i]:offsets[i + 1]` of the flat array that the offsets belong to.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Questions looked at together: their rankings then stay in the processor's cache while ranks are walked.
_BLOCK = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """One value per question; `scored` is False, and the value 0 and meaningless, where it is undefined."""

    values: Floats
    scored: Bools

    @property
    def n_scored(self) -> int:
        """Questions that have a value."""
        return int(np.count_nonzero(self.scored))

    def mean(self) -> float | None:
        """Mean over the scored questions, None when there are none.

        >>> Scores(values=np.array([1.0, 0.0, 0.0]), scored=np.array([True, True, False])).mean()
        0.5
        """
        return float(self.values[self.scored].mean()) if self.scored.any() else None

    def to_list(self) -> list[float | None]:
        """Give plain values, None where undefined.

        >>> Scores(values=np.array([1.0, 0.0]), scored=np.array([True, False])).to_list()
        [1.0, None]
        """
        pairs = zip(self.values.tolist(), self.scored.tolist(), strict=True)
        return [value if is_scored else None for value, is_scored in pairs]


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedRankings:
    """Rankings and gold of many questions, with document ids (or foreign passage ids) coded as integers.

    Attributes:
        depth: The stored depth; no ranking is longer, and no larger k can be asked.
        passage_offsets: One per question and one more, into `passage_codes`.
        passage_codes: The code of each passage in rank order; -1 for one whose document is unknown.
        entry_offsets: One per question and one more, counting gold entries.
        gold_codes: The code of each place of gold, from 0; one per entry unless `place_offsets` is given.
        place_offsets: One per entry and one more, into `gold_codes`, where entries have alternatives.
    """

    depth: int
    passage_offsets: Ints
    passage_codes: Ints
    entry_offsets: Ints
    gold_codes: Ints
    place_offsets: Ints | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together.

        Raises:
            ValueError: Offsets do not span their array, an entry has no place, or a ranking is longer than
                the depth.
        """
        _check_offsets(self.passage_offsets, self.passage_codes.size, "passage_offsets")
        n_entries = self.gold_codes.size if self.place_offsets is None else self.place_offsets.size - 1
        _check_offsets(self.entry_offsets, n_entries, "entry_offsets")
        if self.place_offsets is not None:
            _check_offsets(self.place_offsets, self.gold_codes.size, "place_offsets")
            if np.any(np.diff(self.place_offsets) == 0):
                msg = "every gold entry has at least one place"
                raise ValueError(msg)
        if self.passage_offsets.size != self.entry_offsets.size:
            msg = "passage_offsets and entry_offsets are about the same questions"
            raise ValueError(msg)
        if np.diff(self.passage_offsets).max(initial=0) > self.depth:
            msg = f"a ranking is longer than the stored depth {self.depth}"
            raise ValueError(msg)


@dataclass(frozen=True, kw_only=True, eq=False)
class Completions:
    """Completion ranks of all gold entries of many questions, of any kind of gold.

    Attributes:
        depth: The stored depth of the rankings.
        entry_offsets: One per question and one more, into `ranks`.
        ranks: The rank, from 1, at which each entry is completed; 0 where it never is.
    """

    depth: int
    entry_offsets: Ints
    ranks: Ints

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together.

        Raises:
            ValueError: Offsets do not span the ranks.
        """
        _check_offsets(self.entry_offsets, self.ranks.size, "entry_offsets")

    @property
    def n_questions(self) -> int:
        """Questions, with and without gold."""
        return self.entry_offsets.size - 1

    @property
    def entry_counts(self) -> Ints:
        """Gold entries of each question."""
        return np.diff(self.entry_offsets)

    @property
    def entry_questions(self) -> Ints:
        """The question of each entry."""
        return np.repeat(np.arange(self.n_questions, dtype=np.int64), self.entry_counts)


def complete(rankings: CodedRankings) -> Completions:
    """Find at which rank each entry of document (or foreign) gold is completed.

    >>> complete(
    ...     CodedRankings(
    ...         depth=3,
    ...         passage_offsets=np.array([0, 3]),
    ...         passage_codes=np.array([7, 9, 7]),
    ...         entry_offsets=np.array([0, 2]),
    ...         gold_codes=np.array([9, 4]),
    ...     )
    ... ).ranks.tolist()
    [2, 0]
    """
    place_offsets = rankings.place_offsets
    borders = rankings.entry_offsets if place_offsets is None else place_offsets[rankings.entry_offsets]
    ranks = np.zeros(rankings.gold_codes.size, dtype=np.int64)
    n_questions = rankings.passage_offsets.size - 1
    for first in range(0, n_questions, _BLOCK):
        last = min(first + _BLOCK, n_questions)
        places = slice(borders[first], borders[last])
        n_places = np.diff(borders[first : last + 1])
        starts = np.repeat(rankings.passage_offsets[first:last], n_places)
        ends = np.repeat(rankings.passage_offsets[first + 1 : last + 1], n_places)
        ranks[places] = _first_ranks(rankings.passage_codes, rankings.gold_codes[places], starts, ends)
    if place_offsets is not None:
        ranks = _least_of_places(ranks, place_offsets)
    return Completions(depth=rankings.depth, entry_offsets=rankings.entry_offsets, ranks=ranks)


def recall_at_k(completions: Completions, *, k: int) -> Scores:
    """See `tasks.metrics.ranking.recall_at_k`.

    Raises:
        ValueError: k is below 1 or above the stored depth.
    """
    retrieved = _sums(_within(completions, k), completions.entry_offsets)
    return _scores(completions, retrieved / np.maximum(completions.entry_counts, 1))


def hit_at_k(completions: Completions, *, k: int) -> Scores:
    """See `tasks.metrics.ranking.hit_at_k`.

    Raises:
        ValueError: k is below 1 or above the stored depth.
    """
    return _scores(completions, _sums(_within(completions, k), completions.entry_offsets) > 0)


def all_at_k(completions: Completions, *, k: int, any_suffices: Bools) -> Scores:
    """See `tasks.metrics.ranking.all_at_k`; `any_suffices` is True for questions whose gold rule is `any`.

    Raises:
        ValueError: k is below 1 or above the stored depth.
    """
    retrieved = _sums(_within(completions, k), completions.entry_offsets)
    needed = np.where(any_suffices, 1, completions.entry_counts)
    return _scores(completions, retrieved >= needed)


def precision_at_k(completions: Completions, *, k: int) -> Scores:
    """See `tasks.metrics.ranking.precision_at_k`.

    Raises:
        ValueError: k is below 1 or above the stored depth.
    """
    within = _within(completions, k)
    places = completions.entry_questions[within] * (k + 1) + completions.ranks[within]
    relevant = np.bincount(np.unique(places) // (k + 1), minlength=completions.n_questions)
    return _scores(completions, relevant / k)


def reciprocal_rank(completions: Completions) -> Scores:
    """See `tasks.metrics.ranking.reciprocal_rank`."""
    inverse = np.zeros(completions.ranks.size, dtype=np.float64)
    np.divide(1.0, completions.ranks, out=inverse, where=completions.ranks > 0)
    values = np.zeros(completions.n_questions, dtype=np.float64)
    filled = completions.entry_counts > 0
    if filled.any():
        values[filled] = np.maximum.reduceat(inverse, completions.entry_offsets[:-1][filled])
    return _scores(completions, values)


def ndcg_at_k(completions: Completions, *, k: int, grades: Floats) -> Scores:
    """See `tasks.metrics.ranking.ndcg_at_k`; `grades` has one value per entry.

    Raises:
        ValueError: k is below 1 or above the stored depth, a grade is not above 0, or there is not one grade
            per entry.
    """
    if grades.size != completions.ranks.size or grades.min(initial=1.0) <= 0:
        msg = "ndcg needs one grade above 0 for each gold entry"
        raise ValueError(msg)
    within = _within(completions, k)
    questions, counts = completions.entry_questions, completions.entry_counts
    discounts = 1 / np.log2(np.arange(completions.depth + 2, dtype=np.float64).clip(min=1) + 1)
    ranks = completions.ranks[within]
    gained = _gains_once(questions[within], ranks, grades[within]) * discounts[ranks]
    best_first = np.lexsort((-grades, questions))
    position = np.arange(grades.size) - np.repeat(completions.entry_offsets[:-1], counts) + 1
    counted = position <= k
    best = grades[best_first][counted] * discounts[position[counted]]
    gain = _weighted(questions[within], gained, completions.n_questions)
    ideal = _weighted(questions[counted], best, completions.n_questions)
    return _scores(completions, np.divide(gain, ideal, out=np.zeros_like(gain), where=ideal > 0))


def _first_ranks(codes: Ints, gold: Ints, starts: Ints, ends: Ints) -> Ints:
    ranks = np.zeros(gold.size, dtype=np.int64)
    missing = np.flatnonzero(starts < ends)
    sought, at, stop = gold[missing], starts[missing], ends[missing]
    rank = 0
    while missing.size:
        rank += 1
        found = codes[at] == sought
        ranks[missing[found]] = rank
        at += 1
        going_on = ~found & (at < stop)
        if not going_on.all():
            missing, sought, at, stop = missing[going_on], sought[going_on], at[going_on], stop[going_on]
    return ranks


def _least_of_places(ranks: Ints, place_offsets: Ints) -> Ints:
    never = np.iinfo(np.int64).max
    if not ranks.size:
        return ranks
    least = np.minimum.reduceat(np.where(ranks == 0, never, ranks), place_offsets[:-1])
    return np.where(least == never, 0, least)


def _gains_once(questions: Ints, ranks: Ints, grades: Floats) -> Floats:
    order = np.lexsort((-grades, ranks, questions))
    again = np.zeros(order.size, dtype=np.bool_)
    again[1:] = (np.diff(questions[order]) == 0) & (np.diff(ranks[order]) == 0)
    gained = grades.copy()
    gained[order[again]] = 0.0
    return gained


def _weighted(questions: Ints, weights: Floats, n_questions: int) -> Floats:
    # numpy's type stubs do not know that weights make the counts floats.
    return np.bincount(questions, weights=weights, minlength=n_questions).astype(np.float64)


def _sums(flags: Bools, offsets: Ints) -> Ints:
    running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(flags, dtype=np.int64)))
    return running[offsets[1:]] - running[offsets[:-1]]


def _within(completions: Completions, k: int) -> Bools:
    if not 1 <= k <= completions.depth:
        msg = f"k lies between 1 and the stored depth {completions.depth}, got {k}"
        raise ValueError(msg)
    return (completions.ranks > 0) & (completions.ranks <= k)


def _scores(completions: Completions, values: Floats | Bools) -> Scores:
    scored = completions.entry_counts > 0
    return Scores(values=np.where(scored, values, 0.0).astype(np.float64), scored=scored)


def _check_offsets(offsets: Ints, size: int, name: str) -> None:
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != size or np.any(np.diff(offsets) < 0):
        msg = f"{name} must rise from 0 to {size}, the length of what it points into"
        raise ValueError(msg)
