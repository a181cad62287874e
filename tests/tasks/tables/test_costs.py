"""What tables say of costs."""

from typing import Any

import pytest

from schemas.expected import Expected
from tasks.runs.estimate import added
from tasks.tables.costs import cost_table, estimate_document, estimate_table


def expected(setup: str, stage: str, model: str | None = "claude-x", *, n: int = 1) -> Expected:
    return Expected(
        setup=setup, stage=stage, model=model, n_reused=2 * n, n_calls=3 * n, input_tokens=4_000 * n,
        output_tokens=500 * n, cost_usd=0.25 * n, most_usd=0.75 * n,
    )  # fmt: skip


STAGES = [expected("v1", "read"), expected("v1", "judge-grounding", n=2), expected("v1", "generate", None, n=50)]


def test_an_estimate_adds_up_what_is_paid_for() -> None:
    table = estimate_table(STAGES, batch=False)
    assert table.rows == (
        ("v1", "read", "claude-x", "3", "2", "4,000", "500", "0.25", "0.75"),
        ("v1", "judge-grounding", "claude-x", "6", "4", "8,000", "1,000", "0.50", "1.50"),
        ("total", "", "", "9", "6", "12,000", "1,500", "0.75", "2.25"),
    )
    assert len(table.columns) == len(table.rows[0])


@pytest.mark.parametrize(
    ("batch", "says"),
    [(False, "Nothing was asked. --batch halves it."),
     (True, "Nothing was asked. As message batches; live calls cost twice as much.")],
)  # fmt: skip
def test_an_estimate_says_what_the_other_way_would_cost(batch: bool, says: str) -> None:  # noqa: FBT001
    assert estimate_table(STAGES, batch=batch).below[0] == says


def test_an_estimate_without_a_paid_seat_says_that_it_costs_nothing() -> None:
    table = estimate_table([expected("v1", "read", None)], batch=False)
    assert (table.title, table.rows) == ("Estimate", ())
    assert table.below == ("Every seat is offline or saved: this costs nothing.",)


def test_the_document_of_an_estimate_holds_every_stage_and_their_sum() -> None:
    document = estimate_document(STAGES[:2], batch=True)
    assert document["batch"] is True
    assert [stage["stage"] for stage in document["stages"]] == ["read", "judge-grounding"]
    assert document["total"] == {
        "n_reused": 6, "n_calls": 9, "input_tokens": 12_000, "output_tokens": 1_500, "cost_usd": 0.75, "most_usd": 2.25,
    }  # fmt: skip


def test_counts_of_shards_are_added_up_by_setup_and_stage() -> None:
    shards = [expected("v1", "read"), expected("v2", "read"), expected("v1", "read", n=2), expected("v1", "generate")]
    assert added(shards) == [expected("v1", "read", n=3), expected("v2", "read"), expected("v1", "generate")]


def test_a_table_of_costs_has_a_row_for_each_stage_and_what_each_run_paid() -> None:
    took: dict[str, Any] = {
        "n_rows": 7, "n_calls": 1_234, "input_tokens": 5_000, "output_tokens": 600, "cache_read_tokens": 70,
        "cache_write_tokens": 8, "cost_usd": 1.5, "latency_s": 2.25,
    }  # fmt: skip
    summary = {
        "setups": {
            "v1": {"run_id": "r1", "paid_usd": 0.004, "took": {"read": took}},
            "v2": {"run_id": "r1", "paid_usd": 0.004, "took": {}},
            "w1": {"run_id": "r2", "paid_usd": 12.0, "took": {"generate": took}},
        }
    }
    table = cost_table(summary)
    assert [column.heading for column in table.columns] == [
        "setup", "stage", "calls", "input tokens", "from the cache", "output tokens", "median s", "$",
    ]  # fmt: skip
    assert table.rows == (
        ("v1", "read", "1,234", "5,000", "70", "600", "2.25", "1.50"),
        ("w1", "generate", "1,234", "5,000", "70", "600", "2.25", "1.50"),
    )
    assert table.below[0].startswith("Paid: $0.0040 in run r1, $12.00 in run r2.")
