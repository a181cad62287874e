"""`doctor` says everything that is wrong at once, and writes nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.workspace.doctor import examine
from tasks.workspace.making import make_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    make_workspace(tmp_path / "ws")
    return tmp_path / "ws"


def write(name: str, content: str | bytes) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return spoil


def edit(name: str, old: str, new: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return spoil


def question(**fields: object) -> str:
    return json.dumps({"id": "q9", "text": "Why?", **fields}) + "\n"


def test_a_new_workspace_is_well(workspace: Path) -> None:
    assert examine(workspace).told() == ["3 setups, 3 questions, 4 key points, 1 documents: 0 errors, 0 warnings"]


ERRORS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a setup": (write("setups/v1.toml", "[context]\nkk = 3"), ["unknown key context.kk"]),
    "every setup": (
        lambda folder: [write(f"setups/{name}.toml", "x = 1")(folder) for name in ("v1", "v2")],
        ["v1.toml", "v2.toml"],
    ),
    "a stemmer": (write("setups/v1.toml", '[retrieval]\nstemmer = "klingon"'), ["unknown language 'klingon'"]),
    "no setup": (lambda folder: shutil.rmtree(folder / "setups"), ["there is no setup"]),
    "a judge": (write("judges/offline.toml", "[judge]\nprovider = 'x'"), ["judge.provider"]),
    "no judge": (lambda folder: shutil.rmtree(folder / "judges"), ["there is no judge"]),
    "grading": (write("grading.toml", "correct_at = 2"), ["key correct_at"]),
    "an empty prompt": (write("prompts/writer.md", " \n"), ["writer.md: the prompt is empty"]),
    "a prompt that is not UTF-8": (write("prompts/writer.md", b"\xa4"), ["writer.md: not UTF-8"]),
    "no question": (write("questions.jsonl", ""), ["there is no question in it"]),
    "every line of questions": (
        edit("questions.jsonl", '"text": "', '"txt": "'),
        ["line 1: unknown key txt", "line 2: unknown key txt", "line 3: unknown key txt"],
    ),
    "questions in several ways": (
        edit("questions.jsonl", '{"id": "q3"', question() * 2 + question(id="q8", text=" ") + '{]\n{"id": "q3"'),
        ["line 4: question id 'q9' is there twice", "line 5: the question's text is empty", "line 6: not valid JSON"],
    ),
    "every key point": (
        edit("keypoints.json", '"weight": "okay"', '"weight": "nice"'),
        ["question q1 point 2: key weight", "question q2 point 2: key weight"],
    ),
    "key points of nobody": (write("keypoints.json", '{"q7": [], "q8": {}}'), ["question q7", "question q8"]),
    "key points that are no object": (write("keypoints.json", "[]"), ["expected an object"]),
    "a point id twice": (edit("keypoints.json", '"q2/1"', '"q1/1"'), ["point id 'q1/1' is there twice (first for q1)"]),
    "gold of every question and point": (
        edit("corpus/example.md", "Workspace owners", "Owners of a workspace"),
        ["question q2: gold quote", "question q2 point q2/1: gold quote"],
    ),
    "every document that is not UTF-8": (
        lambda folder: [write(f"corpus/{name}", b"\xa4")(folder) for name in ("b.md", "c.txt")],
        ["b.md: not UTF-8", "c.txt: not UTF-8"],
    ),
    "a document twice": (
        write("corpus/corpus.jsonl", '{"_id": "example.md", "text": "x"}'),
        ["document id 'example.md' is there twice"],
    ),
    "saved answers that are not there": (write("setups/s.toml", 'answers = "s.jsonl"'), ["no file 's.jsonl'"]),
    "saved answers to nobody": (
        lambda folder: [
            write("setups/s.toml", 'answers = "s.jsonl"')(folder),
            write("answers/s.jsonl", '{"question_id": "q7", "answer": ""}\n{"question_id": "q8"}')(folder),
        ],
        ["1 answers belong to no question of questions.jsonl: q7", "line 2: key answer is missing"],
    ),
}


@pytest.mark.parametrize(("spoil", "said"), ERRORS.values(), ids=ERRORS)
def test_every_error_is_said(workspace: Path, spoil: Callable[[Path], object], said: list[str]) -> None:
    spoil(workspace)
    before = {path: path.stat().st_mtime_ns for path in workspace.rglob("*")}
    diagnosis = examine(workspace)
    for fragment in said:
        assert [problem for problem in diagnosis.errors if fragment in problem], (fragment, diagnosis.errors)
    assert {path: path.stat().st_mtime_ns for path in workspace.rglob("*")} == before


WARNINGS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "an answerable question without labels": (
        edit("questions.jsonl", '{"id": "q3"', question() + '{"id": "q3"'),
        ["1 answerable questions have no gold", "1 answerable questions have no key points"],
    ),
    "answerable unknown": (
        edit("questions.jsonl", '"answerable": "no"', '"answerable": "unknown"'),
        ["1 questions do not say"],
    ),
    "an unanswerable question with gold": (
        edit("questions.jsonl", '"answerable": "no"', '"answerable": "no", "gold": [{"document": "example.md"}]'),
        ["1 unanswerable questions have gold or key points"],
    ),
    "a text twice": (
        edit("questions.jsonl", "Who can export logs?", "How  long are logs kept on the Team plan?"),
        ["1 questions share their text with another: q2"],
    ),
    "one point": (
        write("keypoints.json", '{"q1": [{"id": "1", "text": "30 days."}]}'),
        ["1 questions have fewer than 2 or more than 5", "1 of 1 key points are not reviewed"],
    ),
    "no vital point": (edit("keypoints.json", "vital", "okay"), ["2 questions have no vital point"]),
    "a point's unknown document": (
        edit("keypoints.json", '"documents": [\n        "example.md"', '"documents": [\n        "gone.md"'),
        ["4 key points name documents that are not in the corpus"],
    ),
    "gold that does not support its point": (
        edit("keypoints.json", "logs are kept for 30 days.", "backups are encrypted by customers."),
        ["offline judge: the gold of point q1/1 does not support it (NOT_SUPPORTED)"],
    ),
    "thin documents that nobody names": (
        write("corpus/b.md", "Hm.\n"),
        ["1 documents are nearly empty: b.md", "1 of 2 documents are named by no gold"],
    ),
    "a long document in one chunk": (
        lambda folder: [
            write("setups/v1.toml", '[splitting]\nby = "document"')(folder),
            write("corpus/b.md", "word " * 9000)(folder),
        ],
        ["1 documents have over 8000 tokens, and setup v1 takes each as one chunk: b.md"],
    ),
    "answers that are missing": (
        lambda folder: [
            write("setups/s.toml", 'answers = "s.jsonl"')(folder),
            write("answers/s.jsonl", '{"question_id": "q1", "answer": ""}')(folder),
        ],
        ["setup s has no answer to 2 questions: q2, q3"],
    ),
}


@pytest.mark.parametrize(("spoil", "said"), WARNINGS.values(), ids=WARNINGS)
def test_doubts_are_warnings(workspace: Path, spoil: Callable[[Path], object], said: list[str]) -> None:
    spoil(workspace)
    diagnosis = examine(workspace)
    assert diagnosis.errors == ()
    for fragment in said:
        assert [problem for problem in diagnosis.warnings if fragment in problem], (fragment, diagnosis.warnings)


def test_a_dropped_point_is_not_looked_at(workspace: Path) -> None:
    text = (workspace / "keypoints.json").read_text(encoding="utf-8")
    lost = text.replace("example.md", "gone.md", 2).replace('"reviewed"', '"dropped"', 1)
    (workspace / "keypoints.json").write_text(lost, encoding="utf-8")
    told = examine(workspace).told()
    assert told == [
        "warning: 1 questions have fewer than 2 or more than 5 key points: q1",
        "warning: 1 questions have no vital point, so all of theirs count as vital: q1",
        "3 setups, 3 questions, 3 key points, 1 documents: 0 errors, 2 warnings",
    ]


def test_a_broken_question_brings_no_errors_about_its_points(workspace: Path) -> None:
    edit("questions.jsonl", '"text": "Who', '"txt": "Who')(workspace)
    told = examine(workspace).errors
    assert ["unknown key txt" in told[0], "key text is missing" in told[1], len(told)] == [True, True, 2]


def test_one_who_only_grades_saved_answers_needs_no_documents(workspace: Path) -> None:
    for path in [*(workspace / "setups").iterdir(), *(workspace / "corpus").iterdir()]:
        path.unlink()
    (workspace / "corpus").rmdir()
    write("setups/s.toml", 'answers = "s.jsonl"')(workspace)
    write("answers/s.jsonl", '{"question_id": "q1", "answer": ""}')(workspace)
    diagnosis = examine(workspace)
    assert diagnosis.errors == ()
    assert "gold was not looked up, since there are no documents that could be read" in diagnosis.warnings
