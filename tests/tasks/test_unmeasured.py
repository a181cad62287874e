"""What saved answers, cut rankings and gold that does not resolve leave unmeasured, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.seats import Draft
from schemas.state import State
from tasks import generate
from tasks.compare import compare
from tasks.store.rows import Row
from tests.small_workspace import trails_of, walk_all

BACKUPS = ["Backups start at noon.", "A backup is kept for 30 days and then deleted without notice.", "Restore it."]
SAVED: list[dict[str, Any]] = [
    {"question_id": "q1", "answer": "On the Team plan the audit log keeps entries for 30 days."},
    {
        "question_id": "q2",
        "answer": "Nightly backups start at 02:00 UTC.",
        "passages": [
            {"text": "Nightly backups start at 02:00 UTC.", "document": "backups.md", "rank": 2},
            {"text": "Prices do not include tax.", "document": "plans/prices.md", "rank": 1},
        ],
    },
    {
        "question_id": "q3",
        "answer": "30 days.",
        "passages": [{"text": text, "document": "backups.md", "rank": n} for n, text in enumerate(BACKUPS, start=1)],
    },
    {
        "question_id": "q4",
        "answer": "A project holds at most 50 databases.",
        "passages": [{"text": "A project holds at most 50 databases.", "document": "limits.md"}],
    },
]

Found = dict[tuple[str, str], tuple[float | None, str | None]]


def scores(workspace: Path, run_id: str) -> Found:
    rows = compare(workspace, run_id=run_id).database.tables["retrieval_scores"].to_pylist()
    return {(row["question_id"], row["metric"]): (row["value"], row["reason"]) for row in rows}


@pytest.fixture
def imported(workspace: Path) -> Path:
    (workspace / "answers").mkdir()
    lines = "".join(json.dumps(one) + "\n" for one in SAVED)
    (workspace / "answers" / "mine.jsonl").write_text(lines, encoding="utf-8")
    (workspace / "setups" / "mine.toml").write_text('answers = "mine.jsonl"\n', encoding="utf-8")
    (workspace / "grading.toml").write_text("k = [1, 2, 3, 4]\n", encoding="utf-8")
    return workspace


def test_saved_answers_are_measured_as_far_as_their_passages_were_recorded(imported: Path) -> None:
    found = scores(imported, walk_all(imported, setups=("mine",)))
    # The longest ranking says how deep the file's rankings are; of a larger k nothing is known.
    assert [found["q2", f"hit@{k}"] for k in (1, 2, 3)] == [(0.0, None), (1.0, None), (1.0, None)]
    assert [found["q3", f"hit@{k}"] for k in (1, 2, 3)] == [(0.0, None), (1.0, None), (1.0, None)]
    for name in ("recall", "hit", "all", "precision", "ndcg"):
        assert found["q2", f"{name}@4"] == found["q3", f"{name}@4"] == (None, "no_ranking")
    assert found["q2", "mrr"] == (0.5, None)
    for metric in ("recall@1", "mrr", "recall@2000t"):
        assert found["q4", metric] == (None, "no_ranking")
        assert found["q1", metric] == (None, "passages_not_recorded")
    assert found["q4", "context_recall"] == (1.0, None)
    assert found["q1", "context_recall"] == (None, "passages_not_recorded")


def test_an_answer_without_recorded_passages_is_judged_for_its_points_only(imported: Path) -> None:
    run_id = walk_all(imported, setups=("mine",))
    trail = trails_of(imported, run_id, "mine")["q1"]
    steps = {name: (getattr(trail, name).state, getattr(trail, name).reason) for name in ("context", "grounding")}
    assert steps == dict.fromkeys(steps, (State.NOT_APPLICABLE, "passages_not_recorded"))
    assert trail.correctness.scored
    cells = {row["reason"] for row in compare(imported, run_id=run_id).database.run("cells") if row["n"]}
    assert "grounding: passages_not_recorded" in cells


def test_what_needs_a_failed_answer_is_blocked_and_its_question_undetermined(
    imported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = generate._row

    def broken(draft: Draft, writer_id: str) -> Row:
        if "50 databases" in draft.text:
            message = "no such number"
            raise ZeroDivisionError(message)
        return made(draft, writer_id)

    monkeypatch.setattr(generate, "_row", broken)
    run_id = walk_all(imported, setups=("mine",))
    trails = trails_of(imported, run_id, "mine")
    states = {name: getattr(trails["q4"], name).state for name in ("answer", "reading", "grounding", "correctness")}
    assert states == {
        "answer": State.ERRORED,
        "reading": State.BLOCKED,
        "grounding": State.BLOCKED,
        "correctness": State.BLOCKED,
    }
    assert trails["q4"].label == "undetermined"
    cells = compare(imported, run_id=run_id).database.run("cells")
    assert [row["n"] for row in cells if row["reason"] == "answer: errored"] == [1]
    assert all(trails[name].answer.scored and trails[name].reading.scored for name in ("q1", "q2", "q3"))


def test_a_question_without_gold_has_a_reason_in_place_of_every_measure(workspace: Path) -> None:
    (workspace / "grading.toml").write_text("k = [1, 3]\n", encoding="utf-8")
    found = scores(workspace, walk_all(workspace, setups=("v1",), questions=("q8",)))
    at_k = {f"{name}@{k}" for name in ("recall", "hit", "all", "precision", "ndcg") for k in (1, 3)}
    others = {"mrr", "recall@2000t", "context_recall", "context_hit", "context_all"}
    assert found == dict.fromkeys((("q8", name) for name in at_k | others), (None, "unanswerable"))


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        pytest.param(
            [{"document": "backups.md", "quote": "a sentence of another document"}],
            "unresolved",
            id="gold that does not resolve",
        ),
        pytest.param([], "unlabelled", id="no gold"),
    ],
)
def test_a_wrong_answer_without_gold_is_attributed_to_nobody(
    gold: list[dict[str, str]], why: str, workspace: Path
) -> None:
    path = workspace / "questions.jsonl"
    questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    # The one that all setups get wrong.
    next(question for question in questions if question["id"] == "q7")["gold"] = gold
    path.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    run_id = walk_all(workspace, setups=("v1",), questions=("q7",), skip_unresolved=True)
    (cell,) = compare(workspace, run_id=run_id).database.run("cells")
    assert (cell["label"], cell["reason"], cell["owner"]) == ("unattributed", f"evidence: {why}", "nobody")
    found = scores(workspace, run_id)
    assert found["q7", "mrr"] == found["q7", "context_recall"] == (None, why)
