"""Each view says what the rows of the store say."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from schemas.trail import Trail
from tasks.explore import ask_sql, open_views
from tasks.store.runs import list_runs
from tests.small_workspace import GOLD, POINTS, QUESTIONS, SETUPS, Stored, stored, trails_of, walk_all

Rows = list[tuple[Any, ...]]


def asked(workspace: Path, query: str) -> Rows:
    return ask_sql(open_views(workspace), query).rows()


def reached(workspace: Path) -> list[Trail]:
    run_id = list_runs(workspace / "store" / "runs")[-1].run_id
    return [trail for setup in SETUPS for trail in trails_of(workspace, run_id, setup).values()]


def behind(rows: Stored, trail: Trail, record: str) -> dict[str, Any]:
    return rows[record][getattr(trail, record).key or ""]


def test_cells(done: Path) -> None:
    rows = stored(done)
    found = asked(
        done, "SELECT setup, question_id, label, owner, reason, correct, grounded, arrived, failed_points FROM cells"
    )
    expected = []
    for trail in reached(done):
        cell = behind(rows, trail, "cell")
        values = [cell[name] for name in ("label", "owner", "reason", "correct", "grounded", "arrived")]
        expected.append((trail.setup, trail.question_id, *values, [p["point_id"] for p in cell["failed_points"]]))
    assert sorted(found, key=lambda row: row[:2]) == sorted(expected, key=lambda row: row[:2])
    assert any(row[-1] for row in found)


def test_points_stand_beside_their_verdicts(done: Path) -> None:
    rows = stored(done)
    found = asked(done, "SELECT setup, question_id, point_id, text, verdict, quote FROM points")
    expected = []
    for trail in reached(done):
        if trail.correctness.scored:
            for said in behind(rows, trail, "correctness")["verdicts"]:
                name, n = trail.question_id, said["number"]
                point = (f"{name}.{n}", POINTS[name][n - 1])
                expected.append((trail.setup, name, *point, said["verdict"], said["quote"] or None))
    assert Counter(found) == Counter(expected)


def test_verdicts_have_a_row_for_each_quote_and_one_without_any(done: Path) -> None:
    rows = stored(done)
    found = asked(done, "SELECT setup, question_id, number, verdict, quote, passage FROM verdicts")
    expected = [
        (trail.setup, trail.question_id, verdict["number"], verdict["verdict"], quote.get("text"), quote.get("passage"))
        for trail in reached(done)
        for verdict in behind(rows, trail, "grounding")["verdicts"]
        for quote in verdict["quotes"] or [{}]
    ]
    assert Counter(found) == Counter(expected)


@pytest.mark.parametrize(
    ("view", "record", "number"), [("rankings", "ranking", "rank"), ("passages", "context", "number")]
)
def test_passages_are_numbered_from_one(view: str, record: str, number: str, done: Path) -> None:
    rows = stored(done)
    found = asked(done, f'SELECT setup, question_id, {number}, document_id, start, "end" FROM {view}')
    expected = [
        (trail.setup, trail.question_id, n, one["document_id"], one["ranges"][0]["start"], one["ranges"][0]["end"])
        for trail in reached(done)
        for n, one in enumerate(behind(rows, trail, record)["passages"], start=1)
    ]
    assert Counter(found) == Counter(expected)


def test_chunks_are_numbered_from_one(done: Path) -> None:
    for n, least, most in asked(
        done, "SELECT count(*), min(number), max(number) FROM chunks GROUP BY setup, document_id"
    ):
        assert (least, most) == (1, n)


def test_a_score_stands_once(done: Path) -> None:
    ((n, n_different),) = asked(
        done, "SELECT count(*), count(DISTINCT (setup, judge, question_id, metric)) FROM scores"
    )
    assert n == n_different
    ((n_recall,),) = asked(done, "SELECT count(*) FROM scores WHERE metric = 'context_recall'")
    assert n_recall == len(SETUPS) * len(QUESTIONS)


def test_costs_have_a_line_for_each_row_of_each_stage(done: Path) -> None:
    trails = reached(done)
    records = {
        "generate": "answer", "read": "reading", "judge-grounding": "grounding", "judge-correctness": "correctness",
    }  # fmt: skip
    found: dict[str, int] = dict(asked(done, "SELECT stage, count(*) FROM costs GROUP BY stage"))
    assert found == {stage: sum(getattr(t, record).scored for t in trails) for stage, record in records.items()}


def test_questions_and_points_are_those_of_the_newest_run_that_asked_them(done: Path) -> None:
    path, points_path = done / "questions.jsonl", done / "keypoints.json"
    path.write_text(path.read_text(encoding="utf-8").replace("When do nightly", "At what hour do nightly"), "utf-8")
    points_path.write_text(points_path.read_text(encoding="utf-8").replace("02:00 UTC", "2 in the morning"), "utf-8")
    walk_all(done, setups=("v1",))
    assert asked(done, "SELECT text FROM questions WHERE question_id = 'q2'") == [
        ("At what hour do nightly backups start?",)
    ]
    assert asked(done, "SELECT text FROM key_points WHERE point_id = 'q2.1'") == [
        ("Nightly backups start at 2 in the morning.",)
    ]
    assert asked(done, "SELECT count(*) FROM questions") == [(len(QUESTIONS),)]


def test_questions_say_how_much_gold_they_have(done: Path) -> None:
    found: dict[str, int] = dict(asked(done, "SELECT question_id, n_gold FROM questions"))
    assert found == {question["id"]: int(question["id"] in GOLD) for question in QUESTIONS}


def test_answers_are_there_before_anybody_read_them(workspace: Path) -> None:
    walk_all(workspace, setups=("v1",), until="generate")
    assert asked(workspace, "SELECT count(*), count(form) FROM answers") == [(len(QUESTIONS), 0)]


def test_claims_are_there_when_no_judge_could_see_a_context(workspace: Path) -> None:
    (workspace / "answers").mkdir()
    saved = {"question_id": "q1", "answer": "On the Team plan the audit log keeps entries for 90 days."}
    (workspace / "answers" / "mine.jsonl").write_text(json.dumps(saved), encoding="utf-8")
    (workspace / "setups" / "mine.toml").write_text('answers = "mine.jsonl"\n', encoding="utf-8")
    walk_all(workspace, setups=("mine",))
    assert asked(workspace, "SELECT number, text, verdict FROM claims") == [(1, saved["answer"], None)]
