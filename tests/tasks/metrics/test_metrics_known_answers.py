"""Numbers that others computed on real collections: reported ones, and those of an independent library."""

import csv
import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import ir_measures
import numpy as np
import pytest

from schemas.gold import ResolvedGold, ResolvedPlace
from tasks.metrics import columns
from tasks.metrics.evidence import PassagePlace, completion_ranks
from tasks.metrics.ranking import ndcg_at_k, precision_at_k, recall_at_k, reciprocal_rank

Ranked = dict[str, list[str]]
Qrels = dict[str, dict[str, int]]

RUNS = ("retrieve_base", "retrieve_level_two", "retrieve_level_three")
N_QUERIES = 60
DEPTH = 100


def folder(name: str) -> Path:
    root = os.environ.get("FOURCELLS_REAL_DATA")
    if not root:
        pytest.skip("FOURCELLS_REAL_DATA is not set: the collections are not part of the repository")
    path = Path(root) / name
    if not path.is_dir():
        pytest.skip(f"FOURCELLS_REAL_DATA has no folder {name}")
    return path


def read_tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def read_jsonl(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_qrels(path: Path) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for row in read_tsv(path):
        qrels[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return qrels


def rank(documents: list[str], judged: dict[str, int]) -> list[int | None]:
    gold = [
        ResolvedGold(places=(ResolvedPlace(kind="document", target_id=document),), grade=grade)
        for document, grade in judged.items()
    ]
    return completion_ranks(gold, [PassagePlace(document) for document in documents])


@pytest.mark.parametrize("run", RUNS)
def test_reported_recall_and_mrr_of_saved_rankings(run: str) -> None:
    data = folder("claude_docs")
    qrels = read_qrels(data / "qrels" / "test.tsv")
    ranked: Ranked = defaultdict(list)
    for row in sorted(read_tsv(data / "runs" / f"{run}.tsv"), key=lambda row: int(row["rank"])):
        ranked[row["query_id"]].append(row["doc_id"])
    reported = read_tsv(data / "runs" / f"{run}.reported.tsv")
    assert len(reported) >= 99
    for row in reported:
        documents = ranked[row["query_id"]]
        ranks = rank(documents, qrels[row["query_id"]])
        assert recall_at_k(ranks, k=3) == pytest.approx(float(row["recall"]))
        assert reciprocal_rank(ranks) == pytest.approx(float(row["mrr"]))
        # They divide by what came; our precision@3 divides by 3 also where fewer passages came.
        precision = precision_at_k(ranks, k=3)
        assert precision is not None
        assert precision * 3 / len(documents) == pytest.approx(float(row["precision"]))


@pytest.fixture(scope="module")
def cranfield() -> tuple[Ranked, Qrels]:
    """Rank the first queries by how many of their words a document holds."""
    data = folder("cranfield")
    postings: dict[str, set[str]] = defaultdict(set)
    for document in read_jsonl(data / "corpus.jsonl"):
        for word in set(re.findall(r"\w+", document["text"].lower())):
            postings[word].add(document["_id"])
    qrels = read_qrels(data / "qrels" / "test.tsv")
    ranked: Ranked = {}
    for query in read_jsonl(data / "queries.jsonl")[:N_QUERIES]:
        overlap = Counter(
            document for word in set(re.findall(r"\w+", query["text"].lower())) for document in postings[word]
        )
        ranked[query["_id"]] = sorted(overlap, key=lambda document: (-overlap[document], document))[:DEPTH]
    return ranked, {query: qrels[query] for query in ranked if qrels[query]}


def test_agreement_with_ir_measures(cranfield: tuple[Ranked, Qrels]) -> None:
    ranked, qrels = cranfield
    names = ["R@5", "R@20", "P@10", "RR", "nDCG@5", "nDCG@10", "nDCG@100"]
    # Strictly falling scores, so that no tie is left to the library's own rule.
    scores = {
        query: {document: float(DEPTH - at) for at, document in enumerate(documents)}
        for query, documents in ranked.items()
    }
    measures = [ir_measures.parse_measure(name) for name in names]
    n_compared = 0
    for theirs in ir_measures.iter_calc(measures, qrels, scores):
        ranks = rank(ranked[theirs.query_id], qrels[theirs.query_id])
        grades = list(qrels[theirs.query_id].values())
        base, _, cutoff = str(theirs.measure).partition("@")
        k = int(cutoff or DEPTH)
        ours = {
            "R": recall_at_k(ranks, k=k),
            "P": precision_at_k(ranks, k=k),
            "RR": reciprocal_rank(ranks),
            "nDCG": ndcg_at_k(ranks, k=k, grades=grades),
        }[base]
        assert ours == pytest.approx(theirs.value, abs=1e-9), (theirs.query_id, str(theirs.measure))
        n_compared += 1
    assert n_compared == len(names) * len(qrels) > 0


def test_columns_agree_with_ir_measures_on_average(cranfield: tuple[Ranked, Qrels]) -> None:
    ranked, qrels = cranfield
    queries = list(qrels)
    codes = {
        document: code for code, document in enumerate(sorted({d for q in queries for d in [*ranked[q], *qrels[q]]}))
    }
    rankings = columns.CodedRankings(
        depth=DEPTH,
        passage_offsets=np.cumsum([0, *(len(ranked[query]) for query in queries)]),
        passage_codes=np.array([codes[document] for query in queries for document in ranked[query]]),
        entry_offsets=np.cumsum([0, *(len(qrels[query]) for query in queries)]),
        gold_codes=np.array([codes[document] for query in queries for document in qrels[query]]),
    )
    grades = np.array([grade for query in queries for grade in qrels[query].values()], dtype=np.float64)
    completions = columns.complete(rankings)
    ours = {
        "R@20": columns.recall_at_k(completions, k=20).mean(),
        "RR": columns.reciprocal_rank(completions).mean(),
        "nDCG@10": columns.ndcg_at_k(completions, k=10, grades=grades).mean(),
    }
    scores = {query: {d: float(DEPTH - at) for at, d in enumerate(ranked[query])} for query in queries}
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in ours], qrels, scores)
    assert ours == pytest.approx({str(measure): value for measure, value in theirs.items()}, abs=1e-9)
