"""Key points out of reference answers: drafted by rule, marked so, and never over points that people wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InputError
from tasks.workspace.questions import read_key_points, read_questions
from tasks.workspace.references import draft_from_references, split_reference, status_counts, status_table

SPLIT: dict[str, tuple[str, list[str]]] = {
    "two sentences": (
        "Logs are kept 30 days. Then they are deleted.",
        ["Logs are kept 30 days.", "Then they are deleted."],
    ),
    "an abbreviation": ("Owners can export, e.g. as CSV.", ["Owners can export, e.g. as CSV."]),
    "a word alone joins what follows": ("Yes. Owners can export them.", ["Yes. Owners can export them."]),
    "a word alone at the end joins what is before": (
        "Owners can export them. Always.",
        ["Owners can export them. Always."],
    ),
    "one short reference": ("30 days", ["30 days"]),
    "a list": (
        "- Logs are kept 30 days.\n- Backups are kept 90 days.",
        ["Logs are kept 30 days.", "Backups are kept 90 days."],
    ),
    "the same twice": ("Logs are kept 30 days. Logs are kept 30 days.", ["Logs are kept 30 days."]),
    "Chinese": ("日志保留三十天。备份保留九十天。", ["日志保留三十天。", "备份保留九十天。"]),
    "only that it is not covered": ("The documentation does not say.", []),
    "nothing": (" \n", []),
}


@pytest.mark.parametrize(("reference", "points"), SPLIT.values(), ids=SPLIT)
def test_split(reference: str, points: list[str]) -> None:
    assert split_reference(reference) == points


def write(folder: Path, questions: list[dict[str, Any]], points: object = None) -> Path:
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    if points is not None:
        (folder / "keypoints.json").write_text(json.dumps(points), encoding="utf-8")
    return folder


def test_drafting(tmp_path: Path) -> None:
    mine = {"id": "mine/1", "text": "Written by hand.", "status": "reviewed"}
    taken = {"id": "q1/1", "text": "Also by hand."}
    workspace = write(
        tmp_path,
        [
            {
                "id": "q1",
                "text": "a",
                "reference": "Logs are kept 30 days. Räume gibt es keine mehr.",
                "gold": [{"document": "b.md"}, {"document": "a.md"}, {"document": "b.md", "quote": "x"}],
            },
            {"id": "mine", "text": "b", "reference": "Something else entirely here."},
            {"id": "no reference", "text": "c"},
            {"id": "unanswerable", "text": "d", "answerable": "no", "reference": "The pages do not say."},
            {"id": "other", "text": "e"},
            {"id": "emptied", "text": "f", "reference": "Backups are kept 90 days."},
        ],
        {"mine": [mine], "other": [taken], "emptied": []},
    )
    drafted = draft_from_references(workspace)
    points = read_key_points(workspace, {question.id: question for question in read_questions(workspace)})
    assert [(point.id, point.text) for point in points["q1"]] == [
        ("q1/2", "Logs are kept 30 days."),
        ("q1/3", "Räume gibt es keine mehr."),
    ]
    assert {(point.weight, point.status, point.documents) for point in points["q1"]} == {
        ("vital", "drafted by rule, not reviewed", ("b.md", "a.md"))
    }
    assert len(points["emptied"]) == 1
    text = (workspace / "keypoints.json").read_text(encoding="utf-8")
    assert json.loads(text)["mine"] == [mine]
    assert text.startswith('{\n  "mine"')
    assert text.endswith("}\n")
    assert "Räume" in text
    assert drafted.told() == [
        "3 key points for 2 questions: drafted by rule, not reviewed, all vital",
        "2 questions have key points already and were left alone",
        "1 questions have no reference answer that states anything",
        "1 questions are marked unanswerable and need none",
    ]


def test_drafting_twice_changes_nothing(tmp_path: Path) -> None:
    workspace = write(tmp_path, [{"id": "q1", "text": "a", "reference": "Logs are kept 30 days."}])
    draft_from_references(workspace)
    before = (workspace / "keypoints.json").stat()
    assert draft_from_references(workspace).n_points == 0
    assert (workspace / "keypoints.json").stat().st_ino == before.st_ino


def test_drafting_keeps_what_was_dropped(tmp_path: Path) -> None:
    dropped = {"id": "q1/1", "text": "Logs are free.", "status": "dropped"}
    workspace = write(
        tmp_path, [{"id": "q1", "text": "a", "reference": "Logs are kept 30 days."}], {"q1": [dropped], "other": []}
    )
    with pytest.raises(InputError, match="other"):
        draft_from_references(workspace)
    write(tmp_path, [{"id": "q1", "text": "a", "reference": "Logs are kept 30 days."}], {"q1": [dropped]})
    assert draft_from_references(workspace).n_points == 1
    first, second = json.loads((workspace / "keypoints.json").read_text("utf-8"))["q1"]
    assert (first, second["id"], second["text"]) == (dropped, "q1/2", "Logs are kept 30 days.")


def test_status(tmp_path: Path) -> None:
    points = [
        {"id": "1", "text": "a"},
        {"id": "2", "text": "b", "status": "reviewed"},
        {"id": "3", "text": "c", "status": "dropped"},
    ]
    questions = [
        {"id": "q1", "text": "a"},
        {"id": "q2", "text": "b"},
        {"id": "q3", "text": "c", "answerable": "no"},
        {"id": "q4", "text": "d"},
    ]
    workspace = write(tmp_path, questions, {"q1": points, "q4": [{"id": "4", "text": "d", "status": "dropped"}]})
    assert status_counts(workspace) == {
        "questions": 4,
        "without_points": 3,
        "without_points_unanswerable": 1,
        "by_status": {
            "draft": {"points": 1, "questions": 1},
            "dropped": {"points": 2, "questions": 2},
            "reviewed": {"points": 1, "questions": 1},
        },
        "by_question": {"q1": {"draft": 1, "dropped": 1, "reviewed": 1}, "q4": {"dropped": 1}},
    }
    assert status_table(workspace).below == (
        "1 of 4 questions have key points",
        "3 have none, 1 of them marked unanswerable, which need none",
        "not reviewed yet: q1 (1)",
    )
