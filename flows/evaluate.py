"""The order as a Prefect flow: the table TASKS turns each stage into a task."""

import base64
import logging
from collections.abc import Sequence
from functools import wraps
from pathlib import Path
from typing import Any, cast

from prefect import Task, flow, task
from prefect.artifacts import create_image_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.states import Completed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.order import STAGES, Stage, walk
from schemas.plan import Plan, Shard, StageCount, Until
from tasks.close import close
from tasks.compare import compare
from tasks.index import index
from tasks.picture import draw_cells
from tasks.prepare import Request, prepare
from tasks.report import report_tables
from tasks.run import open_run
from tasks.summary import summarize
from tasks.tables import to_markdown
from tasks.workspace.folder import find_workspace

log = logging.getLogger("fourcells.flow")


def _as_task(name: str, stage: Stage) -> Task[..., Any]:
    @wraps(stage)
    def call(*args: object) -> StageCount | State[StageCount]:
        count = stage(*args)
        log.info(
            "%s %s: %d computed, %d reused, %d failed", name, count.setup, count.computed, count.reused, count.failed
        )
        if count.computed or count.failed:
            return count
        return Completed(name="Cached", message=f"{count.reused} rows reused", data=count)

    # The store is the one cache; Prefect's would keep whole tasks only, and by another key.
    run_name = "index {setup}" if stage is index else f"{name} {{shard.setup}} {{shard.start}}-{{shard.stop}}"
    return task(name=name, task_run_name=run_name, cache_policy=NO_CACHE, persist_result=False)(call)


# Two cores' worth: the offline seats hold the interpreter, and model calls have a limiter of their own.
RUNNER = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=2))

# Which table of the report is which artifact.
ARTIFACTS = {"comparison": "Setups", "cells": "Cells", "unsupported-claims": "Claims"}

# Which stage is which task.
TASKS = {name: _as_task(name, stage) for name, stage in STAGES.items()}


@flow(name="evaluate", task_runner=RUNNER)
def evaluate(
    workspace: str | None = None,
    setups: list[str] | None = None,
    judge: str = "offline",
    until: Until = "attribute",
    questions: list[str] | None = None,
    grade_only: bool = False,
    skip_unresolved: bool = False,
    retry_failed: bool = False,
) -> str:
    """Evaluate setups over a workspace.

    Args:
        workspace: Folder of the workspace; none takes FOURCELLS_WORKSPACE or the built-in one.
        setups: Names of setups; none takes all.
        judge: Name of a judge.
        until: The last stage to run.
        questions: Ids of questions; none takes all.
        grade_only: Judge answers that exist, and make none.
        skip_unresolved: Go on when gold is not found, and count those questions apart.
        retry_failed: Try rows again that failed in three runs.

    Returns:
        The run_id.

    Raises:
        RuntimeError: When a task run failed; everything that was computed is saved.
    """
    logging.getLogger("fourcells").setLevel(logging.INFO)
    folder = find_workspace(Path(workspace) if workspace else None)
    plan = prepare(
        Request(
            workspace=folder,
            setups=tuple(setups or ()),
            judge=judge,
            until=until,
            questions=tuple(questions or ()),
            grade_only=grade_only,
            skip_unresolved=skip_unresolved,
            retry_failed=retry_failed,
        )
    )
    log.info("run %s over %s", plan.run_id, folder)

    names: dict[object, str] = {}

    def call(name: str, args: tuple[object, ...], after: Sequence[PrefectFuture[Any]]) -> PrefectFuture[Any]:
        promise = TASKS[name].submit(*args, wait_for=list(after))
        names[promise.task_run_id] = _name(name, args)
        return promise

    promises = walk(plan, open_run(plan.workspace, plan.run_id).shards, call)
    for promise in promises:
        promise.wait()
    broken = [promise for promise in promises if not promise.state.is_completed()]
    counts = [promise.result() for promise in promises if promise.state.is_completed()]
    close(plan, counts, ended="stopped" if broken else "done")
    _publish(plan)
    if broken:
        told = "; ".join(
            f"{names[promise.task_run_id]}: {promise.state.message}"
            for promise in broken
            if promise.state.is_failed() or promise.state.is_crashed()
        )
        msg = f"{len(broken)} of {len(promises)} task runs did not complete ({told}); what was computed is saved"
        raise RuntimeError(msg)
    return plan.run_id


def _name(stage: str, args: tuple[object, ...]) -> str:
    """A task run's name: the stage, the setup, and which questions."""
    shard = args[0]
    return f"{stage} {shard.setup} {shard.start}-{shard.stop}" if isinstance(shard, Shard) else f"{stage} {args[-1]}"


def _publish(plan: Plan) -> None:
    """The report as artifacts of the flow run."""
    comparison = compare(Path(plan.workspace), run_id=plan.run_id)
    for key, wanted in ARTIFACTS.items():
        found = [table for table in report_tables(comparison) if table.title.startswith(wanted)]
        text = to_markdown(found) if found else f"Run {plan.run_id} has none."
        create_markdown_artifact(text, key=key, description=f"run {plan.run_id}")
    picture = draw_cells({name: setup["cells"] for name, setup in summarize(comparison)["setups"].items()})
    encoded = base64.b64encode(picture.encode()).decode()
    create_image_artifact(f"data:image/svg+xml;base64,{encoded}", key="cells-by-setup", description="Cells by setup")
