"""A message as the API sends it: read from its raw JSON by us, since the SDK's own reading may raise and loses it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Message(NamedTuple):
    """What a reply says.

    Attributes:
        text: Of all its text blocks, joined. Half a character, as a gateway leaves it that cuts a text, is replaced by
            U+FFFD: it could be written to no file.
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
        return Message(
            text="".join(blocks).encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
            stop_reason=str(message["stop_reason"]),
            model=str(message["model"]),
            usage=_usage(message),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def read_usage(body: str) -> Mapping[str, Any]:
    """The tokens that a reply says it took, also of one that is no message otherwise: it was paid for.

    >>> read_usage('{"content": null, "usage": {"output_tokens": 3}}'), read_usage("<html>")
    ({'output_tokens': 3}, {})
    """
    try:
        return _usage(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _usage(message: object) -> Mapping[str, Any]:
    usage = message.get("usage") if isinstance(message, dict) else None
    return usage if isinstance(usage, dict) else {}


def tokens(usage: Mapping[str, Any], name: str) -> int:
    """A count out of a message's usage, 0 where there is none that can be one.

    >>> tokens({"input_tokens": 7, "cache_read_input_tokens": None}, "cache_read_input_tokens")
    0
    >>> tokens({"output_tokens": -5}, "output_tokens"), tokens({"output_tokens": "many"}, "output_tokens")
    (0, 0)
    """
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0
