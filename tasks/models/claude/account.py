"""From a reader's reply to a reading: every character of the answer belongs to a claim or to a declared non-claim.

A claim owns the words it quotes; what its sentence holds beside them goes with the claim before it, unless the reader
said what it is. Two claims may share words ("Team and Business keep 30 days"); a claim and a non-claim never do.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.answer import Claim, NonClaim, NonClaimKind, Stretch
from tasks.models.claude.delimit import restored
from tasks.models.claude.schemas import ClaimReply, OtherKind, OtherReply
from tasks.models.claude.units import Numbered, Unit
from tasks.text.fold import Span, fold
from tasks.text.readable import has_words

_ELLIPSIS: Final = re.compile(r"\(?(?:\.{3,}|…)\)?")
_EDGE: Final = " '.,:;!?"


class Account(NamedTuple):
    """What an answer states, and the rest of it."""

    claims: tuple[Claim, ...]
    non_claims: tuple[NonClaim, ...]


@dataclass
class _Said:
    """A claim in the making; `quotes` are its own words by the number of their sentence."""

    text: str
    quotes: dict[int, list[str]] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)


def account(answer: Numbered, claims: Sequence[ClaimReply], others: Iterable[OtherReply]) -> Account:
    """Give every character of an answer to whom it belongs.

    Args:
        answer: The answer, as the reader was shown it.
        claims: What it states; equal ones become one claim with several places.
        others: What else its sentences are. With `claims` they name every unit.
    """
    said = _merged(claims)
    kinds: dict[int, OtherKind] = {}
    for other in others:
        kinds.setdefault(other.sentence, other.kind)
    rest: list[tuple[NonClaimKind, Span]] = [(kind, Span(start, end)) for kind, start, end in answer.rest]
    for unit in answer.units:
        owners = [claim for claim in said if unit.number in claim.quotes]
        if owners:
            rest += _shared_out(answer, unit, owners, kinds.get(unit.number))
        else:
            rest.append((kinds[unit.number], Span(unit.start, unit.end)))
    for claim in said:
        claim.spans = [part for span in _joined(claim.spans) for part in _inked(answer, span)]
    said.sort(key=lambda claim: claim.spans[0].start)
    numbered = tuple(
        Claim(number=n, text=claim.text, stretches=tuple(Stretch(start=a, end=b) for a, b in claim.spans))
        for n, claim in enumerate(said, start=1)
    )
    return Account(numbered, _declared(answer, said, rest))


def _merged(claims: Sequence[ClaimReply]) -> list[_Said]:
    """Let equal claims share one; parts of a long answer are read apart and may both have it."""
    found: dict[str, _Said] = {}
    for claim in claims:
        text = restored(claim.text.strip())
        said = found.setdefault(unicodedata.normalize("NFKC", text).casefold().rstrip(" .!。！"), _Said(text))
        for place in claim.places:
            said.quotes.setdefault(place.sentence, []).append(place.quote)
    return list(found.values())


def _shared_out(
    answer: Numbered, unit: Unit, owners: Sequence[_Said], kind: OtherKind | None
) -> Iterator[tuple[NonClaimKind, Span]]:
    """Share a sentence out between its claims; what is of the kind that the reader named comes back."""
    whole = Span(unit.start, unit.end)
    owned = [
        (claim, span)
        for claim in owners
        for quote in claim.quotes[unit.number]
        for span in _places(answer, whole, quote)
    ]
    owned.sort(key=lambda part: part[1])
    done = whole.start
    last: _Said | None = None
    for claim, span in [*owned, (None, Span(whole.end, whole.end))]:
        if done < span.start:
            gap = Span(done, span.start)
            if kind is not None and has_words(answer.plain[slice(*gap)]):
                yield kind, gap
            else:
                (last or owned[0][0]).spans.append(gap)
        if claim is not None:
            claim.spans.append(span)
            last = claim if span.end >= done else last
        done = max(done, span.end)


def _places(answer: Numbered, whole: Span, quote: str) -> Sequence[Span]:
    """Find a quote in its sentence, part by part; the whole sentence when it is not there or there is none."""
    for text in (answer.plain, answer.text):
        spans = _found(text[slice(*whole)], quote)
        placed = [Span(whole.start + start, whole.start + end) for start, end in spans]
        if placed and all(any(_inked(answer, span)) for span in placed):
            return placed
    return [whole]


def _found(sentence: str, quote: str) -> list[Span]:
    folded = fold(sentence)
    spans: list[Span] = []
    at = 0
    for part in _ELLIPSIS.split(quote):
        needle = fold(part).text.strip(_EDGE)
        if not needle:
            continue
        match = _whole_words(needle).search(folded.text, at)
        if match is None:
            return []
        spans.append(folded.original(*match.span()))
        at = match.end()
    return spans


def _whole_words(needle: str) -> re.Pattern[str]:
    """Match no "30" of "300"; scripts without spaces have no such borders."""
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", needle) else ""
    after = r"(?![a-z0-9])" if re.search(r"[a-z0-9]\Z", needle) else ""
    return re.compile(before + re.escape(needle) + after)


def _inked(answer: Numbered, span: Span) -> Iterator[Span]:
    return (Span(*part) for part in answer.outside_citations(*span))


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same characters in as few stretches as can be, in order."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _declared(
    answer: Numbered, said: Sequence[_Said], rest: Sequence[tuple[NonClaimKind, Span]]
) -> tuple[NonClaim, ...]:
    """Name all that no claim owns; what nobody named is white space and layout."""
    taken: list[tuple[NonClaimKind | None, Span]] = [("marker", Span(*citation)) for citation in answer.citations]
    taken += [(kind, part) for kind, span in rest for part in _inked(answer, span)]
    taken += [(None, span) for span in _joined(span for claim in said for span in claim.spans)]
    taken.sort(key=lambda piece: piece[1])
    non_claims: list[NonClaim] = []
    done = 0
    for kind, span in [*taken, (None, Span(len(answer.text), len(answer.text)))]:
        if done < span.start:
            non_claims.append(NonClaim(kind="space", start=done, end=span.start))
        if kind is not None:
            non_claims.append(NonClaim(kind=kind, start=span.start, end=span.end))
        done = span.end
    return tuple(non_claims)
