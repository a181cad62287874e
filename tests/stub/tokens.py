"""Tokens of a request, and which of them a prompt cache had: near enough to the API's to add up."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_BYTES_A_TOKEN: Final = 4
_TOKENS_A_MESSAGE: Final = 3


def tokens_of(text: str) -> int:
    """About what a model would count."""
    return -(-len(text.encode()) // _BYTES_A_TOKEN)


class Prompt(NamedTuple):
    """A request's tokens, and the prefixes it wants cached: (digest, tokens up to there), shortest first."""

    tokens: int
    prefixes: tuple[tuple[bytes, int], ...]


def measure(params: Mapping[str, Any]) -> Prompt:
    """Count a request's tokens, as the API orders them: schema and system first, then the messages."""
    hasher = hashlib.blake2b(params["model"].encode(), digest_size=16)
    total = 0
    prefixes: list[tuple[bytes, int]] = []
    wanted = params.get("output_config", {}).get("format")
    if wanted is not None:
        text = json.dumps(wanted)
        hasher.update(text.encode())
        total += tokens_of(text)
    for text, marked in _blocks(params):
        hasher.update(b"\0" + text.encode())
        total += tokens_of(text)
        if marked:
            prefixes.append((hasher.digest(), total))
    return Prompt(total + _TOKENS_A_MESSAGE * len(params["messages"]), tuple(prefixes))


class PromptCache:
    """Remembers prefixes that were marked; without end, where the API's are forgotten after minutes.

    As at the API a prefix can be read once a reply to a request that marked it has begun, not before.
    """

    def __init__(self, least_tokens: int) -> None:
        self._least_tokens = least_tokens
        self._known: set[bytes] = set()

    def usage(self, prompt: Prompt) -> dict[str, Any]:
        """Split a prompt's tokens into fresh, written and read."""
        read = written = 0
        for digest, tokens in prompt.prefixes:
            if tokens < self._least_tokens:
                continue
            if digest in self._known:
                read, written = tokens, 0
            else:
                written = tokens - read
        return {
            "input_tokens": prompt.tokens - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        }

    def remember(self, prompt: Prompt) -> None:
        """Keep a prompt's prefixes, now that it is replied to."""
        self._known |= {digest for digest, tokens in prompt.prefixes if tokens >= self._least_tokens}


def _blocks(params: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Every block's text and whether it ends a prefix that is to be cached."""
    yield from _of_content(params.get("system", ""))
    for message in params["messages"]:
        yield from _of_content(message["content"])


def _of_content(content: str | list[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    if isinstance(content, str):
        yield content, False
        return
    for block in content:
        text = block["text"] if block["type"] == "text" else json.dumps(block)
        yield text, block.get("cache_control") is not None
