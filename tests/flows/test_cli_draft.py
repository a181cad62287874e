"""`keypoints draft` against a server that speaks the Messages API."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from schemas.errors import InputError
from tasks.workspace.folder import BUILT_IN
from tests.stub import messages
from tests.stub.server import StubServer
from tests.stub.settings import Fault

RUNNER = CliRunner()


def compose(params: Mapping[str, Any], *, by_hash: bool) -> str:
    """Two points of the document's first two sentences of some length."""
    text = params["messages"][0]["content"][0]["text"]
    document = re.findall(r"<document number=\"1\">\n(.*?)\n</document>", text, flags=re.DOTALL)[0]
    sentences = re.findall(r"[A-Z][^.\n|]{25,}\.", document)[:2]
    points = [
        {"evidence": [{"document": 1, "quote": sentence}], "text": sentence, "weight": "vital"}
        for sentence in sentences
    ]
    return json.dumps({"points": points})


@pytest.fixture
def judged(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(messages, "compose", compose)
    (workspace / "prompts").mkdir()
    shutil.copyfile(BUILT_IN / "prompts" / "drafter.md", workspace / "prompts" / "drafter.md")
    (workspace / "judges" / "c.toml").write_text(
        '[drafter]\nprovider = "anthropic"\nmodel = "claude-haiku-4-5"\nconcurrency = 1\n'
    )
    (workspace / "keypoints.json").unlink()
    return workspace


def call(*words: str | Path) -> tuple[int, str, str]:
    result = RUNNER.invoke(app, ["keypoints", *(str(word) for word in words)])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_drafts_are_bought_once(judged: Path, stub: StubServer) -> None:
    code, out, _ = call("draft", "--workspace", judged, "--judge", "c")
    assert (code, out.split("\n")[0]) == (
        0,
        "14 key points drafted for 7 questions; a person has to review them: fourcells keypoints review",
    )
    assert "1 questions are marked unanswerable and need no points: q8" in out
    assert stub.stats().messages == 7
    assert json.loads(call("status", "--workspace", judged, "--format", "json")[1])["by_status"] == {
        "draft": {"points": 14, "questions": 7}
    }
    before = (judged / "keypoints.json").read_bytes()
    code, out, _ = call("draft", "--workspace", judged, "--judge", "c", "--again")
    assert (code, stub.stats().messages) == (0, 7)
    assert "$0.0000 paid now for 7 replies" in out
    assert (judged / "keypoints.json").read_bytes() == before
    # Every draft stands a run's checks: its quote is found in its document.
    assert RUNNER.invoke(app, ["doctor", "--workspace", str(judged)]).exit_code == 0


def test_an_estimate_asks_nobody(judged: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    code, out, _ = call("draft", "--workspace", judged, "--judge", "c", "--estimate")
    assert (code, "7 calls of claude-haiku-4-5" in out, stub.stats().messages) == (0, True, 0)
    assert not (judged / "keypoints.json").exists()
    with pytest.raises(InputError, match="needs an API key"):
        call("draft", "--workspace", judged, "--judge", "c")


def test_what_the_budget_does_not_reach_is_left_with_exit_code_3(judged: Path, stub: StubServer) -> None:
    code, out, err = call("draft", "--workspace", judged, "--judge", "c", "--budget", "0.05")
    assert code == 3
    n_failed = out.count("over_budget, Budget")
    assert 0 < n_failed < 7
    assert f"{n_failed} questions got no key points" in err
    assert stub.stats().messages == 7 - n_failed
    # The next run goes on with the rest.
    assert call("draft", "--workspace", judged, "--judge", "c")[0] == 0
    assert stub.stats().messages == 7


def test_a_refusal_fails_its_question_only(judged: Path, stub: StubServer) -> None:
    stub.change(Fault(kind="refused", having="When do nightly backups start?", times=None))
    code, out, _ = call("draft", "--workspace", judged, "--judge", "c")
    assert code == 3
    assert out.startswith("12 key points drafted for 6 questions")
    assert "failed: q2 (refused, Refusal)" in out
