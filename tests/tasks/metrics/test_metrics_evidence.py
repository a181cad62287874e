"""When gold is complete: hand-checked cases and laws of tasks.metrics.evidence."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.gold import ResolvedGold, ResolvedPlace
from schemas.passage import Passage, Range
from tasks.metrics.evidence import (
    Crossing,
    InkRange,
    PassagePlace,
    arrivals,
    completion_ranks,
    cut_ranking,
    find_crossing,
    has_span,
    is_page_level,
    overlaps,
    recall_at_tokens,
    span_coverage_at_k,
    span_coverages,
)
from tasks.metrics.ranking import context_recall, hit_at_k, precision_at_k, recall_at_k


def span(start: int, end: int, document: str = "a") -> ResolvedPlace:
    return ResolvedPlace(kind="span", target_id=document, start=start, end=end, ink_start=start, ink_end=end)


def page(document: str) -> ResolvedPlace:
    return ResolvedPlace(kind="document", target_id=document)


def foreign(passage: str) -> ResolvedPlace:
    return ResolvedPlace(kind="passage", target_id=passage)


def entry(*places: ResolvedPlace) -> ResolvedGold:
    return ResolvedGold(places=places)


def passage(*ink: tuple[int, int], document: str | None = "a", foreign_id: str | None = None) -> PassagePlace:
    return PassagePlace(document, tuple(InkRange(*part) for part in ink), foreign_id)


RANK_CASES: dict[str, tuple[ResolvedGold, list[PassagePlace], int | None]] = {
    "one passage holds the whole span": (entry(span(5, 9)), [passage((0, 10))], 1),
    "a passage that equals the span": (entry(span(5, 9)), [passage((5, 9))], 1),
    "one character short at the end": (entry(span(5, 9)), [passage((0, 8))], None),
    "one character short at the start": (entry(span(5, 9)), [passage((6, 10))], None),
    "two passages together, the later completes": (
        entry(span(5, 9)),
        [passage((7, 12)), passage((0, 3)), passage((0, 7))],
        3,
    ),
    "two passages with a hole between them": (entry(span(5, 9)), [passage((0, 6)), passage((7, 12))], None),
    "a passage of two ranges covers across them": (entry(span(5, 9)), [passage((0, 7), (7, 12))], 1),
    "a middle piece first, then a passage around it": (
        entry(span(0, 10)),
        [passage((3, 5)), passage((0, 4)), passage((4, 10))],
        3,
    ),
    "same offsets in another document": (entry(span(5, 9)), [passage((0, 10), document="b")], None),
    "a passage of unknown place has no span": (entry(span(5, 9)), [passage()], None),
    "a page by its second passage is there at the first": (
        entry(page("a")),
        [passage(document="b"), passage((0, 1)), passage((1, 2))],
        2,
    ),
    "a page by a passage of unknown range": (entry(page("a")), [passage()], 1),
    "a passage of no document is no page": (entry(page("a")), [passage(document=None)], None),
    "a foreign id": (entry(foreign("p7")), [passage(foreign_id="p1"), passage(foreign_id="p7")], 2),
    "a foreign id is no document id": (entry(foreign("a")), [passage((0, 10))], None),
    "the alternative comes earlier": (
        entry(span(5, 9), span(20, 30, "b")),
        [passage((20, 30), document="b"), passage((0, 10))],
        1,
    ),
    "an alternative of another kind": (entry(span(5, 9), page("b")), [passage(document="b")], 1),
    "half of each alternative is no whole": (
        entry(span(0, 4), span(0, 4, "b")),
        [passage((0, 2)), passage((2, 4), document="b")],
        None,
    ),
    "nothing retrieved": (entry(span(5, 9)), [], None),
}


@pytest.mark.parametrize(("gold", "passages", "rank"), RANK_CASES.values(), ids=RANK_CASES)
def test_completion_rank(gold: ResolvedGold, passages: list[PassagePlace], rank: int | None) -> None:
    assert completion_ranks([gold], passages) == [rank]
    assert arrivals([gold], passages) == [rank is not None]


def test_ranks_come_in_the_order_of_the_entries() -> None:
    ranking = [passage((0, 10)), passage((30, 50))]
    assert completion_ranks([entry(span(31, 40)), entry(span(90, 95)), entry(span(0, 2))], ranking) == [
        2,
        None,
        1,
    ]


def test_a_span_without_ink_is_an_error() -> None:
    with pytest.raises(ValueError, match="'a' holds no ink: 4 to 4"):
        completion_ranks([entry(span(4, 4))], [passage((0, 10))])


def test_a_recorded_passage_gives_its_ink_ranges() -> None:
    recorded = Passage(
        document_id="a",
        document_key="k",
        ranges=(Range(start=0, end=12, ink_start=0, ink_end=10),),
        n_tokens=3,
        text_digest="d",
        foreign_id="p7",
    )
    assert PassagePlace.of(recorded) == passage((0, 10), foreign_id="p7")


COVERAGE_CASES: dict[str, tuple[list[ResolvedGold], list[PassagePlace], int, float | None]] = {
    "half of one span": ([entry(span(0, 10))], [passage((5, 20))], 1, 0.5),
    "overlapping passages are counted once": (
        [entry(span(0, 10))],
        [passage((0, 6)), passage((4, 8))],
        2,
        0.8,
    ),
    "only the first k count": ([entry(span(0, 10))], [passage((0, 6)), passage((6, 10))], 1, 0.6),
    "one whole entry and one absent": ([entry(span(0, 10)), entry(span(50, 60))], [passage((0, 10))], 1, 0.5),
    "the better alternative": (
        [entry(span(0, 10), span(0, 4, "b"))],
        [passage((0, 3), document="b")],
        1,
        0.75,
    ),
    "a page alternative that arrived": ([entry(span(0, 10), page("b"))], [passage(document="b")], 1, 1.0),
    "entries without a span stand aside": ([entry(span(0, 10)), entry(page("z"))], [passage((0, 5))], 1, 0.5),
    "no span at all": ([entry(page("a"))], [passage((0, 5))], 1, None),
    "no gold": ([], [passage((0, 5))], 1, None),
    "nothing retrieved": ([entry(span(0, 10))], [], 1, 0.0),
}


@pytest.mark.parametrize(("gold", "passages", "k", "share"), COVERAGE_CASES.values(), ids=COVERAGE_CASES)
def test_span_coverage(gold: list[ResolvedGold], passages: list[PassagePlace], k: int, share: float | None) -> None:
    assert span_coverage_at_k(gold, passages, k=k) == share


def test_span_coverage_refuses_k_below_one() -> None:
    with pytest.raises(ValueError, match="got 0"):
        span_coverage_at_k([entry(span(0, 10))], [], k=0)


OVERLAP_CASES: dict[str, tuple[ResolvedGold, PassagePlace, bool]] = {
    "inside the span": (entry(span(5, 9)), passage((6, 8)), True),
    "around the span": (entry(span(5, 9)), passage((0, 20)), True),
    "one character": (entry(span(5, 9)), passage((8, 20)), True),
    "touching only": (entry(span(5, 9)), passage((9, 20)), False),
    "in the alternative": (entry(span(5, 9), span(0, 4, "b")), passage((1, 2), document="b"), True),
    "anywhere on a gold page": (entry(page("a")), passage((90, 95)), True),
    "of a gold foreign passage": (entry(foreign("p7")), passage((90, 95), foreign_id="p7"), True),
    "on another page": (entry(page("a")), passage((90, 95), document="b"), False),
}


@pytest.mark.parametrize(("gold", "quote", "expected"), OVERLAP_CASES.values(), ids=OVERLAP_CASES)
def test_overlap(gold: ResolvedGold, quote: PassagePlace, *, expected: bool) -> None:
    assert overlaps([gold], [quote]) is expected
    assert not overlaps([gold], [])


PAGE_LEVEL_CASES: dict[str, tuple[ResolvedGold, list[PassagePlace], bool]] = {
    "a page that arrived": (entry(page("a")), [passage((0, 5))], True),
    "a page that did not": (entry(page("a")), [], True),
    "a span": (entry(span(0, 5)), [], False),
    "a foreign passage": (entry(foreign("p7")), [], False),
    "a span completed, beside its page": (entry(span(0, 5), page("a")), [passage((0, 5))], False),
    "a span in part, beside its page": (entry(span(0, 5), page("a")), [passage((0, 4))], True),
}


@pytest.mark.parametrize(("gold", "passages", "expected"), PAGE_LEVEL_CASES.values(), ids=PAGE_LEVEL_CASES)
def test_page_level(gold: ResolvedGold, passages: list[PassagePlace], *, expected: bool) -> None:
    assert is_page_level(gold, passages) is expected


def test_any_span_among_the_places_makes_span_gold() -> None:
    assert has_span([entry(page("a")), entry(page("b"), span(0, 5))])
    assert not has_span([entry(page("a")), entry(foreign("p7"))])


CROSSING_CASES: dict[str, tuple[list[int], int, Crossing | None]] = {
    "all fits with room to spare": ([800, 800], 2000, None),
    "all fits exactly": ([1000, 1000], 2000, None),
    "inside the third": ([800, 800, 800], 2000, Crossing(2, 400)),
    "exactly between two": ([1000, 1000, 1], 2000, Crossing(2, 0)),
    "inside the first": ([5000], 2000, Crossing(0, 2000)),
    "nothing retrieved": ([], 2000, None),
}


@pytest.mark.parametrize(("n_tokens", "budget", "crossing"), CROSSING_CASES.values(), ids=CROSSING_CASES)
def test_crossing(n_tokens: list[int], budget: int, crossing: Crossing | None) -> None:
    assert find_crossing(n_tokens, budget=budget) == crossing


def test_a_budget_below_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="got 0"):
        find_crossing([1], budget=0)


CUT_CASES: dict[str, tuple[Crossing | None, int, list[PassagePlace]]] = {
    "nothing cut": (
        None,
        0,
        [passage((0, 10), foreign_id="p1"), passage((20, 30), (40, 50), foreign_id="p2")],
    ),
    "between passages": (Crossing(1, 0), 0, [passage((0, 10), foreign_id="p1")]),
    "inside the first range": (Crossing(1, 2), 4, [passage((0, 10), foreign_id="p1"), passage((20, 24))]),
    "at a range's end": (Crossing(1, 2), 10, [passage((0, 10), foreign_id="p1"), passage((20, 30))]),
    "inside the second range": (
        Crossing(1, 2),
        13,
        [passage((0, 10), foreign_id="p1"), passage((20, 30), (40, 43))],
    ),
    "a token of white space only": (Crossing(1, 1), 0, [passage((0, 10), foreign_id="p1"), passage()]),
}


@pytest.mark.parametrize(("crossing", "ink_kept", "expected"), CUT_CASES.values(), ids=CUT_CASES)
def test_cut(crossing: Crossing | None, ink_kept: int, expected: list[PassagePlace]) -> None:
    ranking = [passage((0, 10), foreign_id="p1"), passage((20, 30), (40, 50), foreign_id="p2")]
    assert cut_ranking(ranking, crossing, ink_kept=ink_kept) == expected


def test_recall_at_tokens_credits_a_page_but_no_foreign_passage_that_is_cut() -> None:
    gold, ranking = [entry(page("a")), entry(foreign("p7"))], [passage((0, 40), foreign_id="p7")]
    assert recall_at_tokens(gold, ranking, crossing=Crossing(0, 5), ink_kept=20) == 0.5
    assert recall_at_tokens(gold, ranking, crossing=None, ink_kept=0) == 1.0
    assert recall_at_tokens([], ranking, crossing=None, ink_kept=0) is None


# Worked examples of METRICS.md §9.


def test_two_gold_spans_the_first_at_rank_three_and_the_other_absent() -> None:
    ranking = [
        passage((100, 120)),
        passage(document="b"),
        passage((0, 10)),
        passage((30, 40)),
        passage((60, 80)),
    ]
    ranks = completion_ranks([entry(span(2, 8)), entry(span(500, 510))], ranking)
    assert recall_at_k(ranks, k=5) == 0.5
    assert hit_at_k(ranks, k=5) == 1


def test_three_irrelevant_passages_leave_context_recall_unchanged() -> None:
    gold = [entry(span(0, 4)), entry(span(10, 14)), entry(span(20, 24))]
    relevant = [passage((0, 5)), passage((10, 15)), passage((20, 25))]
    padding = [passage((100 + n, 101 + n)) for n in range(3)]
    assert context_recall(arrivals(gold, relevant)) == context_recall(arrivals(gold, relevant + padding)) == 1.0


# Laws.

INK = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
DOCUMENTS = st.sampled_from(["a", "b"])
PASSAGES = st.lists(st.builds(lambda ink, document: passage(ink, document=document), INK, DOCUMENTS), max_size=8)
SPANS = st.builds(lambda ink, document: span(ink[0], ink[1], document), INK, DOCUMENTS)
GOLD = st.lists(
    st.lists(st.one_of(SPANS, DOCUMENTS.map(page)), min_size=1, max_size=3).map(lambda places: entry(*places)),
    min_size=1,
    max_size=4,
)
SPAN_GOLD = st.lists(SPANS.map(entry), min_size=1, max_size=4)


@given(GOLD, PASSAGES, st.randoms(use_true_random=False))
def test_the_order_of_a_context_changes_nothing(
    gold: list[ResolvedGold], passages: list[PassagePlace], random: Random
) -> None:
    shuffled = random.sample(passages, len(passages))
    assert arrivals(gold, shuffled) == arrivals(gold, passages)


@given(GOLD, PASSAGES.filter(bool), st.data())
def test_splitting_a_passage_leaves_context_recall_unchanged(
    gold: list[ResolvedGold], passages: list[PassagePlace], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(passages) - 1))
    whole = passages[at]
    border = data.draw(st.integers(whole.ink[0].start, whole.ink[0].end))
    halves = [
        passage((whole.ink[0].start, border), document=whole.document_id),
        passage((border, whole.ink[0].end), document=whole.document_id),
    ]
    split = [*passages[:at], *halves, *passages[at + 1 :]]
    assert arrivals(gold, split) == arrivals(gold, passages)


@given(GOLD, PASSAGES.filter(bool), st.data())
def test_a_duplicate_is_credited_once(
    gold: list[ResolvedGold], passages: list[PassagePlace], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(passages) - 1))
    again = data.draw(st.integers(first + 1, len(passages)))
    doubled = [*passages[:again], passages[first], *passages[again:]]
    k = len(passages)
    before = precision_at_k(completion_ranks(gold, passages), k=k)
    after = precision_at_k(completion_ranks(gold, doubled), k=k + 1)
    assert before is not None
    assert after is not None
    assert after * (k + 1) == pytest.approx(before * k)


@given(GOLD, PASSAGES, SPANS)
def test_an_alternative_never_lowers(
    gold: list[ResolvedGold], passages: list[PassagePlace], alternative: ResolvedPlace
) -> None:
    richer = [entry(*one.places, alternative) for one in gold]
    for before, after in zip(completion_ranks(gold, passages), completion_ranks(richer, passages), strict=True):
        assert before is None or (after is not None and after <= before)


@given(SPAN_GOLD, PASSAGES, st.integers(1, 8))
def test_span_coverage_is_never_below_recall(gold: list[ResolvedGold], passages: list[PassagePlace], k: int) -> None:
    coverage = span_coverage_at_k(gold, passages, k=k)
    recall = recall_at_k(completion_ranks(gold, passages), k=k)
    assert coverage is not None
    assert recall is not None
    assert recall <= coverage <= 1
    assert (coverage == 1) == (recall == 1)


@given(GOLD, PASSAGES, st.lists(st.integers(1, 8), max_size=4))
def test_coverage_at_k_is_that_of_the_first_k_passages(
    gold: list[ResolvedGold], passages: list[PassagePlace], ks: list[int]
) -> None:
    cut = [span_coverage_at_k(gold, passages[:k], k=8) for k in ks]
    assert span_coverages(gold, passages, ks=ks) == cut


@given(GOLD, PASSAGES, st.integers(1, 60), st.integers(0, 60))
def test_recall_at_tokens_never_falls_as_the_budget_grows(
    gold: list[ResolvedGold], passages: list[PassagePlace], budget: int, more: int
) -> None:
    small, large = (recall_within(gold, passages, size) for size in (budget, budget + more))
    assert small <= large <= (context_recall(arrivals(gold, passages)) or 0.0)


def recall_within(gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace], budget: int) -> float:
    """Count one token a character, so that the crossing passage keeps as much ink as tokens are left."""
    crossing = find_crossing([one.ink[0].end - one.ink[0].start for one in passages], budget=budget)
    recall = recall_at_tokens(gold, passages, crossing=crossing, ink_kept=crossing.tokens_left if crossing else 0)
    assert recall is not None
    return recall


@given(st.lists(st.sampled_from(["ab", "c", "def"]), min_size=4, max_size=9), st.data())
def test_white_space_never_decides(words: list[str], data: st.DataObject) -> None:
    """Two copies of a text with other space, cut at the same words, the space at the cuts dropped or kept."""
    first, last = sorted(data.draw(st.lists(st.integers(0, len(words)), min_size=2, max_size=2, unique=True)))
    cut = data.draw(st.integers(1, len(words) - 1))
    answers = []
    for _ in range(2):
        gaps = [data.draw(st.sampled_from([" ", "\n\n", " \t "])) for _ in words]
        text = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        starts = [len("".join(w + g for w, g in zip(words[:n], gaps[:n], strict=True))) for n in range(len(words) + 1)]
        quote = text[starts[first] : starts[last]].rstrip()
        gold = span(ink(text[: starts[first]]), ink(text[: starts[first]]) + ink(quote))
        head = text[: starts[cut]] if data.draw(st.booleans()) else text[: starts[cut]].rstrip()
        passages = [passage((0, ink(head))), passage((ink(text[: starts[cut]]), ink(text)))]
        answers.append(completion_ranks([entry(gold)], passages))
    assert answers[0] == answers[1]
    assert answers[0] == [1 if last <= cut else 2]


def ink(text: str) -> int:
    return sum(not character.isspace() for character in text)
