"""Verdicts: on claims against passages, on key points against an answer."""

from typing import Literal

from pydantic import Field

from schemas.record import Record

JudgedWord = Literal["SUPPORTED", "NOT_SUPPORTED", "CONTRADICTED"]
ClaimWord = Literal["SUPPORTED", "NOT_SUPPORTED", "CONTRADICTED", "UNVERIFIED"]
PointWord = Literal["COVERED", "PARTLY", "MISSING", "CONTRADICTED"]


class Quote(Record):
    """A judge's verbatim quote. `passage` is its number from 1 in the context, as shown to the judge."""

    text: str
    passage: int = Field(ge=1)


class JudgedClaim(Record):
    """What a judge says of one numbered claim, before anything is checked."""

    number: int = Field(ge=1)
    verdict: JudgedWord
    quotes: tuple[Quote, ...] = ()
    why: str = ""


class FoundQuote(Record):
    """A quote that code found again: characters `start` to `end` of passage `passage` (from 1)."""

    text: str
    passage: int = Field(ge=1)
    start: int
    end: int


class ClaimVerdict(Record):
    """The verdict on one claim after the quote check.

    `verdict` is UNVERIFIED when the judge said SUPPORTED or CONTRADICTED and its evidence was not found;
    `judged` keeps the judge's own word and `lost_quotes` the quotes that were not found.
    """

    number: int
    verdict: ClaimWord
    judged: JudgedWord
    quotes: tuple[FoundQuote, ...] = ()
    lost_quotes: tuple[str, ...] = ()
    why: str = ""


class Grounding(Record):
    """All verdicts on the claims of one answer, in the order of the claims."""

    verdicts: tuple[ClaimVerdict, ...]


class PointVerdict(Record):
    """The verdict on one key point. `quote` is the answer's own sentence, where there is one."""

    number: int = Field(ge=1)
    verdict: PointWord
    quote: str = ""
    why: str = ""


class Correctness(Record):
    """All verdicts on the key points of one question, in the order of the points."""

    verdicts: tuple[PointVerdict, ...]
