"""Numbers and their units as texts write them: "10,000", "10000", "10k" and "ten thousand" are one number."""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from tasks.text.words import stem

# fmt: off
_ONES: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
                 "eighteen", "nineteen")
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# "First" and "second" are left out: they mostly order a text, or are a unit.
_ORDINALS: Final = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
                    "twelfth")
# fmt: on
_VALUES: Final = (
    {word: value for value, word in enumerate(_ONES + _TEENS)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
    | {word: value for value, word in enumerate(_ORDINALS, start=3)}
    | {han: value for value, han in enumerate("零一二三四五六七八九")}
    | {"两": 2, "兩": 2}
)
_SCALES: Final = {
    scale: 10**exponent
    for exponent, scales in {
        2: "hundred 百",
        3: "k thousand 千",
        4: "万 萬",
        5: "lakh",
        6: "million millionen mio mn",
        7: "crore",
        8: "亿 億",
        9: "billion bn",
        12: "trillion",
    }.items()
    for scale in scales.split()
}
_UNITS: Final = {
    alias: unit
    for unit, aliases in {
        "%": "% ％ percent pct prozent",
        "$": "$ dollar usd buck",
        "€": "€ euro eur",
        "£": "£ gbp",
        "¥": "¥ yen jpy 円 元 yuan cny",
        "₹": "₹ rupe inr",
        "millisecond": "millisecond ms 毫秒",
        "second": "second s sec sekund 秒",
        "minute": "minut min 分钟 分",
        "hour": "hour h hr stund stunden 小时 小時 時間",
        "day": "day d tag tage tagen 天 日",
        "week": "week wk woch wochen 周 週",
        "month": "month mo monat monaten 个月 個月 か月 ヶ月 月",
        "year": "year yr y jahr jahren 年",
        "kb": "kb kib kilobyt",
        "mb": "mb mib megabyt",
        "gb": "gb gib gigabyt",
        "tb": "tb tib terabyt",
        "metre": "m metr meter",
        "kilometre": "km kilometr kilomet",
        "mile": "mile mi",
        "foot": "ft foot feet",
        "kilogram": "kg kilogram",
        "gram": "g gram",
        "pound": "lb lbs pound",
    }.items()
    for alias in aliases.split()
}
KNOWN_UNITS: Final = frozenset(_UNITS.values())

_LETTERS: Final = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_HAN_UNITS: Final = "毫秒|秒|分钟|分|小时|小時|時間|天|日|周|週|个月|個月|か月|ヶ月|月|年|円|元"
_SPELLED: Final = rf"(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:])}))?|{'|'.join(_ONES + _TEENS + _ORDINALS)}"
_DIGITS: Final = r"\d{1,3}(?:[,'’_ \u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*"
_UNIT: Final = rf"per ?cent|{_HAN_UNITS}|[%％€£¥₹]|[^\W\d_\u3040-\u9fff]{{1,20}}"
_NUMBER: Final = re.compile(
    rf"(?:(?P<word>{_SPELLED})(?!\w)"
    # A digit in a name ("SHA256", "v1.2", "GPT-4") counts nothing.
    rf"|(?P<name>[{_LETTERS}_]\w*(?:[.-]\d+)*)"
    rf"|(?:(?P<sign>[$€£¥₹]) ?)?(?P<digits>{_DIGITS})"
    rf"|(?P<han>[零一二两兩三四五六七八九])(?={_HAN_UNITS}))"
    rf"(?:[ \u00a0-]?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})(?![{_LETTERS}]))?"
    rf"(?=[ \u00a0-]?(?:(?:business|working|calendar)[ -])?(?P<unit>{_UNIT}))?",
    re.IGNORECASE,
)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[,'’_ \u00a0\u202f]\d{3})+(?:\.\d+)?")
_NOT_CLAIMED: Final = re.compile(r"\[\^?\d[\d,\s–-]*\]|^\s*\d{1,2}[.)]\s")
# Longer ones are compared as they stand: they are identifiers, and arithmetic on them would take its time.
_LONGEST_SCALED: Final = 30
_COUNTS: Final = frozenset(str(value) for value in range(11))


class Number(NamedTuple):
    """A number of a text.

    Attributes:
        readings: What it may stand for, as plain decimals ("1.500" is 1.5, or 1500 in German).
        unit: The word or sign it counts, stemmed ("day" for "3-Day", "%" for "5 per cent"), or "".
        start: Where its first digit or letter stands in the text.
        spelled: Whether it is written in letters.
    """

    readings: tuple[str, ...]
    unit: str
    start: int
    spelled: bool

    def same(self, other: "Number") -> bool:
        """Whether both may stand for one number, whatever they count."""
        return any(reading in other.readings for reading in self.readings)


def numbers(text: str) -> list[Number]:
    """Find the numbers of a text, in order; "one" only where it counts a known unit.

    >>> [(number.readings, number.unit) for number in numbers("10,000 events in three days, $5k on v1.2")]
    [(('10000',), 'event'), (('3',), 'day'), (('5000',), '$')]
    """
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        if match["name"]:
            continue
        unit = _unit(match["sign"] or match["unit"] or "")
        spelled = match["word"] or match["han"]
        if spelled and _value(spelled) == "1" and unit not in KNOWN_UNITS:
            continue
        readings = _readings(match["digits"]) if match["digits"] else (_value(spelled),)
        if match["scale"]:
            readings = tuple(_scaled(reading, _SCALES[match["scale"].casefold()]) for reading in readings)
        start = match.start("digits") if match["digits"] else match.start()
        found.append(Number(readings, unit, start, spelled=match["digits"] is None))
    return found


def claimed_numbers(claim: str) -> list[Number]:
    """The numbers a claim states, which its evidence has to hold.

    None are citation markers, a leading list number, and a number up to ten in letters that counts no known
    unit: in "two plans, Team and Enterprise" it is the writer's own count.

    >>> [number.readings for number in claimed_numbers("2. Two logs are kept for 30 days [1, 3].")]
    [('30',)]
    """
    return [
        number
        for number in numbers(_NOT_CLAIMED.sub(lambda match: " " * len(match.group()), claim))
        if not number.spelled or number.unit in KNOWN_UNITS or number.readings[0] not in _COUNTS
    ]


def _value(spelled: str) -> str:
    return str(sum(_VALUES[part] for part in re.split("[- ]", spelled.casefold())))


def _readings(digits: str) -> tuple[str, ...]:
    plain = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in digits)
    if _GROUPED.fullmatch(plain):
        return (_canonical(re.sub(r"[^\d.]", "", plain)),)
    if "," in plain and "." in plain:
        thousands = "," if plain.rindex(",") < plain.rindex(".") else "."
        return (_canonical(plain.replace(thousands, "").replace(",", ".")),)
    read = _canonical(plain.replace(",", "."))
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", plain):
        return (read, _canonical(plain.replace(".", "")))
    return (read,)


def _canonical(decimal: str) -> str:
    if decimal.count(".") > 1:
        return decimal
    whole, point, fraction = decimal.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + fraction if fraction else "")


def _scaled(reading: str, scale: int) -> str:
    if len(reading) > _LONGEST_SCALED or reading.count(".") > 1:
        return reading
    return _canonical(format(Decimal(reading) * scale, "f"))


@lru_cache(maxsize=10_000)
def _unit(word: str) -> str:
    folded = stem(word.replace(" ", ""))
    return _UNITS.get(folded, folded)
