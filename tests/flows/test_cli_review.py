"""`keypoints review` as a person sits before it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from schemas.errors import InputError
from tests.pseudo_terminal import Terminal, terminal

POINTS: dict[str, list[dict[str, Any]]] = {
    "q1": [
        {
            "id": "q1/1",
            "text": "Logs stay 30 days and are free.",
            "weight": "vital",
            "documents": ["logs.md"],
            "gold": [{"document": "logs.md", "quote": "Logs are kept for 30 days."}],
            "status": "draft",
        },
        {"id": "q1/2", "text": "They are gone then.", "weight": "okay", "documents": [], "status": "draft"},
    ]
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "setups").mkdir()
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "logs.md").write_text("# Logs\n\n## Team\n\nLogs are kept for 30 days. They are free.\n")
    question = {"id": "q1", "text": "How long do logs stay?", "gold": [{"document": "logs.md"}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "keypoints.json").write_text(json.dumps(POINTS, indent=2) + "\n")
    return tmp_path


def ready(at: Terminal) -> str:
    """Wait until a key may be pressed; returns what was shown."""
    return at.wait_for("q quit") + at.wait_for(">")


def saved(workspace: Path) -> list[tuple[str, str, str, str]]:
    points = json.loads((workspace / "keypoints.json").read_text("utf-8"))["q1"]
    return [(point["id"], point["text"], point["weight"], point["status"]) for point in points]


def change_everything(at: Terminal) -> None:
    ready(at)
    at.type("e")
    at.wait_for("text:")
    at.type("\x01Today l\x1b[3~")  # Ctrl-A to the start, Delete
    at.type("\r")
    at.wait_for("why")
    at.type("clearer\r")
    at.wait_for("edited q1/1; a accepts it")
    ready(at)
    at.type("s")
    at.wait_for("part 1:")
    at.type("\x17" * 3 + "\r")  # Ctrl-W takes back a word; the rest is offered as part 2
    at.wait_for("part 2: and are free.")
    at.type("\x15They are free.\r")
    at.wait_for("part 3")
    at.type("\r")
    at.wait_for("why")
    at.type("two things\r")
    at.wait_for("split in 2 q1/1")
    ready(at)
    at.type("a")
    at.wait_for("accepted q1/1")
    ready(at)
    at.type("m")
    at.wait_for("why")
    at.type("\r")  # a reason is needed
    at.wait_for("why")
    at.type("nice to know\r")
    at.wait_for("marked okay q1/3")
    ready(at)
    at.type("nd")
    at.wait_for("why")
    at.type("not in the page\r")
    at.wait_for("That was the last one; 1 points are not reviewed yet")


def test_a_sitting_and_another_that_undoes_it(workspace: Path) -> None:
    words = ["keypoints", "review", "--workspace", str(workspace)]
    with terminal([*words, "--who", "Ana"], columns=80, lines=40) as at:
        shown = ready(at)
        assert "point 1 of 2, 2 not reviewed yet" in shown
        assert shown.index("Logs stay 30 days and are free.") < shown.index("Logs > Team")
        at.type("x")  # no key of ours
        at.type("n")
        change = at.wait_for("point 2 of 2")
        assert "accepted" not in change
        at.type("b")
        at.wait_for("point 1 of 2")
        change_everything(at)
        ready(at)
        at.type("q")
        at.wait_for("5 changes, all saved")
        assert at.end() == 0
    assert saved(workspace) == [
        ("q1/1", "Today logs stay 30 days", "vital", "reviewed"),
        ("q1/3", "They are free.", "okay", "draft"),
        ("q1/2", "They are gone then.", "okay", "dropped"),
    ]
    edits = [edit for point in json.loads((workspace / "keypoints.json").read_text())["q1"] for edit in point["edits"]]
    assert {edit["who"] for edit in edits} == {"Ana"}
    reasons = ["clearer", "two things", "", "two things", "nice to know", "not in the page"]
    assert [edit["why"] for edit in edits] == reasons
    with terminal([*words, "--who", "Ben"], columns=140, lines=40) as at:
        # Point and source stand side by side.
        assert any("How long do logs stay?" in line and "Logs > Team" in line for line in ready(at).split("\n"))
        for what in ("dropped", "marked okay", "accepted", "split in 2", "edited"):
            at.type("u")
            at.wait_for(f"was {what} by Ana")
            at.type("y")
            at.wait_for(f"no longer {what}")
            ready(at)
        at.type("u")
        at.wait_for("there is nothing to undo")
        ready(at)
        at.type("\x04")  # Ctrl-D
        at.wait_for("2 of 2 points are not reviewed yet")
        assert at.end() == 0
    assert (workspace / "keypoints.json").read_text() == json.dumps(POINTS, indent=2) + "\n"


def test_leaving_a_question_changes_nothing(workspace: Path) -> None:
    before = (workspace / "keypoints.json").read_text()
    with terminal(["keypoints", "review", "--workspace", str(workspace)], columns=80, lines=40) as at:
        # Ctrl-C, Esc and Ctrl-D go back to the point.
        for key, label, leave in (
            ("e", "text:", "\x03"),
            ("s", "part 1", "\x1b"),
            ("d", "why", "\x1b"),
            ("m", "why", "\x04"),
            ("A", "why", "\x03"),
        ):
            ready(at)
            at.type(key)
            at.wait_for(label)
            at.type(leave)
            at.wait_for("left as it was")
        ready(at)
        at.type("\x03")  # and here it ends the command
        at.wait_for("interrupted")
        assert at.end() == 130
    assert (workspace / "keypoints.json").read_text() == before


def test_without_a_terminal_it_says_so(workspace: Path) -> None:
    result = CliRunner().invoke(app, ["keypoints", "review", "--workspace", str(workspace)])
    assert isinstance(result.exception, InputError)
    assert "no terminal" in str(result.exception)
