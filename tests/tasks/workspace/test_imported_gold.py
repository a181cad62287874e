"""Gold out of an import file: resolved once to places in the documents, and never over labels that people have."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.gold import GoldEntry, Place
from schemas.question import Question
from tasks.workspace.importing import Source, import_answers
from tasks.workspace.questions import read_questions

TEXT = "# Logs\n\nLogs are kept for 30 days. Then they are deleted.\n"
KEPT = GoldEntry(document="logs.md", start=8, end=34)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for name in ("setups", "answers", "corpus"):
        (folder / name).mkdir(parents=True)
    (folder / "corpus" / "logs.md").write_text(TEXT)
    (folder / "corpus" / "other.md").write_text("Then they are deleted." + " e" * 20)
    return folder


def take(workspace: Path, question: dict[str, Any], row: dict[str, Any]) -> tuple[Question, list[str]]:
    other = '{"id": "q0",  "text": "Untouched, é?"}\r\n'
    (workspace / "questions.jsonl").write_bytes((other + json.dumps({"id": "q1", "text": "?", **question})).encode())
    file = workspace.parent / "a.json"
    file.write_text(json.dumps([{"id": "q1", "answer": "a", **row}]), encoding="utf-8")
    told = import_answers(workspace, Source(file), setup="prod", replace=True)
    assert (workspace / "questions.jsonl").read_bytes().startswith(other.encode())
    return read_questions(workspace)[1], told


RESOLVED: dict[str, tuple[dict[str, Any], tuple[GoldEntry, ...]]] = {
    "an id of a passage whose text is found": (
        {"contexts": ["Logs are kept\nfor 30 days."], "context_ids": ["c7"], "gold_ids": ["c7"]},
        (KEPT,),
    ),
    "an id of a passage whose text is not found": (
        {"contexts": ["Never seen."], "context_ids": ["c7"], "gold_ids": ["c7"]},
        (GoldEntry(passage="c7"),),
    ),
    "an id that two passages share": (
        {"contexts": ["Logs are kept", "for 30 days."], "context_ids": ["c7", "c7"], "gold_ids": ["c7"]},
        (GoldEntry(passage="c7"),),
    ),
    "an id that no passage has": ({"relevant_ids": ["c9"]}, (GoldEntry(passage="c9"),)),
    "a document's id": ({"gold_ids": ["logs.md"]}, (GoldEntry(document="logs.md"),)),
    "a reference context": ({"reference_contexts": ["Logs are kept for 30 days.", "Never seen."]}, (KEPT,)),
    "reference contexts with their ids": (
        {"reference_contexts": ["Logs are kept for 30 days.", "Never."], "reference_context_ids": ["c1", "c2"]},
        (KEPT, GoldEntry(passage="c2")),
    ),
    "a text that stands in two documents": (
        {"reference_contexts": ["Then they are deleted."]},
        (GoldEntry(document="logs.md", start=35, end=57, alternatives=(Place(document="other.md", start=0, end=22),)),),
    ),
    "the same, and a passage that says which": (
        {
            "contexts": [{"text": "Then they are deleted.", "document": "other.md", "id": "c7"}],
            "gold_ids": ["c7"],
        },
        (GoldEntry(document="other.md", start=0, end=22),),
    ),
    "a text that stands everywhere": ({"reference_contexts": ["e"]}, ()),
    "the same place twice": ({"reference_contexts": ["Logs are kept for 30 days."] * 2}, (KEPT,)),
    "nothing in the corpus": ({"reference_contexts": ["Never seen."]}, ()),
}


@pytest.mark.parametrize(("row", "gold"), RESOLVED.values(), ids=RESOLVED)
def test_resolved(workspace: Path, row: dict[str, Any], gold: tuple[GoldEntry, ...]) -> None:
    question, _ = take(workspace, {"answerable": "unknown"}, row)
    assert question.gold == gold
    assert (question.gold_rule, question.answerable) == (("any", "yes") if gold else ("all", "unknown"))


def test_the_resolved_span_is_the_text_itself() -> None:
    assert TEXT[KEPT.start : KEPT.end] == "Logs are kept for 30 days."


KEEPING: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "gold that people wrote": (
        {"gold": [{"document": "other.md"}], "gold_rule": "all"},
        {"gold_ids": ["logs.md"], "reference": "30 days."},
        {"reference": "30 days."},
    ),
    "a reference that people wrote": ({"reference": "Mine."}, {"ground_truth": "Theirs."}, {}),
    "an unanswerable question": ({"answerable": "no"}, {"gold_ids": ["logs.md"], "reference": "x"}, {}),
    "nothing but tags": (
        {"tags": {"plan": "team"}},
        {"ground_truths": ["First.", "Second."]},
        {"reference": "First."},
    ),
}


@pytest.mark.parametrize(("question", "row", "added"), KEEPING.values(), ids=KEEPING)
def test_labels_are_never_overwritten(
    workspace: Path, question: dict[str, Any], row: dict[str, Any], added: dict[str, Any]
) -> None:
    found, _ = take(workspace, question, row)
    assert found == Question.model_validate({"id": "q1", "text": "?", **question, **added})


def test_how_many_of_each_is_said(workspace: Path) -> None:
    row = {"gold_ids": ["logs.md", "c9"], "reference_contexts": ["Logs are kept for 30 days."], "reference": "30 days."}
    _, told = take(workspace, {}, row)
    gold = "gold added to 1 questions, rule any: 1 spans of documents, 1 documents, 1 ids that only rankings with these"
    assert any(line.startswith(gold) for line in told)
    assert any("fourcells keypoints from-references" in line for line in told)
