"""After the last stage: say how a run ended, and keep the store in few files."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from schemas.plan import Plan, StageCount
from tasks.runs.run import open_run
from tasks.store.runs import RunRecord


def close(plan: Plan, counts: Sequence[StageCount], *, ended: Literal["done", "interrupted", "stopped"]) -> RunRecord:
    """Write a run's end to its record.

    Args:
        plan: The run.
        counts: What its stages did, as far as they came.
        ended: `done` when every stage was walked; it becomes `failed_rows` when rows failed.
    """
    run = open_run(plan.workspace, plan.run_id)
    paid_usd = run.paid_usd
    run.release()
    folder = run.folder
    n_failed = folder.count_failed()
    record = folder.record().model_copy(
        update={
            "state": "failed_rows" if ended == "done" and n_failed else ended,
            "finished_at": _now(),
            "n_failed": n_failed,
            "counts": merged(counts),
            "paid_usd": paid_usd,
        }
    )
    folder.close(record)
    return record


def mark_interrupted(plan: Plan) -> None:
    """Say that a run was told to stop, while its shards still keep what was in flight."""
    open_run(plan.workspace, plan.run_id).note(state="interrupted", finished_at=_now())


def merged(counts: Sequence[StageCount]) -> tuple[StageCount, ...]:
    """Shards' counts added up by stage and setup, in the order of first appearance."""
    totals: dict[tuple[str, str], StageCount] = {}
    for count in counts:
        name = (count.stage, count.setup)
        before = totals.get(name, StageCount(stage=count.stage, setup=count.setup))
        totals[name] = StageCount(
            stage=count.stage,
            setup=count.setup,
            computed=before.computed + count.computed,
            reused=before.reused + count.reused,
            failed=before.failed + count.failed,
        )
    return tuple(totals.values())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
