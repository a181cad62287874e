"""How far passages cover a claim: the measurements on which the offline judge decides."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.models.content import Content, Place, content_of, find_places, read_tokens
from tasks.models.contradiction import holds, is_denial, is_other_number, opposed_words
from tasks.models.lexicon import LIGHT_STEMS, WEAK_STEMS
from tasks.models.names import Names
from tasks.text.quantities import Number, claimed_numbers, numbers

# Round values from the flat top of a search over the tuning splits of six sources of labelled claims.
_WHOLE: Final = 0.5
_LOST_NUMBER: Final = 0.30
_SWAPPED: Final = 0.50
_DENIAL: Final = 0.15
_OPPOSITE: Final = 0.10
# What evidence in several statements costs for each further one: the next one, one of the same passage, any other.
_NEXT: Final = 0.02
_SAME_PASSAGE: Final = 0.08
_OTHER_PASSAGE: Final = 0.16
# How much less the commonest word of the passages weighs than one that they do not hold.
_RARITY: Final = 0.5
_WEAK_WEIGHT: Final = 0.5
# Words are alike that share this much of the longer one from the start: inflections no English stem shows.
_ALIKE: Final = 0.75
_ALIKE_CREDIT: Final = 0.7
_SHORTEST_ROOT: Final = 4
# Windows are made around so many statements, and pairs with so many of them.
_CANDIDATES: Final = 12
_PAIRED: Final = 4
_MOST_FOR_NUMBERS: Final = 3
# How much of the rest of a claim the main statement holds when they speak of the same thing.
_SAME_SUBJECT: Final = 0.7
_SAME_SENTENCE: Final = 0.9
_SAME_BUT_SUBJECT: Final = 0.99
_LEAST_WORDS: Final = 2
_MOST_MORE_WORDS: Final = 3


class Match(NamedTuple):
    """One claim held against a window of the passages. Shares are 0-1 of the claim's weighted words.

    Attributes:
        whole: Share that stands anywhere in the passages.
        window: Share that stands in the window: a statement, two of them, or some more for the claim's numbers.
        places: The window's statements.
        cost: What is taken off for their number and distance.
        number_lost: Whether a number of the claim is missing from the window, or counts something else there.
        number_nowhere: Whether one is missing from all passages.
        swapped: Whether one of its statements says it of another name than the claim does.
        denial: Whether one of claim and main statement denies what the other says.
        opposite: Whether the window says the opposite of a word of the claim.
        contradicted: Whether the main statement says the same of the same with another number, or denied.
        extra: A statement for each number that stands only outside the window.
    """

    whole: float
    window: float
    places: tuple[Place, ...]
    cost: float
    number_lost: bool
    number_nowhere: bool
    swapped: bool
    denial: bool
    opposite: bool
    contradicted: bool
    extra: tuple[Place, ...]

    @property
    def score(self) -> float:
        """Half what the passages hold and half what the window holds, less what speaks against it; at most 1."""
        against = (
            _LOST_NUMBER * self.number_lost
            + _SWAPPED * self.swapped
            + _DENIAL * self.denial
            + _OPPOSITE * self.opposite
        )
        return _WHOLE * self.whole + (1 - _WHOLE) * self.window - self.cost - against


class _Claim(NamedTuple):
    """A claim read: its words with their weights, and for each place the words it holds with their credit.

    `stated` gives for each number of the claim the places that have it, `counted` those where it counts the same.
    """

    content: Content
    stated: dict[Number, frozenset[int]]
    counted: dict[Number, frozenset[int]]
    weights: dict[str, float]
    total: float
    held: dict[int, dict[str, float]]
    singles: dict[int, float]
    whole: float

    def share(self, held: dict[str, float]) -> float:
        return sum(self.weights[word] * credit for word, credit in held.items()) / self.total if self.total else 0.0

    def share_without(self, held: dict[str, float], left_out: frozenset[str]) -> float:
        """The share of all other words; 0 when they are too few to tell what is spoken of."""
        kept = {word: weight for word, weight in self.weights.items() if word not in left_out}
        if len(kept) < _LEAST_WORDS:
            return 0.0
        return sum(weight * held.get(word, 0.0) for word, weight in kept.items()) / sum(kept.values())


class Context:
    """The statements of a request's passages, read once for all its claims."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._places = [place for number, text in enumerate(passages) for place in find_places(number, text)]
        self._postings: dict[str, list[int]] = {}
        # Ties go by text, not by the passages' order.
        self._order: dict[int, tuple[str, tuple[int | str, ...]]] = {}
        seen: set[tuple[int | str, ...]] = set()
        for at, place in enumerate(self._places):
            beside = self._beside(at)
            surroundings: tuple[int | str, ...] = (at - beside.start, *(self._places[near].text for near in beside))
            if surroundings in seen:
                continue  # overlapping passages and long tables repeat: the first one stands for all
            seen.add(surroundings)
            self._order[at] = (place.text, surroundings)
            for word in place.stems:
                self._postings.setdefault(word, []).append(at)
        self._names = Names([place.content for place in self._places])
        self._readings: dict[str, set[int]] = {}
        for at, place in enumerate(self._places):
            for reading in (reading for number in place.content.numbers for reading in number.readings):
                self._readings.setdefault(reading, set()).add(at)

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted(self._postings)

    def match(self, claim: str, *, enough: float) -> Match:
        """Hold a claim, one sentence, against the passages.

        Args:
            claim: The claim.
            enough: The score at which a window supports a claim.

        Returns:
            The window that scores best. But where the nearest statement contradicts the claim, that one, unless
            the claim is supported by another single statement that holds as much of it, or by the nearest one and
            others: words gathered from here and there do not outweigh it.

        >>> match = Context(["Logs are kept for 3 days."]).match("Logs are kept for 5 days.", enough=0.5)
        >>> match.number_lost, match.contradicted
        (True, True)
        """
        read = self._read(claim)
        windows = self._windows(read)
        best = self._hold(read, windows[0][1] if windows else ())
        for most, window in windows[1:]:
            if most <= best.score:
                break
            held = self._hold(read, window)
            best = held if held.score > best.score else best
        nearest = self._hold(read, self._nearest(read))
        single = len(best.places) == 1 and best.window >= nearest.window
        outweighed = best.score >= enough and (single or nearest.places[0] in best.places)
        return nearest if nearest.contradicted and not outweighed else best

    def _nearest(self, read: _Claim) -> tuple[int, ...]:
        main = self._main(read, list(read.singles))
        return () if main is None else (main,)

    def _hold(self, read: _Claim, window: tuple[int, ...]) -> Match:
        places = tuple(self._places[at] for at in window)
        main = self._main(read, window)
        lost = self._lost(read, window)
        nowhere = [number for number in lost if not read.stated[number]]
        return Match(
            whole=read.whole,
            window=self._share(read, window, lost),
            places=places,
            cost=self._cost(window),
            number_lost=bool(lost),
            number_nowhere=bool(nowhere),
            swapped=any(self._is_swapped(read, at) for at in window),
            denial=main is not None and is_denial(read.content, self._places[main].content),
            opposite=bool(opposed_words(read.content, places)),
            contradicted=main is not None and self._is_contradicted(read, main, lost),
            extra=() if nowhere else tuple(self._places[self._best_with(read, number)] for number in lost),
        )

    def _read(self, claim: str) -> _Claim:
        stated = {number: self._having(number) for number in claimed_numbers(claim)}
        counted = {
            number: frozenset(at for at in places if holds(self._places[at], number))
            for number, places in stated.items()
        }
        tokens = read_tokens(claim, numbers(claim))
        content = content_of([tokens], claim)
        stems = sorted(content.stems or {token.stem for token in tokens})
        light = {word: 1.0 for word in stems if word in LIGHT_STEMS}
        best: dict[str, float] = {}
        held: dict[int, dict[str, float]] = {}
        for word in stems:
            others, credit = self._alike(word)
            if others:
                best[word] = credit
            for other in others:
                for at in self._postings[other]:
                    held.setdefault(at, {})[word] = credit
        for at, words in held.items():
            if self._places[at].content.is_answer:
                words.update(light)
                best.update(light)
        weights = {word: self._weight(word) for word in stems}
        read = _Claim(content, stated, counted, weights, sum(weights.values()), held, {}, 0.0)
        singles = {at: read.share(words) for at, words in held.items()}
        return read._replace(singles=singles, whole=read.share(best))

    def _having(self, number: Number) -> frozenset[int]:
        return frozenset[int]().union(*(self._readings.get(reading, ()) for reading in number.readings))

    def _weight(self, word: str) -> float:
        share = math.log1p(len(self._postings.get(word, ()))) / math.log(2 + len(self._places))
        return (_WEAK_WEIGHT if word in WEAK_STEMS else 1.0) * (1 - _RARITY * share)

    def _alike(self, word: str) -> tuple[list[str], float]:
        """The words of the passages that stand for a word, and the credit they give."""
        if word in self._postings:
            return [word], 1.0
        if len(word) < _SHORTEST_ROOT or word.startswith("#"):
            return [], 0.0
        root = word[: max(_SHORTEST_ROOT, math.ceil(_ALIKE * len(word)))]
        near: list[str] = []
        for at in range(bisect_left(self._vocabulary, root), len(self._vocabulary)):
            other = self._vocabulary[at]
            if not other.startswith(root):
                break
            if _n_shared(word, other) >= _ALIKE * max(len(word), len(other)):
                near.append(other)
        return near, _ALIKE_CREDIT

    def _share(self, read: _Claim, window: Sequence[int], lost: Sequence[Number] = ()) -> float:
        if len(window) == 1 and not lost:
            return read.singles.get(window[0], 0.0)
        held: dict[str, float] = {}
        for at in window:
            _merge(held, read.held.get(at, {}))
        for number in lost:
            held.pop(f"#{number.readings[0]}", None)
        return read.share(held)

    def _windows(self, read: _Claim) -> list[tuple[float, tuple[int, ...]]]:
        """All windows worth a look with the most that each can score, best first."""
        ranked = sorted(read.singles, key=lambda at: (-read.singles[at], self._order[at]))[:_CANDIDATES]
        windows: set[tuple[int, ...]] = {(at,) for at in ranked}
        windows.update(pair for at in ranked for pair in pairwise(self._beside(at)))
        windows.update(
            (min(one, other), max(one, other))
            for place, one in enumerate(ranked[:_PAIRED], start=1)
            for other in ranked[place:]
        )
        if read.stated:
            windows.update([self._with_numbers(read, window) for window in windows])
        most = [
            (_WHOLE * read.whole + (1 - _WHOLE) * self._share(read, window) - self._cost(window), window)
            for window in windows
        ]
        return sorted(most, key=lambda one: (-one[0], [self._places[at].text for at in one[1]], one[1]))

    def _with_numbers(self, read: _Claim, window: tuple[int, ...]) -> tuple[int, ...]:
        """The window, and for each number it lacks the best statement of its first passage that has it."""
        passage = self._places[window[0]].passage
        chosen = list(window)
        for holders in read.counted.values():
            if len(chosen) >= len(window) + _MOST_FOR_NUMBERS or not holders.isdisjoint(chosen):
                continue
            near = [at for at in holders if at in read.singles and self._places[at].passage == passage]
            if not near:
                return window
            chosen.append(min(near, key=lambda at: (-read.singles[at], self._order[at])))
        return tuple(sorted(set(chosen)))

    def _cost(self, window: Sequence[int]) -> float:
        return sum(self._step(one, other) for one, other in pairwise(window))

    def _step(self, one: int, other: int) -> float:
        if self._places[one].passage != self._places[other].passage:
            return _OTHER_PASSAGE
        return _NEXT if other - one == 1 else _SAME_PASSAGE

    def _beside(self, at: int) -> range:
        """A place and its neighbours in the same passage."""
        passage = self._places[at].passage
        first = at - (at > 0 and self._places[at - 1].passage == passage)
        last = at + (at + 1 < len(self._places) and self._places[at + 1].passage == passage)
        return range(first, last + 1)

    def _main(self, read: _Claim, window: Sequence[int]) -> int | None:
        return max(window, key=lambda at: (read.singles.get(at, 0.0), self._places[at].text), default=None)

    def _lost(self, read: _Claim, window: Sequence[int]) -> list[Number]:
        """The numbers that are missing, or stand beside a main statement that has others in their place."""
        main = self._main(read, window) if read.stated else None
        if main is None:
            return list(read.stated)
        return [
            number
            for number, holders in read.counted.items()
            if main not in holders
            and (holders.isdisjoint(window) or is_other_number(number, tuple(read.stated), self._places[main]))
        ]

    def _best_with(self, read: _Claim, number: Number) -> int:
        return min(read.stated[number], key=lambda at: (-read.singles.get(at, 0.0), self._places[at].text))

    def _is_swapped(self, read: _Claim, at: int) -> bool:
        held = read.held.get(at, {})
        swap = self._names.swap(read.content, held, self._places[at])
        if swap is None:
            return False
        least = _SAME_BUT_SUBJECT if swap.by_subject else _SAME_SUBJECT
        return read.share_without(held, swap.missing) >= least

    def _is_contradicted(self, read: _Claim, main: int, lost: Sequence[Number]) -> bool:
        place = self._places[main]
        held = read.held.get(main, {})
        if self._names.swap(read.content, held, place):
            return False
        if lost:
            values = frozenset(f"#{number.readings[0]}" for number in lost)
            same_subject = read.share_without(held, values) >= _SAME_SUBJECT
            return same_subject and all(is_other_number(number, tuple(read.stated), place) for number in lost)
        opposed = opposed_words(read.content, [place])
        if opposed:
            return read.share_without(held, opposed) >= _SAME_SENTENCE
        same_sentence = len(place.content.stems - read.content.stems) <= _MOST_MORE_WORDS
        denied = same_sentence and is_denial(read.content, place.content)
        return denied and read.share_without(held, frozenset()) >= _SAME_SENTENCE


def _merge(into: dict[str, float], held: dict[str, float]) -> None:
    for word, credit in held.items():
        if into.get(word, 0.0) < credit:
            into[word] = credit


def _n_shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
