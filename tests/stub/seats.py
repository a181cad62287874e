"""Replies of a model that reads what it is given: the offline seats play it, with mistakes by hash."""

import re
from typing import Any, Final

from schemas.seats import Failure, GroundRequest, PointsRequest, ReadRequest, WriteRequest
from schemas.setup import OfflineWriterSettings
from tasks.models.offline_judge import OfflineJudge
from tasks.models.offline_reader import OfflineReader
from tasks.models.offline_writer import OfflineWriter
from tasks.text.claims import split_claims
from tests.stub.asked import Asked
from tests.stub.settings import fraction

# So that answers are not all grounded: some state what no passage holds.
_INVENTED: Final = "The monthly price of this is 4711 euros."
_INVENTS: Final = 0.25
_ABSTAIN_BELOW: Final = 0.3
_MARKER: Final = re.compile(r" ?\[doc \d+\]")


def write(asked: Asked) -> str:
    """An answer from the passages; of some questions, with a claim that none of them holds."""
    passages = tuple(text for _, text in sorted(asked.passages.items()))
    settings = OfflineWriterSettings(abstain_below=_ABSTAIN_BELOW)
    [given] = OfflineWriter(settings).write([WriteRequest(question=asked.question, passages=passages)])
    assert not isinstance(given.reply, Failure)
    text = given.reply.text if asked.wants_markers else _MARKER.sub("", given.reply.text)
    return f"{text}\n\n{_INVENTED}" if fraction(b"invents", asked.question.encode()) < _INVENTS else text


def read(asked: Asked) -> dict[str, Any]:
    """A reading, sentence by sentence."""
    sentences = asked.sentences or {1: asked.answer}
    claims: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for number, sentence in sorted(sentences.items()):
        split = split_claims(sentence)
        for claim in split.claims:
            first = claim.stretches[0]
            quote = "" if len(split.claims) == 1 else sentence[first.start : first.end]
            claims.append({"places": [{"sentence": number, "quote": quote}], "text": claim.text})
        if not split.claims:
            kinds = [part.kind for part in split.non_claims if part.kind != "space"]
            others.append({"sentence": number, "kind": kinds[0] if kinds else "marker"})
    answer = asked.answer or "\n".join(text for _, text in sorted(sentences.items()))
    [given] = OfflineReader().read([ReadRequest(question=asked.question, answer=answer)])
    assert not isinstance(given.reply, Failure)
    return {
        "claims": claims,
        "others": others,
        "form": given.reply.form,
        "gives_answer": given.reply.gives_answer,
        "relevancy": given.reply.relevancy,
    }


def ground(asked: Asked) -> dict[str, Any]:
    """A verdict on each claim."""
    numbers = sorted(asked.claims)
    shown = sorted(asked.passages)
    request = GroundRequest(
        question=asked.question,
        claims=tuple(asked.claims[number] for number in numbers),
        passages=tuple(asked.passages[number] for number in shown),
    )
    [given] = OfflineJudge().judge_grounding([request])
    assert not isinstance(given.reply, Failure)
    verdicts = [
        {
            "number": numbers[judged.number - 1],
            "why": judged.why,
            "quotes": [{"passage": shown[quote.passage - 1], "text": quote.text} for quote in judged.quotes],
            "verdict": judged.verdict,
        }
        for judged in given.reply
    ]
    return {"verdicts": verdicts}


def mark_points(asked: Asked) -> dict[str, Any]:
    """A verdict on each key point."""
    numbers = sorted(asked.points)
    points = tuple(asked.points[number] for number in numbers)
    [given] = OfflineJudge().judge_points([PointsRequest(question=asked.question, answer=asked.answer, points=points)])
    assert not isinstance(given.reply, Failure)
    verdicts = [
        {"number": numbers[judged.number - 1], "why": judged.why, "quote": judged.quote, "verdict": judged.verdict}
        for judged in given.reply
    ]
    return {"verdicts": verdicts}
