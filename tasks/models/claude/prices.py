"""What a model's tokens cost: the price list that comes with genai-prices, or the price a person gave."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from schemas.claude import ClaudeSettings, Price, Provider
from schemas.errors import InputError
from tasks.models.claude.message import tokens

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

# The list's own names of those who sell the models.
_SELLERS: Final[Mapping[Provider, str]] = {"anthropic": "anthropic", "bedrock": "aws", "vertex": "google"}
_BATCH: Final = 0.5
_PER: Final = 1e-6
# A dated name ends in eight digits, which are no version.
_DATE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """US dollars per million tokens, for requests whose whole input is over so many tokens."""

    over_tokens: int
    input_usd: float
    output_usd: float
    cache_read_usd: float
    cache_write_usd: float
    cache_write_1h_usd: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model at one provider.

    Attributes:
        tiers: The cheapest first. A request pays one tier for all of its tokens, chosen by its whole input.
    """

    tiers: tuple[Tier, ...]

    def cost(self, usage: Mapping[str, Any], *, batch: bool) -> float:
        """US dollars of a reply, from its `usage` as the Messages API gives it.

        There `input_tokens` is the fresh input alone; what the prompt cache took and gave stands beside it.
        A message batch costs half of everything.

        >>> rates_of(ClaudeSettings(provider="anthropic", model="claude-opus-4-1")).cost(
        ...     {"input_tokens": 100_000, "output_tokens": 10_000}, batch=True
        ... )
        1.125
        """
        fresh, output = tokens(usage, "input_tokens"), tokens(usage, "output_tokens")
        read, written = tokens(usage, "cache_read_input_tokens"), tokens(usage, "cache_creation_input_tokens")
        created = usage.get("cache_creation")
        written_1h = tokens(created, "ephemeral_1h_input_tokens") if isinstance(created, dict) else 0
        tier = self._tier(fresh + read + written)
        millionths = (
            fresh * tier.input_usd
            + output * tier.output_usd
            + read * tier.cache_read_usd
            + (written - written_1h) * tier.cache_write_usd
            + written_1h * tier.cache_write_1h_usd
        )
        return millionths * _PER * (_BATCH if batch else 1.0)

    def worst(self, n_input_tokens: int, max_tokens: int, *, batch: bool) -> float:
        """Most US dollars that a request can cost: all input at its dearest, and every token of output used.

        The dearest is writing it to the cache for five minutes; we never ask for an hour.
        """
        tier = self._tier(n_input_tokens)
        dearest = max(tier.input_usd, tier.cache_read_usd, tier.cache_write_usd)
        millionths = n_input_tokens * dearest + max_tokens * tier.output_usd
        return millionths * _PER * (_BATCH if batch else 1.0)

    def _tier(self, n_input_tokens: int) -> Tier:
        return next((tier for tier in reversed(self.tiers) if n_input_tokens > tier.over_tokens), self.tiers[0])


def rates_of(settings: ClaudeSettings, *, where: str = "") -> Rates:
    """Prices of a seat's model: those given in its settings, else the list's.

    Args:
        settings: Of the seat.
        where: File and table of the settings, for the error.

    Raises:
        InputError: When nobody knows the price.
    """
    if settings.price is not None:
        return _given(settings.price)
    rates = _listed(settings.provider, settings.model)
    if rates is None:
        names = known_models(settings.provider)
        raise InputError(
            f"no price is known for model {settings.model!r} of provider {settings.provider!r}, "
            "and to count its calls as $0 would be a lie",
            where=where,
            allowed=", ".join(get_close_matches(settings.model, names, n=5, cutoff=0.7)),
            remedy="Check the name, or give the price in US dollars per million tokens under the seat's table "
            "([writer], [reader], [judge] or [drafter]): price = { input_usd = 3.0, output_usd = 15.0 }",
        )
    return rates


def window_of(settings: ClaudeSettings) -> int | None:
    """Most tokens that a seat's model takes in: as its settings say, else the list; None when neither knows."""
    if settings.context_window is not None:
        return settings.context_window
    model = _model(settings.provider, settings.model)
    return None if model is None else model.context_window


@lru_cache(maxsize=8)
def _known(provider: Provider) -> tuple[str, ...]:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - 0.2 s that --help does without

    seller = next(seller for seller in get_snapshot().providers if seller.id == _SELLERS[provider])
    # "regional." is the list's word for Bedrock's ids without a region, and no id of a model.
    names = {model.id.removeprefix("regional.") for model in seller.models if not model.deprecated}
    return tuple(sorted((name for name in names if "claude" in name), key=_newest_first))


def known_models(provider: Provider) -> list[str]:
    """Names of the provider's Claude models that have a price, the newest versions first."""
    return list(_known(provider))


@lru_cache(maxsize=256)
def _model(provider: Provider, name: str) -> "ModelInfo | None":
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - as above

    # The list that was installed: nothing here ever asks the network for a newer one.
    try:
        return get_snapshot().find_provider_model(name, None, _SELLERS[provider], None)[1]
    except LookupError:
        return None


@lru_cache(maxsize=256)
def _listed(provider: Provider, name: str) -> Rates | None:
    model = _model(provider, name)
    if model is None:
        return None
    price = model.get_prices(datetime.now(tz=UTC))
    starts = sorted({start for field in ("input_mtok", "output_mtok") for start in _starts(price, field)})
    if _rate(price, "input_mtok", 0) is None or _rate(price, "output_mtok", 0) is None:
        return None
    return Rates(tuple(_tier_of(price, start) for start in (0, *starts)))


def _tier_of(price: "ModelPrice", start: int) -> Tier:
    """One tier; where the list has no rate of its own for the cache, it counts those tokens as the wider kind."""
    fresh = _rate(price, "input_mtok", start) or 0.0
    written = _or(_rate(price, "cache_write_mtok", start), fresh)
    return Tier(
        over_tokens=start,
        input_usd=fresh,
        output_usd=_rate(price, "output_mtok", start) or 0.0,
        cache_read_usd=_or(_rate(price, "cache_read_mtok", start), fresh),
        cache_write_usd=written,
        cache_write_1h_usd=_or(_rate(price, "cache_write_1h_mtok", start), written),
    )


def _rate(price: "ModelPrice", field: str, start: int) -> float | None:
    """US dollars per million tokens just over `start` tokens of input; 0 is the start of the first tier."""
    value = getattr(price, field)
    if value is None:
        return None
    for tier in reversed(getattr(value, "tiers", ())):
        if 0 < tier.start <= start:
            return float(tier.price)
    return float(getattr(value, "base", value))


def _starts(price: "ModelPrice", field: str) -> list[int]:
    return [tier.start for tier in getattr(getattr(price, field), "tiers", ())]


def _given(price: Price) -> Rates:
    written = _or(price.cache_write_usd, 2 * price.input_usd)
    tier = Tier(
        over_tokens=0,
        input_usd=price.input_usd,
        output_usd=price.output_usd,
        cache_read_usd=_or(price.cache_read_usd, price.input_usd),
        cache_write_usd=written,
        cache_write_1h_usd=max(written, 2 * price.input_usd),
    )
    return Rates((tier,))


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _newest_first(name: str) -> tuple[int, int, str]:
    """Sort by version, as in "claude-opus-4-1-20250805" or "anthropic.claude-3-5-haiku-v1:0"."""
    digits = re.findall(r"\d+", name.partition("claude")[2].partition("-v")[0])
    major, minor, *_ = [int(each) for each in digits if int(each) < _DATE] + [0, 0]
    return -major, -minor, name
