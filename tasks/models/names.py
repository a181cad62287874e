"""Names as capitals and digits show them, and whether a statement speaks of another name than a claim."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from tasks.models.content import Content, Place, Run
from tasks.models.lexicon import CALENDAR_STEMS

# German writes every noun with a capital. Two of its commonest words tell it well enough.
_GERMAN: Final = frozenset("der und ist nicht mit für wird werden ein eine im auf".split())  # noqa: SIM905
_TELLING: Final = 2
_BEGINS_WITH_PRONOUN: Final = re.compile(
    r"\W*(?:it|they|he|she|this|that|these|those|its|their|his|her|we|you|i)\b", re.IGNORECASE
)
_SHORTEST: Final = 3
_ROOT: Final = 4
_MOST_MORE_WORDS: Final = 3

Name = frozenset[str]


class Swap(NamedTuple):
    """A statement that has other names than a claim: those it lacks, and whether only the subject tells."""

    missing: frozenset[str]
    by_subject: bool


class Names:
    """Which capitalised words of some passages are names: those that are not as often written small."""

    def __init__(self, contents: Collection[Content]) -> None:
        self._small = Counter(word for content in contents for word in content.small)
        runs = [run for content in contents for run in content.runs]
        self._inner = Counter(word for run in runs if not run.first for word in run.stems)
        self._first = Counter(word for run in runs if run.first for word in run.stems)
        self._nouns_too = sum(word in self._small for word in _GERMAN) >= _TELLING

    def swap(self, claim: Content, held: Collection[str], place: Place) -> Swap | None:
        """Find whether a statement lacks a name of a claim and has one that the claim does not state.

        A shorter or a longer form is the same name: "Obama" for "Barack Obama". Of a capital that only begins
        a sentence one cannot tell, unless both have one there. A statement that begins with "it" or "they"
        speaks of something named before.

        Args:
            claim: The claim.
            held: The words of the claim that the statement and its headings hold.
            place: The statement.
        """
        if _BEGINS_WITH_PRONOUN.match(place.text):
            return None
        there = [name for run in place.runs if (name := self._sure(run))]
        claimed = [name for run in claim.runs if (name := self._claimed(run))]
        missing = [name for name in claimed if not _is_held(name, held, there)]
        foreign = [name for name in there if name - claim.stems and not any(_is_longer(name, one) for one in claimed)]
        if len(missing) == len(foreign) == 1 if self._nouns_too else missing and foreign:
            return Swap(frozenset[str]().union(*missing), by_subject=False)
        subject, other = _first(claim.runs), _first(place.content.runs)
        unlike = not subject & frozenset(held) and not other & claim.stems
        if subject and other and unlike and len(place.content.stems - claim.stems) <= _MOST_MORE_WORDS:
            return Swap(subject, by_subject=True)
        return None

    def _sure(self, run: Run) -> Name:
        return _named(word for word in run.stems if self._inner[word] > self._small[word])

    def _claimed(self, run: Run) -> Name:
        if not run.first:
            return _named(run.stems)
        return _named(
            word
            for word in run.stems
            if self._inner[word] > self._small[word] or (self._first[word] and not self._small[word])
        )


def _named(found: Iterable[str]) -> Name:
    """What is left of a run without dates and initials; bare digits name nothing."""
    name = frozenset(word for word in found if word not in CALENDAR_STEMS and _is_telling(word))
    return frozenset() if all(word.isdigit() for word in name) else name


def _is_telling(word: str) -> bool:
    return sum(char.isalpha() for char in word) >= _SHORTEST or any(char.isdigit() for char in word)


def _first(runs: Sequence[Run]) -> Name:
    return _named(runs[0].stems) if runs and runs[0].first else frozenset()


def _is_longer(name: Name, one: Name) -> bool:
    """Whether a name is a longer form of one, and not a version or model of it ("API v2" for "API")."""
    return one <= name and not any(char.isdigit() for word in name - one for char in word)


def _is_held(name: Name, held: Collection[str], there: Sequence[Name]) -> bool:
    missing = name.difference(held)
    if len(missing) * 2 < len(name) or any(name & other and other <= name for other in there):
        return True
    roots = {_root(word) for other in there for word in other}
    return all(_root(word) in roots for word in missing)


def _root(word: str) -> str:
    """The beginning that "Noel" shares with "Noël", and "Europe" with "European"."""
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain[:_ROOT]
