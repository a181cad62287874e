"""Balanced accuracy with intervals that resample whole clusters, since rows of one context are not independent."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_SEED: Final = 20_251
_RESAMPLES: Final = 2_000

Numbers = NDArray[np.floating[Any]]


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


class Compared(NamedTuple):
    """The judge and the baseline on the same rows."""

    judge: Estimate
    baseline: Estimate
    difference: Estimate
    n_rows: int
    n_clusters: int
    draws: Numbers


class Said(NamedTuple):
    """One row: its cluster, what people said, and what judge and baseline say."""

    cluster: str
    label: bool
    judge: bool
    baseline: bool


def balanced_accuracy(said: Iterable[bool], labels: Iterable[bool]) -> float:
    """Mean of the share of true rows called true and that of false rows called false; NaN without either.

    >>> balanced_accuracy([True, True, False], [True, True, True])
    nan
    >>> balanced_accuracy([True, False, False, False], [True, True, False, False])
    0.75
    """
    right: dict[bool, list[bool]] = {True: [], False: []}
    for word, label in zip(said, labels, strict=True):
        right[label].append(word == label)
    return sum(sum(one) / len(one) if one else float("nan") for one in right.values()) / 2


def compare(rows: Sequence[Said]) -> Compared:
    """Hold the judge against the baseline on the same rows and the same resamples of their clusters."""
    clusters = sorted({row.cluster for row in rows})
    number = {cluster: at for at, cluster in enumerate(clusters)}
    counts = np.zeros((len(clusters), 6))
    for row in rows:
        counts[number[row.cluster]] += _counted(row)
    drawn = np.random.default_rng(_SEED).multinomial(
        len(clusters), np.full(len(clusters), 1 / len(clusters)), size=_RESAMPLES
    )
    whole, draws = _both(counts.sum(axis=0, keepdims=True)), _both(drawn @ counts)
    return _compared(whole, draws, n_rows=len(rows), n_clusters=len(clusters))


def mean_of(sources: Sequence[Compared]) -> Compared:
    """The mean over sources, each with the same weight and resampled on its own."""
    whole = np.array([[[one.judge.value, one.baseline.value]] for one in sources]).mean(axis=0)
    draws = np.mean([one.draws for one in sources], axis=0)
    n_rows, n_clusters = sum(one.n_rows for one in sources), sum(one.n_clusters for one in sources)
    return _compared(whole, draws, n_rows=n_rows, n_clusters=n_clusters)


def _counted(row: Said) -> list[int]:
    return [
        row.label,
        row.label and row.judge,
        row.label and row.baseline,
        not row.label,
        not row.label and not row.judge,
        not row.label and not row.baseline,
    ]


def _both(counts: Numbers) -> Numbers:
    """Balanced accuracy of judge and baseline, a row for each row of counts."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (counts[:, 1:3] / counts[:, :1] + counts[:, 4:6] / counts[:, 3:4]) / 2


def _compared(whole: Numbers, draws: Numbers, *, n_rows: int, n_clusters: int) -> Compared:
    judge, baseline = (_estimate(whole[0, at], draws[:, at]) for at in (0, 1))
    difference = _estimate(whole[0, 0] - whole[0, 1], draws[:, 0] - draws[:, 1])
    return Compared(judge, baseline, difference, n_rows, n_clusters, draws)


def _estimate(value: float, draws: Numbers) -> Estimate:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Estimate(float(value), float(low), float(high))
