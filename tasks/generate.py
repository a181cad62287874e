"""Stage generate: the setup's writer answers from the context, or somebody's saved answer is taken over."""

from collections.abc import Sequence

from schemas.answer import Answer, NoAnswer
from schemas.plan import Shard, StageCount
from schemas.seats import Draft, Failure, WriteRequest
from schemas.state import Reason
from schemas.trail import Trail
from tasks.models.table import open_writer, writer_material
from tasks.run import Run, open_run
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, each, items_of, settle
from tasks.store.keys import digest, key, text_digest
from tasks.store.rows import Row


def generate(shard: Shard) -> StageCount:
    """Answer a shard's questions. A writer's refusal or empty answer is a row, marked `no_answer`."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, _saved(run, shard) if run.setup(shard.setup).setup.answers else _written(run, shard))
    run.save(shard, trails)
    return counted("generate", shard, items, ["answer"])


def _written(run: Run, shard: Shard) -> Making:
    settings = run.setup(shard.setup).setup.writer
    material = writer_material(settings)

    def key_of(item: Item) -> str | Settled:
        if not item.trail.context.scored:
            return BLOCKED
        passages = item.trail.passages_digest
        return key("answer", question=item.question.text, passages=passages, prompt=None, writer=material, trial=0)

    def compute(items: Sequence[Item]) -> Outcomes:
        contexts = run.store.rows("context").fetch((item.trail.context.key or "" for item in items), ["passages"])
        requests = [
            WriteRequest(
                question=item.question.text,
                passages=tuple(run.texts.passages(contexts[item.trail.context.key or ""]["passages"])),
            )
            for item in items
        ]
        for position, reply in open_writer(settings).write(requests):
            yield position, reply if isinstance(reply, Failure) else _row(reply, settings.provider)

    return Making("answer", key_of, compute, _carry)


def _saved(run: Run, shard: Shard) -> Making:
    saved = run.saved(shard.setup)

    def key_of(item: Item) -> str | Settled:
        answer = saved[item.question.question_id].answer
        passages = item.trail.passages_digest or item.trail.context.reason
        if not item.trail.context.scored and item.trail.context.reason != Reason.PASSAGES_NOT_RECORDED:
            return BLOCKED
        writer = {"provider": "saved", "answer": digest(answer)}
        return key("answer", question=item.question.text, passages=passages, prompt=None, writer=writer, trial=0)

    def compute(items: Sequence[Item]) -> Outcomes:
        return each(lambda item: _row(Draft(text=saved[item.question.question_id].answer), "saved"), items)

    return Making("answer", key_of, compute, _carry, free=True)


def _row(draft: Draft, writer_id: str) -> Row:
    empty: NoAnswer | None = None if draft.text.strip() else "empty"
    answer = Answer(
        text=draft.text,
        text_digest=text_digest(draft.text),
        n_words=len(draft.text.split()),
        no_answer=draft.no_answer or empty,
        writer_id=writer_id,
    )
    # Neither the offline writer nor a saved answer costs anything now.
    return {**answer.model_dump(), "cost_usd": 0.0}


def _carry(trail: Trail, row: Row) -> None:
    trail.answer_digest, trail.no_answer = row["text_digest"], row["no_answer"]
