"""The evidence axis: did the evidence reach the writer, and did the answer use it? Source: METRICS.md §6."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.gold import GoldRule, ResolvedGold
from tasks.metrics.evidence import PassagePlace, arrivals, can_match, is_page_level, overlaps


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """What one context holds of some gold.

    Attributes:
        arrived: The gold is in the context, as its rule asks; None when there is no gold to ask of.
        partial: At least some ink of the gold, or one of its entries, is in the context.
        used: A quote that supports a claim overlaps the gold; None when there is no gold.
        page_level: It rests on document gold, which shows only that the page arrived.
    """

    arrived: bool | None = None
    partial: bool = False
    used: bool | None = None
    page_level: bool = False


def weigh_arrival(
    gold: Sequence[ResolvedGold],
    *,
    rule: GoldRule,
    context: Sequence[PassagePlace],
    quotes: Sequence[PassagePlace],
) -> Arrival:
    """Ask of some gold whether it arrived and was used.

    Args:
        gold: Entries of a point or of a question; empty, or ids that no passage could carry, give an arrival with
            nothing known.
        rule: Whether all entries are needed.
        context: The passages the writer was given.
        quotes: Places of the verified quotes of SUPPORTED claims.

    >>> weigh_arrival([], rule="all", context=[], quotes=[]).arrived is None
    True
    """
    if not gold or not can_match(gold, context):
        return Arrival()
    complete = arrivals(gold, context)
    by_page = [is_page_level(entry, context) for entry in gold]
    # Where any entry suffices, one that arrived to the letter shows more than the pages beside it.
    exact = rule == "any" and any(came and not page for came, page in zip(complete, by_page, strict=True))
    return Arrival(
        arrived=all(complete) if rule == "all" else any(complete),
        partial=overlaps(gold, context),
        used=overlaps(gold, quotes),
        page_level=any(by_page) and not exact,
    )


def weigh_point(
    own_gold: Sequence[ResolvedGold],
    *,
    question_gold: Sequence[ResolvedGold],
    question_rule: GoldRule,
    context: Sequence[PassagePlace],
    quotes: Sequence[PassagePlace],
) -> Arrival:
    """Ask the same of a key point: all of its own gold, or without any the question's gold by its rule.

    Args:
        own_gold: The point's entries; they are jointly required.
        question_gold: The question's entries.
        question_rule: The question's gold rule, which is not applied to the point's own gold.
        context: The passages the writer was given.
        quotes: Places of the verified quotes of SUPPORTED claims.

    >>> from schemas.gold import ResolvedPlace
    >>> page = ResolvedGold(places=(ResolvedPlace(kind="document", target_id="a"),))
    >>> weigh_point([], question_gold=[page], question_rule="any", context=[PassagePlace("a")], quotes=[])
    Arrival(arrived=True, partial=True, used=False, page_level=True)
    """
    if own_gold:
        return weigh_arrival(own_gold, rule="all", context=context, quotes=quotes)
    return weigh_arrival(question_gold, rule=question_rule, context=context, quotes=quotes)


def join_arrivals(parts: Sequence[Arrival]) -> Arrival:
    """Put the failed points together: arrived only when each point's gold is.

    One point whose gold is not there settles it; otherwise a point without gold leaves it unknown.

    >>> join_arrivals([Arrival(arrived=True), Arrival()]).arrived is None
    True
    >>> join_arrivals([Arrival(arrived=False), Arrival()]).arrived
    False
    """
    known = [part.arrived for part in parts if part.arrived is not None]
    used = [part.used for part in parts if part.used is not None]
    settled = bool(known) and (len(known) == len(parts) or not all(known))
    return Arrival(
        arrived=all(known) if settled else None,
        partial=any(part.partial for part in parts),
        used=any(used) if used else None,
        page_level=any(part.page_level for part in parts),
    )
