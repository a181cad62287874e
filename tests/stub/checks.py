"""What the Messages API turns down with 400, as far as it is cheap to know."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.stub.errors import RefusedRequestError

_KEYS: Final = frozenset({
    "model", "messages", "max_tokens", "cache_control", "container", "inference_geo", "metadata", "output_config",
    "service_tier", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
})  # fmt: skip
_COUNTED_KEYS: Final = frozenset({
    "model", "messages", "cache_control", "output_config", "system", "thinking", "tool_choice", "tools",
})  # fmt: skip
_EFFORTS: Final = frozenset({"low", "medium", "high", "xhigh", "max"})
_BLOCK_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
}
_MOST_BREAKPOINTS: Final = 4
# JSON Schema words that structured outputs do not take.
_NOT_TAKEN: Final = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "maxItems", "uniqueItems", "patternProperties",
})  # fmt: skip
_CUSTOM_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_checked_schemas: set[str] = set()


def check_message(params: object, *, most_output_tokens: int, counting: bool = False) -> dict[str, Any]:
    """Check the body of `POST /v1/messages`, or of its token count; returns it.

    Raises:
        RefusedRequestError: 400, with a message like the API's.
    """
    if not isinstance(params, dict):
        raise RefusedRequestError(400, "Input should be an object")
    allowed = _COUNTED_KEYS if counting else _KEYS
    needed = ("model", "messages") if counting else ("model", "messages", "max_tokens")
    _only(params, allowed, "")
    for name in needed:
        if name not in params:
            raise RefusedRequestError(400, f"{name}: Field required")
    if not isinstance(params["model"], str) or not params["model"]:
        raise RefusedRequestError(400, "model: Input should be a valid string")
    if not counting:
        _check_max_tokens(params["max_tokens"], most_output_tokens)
    if params.get("stream"):
        raise RefusedRequestError(400, "stream: this stub does not stream")
    n_breakpoints = _check_messages(params["messages"]) + _check_content(params.get("system", ""), "system")
    if n_breakpoints > _MOST_BREAKPOINTS:
        raise RefusedRequestError(
            400, f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {n_breakpoints}."
        )
    _check_output(params.get("output_config", {}))
    return params


def check_batch(body: object) -> list[dict[str, Any]]:
    """Check the body of `POST /v1/messages/batches`, but not its items' params; returns the items.

    Raises:
        RefusedRequestError: 400.
    """
    if not isinstance(body, dict):
        raise RefusedRequestError(400, "Input should be an object")
    _only(body, frozenset({"requests"}), "")
    items = body.get("requests")
    if not isinstance(items, list) or not items:
        raise RefusedRequestError(400, "requests: List should have at least 1 item")
    if len(items) > 100_000:
        raise RefusedRequestError(400, "requests: List should have at most 100000 items")
    seen: set[str] = set()
    for index, item in enumerate(items):
        where = f"requests.{index}."
        if not isinstance(item, dict) or not {"custom_id", "params"} <= set(item):
            raise RefusedRequestError(400, f"{where}custom_id: Field required")
        _only(item, frozenset({"custom_id", "params"}), where)
        if not isinstance(item["custom_id"], str) or not _CUSTOM_ID.fullmatch(item["custom_id"]):
            raise RefusedRequestError(400, f"{where}custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if item["custom_id"] in seen:
            raise RefusedRequestError(400, f"requests: duplicate custom_id {item['custom_id']!r}")
        seen.add(item["custom_id"])
    return items


def _only(found: Mapping[str, Any], allowed: frozenset[str], where: str) -> None:
    for name in found:
        if name not in allowed:
            raise RefusedRequestError(400, f"{where}{name}: Extra inputs are not permitted")


def _check_max_tokens(found: object, most: int) -> None:
    if not isinstance(found, int) or isinstance(found, bool):
        raise RefusedRequestError(400, "max_tokens: Input should be a valid integer")
    if found < 1:
        raise RefusedRequestError(400, "max_tokens: Input should be greater than or equal to 1")
    if found > most:
        raise RefusedRequestError(
            400, f"max_tokens: {found} > {most}, which is the maximum allowed number of output tokens"
        )


def _check_messages(messages: object) -> int:
    if not isinstance(messages, list) or not messages:
        raise RefusedRequestError(400, "messages: at least one message is required")
    n_breakpoints = 0
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        if not isinstance(message, dict):
            raise RefusedRequestError(400, f"{where}: Input should be an object")
        _only(message, frozenset({"role", "content"}), f"{where}.")
        if message.get("role") not in {"user", "assistant"}:
            raise RefusedRequestError(400, f"{where}.role: Input should be 'user' or 'assistant'")
        if not message.get("content"):
            raise RefusedRequestError(400, f"{where}: all messages must have non-empty content")
        n_breakpoints += _check_content(message["content"], f"{where}.content")
    if messages[-1]["role"] != "user":
        raise RefusedRequestError(400, "This model does not support assistant message prefill.")
    return n_breakpoints


def _check_content(content: object, where: str) -> int:
    """Check text or blocks; returns the number of cache breakpoints.

    Raises:
        RefusedRequestError: 400.
    """
    if isinstance(content, str):
        return 0
    if not isinstance(content, list):
        raise RefusedRequestError(400, f"{where}: Input should be a valid string or list")
    n_breakpoints = 0
    for index, block in enumerate(content):
        place = f"{where}.{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind not in _BLOCK_KEYS:
            raise RefusedRequestError(400, f"{place}: Input tag {kind!r} does not match any of the expected tags")
        _only(block, _BLOCK_KEYS[kind], f"{place}.{kind}.")
        if kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
            raise RefusedRequestError(400, f"{where}: text content blocks must be non-empty")
        n_breakpoints += _check_cache_control(block.get("cache_control"), place)
    return n_breakpoints


def _check_cache_control(found: object, where: str) -> int:
    if found is None:
        return 0
    if not isinstance(found, dict) or found.get("type") != "ephemeral" or found.get("ttl", "5m") not in {"5m", "1h"}:
        raise RefusedRequestError(400, f"{where}.cache_control: Input should be an ephemeral cache control")
    _only(found, frozenset({"type", "ttl"}), f"{where}.cache_control.")
    return 1


def _check_output(config: object) -> None:
    if not isinstance(config, dict):
        raise RefusedRequestError(400, "output_config: Input should be an object")
    _only(config, frozenset({"effort", "format"}), "output_config.")
    effort = config.get("effort")
    if effort is not None and effort not in _EFFORTS:
        raise RefusedRequestError(400, f"output_config.effort: Input should be one of {', '.join(sorted(_EFFORTS))}")
    wanted = config.get("format")
    if wanted is None:
        return
    if (
        not isinstance(wanted, dict)
        or wanted.get("type") != "json_schema"
        or not isinstance(wanted.get("schema"), dict)
    ):
        raise RefusedRequestError(400, "output_config.format: Input should be a json_schema with its schema")
    _only(wanted, frozenset({"type", "schema"}), "output_config.format.")
    text = json.dumps(wanted["schema"])
    if text not in _checked_schemas:
        _check_schema(wanted["schema"])
        _checked_schemas.add(text)


def _check_schema(schema: object) -> None:
    """Check what structured outputs take of JSON Schema.

    Raises:
        RefusedRequestError: 400.
    """
    if isinstance(schema, list):
        for part in schema:
            _check_schema(part)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise RefusedRequestError(
            400,
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
        )
    for name, part in schema.items():
        if name in {"properties", "$defs"} and isinstance(part, dict):
            for inner in part.values():
                _check_schema(inner)
        elif name in _NOT_TAKEN:
            kind = schema.get("type")
            raise RefusedRequestError(
                400, f"output_config.format.schema: For {kind!r} type, property {name!r} is not supported"
            )
        elif name not in {"enum", "const", "default", "required", "description", "title"}:
            _check_schema(part)
