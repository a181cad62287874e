"""The offline judge: verdicts from words alone, for wiring, demos, CI and a first look."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pydantic import Field

from schemas.record import Record
from schemas.seats import Failure, Given, GroundRequest, PointsRequest
from schemas.state import State
from schemas.verdict import JudgedClaim, JudgedWord, PointVerdict, PointWord, Quote
from tasks.models.content import Place
from tasks.models.coverage import Context, Match
from tasks.text.fold import Span
from tasks.text.quantities import claimed_numbers, numbers
from tasks.text.quotes import find_quote
from tasks.text.statements import find_statements
from tasks.text.words import words


class Thresholds(Record):
    """The one configuration, for claims and key points alike: measured once, not for a person to set."""

    supported: float = Field(default=0.53, ge=0, le=1)
    partly: float = Field(default=0.40, ge=0, le=1)


THRESHOLDS: Final = Thresholds()
_LEAST_SENTENCE_WORDS: Final = 4
_LONGEST_EVIDENCE: Final = 600

Word = Literal["yes", "partly", "no", "contradicted"]
_OF_CLAIM: Final[dict[Word, JudgedWord]] = {
    "yes": "SUPPORTED",
    "partly": "NOT_SUPPORTED",
    "no": "NOT_SUPPORTED",
    "contradicted": "CONTRADICTED",
}
_OF_POINT: Final[dict[Word, PointWord]] = {
    "yes": "COVERED",
    "partly": "PARTLY",
    "no": "MISSING",
    "contradicted": "CONTRADICTED",
}


class OfflineJudge:
    """A judge without a model: deterministic, and the same on every machine.

    >>> claims, passages = ("Logs stay 3 days.",), ("All logs stay 3 days.",)
    >>> request = GroundRequest(question="?", claims=claims, passages=passages)
    >>> [(_, (judged,), _)] = OfflineJudge().judge_grounding([request])
    >>> judged.verdict, judged.quotes[0].text
    ('SUPPORTED', 'All logs stay 3 days.')
    """

    def judge_grounding(self, requests: Sequence[GroundRequest]) -> Iterator[Given[tuple[JudgedClaim, ...]]]:
        """Judge each claim against the passages; a request that cannot be judged is a failure of its own."""
        for position, request in enumerate(requests):
            try:
                yield Given(position, _judge_claims(request))
            except Exception as error:  # noqa: BLE001 one bad request must not take the others along
                yield Given(position, _failure(error))

    def judge_points(self, requests: Sequence[PointsRequest]) -> Iterator[Given[tuple[PointVerdict, ...]]]:
        """Judge each key point against the answer."""
        for position, request in enumerate(requests):
            try:
                yield Given(position, _judge_points(request))
            except Exception as error:  # noqa: BLE001
                yield Given(position, _failure(error))


def _failure(error: Exception) -> Failure:
    return Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error))


def _judge_claims(request: GroundRequest) -> tuple[JudgedClaim, ...]:
    context = Context(request.passages)
    return tuple(
        _judge_claim(number, claim, context, request.passages) for number, claim in enumerate(request.claims, start=1)
    )


def _judge_claim(number: int, claim: str, context: Context, passages: Sequence[str]) -> JudgedClaim:
    matches = _matches(claim, context)
    word = _word(matches)
    quotes = _quotes(claim, matches, passages) if word in {"yes", "contradicted"} else ()
    return JudgedClaim(number=number, verdict=_OF_CLAIM[word], quotes=quotes, why=_why(matches))


def _judge_points(request: PointsRequest) -> tuple[PointVerdict, ...]:
    context = Context([request.answer])
    verdicts: list[PointVerdict] = []
    for number, point in enumerate(request.points, start=1):
        matches = _matches(point, context)
        word = _word(matches)
        quotes = _quotes(point, matches, [request.answer]) if word != "no" else ()
        text = " … ".join(quote.text for quote in quotes)
        verdicts.append(PointVerdict(number=number, verdict=_OF_POINT[word], quote=text, why=_why(matches)))
    return tuple(verdicts)


def _matches(claim: str, context: Context) -> list[Match]:
    """Match a claim sentence by sentence: each has to stand, and true ones would drown a false one."""
    sentences = [claim[statement.span.start : statement.span.end] for statement in find_statements(claim)]
    telling = [one for one in sentences if len(words(one)) >= _LEAST_SENTENCE_WORDS or claimed_numbers(one)]
    return [context.match(sentence, enough=THRESHOLDS.supported) for sentence in telling or [claim]]


def _word(matches: Sequence[Match]) -> Word:
    if any(match.contradicted for match in matches):
        return "contradicted"
    worst = min(match.score for match in matches)
    if worst < THRESHOLDS.partly:
        return "no"
    stated = not any(match.number_lost for match in matches)
    return "yes" if stated and worst >= THRESHOLDS.supported else "partly"


def _why(matches: Sequence[Match]) -> str:
    worst = min(matches, key=lambda match: match.score)
    return f"words found: {worst.whole:.2f} in the whole text, {worst.window:.2f} in the best place"


def _quotes(claim: str, matches: Sequence[Match], passages: Sequence[str]) -> tuple[Quote, ...]:
    places = [place for match in matches for place in (*match.places, *match.extra)]
    quotes: dict[tuple[int, int], Quote] = {}
    spans = _joined(places, passages)
    for passage, span in (*spans, *_with_numbers(claim, spans, places, passages)):
        text = passages[passage]
        start, end = _long_enough(span, text)
        quotes.setdefault((passage, start), Quote(text=text[start:end], passage=passage + 1))
    return tuple(quotes.values())


def _with_numbers(
    claim: str, quoted: Sequence[tuple[int, Span]], places: Sequence[Place], passages: Sequence[str]
) -> Iterator[tuple[int, Span]]:
    """The column headers and headings that hold a number of the claim which no quote has: "Severity 3"."""
    held = [number for passage, span in quoted for number in numbers(passages[passage][slice(*span)])]
    for lost in claimed_numbers(claim):
        if not any(lost.same(other) for other in held):
            for place in places:
                over = (span for span in place.sources if not place.span.start <= span.start < place.span.end)
                yield from (
                    (place.passage, span)
                    for span in over
                    if any(lost.same(other) for other in numbers(passages[place.passage][slice(*span)]))
                )


def _joined(places: Sequence[Place], passages: Sequence[str]) -> list[tuple[int, Span]]:
    """The places' ranges; neighbours with only white space between them become one."""
    joined: list[tuple[int, Span]] = []
    for place in places:
        span = place.span
        if joined:
            passage, last = joined[-1]
            if passage == place.passage and not passages[passage][last.end : span.start].strip() and last <= span:
                joined[-1] = (passage, Span(last.start, max(last.end, span.end)))
                continue
        joined.append((place.passage, span))
    return joined


def _long_enough(span: Span, passage: str) -> Span:
    """Widen a range that is too short to be a quote to its line and the lines beside it."""
    start = passage.rfind("\n", 0, max(0, span.start - 1)) + 1
    end = passage.find("\n", min(span.end + 1, len(passage)))
    wide = Span(start, end if end >= 0 else len(passage))
    enough = find_quote(passage[span.start : span.end], passage[wide.start : wide.end])
    return span if enough or wide.end - wide.start > _LONGEST_EVIDENCE else wide
