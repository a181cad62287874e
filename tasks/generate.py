"""Stage generate: the setup's writer answers from the context, or somebody's saved answer is taken over."""

from collections.abc import Sequence

from schemas.answer import Answer, NoAnswer
from schemas.plan import Shard, StageCount
from schemas.seats import Draft, Failure, Given, WriteRequest
from schemas.state import Reason
from schemas.trail import Trail
from tasks.models.table import open_writer, writer_material, writer_prompt
from tasks.runs.run import Run, open_run
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, each, items_of, settle
from tasks.store.keys import digest, key, text_digest
from tasks.store.rows import Row


def generate(shard: Shard) -> StageCount:
    """Answer a shard's questions. A writer's refusal or empty answer is a row, marked `no_answer`."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, answers(run, shard))
    run.save(shard, trails)
    return counted("generate", shard, items)


def answers(run: Run, shard: Shard) -> Making:
    """How the answers of a shard's setup are made."""
    return _saved(run, shard) if run.setup(shard.setup).setup.answers else _written(run, shard)


def _written(run: Run, shard: Shard) -> Making:
    settings = run.setup(shard.setup).setup.writer
    material, prompt = writer_material(settings), writer_prompt(settings, run.plan.prompts)

    def key_of(item: Item) -> str | Settled:
        if not item.trail.context.scored:
            return BLOCKED
        passages = item.trail.passages_digest
        return key("answer", question=item.question.text, passages=passages, prompt=prompt, writer=material, trial=0)

    def compute(items: Sequence[Item]) -> Outcomes:
        contexts = run.store.rows("context").fetch((item.trail.context.key or "" for item in items), ["passages"])
        requests = [
            WriteRequest(
                question=item.question.text,
                passages=tuple(run.texts.passages(contexts[item.trail.context.key or ""]["passages"])),
            )
            for item in items
        ]
        for position, reply, spent in open_writer(settings, run.seating(shard.setup)).write(requests):
            writer = spent.model or settings.provider
            yield Given(position, reply if isinstance(reply, Failure) else _row(reply, writer), spent)

    return Making("answer", key_of, compute, _carry, seated=True)


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

    return Making("answer", key_of, compute, _carry, free=True, seated=True)


def _row(draft: Draft, writer_id: str) -> Row:
    empty: NoAnswer | None = None if draft.text.strip() else "empty"
    answer = Answer(
        text=draft.text,
        text_digest=text_digest(draft.text),
        n_words=len(draft.text.split()),
        no_answer=draft.no_answer or empty,
        writer_id=writer_id,
    )
    return answer.model_dump()


def _carry(trail: Trail, row: Row) -> None:
    trail.answer_digest, trail.no_answer = row["text_digest"], row["no_answer"]
