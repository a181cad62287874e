"""The baseline: the share of a statement's telling words that stand anywhere in a text, over one threshold."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from tasks.models.lexicon import STOP_STEMS
from tasks.text.words import stems
from tests.bench.balanced import balanced_accuracy

_STEPS: Final = 100


def overlap(statement: str, text: str) -> float:
    """Share of the distinct stems of a statement, function words aside, that a text holds.

    >>> overlap("Logs are kept for 3 days.", "The log stays 3 days")
    0.75
    """
    wanted = frozenset(stems(statement))
    telling = wanted - STOP_STEMS or wanted
    return len(telling & _stems(text)) / len(telling) if telling else 0.0


def tuned_threshold(scored: Mapping[str, Sequence[tuple[float, bool]]]) -> float:
    """The threshold with the best mean balanced accuracy over sources of (score, label)."""
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    return max(steps, key=lambda step: _mean(_accuracy(rows, step) for rows in scored.values()))


def _accuracy(rows: Sequence[tuple[float, bool]], threshold: float) -> float:
    return balanced_accuracy([score >= threshold for score, _ in rows], [label for _, label in rows])


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept)


@lru_cache(maxsize=1_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))
