"""`init`: a new workspace is whole or not there, and no file is ever overwritten."""

import json
from pathlib import Path

import pytest

from schemas.claude import ClaudeJudgeSettings, ClaudeWriterSettings
from schemas.errors import InputError
from schemas.setup import Grading, OfflineWriterSettings
from tasks.workspace import making
from tasks.workspace.asked import ask
from tasks.workspace.corpus import read_corpus
from tasks.workspace.importing import Source
from tasks.workspace.making import make_from_answers, make_workspace
from tasks.workspace.questions import read_key_points, read_questions
from tasks.workspace.settings import load_grading, load_judge, load_setup, names_in

ROWS = [
    {
        "question": "How long are logs kept?",
        "answer": "30 days.",
        "contexts": ["Logs stay 30 days."],
        "ground_truth": "Logs are kept for 30 days.",
    },
    {"question": "Who may export?", "answer": "Owners.", "contexts": []},
]


@pytest.fixture
def answers(tmp_path: Path) -> Source:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "saved.json").write_text(json.dumps(ROWS), encoding="utf-8")
    return Source(tmp_path / "in" / "saved.json")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("place", ["new", "deep/down/new", "empty", "repository"])
def test_a_new_workspace_is_whole(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    if place == "empty":
        folder.mkdir()
    if place == "repository":
        (folder / ".git").mkdir(parents=True)
    make_workspace(folder)
    questions = read_questions(folder)
    points = read_key_points(folder, {question.id: question for question in questions})
    asked = ask(questions, points, read_corpus(folder), skip_unresolved=False, where=folder)
    assert [question.answerable for question in asked] == ["yes", "yes", "no"]
    assert names_in(folder / "setups") == ["claude-grounded", "v1", "v2"]
    assert load_setup(folder, "v1").writer == OfflineWriterSettings()
    assert load_setup(folder, "v2").writer == OfflineWriterSettings(abstain_below=0.35)
    assert isinstance(load_setup(folder, "claude-grounded").writer, ClaudeWriterSettings)
    assert isinstance(load_judge(folder, "claude").judge, ClaudeJudgeSettings)
    assert load_judge(folder, "offline").judge.provider == "offline"
    assert load_grading(folder) == Grading()
    assert (folder / ".gitignore").read_text().split()[-2:] == ["store/", "reports/"]
    assert not list(folder.parent.glob(".fourcells-init-*"))
    assert not list(folder.glob(".fourcells-init-*"))


def test_every_default_of_grading_stands_in_its_comments(tmp_path: Path) -> None:
    make_workspace(tmp_path / "ws")
    path = tmp_path / "ws" / "grading.toml"
    lines = path.read_text().split("\n")
    values = [line.removeprefix("# ") for line in lines if " = " in line]
    path.write_text("\n".join(values))
    assert load_grading(tmp_path / "ws") == Grading()
    assert [line.split(" = ")[0] for line in values] == list(Grading.model_fields)


def test_a_workspace_in_use_gets_only_what_it_lacks(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"id": "mine", "text": "Mine?"}\n')
    (tmp_path / ".gitignore").unlink()
    before = contents(tmp_path)
    assert make_workspace(tmp_path) == ["added .gitignore"]
    assert contents(tmp_path) == {**before, ".gitignore": (tmp_path / ".gitignore").read_bytes()}
    assert make_workspace(tmp_path) == ["nothing was missing; no file was touched"]


def test_other_folders_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").touch()
    with pytest.raises(InputError, match=r"holds something else already: 'a.txt'"):
        make_workspace(tmp_path / "letters")
    with pytest.raises(InputError, match="this is a file"):
        make_workspace(tmp_path / "letters" / "a.txt")
    assert contents(tmp_path) == {"letters/a.txt": b""}


@pytest.mark.parametrize("existing", [False, True], ids=["new folder", "empty folder"])
def test_a_failure_leaves_nothing_half_made(tmp_path: Path, existing: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    def fail(*_: object) -> list[str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "furnish", fail)
    folder = tmp_path / "ws"
    if existing:
        folder.mkdir()
    with pytest.raises(InputError, match="No space left on device"):
        make_workspace(folder)
    assert list(tmp_path.rglob("*")) == ([folder] if existing else [])


def test_saved_answers_bring_questions_references_and_a_setup(tmp_path: Path, answers: Source) -> None:
    told = make_from_answers(tmp_path / "ws", answers, setup="prod", corpus=None)
    questions = read_questions(tmp_path / "ws")
    assert [(q.id, q.answerable, q.reference) for q in questions] == [
        ("q1", "yes", "Logs are kept for 30 days."),
        ("q2", "unknown", None),
    ]
    assert names_in(tmp_path / "ws" / "setups") == ["prod"]
    points = read_key_points(tmp_path / "ws", {question.id: question for question in questions})
    assert [point.text for point in points["q1"]] == ["Logs are kept for 30 days."]
    assert "2 answers to 2 questions" in told


def test_documents_can_be_given_with_saved_answers(tmp_path: Path, answers: Source) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "logs.md").write_text("Logs stay 30 days.")
    make_from_answers(tmp_path / "ws", answers, setup="prod", corpus=tmp_path / "docs")
    assert [document.document_id for document in read_corpus(tmp_path / "ws")] == ["logs.md"]


WRONG = {
    "no question column": ([{"answer": "a", "prompt": "q"}], "prod", "no column holds the question"),
    "a row without a question": ([{"question": " ", "answer": "a"}], "prod", "row 1: the row has no text"),
    "a question twice": ([ROWS[0], ROWS[0]], "prod", "row 2: the question is asked twice"),
    "an id twice": ([{**ROWS[0], "id": "x"}, {**ROWS[1], "id": "x"}], "prod", "question id 'x' is there twice"),
    "a hostile setup name": (ROWS, "../prod", "cannot be a setup's name"),
}


@pytest.mark.parametrize(("rows", "setup", "said"), WRONG.values(), ids=WRONG)
def test_wrong_saved_answers_make_no_workspace(tmp_path: Path, rows: list[object], setup: str, said: str) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        make_from_answers(tmp_path / "ws", Source(file), setup=setup, corpus=None)
    assert list(tmp_path.iterdir()) == [file]
