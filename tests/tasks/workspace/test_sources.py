"""What stands beside a key point: the text around its gold, or why there is none."""

import json
from pathlib import Path

import pytest

from schemas.document import Document
from schemas.gold import GoldEntry
from schemas.question import KeyPoint, Question
from tasks.workspace.sources import Source, SourceFinder, clipped, open_sources

TEXT = """# Logs

Short.

## Team

A page about the Team plan.

Logs are kept for 30 days on the
Team plan. Owners see them.

They are free.

## Business

Kept for 90 days.
"""
FINDER = SourceFinder({"a.md": Document(document_id="a.md", title="", text=TEXT)})
QUESTION = Question(id="q1", text="How long?", gold=(GoldEntry(document="a.md", quote="Kept for 90 days."),))


def sources(*gold: GoldEntry, documents: tuple[str, ...] = (), question: Question = QUESTION) -> list[Source]:
    point = KeyPoint(id="q1/1", text="Owners see logs of the Team plan.", gold=gold, documents=documents)
    return FINDER.sources(question, point)


def test_a_quote_stands_in_its_block_with_the_blocks_around_it() -> None:
    assert sources(GoldEntry(document="a.md", quote="30 days")) == [
        Source(
            "a.md",
            headings=("# Logs", "## Team"),
            before="A page about the Team plan.\n\nLogs are kept for ",
            quote="30 days",
            after=" on the\nTeam plan. Owners see them.\n\nThey are free.",
        )
    ]


def test_another_section_is_not_shown() -> None:
    (source,) = sources(GoldEntry(document="a.md", start=TEXT.index("90"), end=TEXT.index("90") + 2))
    assert (source.before, source.quote, source.after) == ("Kept for ", "90", " days.")


NOTES: dict[str, tuple[list[GoldEntry], str]] = {
    "a quote that is gone": ([GoldEntry(document="a.md", quote="kept for 3 years")], "is not in a.md"),
    "a document that is gone": ([GoldEntry(document="b.md", quote="x")], "'b.md', which is not in the corpus"),
    "a foreign passage": ([GoldEntry(passage="p7")], "passage p7 of a foreign index"),
    "other places": (
        [
            GoldEntry.model_validate({
                "document": "a.md",
                "quote": "Short.",
                "alternatives": [{"document": "a.md", "quote": "They are free."}],
            })
        ],
        "1 more places say the same",
    ),
}


@pytest.mark.parametrize(("gold", "note"), NOTES.values(), ids=NOTES)
def test_what_has_to_be_said_is_said(gold: list[GoldEntry], note: str) -> None:
    (source,) = sources(*gold)
    assert note in source.note


def test_a_whole_document_shows_the_text_most_like_the_point() -> None:
    (source,) = sources(GoldEntry(document="a.md"))
    assert "without a quote" in source.note
    assert source.quote == ""
    assert source.before + source.after == TEXT[TEXT.index("A page") : TEXT.index("\n\n## Business")]


def test_a_point_without_gold_takes_its_questions_gold_and_its_own_documents() -> None:
    first, second = sources(documents=("a.md", "b.md"))
    assert (first.quote, first.note) == (
        "Kept for 90 days.",
        "the point has no gold of its own: this is the question's",
    )
    assert (second.document, second.quote) == ("b.md", "")
    assert sources(question=Question(id="q1", text="How long?")) == []


def test_clipping_keeps_what_is_nearest() -> None:
    source = Source("a.md", before="1\n2\n3\n", quote="Q\nQ", after="\n4\n5\n6")
    assert clipped(source, n_lines=100, width=80) == source
    short = clipped(source, n_lines=6, width=80)
    assert (short.before, short.quote, short.after) == ("…\n3\n", "Q\nQ", "\n4\n…")
    long = clipped(Source("a.md", before="x" * 100, quote="Q", after="y" * 100), n_lines=3, width=10)
    assert (long.before, long.after) == ("…" + "x" * 10, "y" * 10 + "…")


def test_a_workspace_without_documents_still_shows_points(tmp_path: Path) -> None:
    assert "not in the corpus" in open_sources(tmp_path).sources(QUESTION, KeyPoint(id="1", text="a"))[0].note
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "corpus.jsonl").write_text(json.dumps({"_id": "a.md", "text": "Kept for 90 days."}))
    assert open_sources(tmp_path).sources(QUESTION, KeyPoint(id="1", text="a"))[0].quote == "Kept for 90 days."
