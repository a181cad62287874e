"""Whether an answer speaks to its question, as far as words show it: shared content, and the kind of thing asked for.

A short answer shares no words with its question ("How long?" - "7 days"), so there the kind decides; a long one that
shares none is about something else, whatever numbers it holds.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from tasks.models.lexicon import LIGHT_STEMS, STOP_STEMS
from tasks.text.clauses import has_verb
from tasks.text.words import stem, words

Asked = Literal["number", "name", "place", "reason", "way", "yes_no", "open"]

_NUMBER_WORDS: Final = (
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundreds?"
    r"|thousands?|millions?"
    r"|once|twice|half|never|always|unlimited|lifetime|multiple|permanent(?:ly)?|no (?:limit|fixed|maximum|minimum)"
    r"|indefinitely|forever|immediately|instantly|daily|hourly|weekly|monthly|yearly"
    r"|annually|nightly|every|several|many|few|none|eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|deux"
    r"|trois|quatre|cinq|dos"
    r"|tres|cuatro|cinco)\b|[零一二三四五六七八九十百千万两]"
)
_TIME_WORDS: Final = (
    r"|\b(?:before|after|during|until|since|when|once|as soon as|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow|midnight|noon"
    r"|century|year)\b"
)
_ASKS: Final[Mapping[Asked, str]] = {
    "number": (
        r"\bhow (?:many|much|long|often|old|far|big|large|tall|fast|high|deep|soon|late|heavy|frequently|quickly)\b"
        r"|^\W*(?:(?:and|so|since|until|by|from) )?when\b"
        r"|\bwhen (?:did|does|do|was|were|is|are|will|can|should)\b"
        r"|\b(?:what|which) (?:is the )?(?:\w+ ){0,2}(?:year|date|day|month|time|version|number|percentage|amount|size"
        r"|port|price|cost|limit|rate|quota|length|duration|maximum|minimum|score|age|population|timeout|period)\b"
        r"|\bwie (?:viele?|lange|oft|hoch|groß|alt)\b|\bwann\b|\bcombien\b|\bquand\b|\bcuánt|\bcuándo\b"
        r"|多少|几|多久|多长|什么时候|何时|何日|いくつ|いくら|いつ|何時|何個"
    ),
    "name": r"\bwho(?:se|m)?\b|\bwer\b|\bqui\b|\bquién(?:es)?\b|谁|誰|だれ",
    "place": r"\bwhere\b|\bwo\b|\boù\b|\bdónde\b|哪里|在哪|どこ",
    "reason": r"\bwhy\b|\bhow come\b|\bwarum\b|\bpourquoi\b|\bpor qué\b|为什么|なぜ",
    "way": (
        r"\bhow (?:do|can|to|should|would|could|does|did|is|are)\b|\bwie (?:kann|mache|geht|lässt)\b"
        r"|\bcomment\b|\bcómo\b|怎么|如何|どうやって"
    ),
    "yes_no": (
        r"^\W*(?:and |so |but |or )?(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must"
        r"|am)(?:n['’]t)?\b"
        r"|^\W*(?:ist|sind|kann|hat|gibt|darf|est-ce|peut-on|puede|es|hay)\b|吗[?？]?\W*$|ですか|ますか"
    ),
}
_ASKED: Final = tuple((asked, re.compile(pattern, re.IGNORECASE)) for asked, pattern in _ASKS.items())
_ANSWERS: Final[Mapping[Asked, re.Pattern[str]]] = {
    "number": re.compile(_NUMBER_WORDS + _TIME_WORDS, re.IGNORECASE),
    "name": re.compile(
        r"\b[A-Z][\w'’.-]+|\b(?:he|she|they|everyone|anyone|nobody|admins?|owners?|users?|members?|team|staff)\b"
        r"|[^\x00-\u024f]{2}"
    ),
    "place": re.compile(
        r"\b(?:in|at|on|under|near|from|inside|within|above|below|to)\b|\b[A-Z]\w+|[/>→]|[^\x00-\u024f]{2}"
    ),
    "reason": re.compile(
        r"\b(?:because|since|due to|so that|in order to|reasons?|caus\w+|as a result|therefore|thus|to (?!be\b)\w+"
        r"|prevents?|ensures?|avoids?|for|means|led|leads?|weil|denn|damit|parce|car|porque)\b|因为|由于|ため|から",
        re.IGNORECASE,
    ),
    "way": re.compile(
        r"```|`|\d[.)]\s|\b(?:by|through|via|using|use|set|click|open|go|run|call|send|add|select|choose|create"
        r"|enter|press|configure|enable|pass|install|contact|first|then|steps?|when|with|can)\b|[^\x00-\u024f]{2}",
        re.IGNORECASE,
    ),
    "yes_no": re.compile(
        r"^\W*(?:yes|no|yeah|correct|right|true|false|absolutely|it depends|only|ja|nein|oui|non|sí|是|不|可以|有"
        r"|没有|はい|いいえ)(?:\b|(?<=[^\x00-\u024f]))"
        r"|\b(?:not|no|cannot|never|neither|only|also|all|both|any|can|may|is|are|does|do|has|have|was|were|will"
        r"|supports?|allows?|includes?)\b|n['’]t\b",
        re.IGNORECASE,
    ),
    "open": re.compile(r""),
}
_SHORT_WORDS: Final = 8
_NAME_WEIGHT: Final = 2
_LANGUAGE_WORDS: Final = 6  # hardly an English sentence of so many has no function word
_PHRASE_WORDS: Final = 3
_POINTING: Final = re.compile(r"\W*(?:yes|no|it|they|this|that|these|those|there|you|he|she|we|i)\b", re.IGNORECASE)
_MUCH: Final = 0.5
_SOME: Final = 0.3
_READ_CHARS: Final = 20_000  # of an answer: who has not come to the point by then does not


def asked_for(question: str) -> Asked:
    """Tell what kind of thing a question asks for.

    >>> asked_for("How long does Team keep events?"), asked_for("What is a workspace?")
    ('number', 'open')
    """
    # What stands first in a question says what it asks for.
    found = [(match.start(), asked) for asked, pattern in _ASKED if (match := pattern.search(question))]
    return min(found, key=lambda place: place[0])[1] if found else "open"


def content(text: str) -> frozenset[str]:
    """Give the stems that say something on their own.

    >>> sorted(content("How long does the Team plan keep events?"))
    ['event', 'keep', 'long', 'plan', 'team']
    """
    return frozenset(found for word in words(text[:_READ_CHARS]) if (found := stem(word.text)) not in STOP_STEMS)


def share_of(question: str, text: str) -> float | None:
    """Measure the share (0-1) of a question's content that stands in a text; names count twice. None: it has none.

    >>> share_of("How long does Team keep events?", "Team keeps its data")
    0.6
    """
    weights: dict[str, int] = {}
    for word in words(question):
        found = stem(word.text)
        if found in STOP_STEMS or found in LIGHT_STEMS:
            continue
        named = word.start > 0 and (word.text[:1].isupper() or "_" in word.text)
        weights[found] = max(weights.get(found, 1), _NAME_WEIGHT if named else 1)
    if not weights:
        return None
    said = content(text)
    return sum(weight for found, weight in weights.items() if found in said) / sum(weights.values())


def fits(question: str, text: str) -> bool:
    """Tell whether a text holds the kind of thing a question asks for.

    >>> fits("How long does Team keep events?", "7 days"), fits("How long does Team keep events?", "Events are kept")
    (True, False)
    """
    return _ANSWERS[asked_for(question)].search(text[:_READ_CHARS]) is not None


def addresses(question: str, said: str) -> Literal["ADDRESSES", "PARTLY", "OFF_TOPIC"]:
    """Judge what an answer states against its question.

    >>> addresses("How long does Team keep events?", "Events of Team are kept for 7 days.")
    'ADDRESSES'
    >>> addresses("How long does Team keep events?", "The API returns JSON, and every page of it has a cursor.")
    'OFF_TOPIC'
    """
    share = share_of(question, said)
    is_fit = fits(question, said)
    if share is None or _other_language(question, said):
        return "ADDRESSES" if is_fit else "PARTLY"
    if len(words(said[:_READ_CHARS])) <= _SHORT_WORDS:
        return _short(question, said, is_fit=is_fit, shares=share > 0)
    if share >= _MUCH or (share >= _SOME and is_fit):
        return "ADDRESSES" if is_fit else "PARTLY"
    return "PARTLY" if share > 0 and is_fit else "OFF_TOPIC"


def _short(question: str, said: str, *, is_fit: bool, shares: bool) -> Literal["ADDRESSES", "PARTLY", "OFF_TOPIC"]:
    """Judge a few words: a name may be written small, and a phrase may be a reason or a way."""
    if not shares and len(words(said)) > _PHRASE_WORDS and has_verb(said) and not _POINTING.match(said):
        return "OFF_TOPIC"  # a whole sentence with a subject of its own
    is_phrase = any(char.isalpha() for char in said)
    if is_fit or (asked_for(question) in {"name", "place"} and is_phrase):
        return "ADDRESSES"
    return "PARTLY" if shares or is_phrase else "OFF_TOPIC"


def _other_language(question: str, said: str) -> bool:
    """Tell an answer in another script or language, which cannot share its question's words."""
    if _mostly_ascii(question) != _mostly_ascii(said):
        return True
    asked, stated = ([stem(word.text) for word in words(text[:_READ_CHARS])] for text in (question, said))
    long_enough = min(len(asked), len(stated)) >= _LANGUAGE_WORDS
    return long_enough and STOP_STEMS.isdisjoint(asked) != STOP_STEMS.isdisjoint(stated)


def _mostly_ascii(text: str) -> bool:
    letters = [char for char in text[:2000] if char.isalpha()]
    return sum(char.isascii() for char in letters) * 2 >= len(letters)
