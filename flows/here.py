"""The order walked in this process, without a server."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final, Literal

from flows.abreast import asks_models, turn_of, walk_abreast
from flows.order import STAGES, walk
from schemas.errors import StoreDamagedError
from schemas.plan import Plan, StageCount
from tasks.runs.close import close
from tasks.runs.run import open_run
from tasks.store.runs import RunRecord

log = logging.getLogger("fourcells.run")

# A part that turns out to be damaged is put aside, and the walk begins anew with everything else reused.
_WALKS: Final = 3


def run_here(
    plan: Plan, progress: Callable[[StageCount], None], splitting: Callable[[int, int], None] | None = None
) -> RunRecord:
    """Walk a plan, and write how it ended whatever happens.

    Args:
        plan: What was asked.
        progress: Called after each shard.
        splitting: Called with (documents done, documents in all) while a setup's documents are split.

    Raises:
        StoreDamagedError: When the store turns out damaged again and again.
        KeyboardInterrupt: After everything that was computed has been saved.
    """
    counts: list[StageCount] = []
    run = open_run(plan.workspace, plan.run_id)
    counting = threading.Lock()

    def call(name: str, args: tuple[object, ...]) -> StageCount:
        with turn_of(name, args):
            count = STAGES[name](*args, splitting) if name == "index" else STAGES[name](*args)
        with counting:
            counts.append(count)
            progress(count)
        return count

    # Alone, what has to come before has ended when its call returned.
    def call_alone(name: str, args: tuple[object, ...], _after: Sequence[StageCount]) -> StageCount:
        return call(name, args)

    try:
        for attempt in range(1, _WALKS + 1):
            try:
                if asks_models(plan):
                    walk_abreast(run, call)
                else:
                    walk(plan, run.shards, call_alone)
                break
            except StoreDamagedError as error:
                if attempt == _WALKS:
                    raise
                log.warning("%s Going through the stages again.", error)
                counts.clear()
    except KeyboardInterrupt:
        _close_after_error(plan, counts, ended="interrupted")
        raise
    except BaseException:
        _close_after_error(plan, counts, ended="stopped")
        raise
    return close(plan, counts, ended="done")


def _close_after_error(plan: Plan, counts: Sequence[StageCount], *, ended: Literal["interrupted", "stopped"]) -> None:
    """Write how the run ended; what goes wrong with that is logged, for it mostly has the cause of what ended it."""
    try:
        close(plan, counts, ended=ended)
    except Exception as error:  # noqa: BLE001 - the error that ended the run is the one to be told
        log.warning("the end of run %s could not be written: %s", plan.run_id, error)
