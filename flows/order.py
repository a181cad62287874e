"""The order of the stages, written once: it is given a way to call a stage, and knows no engine."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from schemas.plan import Plan, Shard, StageCount
from tasks.attribute import attribute
from tasks.generate import generate
from tasks.index import index
from tasks.judge_correctness import judge_correctness
from tasks.judge_grounding import judge_grounding
from tasks.retrieve import retrieve

# A count, or the promise of one.
Ended = TypeVar("Ended")

Stage = Callable[..., StageCount]

# Called with the stage's name, its arguments, and what has to have ended before.
Call = Callable[[str, tuple[object, ...], Sequence[Ended]], Ended]

# The first takes a setup, the others a shard. `--until NAME` stops after that stage.
STAGES: Final[dict[str, Stage]] = {
    "index": index,
    "retrieve": retrieve,
    "generate": generate,
    "judge-grounding": judge_grounding,
    "judge-correctness": judge_correctness,
    "attribute": attribute,
}


def walk(plan: Plan, shards: Callable[[str], list[Shard]], call: Call[Ended]) -> list[Ended]:
    """Take every question of every setup through the stages.

    Args:
        plan: What was asked.
        shards: The shards of a setup.
        call: How a stage is called: at once, or as a task.

    Returns:
        What `call` returned, in order.
    """
    names = [planned.setup.name for planned in plan.setups]
    wanted = list(STAGES)[1 : list(STAGES).index(plan.until) + 1]
    indexed = {name: call("index", (plan.workspace, plan.run_id, name), ()) for name in names}
    found = list(indexed.values())
    before: dict[Shard, Ended] = {}
    # Stage by stage over all setups: what two setups share is there when the second one asks.
    for stage in wanted:
        for setup in names:
            for shard in shards(setup):
                before[shard] = call(stage, (shard,), (before.get(shard, indexed[setup]),))
                found.append(before[shard])
    return found
