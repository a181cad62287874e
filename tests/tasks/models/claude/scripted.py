"""A conversation whose replies a test writes, a desk that runs it, and requests read back into their parts."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from schemas.claude import ClaudeJudgeSettings, ClaudeReaderSettings, ClaudeSettings, ClaudeWriterSettings
from schemas.seats import Failure, Given
from schemas.state import State
from tasks.models.claude.conversation import COMPLETE, InvalidReplyError, RawReply
from tasks.models.claude.delimit import TAGS
from tasks.models.claude.desk import Desk
from tasks.models.claude.errors import NO_ROOM, REFUSAL, TOO_LONG, WINDOW
from tasks.models.claude.request import ModelRequest

T = TypeVar("T")
Reply = RawReply | Failure | str
Script = Callable[["Asked"], Reply]

WRITER = ClaudeWriterSettings(provider="anthropic", model="m")
READER = ClaudeReaderSettings(provider="anthropic", model="m")
JUDGE = ClaudeJudgeSettings(provider="anthropic", model="m")

API_TOO_LONG = Failure(state=State.ERRORED, kind=TOO_LONG, message="400: prompt is too long")

_TOKEN = re.compile(
    rf'<(?P<close>/?)(?P<tag>{"|".join(sorted(TAGS, key=len, reverse=True))})(?: number="(?P<number>\d+)")?>'
)
_STOPPED = {
    "max_tokens": (State.TRUNCATED, NO_ROOM),
    "model_context_window_exceeded": (State.TRUNCATED, WINDOW),
    "refusal": (State.REFUSED, REFUSAL),
}


@dataclass
class Node:
    """A tag of ours in a request, with the text in it and the tags in it."""

    tag: str
    number: int | None = None
    text: str = ""
    inner: list["Node"] = field(default_factory=list)

    def shape(self) -> tuple[object, ...]:
        """Tags and their nesting without any text."""
        return (self.tag, self.number, [node.shape() for node in self.inner])


def read_back(text: str) -> Node:
    """Parse a request's text strictly: every tag that opens is closed, in order."""
    stack = [Node("")]
    done = 0
    for token in _TOKEN.finditer(text):
        stack[-1].text += text[done : token.start()]
        done = token.end()
        if token["close"]:
            assert stack.pop().tag == token["tag"], token.group()
        else:
            node = Node(token["tag"], int(token["number"]) if token["number"] else None)
            stack[-1].inner.append(node)
            stack.append(node)
    stack[-1].text += text[done:]
    assert len(stack) == 1, [node.tag for node in stack]
    return stack[0]


class Asked:
    """One request, as a model would read it."""

    def __init__(self, request: ModelRequest) -> None:
        self.params = request.params
        self.trial = request.trial
        self.blocks: list[str] = [block["text"] for block in request.params["messages"][0]["content"]]
        self.cached: list[bool] = ["cache_control" in block for block in request.params["messages"][0]["content"]]
        self.root = read_back("\n".join(self.blocks))
        self.max_tokens: int = request.params["max_tokens"]

    def one(self, tag: str) -> str:
        (node,) = [node for node in self.root.inner if node.tag == tag]
        return node.text.strip("\n")

    def numbered(self, tag: str) -> list[tuple[int, str]]:
        """Numbers and texts of a list's tags: of "claim" all that stand in the one "claims"."""
        (node,) = [node for node in self.root.inner if node.tag == (f"{tag}s" if tag != "sentence" else "answer")]
        return [(cast("int", inner.number), inner.text.strip("\n")) for inner in node.inner]

    def numbers(self, tag: str) -> list[int]:
        return [number for number, _ in self.numbered(tag)]

    def sentences(self) -> range:
        """The sentences that a reader is asked about."""
        found = [int(number) for number in re.findall(r"\d+", self.blocks[-1])]
        return range(found[0], found[-1] + 1)


class Conversation:
    """Stands in for the real one: the same law of stop reasons and of asking again once."""

    def __init__(
        self, settings: ClaudeSettings, script: Script, *, trial: int = 0, tokens_a_byte: float = 0.25
    ) -> None:
        self.settings = settings
        self.trial = trial
        self.script = script
        self.asked: list[Asked] = []
        self.n_counted = 0
        self._tokens_a_byte = tokens_a_byte

    async def ask(
        self,
        request: ModelRequest,
        parse: Callable[[RawReply], T],
        *,
        complete: frozenset[str] = COMPLETE,
        most: int | None = None,  # noqa: ARG002 - there is one run
    ) -> T | Failure:
        error: InvalidReplyError | None = None
        for _ in range(2):
            asked = Asked(request)
            self.asked.append(asked)
            reply = self.script(asked)
            if isinstance(reply, Failure):
                return reply
            raw = reply if isinstance(reply, RawReply) else RawReply(text=reply, stop_reason="end_turn", model="m")
            if raw.stop_reason not in complete:
                state, kind = _STOPPED[raw.stop_reason]
                return Failure(state=state, kind=kind, message=raw.stop_reason)
            try:
                return parse(raw)
            except InvalidReplyError as invalid:
                error = invalid
        return Failure(state=State.INVALID, kind="InvalidReply", message=str(error))

    async def count_tokens(self, request: ModelRequest) -> int:
        self.n_counted += 1
        return int(len(json.dumps(dict(request.params), ensure_ascii=False).encode()) * self._tokens_a_byte)

    def window(self) -> int:
        return self.settings.context_window or 200_000


class ScriptedDesk:
    """Holds one conversation after the other."""

    def __init__(self, script: Script, *, tokens_a_byte: float = 0.25) -> None:
        self.script = script
        self.held: list[Conversation] = []
        self._tokens_a_byte = tokens_a_byte

    def converse(
        self, settings: ClaudeSettings, talks: Sequence[Callable[[Any], Awaitable[T | Failure]]], *, trial: int = 0
    ) -> Iterator[Given[T]]:
        for position, talk in enumerate(talks):
            self.held.append(Conversation(settings, self.script, trial=trial, tokens_a_byte=self._tokens_a_byte))
            yield Given(position, asyncio.run(_awaited(talk(self.held[-1]))))

    @property
    def asked(self) -> list[Asked]:
        return [asked for conversation in self.held for asked in conversation.asked]

    def as_desk(self) -> Desk:
        return cast("Desk", self)


async def _awaited(talk: Awaitable[T]) -> T:
    return await talk


def cut_short(text: str = "") -> RawReply:
    return RawReply(text=text, stop_reason="max_tokens", model="m")


def window_full() -> RawReply:
    return RawReply(text="", stop_reason="model_context_window_exceeded", model="m")
