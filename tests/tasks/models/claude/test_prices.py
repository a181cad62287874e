"""Prices: those of the list, as the list itself computes them; a model without one is an error and never $0."""

import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from schemas.claude import ClaudeSettings, Price, Provider
from schemas.errors import InputError
from tasks.models.claude.prices import known_models, rates_of, window_of

PROVIDERS: list[Provider] = ["anthropic", "bedrock", "vertex"]
SELLERS = {"anthropic": "anthropic", "bedrock": "aws", "vertex": "google"}
NAMES = [(provider, name) for provider in PROVIDERS for name in known_models(provider)]
TOKENS = st.integers(0, 400_000)


def seat(
    model: str, provider: Provider = "anthropic", *, price: Price | None = None, context_window: int | None = None
) -> ClaudeSettings:
    return ClaudeSettings(provider=provider, model=model, price=price, context_window=context_window)


@given(name=st.sampled_from(NAMES), fresh=TOKENS, output=TOKENS, read=TOKENS, written=TOKENS, share=st.floats(0, 1))
def test_costs_are_those_of_the_list(
    name: tuple[Provider, str], fresh: int, output: int, read: int, written: int, share: float
) -> None:
    """The list's `input_tokens` holds the cache's tokens, the Messages API's does not."""
    provider, model = name
    written_1h = int(written * share)
    usage = {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written - written_1h,
            "ephemeral_1h_input_tokens": written_1h,
        },
    }
    listed = calc_price(
        Usage(
            input_tokens=fresh + read + written,
            output_tokens=output,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cache_write_1h_tokens=written_1h,
        ),
        model,
        provider_id=SELLERS[provider],
    )
    cost = rates_of(seat(model, provider)).cost(usage, batch=False)
    assert cost == pytest.approx(float(listed.total_price), rel=1e-9, abs=1e-12)
    assert rates_of(seat(model, provider)).cost(usage, batch=True) == cost / 2


@given(
    name=st.sampled_from(NAMES),
    fresh=TOKENS,
    read=TOKENS,
    written=TOKENS,
    output=st.integers(0, 10_000),
    spare=st.integers(0, 50_000),
    batch=st.booleans(),
)
def test_no_reply_costs_more_than_its_worst_case(
    name: tuple[Provider, str], *, fresh: int, read: int, written: int, output: int, spare: int, batch: bool
) -> None:
    rates = rates_of(seat(name[1], name[0]))
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }
    worst = rates.worst(fresh + read + written + spare, 10_000, batch=batch)
    assert rates.cost(usage, batch=batch) <= worst * (1 + 1e-9)


def test_half_is_what_the_list_itself_says_of_batches() -> None:
    later = datetime(2100, 1, 1, tzinfo=UTC)
    halves = [
        (batch, standard)
        for model in next(seller for seller in get_snapshot().providers if seller.id == "anthropic").models
        if model.price_variants and any(variant.when == {"processing": "batch"} for variant in model.price_variants)
        for field in ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")
        for batch, standard in [
            (
                getattr(model.get_prices(later, {"processing": "batch"}), field),
                getattr(model.get_prices(later), field),
            )
        ]
    ]
    assert len(halves) >= 50
    for batch, standard in halves:
        assert getattr(batch, "base", batch) * 2 == getattr(standard, "base", standard)
        assert [(tier.start, tier.price * 2) for tier in getattr(batch, "tiers", [])] == [
            (tier.start, tier.price) for tier in getattr(standard, "tiers", [])
        ]


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        ({"input_tokens": 1_000_000, "output_tokens": 0}, 15.0),
        ({"input_tokens": 0, "output_tokens": 1_000_000}, 75.0),
        ({"input_tokens": 0, "cache_read_input_tokens": 1_000_000}, 1.5),
        ({"input_tokens": 0, "cache_creation_input_tokens": 1_000_000}, 18.75),
        (
            {
                "cache_creation_input_tokens": 1_000_000,
                "cache_creation": {"ephemeral_1h_input_tokens": 1_000_000, "ephemeral_5m_input_tokens": 0},
            },
            30.0,
        ),
        ({"input_tokens": 10, "cache_read_input_tokens": None, "cache_creation": None, "service_tier": "x"}, 0.00015),
        ({}, 0.0),
    ],
    ids=["fresh", "output", "read from the cache", "written to it", "written for an hour", "nulls", "nothing"],
)
def test_each_kind_of_token_has_its_own_rate(usage: dict[str, Any], usd: float) -> None:
    assert rates_of(seat("claude-opus-4-1")).cost(usage, batch=False) == pytest.approx(usd)


