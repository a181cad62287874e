"""What a reply took: calls, tokens, seconds and dollars."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one row took, summed over its calls and attempts.

    Attributes:
        n_calls: Replies that came, kept ones included; a call that brought no reply is none.
        input_tokens: Fresh input; what was read from or written to the prompt cache is counted apart.
        latency_s: Seconds from sending to reply, summed; of a batch, None's worth: 0.
        cost_usd: Of all replies the row rests on, whichever run paid for them.
        paid_usd: The part of it that this run paid.
        model: The id that the API returned; "A, B" when replies came from several; None when no model was asked.

    >>> (Spent(n_calls=1, cost_usd=0.5) + Spent(n_calls=1, cost_usd=0.25)).cost_usd
    0.75
    """

    n_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    latency_s: float = 0.0
    cost_usd: float = 0.0
    paid_usd: float = 0.0
    model: str | None = None

    def __add__(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            n_calls=self.n_calls + other.n_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            latency_s=self.latency_s + other.latency_s,
            cost_usd=self.cost_usd + other.cost_usd,
            paid_usd=self.paid_usd + other.paid_usd,
            model=self.model if other.model == self.model else _joined(self.model, other.model),
        )


def _joined(*models: str | None) -> str | None:
    """All names once, in order.

    >>> _joined("b, a", "c"), _joined(None, "a"), _joined(None, None)
    ('a, b, c', 'a', None)
    """
    names = {name for model in models if model for name in model.split(", ")}
    return ", ".join(sorted(names)) or None


FREE: Final = Spent()
