"""Stage judge-grounding: a reader says what the answer claims, a judge holds each claim against the context."""

from bisect import bisect_right
from collections.abc import Sequence

from schemas.answer import Reading
from schemas.plan import Shard, StageCount
from schemas.seats import MOST_CLAIMS, Failure, Given, GroundRequest, ReadRequest
from schemas.state import Reason, State
from schemas.trail import Trail
from schemas.verdict import Grounding, JudgedClaim
from tasks.models.table import grounding_key, open_judge, open_reader, reader_key, who_replied
from tasks.runs.run import Run, open_run
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, items_of, not_applicable, settle
from tasks.store.keys import digest, key
from tasks.store.rows import Row
from tasks.text.blocks import find_blocks
from tasks.text.quotes import VerdictsDoNotMatchClaimsError, check_evidence


def judge_grounding(shard: Shard) -> StageCount:
    """Read a shard's answers and judge their claims; readings are shared by all judges."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.trails(shard)
    items = items_of(run, shard, trails)
    settle(run, items, readings(run, shard.setup))
    settle(run, items, groundings(run, shard.setup))
    run.save(shard, trails)
    return counted("judge-grounding", shard, items)


def readings(run: Run, setup: str) -> Making:
    """How answers are read."""
    reader = reader_key(run.plan.judge, run.plan.prompts)
    trial = run.setup(setup).reading_trial

    def key_of(item: Item) -> str | Settled:
        trail = item.trail
        if not trail.answer.scored:
            return BLOCKED
        if trail.no_answer:
            return not_applicable(Reason.NO_ANSWER)
        return key("reading", question=item.question.text, answer=trail.answer_digest, reader_key=reader, trial=trial)

    def compute(items: Sequence[Item]) -> Outcomes:
        answers = run.store.rows("answer").fetch((item.trail.answer.key or "" for item in items), ["text"])
        requests = [
            ReadRequest(question=item.question.text, answer=answers[item.trail.answer.key or ""]["text"])
            for item in items
        ]
        for position, reply, spent in open_reader(run.plan.judge, run.seating(setup)).read(requests):
            replied = who_replied(reader, spent.model)
            answer = requests[position].answer
            yield Given(position, reply if isinstance(reply, Failure) else _reading_row(reply, answer, replied), spent)

    return Making("reading", key_of, compute, _carry, seated=True)


def _reading_row(reading: Reading, answer: str, reader_id: str) -> Row:
    texts = [claim.text for claim in reading.claims]
    starts = [claim.stretches[0].start for claim in reading.claims]
    return {
        **reading.model_dump(),
        "n_claims": len(texts),
        # Where the parts of a long answer begin may change what a judge says of them.
        "claims_digest": digest([texts, _opens(answer, starts)] if len(texts) > MOST_CLAIMS else texts),
        "judge_id": reader_id,
    }


def _opens(answer: str, starts: Sequence[int]) -> list[bool]:
    """Of each claim, whether it begins a paragraph: the claim before it stands in another."""
    borders = [block.start for block in find_blocks(answer)]
    places = [bisect_right(borders, start) for start in starts]
    return [before != place for before, place in zip([None, *places], places, strict=False)]


def _carry(trail: Trail, row: Row) -> None:
    trail.claims_digest, trail.n_claims = row["claims_digest"], row["n_claims"]


def groundings(run: Run, setup: str) -> Making:
    """How claims are judged."""
    judge = grounding_key(run.plan.judge, run.plan.prompts)
    trial = run.setup(setup).judging_trial

    def key_of(item: Item) -> str | Settled:
        trail = item.trail
        if trail.reading.state is State.NOT_APPLICABLE:
            return not_applicable(Reason.NO_ANSWER)
        if trail.context.reason == Reason.PASSAGES_NOT_RECORDED:
            return not_applicable(Reason.PASSAGES_NOT_RECORDED)
        if not trail.reading.scored or not trail.context.scored:
            return BLOCKED
        return key(
            "grounding",
            question=item.question.text,
            claims=trail.claims_digest,
            passages=trail.passages_digest,
            judge_key=judge,
            trial=trial,
        )

    def compute(items: Sequence[Item]) -> Outcomes:
        readings = run.store.rows("reading").fetch((item.trail.reading.key or "" for item in items), ["claims"])
        contexts = run.store.rows("context").fetch((item.trail.context.key or "" for item in items), ["passages"])
        long = [item.trail.answer.key or "" for item in items if (item.trail.n_claims or 0) > MOST_CLAIMS]
        answers = run.store.rows("answer").fetch(long, ["text"])

        def opens(item: Item, claims: Sequence[Row]) -> tuple[bool, ...]:
            answer = answers.get(item.trail.answer.key or "")
            starts = [claim["stretches"][0]["start"] for claim in claims]
            return tuple(_opens(answer["text"], starts)) if answer else ()

        requests = [
            GroundRequest(
                question=item.question.text,
                claims=tuple(claim["text"] for claim in claims),
                passages=tuple(run.texts.passages(contexts[item.trail.context.key or ""]["passages"])),
                opens=opens(item, claims),
            )
            for item in items
            for claims in [readings[item.trail.reading.key or ""]["claims"]]
        ]
        for position, reply, spent in open_judge(run.plan.judge, run.seating(setup)).judge_grounding(requests):
            replied = who_replied(judge, spent.model)
            row = reply if isinstance(reply, Failure) else _checked(requests[position], reply, replied)
            yield Given(position, row, spent)

    return Making("grounding", key_of, compute, seated=True)


def _checked(request: GroundRequest, judged: Sequence[JudgedClaim], judge_id: str) -> Row | Failure:
    try:
        verdicts = check_evidence(request.claims, judged, request.passages)
    except VerdictsDoNotMatchClaimsError as error:
        return Failure(state=State.INVALID, kind=type(error).__name__, message=str(error))
    return {**Grounding(verdicts=verdicts).model_dump(), "judge_id": judge_id}
