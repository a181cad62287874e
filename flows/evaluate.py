"""The order as a Prefect flow: the table TASKS turns each stage into a task."""

import asyncio
import base64
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, cast

from prefect import Task, flow, task
from prefect.artifacts import acreate_image_artifact, acreate_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import SyncClientContext
from prefect.futures import PrefectFuture, wait
from prefect.states import Cancelled, Completed, Failed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from pydantic import Field

from flows.abreast import AT_ONCE, turn_of
from flows.order import STAGES, Stage, walk
from schemas.errors import FourcellsError, StoppedError
from schemas.plan import Plan, Shard, StageCount, Until
from tasks.compare import compare
from tasks.index import index
from tasks.picture import draw_cells
from tasks.report import report_tables
from tasks.runs.close import close, mark_interrupted
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import Run, open_run
from tasks.runs.trials import Fresh
from tasks.stage import RECORDS
from tasks.summary import summarize
from tasks.tables.costs import dollars
from tasks.tables.ledger import told_failures
from tasks.tables.table import to_markdown
from tasks.workspace.folder import find_workspace

log = logging.getLogger("fourcells.flow")

_EVERY_S: Final = 30.0


def _as_task(name: str, stage: Stage) -> Task[..., Any]:
    @wraps(stage)
    def call(*args: object) -> State[StageCount]:
        try:
            with turn_of(name, args):
                count = stage(*args)
        except StoppedError:
            return Cancelled(message="stopped with the run; what was computed is saved")
        # Prefect writes a state and its message to the log: a line of ours would say it twice.
        if not (count.computed or count.failed):
            told = f"{count.reused} rows reused" if count.reused else "nothing to do"
            return Completed(name="Cached", message=told, data=count)
        told = f"{count.computed} computed, {count.reused} reused, {count.failed} failed"
        return Completed(name="FailedRows" if count.failed else "Completed", message=told, data=count)

    # The store is the one cache; Prefect's would keep whole tasks only, and by another key.
    run_name = "index {setup}" if stage is index else f"{name} {{shard.setup}} {{shard.start}}-{{shard.stop}}"
    return task(name=name, task_run_name=run_name, cache_policy=NO_CACHE, persist_result=False)(call)


# Shards that work here take turns, and those that wait for models have a limiter of their own.
RUNNER = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=AT_ONCE))

# Which table of the report is which artifact.
ARTIFACTS = {
    "comparison": "Setups",
    "counts": "Counts",
    "cells": "Cells",
    "cost": "Cost",
    "ledger": "Ledger",
    "unsupported-claims": "Claims",
}

# Which stage is which task.
TASKS = {name: _as_task(name, stage) for name, stage in STAGES.items()}


# Async, since Prefect lets a sync flow end only when a thread of its own wakes, once a second. What works or waits
# for long does so in a thread, so that Ctrl-C and a cancel are heard at once.
@flow(name="evaluate", task_runner=RUNNER)
async def evaluate(
    workspace: str | None = None,
    setups: list[str] | None = None,
    judge: str = "offline",
    until: Until = "attribute",
    questions: list[str] | None = None,
    grade_only: bool = False,
    skip_unresolved: bool = False,
    retry_failed: bool = False,
    budget_usd: Annotated[float, Field(ge=0)] | None = None,
    batch: bool = False,
    fresh: bool = False,
    fresh_reader: bool = False,
) -> str | State[str]:
    """Evaluate setups over a workspace.

    Args:
        workspace: Folder of the workspace; none takes FOURCELLS_WORKSPACE or the built-in one.
        setups: Names of setups; none takes all whose answers cost nothing.
        judge: Name of a file in judges/; offline costs nothing, a judge that asks Claude costs money.
        until: The last stage to run.
        questions: Ids of questions; none takes all.
        grade_only: Judge answers that exist, and make none.
        skip_unresolved: Go on when gold is not found, and count those questions apart.
        retry_failed: Try rows again that failed in three runs.
        budget_usd: US dollars that this run may pay at most, none is no limit; what it misses stays over_budget.
        batch: Send model calls through Message Batches, at half the price; it may take hours.
        fresh: Judge everything once more, beside what is saved; it is paid for again.
        fresh_reader: Read the answers once more, too; it is paid for again.

    Returns:
        The run_id; with a state of its own when rows failed, or when what was asked is a mistake.

    Raises:
        RuntimeError: When a task run failed; everything that was computed is saved.
    """
    logging.getLogger("fourcells").setLevel(logging.INFO)
    try:
        folder = find_workspace(Path(workspace) if workspace else None)
        request = Request(
            workspace=folder,
            setups=tuple(setups or ()),
            judge=judge,
            until=until,
            questions=tuple(questions or ()),
            grade_only=grade_only,
            skip_unresolved=skip_unresolved,
            retry_failed=retry_failed,
            budget_usd=budget_usd,
            batch=batch,
            fresh=Fresh(reading=fresh_reader, judging=fresh),
        )
        plan = await asyncio.to_thread(prepare, request)
    except FourcellsError as error:
        # One sentence on the run's page instead of a traceback.
        return Failed(message=str(error), data=error)
    log.info("run %s over %s", plan.run_id, folder)
    return await _walked(plan)


