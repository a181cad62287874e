"""An endpoint in memory for tests of the client: replies as told, and remembers what was asked; and talks with it."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anthropic  # noqa: TID251 - what the client is made of, with another transport
import httpx2

from schemas.claude import ClaudeSettings, Price
from schemas.seats import Failure
from tasks.models.claude.connection import wire
from tasks.models.claude.conversation import Conversation
from tasks.models.claude.request import ModelRequest, make_request
from tasks.models.claude.sending import Clock

_TURNS = 40
Talk = Callable[[Conversation], Awaitable[str | Failure]]
Handler = Callable[[dict[str, Any]], "Awaitable[httpx2.Response] | httpx2.Response"]


def message(
    text: str = "yes", *, stop_reason: str = "end_turn", output_tokens: int = 10, **usage: int
) -> dict[str, Any]:
    """A message as the API sends it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model-20260101",
        "content": [{"type": "thinking", "thinking": "…", "signature": ""}, {"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 100, "output_tokens": output_tokens, **usage},
    }


def reply(text: str = "yes", *, stop_reason: str = "end_turn", output_tokens: int = 10) -> httpx2.Response:
    body = message(text, stop_reason=stop_reason, output_tokens=output_tokens)
    return httpx2.Response(200, json=body, headers={"request-id": "req_1"})


def refuse(status: int, kind: str, said: str = "no", **headers: str) -> httpx2.Response:
    """An error as the API sends it; underscores in header names stand for hyphens."""
    body = {"type": "error", "error": {"type": kind, "message": said}}
    return httpx2.Response(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


def asked(params: dict[str, Any]) -> str:
    """The text of a request's user message."""
    return "".join(block["text"] for block in params["messages"][0]["content"])


def request(settings: ClaudeSettings, content: str = "question") -> ModelRequest:
    return make_request(settings, system="Say yes.", content=[content], schema=None)


def asking(content: str = "question") -> Talk:
    async def talk(conversation: Conversation) -> str | Failure:
        return await conversation.ask(request(conversation.settings, content), lambda raw: raw.text)

    return talk


def many(n: int) -> list[Talk]:
    return [asking(f"question {position}") for position in range(n)]


@dataclass
class Endpoint:
    """Speaks the Messages API to one client.

    Attributes:
        script: Replies, or errors, in the order of the requests; the last one is repeated.
        handler: Makes the reply instead of the script.
        requests: Bodies received.
        paths: And where.
    """

    url: str
    script: list[httpx2.Response | Exception] = field(default_factory=lambda: [reply()])
    handler: Handler | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[httpx2.Headers] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0

    async def handle(self, request: httpx2.Request) -> httpx2.Response:
        params = json.loads(request.content)
        self.requests.append(params)
        self.paths.append(request.url.path)
        self.headers.append(request.headers)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            # Long enough for others to be let in, one in each turn of the loop.
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            return await self._reply(params)
        finally:
            self.in_flight -= 1

    async def _reply(self, params: dict[str, Any]) -> httpx2.Response:
        if self.handler is not None:
            made = self.handler(params)
            return made if isinstance(made, httpx2.Response) else await made
        said = self.script[min(len(self.requests), len(self.script)) - 1]
        if isinstance(said, Exception):
            raise said
        return httpx2.Response(said.status_code, content=said.content, headers=said.headers)

    def open_client(self, settings: ClaudeSettings) -> anthropic.AsyncAnthropic:
        """Stands in for tasks.models.claude.connection.open_client."""
        transport = httpx2.MockTransport(self.handle)
        return anthropic.AsyncAnthropic(
            api_key="key",
            base_url=settings.base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=transport),
        )

    def settings(self, **changes: object) -> ClaudeSettings:
        """Of a seat at this endpoint: a dollar for a thousand tokens of output, input for nothing."""
        return self._settings(changes)

    def opened(self, **changes: object) -> ClaudeSettings:
        """The same with the client open already: who waits for its opening may be overtaken by who comes later."""
        settings = self._settings(changes)
        _ = wire().channel(settings).line.client
        return settings

    def _settings(self, changes: dict[str, object]) -> ClaudeSettings:
        usual: dict[str, Any] = {
            "provider": "anthropic",
            "model": "some-model",
            "base_url": self.url,
            "max_tokens": 1_000,
            "price": Price(input_usd=0, output_usd=1_000),
        }
        return ClaudeSettings.model_validate(usual | changes)


class FakeClock:
    """Time that passes only by waiting.

    Attributes:
        waits: Every wait asked for, in seconds.
        on_wait: Called with the number of the wait, before it is over.
    """

    def __init__(self, on_wait: Callable[[int], None] | None = None) -> None:
        self.now_s = 1_000.0
        self.waits: list[float] = []
        self.on_wait = on_wait

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now_s += seconds
        if self.on_wait is not None:
            self.on_wait(len(self.waits))
        await asyncio.sleep(0)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self.sleep, jitter=lambda _, most: most)


class Gate:
    """Holds calls in the endpoint until another thread opens it.

    Attributes:
        reached: Acquired once for each call that waits.
    """

    def __init__(self) -> None:
        self.reached = threading.Semaphore(0)
        self._opened = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.reached.release()
        await self._opened.wait()

    def open(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._opened.set)
