"""The judgement of claims against passages: groups of claims, portions of passages, one verdict per claim."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from schemas.claude import ClaudeJudgeSettings
from schemas.seats import MOST_CLAIMS, Failure, GroundRequest
from schemas.verdict import JudgedClaim, Quote
from tasks.models.claude.conversation import Conversation, InvalidReplyError, RawReply
from tasks.models.claude.delimit import block, blocks, quoted_from
from tasks.models.claude.errors import NO_ROOM, TOO_LONG, WINDOW
from tasks.models.claude.portions import Piece, at_borders, combined, halved, portions
from tasks.models.claude.replies import read_reply, require_one_each
from tasks.models.claude.request import ModelRequest, Shared, make_request
from tasks.models.claude.room import ask_split, fits, room_of, too_long
from tasks.models.claude.schemas import GroundingReply

# Bytes and tokens of two portions are not in the same proportion everywhere.
_SAFE: Final = 0.9
_LEAST_ROOM_BYTES: Final = 512


class Grounding:
    """The claims of one answer before the judge.

    Args:
        settings: Which model, and how.
        prompt: Text of the system prompt.
        request: Claims and passages, at least one of each.
        conversation: Whom to ask through.
    """

    def __init__(
        self, settings: ClaudeJudgeSettings, prompt: str, request: GroundRequest, conversation: Conversation
    ) -> None:
        self._settings = settings
        self._prompt = prompt
        self._request = request
        self._conversation = conversation
        opens = request.opens or (False,) * len(request.claims)
        self._groups = [range(group.start + 1, group.stop + 1) for group in at_borders(opens, most=MOST_CLAIMS)]
        self._made: dict[tuple[object, ...], ModelRequest] = {}

    async def verdicts(self) -> tuple[JudgedClaim, ...] | Failure:
        """Judge each claim against all passages; where these do not fit at once, against portions of them."""
        sets = await self._portions()
        if isinstance(sets, Failure):
            return sets
        judged: list[JudgedClaim] = []
        for pieces in sets:
            for group in self._groups:
                found = await self._judged(group, pieces)
                if isinstance(found, Failure):
                    return found
                judged += found
        return tuple(
            combined([one for one in judged if one.number == number])
            for number in range(1, len(self._request.claims) + 1)
        )

    async def _portions(self) -> list[Sequence[Piece]] | Failure:
        """Put the passages into as few portions as fit the window beside the claims."""
        whole = [Piece(number, passage) for number, passage in enumerate(self._request.passages, start=1)]
        group = max(self._groups, key=lambda group: len(self._claims(group)))
        asked = self._asked(group, whole)
        room, size = room_of(self._conversation, asked), asked.n_bytes
        if size <= room:
            return [whole]
        if room <= 0:
            return too_long("max_tokens alone is")
        n_tokens = await self._conversation.count_tokens(asked)
        if n_tokens <= room:
            return [whole]
        room_bytes = int(room * size / n_tokens * _SAFE) - self._asked(group, []).n_bytes
        if room_bytes < _LEAST_ROOM_BYTES:
            return too_long("the claims are")
        waiting: list[Sequence[Piece]] = [*reversed(portions(whole, room_bytes))]
        found: list[Sequence[Piece]] = []
        while waiting:
            pieces = waiting.pop()
            if await fits(self._conversation, self._asked(group, pieces)):
                found.append(pieces)
            elif halves := halved(pieces):
                waiting += reversed(halves)
            else:
                return too_long("the passages are")
        return found

    async def _judged(self, group: Sequence[int], pieces: Sequence[Piece]) -> list[JudgedClaim] | Failure:
        """Judge some claims against some passages; a claim has several verdicts when these had to be halved."""
        ask = partial(self._ask, pieces)
        found = await ask_split(group, ask, max_tokens=self._settings.max_tokens, split_on=frozenset({NO_ROOM}))
        if not isinstance(found, Failure):
            return [one for judged in found for one in judged]
        if found.kind not in {TOO_LONG, WINDOW}:
            return found
        halves = halved(pieces)
        if halves is None:
            return too_long("the claims are")
        judged: list[JudgedClaim] = []
        for half in halves:
            part = await self._judged(group, half)
            if isinstance(part, Failure):
                return part
            judged += part
        return judged

    async def _ask(
        self, pieces: Sequence[Piece], group: Sequence[int], max_tokens: int
    ) -> tuple[JudgedClaim, ...] | Failure:
        request = self._asked(group, pieces, max_tokens=max_tokens)
        # With the settings' own room it was found to fit already.
        if max_tokens > self._settings.max_tokens and not await fits(self._conversation, request):
            return too_long("the request with more room for its reply is")
        parse = partial(self._parsed, group=group, shown=frozenset(piece.number for piece in pieces))
        return await self._conversation.ask(request, parse)

    def _asked(self, group: Sequence[int], pieces: Sequence[Piece], *, max_tokens: int | None = None) -> ModelRequest:
        """The request about a group of claims; the one last made is not made again: first measured, then sent."""
        name = (*group, None, *pieces, max_tokens or self._settings.max_tokens)
        if name not in self._made:
            self._made = {name: self._make(group, pieces, max_tokens)}
        return self._made[name]

    def _make(self, group: Sequence[int], pieces: Sequence[Piece], max_tokens: int | None) -> ModelRequest:
        """Passages first: they are the long part, and all groups of claims share them."""
        passages = blocks("passage", pieces)
        is_shared = len(group) < len(self._request.claims)
        return make_request(
            self._settings,
            system=self._prompt,
            content=[Shared(passages) if is_shared else passages, self._claims(group)],
            schema=GroundingReply,
            max_tokens=max_tokens,
            trial=self._conversation.trial,
        )

    def _claims(self, group: Sequence[int]) -> str:
        claims = [(number, self._request.claims[number - 1]) for number in group]
        return f"{block('question', self._request.question)}\n{blocks('claim', claims)}"

    def _parsed(self, raw: RawReply, *, group: Sequence[int], shown: frozenset[int]) -> tuple[JudgedClaim, ...]:
        reply = read_reply(GroundingReply, raw)
        require_one_each("claim", [verdict.number for verdict in reply.verdicts], wanted=group)
        named = {quote.passage for verdict in reply.verdicts for quote in verdict.quotes}
        if unknown := sorted(named - shown):
            raise InvalidReplyError(f"there are no passages {unknown}")
        passages = self._request.passages
        return tuple(
            JudgedClaim(
                number=verdict.number,
                verdict=verdict.verdict,
                quotes=tuple(
                    Quote(text=quoted_from(passages[quote.passage - 1], quote.text), passage=quote.passage)
                    for quote in verdict.quotes
                    if quote.text.strip()
                ),
                why=verdict.why,
            )
            for verdict in sorted(reply.verdicts, key=lambda verdict: verdict.number)
        )
