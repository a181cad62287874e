"""Answers, and what a reader who never sees the context says of them."""

from typing import Literal

from pydantic import Field

from schemas.record import Record

NoAnswer = Literal["refused", "truncated", "empty"]
Form = Literal["FULL", "PARTIAL", "NOT_COVERED"]
Relevancy = Literal["ADDRESSES", "PARTLY", "OFF_TOPIC", "ABSTAINS"]
NonClaimKind = Literal["coverage", "marker", "greeting", "heading", "space", "question"]


class Answer(Record):
    """What a writer wrote. `no_answer` marks a writer's refusal, truncation or empty text: the setup's behaviour."""

    text: str
    text_digest: str
    n_words: int
    no_answer: NoAnswer | None = None
    writer_id: str = ""


class Stretch(Record):
    """Characters `start` to `end` of an answer."""

    start: int
    end: int


class Claim(Record):
    """One statement of an answer.

    Attributes:
        number: From 1, in the order of first appearance.
        text: The statement, readable on its own.
        stretches: Its characters in the answer; restatements share one claim and so have several.
    """

    number: int = Field(ge=1)
    text: str = Field(min_length=1)
    stretches: tuple[Stretch, ...] = Field(min_length=1)


class NonClaim(Record):
    """Characters of an answer that state nothing: a coverage statement, a marker, a greeting, a heading, space."""

    kind: NonClaimKind
    start: int
    end: int


class Reading(Record):
    """A reader's account of an answer; every character belongs to a claim or to a declared non-claim.

    Attributes:
        form: What the answer says of itself: all there, partly there, or not covered.
        gives_answer: Whether it answers all the same; NOT_COVERED that gives an answer is hedged.
        relevancy: Whether it speaks to the question.
    """

    claims: tuple[Claim, ...]
    non_claims: tuple[NonClaim, ...]
    form: Form
    gives_answer: bool
    relevancy: Relevancy
