"""Retrieval scores, read off columns, equal the scalar definitions on the passages as records."""

import json
from pathlib import Path

import pytest

from schemas.passage import Passage
from tasks import scores
from tasks.compare import compare
from tasks.metrics.evidence import (
    PassagePlace,
    arrivals,
    completion_ranks,
    find_crossing,
    recall_at_tokens,
    span_coverage_at_k,
)
from tasks.metrics.ranking import (
    all_at_k,
    context_all,
    context_hit,
    context_recall,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from tasks.runs.run import open_run
from tasks.scores import asked_of
from tasks.store import database
from tasks.summary import summarize
from tasks.text.tokens import cut_to_tokens
from tests.small_workspace import walk_all


@pytest.mark.parametrize("budget_tokens", [1, 7, 19, 33, 60, 2_000])
def test_scores_are_the_scalar_ones(workspace: Path, budget_tokens: int) -> None:
    (workspace / "grading.toml").write_text(f"k = [1, 3]\nbudget_tokens = {budget_tokens}\n", encoding="utf-8")
    run_id = walk_all(workspace)
    run = open_run(str(workspace), run_id)
    comparison = compare(workspace, run_id=run_id)
    measured = {
        (row["setup"], row["question_id"], row["metric"]): row["value"]
        for row in comparison.database.tables["retrieval_scores"].to_pylist()
    }
    n_compared = 0
    for pick in comparison.picks:
        for question, trail in asked_of(run, pick.setup):
            if not question.gold:
                continue
            ranking, context = (
                run.store.rows(record).fetch([getattr(trail, record).key])[getattr(trail, record).key]["passages"]
                for record in ("ranking", "context")
            )
            places = [PassagePlace.of(Passage.model_validate(passage)) for passage in ranking]
            crossing = find_crossing([passage["n_tokens"] for passage in ranking], budget=budget_tokens)
            kept = 0
            if crossing is not None:
                text = run.texts.passages([ranking[crossing.position]])[0]
                kept = len("".join(cut_to_tokens(text, crossing.tokens_left).split()))
            ranks = completion_ranks(question.gold, places)
            given = [PassagePlace.of(Passage.model_validate(passage)) for passage in context]
            expected = {
                "mrr": reciprocal_rank(ranks),
                "recall@3": recall_at_k(ranks, k=3),
                f"recall@{budget_tokens}t": recall_at_tokens(question.gold, places, crossing=crossing, ink_kept=kept),
                "context_recall": context_recall(arrivals(question.gold, given)),
                "context_hit": context_hit(arrivals(question.gold, given)),
                "context_all": context_all(arrivals(question.gold, given), rule=question.gold_rule),
                "ndcg@3": None,
            }
            for k in (1, 3):
                expected[f"hit@{k}"] = hit_at_k(ranks, k=k)
                expected[f"all@{k}"] = all_at_k(ranks, k=k, rule=question.gold_rule)
                expected[f"precision@{k}"] = precision_at_k(ranks, k=k)
                expected[f"span_coverage@{k}"] = span_coverage_at_k(question.gold, places, k=k)
            own = {metric: measured[pick.setup, question.question_id, metric] for metric in expected}
            assert own == expected
            n_compared += 1
    assert n_compared == 21


def test_document_gold_has_gains_and_the_others_have_reasons(workspace: Path) -> None:
    questions = [json.loads(line) for line in (workspace / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    questions[1]["gold"] = [{"document": "backups.md"}, {"document": "limits.md", "grade": 2}]
    (workspace / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    (workspace / "grading.toml").write_text("k = [1, 3]\n", encoding="utf-8")
    run_id = walk_all(workspace, setups=("v1",))
    rows = compare(workspace, run_id=run_id).database.tables["retrieval_scores"].to_pylist()
    found = {(row["question_id"], row["metric"]): (row["value"], row["reason"]) for row in rows}
    assert len(found) == len(rows)
    run = open_run(str(workspace), run_id)
    question, trail = next(one for one in asked_of(run, "v1") if one.question.question_id == "q2")
    key = trail.ranking.key or ""
    passages = run.store.rows("ranking").fetch([key])[key]["passages"]
    ranks = completion_ranks(question.gold, [PassagePlace.of(Passage.model_validate(one)) for one in passages])
    assert found["q2", "ndcg@3"] == (ndcg_at_k(ranks, k=3, grades=[1, 2]), None)
    assert ("q2", "span_coverage@3") not in found
    assert found["q1", "ndcg@3"] == (None, "span_gold")
    assert found["q8", "recall@3"] == (None, "unanswerable")


def _saved(workspace: Path, passages: list[dict[str, object]]) -> dict[str, tuple[float | None, str | None]]:
    (workspace / "answers").mkdir(exist_ok=True)
    line = {"question_id": "q2", "answer": "At 02:00 UTC.", "passages": passages}
    (workspace / "answers" / "prod.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (workspace / "setups" / "prod.toml").write_text('answers = "prod.jsonl"\n', encoding="utf-8")
    (workspace / "grading.toml").write_text("k = [1, 3]\n", encoding="utf-8")
    comparison = compare(workspace, run_id=walk_all(workspace, setups=("prod",)))
    rows = comparison.database.tables["retrieval_scores"].to_pylist()
    return {row["metric"]: (row["value"], row["reason"]) for row in rows}


def test_nothing_retrieved_is_0_at_every_k(workspace: Path) -> None:
    found = _saved(workspace, [])
    measured = {metric: value for metric, (value, _) in found.items()}
    assert {metric: measured[metric] for metric in ("recall@1", "recall@3", "hit@3", "precision@3", "mrr")} == {
        "recall@1": 0, "recall@3": 0, "hit@3": 0, "precision@3": 0, "mrr": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("own_id", "expected"), [(None, (None, "unresolved")), ("c8", (0.0, None)), ("c7", (1.0, None))]
)
def test_foreign_ids_are_not_asked_of_lists_that_carry_none(
    workspace: Path, own_id: str | None, expected: tuple[float | None, str | None]
) -> None:
    questions = [json.loads(line) for line in (workspace / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    questions[1]["gold"] = [{"passage": "c7"}]
    (workspace / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    found = _saved(workspace, [{"text": "Nightly backups start at 02:00 UTC.", "rank": 1, "id": own_id}])
    for metric in ("recall@1", "hit@1", "mrr", "ndcg@1", "recall@2000t", "context_recall", "context_all"):
        assert found[metric] == expected, metric


def test_how_tables_are_cut_into_batches_changes_no_number(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = summarize(compare(done))
    monkeypatch.setattr(database, "_BATCH_ROWS", 2)
    monkeypatch.setattr(scores, "_BATCH", 3)
    assert summarize(compare(done)) == whole