def test_a_long_request_pays_its_tier_for_all_of_its_tokens() -> None:
    rates = rates_of(seat("claude-sonnet-4-5"))
    assert rates.cost({"input_tokens": 200_000}, batch=False) == pytest.approx(0.6)
    assert rates.cost({"input_tokens": 100_001, "cache_read_input_tokens": 100_000}, batch=False) == pytest.approx(
        100_001 * 6e-6 + 100_000 * 0.6e-6
    )


@pytest.mark.parametrize(
    ("provider", "model", "input_usd"),
    [
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3),
        ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3),
        ("bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.0),
        ("bedrock", "anthropic.claude-opus-4-1-20250805-v1:0", 15.0),
        (
            "bedrock",
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            3.3,
        ),
        ("vertex", "claude-sonnet-4-5@20250929", 3.0),
        ("vertex", "claude-opus-4-1@20250805", 15.0),
        ("anthropic", "claude-sonnet-4-5-20250929", 3.0),
        ("anthropic", "CLAUDE-sonnet-4-5", 3.0),
    ],
)
def test_names_of_the_clouds_are_found(provider: Provider, model: str, input_usd: float) -> None:
    assert rates_of(seat(model, provider)).tiers[0].input_usd == pytest.approx(input_usd)
    assert window_of(seat(model, provider)) == 200_000


def test_a_price_that_a_person_gave_wins() -> None:
    given_price = rates_of(seat("claude-opus-4-1", price=Price(input_usd=2.0, output_usd=8.0)))
    usage = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
    assert given_price.cost(usage, batch=False) == pytest.approx(10.0)
    assert given_price.cost({"cache_read_input_tokens": 1_000_000}, batch=False) == pytest.approx(2.0)
    assert given_price.cost({"cache_creation_input_tokens": 1_000_000}, batch=False) == pytest.approx(4.0)
    cached = Price(input_usd=2.0, output_usd=8.0, cache_read_usd=0.2, cache_write_usd=2.5)
    rates = rates_of(seat("my-own", price=cached))
    assert rates.cost({"cache_read_input_tokens": 1_000_000}, batch=False) == pytest.approx(0.2)
    assert rates.worst(1_000_000, 1_000_000, batch=True) == pytest.approx(5.25)


def test_a_free_model_is_free_because_somebody_said_so() -> None:
    rates = rates_of(seat("local", price=Price(input_usd=0, output_usd=0)))
    assert rates.cost({"input_tokens": 5, "output_tokens": 5}, batch=False) == 0.0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_without_a_price_is_an_error_that_shows_how_to_give_one(provider: Provider) -> None:
    with pytest.raises(InputError) as raised:
        rates_of(seat("claude-sonet-99", provider), where="judges/own.toml: judge")
    said = str(raised.value)
    assert said.startswith("judges/own.toml: judge: no price is known for model 'claude-sonet-99'")
    assert "as $0 would be a lie" in said
    assert "sonnet" in raised.value.allowed or provider == "bedrock"
    line = raised.value.remedy[raised.value.remedy.index("price = ") :]
    price = Price.model_validate(tomllib.loads(line)["price"])
    assert rates_of(seat("claude-sonet-99", provider, price=price)).tiers[0].output_usd == 15.0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_known_models_are_claudes_with_a_price_the_newest_first(provider: Provider) -> None:
    names = known_models(provider)
    assert len(names) > 15
    assert all("claude" in name and not name.startswith("regional") for name in names)
    first = [next(at for at, name in enumerate(names) if version in name) for version in ("5-5", "opus-5", "opus-4-8")]
    assert first == sorted(first)
    assert first[0] == 0
    for name in names:
        assert rates_of(seat(name, provider)).tiers[0].input_usd > 0


def test_the_window_is_the_settings_then_the_lists_then_unknown() -> None:
    assert window_of(seat("claude-opus-4-1", context_window=5_000)) == 5_000
    assert window_of(seat("claude-opus-4-1")) == 200_000
    assert window_of(seat("my-own")) is None