async def _walked(plan: Plan) -> State[str]:
    run = open_run(plan.workspace, plan.run_id)
    run.under_way.watch = _telling(run)
    # An async flow has no client for its sync tasks, and each would make two of its own, at 26 ms of processor time.
    with SyncClientContext.get_or_create():
        promises = _submit(plan)
        try:
            await asyncio.to_thread(wait, list(promises))
        except BaseException:
            # Whoever stops the flow would otherwise wait for every shard that waits for a model.
            run.stop()
            # A disk that is full keeps nobody from stopping.
            with suppress(FourcellsError):
                mark_interrupted(plan)
            raise
    broken = {promise: name for promise, name in promises.items() if not promise.state.is_completed()}
    counts = [await promise.state.aresult() for promise in promises if promise not in broken]
    record = await asyncio.to_thread(close, plan, counts, ended="stopped" if broken else "done")
    failures = await _publish(plan)
    paid = f"; paid ${dollars(record.paid_usd)}" if record.paid_usd else ""
    if plan.budget_usd is not None:
        paid += f" of ${dollars(plan.budget_usd)}"
    if broken:
        told = "; ".join(
            f"{name}: {promise.state.message}"
            for promise, name in broken.items()
            if promise.state.is_failed() or promise.state.is_crashed()
        )
        msg = f"{len(broken)} of {len(promises)} task runs did not complete ({told}){paid}; what was computed is saved"
        raise RuntimeError(msg)
    if record.n_failed:
        return Completed(name="FailedRows", message=f"{failures}{paid}", data=plan.run_id)
    return Completed(message=f"every row has its result{paid}", data=plan.run_id)


def _telling(run: Run) -> Callable[[str], None]:
    """A line now and then in the log of the task that makes rows: a stretch may wait long for models."""
    made: Counter[str] = Counter()
    told = dict.fromkeys((record for records in RECORDS.values() for record in records), time.monotonic())

    def tell(record: str) -> None:
        made[record] += 1
        now = time.monotonic()
        if now - told[record] > _EVERY_S:
            told[record] = now
            paid = f", ${dollars(run.paid_usd)} paid" if run.paid_usd else ""
            log.info("rows of %s made so far: %d%s", record, made[record], paid)

    return tell


def _submit(plan: Plan) -> dict[PrefectFuture[Any], str]:
    """Hand every stage of every shard to the task runner. Returns the promises with the names of their task runs."""
    names: dict[PrefectFuture[Any], str] = {}

    def call(name: str, args: tuple[object, ...], after: Sequence[PrefectFuture[Any]]) -> PrefectFuture[Any]:
        promise = TASKS[name].submit(*args, wait_for=list(after))
        names[promise] = _name(name, args)
        return promise

    walk(plan, open_run(plan.workspace, plan.run_id).shards, call)
    return names


def _name(stage: str, args: tuple[object, ...]) -> str:
    """A task run's name: the stage, the setup, and which questions."""
    shard = args[0]
    return f"{stage} {shard.setup} {shard.start}-{shard.stop}" if isinstance(shard, Shard) else f"{stage} {args[-1]}"


async def _publish(plan: Plan) -> str:
    """The report as artifacts of the flow run. Returns what failed in it, in words."""
    texts, picture, failures = await asyncio.to_thread(_report, plan)
    told = f"run {plan.run_id}"
    await asyncio.gather(
        *(acreate_markdown_artifact(text, key=key, description=told) for key, text in texts.items()),
        acreate_image_artifact(picture, key="cells-by-setup", description="Cells by setup"),
    )
    return failures


def _report(plan: Plan) -> tuple[dict[str, str], str, str]:
    """The texts of the artifacts by key, the picture as an address, and what failed."""
    comparison = compare(Path(plan.workspace), run_id=plan.run_id)
    tables = report_tables(comparison)
    found = {key: [table for table in tables if table.title.startswith(wanted)] for key, wanted in ARTIFACTS.items()}
    texts = {key: to_markdown(some) if some else f"Run {plan.run_id} has none." for key, some in found.items()}
    picture = draw_cells({name: setup["cells"] for name, setup in summarize(comparison)["setups"].items()})
    address = f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"
    return texts, address, told_failures(comparison, grade_only=plan.grade_only)
