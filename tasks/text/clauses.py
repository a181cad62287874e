"""One sentence of an answer, cut into what it states and what it only says of its sources or to the reader."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from tasks.text import phrases
from tasks.text.markers import find_code_spans
from tasks.text.readable import has_words, readable
from tasks.text.words import words

PartKind = Literal["claim", "coverage", "greeting", "question", "marker"]


class Part(NamedTuple):
    """Characters `start` to `end`. `label` is what the parts of a list share: "Retention:" or a verb."""

    kind: PartKind
    start: int
    end: int
    label: str = ""
    verb: str = ""


_MAX_CHARS: Final = 1500  # longer than any set wording; a longer "sentence" is data
_FEW_WORDS: Final = 3
_QUESTION: Final = re.compile(r"[?？؟]+[\"'”’»)\]」』）】*_\s]*$")
_QUOTED_QUESTION: Final = re.compile(r"^[^\"“«「『]+[\"“«「『].*[?？؟]+[\"”»」』]\s*$")
_YES_NO: Final = re.compile(
    r"^(?:yes|no|nope|correct|right|true|false|exactly|indeed|ja|nein|doch|oui|non|si|sí|是的?|不是?|对|はい|いいえ|نعم|لا"
    r"|हाँ|नहीं)\W*$",
    re.IGNORECASE,
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|cannot|could|may|might|must|shall|should|will|would"
    r"|isn['’]t|aren['’]t"
    r"|doesn['’]t|don['’]t|can['’]t|won['’]t|it['’]s|keeps?|kept|gets?|costs?|uses?|needs?|takes?|allows?|includes?"
    r"|supports?|requires?"
    r"|provides?|offers?|returns?|sends?|stores?|retains?|holds?|lasts?|runs?|works?|means?|sets?|contains?"
    r"|expires?|applies|apply"
    r"|ist|sind|war|hat|haben|kann|muss|wird|werden|est|sont|a|ont|peut|es|son|tiene|puede|está)\b"
    r"|[是有为為会能可不]|です|ます|でした|ある|いる|है|हैं|था|هو|هي",
    re.IGNORECASE,
)
_VERB_ENDING: Final = re.compile(r"\s\w{2,}(?:s|ed)\b(?!['’])")
_AMOUNT: Final = r"(?P<money>[$€£¥])?\d[\d.,]*\s?(?P<unit>[^\W\d_]*)"
_SHARED_VERB: Final = re.compile(
    r"^(?:\w[\w-]*\s){1,4}?(?P<verb>(?:keeps?|kept|is|are|was|were|has|have|had|costs?|allows?|includes?|gets?"
    r"|offers?|stores?"
    r"|supports?|takes?|retains?|holds?|lasts?|sends?|needs?|requires?|returns?|uses?|permits?"
    r"|provides?)\s(?:[a-z]+\s){0,3})" + _AMOUNT,
    re.IGNORECASE,
)
_VERBLESS: Final = re.compile(rf"^(?:and\s)?(?P<subject>(?:[A-Za-z][\w-]*\s){{1,3}})(?P<amount>{_AMOUNT})")
_LIST_LABEL: Final = re.compile(r"^(?P<label>[^:：;；\"“]{2,60}[:：])\s+\S")
# Cheap to look for, and most sentences have neither a leading clause's first word nor its "that".
_MAY_LEAD: Final = re.compile(
    r"(?:so|well|yes|also|however|in|according|based|as|per|judging|from|going|looking|given|laut|gemäß|nach|selon"
    r"|d|según|de)\b"
    r"|[^\x00-\u2fff]|[^,.:;]{1,90}\sthat\s",
    re.IGNORECASE,
)
_SEMICOLON: Final = re.compile(r"&#?\w{1,8};|;(?=\s|$)|；|[()\[\]（）\"“”]")
_CONCESSION: Final = re.compile(
    r"^(?:although|though|while|whereas|even though|obwohl|bien que|aunque"
    r"|虽然)\s?(?P<first>[^,，]+[,，])\s*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)


class _Plain:
    """A stretch without markers, emphasis and doubled space, and the way back to the characters it came from."""

    def __init__(self, masked: str, start: int, end: int) -> None:
        found = [(match.start(), match.group()) for match in re.finditer(r"\S+", masked[start:end])]
        self.text = " ".join(piece for _, piece in found)
        self._origins = [start + at for at, _ in found]
        self._starts: list[int] = []
        at = 0
        for _, piece in found:
            self._starts.append(at)
            at += len(piece) + 1

    def origin(self, at: int) -> int:
        """Give the place in the answer of a place in the plain text."""
        index = bisect_right(self._starts, at) - 1
        return self._origins[index] + at - self._starts[index]


def cut_sentence(masked: str, start: int, end: int) -> list[Part]:
    """Cut a sentence into parts, in order and without overlap; a stretch between parts holds no words.

    Args:
        masked: A text in which markers and emphasis are replaced by as many spaces.
        start: Where the sentence starts.
        end: Where it ends.

    >>> text = "According to the docs, Starter keeps 3 days; Team keeps 7 days."
    >>> [(part.kind, text[part.start : part.end]) for part in cut_sentence(text, 0, len(text))]
    [('coverage', 'According to the docs,'), ('claim', 'Starter keeps 3 days;'), ('claim', 'Team keeps 7 days.')]
    """
    if not has_words(masked[start:end]):
        return []
    if end - start > _MAX_CHARS:
        return [Part("claim", start, end)]
    parts: list[Part] = []
    while start < end:
        plain = _Plain(masked, start, end)
        whole = _whole(plain.text)
        if whole is not None:
            return [*parts, Part(whole, start, end)]
        kind, length = _leading(plain.text)
        if kind is None:
            break
        rest = plain.origin(length)
        parts.append(Part(kind, *_trimmed(masked, start, rest)))
        start = rest
    return parts + _cut_statement(masked, start, end)


def is_fragment(text: str) -> bool:
    """Tell whether a few words state nothing on their own.

    >>> is_fragment("Team plan."), is_fragment("It is free."), is_fragment("7 days")
    (True, False, False)
    """
    if any(char.isnumeric() for char in text) or "`" in text or _VERB.search(text):
        return False
    n_words = len(words(text[:200]))
    if " " not in text.strip() and not text.isascii():
        return n_words < _FEW_WORDS  # here a word is a pair of characters
    return n_words < _FEW_WORDS or (n_words == _FEW_WORDS and not _VERB_ENDING.search(text))


def has_verb(text: str) -> bool:
    """Tell whether one of the commonest verbs stands in some words.

    >>> has_verb("Retention by plan"), has_verb("Retention is set by plan")
    (False, True)
    """
    return _VERB.search(text) is not None


def is_yes_or_no(text: str) -> bool:
    """Tell a bare "Yes.", which belongs to the sentence behind it.

    >>> is_yes_or_no("Yes!"), is_yes_or_no("Yes, it is.")
    (True, False)
    """
    return _YES_NO.match(text) is not None


def is_sentence(text: str) -> bool:
    """Tell a whole sentence from a bullet's noun or clause, which wants its intro.

    >>> is_sentence("The API allows ten requests per second."), is_sentence("10 requests per second")
    (True, False)
    """
    n_words = len(words(text[:400]))
    return n_words > 2 * _FEW_WORDS and (text.endswith((".", "!", "。", "！", "।")) or _VERB.search(text) is not None)


def not_covered(text: str) -> bool:
    """Tell whether words say that the sources do not hold something.

    >>> not_covered("The documentation does not mention refunds."), not_covered("The API does not mention refunds.")
    (True, False)
    """
    return phrases.NEGATION.search(text) is not None and any(p.search(text) for p in phrases.NOT_COVERED)


def _whole(plain: str) -> PartKind | None:
    if phrases.SOURCE_NOTE.match(plain):
        return "marker"
    if any(pattern.match(plain) for pattern in phrases.GREETINGS) or phrases.OFFER.search(plain):
        return "greeting"
    if _QUESTION.search(plain) and not _QUOTED_QUESTION.match(plain):
        return "question"
    return None


def _leading(plain: str) -> tuple[PartKind | None, int]:
    greeting = phrases.LEADING_GREETING.match(plain)
    if greeting is not None and has_words(plain[greeting.end() :]):
        return "greeting", greeting.end()
    for pattern in phrases.LEADING_CLAUSES if _MAY_LEAD.match(plain) else ():
        clause = pattern.match(plain)
        if clause is not None and has_words(plain[clause.end() :]):
            return "coverage", clause.end()
    return None, 0


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    return start, start + len(text[start:end].rstrip())


def _cut_statement(masked: str, start: int, end: int) -> list[Part]:
    plain = _Plain(masked, start, end)
    if not_covered(plain.text):
        return list(_cut_contrast(masked, start, end, plain))
    trailing = phrases.TRAILING_CLAUSE.search(plain.text)
    if trailing is not None and has_words(plain.text[: trailing.start()]):
        middle = plain.origin(trailing.start())
        return [*_cut_list(masked, start, middle), Part("coverage", *_led(masked, middle, end))]
    return _cut_list(masked, start, end)


def _led(text: str, start: int, end: int) -> tuple[int, int]:
    return start + len(text[start:end]) - len(text[start:end].lstrip()), end


def _cut_contrast(masked: str, start: int, end: int, plain: _Plain) -> Iterator[Part]:
    """Keep what is stated beside a coverage statement: "The docs do not say X, but Y is 5"."""
    concession = _CONCESSION.match(plain.text)
    if concession is not None:
        edges = [0, concession.start("rest"), len(plain.text)]
    else:
        edges = [0, *(match.end() for match in phrases.CONTRAST.finditer(plain.text)), len(plain.text)]
    runs: list[tuple[bool, int, int]] = []
    for a, b in pairwise(edges):
        piece = plain.text[a:b]
        states = has_words(piece) and not not_covered(piece) and (is_sentence(piece) or not is_fragment(piece))
        if runs and runs[-1][0] == states:
            runs[-1] = (states, runs[-1][1], b)
        elif a < b:
            runs.append((states, a, b))
    for states, a, b in runs:
        first = start if a == 0 else plain.origin(a)
        last = end if b == len(plain.text) else plain.origin(b)
        if states:
            yield from _cut_list(masked, *_trimmed(masked, first, last))
        else:
            yield Part("coverage", *_trimmed(masked, first, last))


def _cut_list(masked: str, start: int, end: int) -> list[Part]:
    """Cut at semicolons where every part stands on its own, with the label or the verb the first one has."""
    if masked.find(";", start, end) < 0 and masked.find("；", start, end) < 0:
        return [Part("claim", start, end)]
    edges = [start, *_semicolons(masked, start, end), end]
    ranges = [(a, b) for a, b in pairwise(edges) if has_words(masked[a:b])]
    if len(ranges) <= 1:
        return [Part("claim", start, end)]
    texts = [readable(masked[a:b]) for a, b in ranges]
    label_match = _LIST_LABEL.match(texts[0])
    label = label_match["label"] if label_match and not any(re.search(r"[:：]\s", text) for text in texts[1:]) else ""
    shared = _SHARED_VERB.match(texts[0].removeprefix(label).strip())
    parts = [Part("claim", *_led(masked, *ranges[0]))]
    for (a, b), text in zip(ranges[1:], texts[1:], strict=True):
        verb = shared["verb"].strip() if shared and _takes_verb(text, shared) else ""
        if label or verb or not is_fragment(text):
            parts.append(Part("claim", *_led(masked, a, b), label, verb))
        else:
            parts[-1] = parts[-1]._replace(end=b)
    return parts if all(has_words(masked[part.start : part.end]) for part in parts) else [Part("claim", start, end)]


def _takes_verb(text: str, shared: re.Match[str]) -> bool:
    """Tell "Team 7 days" beside "Starter keeps 3 days": no verb of its own, and an amount of the same unit."""
    match = _VERBLESS.match(text)
    if match is None or _VERB.search(text) or match["money"] != shared["money"]:
        return False
    return not match["unit"] or match["unit"].rstrip("s") == shared["unit"].rstrip("s")


def _semicolons(masked: str, start: int, end: int) -> list[int]:
    found: list[int] = []
    depth = 0
    code = find_code_spans(masked, start, end)
    for match in _SEMICOLON.finditer(masked, start, end):
        char = match.group()
        if char in "([（“":
            depth += 1
        elif char in ")]）”":
            depth = max(0, depth - 1)
        elif char in ";；" and depth == 0 and not any(a <= match.start() < b for a, b in code):
            found.append(match.end())
    return found


def with_shared(text: str, part: Part) -> str:
    """Give a list's part its label or verb: "Team 7 days" becomes "Team keeps 7 days".

    >>> with_shared("Team 7 days", Part("claim", 0, 11, verb="keeps"))
    'Team keeps 7 days'
    """
    if part.verb and (match := _VERBLESS.match(text)):
        text = f"{match['subject']}{part.verb} {text[match.start('amount') :]}"
    return f"{part.label} {text}" if part.label else text
