"""Several shards of a run at once: those that wait for models side by side, those that work here two at a time."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from typing import Final

from flows.order import walk
from schemas.errors import StoppedError
from schemas.plan import Plan, Shard, StageCount
from tasks.models.table import claude_settings
from tasks.runs.run import Run, open_run

# So many shards may wait for models that no slot runs empty while one shard's last replies come; idle threads cost
# the offline ones a little.
AT_ONCE: Final = 8
# Two cores' worth: the offline seats hold the interpreter.
_WORKING: Final = threading.Semaphore(2)


def asks_models(plan: Plan) -> bool:
    """Whether any seat of a run is a model's."""
    return bool(claude_settings(plan.judge.reader, plan.judge.judge, *(p.setup.writer for p in plan.setups)))


@contextmanager
def turn_of(stage: str, args: tuple[object, ...]) -> Iterator[None]:
    """Hold what a stage has to hold while it runs: its turn where it works here, nothing where it waits for a model.

    Args:
        stage: Its name.
        args: A shard; or workspace, run_id and setup.

    Raises:
        StoppedError: When the run was stopped before its turn came.
    """
    run = open_run(*_run_of(args))
    with nullcontext() if _waits_for_model(run.plan, stage, args[0]) else _WORKING:
        if run.stopped:
            raise StoppedError("the run was stopped")
        yield


def _run_of(args: tuple[object, ...]) -> tuple[str, str]:
    first = args[0]
    return (first.workspace, first.run_id) if isinstance(first, Shard) else (str(first), str(args[1]))


def _waits_for_model(plan: Plan, stage: str, shard: object) -> bool:
    if not isinstance(shard, Shard):
        return False
    planned = next(planned for planned in plan.setups if planned.setup.name == shard.setup)
    seats: dict[str, list[object]] = {
        "generate": [planned.setup.writer],
        "judge-grounding": [plan.judge.reader, plan.judge.judge],
        "judge-correctness": [plan.judge.judge],
    }
    return bool(claude_settings(*seats.get(stage, [])))


def walk_abreast(run: Run, call: Callable[[str, tuple[object, ...]], StageCount]) -> None:
    """Walk a plan with its shards side by side.

    Args:
        run: Whose.
        call: Runs a stage; called from several threads.

    Raises:
        KeyboardInterrupt: After what was in flight has been kept; a second one leaves it.
        Exception: The first of any shard's, after the others have ended.
    """
    pool = ThreadPoolExecutor(AT_ONCE, "fourcells-shard")

    def submit(name: str, args: tuple[object, ...], after: Sequence[Future[StageCount]]) -> Future[StageCount]:
        # What has to come before was submitted before, so it has begun when this waits for it.
        def work() -> StageCount:
            for earlier in after:
                earlier.result()
            return call(name, args)

        return pool.submit(work)

    found: list[Future[StageCount]] = []
    run.resume()
    try:
        found = walk(run.plan, run.shards, submit)
        wait(found, return_when=FIRST_EXCEPTION)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if not all(one.done() for one in found):
            run.stop()
            # Those that never began are cancelled, and would be waited for in vain.
            wait([one for one in found if not one.cancelled()])
    errors = [error for one in found if not one.cancelled() and (error := one.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, StoppedError)):
        raise error
