"""The stub of the Messages API: held against the API's own schema, and used through the real client."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic  # noqa: TID251 - the client that the stub is made for
import llm_comply  # type: ignore[import-untyped]
import pytest
from llm_comply.tests.anthropic import ANTHROPIC_TESTS  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field

from tests.stub.routes import FORBIDDEN_KEY, WRONG_KEY
from tests.stub.server import StubServer
from tests.stub.settings import Fault, FaultKind

SPEC_PATH = Path(llm_comply.__file__).with_name("specs") / "anthropic.json"
MODEL = "claude-sonnet-4-6"
# It does not stream, call tools or think; fourcells asks for none of it.
NOT_PLAYED = {"anth-tool-calling", "anth-streaming-response", "anth-streaming-usage", "anth-thinking-display"}

pytestmark = pytest.mark.filterwarnings("ignore:jsonschema.RefResolver:DeprecationWarning")


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int = Field(ge=1)
    verdict: str


class Verdicts(BaseModel):
    model_config = ConfigDict(extra="forbid")
    verdicts: list[Verdict]


@pytest.fixture(scope="module")
def spec() -> Iterator[llm_comply.SpecLoader]:
    yield llm_comply.SpecLoader(str(SPEC_PATH))
    llm_comply.http.close_client()


@pytest.fixture
def client(stub: StubServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=stub.url, api_key="stub-key", max_retries=0, timeout=5) as client:
        yield client


def params(text: str = "Is it so?", **others: object) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 1_000, "messages": [{"role": "user", "content": text}], **others}


def structured(schema: type[BaseModel] = Verdicts) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": anthropic.transform_schema(schema)}}


def text_of(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.parametrize(
    "case", [case for case in ANTHROPIC_TESTS if case.id not in NOT_PLAYED], ids=lambda case: case.id
)
def test_passes_a_foreign_compliance_check(
    case: llm_comply.test_case.TestCase, stub: StubServer, spec: llm_comply.SpecLoader
) -> None:
    config = llm_comply.ComplianceConfig(
        base_url=f"{stub.url}/v1",
        api_key="stub-key",
        model=MODEL,
        auth_header="x-api-key",
        use_bearer_prefix=False,
        extra_headers={"anthropic-version": "2023-06-01"},
    )
    result = llm_comply.TestRunner(config, [case], spec).run_one(case)
    assert not result.errors
    assert not result.warnings
    assert result.status is llm_comply.TestStatus.PASSED


def test_every_body_it_sends_fits_the_schema_of_the_api(
    stub: StubServer, client: anthropic.Anthropic, spec: llm_comply.SpecLoader
) -> None:
    # Raw bodies, since the client forgives what it does not know.
    messages = client.messages.with_raw_response
    batches = client.messages.batches.with_raw_response
    found = [
        ("Message", messages.create(**params(output_config=structured())).read()),
        ("CountMessageTokensResponse", messages.count_tokens(model=MODEL, messages=params()["messages"]).read()),
        ("MessageBatch", batches.create(requests=[{"custom_id": "a", "params": params()}]).read()),  # type: ignore[typeddict-item]
        ("ListResponse_MessageBatch_", batches.list().read()),
    ]
    name = json.loads(found[2][1])["id"]
    found += [("MessageBatch", batches.retrieve(name).read()), ("MessageBatch", batches.cancel(name).read())]
    stub.change(Fault(kind="refused"))
    found.append(("Message", messages.create(**params()).read()))
    kinds: dict[int, FaultKind] = {429: "rate_limited", 529: "overloaded", 500: "server_error"}
    for status, kind in kinds.items():
        stub.change(Fault(kind=kind))
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(**params())
        assert caught.value.status_code == status
        found.append(("ErrorResponse", caught.value.response.content))
    for schema, body in found:
        assert not spec.validate(json.loads(body), schema), schema


def test_structured_replies_fit_the_schema_and_depend_on_the_request(client: anthropic.Anthropic) -> None:
    class Form(BaseModel):
        model_config = ConfigDict(extra="forbid")
        word: str
        choice: bool
        note: str | None = None

    def ask(text: str) -> Form:
        message = client.messages.create(**params(text, output_config=structured(Form)))
        return Form.model_validate_json(text_of(message))

    assert ask("one") == ask("one")
    assert {ask(f"number {n}").choice for n in range(20)} == {True, False}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"temperature": 0}, "temperature: Extra inputs are not permitted"),
    "no room": ({"max_tokens": 0}, "max_tokens"),
    "too much room": ({"max_tokens": 10**6}, "maximum allowed number of output tokens"),
    "unknown effort": ({"output_config": {"effort": "huge"}}, "output_config.effort"),
    "no message": ({"messages": []}, "at least one message"),
    "empty text": ({"system": [{"type": "text", "text": " "}]}, "text content blocks must be non-empty"),
    "prefill": ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "{"}]}, "prefill"),
    "five breakpoints": (
        {"system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}] * 5},
        "A maximum of 4 blocks",
    ),
    "open schema": (
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}},
        "additionalProperties",
    ),
    "range in a schema": (
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "integer", "minimum": 1}}}},
        "'minimum' is not supported",
    ),
}


@pytest.mark.parametrize(("others", "message"), WRONG.values(), ids=WRONG)
def test_turns_down_what_the_api_turns_down(client: anthropic.Anthropic, others: dict[str, Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message) as caught:
        client.messages.create(**params(), extra_body=others)
    assert caught.value.response.headers["request-id"] == caught.value.request_id


def test_max_tokens_is_needed(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: Field required"):
        client.post("/v1/messages", cast_to=object, body={"model": MODEL, "messages": params()["messages"]})


def test_keys_and_models_it_does_not_know(stub: StubServer, client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key=WRONG_KEY).messages.create(**params())
    with pytest.raises(anthropic.PermissionDeniedError):
        client.with_options(api_key=FORBIDDEN_KEY).messages.create(**params())
    with pytest.raises(anthropic.NotFoundError, match="model: claude-unknown"):
        client.messages.create(**{**params(), "model": "claude-unknown"})


def test_a_prompt_beyond_the_window_is_told_with_its_size(stub: StubServer, client: anthropic.Anthropic) -> None:
    stub.change(window=100)
    counted = client.messages.count_tokens(model=MODEL, messages=params("x" * 4_000)["messages"]).input_tokens
    with pytest.raises(anthropic.BadRequestError, match=f"prompt is too long: {counted} tokens > 100 maximum"):
        client.messages.create(**params("x" * 4_000))


def test_a_marked_prefix_is_written_once_and_read_afterwards(client: anthropic.Anthropic) -> None:
    system = [{"type": "text", "text": "rules " * 1_000, "cache_control": {"type": "ephemeral"}}]
    first = client.messages.create(**params("one", system=system)).usage
    second = client.messages.create(**params("two", system=system)).usage
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (1_500, 0)
    assert (second.cache_creation_input_tokens, second.cache_read_input_tokens) == (0, 1_500)
    assert first.input_tokens == second.input_tokens


def test_a_short_prefix_is_not_cached(client: anthropic.Anthropic) -> None:
    system = [{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}]
    for _ in range(2):
        usage = client.messages.create(**params(system=system)).usage
        assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)


def test_a_reply_ends_where_its_room_ends(client: anthropic.Anthropic) -> None:
    message = client.messages.create(**{**params(output_config=structured()), "max_tokens": 2})
    assert message.stop_reason == "max_tokens"
    assert message.usage.output_tokens == 2


SPOILT: dict[str, tuple[FaultKind, str]] = {
    "truncated": ("truncated", "max_tokens"),
    "window exceeded": ("window_exceeded", "model_context_window_exceeded"),
    "refused": ("refused", "refusal"),
    "malformed": ("malformed", "end_turn"),
    "empty": ("empty", "end_turn"),
}


@pytest.mark.parametrize(("kind", "stop_reason"), SPOILT.values(), ids=SPOILT)
def test_spoils_a_reply_once(stub: StubServer, client: anthropic.Anthropic, kind: FaultKind, stop_reason: str) -> None:
    stub.change(Fault(kind=kind))
    spoilt, good = (client.messages.create(**params(output_config=structured())) for _ in range(2))
    assert spoilt.stop_reason == stop_reason
    with pytest.raises(ValueError, match="1 validation error"):
        Verdicts.model_validate_json(text_of(spoilt))
    assert Verdicts.model_validate_json(text_of(good)).verdicts


@pytest.mark.parametrize(("kind", "n_verdicts"), [("missing_verdict", 0), ("doubled_verdict", 2)])
def test_gives_too_few_or_too_many_verdicts(
    stub: StubServer, client: anthropic.Anthropic, kind: FaultKind, n_verdicts: int
) -> None:
    stub.change(Fault(kind=kind))
    message = client.messages.create(**params(output_config=structured()))
    assert len(Verdicts.model_validate_json(text_of(message)).verdicts) == n_verdicts


def test_retry_after_is_in_the_header(stub: StubServer, client: anthropic.Anthropic) -> None:
    stub.change(Fault(kind="rate_limited", retry_after_s=3))
    with pytest.raises(anthropic.RateLimitError) as caught:
        client.messages.create(**params())
    assert caught.value.response.headers["retry-after"] == "3"


@pytest.mark.parametrize("kind", ["reset", "reset_midway"])
def test_breaks_connections(stub: StubServer, client: anthropic.Anthropic, kind: FaultKind) -> None:
    stub.change(Fault(kind=kind))
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(**params())
    assert client.messages.create(**params()).stop_reason == "end_turn"
    assert stub.stats().answered_again == 0


def test_stalls_until_the_client_gives_up(stub: StubServer, client: anthropic.Anthropic) -> None:
    stub.change(Fault(kind="stall"))
    with pytest.raises(anthropic.APITimeoutError):
        client.with_options(timeout=0.05).messages.create(**params())
    assert client.messages.create(**params()).stop_reason == "end_turn"
    assert stub.stats().peak_in_flight >= 1


def test_a_share_of_the_requests_is_hit_whatever_their_order(stub: StubServer, client: anthropic.Anthropic) -> None:
    def hit(numbers: range) -> set[int]:
        stub.reset(Fault(kind="refused", share=0.3, times=None))
        return {n for n in numbers if client.messages.create(**params(f"number {n}")).stop_reason == "refusal"}

    forward = hit(range(40))
    assert forward == hit(range(39, -1, -1))
    assert 5 <= len(forward) <= 20


def test_requests_are_hit_by_number_or_by_what_they_hold(stub: StubServer, client: anthropic.Anthropic) -> None:
    stub.change(Fault(kind="refused", at=(1,)), Fault(kind="truncated", having="cut me"))
    reasons = [client.messages.create(**params(text)).stop_reason for text in ("a", "b", "cut me", "c")]
    assert reasons == ["end_turn", "refusal", "max_tokens", "end_turn"]


def test_a_batch_ends_after_its_polls_with_a_result_for_each_item(
    stub: StubServer, client: anthropic.Anthropic
) -> None:
    stub.change(Fault(kind="expired", having="late"), Fault(kind="errored", having="broken"), batch_polls=2)
    texts = {"fine": "a", "late": "late", "broken": "broken", "wrong": "b"}
    requests: Any = [{"custom_id": name, "params": params(text)} for name, text in texts.items()]
    requests[-1]["params"]["max_tokens"] = 0
    batch = client.messages.batches.create(requests=requests)
    polled = [client.messages.batches.retrieve(batch.id).processing_status for _ in range(3)]
    results = {one.custom_id: one.result for one in client.messages.batches.results(batch.id)}
    assert polled == ["in_progress", "in_progress", "ended"]
    assert {name: result.type for name, result in results.items()} == {
        "fine": "succeeded", "late": "expired", "broken": "errored", "wrong": "errored",
    }  # fmt: skip
    fine, wrong = results["fine"], results["wrong"]
    assert fine.type == "succeeded"
    assert fine.message.usage.service_tier == "batch"
    assert wrong.type == "errored"
    assert wrong.error.error.type == "invalid_request_error"
    counts = client.messages.batches.retrieve(batch.id).request_counts
    assert (counts.succeeded, counts.errored, counts.expired, counts.processing) == (1, 2, 1, 0)


def test_a_canceled_batch_gives_canceled_items(stub: StubServer, client: anthropic.Anthropic) -> None:
    stub.change(batch_polls=9)
    batch = client.messages.batches.create(requests=[{"custom_id": "a", "params": params()}])  # type: ignore[typeddict-item]
    assert client.messages.batches.cancel(batch.id).processing_status == "canceling"
    assert client.messages.batches.retrieve(batch.id).processing_status == "ended"
    assert [one.result.type for one in client.messages.batches.results(batch.id)] == ["canceled"]


def test_a_batch_with_one_id_twice_is_turned_down(client: anthropic.Anthropic) -> None:
    item: Any = {"custom_id": "a", "params": params()}
    with pytest.raises(anthropic.BadRequestError, match="duplicate custom_id"):
        client.messages.batches.create(requests=[item, item])


def test_counts_what_came_and_what_was_bought_twice(stub: StubServer, client: anthropic.Anthropic) -> None:
    for text in ("a", "b", "a"):
        client.messages.create(**params(text))
    client.messages.count_tokens(model=MODEL, messages=params()["messages"])
    stats = stub.stats()
    assert stats.requests == {"POST /v1/messages": 3, "POST /v1/messages/count_tokens": 1}
    assert (stats.messages, stats.different, stats.answered_again, stats.peak_in_flight) == (3, 2, 1, 1)
    assert [body["messages"][0]["content"] for body in stub.bodies()] == ["a", "b", "a"]


@pytest.mark.parametrize("how", ["end of its input", "signal"])
def test_runs_as_a_process_until_told_to_end(how: str) -> None:
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "tests.stub.server", "--port", "0", "--settings", '{"window": 123}']
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with (
            anthropic.Anthropic(base_url=url, api_key="stub-key", max_retries=0, timeout=5) as client,
            pytest.raises(anthropic.BadRequestError, match="> 123 maximum"),
        ):
            client.messages.create(**params("x" * 4_000))
        if how == "signal":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        assert process.wait(timeout=10) == 0
