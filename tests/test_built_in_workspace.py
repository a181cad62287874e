"""The built-in workspace holds together: it is the first thing anybody sees, and what they copy from."""

import difflib
import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from spellchecker import SpellChecker

from schemas.cell import Label
from schemas.question import Question
from tasks.text.markers import find_markers
from tasks.workspace.asked import ask
from tasks.workspace.corpus import read_corpus
from tasks.workspace.folder import BUILT_IN
from tasks.workspace.questions import read_key_points, read_questions, read_saved_answers

DOCUMENTS = {document.document_id: document.text for document in read_corpus(BUILT_IN)}
QUESTIONS = {question.id: question for question in read_questions(BUILT_IN)}
POINTS = read_key_points(BUILT_IN, QUESTIONS)
ANSWERS = read_saved_answers(BUILT_IN / "answers" / "assistant.jsonl")
PLANTED: list[dict[str, Any]] = [
    json.loads(line) for line in (BUILT_IN / "labels" / "planted" / "assistant.jsonl").read_text("utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS.values() if question.answerable == "yes"]
UNANSWERABLE = [question for question in QUESTIONS.values() if question.answerable == "no"]

# Pages that no question needs, and why they are there all the same.
UNUSED = {
    "guides/classic-console.md": "describes the retired console: a page that should no longer be found",
    "security/firewall-allowlist.md": "lists retired addresses: a page that should no longer be found",
}


def documents_of(question: Question) -> set[str | None]:
    return {entry.document for entry in question.gold}


def test_sizes() -> None:
    assert len(DOCUMENTS) >= 40
    assert sum(len(text.split()) for text in DOCUMENTS.values()) >= 25_000
    assert len(QUESTIONS) == 120
    assert len(ANSWERABLE) >= 100
    assert len(UNANSWERABLE) >= 12
    assert sum(len(documents_of(question)) >= 2 for question in ANSWERABLE) >= 20
    assert sum(bool(entry.alternatives) for question in ANSWERABLE for entry in question.gold) >= 20


def test_documents_differ_in_length() -> None:
    words = sorted(len(text.split()) for text in DOCUMENTS.values())
    assert words[0] < 150
    assert words[-1] > 1_500


def test_every_quote_resolves() -> None:
    asked = ask(list(QUESTIONS.values()), POINTS, read_corpus(BUILT_IN), skip_unresolved=False, where=BUILT_IN)
    assert len(asked) == 120


def test_gold_where_it_can_be_and_nowhere_else() -> None:
    assert [question.id for question in ANSWERABLE if not question.gold] == []
    assert [question.id for question in UNANSWERABLE if question.gold] == []
    assert all(entry.quote for question in ANSWERABLE for entry in question.gold)


def test_key_points() -> None:
    assert set(POINTS) == {question.id for question in ANSWERABLE}
    for question_id, points in POINTS.items():
        assert 2 <= len(points) <= 5, question_id
        assert any(point.weight == "vital" for point in points), question_id
        assert all(point.gold for point in points if point.weight == "vital"), question_id
        assert all(point.status == "reviewed" and point.documents for point in points), question_id
        assert all(entry.document in point.documents for point in points for entry in point.gold), question_id
    edits = [edit for points in POINTS.values() for point in points for edit in point.edits]
    assert len(edits) >= 5
    assert {edit.who for edit in edits} == {"fourcells authors"}


def test_edits_end_in_the_present_text() -> None:
    assert all(point.edits[-1].after == point.text for points in POINTS.values() for point in points if point.edits)


def test_no_document_is_unused_without_a_reason() -> None:
    used = {place.document for q in ANSWERABLE for entry in q.gold for place in (entry, *entry.alternatives)}
    used |= {entry.document for points in POINTS.values() for point in points for entry in point.gold}
    assert set(DOCUMENTS) - used == set(UNUSED)


def test_tags() -> None:
    assert all(set(question.tags) == {"area", "kind"} for question in QUESTIONS.values())
    assert len({question.tags["area"] for question in QUESTIONS.values()}) >= 10
    kinds = Counter(question.tags["kind"] for question in QUESTIONS.values())
    assert {"short", "long", "vague", "typo", "multi-fact", "two-documents"} <= set(kinds)


def test_no_near_duplicate_questions() -> None:
    texts = {name: " ".join(sorted(set(re.findall(r"\w+", q.text.lower())))) for name, q in QUESTIONS.items()}
    near = [
        (one, other)
        for (one, a), (other, b) in combinations(texts.items(), 2)
        if difflib.SequenceMatcher(None, a, b).real_quick_ratio() > 0.8
        and difflib.SequenceMatcher(None, a, b).ratio() > 0.8
    ]
    assert near == []


def slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    folder = (BUILT_IN / "corpus").resolve()
    for link in re.findall(r"\]\(([^)]+)\)", without_code(DOCUMENTS[name])):
        target, _, anchor = link.partition("#")
        path = ((folder / name).parent / target).resolve() if target else folder / name
        other = DOCUMENTS[path.relative_to(folder).as_posix()]
        assert not anchor or anchor in map(slug, re.findall(r"^#+ (.*)$", other, flags=re.MULTILINE)), link


@pytest.mark.parametrize("name", DOCUMENTS)
def test_hosts_are_invented(name: str) -> None:
    hosts = re.findall(r"https?://([\w.-]+)", DOCUMENTS[name])
    assert all(host == "localhost" or host.endswith("tarnwick.example") for host in hosts), hosts


def words_in(text: str) -> set[str]:
    text = re.sub(r"`[^`]*`", "", without_code(text))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"\S*[/@#]\S*|\S+\.\S+", " ", text)
    return {word.lower().strip("'").removesuffix("'s") for word in re.findall(r"[A-Za-z][A-Za-z']+", text)}


def test_spelling() -> None:
    known = set((Path(__file__).parent / "words_of_the_trade.txt").read_text("utf-8").split())
    texts = [*DOCUMENTS.values(), *(answer.answer for answer in ANSWERS.values())]
    texts += [point.text for points in POINTS.values() for point in points]
    # Typos are the point of some questions, as users type them.
    texts += [q.text for q in QUESTIONS.values() if q.tags["kind"] not in {"typo", "unanswerable"}]
    assert SpellChecker().unknown(set().union(*map(words_in, texts))) - known == set()


def test_the_assistant_answers_every_question_from_passages_of_the_corpus() -> None:
    assert set(ANSWERS) == set(QUESTIONS)
    for question_id, saved in ANSWERS.items():
        assert saved.passages, question_id
        assert all(passage.text in DOCUMENTS[str(passage.document)] for passage in saved.passages), question_id
        markers = {number for marker in find_markers(saved.answer) for number in marker.numbers}
        assert markers <= set(range(1, len(saved.passages) + 1)), question_id


KINDS = {
    "invented_number", "invented_cause", "stretched_rule", "ignored_passage", "wrong_passage", "answered_unanswerable",
    "hedged", "abstained_with_evidence", "wrong_citation", "half_answer", "stale_page", "padding",
}  # fmt: skip


def test_mistakes_of_every_kind_are_planted_and_most_answers_are_good() -> None:
    assert [entry["question_id"] for entry in PLANTED] == list(QUESTIONS)
    kinds = Counter(entry["mistake"] for entry in PLANTED if entry["mistake"])
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 2
    assert sum(entry["mistake"] is None for entry in PLANTED) > 60


def test_every_cell_occurs_in_the_planted_labels() -> None:
    cells = {entry["cell"] for entry in PLANTED}
    # No stage fails in a saved answer, none is empty, and every question is labelled.
    assert cells == set(Label) - {Label.UNDETERMINED, Label.NO_ANSWER, Label.UNATTRIBUTED}


@pytest.mark.parametrize("entry", PLANTED, ids=lambda entry: entry["question_id"])
def test_labels_fit_their_answer(entry: dict[str, Any]) -> None:
    answer = ANSWERS[entry["question_id"]].answer
    assert all(claim["text"] in answer for claim in entry["claims"])
    assert {claim["verdict"] for claim in entry["claims"]} <= {"SUPPORTED", "NOT_SUPPORTED", "CONTRADICTED"}
    assert list(entry["points"]) == [point.id for point in POINTS.get(entry["question_id"], ())]


def test_no_stage_reads_the_planted_labels() -> None:
    sources = [path for room in ("flows", "tasks", "schemas") for path in (BUILT_IN.parent / room).rglob("*.py")]
    assert [path for path in sources if "planted" in path.read_text("utf-8")] == []
