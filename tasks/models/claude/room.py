"""Whether a request fits its model's window, and how a reply gets more room: a larger limit first, then halves."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from schemas.seats import Failure
from schemas.state import State
from tasks.models.claude.conversation import Conversation
from tasks.models.claude.errors import NO_ROOM, TOO_LONG, WINDOW
from tasks.models.claude.request import ModelRequest

# A judgement that needs more is better split: the longer a reply, the likelier it is to lose count.
MOST_TOKENS: Final = 32_000
SPLIT_ON: Final = frozenset({NO_ROOM, WINDOW})

Item = TypeVar("Item")
Reply = TypeVar("Reply")


async def fits(conversation: Conversation, request: ModelRequest) -> bool:
    """Whether a request and the longest reply to it fit the window.

    Its bytes are counted first: a token is at least one byte, and nearly every request ends there.
    """
    room = room_of(conversation, request)
    return request.n_bytes <= room or (room > 0 and await conversation.count_tokens(request) <= room)


def room_of(conversation: Conversation, request: ModelRequest) -> int:
    """Tokens that a request may have, when its reply takes all it may."""
    return conversation.window() - int(request.params["max_tokens"])


def too_long(what: str) -> Failure:
    """The failure of a request that cannot be made to fit."""
    message = f"{what} too long for the model's window, with max_tokens for the reply"
    return Failure(state=State.TRUNCATED, kind=TOO_LONG, message=message)


async def ask_split(
    items: Sequence[Item],
    ask: Callable[[Sequence[Item], int], Awaitable[Reply | Failure]],
    *,
    max_tokens: int,
    split_on: frozenset[str] = SPLIT_ON,
) -> list[Reply] | Failure:
    """Ask about all items at once; a reply cut short gets twice the tokens, and then half the items.

    Args:
        items: What is asked about, at least one.
        ask: Asks about some of them, with so many tokens for the reply.
        max_tokens: What the settings give a reply.
        split_on: Kinds of failure for which fewer items are asked about.

    Returns:
        The replies, in the order of the items; or the first failure that fewer items would not mend.
    """
    reply = await ask(items, max_tokens)
    while _failed(reply, NO_ROOM) and max_tokens < MOST_TOKENS:
        roomier = await ask(items, min(2 * max_tokens, MOST_TOKENS))
        if _failed(roomier, TOO_LONG):  # the window has no more room, so the items have to be fewer
            break
        max_tokens = min(2 * max_tokens, MOST_TOKENS)
        reply = roomier
    if not isinstance(reply, Failure):
        return [reply]
    if reply.kind not in split_on or len(items) < 2:
        return reply
    replies: list[Reply] = []
    middle = len(items) // 2
    for half in (items[:middle], items[middle:]):
        found = await ask_split(half, ask, max_tokens=max_tokens, split_on=split_on)
        if isinstance(found, Failure):
            return found
        replies += found
    return replies


def _failed(reply: object, kind: str) -> bool:
    return isinstance(reply, Failure) and reply.kind == kind
