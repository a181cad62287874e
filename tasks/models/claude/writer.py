"""Claude as the writer: question and passages in, an answer as plain text out."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from schemas.answer import NoAnswer
from schemas.claude import ClaudeWriterSettings
from schemas.seats import Draft, Failure, Given, WriteRequest
from tasks.models.claude.conversation import COMPLETE, Conversation, RawReply
from tasks.models.claude.delimit import block, blocks, restored
from tasks.models.claude.request import make_request

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# Enters the answers' keys: raise it whenever the same request is laid out, or the same reply read, otherwise.
VERSION: Final = 1

# A writer that declines or runs out of tokens behaves so, and its reply is a result like any other (METRICS.md §1).
_NO_ANSWER: Final[dict[str, NoAnswer]] = {
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}


class ClaudeWriter:
    """Writes answers.

    Args:
        settings: Which model, and how.
        prompt: Text of the system prompt.
        desk: Whom to ask through.
    """

    def __init__(self, settings: ClaudeWriterSettings, prompt: str, desk: "Desk") -> None:
        self._settings = settings
        self._prompt = prompt
        self._desk = desk

    def write(self, requests: Sequence[WriteRequest]) -> Iterator[Given[Draft]]:
        """Answer each request; a context too long for the window is a failure, since the setup asked for it."""
        yield from self._desk.converse(self._settings, [partial(self._one, request) for request in requests])

    async def _one(self, request: WriteRequest, conversation: Conversation) -> Draft | Failure:
        content = [blocks("passage", enumerate(request.passages, start=1)), block("question", request.question)]
        asked = make_request(
            self._settings, system=self._prompt, content=content, schema=None, trial=conversation.trial
        )
        return await conversation.ask(asked, _draft, complete=COMPLETE | frozenset(_NO_ANSWER))


def _draft(reply: RawReply) -> Draft:
    return Draft(text=restored(reply.text), no_answer=_NO_ANSWER.get(reply.stop_reason))
