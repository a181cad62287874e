"""The quote check that every judge's verdicts go through (METRICS.md §3, Evidence)."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final

from schemas.verdict import ClaimVerdict, FoundQuote, JudgedClaim
from tasks.text.fold import Folded, Span, fold
from tasks.text.quantities import claimed_numbers, numbers
from tasks.text.words import words

LEAST_WORDS: Final = 4
LEAST_CHARACTERS: Final = 20

_ELLIPSIS: Final = re.compile(r"\(?\.{3,}\)?")
_UNSPACED: Final = re.compile(
    r"(?P<ideographs>[\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0002fa1f]+)"
    r"|(?P<letters>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
)
# What a word takes on average where no space shows it: 1.75 ideographs or kana, four letters of Thai, Lao, Khmer
# or Burmese. So "four words" are seven Chinese characters.
_CHARACTERS_A_WORD: Final = {"ideographs": 1.75, "letters": 4.0}

_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_CODE_INDENT: Final = 4
_LOOK_AROUND: Final = 200
_MARKS: Final = r"[ \t*_`~]*"
_CELL_BEFORE: Final = re.compile(rf"(?:^|\n|\||<t[dh][^<>]*>){_MARKS}\Z")
_CELL_AFTER: Final = re.compile(rf"{_MARKS}(?:\Z|\n|\||</t[dh]>)")
_HEADING_BEFORE: Final = re.compile(rf"(?:(?:^|\n) {{0,3}}#{{1,6}}[ \t]+|(?:^|\n)\*\*|<h[1-6][^<>]*>){_MARKS}\Z")
_HEADING_AFTER: Final = re.compile(rf"{_MARKS}(?:#*[ \t]*(?:\Z|\n)|:?\*\*:?[ \t]*(?:\Z|\n)|</h[1-6]>)")
_UNDERLINED_AFTER: Final = re.compile(r"[ \t]*\n(?:=+|-+)[ \t]*(?:\Z|\n)")
_LINE_BEFORE: Final = re.compile(r"(?:^|\n)(?P<indent>[ \t]*)\Z")
_LINE_AFTER: Final = re.compile(r"[ \t]*(?:\Z|\n)")

Accept = Callable[[Span], bool]


class VerdictsDoNotMatchClaimsError(ValueError):
    """A judge's reply has not exactly one verdict per claim, or names a passage that does not exist."""


def check_evidence(
    claims: Sequence[str], judged: Sequence[JudgedClaim], passages: Sequence[str]
) -> tuple[ClaimVerdict, ...]:
    """Look up each quote in the passage it names, and take the verdict back where no evidence is left.

    A quote that stands in another passage than the one it names is lost: cells and citations rest on the
    number. A quote in parts gives one found quote a part. SUPPORTED needs every number of the claim in its
    found quotes; CONTRADICTED, whose point may be another number, needs any.

    Args:
        claims: The claims, numbered from 1 in this order.
        judged: The judge's verdicts, in any order.
        passages: The passages, numbered from 1 in this order.

    Returns:
        One verdict per claim, in the order of the claims.

    Raises:
        VerdictsDoNotMatchClaimsError: Not exactly one verdict per claim, or a passage that does not exist.

    >>> from schemas.verdict import Quote
    >>> said = JudgedClaim(number=1, verdict="SUPPORTED", quotes=(Quote(text="kept for 3 days", passage=1),))
    >>> check_evidence(["Logs stay 3 days."], [said], ["Logs are kept for **3 days**."])[0].quotes[0].text
    'kept for **3 days'
    >>> check_evidence(["Logs stay 5 days."], [said], ["Logs are kept for **3 days**."])[0].verdict
    'UNVERIFIED'
    """
    _require_match(claims, judged, passages)
    places = [_Passage(passage) for passage in passages]
    by_number = {claim.number: claim for claim in judged}
    return tuple(_checked(text, by_number[number], places) for number, text in enumerate(claims, start=1))


def find_quote(quote: str, passage: str) -> tuple[Span, ...]:
    """Find a quote in a passage, part by part; empty when it is not there, or too short to be evidence.

    >>> find_quote("The logs … kept for 3 days", "The logs of all kinds are kept for 3 days.")
    (Span(start=0, end=8), Span(start=26, end=41))
    """
    return _Passage(passage).find(quote)


def _require_match(claims: Sequence[str], judged: Sequence[JudgedClaim], passages: Sequence[str]) -> None:
    counts = Counter(claim.number for claim in judged)
    wanted = range(1, len(claims) + 1)
    problems = [f"claim {number} has no verdict" for number in wanted if number not in counts]
    problems += [f"claim {number} has {times} verdicts" for number, times in counts.items() if times > 1]
    problems += [f"there is no claim {number}" for number in counts if number not in wanted]
    problems += [
        f"claim {claim.number} quotes passage {quote.passage} of {len(passages)}"
        for claim in judged
        for quote in claim.quotes
        if quote.passage > len(passages)
    ]
    if problems:
        raise VerdictsDoNotMatchClaimsError("; ".join(problems))


