"""Progress of a run: bars on a terminal, plain lines elsewhere, always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from flows.cli.terminal import progress_console
from flows.order import STAGES
from schemas.plan import Plan, StageCount
from tasks.costs import dollars
from tasks.run import Run, open_run

# What ends sooner needs no line.
_PATIENCE_S: Final = 1.0
_INDEX: Final = next(iter(STAGES))

# Told the stage, what is done of it and what there is in all: questions, or documents while they are split.
Show = Callable[[str, int, int], None]
# Called after each shard, and while documents are split.
Reports = tuple[Callable[[StageCount], None], Callable[[int, int], None]]


@contextmanager
def shown_progress(plan: Plan) -> Iterator[Reports]:
    """Show of every stage how much is done, at which rate, and how long the rest will take."""
    if not sys.stderr.isatty():
        yield _reports(plan, _lines(open_run(plan.workspace, plan.run_id)))
        return
    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:>9}"),
        TextColumn("{task.fields[paid]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=progress_console(), transient=True) as progress:
        yield _reports(plan, _bars(progress, open_run(plan.workspace, plan.run_id)))


def _reports(plan: Plan, show: Show) -> Reports:
    run = open_run(plan.workspace, plan.run_id)
    shards = [shard for planned in plan.setups for shard in run.shards(planned.setup.name)]
    n_questions = sum(shard.stop - shard.start for shard in shards)
    ended = dict.fromkeys(STAGES, 0)
    stages = list(STAGES)
    show(_INDEX, 0, len(plan.documents))

    def after(count: StageCount) -> None:
        n_parts = len(plan.setups) if count.stage == _INDEX else len(shards)
        # A walk that began anew counts anew.
        ended[count.stage] = ended[count.stage] % n_parts + 1
        if count.stage == _INDEX:
            show(_INDEX, len(plan.documents), len(plan.documents))
        else:
            done = sum(shard.stop - shard.start for shard in shards[: ended[count.stage]])
            show(count.stage, done, n_questions)
        if ended[count.stage] == n_parts and count.stage != plan.until:
            # The next stage is shown from its start: its first shard may take long.
            show(stages[stages.index(count.stage) + 1], 0, n_questions)

    return after, lambda done, total: show(_INDEX, done, total)


def _bars(progress: Progress, run: Run) -> Show:
    bars: dict[str, TaskID] = {}

    def show(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            bars[stage] = progress.add_task(stage, total=total, rate="", paid="")
        began = next(task for task in progress.tasks if task.id == bars[stage]).elapsed
        rate = _rate(done, began or 0.0)
        progress.update(bars[stage], completed=done, total=total, rate=rate, paid=_paid(run))

    return show


def _lines(run: Run) -> Show:
    began: dict[str, float] = {}
    told = time.monotonic()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        seconds = now - began.setdefault(stage, now)
        if now - told > _PATIENCE_S and done:
            told = now
            left = f", {seconds / done * (total - done):,.0f} s left" if seconds else ""
            sys.stderr.write(f"{stage}: {done:,} of {total:,} {_rate(done, seconds)}{left}{_paid(run, ', ')}\n")

    return show


def _rate(done: int, seconds: float) -> str:
    return f"{done / seconds:,.0f}/s" if done and seconds else ""


def _paid(run: Run, before: str = "") -> str:
    """What the run has paid so far; nothing of an offline one."""
    return f"{before}${dollars(run.paid_usd)} paid" if run.paid_usd else ""
