"""What models cost, before a run and after it: an estimate as document and table, and the report's table."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.expected import Expected
from tasks.tables.table import Column, Table

_SUMMED = ("n_reused", "n_calls", "input_tokens", "output_tokens", "cost_usd", "most_usd")


def estimate_document(expected: Sequence[Expected], *, batch: bool) -> dict[str, Any]:
    """Every stage and the sum; values are unrounded."""
    return {
        "batch": batch,
        "stages": [one.model_dump() for one in expected],
        "total": {name: sum(getattr(one, name) for one in expected) for name in _SUMMED},
    }


def estimate_table(expected: Sequence[Expected], *, batch: bool) -> Table:
    """The same, for people."""
    paid = [one for one in expected if one.model is not None]
    total = estimate_document(paid, batch=batch)["total"]
    rows = [(one.setup, one.stage, one.model or "", *_numbers(one.model_dump())) for one in paid]
    columns = (
        Column("setup", right=False),
        Column("stage", right=False),
        Column("model", importance=1, right=False),
        Column("calls"),
        Column("reused", importance=3),
        Column("input tokens", importance=2),
        Column("output tokens", importance=2),
        Column("about $"),
        Column("at most $"),
    )
    other = "live calls cost twice as much" if batch else "--batch halves it"
    below = (
        f"Nothing was asked. {'As message batches; ' if batch else ''}{other}.",
        "Input at 4 bytes a token, without what prompt caching saves.",
        "Replies as long as the saved ones of their stage, or as assumed; at most: every reply takes all max_tokens.",
    )
    if not paid:
        return Table("Estimate", columns, (), ("Every seat is offline or saved: this costs nothing.",))
    return Table("Estimate", columns, (*rows, ("total", "", "", *_numbers(total))), below)


def cost_table(summary: Mapping[str, Any]) -> Table:
    """What the rows of a comparison cost when they were made, by setup and stage, and what was paid now."""
    columns = (
        Column("setup", right=False),
        Column("stage", right=False),
        Column("calls", importance=1),
        Column("input tokens", importance=3),
        Column("from the cache", importance=4),
        Column("output tokens", importance=3),
        Column("median s", importance=2),
        Column("$"),
    )
    rows = []
    for name, setup in summary["setups"].items():
        for stage, took in setup["took"].items():
            tokens = (f"{took[kind]:,}" for kind in ("input_tokens", "cache_read_tokens", "output_tokens"))
            rows.append((
                name, stage, f"{took['n_calls']:,}", *tokens,
                f"{took['latency_s']:.2f}", dollars(took["cost_usd"]),
            ))  # fmt: skip
    paid = {setup["run_id"]: setup["paid_usd"] for setup in summary["setups"].values()}
    told = ", ".join(f"${dollars(usd)} in run {run_id}" for run_id, usd in paid.items())
    below = (f"Paid: {told}. A reused row stands with what it cost when it was made; two setups may share one.",)
    return Table("Cost", columns, tuple(rows), below)


def _numbers(counts: dict[str, Any]) -> tuple[str, ...]:
    whole = [f"{counts[name]:,}" for name in ("n_calls", "n_reused", "input_tokens", "output_tokens")]
    return (*whole, *(dollars(counts[name]) for name in ("cost_usd", "most_usd")))


def dollars(usd: float) -> str:
    """Cents, and what is less than a cent to four places.

    >>> dollars(12.345), dollars(0.00321), dollars(0.0)
    ('12.35', '0.0032', '0.00')
    """
    return f"{usd:.2f}" if usd >= 0.01 or not usd else f"{usd:.4f}"
