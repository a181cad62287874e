"""A message as the API sends it: read from its raw JSON by us, since the SDK's own reading may raise and loses it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Message(NamedTuple):
    """What a reply says.

    Attributes:
        text: Of all its text blocks, joined.
        usage: Tokens, as the API gives them.
    """

    text: str
    stop_reason: str
    model: str
    usage: Mapping[str, Any]


def read_message(body: str) -> Message | None:
    """Read the raw JSON of a message; None when it is none (a proxy's page, a cut-off body).

    >>> read_message('{"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "model": "m"}')
    Message(text='Hi', stop_reason='end_turn', model='m', usage={})
    >>> read_message("<html>") is None
    True
    """
    try:
        message = json.loads(body)
        blocks = [block["text"] for block in message["content"] if block["type"] == "text"]
        usage = message.get("usage")
        return Message(
            text="".join(blocks),
            stop_reason=str(message["stop_reason"]),
            model=str(message["model"]),
            usage=usage if isinstance(usage, dict) else {},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def tokens(usage: Mapping[str, Any], name: str) -> int:
    """A count out of a message's usage, 0 where there is none.

    >>> tokens({"input_tokens": 7, "cache_read_input_tokens": None}, "cache_read_input_tokens")
    0
    """
    value = usage.get(name)
    return value if isinstance(value, int) else 0
