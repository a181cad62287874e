"""Claude as the reader: what an answer claims, what it says of itself, and whether it speaks to the question."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from schemas.answer import Reading
from schemas.claude import ClaudeReaderSettings
from schemas.seats import Failure, Given, ReadRequest
from tasks.models.claude.account import account
from tasks.models.claude.conversation import Conversation, InvalidReplyError, RawReply
from tasks.models.claude.delimit import block
from tasks.models.claude.errors import TOO_LONG
from tasks.models.claude.portions import at_borders
from tasks.models.claude.replies import read_reply
from tasks.models.claude.request import Shared, make_request
from tasks.models.claude.room import ask_split, fits, too_long
from tasks.models.claude.schemas import ClaimReply, PlaceReply, ReadingReply, schema_digest
from tasks.models.claude.units import Numbered, Unit, number_sentences

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# Enters the readings' keys: raise it whenever the same answer is laid out, or the same reply read, otherwise.
VERSION: Final = 1
SCHEMA_DIGEST: Final = schema_digest(ReadingReply)

# Of more sentences than this a model loses some, and its reply grows longer than it need be.
_MOST_UNITS: Final = 60


class ClaudeReader:
    """Reads answers; it never sees their context.

    Args:
        settings: Which model, and how.
        prompt: Text of the system prompt.
        desk: Whom to ask through.
        trial: Which reading of the same this is; a second one is another request.
    """

    def __init__(self, settings: ClaudeReaderSettings, prompt: str, desk: "Desk", *, trial: int = 0) -> None:
        self._settings = settings
        self._prompt = prompt
        self._desk = desk
        self._trial = trial

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Given[Reading]]:
        """Read each answer, as they come; a very long one in parts."""
        talks = [partial(self._one, request) for request in requests]
        yield from self._desk.converse(self._settings, talks, trial=self._trial)

    async def _one(self, request: ReadRequest, conversation: Conversation) -> Reading | Failure:
        answer = number_sentences(request.answer)
        if not answer.units:  # without a word it states nothing, and nobody need be asked
            claims, non_claims = account(answer, [], [])
            return Reading(
                claims=claims, non_claims=non_claims, form="NOT_COVERED", gives_answer=False, relevancy="ABSTAINS"
            )
        asking = _Asking(self._settings, self._prompt, request.question, answer, conversation)
        replies: list[ReadingReply] = []
        for stretch in at_borders([unit.opens for unit in answer.units], most=_MOST_UNITS):
            part = answer.units[stretch.start : stretch.stop]
            found = await ask_split(part, asking.ask, max_tokens=self._settings.max_tokens)
            if isinstance(found, Failure):
                return too_long("the answer is") if found.kind == TOO_LONG else found
            replies += found
        claims, non_claims = account(
            answer,
            [claim for reply in replies for claim in reply.claims],
            [other for reply in replies for other in reply.others],
        )
        # Every part was shown the whole answer; the first one's word on the whole counts.
        first = replies[0]
        return Reading(
            claims=claims,
            non_claims=non_claims,
            form=first.form,
            gives_answer=first.gives_answer,
            relevancy=first.relevancy,
        )


class _Asking:
    """Asks about parts of one answer. All see the same question and answer first, so the prompt cache serves them."""

    def __init__(
        self,
        settings: ClaudeReaderSettings,
        prompt: str,
        question: str,
        answer: Numbered,
        conversation: Conversation,
    ) -> None:
        self._settings = settings
        self._prompt = prompt
        self._answer = answer
        self._shown = f"{block('question', question)}\n{answer.shown()}"
        self._conversation = conversation

    async def ask(self, part: Sequence[Unit], max_tokens: int) -> ReadingReply | Failure:
        """Ask what some of the sentences state."""
        first, last = part[0].number, part[-1].number
        is_whole = len(part) == len(self._answer.units)
        # The schema stays whole for later parts too: another one would be another prefix for the cache.
        request = make_request(
            self._settings,
            system=self._prompt,
            content=[
                self._shown if is_whole else Shared(self._shown),
                f"Account for sentence{'s' if last > first else ''} {_named(first, last)}.",
            ],
            schema=ReadingReply,
            max_tokens=max_tokens,
            trial=self._conversation.trial,
        )
        if not await fits(self._conversation, request):
            return too_long("the answer is")
        return await self._conversation.ask(
            request, partial(_parsed, asked=range(first, last + 1), n_units=len(self._answer.units))
        )


def _named(first: int, last: int) -> str:
    return f"{first} to {last}" if last > first else str(first)


def _parsed(raw: RawReply, *, asked: range, n_units: int) -> ReadingReply:
    """Read a reply and hold it against what was asked.

    Sentences of other parts are left to those who were asked about them.

    Raises:
        InvalidReplyError: It breaks the schema, names a sentence that is not there, or leaves one out.
    """
    reply = read_reply(ReadingReply, raw)
    numbers = {place.sentence for claim in reply.claims for place in claim.places}
    numbers |= {other.sentence for other in reply.others}
    if unknown := sorted(number for number in numbers if not 1 <= number <= n_units):
        raise InvalidReplyError(f"there are no sentences {unknown}")
    claims = [_within(claim, asked) for claim in reply.claims]
    kept = [claim for claim in claims if claim.places]
    others = [other for other in reply.others if other.sentence in asked]
    named = {place.sentence for claim in kept for place in claim.places} | {other.sentence for other in others}
    if missing := [number for number in asked if number not in named]:
        raise InvalidReplyError(f"sentences {missing} are in no claim and not named otherwise")
    if any(not claim.text.strip() for claim in kept):
        raise InvalidReplyError("a claim has no text")
    return reply.model_copy(update={"claims": kept, "others": others})


def _within(claim: ClaimReply, asked: range) -> ClaimReply:
    places: list[PlaceReply] = [place for place in claim.places if place.sentence in asked]
    return claim.model_copy(update={"places": places})
