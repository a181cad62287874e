"""Stage judge-correctness: does the answer say what the key points say?"""

from collections.abc import Sequence

from schemas.plan import Shard, StageCount
from schemas.seats import Failure, Given, PointsRequest
from schemas.state import Reason, State
from schemas.verdict import Correctness, PointVerdict
from tasks.models.table import open_judge, points_key, who_replied
from tasks.runs.run import Run, open_run
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, items_of, not_applicable, settle
from tasks.store.keys import digest, key
from tasks.store.rows import Row


def judge_correctness(shard: Shard) -> StageCount:
    """Judge a shard's answers against their key points. Vital and status are arithmetic and cost nothing."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, judgements(run, shard.setup))
    run.save(shard, trails)
    return counted("judge-correctness", shard, items)


def judgements(run: Run, setup: str) -> Making:
    """How answers are held against key points."""
    judge = points_key(run.plan.judge, run.plan.prompts)
    trial = run.setup(setup).judging_trial

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
            trial=trial,
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
        for position, reply, spent in open_judge(run.plan.judge, run.seating(setup)).judge_points(requests):
            replied = who_replied(judge, spent.model)
            row = reply if isinstance(reply, Failure) else _row(requests[position], reply, replied)
            yield Given(position, row, spent)

    return Making("correctness", key_of, compute, seated=True)


def _row(request: PointsRequest, verdicts: Sequence[PointVerdict], judge_id: str) -> Row | Failure:
    numbers = [verdict.number for verdict in verdicts]
    if sorted(numbers) != list(range(1, len(request.points) + 1)):
        message = f"{len(request.points)} key points, and verdicts for {numbers}"
        return Failure(state=State.INVALID, kind="VerdictsDoNotMatchPoints", message=message)
    ordered = tuple(sorted(verdicts, key=lambda verdict: verdict.number))
    return {**Correctness(verdicts=ordered).model_dump(), "judge_id": judge_id}
