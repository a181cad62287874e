"""What Claude is asked to reply: pydantic models whose JSON schema goes along with the request.

The order of fields is the order in which a model writes them: what helps it think stands before what it decides.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.answer import Form, Relevancy
from schemas.verdict import JudgedWord, PointWord
from tasks.store.keys import digest

OtherKind = Literal["coverage", "marker", "greeting", "heading", "question"]


def _bare(schema: dict[str, Any]) -> None:
    """Leave out titles and docstrings: they speak to us, cost tokens, and must not change a key when edited."""
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class ReplyPart(BaseModel):
    """Base of all parts of replies. Ranges are checked by whoever reads them: no schema of the API holds any."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_bare, hide_input_in_errors=True)


class PlaceReply(ReplyPart):
    """Where a claim stands."""

    sentence: int
    quote: str = Field(description="the words of the sentence that make this claim; empty when all of it does")


class ClaimReply(ReplyPart):
    """One claim, with its restatements."""

    places: list[PlaceReply]
    text: str = Field(description="the claim as one sentence that can be read alone")


class OtherReply(ReplyPart):
    """A sentence that states nothing."""

    sentence: int
    kind: OtherKind


class ReadingReply(ReplyPart):
    """The reader's reply."""

    claims: list[ClaimReply]
    others: list[OtherReply]
    form: Form
    gives_answer: bool
    relevancy: Relevancy


class QuoteReply(ReplyPart):
    """A quote of a passage."""

    passage: int
    text: str = Field(description="copied from this passage word for word")


class ClaimVerdictReply(ReplyPart):
    """The verdict on one claim."""

    number: int
    why: str = Field(description="what the passages say of it, in one short sentence")
    quotes: list[QuoteReply]
    verdict: JudgedWord


class GroundingReply(ReplyPart):
    """The reply of the judge of grounding."""

    verdicts: list[ClaimVerdictReply]


class PointVerdictReply(ReplyPart):
    """The verdict on one key point."""

    number: int
    why: str = Field(description="what the answer says of it, in one short sentence")
    quote: str = Field(description="the answer's own sentence; empty when there is none")
    verdict: PointWord


class PointsReply(ReplyPart):
    """The reply of the judge of key points."""

    verdicts: list[PointVerdictReply]


def schema_digest(model: type[BaseModel]) -> str:
    """Digest of a reply's JSON schema, for keys.

    >>> len(schema_digest(PointsReply))
    32
    """
    return digest(model.model_json_schema())
