"""The order walked as far as it costs nothing, and what the rest would ask of models."""

from collections.abc import Sequence
from dataclasses import replace

from flows.order import STAGES, walk
from schemas.expected import Expected
from schemas.plan import StageCount
from tasks.models.claude.estimating import EstimatingDesk
from tasks.runs.estimate import added, estimate
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import Run, open_run
from tasks.store.journal import Journal


def expect(request: Request) -> list[Expected]:
    """Say what a request would cost. Retrieval is done for real, costs nothing and is kept; nothing else is.

    Raises:
        InputError: For anything wrong in the workspace or the request.
    """
    plan = prepare(replace(request, until="retrieve", estimate=True))
    run = open_run(plan.workspace, plan.run_id)

    def call(name: str, args: tuple[object, ...], _after: Sequence[StageCount]) -> StageCount:
        return STAGES[name](*args)

    try:
        walk(plan, run.shards, call)
        journal = Journal(run.store.journal_folder)
        desk = EstimatingDesk(journal, batch=request.batch)
        counting = Run(request.workspace, plan.run_id, desk=desk)
        names = [planned.setup.name for planned in plan.setups]
        found = [one for name in names for shard in run.shards(name) for one in estimate(counting, desk, shard)]
        journal.close()
        return added(found)
    finally:
        # It evaluated nothing, and no report may take it for the latest run.
        run.folder.remove()
