"""An old run still reports when the workspace has moved on, and says that it has."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.cli import main


def report(workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["fourcells", "report", "--workspace", str(workspace), "--format", "json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}
    document = json.loads(capsys.readouterr().out)
    assert sum(document["setups"]["v1"]["cells"].values()) == 8, "the run reports from its own rows"
    notes: list[str] = document["notes"]
    return notes


def append(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text((folder / name).read_text("utf-8") + text, encoding="utf-8")


def edit_a_document(folder: Path) -> None:
    path = next((folder / "corpus").rglob("*.md"))
    path.write_text(path.read_text("utf-8") + "\nOne more line.\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("move", "said"),
    [
        pytest.param(edit_a_document, "documents changed", id="a document edited"),
        pytest.param(append("setups/v1.toml", "\n[retrieval]\nk1 = 2.0\n"), "1 setups changed", id="a setup edited"),
        pytest.param(
            lambda folder: (folder / "grading.toml").write_text("correct_at = 0.5\n"), "1 thresholds", id="thresholds"
        ),
        pytest.param(lambda folder: shutil.rmtree(folder / "corpus"), "moved on", id="the corpus gone"),
    ],
)
def test_a_report_says_that_the_workspace_moved_on(
    done: Path,
    move: Callable[[Path], object],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report(done, monkeypatch, capsys) == []
    move(done)
    assert any(said in note for note in report(done, monkeypatch, capsys))
