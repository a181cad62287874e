"""A message as the API would return it, and what can spoil one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tests.stub.errors import RefusedRequestError
from tests.stub.replies import compose
from tests.stub.settings import Fault, StubSettings
from tests.stub.tokens import Prompt, PromptCache, measure, tokens_of

_REFUSAL: Final = "I can't help with that."
_VERDICTS: Final = "verdicts"
# A reply whose text is spoilt still ends well, as the API sees it.
_SPOILT: Final = frozenset({"malformed", "missing_verdict", "doubled_verdict", "empty"})


class Replied(NamedTuple):
    """A message, and the prompt it answers."""

    message: dict[str, Any]
    prompt: Prompt


def make_message(
    params: Mapping[str, Any], *, settings: StubSettings, cache: PromptCache, fault: Fault | None, batch: bool = False
) -> Replied:
    """Reply to checked params; `fault` is one that spoils replies, or None.

    Raises:
        RefusedRequestError: 404 for an unknown model, 400 for a prompt beyond the window.
    """
    if params["model"] == settings.unknown_model:
        raise RefusedRequestError(404, f"model: {params['model']}")
    prompt = measure(params)
    if prompt.tokens > settings.window:
        raise RefusedRequestError(400, f"prompt is too long: {prompt.tokens} tokens > {settings.window} maximum")
    text = compose(params, by_hash=settings.quick)
    text, stop_reason = _cut(text, params["max_tokens"])
    if fault is not None:
        text, stop_reason = _spoil(text, stop_reason, fault)
    usage = cache.usage(prompt)
    message = {
        "id": f"msg_{hashlib.blake2b(json.dumps(params).encode(), digest_size=12).hexdigest()}",
        "type": "message",
        "role": "assistant",
        "model": settings.returned_model or params["model"],
        "content": [{"type": "text", "text": text, "citations": None}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": _details(stop_reason),
        "container": None,
        "usage": {
            **usage,
            "output_tokens": max(1, tokens_of(text)),
            "output_tokens_details": None,
            "server_tool_use": None,
            "service_tier": "batch" if batch else "standard",
            "inference_geo": None,
        },
    }
    return Replied(message, prompt)


def _cut(text: str, max_tokens: int) -> tuple[str, str]:
    """End a reply where its room ends."""
    if tokens_of(text) <= max_tokens:
        return text, "end_turn"
    return text.encode()[: max_tokens * 4].decode(errors="ignore"), "max_tokens"


def _spoil(text: str, stop_reason: str, fault: Fault) -> tuple[str, str]:
    if fault.kind == "truncated":
        return text[: len(text) // 2], "max_tokens"
    if fault.kind == "window_exceeded":
        return text[: len(text) // 2], "model_context_window_exceeded"
    if fault.kind == "refused":
        return _REFUSAL, "refusal"
    if fault.kind in _SPOILT:
        return _spoilt(text, fault), stop_reason
    return text, stop_reason


def _spoilt(text: str, fault: Fault) -> str:
    if fault.kind == "empty":
        return ""
    if fault.kind == "malformed":
        return text[: len(text) // 2] + "}]"
    try:
        reply = json.loads(text)
    except ValueError:
        return text  # a writer's: there is no verdict to miss
    verdicts = reply.get(_VERDICTS)
    if verdicts:
        reply[_VERDICTS] = verdicts[:-1] if fault.kind == "missing_verdict" else [*verdicts, verdicts[0]]
    return json.dumps(reply)


def _details(stop_reason: str) -> dict[str, Any] | None:
    if stop_reason != "refusal":
        return None
    return {"type": "refusal", "category": None, "explanation": None}
