"""Replies by hash: no more work than a benchmark needs, and every verdict occurs, so that a wrong count would show."""

import re
from collections.abc import Sequence
from typing import Any, Final

from tests.stub.asked import Asked
from tests.stub.settings import fraction

# Shares of the verdicts, in this order; what is left is the last one's.
_CLAIM_SHARES: Final = (("SUPPORTED", 0.7), ("NOT_SUPPORTED", 0.2), ("CONTRADICTED", 0.1))
_POINT_SHARES: Final = (("COVERED", 0.5), ("PARTLY", 0.2), ("MISSING", 0.2), ("CONTRADICTED", 0.1))
_QUOTE_WORDS: Final = 12
_MARKER: Final = re.compile(r"\s*\[doc \d+\]")
_SENTENCE: Final = re.compile(r"^(?!#)\S.*?[.!?](?=\s|$)", flags=re.MULTILINE)


def write(asked: Asked) -> str:
    """The first sentence of one of the passages."""
    if not asked.passages:
        return "Nothing is said of it."
    numbers = sorted(asked.passages)
    number = numbers[int(fraction(asked.question.encode()) * len(numbers))]
    found = _SENTENCE.search(asked.passages[number])
    sentence = found[0] if found else _first_words(asked.passages[number])
    return f"{sentence} [doc {number}]" if asked.wants_markers else sentence


def read(asked: Asked) -> dict[str, Any]:
    """Every sentence is one claim."""
    sentences = asked.sentences or {1: asked.answer}
    found = {number: any(char.isalpha() for char in text) for number, text in sentences.items()}
    claims = [
        {"places": [{"sentence": number, "quote": ""}], "text": _MARKER.sub("", text)}
        for number, text in sorted(sentences.items())
        if found[number]
    ]
    others = [{"sentence": number, "kind": "marker"} for number in sorted(sentences) if not found[number]]
    form = _one_of((("FULL", 0.7), ("PARTIAL", 0.2), ("NOT_COVERED", 0.1)), "form", asked.text)
    gives_answer = form != "NOT_COVERED"
    relevancy = _one_of((("ADDRESSES", 0.7), ("PARTLY", 0.2), ("OFF_TOPIC", 0.1)), "relevancy", asked.text)
    return {
        "claims": claims,
        "others": others,
        "form": form,
        "gives_answer": gives_answer,
        "relevancy": relevancy if gives_answer else "ABSTAINS",
    }


def ground(asked: Asked) -> dict[str, Any]:
    """A verdict on each claim; its quote is the claim itself where a passage has it, else one that proves nothing."""
    verdicts = []
    for number, claim in sorted(asked.claims.items()):
        verdict = _one_of(_CLAIM_SHARES, "claim", claim)
        passages = sorted(asked.passages)
        quotes = []
        if verdict != "NOT_SUPPORTED" and passages:
            passage = passages[int(fraction(claim.encode()) * len(passages))]
            holding = [shown for shown in passages if claim in asked.passages[shown]]
            quote = claim if holding else _first_words(asked.passages[passage])
            quotes = [{"passage": holding[0] if holding else passage, "text": quote}]
        verdicts.append({"number": number, "why": "by hash", "quotes": quotes, "verdict": verdict})
    return {"verdicts": verdicts}


def mark_points(asked: Asked) -> dict[str, Any]:
    """A verdict on each key point."""
    verdicts = [
        {"number": number, "why": "by hash", "quote": "", "verdict": _one_of(_POINT_SHARES, asked.answer, point)}
        for number, point in sorted(asked.points.items())
    ]
    return {"verdicts": verdicts}


def _one_of(shares: Sequence[tuple[str, float]], *seeds: str) -> str:
    at = fraction(*(seed.encode() + b"\0" for seed in seeds))
    for word, share in shares:
        if at < share:
            return word
        at -= share
    return shares[-1][0]


def _first_words(text: str) -> str:
    return " ".join(text.split(maxsplit=_QUOTE_WORDS)[:_QUOTE_WORDS])
