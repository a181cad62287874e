"""How a stub server behaves: latency, window, and the faults it plays, all deterministic."""

import hashlib
from collections import Counter
from typing import Final, Literal

from pydantic import Field

from schemas.record import Record

FaultKind = Literal[
    "rate_limited", "overloaded", "server_error", "bad_gateway", "too_large", "reset", "reset_midway", "stall", "slow",
    "truncated", "window_exceeded", "refused", "empty", "malformed", "missing_verdict", "doubled_verdict",
    "errored", "expired",
]  # fmt: skip
# These take the place of a reply; the others spoil one.
INSTEAD: Final = frozenset({
    "rate_limited", "overloaded", "server_error", "bad_gateway", "too_large", "reset", "reset_midway", "stall",
})  # fmt: skip
# These befall items of batches only; all that spoil a reply befall both.
OF_ITEMS: Final = frozenset({"errored", "expired"})


class Fault(Record):
    """What goes wrong, with which requests.

    Attributes:
        at: Numbers of the requests it befalls, from 0 in the order of arrival; empty means `share` of them all.
        share: Share of the different requests that it befalls, picked by a hash of their bodies, so that the same
            ones are hit in whatever order they come.
        times: How often the same request meets it; None means always.
        having: Only requests whose body holds this text.
        seconds: Before it happens; of a slow reply, beside the latency.
        retry_after_s: What a reply of 429 or 529 says of it; None says nothing.
    """

    kind: FaultKind
    at: tuple[int, ...] = ()
    share: float = Field(default=1.0, ge=0, le=1)
    times: int | None = Field(default=1, ge=1)
    having: str = ""
    seconds: float = Field(default=0.0, ge=0)
    retry_after_s: float | None = None


class StubSettings(Record):
    """All of it.

    Attributes:
        latency_s: From a request's last byte to its reply's first.
        quick: Verdicts by hash instead of by the offline seats: no more than a benchmark needs.
        window: Tokens a prompt may have.
        most_output_tokens: Largest `max_tokens` allowed.
        cached_from_tokens: Shortest prefix that the prompt cache takes, as the API has it.
        batch_polls: How often a batch is found in progress before it has ended.
        counts_tokens: Whether there is a route that does, which other servers of this API may lack.
        unknown_model: Answered with 404.
        returned_model: The id in replies where it differs from the one that was asked for.
    """

    latency_s: float = Field(default=0.0, ge=0)
    quick: bool = False
    window: int = 200_000
    most_output_tokens: int = 128_000
    cached_from_tokens: int = 1_024
    batch_polls: int = 0
    counts_tokens: bool = True
    unknown_model: str = "claude-unknown"
    returned_model: str | None = None
    faults: tuple[Fault, ...] = ()


def fraction(*parts: bytes) -> float:
    """A number from 0 up to 1 that depends on nothing but these bytes."""
    hasher = hashlib.blake2b(digest_size=8)
    for part in parts:
        hasher.update(part)
    return int.from_bytes(hasher.digest()) / 2**64


class FaultBook:
    """Says which fault a request meets, and remembers how often it has."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._met: Counter[tuple[int, bytes]] = Counter()

    def next(self, number: int, body: bytes, *, item: bool = False) -> Fault | None:
        """The first fault that befalls request `number`, or an item of a batch; asking counts as meeting it."""
        if not self._faults:
            return None
        digest = hashlib.blake2b(body, digest_size=16).digest()
        for index, fault in enumerate(self._faults):
            if item and fault.kind in INSTEAD:
                continue
            if not item and fault.kind in OF_ITEMS:
                continue
            if self._befalls(fault, index, number, body, digest):
                self._met[index, digest] += 1
                return fault
        return None

    def _befalls(self, fault: Fault, index: int, number: int, body: bytes, digest: bytes) -> bool:
        if fault.having and fault.having.encode() not in body:
            return False
        if fault.times is not None and self._met[index, digest] >= fault.times:
            return False
        if fault.at:
            return number in fault.at
        return fault.share >= 1 or fraction(fault.kind.encode(), digest) < fault.share
