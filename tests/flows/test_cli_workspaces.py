"""`init`, `import`, `doctor`, `keypoints` and `store`, as a person types them."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app, main

RUNNER = CliRunner()


def call(*words: str | Path) -> tuple[int, str]:
    result = RUNNER.invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "my ws"
    assert call("init", folder)[0] == 0
    return folder


def test_init_says_what_to_do_next(tmp_path: Path) -> None:
    code, output = call("init", tmp_path / "my ws")
    assert code == 0
    assert output.split("\n")[0] == "wrote corpus/example.md"
    assert output.endswith(f"next: fourcells run --workspace '{tmp_path / 'my ws'}'\n")


def test_import_shows_foreign_text_as_text(workspace: Path) -> None:
    row = {"question": "How long are logs kept on the Team plan?", "answer": "30 days.", "\x1b[31mred": 1}
    file = workspace.parent / "a.jsonl"
    file.write_text(json.dumps(row))
    code, output = call("import", file, "--setup", "prod", "--workspace", workspace)
    assert code == 0
    assert "not used: \\x1b[31mred" in output
    assert (workspace / "setups" / "prod.toml").read_text().endswith('answers = "prod.jsonl"\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["import", "FILE", "--setup", "a b"], "cannot be a setup's name", id="a hostile name"),
        pytest.param(["import", "gone.csv", "--setup", "x"], "gone.csv: there is no such file", id="a missing file"),
        pytest.param(
            ["import", "FILE", "--setup", "x"], "no column holds the question_id or the question", id="a missing column"
        ),
        pytest.param(["init", "new", "--from-beir", "gone"], "it has no corpus.jsonl", id="no BEIR folder"),
        pytest.param(["init", "new", "--ranked"], "belong to --from-answers", id="options that do not go together"),
    ],
)
def test_a_mistake_is_one_paragraph_and_exit_code_2(
    workspace: Path,
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (workspace.parent / "a.jsonl").write_text('{"qestion": "?", "answer": "!"}')
    monkeypatch.chdir(workspace.parent)
    monkeypatch.setenv("FOURCELLS_WORKSPACE", str(workspace))
    given = [word.replace("FILE", "a.jsonl") for word in words]
    monkeypatch.setattr(sys, "argv", ["fourcells", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (workspace.parent / "new").exists()


def test_doctor_ends_with_0_for_warnings_and_2_for_errors(workspace: Path) -> None:
    code, output = call("doctor", "--workspace", workspace)
    assert (code, output.split(": ")[-1]) == (0, "0 errors, 0 warnings\n")
    (workspace / "corpus" / "b.md").write_text("Hm.")
    assert call("doctor", "--workspace", workspace)[0] == 0
    (workspace / "grading.toml").write_text("x = 1")
    code, output = call("doctor", "--workspace", workspace)
    assert code == 2
    assert output.startswith("error: ")
    assert not (workspace / "store").exists()


def test_keypoints(workspace: Path) -> None:
    with (workspace / "questions.jsonl").open("a") as file:
        file.write('{"id": "q4", "text": "And backups?", "reference": "Backups are kept for a week."}\n')
    code, output = call("keypoints", "from-references", "--workspace", workspace)
    assert (code, output.split("\n")[0]) == (
        0,
        "1 key points for 1 questions: drafted by rule, not reviewed, all vital",
    )
    code, output = call("keypoints", "status", "--workspace", workspace, "--format", "json")
    assert json.loads(output)["by_status"]["reviewed"] == {"points": 4, "questions": 2}
    assert "drafted by rule, not reviewed" in call("keypoints", "status", "--workspace", workspace)[1]


def test_store(done: Path) -> None:
    code, output = call("store", "size", "--workspace", done, "--format", "json")
    rows = {entry["room"]: entry["n_rows"] for entry in json.loads(output)}
    assert (code, rows["document"], rows["question"], rows["runs"]) == (0, 6, 8, None)
    assert "bytes in all" in call("store", "size", "--workspace", done)[1]
    assert call("store", "compact", "--workspace", done)[0] == 0
    code, output = call("store", "prune", "--workspace", done, "--keep-runs", "0", "--older-than-days", "0")
    assert (code, "nothing was touched" in output) == (0, True)
    assert (
        "dropped run"
        in call("store", "prune", "--workspace", done, "--keep-runs", "0", "--older-than-days", "0", "--yes")[1]
    )