def _checked(claim: str, judged: JudgedClaim, passages: Sequence["_Passage"]) -> ClaimVerdict:
    found: list[FoundQuote] = []
    lost: list[str] = []
    for quote in judged.quotes:
        passage = passages[quote.passage - 1]
        spans = passage.find(quote.text)
        if not spans:
            lost.append(quote.text)
        found += [
            FoundQuote(
                text=passage.text[span.start : span.end],
                passage=quote.passage,
                start=span.start,
                end=span.end,
            )
            for span in spans
        ]
    verified = judged.verdict == "NOT_SUPPORTED" or _is_evidence(claim, judged, found)
    return ClaimVerdict(
        number=judged.number,
        verdict=judged.verdict if verified else "UNVERIFIED",
        judged=judged.verdict,
        quotes=tuple(found),
        lost_quotes=tuple(lost),
        why=judged.why,
    )


def _is_evidence(claim: str, judged: JudgedClaim, found: Sequence[FoundQuote]) -> bool:
    if not found:
        return False
    needed = claimed_numbers(claim)
    if not needed:
        return True
    held = [number for quote in found for number in numbers(quote.text)]
    if judged.verdict == "CONTRADICTED":
        return bool(held)
    return all(any(number.same(other) for other in held) for number in needed)


class _Passage:
    """A passage, folded once and only when an exact look has failed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _folded(self) -> Folded:
        return fold(self.text)

    @cached_property
    def _fences(self) -> list[int]:
        return [fence.start() for fence in _FENCE.finditer(self.text)]

    def find(self, quote: str) -> tuple[Span, ...]:
        whole = quote.strip()
        folded = fold(whole).text.strip(" '")
        accept: Accept = _anywhere if _is_long(folded) else self._stands_alone
        exact = next(_places(self.text, whole, accept), None)
        if exact:
            return (exact,)
        parts = [part for part in map(_trimmed, _ELLIPSIS.split(folded)) if part]
        for needle in (folded, *parts) if len(parts) == 1 else (folded,):
            place = next(self._folded_places(needle, accept), None)
            if place:
                return (self._folded.original(*place),)
        return self._find_parts(parts) if len(parts) > 1 and _is_long(" ".join(parts)) else ()

    def _find_parts(self, parts: Sequence[str]) -> tuple[Span, ...]:
        spans: list[Span] = []
        at = 0
        for part in parts:
            span = next(self._folded_places(part, _anywhere, start=at), None)
            if span is None:
                return ()
            spans.append(span)
            at = span.end
        # The first way through may begin far off: of each part the place nearest to the next one is meant.
        for number in range(len(parts) - 2, -1, -1):
            room = {"start": spans[number].start, "end": spans[number + 1].start}
            *_, spans[number] = self._folded_places(parts[number], _anywhere, **room)
        return tuple(self._folded.original(*span) for span in spans)

    def _folded_places(self, needle: str, accept: Accept, *, start: int = 0, end: int | None = None) -> Iterator[Span]:
        original = self._folded.original
        return _places(self._folded.text, needle, lambda span: accept(original(*span)), start=start, end=end)

    def _stands_alone(self, span: Span) -> bool:
        """Whether a stretch is one or more whole table cells, a heading or a code line."""
        before = self.text[max(0, span.start - _LOOK_AROUND) : span.start]
        after = self.text[span.end : span.end + _LOOK_AROUND]
        if _HEADING_BEFORE.search(before) and _HEADING_AFTER.match(after):
            return True
        cell_before, cell_after = _CELL_BEFORE.search(before), _CELL_AFTER.match(after)
        if cell_before and cell_after and re.search(r"[|>]", cell_before.group() + cell_after.group()):
            return True
        line = _LINE_BEFORE.search(before)
        if line is None or _LINE_AFTER.match(after) is None:
            return False
        text = self.text[span.start : span.end].strip()
        if text.startswith(("#", "|")) or _UNDERLINED_AFTER.match(after):
            return True
        fenced = bisect_right(self._fences, span.start) % 2 == 1
        return fenced or line["indent"].expandtabs(_CODE_INDENT).startswith(" " * _CODE_INDENT)


def _places(text: str, needle: str, accept: Accept, *, start: int = 0, end: int | None = None) -> Iterator[Span]:
    if not needle:
        return
    stop = len(text) if end is None else end
    at = text.find(needle, start, stop)
    while at >= 0:
        span = Span(at, at + len(needle))
        if not _cuts_word(text, span.start) and not _cuts_word(text, span.end) and accept(span):
            yield span
        at = text.find(needle, at + 1, stop)


def _anywhere(_: Span) -> bool:
    return True


def _trimmed(part: str) -> str:
    return part.strip(" '.,;:!?")


def _is_long(text: str) -> bool:
    """Whether a text has the words or characters of a quote."""
    unspaced = sum(len(run.group()) / _CHARACTERS_A_WORD[run.lastgroup or ""] for run in _UNSPACED.finditer(text))
    spaced = len(words(_UNSPACED.sub(" ", text)))
    if not unspaced + spaced:
        return False
    return unspaced + spaced >= LEAST_WORDS or len(text) >= LEAST_CHARACTERS


def _cuts_word(text: str, at: int) -> bool:
    """Whether a border is inside a word or number: no quote "limited" from "unlimited", no "1" from "1.5"."""
    if not 0 < at < len(text):
        return False
    left, right = text[max(0, at - 2) : at], text[at : at + 2]
    if re.search(r"\d[.,]?\Z", left) and re.match(r"[.,]?\d", right):
        return True
    return _is_letter(left[-1]) and (_is_letter(right[0]) or unicodedata.category(right[0]).startswith("M"))


def _is_letter(char: str) -> bool:
    return char.isalnum() and _UNSPACED.match(char) is None
