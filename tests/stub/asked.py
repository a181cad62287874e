"""What a request asks, read back from its tags and from the schema of the reply it wants."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Seat = Literal["writer", "reader", "grounding", "points", "drafter", "other"]
Numbered = dict[int, str]

_NUMBERED: Final = re.compile(
    r"<(passage|claim|point|sentence|document) number=\"(\d+)\">\n?(.*?)\n?</\1>", flags=re.DOTALL
)
_SINGLE: Final = re.compile(r"<(question|answer)>\n(.*?)\n?</\1>", flags=re.DOTALL)
_SENTENCE_TAG: Final = re.compile(r"</?sentence\b[^>]*>")
_PART: Final = re.compile(r"^Account for sentences? (\d+)(?: to (\d+))?\.", flags=re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A request as a seat would read it.

    Attributes:
        text: The user's message, all blocks in one.
        wants_markers: Whether the instructions speak of `[doc n]`.
    """

    seat: Seat
    text: str
    wants_markers: bool
    schema: Mapping[str, Any] | None
    question: str
    answer: str
    passages: Numbered
    claims: Numbered
    points: Numbered
    sentences: Numbered
    documents: Numbered


def read_request(params: Mapping[str, Any]) -> Asked:
    """Tell who asks what. A passage that was cut comes in pieces of one number, which are joined here."""
    text = "\n".join(_text(message["content"]) for message in params["messages"])
    schema = params.get("output_config", {}).get("format", {}).get("schema")
    found: dict[str, Numbered] = {}
    for tag, number, inner in _NUMBERED.findall(text):
        of_tag = found.setdefault(tag, {})
        of_tag[int(number)] = f"{of_tag[int(number)]}\n{inner}" if int(number) in of_tag else inner
    single = dict(_SINGLE.findall(text))
    part = _PART.search(text)
    sentences = found.get("sentence", {})
    if part is not None:
        wanted = range(int(part[1]), int(part[2] or part[1]) + 1)
        sentences = {number: inner for number, inner in sentences.items() if number in wanted}
    return Asked(
        seat=_seat(schema),
        text=text,
        wants_markers="[doc" in _text(params.get("system", "")),
        schema=schema,
        question=single.get("question", ""),
        answer=_SENTENCE_TAG.sub("", single.get("answer", "")),
        passages=found.get("passage", {}),
        claims=found.get("claim", {}),
        points=found.get("point", {}),
        sentences=sentences,
        documents=found.get("document", {}),
    )


def _seat(schema: Mapping[str, Any] | None) -> Seat:
    """By what the reply holds: the prompts are files that anybody may rewrite."""
    if schema is None:
        return "writer"
    properties = schema.get("properties", {})
    if {"claims", "form", "gives_answer"} <= set(properties):
        return "reader"
    if "points" in properties:
        return "drafter"
    if "verdicts" in properties:
        return "grounding" if "quotes" in _item(schema, "verdicts") else "points"
    return "other"


def _item(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Properties of the items of a list."""
    items = schema["properties"][name].get("items", {})
    if "$ref" in items:
        items = schema.get("$defs", {}).get(items["$ref"].rpartition("/")[2], {})
    found: Mapping[str, Any] = items.get("properties", {})
    return found


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
