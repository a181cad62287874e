"""Bad input: one clear paragraph, exit code 2, and nothing written."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.cli import main

QUESTION = {"id": "q1", "text": "How long are logs kept?", "gold": [{"document": "a.md", "quote": "30 days"}]}
POINT = {"id": "q1/1", "text": "Logs are kept for 30 days."}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for name in ("corpus", "setups", "judges"):
        (folder / name).mkdir(parents=True)
    (folder / "corpus" / "a.md").write_text("# Logs\n\nLogs are kept for 30 days.\n", encoding="utf-8")
    (folder / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    (folder / "keypoints.json").write_text(json.dumps({"q1": [POINT]}), encoding="utf-8")
    (folder / "setups" / "v1.toml").write_text("[context]\nk = 3\n", encoding="utf-8")
    (folder / "judges" / "offline.toml").touch()
    return folder


def write(name: str, content: str | bytes) -> Callable[[Path], object]:
    raw = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(raw)


def question(**changes: object) -> str:
    return json.dumps({**QUESTION, **changes}) + "\n"


CASES = [
    pytest.param(["--setup", "v2"], None, ["unknown setup 'v2'", "Allowed: v1", "Did you mean v1?"], id="unknown setup"),
    pytest.param(["--judge", "oflin"], None, ["unknown judge 'oflin'", "Did you mean offline?"], id="typo in a judge"),
    pytest.param(["--question", "q7"], None, ["unknown question 'q7'"], id="unknown question"),
    pytest.param([], write("setups/v1.toml", "[context]\nkk = 3\n"), ["unknown key context.kk", "v1.toml", "Did you mean k?"], id="unknown key"),
    pytest.param([], write("setups/v1.toml", "[context]\nk = 0\n"), ["context.k", "greater than or equal to 1", "got 0"], id="value out of range"),
    pytest.param([], write("setups/v1.toml", "[context]\nk = 'five'\n"), ["context.k", "integer", '"five"'], id="value of another type"),
    pytest.param([], write("setups/v1.toml", "[context]\nk = 60\n"), ["context.k (60) is larger than retrieval.depth (50)"], id="k above the depth"),
    pytest.param([], write("setups/v1.toml", "[splitting]\nby = 'page'\n"), ["splitting", "tokens, heading, document"], id="unknown way to split"),
    pytest.param([], write("setups/v1.toml", "[writer]\nprovider = 'gpt'\n"), ["writer.provider", "offline"], id="unknown writer"),
    pytest.param([], write("setups/v1.toml", "[retrieval]\nstemmer = 'klingon'\n"), ["klingon", "english"], id="unknown stemmer"),
    pytest.param([], write("setups/v1.toml", "k = = 3\n"), ["v1.toml", "not valid TOML", "line 1"], id="not TOML"),
    pytest.param([], write("grading.toml", "grounded = 0.5\n"), ["unknown key grounded", "grading.toml", "grounded_at"], id="unknown key in grading"),
    pytest.param([], write("grading.toml", "k = [80]\n"), ["k: 80", "retrieval.depth"], id="cut below the stored ranking"),
    pytest.param([], write("questions.jsonl", question() * 2), ["question id 'q1' is there twice", "line 2", "line 1"], id="question id twice"),
    pytest.param([], write("questions.jsonl", ""), ["questions.jsonl", "no question"], id="empty questions"),
    pytest.param([], write("questions.jsonl", "{]\n"), ["questions.jsonl line 1", "not valid JSON"], id="line that is not JSON"),
    pytest.param([], write("questions.jsonl", "[1]\n"), ["questions.jsonl line 1", "JSON object"], id="line that is no object"),
    pytest.param([], write("questions.jsonl", question(anserable="no")), ["unknown key anserable", "Did you mean answerable?"], id="typo in a question's key"),
    pytest.param([], write("questions.jsonl", question(gold=[{"document": "a.md", "quote": "31 days"}])), ["question q1", "'31 days' is not in a.md", "Logs are kept for 30 days."], id="quote not in its document"),
    pytest.param([], write("questions.jsonl", question(gold=[{"document": "b.md"}])), ["question q1", "'b.md'", "Did you mean a.md?"], id="document not in the corpus"),
    pytest.param([], write("questions.jsonl", question(gold=[{"document": "a.md", "quote": "o"}])), ["stands 3 times", "occurrence"], id="quote that stands twice"),
    pytest.param([], write("questions.jsonl", question(gold=[{"quote": "30 days"}])), ["gold", "document or a passage"], id="gold without a document"),
    pytest.param([], write("questions.jsonl", question().encode("utf-16")), ["questions.jsonl", "not UTF-8"], id="questions not UTF-8"),
    pytest.param([], write("corpus/b.md", b"Preis: 5 \xa4\n"), ["b.md", "not UTF-8", "byte 0xa4 in line 1"], id="document not UTF-8"),
    pytest.param([], lambda folder: (folder / "corpus" / "a.md").unlink(), ["the corpus is empty"], id="empty corpus"),
    pytest.param([], lambda folder: shutil.rmtree(folder / "corpus"), ["no corpus/ folder"], id="no corpus"),
    pytest.param([], lambda folder: shutil.rmtree(folder / "setups"), ["no workspace", "no setups"], id="not a workspace"),
    pytest.param([], lambda folder: (folder / "setups" / "v1.toml").unlink(), ["no setup"], id="no setup"),
    pytest.param([], write("keypoints.json", '{"q9": []}'), ["'q9'", "not in questions.jsonl"], id="points of an unknown question"),
    pytest.param([], write("keypoints.json", json.dumps({"q1": [POINT, POINT]})), ["point id 'q1/1' is there twice"], id="point id twice"),
    pytest.param([], write("setups/v1.toml", "answers = 'gone.jsonl'\n"), ["gone.jsonl", "none yet", "fourcells import"], id="saved answers missing"),
    pytest.param([], write("setups/v1.toml", "answers = '../../etc/passwd'\n"), ["answers", "none yet"], id="saved answers outside the workspace"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "spoil", "said"), CASES)
def test_one_paragraph_and_nothing_written(
    workspace: Path,
    options: list[str],
    spoil: Callable[[Path], object] | None,
    said: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if spoil is not None:
        spoil(workspace)
    monkeypatch.setattr(sys, "argv", ["fourcells", "run", "--workspace", str(workspace), *options])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert out == ""
    assert err.startswith("fourcells: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for fragment in said:
        assert fragment in err
    assert not (workspace / "store").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flows.cli", "run", "--workspace", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert "fourcells init" in done.stderr


@pytest.mark.parametrize(
    "name",
    ["a b: c/d", "😀", "x" * 300, "..", "-rf"],
    ids=["spaces and slashes", "emoji", "300 characters", "dots", "like an option"],
)
def test_names_never_reach_a_file_name(workspace: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "questions.jsonl").write_text(question(id=name), encoding="utf-8")
    (workspace / "keypoints.json").write_text(json.dumps({name: [{**POINT, "id": name}]}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["fourcells", "run", "--workspace", str(workspace), "--json"])
    main_exits_well()
    names = {path.name for path in (workspace / "store").rglob("*")}
    assert not [found for found in names if name in found]


def main_exits_well() -> None:
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}
