"""What each route of the Messages API does."""

import json
from asyncio import AbstractEventLoop
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tests.stub.batches import Batches
from tests.stub.chat import complete_chat
from tests.stub.checks import check_batch, check_message
from tests.stub.counts import Counts
from tests.stub.errors import RefusedRequestError, error_answer, error_body
from tests.stub.messages import Replied, make_message
from tests.stub.settings import INSTEAD, Fault, FaultBook, StubSettings
from tests.stub.tokens import Prompt, PromptCache, measure
from tests.stub.wire import Answer, Exchange, Request

MESSAGES: Final = "/v1/messages"
_CHAT: Final = "/v1/chat/completions"
_BATCHES: Final = "/v1/messages/batches"
_VERSION: Final = "anthropic-version"
# Keys that are turned down; any other is fine.
WRONG_KEY: Final = "wrong-key"
FORBIDDEN_KEY: Final = "forbidden-key"
_STATUS: Final[Mapping[str, tuple[int, str]]] = {
    "rate_limited": (429, "This request would exceed your organization's rate limit."),
    "overloaded": (529, "Overloaded"),
    "server_error": (500, "Internal server error"),
    "bad_gateway": (502, "Bad gateway"),
    "too_large": (413, "Request exceeds the maximum size"),
}


class Routes:
    """The API of one server. Everything happens on its loop."""

    def __init__(self, loop: AbstractEventLoop, settings: StubSettings) -> None:
        self.base_url = ""
        self._loop = loop
        self.reset(settings)

    def reset(self, settings: StubSettings) -> None:
        """Forget everything and behave like this from now on."""
        self.counts = Counts()
        self._batches = Batches()
        self._n_items = 0
        self._n_requests = 0
        self._n_messages = 0
        self.change(settings)
        self._cache = PromptCache(settings.cached_from_tokens)

    def change(self, settings: StubSettings) -> None:
        """Behave like this from now on; what was seen stays."""
        self.settings = settings
        self._faults = FaultBook(settings.faults)

    def handle(self, exchange: Exchange) -> None:
        """Answer a request, at once or later."""
        request = exchange.request
        path = urlsplit(request.path).path
        if path.startswith("/_stub/"):
            exchange.answer(self._own(request, path))
            return
        self.counts.came(f"{request.method} {_pattern(path)}", request.body)
        self._n_requests += 1
        request_id = f"req_{self._n_requests:024d}"
        try:
            _check_headers(request, path)
            if request.method == "POST" and path in {MESSAGES, _CHAT}:
                self._message(exchange, request_id, chat=path == _CHAT)
            else:
                self._send(exchange, self._other(request, path, request_id))
        except RefusedRequestError as error:
            self._send(exchange, error_answer(error.status, error.message, request_id))

    def _send(self, exchange: Exchange, answer: Answer) -> None:
        self.counts.statuses[answer.status] += 1
        exchange.answer(answer)

    def _message(self, exchange: Exchange, request_id: str, *, chat: bool) -> None:
        body = exchange.request.body
        number, self._n_messages = self._n_messages, self._n_messages + 1
        counts = self.counts
        arrived = self._loop.time()
        counts.begin(arrived, body)
        exchange.on_end = lambda: counts.end(self._loop.time())
        fault = self._faults.next(number, body)
        if fault is not None:
            counts.faults[fault.kind] += 1
            if fault.kind in INSTEAD:
                self._play(exchange, fault, request_id)
                return
        try:
            replied = self._chat(body) if chat else self._reply(body, fault)
        except RefusedRequestError as error:
            self._send(exchange, error_answer(error.status, error.message, request_id))
            return
        latency_s = self.settings.latency_s + (fault.seconds if fault is not None else 0.0)
        answer = _json(replied.message, request_id)
        if latency_s:
            self._loop.call_at(arrived + latency_s, self._finish, exchange, answer, replied.prompt)
        else:
            self._finish(exchange, answer, replied.prompt)

    def _finish(self, exchange: Exchange, answer: Answer, prompt: Prompt) -> None:
        self._cache.remember(prompt)
        self.counts.answered(exchange.request.body)
        self._send(exchange, answer)

    def _reply(self, body: bytes, fault: Fault | None) -> Replied:
        params = check_message(_parsed(body), most_output_tokens=self.settings.most_output_tokens)
        return make_message(params, settings=self.settings, cache=self._cache, fault=fault)

    def _chat(self, body: bytes) -> Replied:
        return Replied(complete_chat(_parsed(body)), Prompt(0, ()))

    def _play(self, exchange: Exchange, fault: Fault, request_id: str) -> None:
        if fault.kind == "stall":
            return
        if fault.kind == "reset":
            self._loop.call_later(fault.seconds, exchange.reset)
            return
        if fault.kind == "reset_midway":
            answer = _json(self._reply(exchange.request.body, None).message, request_id)
            self._loop.call_later(self.settings.latency_s + fault.seconds, exchange.break_off, answer)
            return
        status, message = _STATUS[fault.kind]
        headers = {} if fault.retry_after_s is None else {"retry-after": f"{fault.retry_after_s:g}"}
        self._loop.call_later(fault.seconds, self._send, exchange, error_answer(status, message, request_id, headers))

    def _other(self, request: Request, path: str, request_id: str) -> Answer:
        if path == f"{MESSAGES}/count_tokens" and request.method == "POST" and self.settings.counts_tokens:
            params = check_message(
                _parsed(request.body), most_output_tokens=self.settings.most_output_tokens, counting=True
            )
            return _json({"input_tokens": measure(params).tokens}, request_id)
        if path == _BATCHES and request.method == "POST":
            batch = self._batches.add(check_batch(_parsed(request.body)), polls=self.settings.batch_polls)
            return _json(batch.to_json(self.base_url), request_id)
        if path == _BATCHES and request.method == "GET":
            query = dict(parse_qsl(urlsplit(request.path).query))
            return _json(self._batches.page(query, self.base_url), request_id)
        if path.startswith(f"{_BATCHES}/"):
            return self._batch(request.method, path.removeprefix(f"{_BATCHES}/").split("/"), request_id)
        raise RefusedRequestError(404, f"Not found: {request.method} {path}")

    def _batch(self, method: str, parts: list[str], request_id: str) -> Answer:
        batch = self._batches.get(parts[0])
        match method, parts[1:]:
            case "GET", []:
                batch.poll(self._settle)
                return _json(batch.to_json(self.base_url), request_id)
            case "POST", ["cancel"]:
                batch.cancel()
                return _json(batch.to_json(self.base_url), request_id)
            case "GET", ["results"]:
                if batch.results is None:
                    raise RefusedRequestError(400, f"Batch {batch.id} has no results yet: it has not ended")
                lines = b"".join(json.dumps(one).encode() + b"\n" for one in batch.results)
                return Answer(200, lines, {"request-id": request_id}, "application/x-jsonl")
            case _:
                raise RefusedRequestError(404, f"Not found: {method} {'/'.join(parts)}")

    def _settle(self, item: dict[str, Any]) -> dict[str, Any]:
        """The result of one item of a batch."""
        body = json.dumps(item["params"]).encode()
        number, self._n_items = self._n_items, self._n_items + 1
        fault = self._faults.next(number, body, item=True)
        if fault is not None:
            self.counts.faults[fault.kind] += 1
        if fault is not None and fault.kind == "expired":
            return {"type": "expired"}
        if fault is not None and fault.kind == "errored":
            return {"type": "errored", "error": error_body(500, "Internal server error", None)}
        try:
            params = check_message(item["params"], most_output_tokens=self.settings.most_output_tokens)
            replied = make_message(params, settings=self.settings, cache=self._cache, fault=fault, batch=True)
        except RefusedRequestError as error:
            return {"type": "errored", "error": error_body(error.status, error.message, None)}
        self._cache.remember(replied.prompt)
        return {"type": "succeeded", "message": replied.message}

    def _own(self, request: Request, path: str) -> Answer:
        """What is not of the API: looking in, and setting up."""
        match request.method, path.removeprefix("/_stub/"):
            case "GET", "stats":
                return _json(self.counts.to_json(), "")
            case "GET", "bodies":
                found = [{"route": route, "body": json.loads(body)} for route, body in self.counts.bodies]
                return _json(found, "")
            case "POST", "reset":
                self.reset(StubSettings.model_validate_json(request.body) if request.body else self.settings)
                return _json({}, "")
            case "POST", "settings":
                self.change(StubSettings.model_validate_json(request.body))
                return _json({}, "")
            case _:
                return error_answer(404, path, "")


def _json(found: object, request_id: str) -> Answer:
    return Answer(200, json.dumps(found).encode(), {"request-id": request_id})


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise RefusedRequestError(400, f"The request body is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise RefusedRequestError(400, "Input should be an object")
    return found


def _pattern(path: str) -> str:
    """A path with the names of batches left out, as routes are counted."""
    head, _, tail = path.removeprefix(f"{_BATCHES}/").partition("/")
    if path == _BATCHES or not path.startswith(f"{_BATCHES}/") or not head:
        return path
    return f"{_BATCHES}/{{id}}" + (f"/{tail}" if tail else "")


def _check_headers(request: Request, path: str) -> None:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    key = request.headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")
    if not key:
        raise RefusedRequestError(401, "x-api-key header is required")
    if key == WRONG_KEY:
        raise RefusedRequestError(401, "invalid x-api-key")
    if key == FORBIDDEN_KEY:
        raise RefusedRequestError(403, "Your API key does not have permission to use the specified resource.")
    if path != _CHAT and _VERSION not in request.headers:
        raise RefusedRequestError(400, f"{_VERSION}: header is required")
