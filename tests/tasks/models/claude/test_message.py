"""A reply as it may come: what can be read of it is read, and what cannot costs nobody the rest."""

import json
from typing import Any

import pytest

from schemas.claude import ClaudeSettings
from tasks.models.claude.errors import retry_after_s
from tasks.models.claude.message import read_message, read_usage, tokens
from tasks.models.claude.prices import rates_of

RATES = rates_of(ClaudeSettings(provider="anthropic", model="claude-opus-4-1"))


def body(**changes: object) -> str:
    message = {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "model": "m"}
    return json.dumps(message | changes)


@pytest.mark.parametrize(
    ("text", "read"),
    [("cut \ud83d", "cut \ufffd"), ("\ude00 cut", "\ufffd cut"), ("whole \U0001f600 日", "whole \U0001f600 日")],
    ids=["first half", "second half", "whole"],
)
def test_half_a_character_does_not_reach_the_store(text: str, read: str) -> None:
    message = read_message(body(content=[{"type": "text", "text": text}]))
    assert message is not None
    assert message.text == read
    message.text.encode()


def test_halves_in_two_blocks_are_one_character() -> None:
    halves = [{"type": "text", "text": half} for half in ("\ud83d", "\ude00")]
    message = read_message(body(content=halves))
    assert message is not None
    assert message.text == "\U0001f600"


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        ({"input_tokens": 1_000_000, "cache_creation": 5}, 15.0),
        ({"input_tokens": "1000", "output_tokens": 1_000_000}, 75.0),
        ({"input_tokens": [1], "output_tokens": -1_000_000}, 0.0),
        ({"input_tokens": None}, 0.0),
        ([], 0.0),
        (None, 0.0),
    ],
    ids=str,
)
def test_odd_counts_cost_nothing_and_hide_no_others(usage: Any, usd: float) -> None:  # noqa: ANN401
    assert RATES.cost(read_usage(body(usage=usage)), batch=False) == usd


def test_what_is_no_message_still_says_what_it_took() -> None:
    spoilt = body(content=None, usage={"output_tokens": 1_000_000})
    assert read_message(spoilt) is None
    assert RATES.cost(read_usage(spoilt), batch=False) == 75.0


@pytest.mark.parametrize("value", [True, 7, 0, -3, 2.5, "7", None, {}])
def test_a_count_is_a_number_of_at_least_0(value: object) -> None:
    assert tokens({"n": value}, "n") == (value if isinstance(value, int) and value > 0 else 0)


@pytest.mark.parametrize(
    "said", ["Fri, 31 Dec 99999 23:59:59 GMT", "soon", "", "Fri, 99 Xyz 2026 99:99:99 GMT"], ids=str
)
def test_a_time_that_no_clock_has_is_none(said: str) -> None:
    assert retry_after_s({"retry-after": said}) is None
