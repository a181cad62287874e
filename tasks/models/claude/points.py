"""The judgement of an answer against key points: one verdict per point."""

from collections.abc import Sequence
from functools import partial

from schemas.claude import ClaudeJudgeSettings
from schemas.seats import Failure, PointsRequest
from schemas.verdict import PointVerdict
from tasks.models.claude.conversation import Conversation, RawReply
from tasks.models.claude.delimit import block, blocks, quoted_from
from tasks.models.claude.errors import TOO_LONG
from tasks.models.claude.replies import read_reply, require_one_each
from tasks.models.claude.request import Shared, make_request
from tasks.models.claude.room import ask_split, fits, too_long
from tasks.models.claude.schemas import PointsReply


class Points:
    """The key points of one question before the judge; the context never is.

    Args:
        settings: Which model, and how.
        prompt: Text of the system prompt.
        request: Question, answer and points, at least one of them.
        conversation: Whom to ask through.
    """

    def __init__(
        self, settings: ClaudeJudgeSettings, prompt: str, request: PointsRequest, conversation: Conversation
    ) -> None:
        self._settings = settings
        self._prompt = prompt
        self._request = request
        self._conversation = conversation

    async def verdicts(self) -> tuple[PointVerdict, ...] | Failure:
        """Judge each point, in their order."""
        numbers = range(1, len(self._request.points) + 1)
        found = await ask_split(numbers, self._ask, max_tokens=self._settings.max_tokens)
        if isinstance(found, Failure):
            return too_long("question, answer and points are") if found.kind == TOO_LONG else found
        return tuple(verdict for part in found for verdict in part)

    async def _ask(self, numbers: Sequence[int], max_tokens: int) -> tuple[PointVerdict, ...] | Failure:
        shown = f"{block('question', self._request.question)}\n{block('answer', self._request.answer)}"
        is_whole = len(numbers) == len(self._request.points)
        request = make_request(
            self._settings,
            system=self._prompt,
            content=[
                shown if is_whole else Shared(shown),
                blocks("point", [(number, self._request.points[number - 1]) for number in numbers]),
            ],
            schema=PointsReply,
            max_tokens=max_tokens,
            trial=self._conversation.trial,
        )
        if not await fits(self._conversation, request):
            return too_long("question, answer and points are")
        return await self._conversation.ask(request, partial(self._parsed, numbers=numbers))

    def _parsed(self, raw: RawReply, *, numbers: Sequence[int]) -> tuple[PointVerdict, ...]:
        reply = read_reply(PointsReply, raw)
        require_one_each("point", [verdict.number for verdict in reply.verdicts], wanted=numbers)
        return tuple(
            PointVerdict(
                number=verdict.number,
                verdict=verdict.verdict,
                quote=quoted_from(self._request.answer, verdict.quote.strip()),
                why=verdict.why,
            )
            for verdict in sorted(reply.verdicts, key=lambda verdict: verdict.number)
        )
