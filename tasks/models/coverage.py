"""How far passages cover a claim: the measurements on which the offline judge decides."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.models.content import Content, Place, content_of, find_places, read_tokens
from tasks.models.contradiction import holds, is_denial, is_other_number, opposed_words
from tasks.models.lexicon import LIGHT_STEMS
from tasks.models.names import Names
from tasks.text.quantities import Number, claimed_numbers, numbers

# How much less the commonest word of the passages weighs than one that they do not hold.
_RARITY: Final = 0.5
_LIGHT_WEIGHT: Final = 0.5
# Words are alike that share this much of the longer one from the start: inflections no English stem shows.
_ALIKE: Final = 0.75
_ALIKE_CREDIT: Final = 0.7
_SHORTEST_ROOT: Final = 4
_CANDIDATES: Final = 12
_LOST_NUMBER: Final = 0.1
# How much of the rest of a claim the main statement holds when they speak of the same thing.
_SAME_SUBJECT: Final = 0.7
_SAME_SENTENCE: Final = 0.9
_SAME_BUT_SUBJECT: Final = 0.99
_LEAST_WORDS: Final = 2
_MOST_MORE_WORDS: Final = 3
_SECOND_STATEMENT: Final = 0.02


class Match(NamedTuple):
    """One claim held against the passages. Shares are 0-1 of the claim's weighted words.

    Attributes:
        whole: Share that stands anywhere in the passages.
        window: Share that stands in the best window: a statement, or two neighbours.
        places: The window's statements.
        number_lost: Whether a number of the claim is missing from the window, or counts something else there.
        number_nowhere: Whether one is missing from all passages.
        swapped: Whether the main statement says it of another name than the claim does.
        denial: Whether one of claim and main statement denies what the other says.
        opposite: Whether the window says the opposite of a word of the claim.
        contradicted: Whether the main statement says the same of the same with another number, or denied.
        extra: A statement for each number that stands only outside the window.
    """

    whole: float
    window: float
    places: tuple[Place, ...]
    number_lost: bool
    number_nowhere: bool
    swapped: bool
    denial: bool
    opposite: bool
    contradicted: bool
    extra: tuple[Place, ...]


class _Claim(NamedTuple):
    """A claim read: its words with their weights, and for each place the words it holds with their credit."""

    content: Content
    numbers: Sequence[Number]
    weights: dict[str, float]
    held: dict[int, dict[str, float]]
    singles: dict[int, float]
    whole: float

    def share(self, held: dict[str, float]) -> float:
        total = sum(self.weights.values())
        return sum(self.weights[word] * credit for word, credit in held.items()) / total if total else 0.0

    def share_without(self, held: dict[str, float], left_out: frozenset[str]) -> float:
        """The share of all other words; 0 when they are too few to tell what is spoken of."""
        kept = {word: weight for word, weight in self.weights.items() if word not in left_out}
        if len(kept) < _LEAST_WORDS:
            return 0.0
        return self._replace(weights=kept).share({word: held[word] for word in kept if word in held})


class Context:
    """The statements of a request's passages, read once for all its claims."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._places = [place for number, text in enumerate(passages) for place in find_places(number, text)]
        self._postings: dict[str, list[int]] = {}
        seen: set[tuple[int | str, ...]] = set()
        for at, place in enumerate(self._places):
            beside = self._beside(at)
            surroundings: tuple[int | str, ...] = (at - beside.start, *(self._places[near].text for near in beside))
            if surroundings in seen:
                continue  # overlapping passages and long tables repeat: the first one stands for all
            seen.add(surroundings)
            for word in place.stems:
                self._postings.setdefault(word, []).append(at)
        self._names = Names([place.content for place in self._places])
        self._numbers = [number for place in self._places for number in place.content.numbers]

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted(self._postings)

    def match(self, claim: str) -> Match:
        """Hold a claim, one sentence, against the passages.

        >>> match = Context(["Logs are kept for 3 days."]).match("Logs are kept for 5 days.")
        >>> match.number_lost, match.contradicted
        (True, True)
        """
        read = self._read(claim)
        window = self._window(read)
        places = tuple(self._places[at] for at in window)
        main = self._main(read, window)
        lost = self._lost(read, window)
        nowhere = [number for number in lost if not any(number.same(other) for other in self._numbers)]
        return Match(
            whole=read.whole,
            window=self._share(read, window),
            places=places,
            number_lost=bool(lost),
            number_nowhere=bool(nowhere),
            swapped=main is not None and self._is_swapped(read, main),
            denial=main is not None and is_denial(read.content, self._places[main].content),
            opposite=bool(opposed_words(read.content, places)),
            contradicted=main is not None and self._is_contradicted(read, main, lost),
            extra=() if nowhere else tuple(self._places[self._best_with(read, number)] for number in lost),
        )

    def _read(self, claim: str) -> _Claim:
        stated = claimed_numbers(claim)
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
        read = _Claim(content, stated, {word: self._weight(word) for word in stems}, held, {}, 0.0)
        singles = {at: read.share(words) for at, words in held.items()}
        return read._replace(singles=singles, whole=read.share(best))

    def _weight(self, word: str) -> float:
        share = math.log1p(len(self._postings.get(word, ()))) / math.log(2 + len(self._places))
        return (_LIGHT_WEIGHT if word in LIGHT_STEMS else 1.0) * (1 - _RARITY * share)

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

    def _share(self, read: _Claim, window: Sequence[int]) -> float:
        held: dict[str, float] = {}
        for at in window:
            _merge(held, read.held.get(at, {}))
        for number in self._lost(read, window):
            held.pop(f"#{number.readings[0]}", None)
        return read.share(held)

    def _window(self, read: _Claim) -> tuple[int, ...]:
        """Choose the best window around the best statements; ties go by text, not by the passages' order."""
        ranked = sorted(read.singles.values(), reverse=True)
        least = ranked[min(_CANDIDATES, len(ranked)) - 1] if ranked else 0.0
        best: tuple[int, ...] = ()
        best_rank: tuple[float, float, list[str]] | None = None
        for at in (at for at, single in read.singles.items() if single >= least):
            beside = self._beside(at)
            for window in ((at,), *pairwise(beside)):
                worth = self._share(read, window) - _LOST_NUMBER * bool(self._lost(read, window))
                rank = (
                    -worth + _SECOND_STATEMENT * (len(window) - 1),
                    -read.singles[at],
                    [self._places[number].text for number in window],
                )
                if best_rank is None or rank < best_rank:
                    best, best_rank = window, rank
        return best

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
        main = self._main(read, window) if read.numbers else None
        if main is None:
            return list(read.numbers)
        place, places = self._places[main], [self._places[at] for at in window]
        return [
            number
            for number in read.numbers
            if not holds([place], number)
            and (not holds(places, number) or is_other_number(number, read.numbers, place))
        ]

    def _best_with(self, read: _Claim, number: Number) -> int:
        holders = [at for at, place in enumerate(self._places) if any(number.same(o) for o in place.content.numbers)]
        return min(holders, key=lambda at: (-read.singles.get(at, 0.0), self._places[at].text))

    def _is_swapped(self, read: _Claim, main: int) -> bool:
        held = read.held.get(main, {})
        swap = self._names.swap(read.content, held, self._places[main])
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
            return same_subject and all(is_other_number(number, read.numbers, place) for number in lost)
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
