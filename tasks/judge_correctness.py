"""Stage judge-correctness: does the answer say what the key points say?"""

from collections.abc import Sequence

from schemas.plan import Shard, StageCount
from schemas.seats import Failure, PointsRequest
from schemas.state import Reason, State
from schemas.verdict import Correctness, PointVerdict
from tasks.models.table import judge_id, judge_key, open_judge
from tasks.run import Run, open_run
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, items_of, not_applicable, settle
from tasks.store.keys import digest, key
from tasks.store.rows import Row


def judge_correctness(shard: Shard) -> StageCount:
    """Judge a shard's answers against their key points. Vital and status are arithmetic and cost nothing."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, _correctness(run))
    run.save(shard, trails)
    return counted("judge-correctness", shard, items, ["correctness"])


def _correctness(run: Run) -> Making:
    judge = judge_key(run.plan.judge)

    def key_of(item: Item) -> str | Settled:
        question, trail = item.question, item.trail
        if question.answerable == "no":
            return not_applicable(Reason.UNANSWERABLE)
        if not question.points:
            return not_applicable(Reason.UNLABELLED)
        if not trail.answer.scored:
            return BLOCKED
        if trail.no_answer:
            return not_applicable(Reason.NO_ANSWER)
        return key(
            "correctness",
            question=question.text,
            answer=trail.answer_digest,
            points=digest([point.text for point in question.points]),
            judge_key=judge,
            trial=0,
        )

    def compute(items: Sequence[Item]) -> Outcomes:
        answers = run.store.rows("answer").fetch((item.trail.answer.key or "" for item in items), ["text"])
        requests = [
            PointsRequest(
                question=item.question.text,
                answer=answers[item.trail.answer.key or ""]["text"],
                points=tuple(point.text for point in item.question.points),
            )
            for item in items
        ]
        for position, reply in open_judge(run.plan.judge).judge_points(requests):
            yield position, reply if isinstance(reply, Failure) else _row(requests[position], reply, run)

    return Making("correctness", key_of, compute)


def _row(request: PointsRequest, verdicts: Sequence[PointVerdict], run: Run) -> Row | Failure:
    numbers = [verdict.number for verdict in verdicts]
    if sorted(numbers) != list(range(1, len(request.points) + 1)):
        message = f"{len(request.points)} key points, and verdicts for {numbers}"
        return Failure(state=State.INVALID, kind="VerdictsDoNotMatchPoints", message=message)
    ordered = tuple(sorted(verdicts, key=lambda verdict: verdict.number))
    return {
        **Correctness(verdicts=ordered).model_dump(),
        "judge_id": judge_id(run.plan.judge),
        "cost_usd": 0.0,
    }
