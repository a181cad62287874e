"""A small double of the Message Batches API, inside the SDK's transport, and a clock that never waits."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from anthropic import AsyncAnthropic  # noqa: TID251 - the double stands behind the SDK

from schemas.claude import ClaudeSettings
from tasks.models.claude.sending import Clock

_ROUTE = re.compile(r"/v1/messages/batches(?:/([^/]+)(/results)?)?$")
Fault = Callable[[], httpx2.Response]


@dataclass
class Batch:
    ids: list[str]
    params: list[dict[str, Any]]
    polls_left: int


@dataclass
class Double:
    """An endpoint. `polls`: how often a batch is still in progress. `results`: by custom id, else succeeded."""

    polls: int = 1
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    lose_answers: int = 0
    cut_results: int = 0
    most_requests: int = 100_000
    before_post: Callable[[], None] | None = None

    def connect(self, _settings: ClaudeSettings) -> AsyncAnthropic:
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(self.handle))
        return AsyncAnthropic(base_url="http://batches.test", api_key="none", max_retries=0, http_client=http_client)

    def n(self, call: str) -> int:
        return self.calls.count(call)

    def add(self, ids: list[str], *, polls: int = 0) -> str:
        batch_id = f"msgbatch_{len(self.batches)}"
        self.batches[batch_id] = Batch(ids, [{} for _ in ids], polls)
        return batch_id

    async def handle(self, request: httpx2.Request) -> httpx2.Response:
        match = _ROUTE.search(request.url.path)
        assert match is not None, request.url
        batch_id, results = match.groups()
        call = "results" if results else "status" if batch_id else "post" if request.method == "POST" else "list"
        self.calls.append(call)
        if self.faults.get(call):
            return self.faults[call].pop(0)()
        if call == "post":
            return await self._post(json.loads(request.content))
        if call == "list":
            return self._list(dict(request.url.params))
        if batch_id not in self.batches:
            return refusal(404, "not_found_error", "no such batch")
        return self._results(batch_id) if results else self._status(batch_id)

    async def _post(self, body: dict[str, Any]) -> httpx2.Response:
        if self.before_post is not None:
            self.before_post()
            await asyncio.sleep(0)
        requests = body["requests"]
        if len(requests) > self.most_requests:
            return refusal(413, "request_too_large", "Request exceeds the maximum size")
        batch_id = self.add([each["custom_id"] for each in requests], polls=self.polls)
        self.batches[batch_id].params = [each["params"] for each in requests]
        if self.lose_answers:
            self.lose_answers -= 1
            raise httpx2.ReadError("the line broke")
        return httpx2.Response(200, json=self._shown(batch_id))

    def _list(self, query: dict[str, str]) -> httpx2.Response:
        ids = list(self.batches)[::-1]
        if "after_id" in query:
            ids = ids[ids.index(query["after_id"]) + 1 :]
        shown = ids[: int(query["limit"])]
        return httpx2.Response(
            200, json={"data": [self._shown(each) for each in shown], "has_more": len(ids) > len(shown)}
        )

    def _status(self, batch_id: str) -> httpx2.Response:
        batch = self.batches[batch_id]
        shown = self._shown(batch_id)
        batch.polls_left = max(0, batch.polls_left - 1)
        return httpx2.Response(200, json=shown)

    def _results(self, batch_id: str) -> httpx2.Response:
        lines = [
            json.dumps({"custom_id": each, "result": self.results.get(each) or succeeded(each)}) + "\n"
            for each in self.batches[batch_id].ids[::-1]
        ]
        if self.cut_results:
            self.cut_results -= 1
            return httpx2.Response(200, content=_broken("".join(lines[:1]).encode()))
        return httpx2.Response(200, content="".join(lines).encode())

    def _shown(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        ended, n = not batch.polls_left, len(batch.ids)
        made = datetime(2026, 1, 1, tzinfo=UTC)
        return {
            "id": batch_id,
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else n, "succeeded": n if ended else 0},
            "created_at": made.isoformat(),
            "expires_at": (made + timedelta(days=1)).isoformat(),
        }


async def _broken(first: bytes) -> AsyncIterator[bytes]:
    yield first
    raise httpx2.ReadError("the line broke")


def succeeded(text: str) -> dict[str, Any]:
    return {
        "type": "succeeded",
        "message": {
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "model": "claude-opus-4-1-20250805",
            "usage": {"input_tokens": 1_000_000, "output_tokens": 0},
        },
    }


def errored(kind: str, message: str) -> dict[str, Any]:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": message}}}


def refusal(status: int, kind: str, message: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json={"type": "error", "error": {"type": kind, "message": message}}, headers=headers)


class FakeClock:
    """Waits pass at once and are written down."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds
        # Let threads and other tasks do something, as a real wait would.
        for _ in range(20):
            await asyncio.sleep(0)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self.sleep, jitter=max)
