"""Recall, MRR and nDCG of many rankings, and the same by ir_measures."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import ir_measures
import numpy as np

from tasks.metrics.columns import CodedRankings, complete, ndcg_at_k, recall_at_k, reciprocal_rank
from tests.bench.figure import Figure, timed

_N_QUESTIONS: Final = 100_000
_DEPTH: Final = 100
_K: Final = 10
_SHARE: Final = 10


def measure_ranks(_folder: Path) -> Iterator[Figure]:
    """100,000 questions of 100 ranks, one to three gold documents each, some of them found."""
    rng = np.random.default_rng(7)
    passages = rng.integers(0, 1_000_000, (_N_QUESTIONS, _DEPTH))
    counts = rng.integers(1, 4, _N_QUESTIONS)
    entries = np.concatenate(([0], np.cumsum(counts)))
    questions = np.repeat(np.arange(_N_QUESTIONS), counts)
    found = rng.random(questions.size) < 0.7
    at = np.minimum(rng.geometric(0.08, questions.size) - 1, _DEPTH - 1)
    gold = np.where(found, passages[questions, at], rng.integers(1_000_000, 2_000_000, questions.size))
    rankings = CodedRankings(
        depth=_DEPTH,
        passage_offsets=np.arange(0, _N_QUESTIONS * _DEPTH + 1, _DEPTH),
        passage_codes=passages.ravel(),
        entry_offsets=entries,
        gold_codes=gold,
    )
    grades = np.ones(gold.size)

    def score() -> None:
        completions = complete(rankings)
        for scores in (
            recall_at_k(completions, k=_K),
            reciprocal_rank(completions),
            ndcg_at_k(completions, k=_K, grades=grades),
        ):
            scores.mean()

    ours = timed(score, n=7)
    theirs = _by_ir_measures(passages, questions, gold)
    told = f"{ours.shown()}; ir_measures {theirs:.1f} s (a tenth of the questions, × {_SHARE}, its input ready)"
    yield Figure("recall, MRR, nDCG of 100,000 questions × 100 ranks", "≤ 1.0 s", told, ours.median <= 1.0)


def _by_ir_measures(passages: np.ndarray, questions: np.ndarray, gold: np.ndarray) -> float:
    n = _N_QUESTIONS // _SHARE
    run = {
        str(question): {str(code): float(_DEPTH - rank) for rank, code in enumerate(ranked)}
        for question, ranked in enumerate(passages[:n].tolist())
    }
    qrels: dict[str, dict[str, int]] = {}
    for question, code in zip(questions.tolist(), gold.tolist(), strict=True):
        if question < n:
            qrels.setdefault(str(question), {})[str(code)] = 1
    measures = [ir_measures.R @ _K, ir_measures.RR, ir_measures.nDCG @ _K]
    began = time.perf_counter()
    ir_measures.calc_aggregate(measures, qrels, run)
    return (time.perf_counter() - began) * _SHARE
