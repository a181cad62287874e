"""The ledger: what became of every question at every stage."""

from collections.abc import Mapping
from typing import Any, Final

from tasks.compare import Comparison
from tasks.tables.table import Column, Table

_STAGES: Final = (
    "ranking",
    "context",
    "gold in context",
    "answer",
    "reading",
    "grounding",
    "correctness",
    "cell",
)
# Above this share of unverified claims it is the judge that needs a look (METRICS.md §3).
_UNVERIFIED: Final = 0.05


def ledger_table(summary: Mapping[str, Any]) -> Table:
    """Stages that did not score everything, with reasons and states; below, those that did."""
    rows = []
    plain = []
    for name, setup in summary["setups"].items():
        whole = []
        for stage in _STAGES:
            states = setup["states"].get(stage, {})
            scored, asked = states.get("scored", 0), sum(states.values())
            if scored == asked:
                whole.append(stage)
                continue
            apart = {state.partition(":")[2]: n for state, n in states.items() if state.startswith("not_applicable")}
            failed = {
                state: n for state, n in states.items() if state != "scored" and not state.startswith("not_applicable")
            }
            rows.append((name, stage, str(asked), str(scored), _listed(apart), _listed(failed)))
        asked = sum(setup["states"].get("context", {}).values())
        plain.append(f"{name}: {asked} asked; all of them scored: {', '.join(whole) or 'nowhere'}")
        plain.extend(_unverified(name, setup["metrics"].get("unverified_rate")))
    return Table(
        "Ledger: what became of every question at every stage",
        (
            Column("setup", right=False),
            Column("stage", right=False),
            Column("asked"),
            Column("scored"),
            Column("not applicable", right=False),
            Column("failed", right=False),
        ),
        tuple(rows),
        tuple(plain),
    )


def told_failures(comparison: Comparison, *, grade_only: bool) -> str:
    """How many questions failed, and what helps: not the same for all of them."""
    [row] = comparison.database.run("why_failed")
    cures = {
        "n_over_budget": "the budget did not reach {n}: give a larger --budget",
        "n_given_up": "{n} failed in three runs: --retry-failed tries them once more",
    }
    if grade_only:
        cures["n_not_answered"] = "{n} have no answer yet: fourcells run makes it"
    told = [cure.format(n=row[name]) for name, cure in cures.items() if row[name]]
    if sum(row[name] for name in cures) < row["n_failed"]:
        told.append("run again to try the others" if told else "run again to try them")
    return (
        f"{row['n_failed']} of {row['n_asked']} questions failed at a stage, the ledger says where; {'; '.join(told)}"
    )


def _unverified(name: str, rate: Mapping[str, Any] | None) -> list[str]:
    """What the quote check took back of the judge's words."""
    if not rate or not rate["value"]:
        return []
    look = "; above 5% it is the judge that needs a look" if rate["value"] > _UNVERIFIED else ""
    return [f"{name}: {100 * rate['value']:.1f}% of {rate['n']} claims unverified: their evidence was not found{look}"]


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items())
