"""Saved answers in every format become the same setup; anything wrong is said before anything is written."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.errors import InputError
from schemas.saved import SavedAnswer, SavedPassage
from tasks.workspace.importing import Source, check_setup_name, import_answers
from tasks.workspace.questions import read_saved_answers
from tasks.workspace.settings import load_setup

QUESTIONS = [{"id": "q1", "text": "How long are  logs kept?"}, {"id": "q2", "text": "Who may export?"}]
PLAIN = [
    {"question_id": "q1", "answer": "30 days, “about”.", "passages": ["Logs stay\n30 days.", 'A "quoted", one.']},
    {"question_id": "q2", "answer": "", "passages": []},
]
RAGAS = [
    {"user_input": "How long are logs kept?", "response": row["answer"], "retrieved_contexts": row["passages"]}
    for row in PLAIN[:1]
] + [{"user_input": "Who may export?", "response": "", "retrieved_contexts": []}]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "setups").mkdir(parents=True)
    (folder / "answers").mkdir()
    (folder / "setups" / "own.toml").touch()
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS), encoding="utf-8")
    return folder


def as_csv(rows: list[dict[str, Any]], *, delimiter: str = ",", written: Callable[[Any], str] = json.dumps) -> bytes:
    sink = StringIO()
    writer = csv.DictWriter(sink, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows({k: written(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows)
    return sink.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def put(workspace: Path, name: str, raw: bytes) -> Path:
    file = workspace.parent / name
    file.write_bytes(raw)
    return file


def take(workspace: Path, name: str, raw: bytes, *, setup: str = "prod", replace: bool = False) -> list[str]:
    return import_answers(workspace, Source(put(workspace, name, raw)), setup=setup, replace=replace)


FORMATS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], bytes]]] = {
    "JSONL": ("a.jsonl", as_jsonl),
    "a JSON list": ("a.json", lambda rows: json.dumps(rows).encode()),
    "CSV": ("a.csv", as_csv),
    "CSV with a byte-order mark": ("a.csv", lambda rows: b"\xef\xbb\xbf" + as_csv(rows)),
    "CSV with semicolons": ("a.csv", lambda rows: as_csv(rows, delimiter=";")),
    "CSV with lists as pandas writes them": ("a.csv", lambda rows: as_csv(rows, written=str)),
    "TSV": ("a.tsv", lambda rows: as_csv(rows, delimiter="\t")),
    "Parquet": ("a.parquet", as_parquet),
}


@pytest.mark.parametrize("rows", [PLAIN, RAGAS], ids=["plain names", "ragas names"])
@pytest.mark.parametrize(("name", "write"), FORMATS.values(), ids=FORMATS)
def test_every_format_gives_the_same(
    workspace: Path, name: str, write: Callable[[list[dict[str, Any]]], bytes], rows: list[dict[str, Any]]
) -> None:
    take(workspace, name, write(rows))
    assert load_setup(workspace, "prod").answers == "prod.jsonl"
    passages = tuple(SavedPassage(text=text) for text in PLAIN[0]["passages"])
    assert read_saved_answers(workspace / "answers" / "prod.jsonl") == {
        "q1": SavedAnswer(question_id="q1", answer="30 days, “about”.", passages=passages),
        "q2": SavedAnswer(question_id="q2", answer="", passages=()),
    }


PASSAGES: dict[str, tuple[dict[str, Any], tuple[SavedPassage, ...] | None]] = {
    "not recorded": ({}, None),
    "null": ({"passages": None}, None),
    "an empty cell": ({"passages": ""}, None),
    "none given": ({"passages": []}, ()),
    "none given, by ids": ({"passage_ids": []}, ()),
    "ids nobody knows, without texts": ({"passage_ids": ["p1"]}, None),
    "ids beside": (
        {"passages": ["A", "B"], "retrieved_context_ids": ["p1", 2]},
        (SavedPassage(text="A", id="p1"), SavedPassage(text="B", id="2")),
    ),
    "ranks beside": (
        {"passages": ["A", "B"], "ranks": [2, 1.0]},
        (SavedPassage(text="A", rank=2), SavedPassage(text="B", rank=1)),
    ),
    "ranks from zero": (
        {"passages": ["A", "B"], "ranks": [1, 0]},
        (SavedPassage(text="A", rank=2), SavedPassage(text="B", rank=1)),
    ),
    "objects": (
        {"passages": [{"text": "A", "id": "p1", "document": "a.md", "rank": 1, "score": 0.5}]},
        (SavedPassage(text="A", id="p1", document="a.md", rank=1),),
    ),
    "objects of other makers": (
        {"documents": [{"page_content": "A", "chunk_id": 7, "source": "a.md"}]},
        (SavedPassage(text="A", id="7", document="a.md"),),
    ),
}


@pytest.mark.parametrize(("fields", "passages"), PASSAGES.values(), ids=PASSAGES)
def test_passages(workspace: Path, fields: dict[str, Any], passages: tuple[SavedPassage, ...] | None) -> None:
    take(workspace, "a.jsonl", as_jsonl([{"id": "q1", "answer": "a", **fields}]))
    assert read_saved_answers(workspace / "answers" / "prod.jsonl")["q1"].passages == passages


def test_ranked_says_that_the_order_is_the_retrievers(workspace: Path) -> None:
    source = Source(put(workspace, "a.jsonl", as_jsonl(PLAIN)), ranked=True)
    told = import_answers(workspace, source, setup="prod")
    saved = read_saved_answers(workspace / "answers" / "prod.jsonl")["q1"]
    assert [passage.rank for passage in saved.passages or ()] == [1, 2]
    assert "2 with passages, 1 with ranks, 0 with passage ids, 1 that were given none" in told


def test_ids_of_whole_documents_stand_for_their_texts(workspace: Path) -> None:
    (workspace / "corpus").mkdir()
    (workspace / "corpus" / "a.md").write_text("Logs.")
    take(workspace, "a.jsonl", as_jsonl([{"id": "q1", "answer": "a", "context_ids": ["a.md"], "ranks": [1]}]))
    saved = read_saved_answers(workspace / "answers" / "prod.jsonl")["q1"]
    assert saved.passages == (SavedPassage(text="Logs.", id="a.md", document="a.md", rank=1),)


def test_what_was_mapped_and_counted_is_said(workspace: Path) -> None:
    rows: list[dict[str, Any]] = [{**RAGAS[0], "model": "m", "Latency": 1}, {**RAGAS[1], "response": None}]
    assert take(workspace, "a.jsonl", as_jsonl(rows)) == [
        "a.jsonl: 2 rows",
        "  question <- user_input",
        "  answer <- response",
        "  passages <- retrieved_contexts",
        "  not used: model, Latency",
        "1 answers to 2 questions",
        "1 rows have no answer and were left out",
        "1 with passages, 0 with ranks, 0 with passage ids",
        "no ranks: a context and no ranking, so recall@k is not applicable (--ranked says it is one)",
        "wrote answers/prod.jsonl and setups/prod.toml",
    ]


WRONG: dict[str, tuple[str, bytes, list[str]]] = {
    "an unknown ending": ("a.xlsx", b"", ["'.xlsx'", ".jsonl, .ndjson, .json, .csv, .tsv, .parquet"]),
    "an empty file": ("a.jsonl", b"\n", ["a.jsonl: there is no row"]),
    "an empty list": ("a.json", b"[]", ["a.json: there is no row"]),
    "a CSV of column names only": ("a.csv", b"id,answer\n", ["a.csv: there is no row"]),
    "not UTF-8": ("a.csv", b"id,answer\nq1,\xa4\n", ["a.csv: not UTF-8: byte 0xa4 in line 2"]),
    "not JSON": ("a.jsonl", b'{"id": "q1", "answer": "a"}\n{]\n', ["a.jsonl line 2: not valid JSON"]),
    "an object for a list": ("a.json", b"{}", ["expected a list of objects, got an object"]),
    "rows that are no objects": ("a.json", b'["a"]', ["a.json row 1: expected an object", "got a text"]),
    "a Parquet file that is none": ("a.parquet", b"PAR1", ["not a readable Parquet file"]),
    "a column twice": ("a.csv", b"id,answer,answer\nq1,a,b\n", ["column 'answer' is there twice"]),
    "a cell too many": ("a.csv", b"id,answer\nq1,a,b\n", ["a.csv line 2: 3 cells under 2 column names"]),
    "an open quote": ("a.csv", b'id,answer\nq1,"a\n', ["a.csv line 2: not valid CSV"]),
    "a cell that is no list": ("a.csv", b'id,answer,contexts\nq1,a,"[""A"","\n', ["line 2 column contexts", '["A",']),
    "no answer column": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "repsonse": "a"}]),
        ["holds the answer", "'repsonse'", "answer, response, output"],
    ),
    "no question column": (
        "a.jsonl",
        as_jsonl([{"qestion": "q", "answer": "a"}]),
        ["--column question=qestion", "user_input"],
    ),
    "an unknown question": (
        "a.jsonl",
        as_jsonl([{"question": "Who may exprot?", "answer": "a"}]),
        ["1 of 1 rows", "'Who may exprot?'", "'q2': 'Who may export?'"],
    ),
    "an unknown id": ("a.jsonl", as_jsonl([{"id": "q3", "answer": "a"}]), ["has the id 'q3'", "The nearest id is 'q"]),
    "neither id nor text": ("a.jsonl", as_jsonl([{"id": None, "answer": "a"}]), ["neither an id nor a text"]),
    "id and text of two questions": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "question": "Who may export?", "answer": "a"}]),
        ["'q1' is 'How long are logs kept?'", "--column question="],
    ),
    "a question twice": (
        "a.jsonl",
        as_jsonl([PLAIN[0], PLAIN[0]]),
        ["a.jsonl line 2", "'q1' is answered twice", "line 1"],
    ),
    "no answer at all": ("a.jsonl", as_jsonl([{"id": "q1", "answer": None}]), ["none of its 1 rows has an answer"]),
    "an answer that is a list": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": ["a"]}]),
        ["line 1 column answer: expected a text"],
    ),
    "too few ids": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": "a", "contexts": ["A", "B"], "context_ids": ["p"]}]),
        ["1 passage ids for 2 passages"],
    ),
    "two passages at one rank": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": "a", "contexts": ["A", "B"], "ranks": [1, 1]}]),
        ["line 1: ranks 1, 1 of 2 passages", "every rank from 1", "--column ranks="],
    ),
    "a part of a ranking": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": "a", "contexts": ["A", "B"], "ranks": [2, 7]}]),
        ["line 1: ranks 2, 7 of 2 passages"],
    ),
    "a rank below zero": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": "a", "contexts": ["A"], "ranks": [-1]}]),
        ["line 1 passage 1: key rank"],
    ),
    "a passage without a text": (
        "a.jsonl",
        as_jsonl([{"id": "q1", "answer": "a", "contexts": [{"body": "A"}]}]),
        ["passage 1: the passage has no text", "'body'"],
    ),
    "half a character": (
        "a.jsonl",
        b'{"id": "q1", "answer": "\\ud83d"}\n',
        ["line 1: a string holds half a character"],
    ),
}


@pytest.mark.parametrize(("name", "raw", "said"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_named_before_anything_is_written(workspace: Path, name: str, raw: bytes, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        take(workspace, name, raw)
    assert "\n" not in str(caught.value)
    for fragment in said:
        assert fragment in str(caught.value)
    assert not list((workspace / "answers").iterdir())
    assert [path.name for path in (workspace / "setups").iterdir()] == ["own.toml"]


@pytest.mark.parametrize("name", ["v1", "V-1_b.2", "x" * 80, "-rf"])
def test_names_that_can_be_a_files(name: str) -> None:
    check_setup_name(name)


@pytest.mark.parametrize(
    "name", ["", "a b", "a:b", "a/b", "a\\b", "..", ".hidden", "😀", "naïve", "x" * 300, "a\n", "a\x00", "\x1b[31m"]
)
def test_hostile_names_never_reach_a_file_name(workspace: Path, name: str) -> None:
    before = sorted(workspace.rglob("*"))
    with pytest.raises(InputError, match="1 to 80 of the letters"):
        take(workspace, "a.jsonl", as_jsonl(PLAIN), setup=name)
    assert sorted(workspace.rglob("*")) == before


def test_a_setup_is_replaced_only_when_told_and_only_a_saved_one(workspace: Path) -> None:
    take(workspace, "a.jsonl", as_jsonl(PLAIN))
    with pytest.raises(InputError, match="say --replace"):
        take(workspace, "a.jsonl", as_jsonl(PLAIN[:1]))
    take(workspace, "a.jsonl", as_jsonl(PLAIN[:1]), replace=True)
    assert set(read_saved_answers(workspace / "answers" / "prod.jsonl")) == {"q1"}
    with pytest.raises(InputError, match="saved answers only"):
        take(workspace, "a.jsonl", as_jsonl(PLAIN), setup="own", replace=True)
    with pytest.raises(InputError, match="upper and lower case only"):
        take(workspace, "a.jsonl", as_jsonl(PLAIN), setup="PROD")
    (workspace / "answers" / "mine.jsonl").touch()
    with pytest.raises(InputError, match=r"there is a file answers/mine\.jsonl"):
        take(workspace, "a.jsonl", as_jsonl(PLAIN), setup="mine")


def test_an_id_column_that_means_something_else_gives_way_to_the_text(workspace: Path) -> None:
    take(workspace, "a.jsonl", as_jsonl([{"id": 4711, **RAGAS[0]}]))
    assert set(read_saved_answers(workspace / "answers" / "prod.jsonl")) == {"q1"}


def test_two_questions_of_one_text_need_ids(workspace: Path) -> None:
    with (workspace / "questions.jsonl").open("a") as file:
        file.write('{"id": "q3", "text": "Who may export?"}\n')
    with pytest.raises(InputError, match="questions 'q2' and 'q3' have this row's text"):
        take(workspace, "a.jsonl", as_jsonl(RAGAS))


def test_columns_can_be_mapped_by_hand(workspace: Path) -> None:
    file = put(workspace, "a.jsonl", as_jsonl([{"nr": "q1", "text": "30 days."}]))
    import_answers(workspace, Source(file, ("question_id=nr", "answer=text")), setup="prod")
    assert read_saved_answers(workspace / "answers" / "prod.jsonl")["q1"].answer == "30 days."
