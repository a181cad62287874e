"""The offline writer: answers with the passages' own sentences that best match the question. For wiring and demos."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal, NamedTuple

from schemas.seats import Draft, Failure, Given, WriteRequest
from schemas.setup import OfflineWriterSettings
from schemas.state import State
from tasks.models.lexicon import STOP_STEMS
from tasks.text.blocks import Block, cells, find_blocks
from tasks.text.sentences import find_sentences
from tasks.text.words import stems

ABSTENTION: Final = "The documentation I was given does not say."

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
# A heading or an introducing line says what a sentence under it is about, but the sentence does not say it.
_TOPIC_SHARE: Final = 0.5
# A further sentence has to add this share of the first one's match, or it is padding.
_LEAST_GAIN: Final = 0.4
# Another passage that shares a few words with the question is padding more often than an answer.
_ELSEWHERE: Final = 0.65
# Of two equal matches the better ranked passage wins; a much better match further down still wins.
_RANK_DISCOUNT: Final = 0.03
_LONG_WORDS: Final = 60


class _Unit(NamedTuple):
    """A sentence, list item, table row or code block of a passage, as it would stand in an answer."""

    passage: int
    position: int
    kind: Literal["sentence", "item", "row", "code"]
    text: str
    intro: str
    words: frozenset[str]
    topic: frozenset[str]


class OfflineWriter:
    """Extracts an answer: no key, no network, deterministic.

    Args:
        settings: How many sentences and passages, and when it abstains.
    """

    def __init__(self, settings: OfflineWriterSettings) -> None:
        self._settings = settings

    def write(self, requests: Sequence[WriteRequest]) -> Iterator[Given[Draft]]:
        """Answer each request, in order."""
        for position, request in enumerate(requests):
            try:
                yield Given(position, Draft(text=self._answer(request)))
            except Exception as error:  # noqa: BLE001 - one request's bug must not cost the others
                failure = Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error))
                yield Given(position, failure)

    def _answer(self, request: WriteRequest) -> str:
        units = [
            unit
            for number, passage in enumerate(request.passages[: self._settings.passages], start=1)
            for unit in _units(passage, number)
        ]
        if not units:
            return ABSTENTION
        match = _Match(request.question, units)
        chosen = match.choose(self._settings.sentences)
        if match.covered(chosen) < self._settings.abstain_below:
            return ABSTENTION
        return _compose(chosen)


class _Match:
    """How well units answer one question: the share of its content words, weighted by rarity among the units."""

    def __init__(self, question: str, units: Sequence[_Unit]) -> None:
        wanted = dict.fromkeys(word for word in stems(question) if word not in STOP_STEMS) or dict.fromkeys(
            stems(question)
        )
        found = Counter(word for unit in units for word in unit.words | unit.topic)
        self._units = units
        self._weights = {word: math.log1p(len(units) / (1 + found[word])) for word in wanted}
        self._total = sum(self._weights.values()) or 1.0

    def choose(self, most: int) -> list[_Unit]:
        """The best unit, then those that add most of what is still missing."""
        chosen: list[_Unit] = []
        done: set[str] = set()
        first = 0.0
        while len(chosen) < most:
            left = [unit for unit in self._units if unit not in chosen and not self._repeats(unit, chosen)]
            gains = [self._gain(unit, done, chosen) for unit in left]
            best = max(range(len(left)), key=gains.__getitem__, default=None)
            if best is None or (chosen and gains[best] < _LEAST_GAIN * first):
                break
            first = first or gains[best]
            chosen.append(left[best])
            done |= left[best].words | left[best].topic
        return chosen

    def covered(self, chosen: Sequence[_Unit]) -> float:
        """Between 0 and 1: what share of the question the chosen units speak to."""
        said = frozenset[str]().union(*(unit.words for unit in chosen))
        topic = frozenset[str]().union(*(unit.topic for unit in chosen)) - said
        return (self._weigh(said) + _TOPIC_SHARE * self._weigh(topic)) / self._total

    def _gain(self, unit: _Unit, done: set[str], chosen: Sequence[_Unit]) -> float:
        new = self._weigh(unit.words - done) + _TOPIC_SHARE * self._weigh(unit.topic - unit.words - done)
        old = self._weigh(unit.words & done)
        follows = any(unit.passage == one.passage and unit.position == one.position + 1 for one in chosen)
        gain = new + (0.35 if follows else 0.25) * old
        if chosen and all(unit.passage != one.passage for one in chosen):
            gain *= _ELSEWHERE
        length = 1.0 if len(unit.words) <= _LONG_WORDS else _LONG_WORDS / len(unit.words)
        return gain * length * (1 - _RANK_DISCOUNT * (unit.passage - 1))

    def _weigh(self, words: frozenset[str] | set[str]) -> float:
        return sum(weight for word, weight in self._weights.items() if word in words)

    @staticmethod
    def _repeats(unit: _Unit, chosen: Sequence[_Unit]) -> bool:
        return any(unit.words and unit.words <= one.words for one in chosen)


@lru_cache(maxsize=4_096)
def _units(passage: str, number: int) -> tuple[_Unit, ...]:
    """A passage that many questions share is read once."""
    return tuple(_read_units(passage, number))


def _read_units(passage: str, number: int) -> Iterator[_Unit]:
    position = 0
    headings: list[str] = []
    intro = ""
    header: list[str] = []
    for block in find_blocks(passage):
        body = passage[block.body_start : block.body_end]
        if block.kind == "heading":
            headings = [*headings[-2:], body]
            intro = ""
        elif block.kind == "header_row":
            header = _cells(passage, block)
        elif block.kind not in {"layout", "delimiter_row"}:
            kind, texts = _texts(passage, block, header)
            for text in texts:
                topic = frozenset(stems(" ".join((*headings, intro if kind != "sentence" else ""))))
                yield _Unit(number, position, kind, text, intro, frozenset(stems(text)), topic)
                position += 1
            if block.kind == "paragraph":
                intro = texts[-1] if texts and texts[-1].endswith((":", "：")) else ""


def _texts(
    passage: str, block: Block, header: Sequence[str]
) -> tuple[Literal["sentence", "item", "row", "code"], list[str]]:
    body = passage[block.body_start : block.body_end]
    if block.kind == "code":
        return "code", [body.strip("\n")] if body.strip() else []
    if block.kind == "row":
        row = _cells(passage, block)
        if len(row) == len(header):
            return "row", ["; ".join(f"{name}: {cell}" for name, cell in zip(header, row, strict=True) if cell)]
        return "row", ["; ".join(cell for cell in row if cell)]
    if block.kind == "item" and block.depth == 0 and len(body.split()) <= _LONG_WORDS:
        return "item", [_flat(body)]
    return "sentence", [
        _flat(body[one.start : one.end]) for one in find_sentences(body) if body[one.start : one.end].strip()
    ]


def _cells(passage: str, row: Block) -> list[str]:
    return [_flat(passage[start:end]) for start, end in cells(passage, row)]


def _flat(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).split())


def _compose(chosen: Sequence[_Unit]) -> str:
    """Passages in the order of their best sentence, reading order within a passage, each part with its source."""
    order = list(dict.fromkeys(unit.passage for unit in chosen))
    ordered = sorted(chosen, key=lambda unit: (order.index(unit.passage), unit.position))
    parts = []
    for (passage, listed), group in groupby(ordered, key=lambda unit: (unit.passage, unit.kind != "sentence")):
        units = list(group)
        parts.append(
            _listed(units, passage) if listed else f"{_ended(' '.join(u.text for u in units))} [doc {passage}]"
        )
    return "\n\n".join(parts)


def _listed(units: Sequence[_Unit], passage: int) -> str:
    lines: list[str] = []
    for intro, group in groupby(units, key=lambda unit: unit.intro):
        if intro:
            lines.extend((intro, ""))
        for unit in group:
            if unit.kind == "code":
                lines.extend((f"From [doc {passage}]:", "", "```", unit.text, "```"))
            else:
                lines.append(f"- {_ended(unit.text)} [doc {passage}]")
    return "\n".join(lines)


def _ended(text: str) -> str:
    """A sentence with its stop; a lead-in that lost its list ends like a sentence too."""
    bare = text.rstrip()
    if bare.endswith((":", ";", ",")):
        return bare[:-1] + "."
    return bare if re.search(r"[.!?…。！？؟।][\"'”’)\]*_`]*$", bare) else bare + "."
