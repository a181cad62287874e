"""Retrieval scores, read off columns, equal the scalar definitions on the passages as records."""

from pathlib import Path

import pytest

from schemas.passage import Passage
from tasks.compare import compare
from tasks.metrics.evidence import PassagePlace, arrivals, completion_ranks, find_crossing, recall_at_tokens
from tasks.metrics.ranking import context_recall, recall_at_k, reciprocal_rank
from tasks.run import open_run
from tasks.scores import asked_of
from tasks.text.tokens import cut_to_tokens
from tests.small_workspace import walk_all


@pytest.mark.parametrize("budget_tokens", [1, 7, 19, 33, 60, 2_000])
def test_scores_are_the_scalar_ones(workspace: Path, budget_tokens: int) -> None:
    (workspace / "grading.toml").write_text(f"k = [1, 3]\nbudget_tokens = {budget_tokens}\n", encoding="utf-8")
    run_id = walk_all(workspace)
    run = open_run(str(workspace), run_id)
    comparison = compare(workspace, run_id=run_id)
    scores = {
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
            }
            own = {metric: scores[pick.setup, question.question_id, metric] for metric in expected}
            assert own == expected
            n_compared += 1
    assert n_compared == 21
