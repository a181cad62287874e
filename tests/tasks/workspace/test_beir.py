"""A folder in BEIR's layout becomes questions with document gold."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemas.errors import InputError
from schemas.gold import GoldEntry
from tasks.workspace.beir import read_beir
from tasks.workspace.making import make_from_beir
from tasks.workspace.questions import read_key_points, read_questions

HEADER = "query-id\tcorpus-id\tscore\n"
CORPUS = '{"_id": "d1", "title": "", "text": "Logs are kept for 30 days."}\n{"_id": "d 2/é", "text": "Backups."}\n'
QUERIES = [
    {"_id": "graded", "text": "How long are logs kept?"},
    {
        "_id": "referenced",
        "text": "And backups?",
        "metadata": {"answer": "Backups are kept for a week. Then they are deleted."},
    },
    {"_id": "judged irrelevant", "text": "Who?"},
    {"_id": "never judged", "text": "Why?"},
]
QRELS = "graded\td1\t2\ngraded\td 2/é\t1\njudged irrelevant\td1\t0\n"


def lines(records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)  # type: ignore[attr-defined]


def write(folder: Path, changes: Mapping[str, str | None]) -> Path:
    files = {"corpus.jsonl": CORPUS, "queries.jsonl": lines(QUERIES), "qrels/test.tsv": HEADER + QRELS, **changes}
    for name, text in files.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder


def test_judgments_above_zero_are_gold_and_other_queries_stay_out(tmp_path: Path) -> None:
    found = read_beir(write(tmp_path, {}))
    graded, referenced = found.questions
    assert graded.gold == (GoldEntry(document="d1", grade=2), GoldEntry(document="d 2/é", grade=1))
    assert (graded.gold_rule, graded.answerable) == ("any", "yes")
    assert (referenced.gold, referenced.answerable) == ((), "yes")
    assert referenced.reference == "Backups are kept for a week. Then they are deleted."
    assert found.n_left_out == 2


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        pytest.param({"qrels/train.tsv": HEADER}, "test.tsv", id="test before others"),
        pytest.param({"qrels/test.tsv": None, "qrels/dev.tsv": HEADER + QRELS}, "dev.tsv", id="the only one"),
    ],
)
def test_which_judgments_are_taken(tmp_path: Path, files: dict[str, str | None], chosen: str) -> None:
    assert read_beir(write(tmp_path, files)).qrels.name == chosen


WRONG: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "no corpus": ({"corpus.jsonl": None}, ["it has no corpus.jsonl"]),
    "several qrels": (
        {"qrels/test.tsv": None, "qrels/dev.tsv": HEADER, "qrels/train.tsv": HEADER},
        ["dev.tsv, train.tsv", "Name the right one test.tsv"],
    ),
    "qrels without a header": ({"qrels/test.tsv": QRELS}, ["the first line is", "query-id"]),
    "two columns": ({"qrels/test.tsv": HEADER + "graded\td1\n"}, ["test.tsv line 2", "2 columns instead of 3"]),
    "a score in words": ({"qrels/test.tsv": HEADER + "graded\td1\tgood\n"}, ["line 2", "'good' is no number"]),
    "a pair judged twice": ({"qrels/test.tsv": HEADER + QRELS + "graded\td1\t1\n"}, ["line 5", "judged twice"]),
    "a judged query that is not there": ({"qrels/test.tsv": HEADER + "q9\td1\t1\n"}, ["query 'q9'", "not in queries"]),
    "a query twice": ({"queries.jsonl": lines(QUERIES[:1] * 2)}, ["queries.jsonl line 2", "there twice"]),
    "a query without text": ({"queries.jsonl": '{"_id": "q"}\n'}, ["queries.jsonl line 1", "string text"]),
    "queries that are not JSON": ({"queries.jsonl": "{]\n"}, ["queries.jsonl line 1", "not valid JSON"]),
    "no query left": ({"queries.jsonl": lines(QUERIES[3:]), "qrels/test.tsv": HEADER}, ["no query has a judgment"]),
    "a document without text": ({"corpus.jsonl": '{"_id": "d1"}\n'}, ["a document needs a string _id"]),
}


@pytest.mark.parametrize(("files", "said"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_named_and_leaves_nothing_behind(
    tmp_path: Path, files: dict[str, str | None], said: list[str]
) -> None:
    source = write(tmp_path / "beir", files)
    with pytest.raises(InputError) as caught:
        make_from_beir(tmp_path / "ws", source)
    assert all(fragment in str(caught.value) for fragment in [*said, str(source)])
    assert [path.name for path in tmp_path.iterdir()] == ["beir"]


def test_the_workspace_holds_the_corpus_byte_for_byte_and_points_from_references(tmp_path: Path) -> None:
    source = write(tmp_path / "beir", {})
    told = make_from_beir(tmp_path / "ws", source)
    workspace = tmp_path / "ws"
    assert (workspace / "corpus" / "corpus.jsonl").read_bytes() == (source / "corpus.jsonl").read_bytes()
    questions = {question.id: question for question in read_questions(workspace)}
    assert tuple(questions.values()) == read_beir(source).questions
    assert [point.text for point in read_key_points(workspace, questions)["referenced"]] == [
        "Backups are kept for a week.",
        "Then they are deleted.",
    ]
    assert any("2 queries were left out" in line for line in told)


def test_gold_outside_the_corpus_is_kept_and_said(tmp_path: Path) -> None:
    told = make_from_beir(tmp_path / "ws", write(tmp_path / "beir", {"corpus.jsonl": CORPUS.partition("\n")[0]}))
    assert any("1 questions name gold that is not in the corpus, first 'graded'" in line for line in told)


@pytest.mark.skipif(
    "FOURCELLS_REAL_DATA" not in os.environ, reason="needs FOURCELLS_REAL_DATA, the folder of real data"
)
def test_real_documentation(tmp_path: Path) -> None:
    source = Path(os.environ["FOURCELLS_REAL_DATA"]) / "claude_docs"
    told = make_from_beir(tmp_path / "ws", source)
    assert told[:2] == ["232 documents", "100 questions, 100 with gold: 192 documents, rule any (from qrels/test.tsv)"]
    known = {question.id: question for question in read_questions(tmp_path / "ws")}
    points = read_key_points(tmp_path / "ws", known)
    assert set(points) == set(known)
    assert {point.status for found in points.values() for point in found} == {"drafted by rule, not reviewed"}
