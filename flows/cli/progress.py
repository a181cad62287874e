"""Progress of a run: bars on a terminal, plain lines elsewhere, always on stderr."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from flows.cli.terminal import bars
from flows.order import STAGES
from schemas.plan import Plan, StageCount
from tasks.runs.run import Run, open_run
from tasks.stage import RECORDS
from tasks.tables.costs import dollars

# What ends sooner needs no line; a log of hours needs none every second.
_PATIENCE_S: Final = 1.0
_MOST_PATIENCE_S: Final = 10.0
# As often as bars are drawn; offline seats make thousands of rows in that time.
_EYE_S: Final = 0.1
# Leaves room at 80 columns: in a full line, the ^C that a terminal echoes would push the bars up.
_BAR_CELLS: Final = 16
_INDEX: Final = next(iter(STAGES))

# Told the stage, what is done of it and what there is in all: questions, or documents while they are split.
Show = Callable[[str, int, int], None]
# Called after each shard, and while documents are split; rows are watched where they are made.
Reports = tuple[Callable[[StageCount], None], Callable[[int, int], None]]


@contextmanager
def shown_progress(plan: Plan) -> Iterator[Reports]:
    """Show of every stage how much is done, at which rate, and how long the rest will take."""
    run = open_run(plan.workspace, plan.run_id)
    if not sys.stderr.isatty():
        yield _reports(run, _lines(run))
        return
    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(_BAR_CELLS),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:>9}"),
        TextColumn("{task.fields[paid]}"),
        TimeRemainingColumn(),
    )
    with bars(*columns) as progress:
        yield _reports(run, _bars(progress, run))


def _reports(run: Run, show: Show) -> Reports:
    plan = run.plan
    shards = [shard for planned in plan.setups for shard in run.shards(planned.setup.name)]
    n_questions = sum(shard.stop - shard.start for shard in shards)
    ended = dict.fromkeys(STAGES, 0)
    stages = list(STAGES)
    stage_of = {record: stage for stage, records in RECORDS.items() for record in records}
    looked_at = 0.0
    one_by_one = threading.Lock()
    show(_INDEX, 0, len(plan.documents))

    def questions(stage: str) -> None:
        done = sum(shard.stop - shard.start for shard in shards[: ended[stage]])
        show(stage, min(done + int(run.under_way.n_questions(RECORDS[stage])), n_questions), n_questions)

    def row(record: str) -> None:
        nonlocal looked_at
        if (now := time.monotonic()) - looked_at > _EYE_S:
            looked_at = now
            with one_by_one:
                questions(stage_of[record])

    def after(count: StageCount) -> None:
        n_parts = len(plan.setups) if count.stage == _INDEX else len(shards)
        with one_by_one:
            # A walk that began anew counts anew.
            ended[count.stage] = ended[count.stage] % n_parts + 1
            if count.stage == _INDEX:
                show(_INDEX, len(plan.documents), len(plan.documents))
            else:
                questions(count.stage)
            if ended[count.stage] == n_parts and count.stage != plan.until:
                # The next stage is shown from its start: its first shard may take long.
                questions(stages[stages.index(count.stage) + 1])

    run.under_way.watch = row
    return after, lambda done, total: show(_INDEX, done, total)


def _bars(progress: Progress, run: Run) -> Show:
    bars: dict[str, TaskID] = {}

    def show(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            # What the run has paid is one sum: it stands on the latest bar.
            for bar in bars.values():
                progress.update(bar, paid="")
            bars[stage] = progress.add_task(stage, total=total, rate="", paid="")
        began = next(task for task in progress.tasks if task.id == bars[stage]).elapsed
        progress.update(bars[stage], completed=done, total=total, rate=_rate(done, began or 0.0))
        progress.update(next(reversed(bars.values())), paid=_paid(run))

    return show


def _lines(run: Run) -> Show:
    began: dict[str, float] = {}
    told, patience_s = time.monotonic(), _PATIENCE_S

    def show(stage: str, done: int, total: int) -> None:
        nonlocal told, patience_s
        now = time.monotonic()
        seconds = now - began.setdefault(stage, now)
        if now - told > patience_s and done:
            told, patience_s = now, min(2 * patience_s, _MOST_PATIENCE_S)
            left = f"{seconds / done * (total - done):,.0f} s left" if seconds else ""
            said = [f"{stage}: {done:,} of {total:,}", _rate(done, seconds), left, _paid(run)]
            sys.stderr.write(", ".join(part for part in said if part) + "\n")

    return show


def _rate(done: int, seconds: float) -> str:
    if not done or not seconds:
        return ""
    rate = done / seconds
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _paid(run: Run) -> str:
    """What the run has paid so far; nothing of an offline one."""
    return f"${dollars(run.paid_usd)} paid" if run.paid_usd else ""
