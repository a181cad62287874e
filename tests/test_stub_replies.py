"""What the stub replies in our seats: it fits their schemas, answers exactly what was asked, and varies."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import anthropic  # noqa: TID251 - schemas as the client sends them
import pytest
from pydantic import BaseModel

from tasks.models.claude.delimit import block, blocks
from tasks.models.claude.schemas import GroundingReply, PointsReply, ReadingReply
from tasks.models.claude.units import number_sentences
from tests.stub.replies import compose

QUESTION = block("question", "How long are backups kept?")
PASSAGES = ["A backup is kept for 30 days. It is then deleted.", "Support answers within four hours."]
MARKED = "Mark each claim with [doc n]."


def ask(
    content: Sequence[str], schema: type[BaseModel] | None, *, by_hash: bool = False, system: str = "Judge."
) -> str:
    params: dict[str, Any] = {
        "system": [{"type": "text", "text": system}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": text} for text in content]}],
    }
    if schema is not None:
        wanted = {"type": "json_schema", "schema": anthropic.transform_schema(schema)}
        params["output_config"] = {"format": wanted}
    return compose(params, by_hash=by_hash)


@pytest.mark.parametrize("by_hash", [False, True])
def test_every_claim_asked_about_gets_one_verdict(*, by_hash: bool) -> None:
    claims = blocks("claim", [(4, "A backup is kept for 30 days."), (7, "It costs 9 euros.")])
    text = ask([blocks("passage", [(2, PASSAGES[0])]), f"{QUESTION}\n{claims}"], GroundingReply, by_hash=by_hash)
    reply = GroundingReply.model_validate_json(text)
    assert [verdict.number for verdict in reply.verdicts] == [4, 7]
    assert {quote.passage for verdict in reply.verdicts for quote in verdict.quotes} <= {2}
    assert all(quote.text in PASSAGES[0] for verdict in reply.verdicts for quote in verdict.quotes)


def test_a_judge_that_reads_supports_what_the_passages_state() -> None:
    claims = blocks("claim", [(1, "A backup is kept for 30 days."), (2, "Invoices come by post in spring.")])
    text = ask([blocks("passage", enumerate(PASSAGES, start=1)), f"{QUESTION}\n{claims}"], GroundingReply)
    words = [verdict.verdict for verdict in GroundingReply.model_validate_json(text).verdicts]
    assert words == ["SUPPORTED", "NOT_SUPPORTED"]


@pytest.mark.parametrize("by_hash", [False, True])
def test_every_point_gets_one_verdict(*, by_hash: bool) -> None:
    points = blocks("point", [(1, "Backups are kept for 30 days."), (3, "They are encrypted.")])
    answer = block("answer", "A backup is kept for 30 days.")
    reply = PointsReply.model_validate_json(ask([f"{QUESTION}\n{answer}", points], PointsReply, by_hash=by_hash))
    assert [verdict.number for verdict in reply.verdicts] == [1, 3]


@pytest.mark.parametrize("by_hash", [False, True])
@pytest.mark.parametrize(("part", "numbers"), [("1 to 3", {1, 2, 3}), ("2 to 3", {2, 3}), ("3", {3})])
def test_every_sentence_asked_about_is_accounted_for(part: str, numbers: set[int], *, by_hash: bool) -> None:
    shown = number_sentences("Backups are kept for 30 days. [1] They are free.\n\nDo you want more?").shown()
    content = [
        f"{QUESTION}\n{shown}",
        f"Account for sentences {part}." if " " in part else f"Account for sentence {part}.",
    ]
    reply = ReadingReply.model_validate_json(ask(content, ReadingReply, by_hash=by_hash))
    placed = {place.sentence for claim in reply.claims for place in claim.places}
    assert placed | {other.sentence for other in reply.others} == numbers


def test_all_verdicts_occur_by_hash() -> None:
    claims = blocks("claim", [(n, f"Claim {n} is so.") for n in range(1, 301)])
    text = ask([blocks("passage", enumerate(PASSAGES, start=1)), f"{QUESTION}\n{claims}"], GroundingReply, by_hash=True)
    found = Counter(verdict.verdict for verdict in GroundingReply.model_validate_json(text).verdicts)
    assert {word: round(n / 30) for word, n in found.items()} == {"SUPPORTED": 7, "NOT_SUPPORTED": 2, "CONTRADICTED": 1}


@pytest.mark.parametrize("by_hash", [False, True])
def test_an_answer_has_markers_where_the_instructions_ask_for_them(*, by_hash: bool) -> None:
    content = [blocks("passage", enumerate(PASSAGES, start=1)), QUESTION]
    assert "[doc " in ask(content, None, system=MARKED, by_hash=by_hash)
    assert "[doc " not in ask(content, None, by_hash=by_hash)


def test_some_answers_state_what_no_passage_holds() -> None:
    def answer(n: int) -> str:
        question = block("question", f"How long are backups kept in region {n}?")
        return ask([blocks("passage", enumerate(PASSAGES, start=1)), question], None)

    invented = ["4711" in answer(n) for n in range(40)]
    assert 4 <= sum(invented) <= 16


def test_an_unknown_schema_gets_an_instance() -> None:
    class Other(BaseModel):
        word: str
        count: int

    assert set(json.loads(ask(["Tell me."], Other))) == {"word", "count"}
