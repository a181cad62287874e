"""When the evidence is there: gold entries against an ordered list of passages.

Everything is counted in ink, the non-space characters of a document, so that white space never decides
whether a span was retrieved. Source: METRICS.md §2.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from schemas.gold import ResolvedGold, ResolvedPlace
from schemas.passage import Passage
from tasks.metrics.ranking import context_recall


class InkRange(NamedTuple):
    """Non-space characters `start` to `end` (exclusive) of a document."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Where a passage, or a quote of one, stands.

    Attributes:
        document_id: None when unknown; such a passage completes only foreign gold.
        ink: Its stretches of the document, in the passage's order; empty when unknown, and then it completes
            document and foreign gold but no span.
        foreign_id: The id under which somebody else's index knows it.
    """

    document_id: str | None
    ink: tuple[InkRange, ...] = ()
    foreign_id: str | None = None

    @classmethod
    def of(cls, passage: Passage) -> Self:
        """Take the place of a recorded passage.

        >>> page = Passage(document_id="a.md", document_key=None, ranges=(), n_tokens=3, text_digest="")
        >>> PassagePlace.of(page)
        PassagePlace(document_id='a.md', ink=(), foreign_id=None)
        """
        ink = tuple(InkRange(part.ink_start, part.ink_end) for part in passage.ranges)
        return cls(passage.document_id, ink, passage.foreign_id)


class Crossing(NamedTuple):
    """The passage that crosses a token budget: its position from 0, and how many of its tokens still fit."""

    position: int
    tokens_left: int


@dataclass(slots=True)
class _Seen:
    """An ordered list of passages, looked up by document and by foreign id; ranks count from 1."""

    by_document: dict[str, list[tuple[int, tuple[InkRange, ...]]]] = field(default_factory=dict)
    by_foreign_id: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, passages: Sequence[PassagePlace]) -> Self:
        seen = cls()
        for rank, passage in enumerate(passages, start=1):
            if passage.document_id is not None:
                seen.by_document.setdefault(passage.document_id, []).append((rank, passage.ink))
            if passage.foreign_id is not None:
                seen.by_foreign_id.setdefault(passage.foreign_id, rank)
        return seen


def completion_ranks(gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace]) -> list[int | None]:
    """Find the rank at which the first passages together complete each gold entry.

    A span is complete when all its ink is covered, by one passage or by several together; a document when a
    passage comes from it; a foreign passage when its id is there. An entry with alternatives is complete when
    any one of its places is.

    Returns:
        One rank per entry, in the order of `gold`, from 1; None where the list never completes it. Every
        measure of `tasks.metrics.ranking` is arithmetic on this list.

    Raises:
        ValueError: A gold span holds no ink.

    >>> span = ResolvedPlace(kind="span", target_id="a", start=2, end=9, ink_start=2, ink_end=8)
    >>> head, tail = PassagePlace("a", (InkRange(0, 5),)), PassagePlace("a", (InkRange(5, 9),))
    >>> completion_ranks([ResolvedGold(places=(span,))], [head, PassagePlace("b"), tail])
    [3]
    """
    seen = _Seen.of(passages)
    return [_entry_rank(entry.places, seen) for entry in gold]


def can_match(gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace]) -> bool:
    """Say whether these passages could complete any of the gold: foreign ids match only lists that carry such ids.

    A list without a passage could: nothing was retrieved. Of no gold there is nothing to ask.

    >>> foreign = ResolvedGold(places=(ResolvedPlace(kind="passage", target_id="c7"),))
    >>> can_match([foreign], [PassagePlace("a")]), can_match([foreign], [PassagePlace("a", (), "c8")])
    (False, True)
    """
    if not gold or not passages or any(place.kind != "passage" for entry in gold for place in entry.places):
        return True
    return any(passage.foreign_id is not None for passage in passages)


def arrivals(gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace]) -> list[bool]:
    """Say of each gold entry whether the passages together complete it, whatever their order.

    >>> page = ResolvedPlace(kind="document", target_id="a")
    >>> arrivals([ResolvedGold(places=(page,))], [PassagePlace("b"), PassagePlace("a")])
    [True]
    """
    return [rank is not None for rank in completion_ranks(gold, passages)]


def span_coverage_at_k(gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace], *, k: int) -> float | None:
    """Mean, over the entries with a span, of the share of its ink that the first k passages cover.

    An entry counts with the best of its places; a document or foreign alternative that arrived counts 1.
    Where all gold is spans it is never below recall@k.

    Returns:
        0-1; None when no entry has a span.

    Raises:
        ValueError: k is below 1, or a gold span holds no ink.

    >>> span = ResolvedPlace(kind="span", target_id="a", start=0, end=8, ink_start=0, ink_end=8)
    >>> span_coverage_at_k([ResolvedGold(places=(span,))], [PassagePlace("a", (InkRange(0, 6),))], k=1)
    0.75
    """
    return span_coverages(gold, passages, ks=(k,))[0]


def span_coverages(
    gold: Sequence[ResolvedGold], passages: Sequence[PassagePlace], *, ks: Sequence[int]
) -> list[float | None]:
    """The same for several k, with the passages looked through once.

    Raises:
        ValueError: A k is below 1, or a gold span holds no ink.

    >>> span = ResolvedPlace(kind="span", target_id="a", start=0, end=8, ink_start=0, ink_end=8)
    >>> halves = [PassagePlace("a", (InkRange(0, 4),)), PassagePlace("a", (InkRange(4, 9),))]
    >>> span_coverages([ResolvedGold(places=(span,))], halves, ks=(1, 2))
    [0.5, 1.0]
    """
    if min(ks, default=1) < 1:
        msg = f"k counts passages from 1, got {min(ks)}"
        raise ValueError(msg)
    seen = _Seen.of(passages)
    spans = [entry.places for entry in gold if has_span([entry])]
    if not spans:
        return [None] * len(ks)
    return [sum(max(_place_share(place, seen, k) for place in places) for places in spans) / len(spans) for k in ks]


def has_span(gold: Sequence[ResolvedGold]) -> bool:
    """Say whether any place of the gold is a span; ndcg@k then does not apply.

    >>> has_span([ResolvedGold(places=(ResolvedPlace(kind="document", target_id="a"),))])
    False
    """
    return any(place.kind == "span" for entry in gold for place in entry.places)


def overlaps(gold: Sequence[ResolvedGold], quotes: Sequence[PassagePlace]) -> bool:
    """Say whether any quote shares ink with any place of the gold.

    Of a document every quote from it overlaps, of a foreign passage every quote of that passage: page-level
    gold can show no more. A quote that merely touches a span's border does not overlap it.

    Raises:
        ValueError: A gold span holds no ink.

    >>> span = ResolvedPlace(kind="span", target_id="a", start=0, end=8, ink_start=0, ink_end=8)
    >>> quotes = [PassagePlace("a", (InkRange(start, 20),)) for start in (7, 8)]
    >>> [overlaps([ResolvedGold(places=(span,))], [quote]) for quote in quotes]
    [True, False]
    """
    seen = _Seen.of(quotes)
    return any(_place_share(place, seen) > 0 for entry in gold for place in entry.places)


def is_page_level(entry: ResolvedGold, passages: Sequence[PassagePlace]) -> bool:
    """Say whether an entry's arrival, or absence, is known by whole document only.

    >>> page = ResolvedPlace(kind="document", target_id="a")
    >>> is_page_level(ResolvedGold(places=(page,)), [])
    True
    """
    exact = [place for place in entry.places if place.kind != "document"]
    return len(exact) < len(entry.places) and _entry_rank(exact, _Seen.of(passages)) is None


def find_crossing(n_tokens: Sequence[int], *, budget: int) -> Crossing | None:
    """Find the passage inside which a ranking is cut at a budget of tokens.

    Args:
        n_tokens: Tokens of each passage, in rank order.
        budget: The 2,000 of `recall@2000t`.

    Returns:
        None when the whole ranking fits. `tokens_left` is 0 when the budget ends exactly between passages.

    Raises:
        ValueError: The budget is below 1.

    >>> find_crossing([800, 800, 800], budget=2000)
    Crossing(position=2, tokens_left=400)
    """
    if budget < 1:
        msg = f"a token budget is at least 1, got {budget}"
        raise ValueError(msg)
    left = budget
    for position, tokens in enumerate(n_tokens):
        if tokens > left:
            return Crossing(position, left)
        left -= tokens
    return None


def cut_ranking(passages: Sequence[PassagePlace], crossing: Crossing | None, *, ink_kept: int) -> list[PassagePlace]:
    """Cut a ranking inside the passage that crosses the budget.

    Args:
        passages: The ranking.
        crossing: From `find_crossing`; None keeps all.
        ink_kept: Non-space characters of the crossing passage before the cut; only the caller has its text.

    Returns:
        The passages before the crossing one, then its head if at least one token of it fits. The head still
        comes from its document but no longer is the foreign passage, which is gold only as a whole.

    >>> cut_ranking([PassagePlace("a", (InkRange(10, 90),), "p7")], Crossing(0, 5), ink_kept=20)
    [PassagePlace(document_id='a', ink=(InkRange(start=10, end=30),), foreign_id=None)]
    """
    if crossing is None:
        return list(passages)
    whole = list(passages[: crossing.position])
    if crossing.tokens_left == 0:
        return whole
    crossed = passages[crossing.position]
    return [*whole, PassagePlace(crossed.document_id, _head(crossed.ink, ink_kept))]


def recall_at_tokens(
    gold: Sequence[ResolvedGold],
    passages: Sequence[PassagePlace],
    *,
    crossing: Crossing | None,
    ink_kept: int,
) -> float | None:
    """Share of the gold entries that a ranking completes within a token budget, as `recall@2000t`.

    Args:
        gold: The question's entries.
        passages: The ranking.
        crossing: From `find_crossing` at that budget.
        ink_kept: Non-space characters of the crossing passage before the cut.

    Returns:
        0-1, and 0 for an empty ranking; None without gold.

    Raises:
        ValueError: A gold span holds no ink.

    >>> span = ResolvedPlace(kind="span", target_id="a", start=0, end=8, ink_start=0, ink_end=8)
    >>> gold, ranking = [ResolvedGold(places=(span,))], [PassagePlace("a", (InkRange(0, 40),))]
    >>> [recall_at_tokens(gold, ranking, crossing=Crossing(0, 2), ink_kept=kept) for kept in (7, 8)]
    [0.0, 1.0]
    """
    return context_recall(arrivals(gold, cut_ranking(passages, crossing, ink_kept=ink_kept)))


def _head(ink: Sequence[InkRange], ink_kept: int) -> tuple[InkRange, ...]:
    kept: list[InkRange] = []
    for part in ink:
        length = min(part.end - part.start, ink_kept)
        if length <= 0:
            break
        kept.append(InkRange(part.start, part.start + length))
        ink_kept -= length
    return tuple(kept)


def _entry_rank(places: Sequence[ResolvedPlace], seen: _Seen) -> int | None:
    ranks = [rank for place in places if (rank := _place_rank(place, seen)) is not None]
    return min(ranks, default=None)


def _place_rank(place: ResolvedPlace, seen: _Seen) -> int | None:
    if place.kind == "passage":
        return seen.by_foreign_id.get(place.target_id)
    standing = seen.by_document.get(place.target_id, ())
    if place.kind == "document":
        return standing[0][0] if standing else None
    gaps = [_span(place)]
    for rank, ink in standing:
        gaps = _uncovered(gaps, ink)
        if not gaps:
            return rank
    return None


def _place_share(place: ResolvedPlace, seen: _Seen, k: int = sys.maxsize) -> float:
    if place.kind != "span":
        rank = _place_rank(place, seen)
        return 1.0 if rank is not None and rank <= k else 0.0
    span = _span(place)
    gaps = [span]
    for rank, ink in seen.by_document.get(place.target_id, ()):
        if rank > k:
            break
        gaps = _uncovered(gaps, ink)
    n_ink = span.end - span.start
    return (n_ink - sum(gap.end - gap.start for gap in gaps)) / n_ink


def _span(place: ResolvedPlace) -> InkRange:
    if place.ink_start is None or place.ink_end is None or place.ink_start >= place.ink_end:
        msg = f"a gold span in {place.target_id!r} holds no ink: {place.ink_start} to {place.ink_end}"
        raise ValueError(msg)
    return InkRange(place.ink_start, place.ink_end)


def _uncovered(gaps: list[InkRange], ink: Sequence[InkRange]) -> list[InkRange]:
    for part in ink:
        if all(part.end <= gap.start or gap.end <= part.start for gap in gaps):
            continue
        pieces = (
            piece
            for gap in gaps
            for piece in (
                InkRange(gap.start, min(gap.end, part.start)),
                InkRange(max(gap.start, part.end), gap.end),
            )
        )
        gaps = [piece for piece in pieces if piece.start < piece.end]
    return gaps
