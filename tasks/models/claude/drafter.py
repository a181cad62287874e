"""Claude as the drafter: question and full documents in, key points with their quotes out, for a person to review."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from schemas.claude import ClaudeDrafterSettings
from schemas.record import Record
from schemas.seats import Failure, Given
from schemas.state import State
from tasks.models.claude.conversation import Conversation, InvalidReplyError, RawReply
from tasks.models.claude.delimit import block, blocks, quoted_from, restored
from tasks.models.claude.errors import TOO_LONG
from tasks.models.claude.replies import read_reply
from tasks.models.claude.request import ModelRequest, Shared, make_request
from tasks.models.claude.room import ask_split, fits, too_long
from tasks.models.claude.schemas import ReplyPart
from tasks.text.quotes import find_quote

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# METRICS.md §5.
_N_POINTS: Final = range(2, 6)
NO_POINTS: Final = "NoPoints"
# Two in each of three runs, as many as a row of the store gets.
_MOST_REPLIES: Final = 6

Weight = Literal["vital", "okay"]


class DraftRequest(Record):
    """What a drafter sees: the question, and the whole text of each expected document, numbered from 1.

    Attributes:
        is_shared: Other questions of the workspace read the same documents, whether or not they are drafted now: the
            request has to be the same in a run that goes on where another stopped, or it would be paid for again.
    """

    question: str
    documents: tuple[str, ...] = Field(min_length=1)
    is_shared: bool = False


class DraftedQuote(Record):
    """Where a quote stands: `document` is its number from 1, the others are characters of that document."""

    document: int
    start: int
    end: int


class DraftedPoint(Record):
    """A drafted key point.

    Attributes:
        quotes: What it rests on, in the documents' own words; a quote in parts gives one a part.
        lost: Quotes that are not in the document they name. A point that has any rests on nothing.
    """

    text: str
    weight: Weight
    quotes: tuple[DraftedQuote, ...] = ()
    lost: tuple[str, ...] = ()


class EvidenceReply(ReplyPart):
    """A quote of a document."""

    document: int
    quote: str = Field(description="copied from this document word for word")


class DraftedPointReply(ReplyPart):
    """One point."""

    evidence: list[EvidenceReply]
    text: str = Field(description="the point as one sentence that can be understood alone")
    weight: Weight


class DraftReply(ReplyPart):
    """The drafter's reply."""

    points: list[DraftedPointReply]


class ClaudeDrafter:
    """Drafts key points.

    Args:
        settings: Which model, and how.
        prompt: Text of the system prompt.
        desk: Whom to ask through.
    """

    def __init__(self, settings: ClaudeDrafterSettings, prompt: str, desk: "Desk") -> None:
        self._settings = settings
        self._prompt = prompt
        self._desk = desk

    def draft(self, requests: Sequence[DraftRequest]) -> Iterator[Given[tuple[DraftedPoint, ...]]]:
        """Draft points for each request.

        Questions that read the same documents are asked one after the other begun: the first has the API read and
        cache them, the others wait for it and read them from the cache at a tenth of the price.
        """
        order = sorted(range(len(requests)), key=lambda position: requests[position].documents)
        groups = {request.documents: _Group() for request in requests}
        talks = [partial(self._one, requests[at], groups[requests[at].documents]) for at in order]
        for given in self._desk.converse(self._settings, talks):
            yield given._replace(position=order[given.position])

    async def _one(
        self, request: DraftRequest, group: "_Group", conversation: Conversation
    ) -> tuple[DraftedPoint, ...] | Failure:
        async with group:
            ask = partial(self._ask, request, conversation)
            found = await ask_split([request.question], ask, max_tokens=self._settings.max_tokens)
        if isinstance(found, Failure):
            return too_long("the question's documents are together") if found.kind == TOO_LONG else found
        (points,) = found
        if not points:
            message = "the model found nothing in the documents that answers the question"
            return Failure(state=State.INVALID, kind=NO_POINTS, message=message)
        return points

    async def _ask(
        self, request: DraftRequest, conversation: Conversation, _: object, max_tokens: int
    ) -> tuple[DraftedPoint, ...] | Failure:
        asked = draft_request(self._settings, self._prompt, request, max_tokens=max_tokens)
        if not await fits(conversation, asked):
            return too_long("the question's documents are together")
        return await conversation.ask(asked, _Parser(request), most=_MOST_REPLIES)


def draft_request(
    settings: ClaudeDrafterSettings, prompt: str, request: DraftRequest, *, max_tokens: int | None = None
) -> ModelRequest:
    """What is sent: the documents first, since they are the long part and other questions may read the same."""
    documents = blocks("document", enumerate(request.documents, start=1))
    return make_request(
        settings,
        system=prompt,
        content=[Shared(documents) if request.is_shared else documents, block("question", request.question)],
        schema=DraftReply,
        max_tokens=max_tokens,
    )


@dataclass(eq=False)
class _Group:
    """Questions that read the same documents: whoever comes first goes ahead, the others follow when it is done."""

    _is_read: asyncio.Event = field(default_factory=asyncio.Event)
    _has_leader: bool = False

    async def __aenter__(self) -> None:
        if self._has_leader:
            await self._is_read.wait()
        self._has_leader = True

    async def __aexit__(self, *_: object) -> None:
        self._is_read.set()


class _Parser:
    """Reads the replies to one request: the first strictly, and the one that was asked for again as far as it goes.

    A reply whose quotes are not found is asked for once more; what is then still lost is told, and the rest is kept.
    """

    def __init__(self, request: DraftRequest) -> None:
        self._request = request
        self._n_read = 0

    def __call__(self, raw: RawReply) -> tuple[DraftedPoint, ...]:
        self._n_read += 1
        reply = read_reply(DraftReply, raw)
        points = tuple(_point(point, self._request) for point in reply.points if point.text.strip())
        problems = [f"quote {lost!r} is not in its document" for point in points for lost in point.lost]
        problems += [f"point {point.text!r} has no quote" for point in points if not point.quotes and not point.lost]
        if points and len(points) not in _N_POINTS:
            problems.append(f"{len(points)} points")
        if points and (all(not _is_sound(point) for point in points) or (problems and self._n_read == 1)):
            raise InvalidReplyError("; ".join(problems))
        return points


def _is_sound(point: DraftedPoint) -> bool:
    return bool(point.quotes) and not point.lost


def _point(point: DraftedPointReply, request: DraftRequest) -> DraftedPoint:
    quotes: list[DraftedQuote] = []
    lost: list[str] = []
    for evidence in point.evidence:
        number = evidence.document
        text = request.documents[number - 1] if 0 < number <= len(request.documents) else ""
        spans = find_quote(quoted_from(text, evidence.quote), text)
        quotes += [DraftedQuote(document=number, start=span.start, end=span.end) for span in spans]
        if not spans:
            lost.append(evidence.quote)
    text = restored(" ".join(point.text.split()))
    return DraftedPoint(text=text, weight=point.weight, quotes=tuple(dict.fromkeys(quotes)), lost=tuple(lost))
