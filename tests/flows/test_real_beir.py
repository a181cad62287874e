"""The main job on real input: a folder in BEIR layout becomes a workspace, and one command takes it through all stages."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.cli import main

pytestmark = pytest.mark.skipif(
    "FOURCELLS_REAL_DATA" not in os.environ, reason="needs FOURCELLS_REAL_DATA, the folder of real data"
)


def command(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", ["fourcells", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}


def test_real_documentation_goes_through_all_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(os.environ["FOURCELLS_REAL_DATA"]) / "claude_docs"
    workspace = str(tmp_path / "ws")
    command(monkeypatch, "init", workspace, "--from-beir", str(source))
    assert "100 questions, 100 with gold" in capsys.readouterr().out
    command(monkeypatch, "run", "--workspace", workspace, "--json")
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    for setup in document["setups"].values():
        assert sum(setup["cells"].values()) == 100
        assert setup["metrics"]["recall@5"]["n"] == 100
        # What three published retrievers reached on these questions is 0.66 to 0.71 at three passages.
        assert setup["metrics"]["recall@3"]["value"] > 0.5
        assert setup["metrics"]["correct_rate"]["n"] == 100
    command(monkeypatch, "report", "--workspace", workspace, "--format", "markdown")
    said = capsys.readouterr().out
    assert "144 of 144 are drafted by rule, not reviewed" in said
    assert "page-level" in said
    command(monkeypatch, "run", "--workspace", workspace, "--json")
    again: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert all(set(setup["computed"].values()) == {0} for setup in again["setups"].values())
