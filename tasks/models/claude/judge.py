"""Claude as the judge: claims against passages, and answers against key points."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from schemas.claude import ClaudeJudgeSettings
from schemas.seats import Failure, Given, GroundRequest, PointsRequest
from schemas.verdict import JudgedClaim, PointVerdict
from tasks.models.claude.conversation import Conversation
from tasks.models.claude.grounding import Grounding
from tasks.models.claude.points import Points
from tasks.models.claude.schemas import GroundingReply, PointsReply, schema_digest

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# Each enters the keys of its verdicts: raise it whenever the same request is laid out, or the same reply read,
# otherwise.
GROUNDING_VERSION: Final = 2
POINTS_VERSION: Final = 1
GROUNDING_DIGEST: Final = schema_digest(GroundingReply)
POINTS_DIGEST: Final = schema_digest(PointsReply)


class ClaudeJudge:
    """Judges claims and key points.

    Args:
        settings: Which model, and how.
        grounding_prompt: Text of the system prompt for claims.
        points_prompt: Text of the system prompt for key points.
        desk: Whom to ask through.
        trial: Which reading of the same this is; a second one is another request.
    """

    def __init__(
        self,
        settings: ClaudeJudgeSettings,
        grounding_prompt: str,
        points_prompt: str,
        desk: "Desk",
        *,
        trial: int = 0,
    ) -> None:
        self._settings = settings
        self._grounding_prompt = grounding_prompt
        self._points_prompt = points_prompt
        self._desk = desk
        self._trial = trial

    def judge_grounding(self, requests: Sequence[GroundRequest]) -> Iterator[Given[tuple[JudgedClaim, ...]]]:
        """Judge the claims of each answer, as the replies come."""
        talks = [partial(self._ground, request) for request in requests]
        yield from self._desk.converse(self._settings, talks, trial=self._trial)

    def judge_points(self, requests: Sequence[PointsRequest]) -> Iterator[Given[tuple[PointVerdict, ...]]]:
        """Judge the key points of each question, as the replies come."""
        talks = [partial(self._check_points, request) for request in requests]
        yield from self._desk.converse(self._settings, talks, trial=self._trial)

    async def _ground(self, request: GroundRequest, conversation: Conversation) -> tuple[JudgedClaim, ...] | Failure:
        if not request.passages:  # nothing can support a claim then, and nobody need be asked
            return tuple(
                JudgedClaim(number=number, verdict="NOT_SUPPORTED", why="there were no passages")
                for number in range(1, len(request.claims) + 1)
            )
        if not request.claims:
            return ()
        return await Grounding(self._settings, self._grounding_prompt, request, conversation).verdicts()

    async def _check_points(
        self, request: PointsRequest, conversation: Conversation
    ) -> tuple[PointVerdict, ...] | Failure:
        if not request.points:
            return ()
        return await Points(self._settings, self._points_prompt, request, conversation).verdicts()
