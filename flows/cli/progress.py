"""Progress of a run: bars on a terminal, plain lines elsewhere, always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from flows.cli.terminal import progress_console
from flows.order import STAGES
from schemas.plan import Plan, StageCount
from tasks.run import open_run

# What ends sooner needs no progress.
_PATIENCE_S = 1.0


@contextmanager
def shown_progress(plan: Plan) -> Iterator[Callable[[StageCount], None]]:
    """Show how many shards of each stage have ended."""
    run = open_run(plan.workspace, plan.run_id)
    names = [planned.setup.name for planned in plan.setups]
    n_shards = sum(len(run.shards(name)) for name in names)
    totals = {stage: len(names) if stage == "index" else n_shards for stage in STAGES}
    if not sys.stderr.isatty():
        yield _plain(totals)
        return
    columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_console(), transient=True) as progress:
        bars = {}

        def show(count: StageCount) -> None:
            if count.stage not in bars:
                bars[count.stage] = progress.add_task(count.stage, total=totals[count.stage])
            progress.advance(bars[count.stage])

        yield show


def _plain(totals: dict[str, int]) -> Callable[[StageCount], None]:
    done = dict.fromkeys(totals, 0)
    told = time.monotonic()

    def show(count: StageCount) -> None:
        nonlocal told
        done[count.stage] += 1
        if time.monotonic() - told > _PATIENCE_S:
            told = time.monotonic()
            sys.stderr.write(f"{count.stage}: {done[count.stage]} of {totals[count.stage]} shards\n")

    return show
