"""What is sent: the parameters of one call, and the key under which its replies are kept."""

import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel

from schemas.claude import ClaudeSettings
from tasks.store.keys import Material, digest

# Enters the keys of kept replies: raise it when the same parameters would be sent otherwise.
_VERSION: Final = 1
_CACHED: Final = {"type": "ephemeral"}
# The API takes at most four marks of what to cache; the instructions have one of them.
_MOST_SHARED: Final = 3
# The SDK sends elsewhere when one of these is set, and replies of another endpoint are other replies.
BASE_URLS: Final = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "bedrock": "ANTHROPIC_BEDROCK_BASE_URL",
    "vertex": "ANTHROPIC_VERTEX_BASE_URL",
}
_ANTHROPIC: Final = "https://api.anthropic.com"
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ModelRequest:
    """One thing asked of a model.

    Attributes:
        params: Exactly the keyword arguments of `messages.create`, and nothing that JSON cannot hold.
        trial: A deliberate second reading of the same is another request.
    """

    params: Mapping[str, Any]
    trial: int = 0

    @cached_property
    def text(self) -> str:
        """The parameters as canonical JSON, made once: keys, sizes and bounds are taken of it."""
        return json.dumps(self.params, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of everything that is sent; a token is at least one."""
        return len(self.text.encode("utf-8", "surrogatepass"))


class Shared(str):
    """A block of text that several requests begin with: it is marked, so that the API reads it at full price once."""

    __slots__ = ()


def make_request(
    settings: ClaudeSettings,
    *,
    system: str,
    content: Sequence[str],
    schema: type[BaseModel] | None,
    max_tokens: int | None = None,
    trial: int = 0,
) -> ModelRequest:
    """Build a request: what many requests share stands first, since the API caches beginnings only.

    Args:
        settings: Of the seat.
        system: The instructions; marked to be cached.
        content: Blocks of the one user message, in order; those that are `Shared` are marked, the last three of them.
        schema: What the reply has to be; None for plain text.
        max_tokens: Most tokens of the reply; None takes the settings'.
        trial: See `ModelRequest`.

    >>> settings = ClaudeSettings(provider="anthropic", model="some-model")
    >>> request = make_request(settings, system="Be brief.", content=["Hello"], schema=None)
    >>> request.params["messages"]
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hello'}]}]
    >>> request.params["system"]
    [{'type': 'text', 'text': 'Be brief.', 'cache_control': {'type': 'ephemeral'}}]
    """
    shared = [position for position, text in enumerate(content) if isinstance(text, Shared)][-_MOST_SHARED:]
    params: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": max_tokens or settings.max_tokens,
        "system": [_block(system, cached=True)],
        "messages": [
            {
                "role": "user",
                "content": [_block(text, cached=position in shared) for position, text in enumerate(content)],
            }
        ],
    }
    output: dict[str, Any] = {}
    if settings.effort is not None:
        output["effort"] = settings.effort
    if schema is not None:
        output["format"] = {"type": "json_schema", "schema": json_schema(schema)}
    if output:
        params["output_config"] = output
    return ModelRequest(params=params, trial=trial)


@functools.cache
def json_schema(schema: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema that the API is given for a model of ours: what it cannot enforce becomes description."""
    from anthropic import transform_schema  # noqa: PLC0415 - importing the SDK takes most of a second

    return transform_schema(schema)


def endpoint(settings: ClaudeSettings) -> Material:
    """Where the calls go, as far as it can change a reply; None is the provider's own place.

    `ANTHROPIC_BASE_URL` and its like count too: behind them may be another model of the same name.

    >>> endpoint(ClaudeSettings(provider="anthropic", model="m", base_url="http://127.0.0.1:8080/"))
    ['http://127.0.0.1:8080', None, None]
    >>> endpoint(ClaudeSettings(provider="anthropic", model="m", base_url="https://API.anthropic.com:443")) is None
    True
    """
    named = settings.base_url or os.environ.get(BASE_URLS[settings.provider]) or None
    base_url = None if named is None else _plain(named)
    if settings.provider == "anthropic" and base_url == _ANTHROPIC:
        base_url = None
    if base_url is None and settings.region is None and settings.project is None:
        return None
    return [base_url, settings.region, settings.project]


def _plain(address: str) -> str:
    """An address in one spelling: scheme and host in small letters, no default port, no slash at the end."""
    try:
        parts = urlsplit(address)
        port = "" if parts.port in {None, _PORTS.get(parts.scheme)} else f":{parts.port}"
        host = parts.hostname or ""
    except ValueError:
        return address.rstrip("/")
    host = f"[{host}]" if ":" in host else host
    user = f"{parts.username}@" if parts.username else ""
    return urlunsplit((parts.scheme, f"{user}{host}{port}", parts.path.rstrip("/"), parts.query, ""))


def request_key(settings: ClaudeSettings, request: ModelRequest) -> str:
    """The key of a request's replies: everything that could change them, and no time-out, price or limit."""
    return digest([
        "claude_request",
        _VERSION,
        settings.provider,
        endpoint(settings),
        request.text,
        request.trial,
    ])


def _block(text: str, *, cached: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": str(text)}
    if cached:
        block["cache_control"] = _CACHED
    return block
