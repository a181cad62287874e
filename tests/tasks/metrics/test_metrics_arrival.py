"""The evidence axis: what of a failed point's gold arrived, and whether it was used."""

import pytest

from schemas.gold import GoldRule, ResolvedGold, ResolvedPlace
from tasks.metrics.arrival import Arrival, join_arrivals, weigh_arrival, weigh_point
from tasks.metrics.evidence import InkRange, PassagePlace


def span(start: int, end: int) -> ResolvedGold:
    place = ResolvedPlace(kind="span", target_id="a", start=start, end=end, ink_start=start, ink_end=end)
    return ResolvedGold(places=(place,))


def at(start: int, end: int) -> PassagePlace:
    return PassagePlace("a", (InkRange(start, end),))


PAGE = ResolvedGold(places=(ResolvedPlace(kind="document", target_id="a"),))
ONE, OTHER = span(0, 10), span(50, 60)

WEIGH_CASES: dict[str, tuple[list[ResolvedGold], GoldRule, list[PassagePlace], list[PassagePlace], Arrival]] = {
    "all of two, one there": (
        [ONE, OTHER],
        "all",
        [at(0, 20)],
        [],
        Arrival(arrived=False, partial=True, used=False),
    ),
    "any of two, one there": (
        [ONE, OTHER],
        "any",
        [at(0, 20)],
        [],
        Arrival(arrived=True, partial=True, used=False),
    ),
    "both there, one quoted": (
        [ONE, OTHER],
        "all",
        [at(0, 20), at(40, 70)],
        [at(55, 58)],
        Arrival(arrived=True, partial=True, used=True),
    ),
    "half of the span is part of the evidence": (
        [ONE],
        "all",
        [at(5, 20)],
        [],
        Arrival(arrived=False, partial=True, used=False),
    ),
    "nothing there": (
        [ONE],
        "all",
        [at(20, 30)],
        [at(21, 25)],
        Arrival(arrived=False, partial=False, used=False),
    ),
    "an empty context": ([ONE], "all", [], [], Arrival(arrived=False, partial=False, used=False)),
    "a page, and a quote from it": (
        [PAGE],
        "all",
        [at(20, 30)],
        [at(21, 25)],
        Arrival(arrived=True, partial=True, used=True, page_level=True),
    ),
    "a page that did not arrive is page-level too": (
        [PAGE],
        "all",
        [],
        [],
        Arrival(arrived=False, partial=False, used=False, page_level=True),
    ),
    "any suffices, and the span arrived": (
        [ONE, PAGE],
        "any",
        [at(0, 20)],
        [],
        Arrival(arrived=True, partial=True, used=False),
    ),
    "any suffices, and only a page arrived": (
        [ONE, PAGE],
        "any",
        [at(20, 30)],
        [],
        Arrival(arrived=True, partial=True, used=False, page_level=True),
    ),
    "any suffices, and neither arrived": (
        [ONE, PAGE],
        "any",
        [],
        [],
        Arrival(arrived=False, partial=False, used=False, page_level=True),
    ),
    "no gold": ([], "all", [at(0, 20)], [at(0, 20)], Arrival()),
}


@pytest.mark.parametrize(("gold", "rule", "context", "quotes", "expected"), WEIGH_CASES.values(), ids=WEIGH_CASES)
def test_weigh_arrival(
    *,
    gold: list[ResolvedGold],
    rule: GoldRule,
    context: list[PassagePlace],
    quotes: list[PassagePlace],
    expected: Arrival,
) -> None:
    assert weigh_arrival(gold, rule=rule, context=context, quotes=quotes) == expected


def weigh(own: list[ResolvedGold], question: list[ResolvedGold], rule: GoldRule) -> Arrival:
    return weigh_point(own, question_gold=question, question_rule=rule, context=[at(0, 20)], quotes=[])


def test_a_points_own_gold_is_jointly_required_whatever_the_questions_rule() -> None:
    assert weigh([ONE, OTHER], [], "any").arrived is False


def test_a_point_without_gold_uses_the_questions_gold_and_rule() -> None:
    assert weigh([], [ONE, OTHER], "any").arrived is True
    assert weigh([], [ONE, OTHER], "all").arrived is False
    assert weigh([], [], "all").arrived is None


def test_own_gold_goes_before_the_questions() -> None:
    assert weigh([ONE], [OTHER], "all").arrived is True


JOIN_CASES: dict[str, tuple[list[bool | None], bool | None]] = {
    "each there": ([True, True], True),
    "some but not all is missed": ([True, False], False),
    "none there": ([False, False], False),
    "one absent settles it though another is unknown": ([None, False], False),
    "one unknown leaves it unknown": ([True, None], None),
    "all unknown": ([None, None], None),
    "no points": ([], None),
}


@pytest.mark.parametrize(("parts", "expected"), JOIN_CASES.values(), ids=JOIN_CASES)
def test_join(parts: list[bool | None], *, expected: bool | None) -> None:
    assert join_arrivals([Arrival(arrived=part) for part in parts]).arrived is expected


def test_joined_evidence_is_used_when_any_points_is() -> None:
    parts = [Arrival(arrived=True, used=False), Arrival(arrived=True, used=True, page_level=True)]
    assert join_arrivals(parts) == Arrival(arrived=True, used=True, page_level=True)
