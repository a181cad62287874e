import json
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.claude import ClaudeSettings, Price
from tasks.models.claude.request import ModelRequest, Shared, endpoint, make_request, request_key

SETTINGS = ClaudeSettings(provider="anthropic", model="some-model", max_tokens=500)
MARK = {"type": "ephemeral"}


class Verdict(BaseModel):
    claim: int
    words: list[str]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


def request(*, settings: ClaudeSettings = SETTINGS, **changes: object) -> ModelRequest:
    usual: dict[str, Any] = {"system": "Judge.", "content": ["passages", "claims"], "schema": None}
    return make_request(settings, **usual | changes)


def key(*, settings: ClaudeSettings = SETTINGS, **changes: object) -> str:
    return request_key(settings, request(settings=settings, **changes))


def test_shared_instructions_stand_first_and_are_marked() -> None:
    made = make_request(
        SETTINGS, system="Judge.", content=[Shared("passages"), "claims"], schema=Verdict, max_tokens=700
    )
    assert list(made.params) == ["model", "max_tokens", "system", "messages", "output_config"]
    assert made.params["model"] == "some-model"
    assert made.params["max_tokens"] == 700
    assert made.params["system"] == [{"type": "text", "text": "Judge.", "cache_control": MARK}]
    assert made.params["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "passages", "cache_control": MARK},
                {"type": "text", "text": "claims"},
            ],
        }
    ]


def test_the_api_takes_four_marks_so_the_last_three_shared_blocks_have_one() -> None:
    blocks = request(content=[Shared(f"passage {n}") for n in range(5)]).params["messages"][0]["content"]
    assert ["cache_control" in block for block in blocks] == [False, False, True, True, True]


def test_the_schema_is_one_the_api_can_enforce() -> None:
    output = request(schema=Verdict).params["output_config"]
    assert output["format"]["type"] == "json_schema"
    assert output["format"]["schema"]["additionalProperties"] is False
    assert output["format"]["schema"]["required"] == ["claim", "words"]


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    assert "output_config" not in request().params
    settings = SETTINGS.model_copy(update={"effort": "low"})
    made = make_request(settings, system="s", content=["c"], schema=None)
    assert made.params["output_config"] == {"effort": "low"}


def test_params_are_json() -> None:
    made = request(schema=Verdict, content=[Shared("a"), "b"])
    assert json.loads(json.dumps(made.params)) == made.params


def test_the_key_is_pinned() -> None:
    assert key() == "492b24a3821ea4ebe633aaa95540e3a6"


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": SETTINGS.model_copy(update={"provider": "bedrock"})},
        {"settings": SETTINGS.model_copy(update={"model": "other-model"})},
        {"settings": SETTINGS.model_copy(update={"effort": "low"})},
        {"settings": SETTINGS.model_copy(update={"max_tokens": 501})},
        {"settings": SETTINGS.model_copy(update={"base_url": "http://127.0.0.1:8080"})},
        {"settings": SETTINGS.model_copy(update={"region": "eu"})},
        {"settings": SETTINGS.model_copy(update={"project": "p"})},
        {"system": "Judge!"},
        {"content": ["passagesclaims"]},
        {"content": [Shared("passages"), "claims"]},
        {"schema": Verdict},
        {"max_tokens": 501},
        {"trial": 1},
    ],
    ids=str,
)
def test_what_can_change_a_reply_changes_its_key(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()


@pytest.mark.parametrize(
    "changes",
    [
        {"concurrency": 64},
        {"deadline_s": 1.0},
        {"patience_s": 1.0},
        {"context_window": 1_000_000},
        {"price": Price(input_usd=1, output_usd=2)},
    ],
    ids=str,
)
def test_what_cannot_change_a_reply_leaves_its_key(changes: dict[str, Any]) -> None:
    assert key(settings=SETTINGS.model_copy(update=changes)) == key()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (None, "https://api.anthropic.com/", True),
        (None, "HTTPS://API.anthropic.com:443", True),
        ("http://a", "http://A:80/", True),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/", True),
        ("http://a", "https://a", False),
        ("http://a", "http://a:8080", False),
        ("http://a/x", "http://a/X", False),
        ("http://me@a", "http://a", False),
        ("http://a:port", "http://a", False),
    ],
)
def test_an_address_has_one_spelling(one: str | None, other: str, *, same: bool) -> None:
    first, second = (ClaudeSettings(provider="anthropic", model="m", base_url=address) for address in (one, other))
    assert (endpoint(first) == endpoint(second)) is same


def test_an_address_in_the_environment_is_another_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = key()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/")
    assert key() != plain
    assert key() == key(settings=SETTINGS.model_copy(update={"base_url": "http://127.0.0.1:8080"}))
