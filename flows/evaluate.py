"""The order as a Prefect flow: the table TASKS turns each stage into a task."""

import logging
from collections.abc import Sequence
from functools import wraps
from pathlib import Path
from typing import Any, cast

from prefect import Task, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.states import Completed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.order import STAGES, Stage, walk
from schemas.plan import StageCount, Until
from tasks.close import close
from tasks.prepare import Request, prepare
from tasks.run import open_run
from tasks.workspace.folder import find_workspace

log = logging.getLogger("fourcells.flow")


def _as_task(name: str, stage: Stage) -> Task[..., Any]:
    @wraps(stage)
    def call(*args: object) -> StageCount | State[StageCount]:
        count = stage(*args)
        if count.computed or count.failed:
            return count
        return Completed(name="Cached", message=f"{count.reused} rows reused", data=count)

    # The store is the one cache; Prefect's would keep whole tasks only, and by another key.
    return task(name=name, cache_policy=NO_CACHE, persist_result=False)(call)


# Two cores' worth: the offline seats hold the interpreter, and model calls have a limiter of their own.
RUNNER = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=2))

# Which stage is which task.
TASKS = {name: _as_task(name, stage) for name, stage in STAGES.items()}


@flow(name="evaluate", task_runner=RUNNER)
def evaluate(
    workspace: str | None = None,
    setups: list[str] | None = None,
    judge: str = "offline",
    until: Until = "attribute",
) -> str:
    """Evaluate setups over a workspace.

    Args:
        workspace: Folder of the workspace; None takes FOURCELLS_WORKSPACE or the built-in one.
        setups: Names of setups; None takes all.
        judge: Name of a judge.
        until: The last stage to run.

    Returns:
        The run_id.

    Raises:
        RuntimeError: When a task run failed; everything that was computed is saved.
    """
    folder = find_workspace(Path(workspace) if workspace else None)
    plan = prepare(Request(workspace=folder, setups=tuple(setups or ()), judge=judge, until=until))
    log.info("run %s over %s", plan.run_id, folder)

    def call(name: str, args: tuple[object, ...], after: Sequence[PrefectFuture[Any]]) -> PrefectFuture[Any]:
        return TASKS[name].submit(*args, wait_for=list(after))

    promises = walk(plan, open_run(plan.workspace, plan.run_id).shards, call)
    for promise in promises:
        promise.wait()
    broken = [promise for promise in promises if not promise.state.is_completed()]
    counts = [promise.result() for promise in promises if promise.state.is_completed()]
    close(plan, counts, ended="stopped" if broken else "done")
    for promise in broken:
        log.error("task run %s ended as %s", promise.task_run_id, promise.state.name)
    if broken:
        msg = f"{len(broken)} of {len(promises)} task runs failed; what was computed is saved, run again"
        raise RuntimeError(msg)
    return plan.run_id
