"""A minimal chat completions route, for a peer in the benchmark: its own prompts, answered in the shape it asks for."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.stub.errors import RefusedRequestError
from tests.stub.settings import fraction
from tests.stub.tokens import tokens_of

# The peer's last input, after its examples.
_INPUT: Final = re.compile(r"Now perform the same with the following input\s+input: (.+)\nOutput:", flags=re.DOTALL)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_SUPPORTED: Final = 0.7


def complete_chat(params: Mapping[str, Any]) -> dict[str, Any]:
    """Reply to a chat request with statements of an answer, or with a verdict on each statement.

    Raises:
        RefusedRequestError: 400 for a prompt of another kind.
    """
    prompt = str(params["messages"][-1]["content"])
    found = _INPUT.search(prompt)
    if found is None:
        raise RefusedRequestError(400, "this stub does not know this prompt")
    asked = json.loads(found[1])
    text = json.dumps(_judged(asked["statements"]) if "statements" in asked else _stated(asked["answer"]))
    n_in, n_out = tokens_of(prompt), tokens_of(text)
    return {
        "id": f"chatcmpl-{hashlib.blake2b(prompt.encode(), digest_size=12).hexdigest()}",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": params["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out},
    }


def _stated(answer: str) -> dict[str, Any]:
    return {"statements": [text for text in _SENTENCE_END.split(answer.strip()) if text]}


def _judged(statements: list[str]) -> dict[str, Any]:
    verdicts = [
        {"statement": text, "reason": "by hash", "verdict": int(fraction(text.encode()) < _SUPPORTED)}
        for text in statements
    ]
    return {"statements": verdicts}
