"""Drafting for a workspace: which questions, what becomes of the replies, and that nobody's work is written over."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InputError
from schemas.question import KeyPoint
from tasks.workspace.drafting import Drafts, estimate, plan_drafts
from tasks.workspace.folder import BUILT_IN
from tasks.workspace.questions import read_point_lists, read_questions
from tests.tasks.models.claude.scripted import Asked, Script, ScriptedDesk

LOGS = "# Logs\n\nLogs are kept for 30 days.\n\n## Business\n\nLogs are kept for 30 days. They can be longer.\n"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "new", "text": "How long?", "gold": [{"document": "plans.md"}, {"document": "logs.md"}]},
    {"id": "reviewed", "text": "b", "gold": [{"document": "logs.md"}]},
    {"id": "drafted", "text": "c", "gold": [{"document": "logs.md"}]},
    {"id": "changed", "text": "d", "gold": [{"document": "logs.md"}]},
    {"id": "dropped", "text": "e", "gold": [{"document": "logs.md", "quote": "They can be longer."}]},
    {"id": "no gold", "text": "f"},
    {"id": "unanswerable", "text": "g", "answerable": "no", "gold": [{"document": "logs.md"}]},
    {"id": "lost", "text": "h", "gold": [{"document": "gone.md"}]},
]
EDIT = {"who": "Ana", "when": "2026-11-30", "why": "", "before": "vital", "after": "okay", "of": "weight"}
POINTS: dict[str, list[dict[str, Any]]] = {
    "reviewed": [{"id": "r", "text": "By Ana.", "status": "reviewed"}, {"id": "r2", "text": "By nobody."}],
    "drafted": [{"id": "drafted/1", "text": "By rule.", "status": "drafted by rule, not reviewed"}],
    "changed": [{"id": "changed/1", "text": "By nobody.", "edits": [EDIT]}],
    "dropped": [{"id": "dropped/1", "text": "Logs are kept for 30 days", "status": "dropped", "edits": [EDIT]}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "corpus/logs.md": LOGS,
        "corpus/plans.md": "# Plans\n\nTeam and Business.\n",
        "questions.jsonl": "".join(json.dumps(question) + "\n" for question in QUESTIONS),
        "keypoints.json": json.dumps(POINTS, indent=2) + "\n",
        "judges/offline.toml": "",
        "judges/claude.toml": '[drafter]\nprovider = "anthropic"\nmodel = "claude-haiku-4-5"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    shutil.copyfile(BUILT_IN / "prompts" / "drafter.md", tmp_path / "prompts" / "drafter.md")
    return tmp_path


def answered(asked: Asked) -> str:
    """Two points with a quote of the document that speaks of logs, and one that is nowhere."""
    number = next(number for number, text in asked.numbered("document") if "Logs" in text)

    def point(text: str, quote: str, weight: str) -> dict[str, Any]:
        return {"evidence": [{"document": number, "quote": quote}], "text": text, "weight": weight}

    points = [
        point("Logs are kept for 30 days.", "## Business\n\nLogs are kept for 30 days", "vital"),
        point("They can be kept longer.", "They can be longer.", "okay"),
        point("They are free.", "Logs are free of charge", "okay"),
    ]
    return json.dumps({"points": points})


def run(folder: Path, script: Script = answered, *, questions: Iterable[str] = (), again: bool = False) -> Drafts:
    drafts = Drafts(plan_drafts(folder, "claude", tuple(questions), again=again))
    for _ in drafts.run(ScriptedDesk(script).as_desk()):
        pass
    return drafts


def points_of(folder: Path, name: str) -> tuple[KeyPoint, ...]:
    known = {question.id: question for question in read_questions(folder)}
    return read_point_lists(folder, known).get(name, ())


def test_drafts_stand_in_the_file_with_their_quotes(folder: Path) -> None:
    drafts = run(folder, questions=["new"])
    data = json.loads((folder / "keypoints.json").read_text("utf-8"))
    assert list(data) == [*POINTS, "new"]
    assert {name: data[name] for name in POINTS} == POINTS
    assert data["new"] == [
        {
            "id": "new/1",
            "text": "Logs are kept for 30 days.",
            "weight": "vital",
            "documents": ["logs.md"],
            "gold": [{"document": "logs.md", "quote": "## Business\n\nLogs are kept for 30 days"}],
            "status": "draft",
        },
        {
            "id": "new/2",
            "text": "They can be kept longer.",
            "weight": "okay",
            "documents": ["logs.md"],
            "gold": [{"document": "logs.md", "quote": "They can be longer."}],
            "status": "draft",
        },
    ]
    assert drafts.told() == [
        "2 key points drafted for 1 questions; a person has to review them: fourcells keypoints review",
        "left out of new: 'They are free.', since its quote is not in the document: 'Logs are free of charge'",
    ]
    assert drafts.n_failed == 0


def test_a_quote_that_stands_twice_says_which(folder: Path) -> None:
    run(folder, lambda asked: answered(asked).replace("## Business\\n\\nLogs", "Logs"), questions=["new"])
    (entry,) = points_of(folder, "new")[0].gold
    assert (entry.quote, entry.occurrence) == ("Logs are kept for 30 days", 1)


def test_documents_are_shown_in_the_order_of_their_names(folder: Path) -> None:
    (wanted,) = plan_drafts(folder, "claude", ["new"]).wanted
    assert [document.document_id for document in wanted.documents] == ["logs.md", "plans.md"]
    assert not wanted.is_shared
    # Whether others read the same does not depend on which questions are drafted for now.
    assert plan_drafts(folder, "claude", ["dropped"]).wanted[0].is_shared


def test_what_people_did_is_left_alone(folder: Path) -> None:
    drafts = run(folder)
    assert drafts.told()[:6] == [
        "3 key points drafted for 2 questions; a person has to review them: fourcells keypoints review",
        "2 questions have points that a person reviewed or changed, and are left alone: reviewed, changed",
        "1 questions have points already and are left alone; --again drafts those anew that nobody reviewed: drafted",
        "1 questions are marked unanswerable and need no points: unanswerable",
        "1 questions have no gold that names a document to draft from: no gold",
        "1 questions name a document that is not in the corpus (failed): lost",
    ]
    assert drafts.n_failed == 1
    data = json.loads((folder / "keypoints.json").read_text("utf-8"))
    assert {name: data[name] for name in ("reviewed", "drafted", "changed")} == {
        name: POINTS[name] for name in ("reviewed", "drafted", "changed")
    }
    # What was dropped stays on record and is not drafted again.
    assert [(point.id, point.status, point.text) for point in points_of(folder, "dropped")] == [
        ("dropped/1", "dropped", "Logs are kept for 30 days"),
        ("dropped/2", "draft", "They can be kept longer."),
    ]
    assert "which a person dropped or the reply has twice" in "\n".join(drafts.left_out)


def test_again_drafts_anew_what_nobody_reviewed(folder: Path) -> None:
    run(folder, again=True)
    assert [(point.id, point.text) for point in points_of(folder, "drafted")] == [
        ("drafted/1", "Logs are kept for 30 days."),
        ("drafted/2", "They can be kept longer."),
    ]
    assert [point.text for point in points_of(folder, "reviewed")] == ["By Ana.", "By nobody."]
    assert [point.text for point in points_of(folder, "changed")] == ["By nobody."]
    before = (folder / "keypoints.json").read_bytes()
    run(folder, again=True)
    assert (folder / "keypoints.json").read_bytes() == before


def test_a_question_reviewed_while_the_model_was_thinking_is_left_alone(folder: Path) -> None:
    drafts = Drafts(plan_drafts(folder, "claude", ["new"]))
    for _ in drafts.run(ScriptedDesk(answered).as_desk()):
        data = {**POINTS, "new": [{"id": "by hand", "text": "Meanwhile.", "status": "reviewed"}]}
        (folder / "keypoints.json").write_text(json.dumps(data))
    assert [point.id for point in points_of(folder, "new")] == ["by hand"]
    assert drafts.told()[0] == "0 key points drafted for 0 questions"
    assert "the drafts of new were not taken" in drafts.told()[1]


def test_what_came_before_an_interruption_is_in_the_file(folder: Path) -> None:
    drafts = Drafts(plan_drafts(folder, "claude", ["new", "dropped"]))

    def script(asked: Asked) -> str:
        if asked.one("question") == "How long?":
            raise KeyboardInterrupt
        return answered(asked)

    with pytest.raises(KeyboardInterrupt):
        list(drafts.run(ScriptedDesk(script).as_desk()))
    assert (len(points_of(folder, "dropped")), points_of(folder, "new")) == (2, ())
    assert drafts.n_questions == 1


def test_a_failure_is_told_and_counted(folder: Path) -> None:
    drafts = run(folder, lambda _: '{"points": []}', questions=["new"])
    assert drafts.told() == [
        "0 key points drafted for 0 questions",
        "failed: new (invalid, NoPoints): the model found nothing in the documents that answers the question",
    ]
    assert drafts.n_failed == 1


def test_an_estimate_says_calls_tokens_and_dollars(folder: Path) -> None:
    told = estimate(plan_drafts(folder, "claude", ["new", "dropped"]))
    assert told[0].startswith("2 calls of claude-haiku-4-5")
    assert "at four bytes each" in told[1]
    # Haiku: $1 and $5 a million; the texts are far shorter than the instructions.
    assert 0.005 < float(told[2].split("$")[1].split(";")[0]) < 0.02
    assert "8,192" in told[2]


def test_no_model_is_chosen_silently(folder: Path) -> None:
    with pytest.raises(InputError, match="no paid model is chosen silently") as mistake:
        plan_drafts(folder, "offline")
    assert "claude-" in mistake.value.allowed
    assert "[drafter]" in mistake.value.remedy


def test_an_unpriced_model_is_a_mistake(folder: Path) -> None:
    path = folder / "judges" / "claude.toml"
    path.write_text(path.read_text().replace("claude-haiku-4-5", "claude-nobody-knows"))
    with pytest.raises(InputError, match="no price is known"):
        plan_drafts(folder, "claude")
