"""Where a statement says something else than a claim: another number, a denial, an opposite word."""

from collections.abc import Sequence
from typing import Final

from tasks.models.content import Content, Place
from tasks.models.lexicon import opposites
from tasks.text.quantities import KNOWN_UNITS, Number

_YEAR_DIGITS: Final = 4
_MOST_OF_IT: Final = 0.5


def holds(place: Place, number: Number) -> bool:
    """Whether a number stands in a place and counts the same there, as far as units are known."""
    return any(number.same(other) and not _units_differ(number, other) for other in place.content.numbers)


def is_other_number(number: Number, claimed: Sequence[Number], place: Place) -> bool:
    """Whether a place states another number of the claim's unit, or the same number of another unit.

    Not when the place holds a number of the claim with that unit: then it speaks of several.
    """
    there = place.content.numbers
    kind = _kind(number)
    alike = [other for other in there if _kind(other) == kind != ""]
    if alike:
        return not any(other.same(one) for other in alike for one in claimed)
    return any(number.same(other) and _units_differ(number, other) for other in there)


def is_denial(claim: Content, statement: Content) -> bool:
    """Whether one of the two denies what both speak of: most of that stands in the clause that is denied."""
    if claim.denies == statement.denies:
        return False
    denied = (*claim.negated, *statement.negated)
    if statement.is_answer or not any(one.reached for one in denied):
        return True
    both = claim.stems & statement.stems
    return any(one.reached & both and len(one.clause & both) >= _MOST_OF_IT * len(both) for one in denied)


def opposed_words(claim: Content, places: Sequence[Place]) -> frozenset[str]:
    """The words of a claim whose opposite stands in the places while they do not."""
    stems = frozenset(word for place in places for word in place.stems)
    return frozenset(
        word
        for word in claim.stems - stems
        if any(other in stems and other not in claim.stems for other in opposites(word))
    )


def _units_differ(one: Number, other: Number) -> bool:
    return one.unit != other.unit and one.unit in KNOWN_UNITS and other.unit in KNOWN_UNITS


def _kind(number: Number) -> str:
    """What a number counts; a bare one of four digits is a year."""
    if number.unit in KNOWN_UNITS:
        return number.unit
    digits = number.readings[0]
    return "year" if len(digits) == _YEAR_DIGITS and digits.startswith(("1", "20")) else number.unit
