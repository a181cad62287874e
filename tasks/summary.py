"""The numbers of a comparison as one document: what `--json` prints."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.cell import Label
from schemas.plan import StageCount
from tasks.compare import Comparison
from tasks.models.table import claude_settings


def summarize(comparison: Comparison) -> dict[str, Any]:
    """Everything as one JSON document; values are unrounded, undefined is null with n = 0."""
    metrics = comparison.database.run("comparison")
    cells = comparison.database.run("cells")
    ledger = comparison.database.run("ledger")
    took = _took(comparison)
    newest = max(comparison.runs) if comparison.runs else None
    grading = comparison.plan.grading
    return {
        "run_id": newest,
        "workspace": str(comparison.workspace),
        "judge": comparison.plan.judge.name,
        "offline_judge": comparison.plan.judge.judge.provider == "offline",
        "grading": grading.model_dump(mode="json"),
        "setups": {
            pick.setup: {
                "run_id": pick.run_id,
                **_counts(comparison.runs[pick.run_id].counts, pick.setup),
                "metrics": {
                    row["metric"]: {"value": row["value"], "n": row["n"]} for row in metrics if row["place"] == place
                },
                "states": _states([row for row in ledger if row["place"] == place]),
                "cells": _cells([row for row in cells if row["place"] == place]),
                "cost_usd": sum(stage["cost_usd"] for stage in took.get(place, {}).values()),
                "paid_usd": comparison.runs[pick.run_id].paid_usd,
                "took": took.get(place, {}),
            }
            for place, pick in enumerate(comparison.picks)
        },
        "notes": list(comparison.notes),
    }


def _took(comparison: Comparison) -> dict[int, dict[str, dict[str, Any]]]:
    """Calls, tokens, dollars and median seconds by place and stage, where a model was asked."""
    plan = comparison.plan
    if not claude_settings(plan.judge.reader, plan.judge.judge, *(p.setup.writer for p in plan.setups)):
        return {}
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for row in comparison.database.run("took"):
        if row["n_calls"]:
            took = {name: value for name, value in row.items() if name not in {"place", "stage"}}
            found.setdefault(row["place"], {})[row["stage"]] = took
    return found


def _counts(counts: Sequence[StageCount], setup: str) -> dict[str, dict[str, int]]:
    mine = [count for count in counts if count.setup == setup]
    return {
        "computed": {count.stage: count.computed for count in mine},
        "reused": {count.stage: count.reused for count in mine},
        "failed": {count.stage: count.failed for count in mine},
    }


def _states(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        state = f"{row['state']}:{row['reason']}" if row["reason"] else row["state"]
        found.setdefault(row["stage"], {})[state] = row["n"]
    return found


def _cells(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row["label"]] += row["n"]
    return dict(sorted(found.items(), key=lambda entry: list(Label).index(Label(entry[0]))))
