"""What a ranking or a context brought, as arithmetic on completion ranks. Source: METRICS.md §2.

`ranks` is always `tasks.metrics.evidence.completion_ranks`: one number per gold entry, the rank (from 1) at
which the ranking completes it, None where it never does. `arrived` is the same without order, for contexts.
These are the definitions; `tasks.metrics.columns` does the same for many questions at once.
"""

from collections.abc import Sequence
from math import log2

from schemas.gold import GoldRule

Ranks = Sequence[int | None]


def recall_at_k(ranks: Ranks, *, k: int) -> float | None:
    """Share of the gold entries that the first k passages complete.

    Returns:
        0-1; None without gold.

    Raises:
        ValueError: k is below 1.

    >>> recall_at_k([3, None], k=5)
    0.5
    """
    _check_k(k)
    return sum(_within(ranks, k)) / len(ranks) if ranks else None


def hit_at_k(ranks: Ranks, *, k: int) -> float | None:
    """1 when the first k passages complete any gold entry, else 0; never below recall@k.

    Returns:
        0 or 1; None without gold.

    Raises:
        ValueError: k is below 1.

    >>> hit_at_k([3, None], k=5)
    1.0
    """
    _check_k(k)
    return float(any(_within(ranks, k))) if ranks else None


def all_at_k(ranks: Ranks, *, k: int, rule: GoldRule) -> float | None:
    """1 when the first k passages satisfy the question's gold rule, else 0.

    Returns:
        0 or 1; None without gold.

    Raises:
        ValueError: k is below 1.

    >>> all_at_k([3, None], k=5, rule="all"), all_at_k([3, None], k=5, rule="any")
    (0.0, 1.0)
    """
    _check_k(k)
    return float(_satisfies(_within(ranks, k), rule)) if ranks else None


def precision_at_k(ranks: Ranks, *, k: int) -> float | None:
    """Share of k places taken by a passage that completes an entry not completed before it.

    A duplicate gains nothing, a passage that completes two entries counts once, and the divisor is k also
    when fewer passages came.

    Returns:
        0-1; None without gold.

    Raises:
        ValueError: k is below 1.

    >>> precision_at_k([1, 1, 4, None], k=4)
    0.5
    """
    _check_k(k)
    return len({rank for rank in ranks if rank is not None and rank <= k}) / k if ranks else None


def reciprocal_rank(ranks: Ranks) -> float | None:
    """One over the rank of the first relevant passage of the stored ranking; its mean is `mrr`.

    Returns:
        0-1, and 0 when no passage is relevant; None without gold.

    >>> reciprocal_rank([None, 4, 2])
    0.5
    """
    if not ranks:
        return None
    first = min((rank for rank in ranks if rank is not None), default=None)
    return 0.0 if first is None else 1 / first


def ndcg_at_k(ranks: Ranks, *, k: int, grades: Sequence[float]) -> float | None:
    """Discounted gain of the first k passages over the best gain that all gold entries allow.

    Gain is the entry's grade, linear, discounted by log2(rank + 1) (Järvelin and Kekäläinen 2002, as
    trec_eval computes it). A passage gains once: a document that comes again gains nothing, and one that
    completes several entries gains the highest of their grades, which keeps the value at most 1. Only for
    gold of documents and foreign ids: for spans the caller reports not_applicable.

    Returns:
        0-1; None without gold.

    Raises:
        ValueError: k is below 1, a grade is not above 0, or there is not one grade per entry.

    >>> ndcg_at_k([1, None], k=1, grades=[1, 2])
    0.5
    """
    _check_k(k)
    if any(grade <= 0 for grade in grades):
        msg = f"grades lie above 0 (what is not relevant is not gold), got {min(grades)}"
        raise ValueError(msg)
    gains: dict[int, float] = {}
    for rank, grade in zip(ranks, grades, strict=True):
        if rank is not None and rank <= k:
            gains[rank] = max(grade, gains.get(rank, 0.0))
    if not ranks:
        return None
    ideal = enumerate(sorted(grades, reverse=True)[:k], start=1)
    best = sum(grade / log2(rank + 1) for rank, grade in ideal)
    return sum(gain / log2(rank + 1) for rank, gain in sorted(gains.items())) / best


def context_recall(arrived: Sequence[bool]) -> float | None:
    """Share of the gold entries that the context completes; also `recall@2000t`, of a ranking cut there.

    Returns:
        0-1, and 0 for an empty context; None without gold.

    >>> context_recall([True, False, False, True])
    0.5
    """
    return sum(arrived) / len(arrived) if arrived else None


def context_hit(arrived: Sequence[bool]) -> float | None:
    """1 when the context completes any gold entry, else 0.

    Returns:
        0 or 1; None without gold.

    >>> context_hit([False, True])
    1.0
    """
    return float(any(arrived)) if arrived else None


def context_all(arrived: Sequence[bool], *, rule: GoldRule) -> float | None:
    """1 when the context satisfies the question's gold rule, else 0.

    Returns:
        0 or 1; None without gold.

    >>> context_all([False, True], rule="all"), context_all([False, True], rule="any")
    (0.0, 1.0)
    """
    return float(_satisfies(arrived, rule)) if arrived else None


def _within(ranks: Ranks, k: int) -> list[bool]:
    return [rank is not None and rank <= k for rank in ranks]


def _satisfies(arrived: Sequence[bool], rule: GoldRule) -> bool:
    return all(arrived) if rule == "all" else any(arrived)


def _check_k(k: int) -> None:
    if k < 1:
        msg = f"k counts passages from 1, got {k}"
        raise ValueError(msg)
