"""Sentence ranges inside a stretch of text: the library `sentencex`, repaired where it errs on answers.

The repairs are small rules over its borders: add the ones it misses ("!!", "…", a stop in bold or brackets, a line
that ends), take out the false ones (abbreviations, "pandas.Series", a stop inside brackets), and let closing quotes
and citation markers stay with the sentence they end.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import sentencex

from tasks.text.abbreviations import (
    ABBREVIATIONS,
    BEFORE_NUMBER,
    LETTERED,
    MAYBE_LAST,
    STARTERS,
    TITLES,
)
from tasks.text.markers import find_addresses, find_code_spans, find_markers


class Sentence(NamedTuple):
    """Characters `start` to `end`, with the white space behind it."""

    start: int
    end: int


_STOPS: Final = ".!?…。！？؟۔।॥．｡"
_WIDE_STOPS: Final = "。！？｡؟۔।॥"
_CLOSERS: Final = "\"'”’»)]」』）】》"
_OPENERS: Final = "\"'“‘«([「『（【《¿¡"
_MISSED: Final = re.compile(
    rf"(?:(?:[!?…]+|\.{{3,}}|[.!?…][{re.escape(_CLOSERS)}]+|(?<=[a-z]{{3}})[.!?]|(?<=\d)[.!?%]?[.!?])\s+"
    rf"|(?P<wide>[{_WIDE_STOPS}]+[{re.escape(_CLOSERS)}]*)\s*|(?P<plain>(?<=\w)\.\s+|(?<=[a-z\d])\.(?=[A-Z])))(?=\S)"
)
_ENDS: Final = re.compile(rf"(?P<stop>[{_STOPS}]+)(?P<closers>[{re.escape(_CLOSERS)}]*)\s*$")
_GAP: Final = re.compile(r"[”’»)\]」』）】》]*\s*")  # a straight quote mark may open just as well
_LAST_TOKEN: Final = re.compile(r"[^\s(\[{\"“„/–—]*$")
_NEXT_WORD: Final = re.compile(r"[^\W\d_]+")
_UNIT: Final = re.compile(r"\d\s?[^\W\d_]{1,3}$")  # "5 s", "10GB", "3 min"
_LABEL: Final = re.compile(r"(?:(?P<stop>[.!?;])\s+|:\s+|^\s*)(?P<label>\(?\d{1,2}[.)])\s*$")  # an inline list's "2."
_LINE_END: Final = re.compile(r"\s*\n\s*")
_EMPHASIS: Final = re.compile(r"\*+|(?<![^\W_])_+|_+(?![^\W_])")
_LAST_STOP: Final = re.compile(rf"(?s:.*)(?:[.!?]\s|[{_WIDE_STOPS}])")
_PIECE_CHARS: Final = 4000
_WINDOW: Final = 60
_MAX_BRACKET: Final = 400
_WRAP_CHARS: Final = 40  # no text is wrapped at fewer columns

_MONTH: Final = re.compile(
    r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Quartal|Jahrhundert|Auflage|Klasse|Monat|Tag|Woche)"
)
_TORN_DECIMAL: Final = re.compile(r"\d+\s(?:[a-z]|°|%)")  # "9. 6 million"
_QUOTED_ON: Final = re.compile(r"[とっ的则則等、，,はがをのにもで]|然后|という")


def language_of(text: str) -> str:
    """Choose the language whose rules fit a text's script; "en" stands for every other one.

    >>> language_of("保留三天。"), language_of("これは三天。"), language_of("Drei Tage.")
    ('zh', 'ja', 'en')
    """
    if text.isascii():
        return "en"
    sample = text[:2000]
    counts = {
        "ja": len(re.findall(r"[\u3040-\u30ff]", sample)) * 5,  # kana are the mark of Japanese, kanji the bulk
        "zh": len(re.findall(r"[\u4e00-\u9fff]", sample)) * 2,
        "ar": len(re.findall(r"[\u0600-\u06ff]", sample)),
        "hi": len(re.findall(r"[\u0900-\u097f]", sample)),
        "en": len(re.findall(r"[A-Za-z]", sample)),
    }
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] else "en"


def find_sentences(text: str, *, markers: Sequence[tuple[int, int]] | None = None) -> list[Sentence]:
    """Cut a stretch into sentences; the ranges cover it without gaps, and an empty one has none.

    Args:
        text: A stretch of one block.
        markers: Ranges of its citation markers, where they are known already.

    >>> text = "It takes approx. 5 s. [1] Use e.g. v1.2.3!"
    >>> [text[a:b] for a, b in find_sentences(text)]
    ['It takes approx. 5 s. [1] ', 'Use e.g. v1.2.3!']
    """
    if not text:
        return []
    if markers is None:
        markers = [(marker.start, marker.end) for marker in find_markers(text)]
    masked = _masked(text, markers)
    lines = _line_borders(text)
    candidates = sorted({*_library_borders(masked), *_missed_borders(masked), *lines})
    kept = _kept(masked, candidates, frozenset(lines))
    borders = [0, *(_before_emphasis(text, at) for at in kept), len(text)]
    return [Sentence(start, end) for start, end in pairwise(sorted(set(borders)))]


def _masked(text: str, markers: Sequence[tuple[int, int]]) -> str:
    """Hide what only disturbs, at the same length: code and addresses become a word, markers and emphasis space."""
    pieces: list[tuple[int, int, str]] = []
    pieces.extend((a, b, "Q" + "q" * (b - a - 1)) for a, b in find_code_spans(text, 0, len(text)))
    pieces.extend((a, b, "Q" + "q" * (b - a - 1)) for a, b in find_addresses(text))
    for a, b in markers:
        pieces.append((a, b, "Q" + "q" * (b - a - 1) if _opens_line(text, a) else " " * (b - a)))
    parts: list[str] = []
    done = 0
    for a, b, filler in sorted(pieces):
        if a >= done:
            parts += [_without_emphasis(text[done:a]), filler]
            done = b
    parts.append(_without_emphasis(text[done:]))
    return "".join(parts)


def _opens_line(text: str, at: int) -> bool:
    line = text[max(0, at - _WINDOW) : at].rpartition("\n")
    return not line[2].strip() and (bool(line[1]) or at <= _WINDOW)


def _without_emphasis(text: str) -> str:
    return _EMPHASIS.sub(lambda match: " " * len(match.group()), text)


def _library_borders(masked: str) -> Iterator[int]:
    """Ask the library piece by piece: its time grows with the square of a text that is not ASCII."""
    done = 0
    while done < len(masked):
        end = len(masked)
        if end - done > _PIECE_CHARS:
            stop = _LAST_STOP.match(masked, done, done + _PIECE_CHARS)
            end = stop.end() if stop else done + _PIECE_CHARS
        piece = masked[done:end]
        for boundary in sentencex.get_sentence_boundaries(language_of(piece), piece):
            yield _behind_gap(masked, done + boundary["end_index"])
        done = end


def _missed_borders(masked: str) -> Iterator[int]:
    for match in _MISSED.finditer(masked):
        at = match.end()
        first = next((char for char in masked[at : at + 3] if char not in _OPENERS), "")
        if match["plain"]:
            word = _NEXT_WORD.match(masked, at)
            begins = word is not None and word.group().lower() in STARTERS
            if first.isupper() and (begins or _UNIT.search(masked[max(0, match.start() - _WINDOW) : match.start()])):
                yield at
        elif match["wide"] or (first.isalpha() and not first.islower()):
            yield at


def _behind_gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


def _line_borders(text: str) -> list[int]:
    """Find where a line's end ends a sentence: unless the text is wrapped at a width, or goes on in lower case."""
    gaps = [match for match in _LINE_END.finditer(text) if match.end() < len(text)]
    if not gaps:
        return []
    edges = [0, *(gap.end() for gap in gaps), len(text)]
    rows = [text[a:b].rstrip() for a, b in pairwise(edges)]
    width = max(map(len, rows))
    wrapped = width >= _WRAP_CHARS and all(
        len(row) + 1 + _first_word_chars(after) > width for row, after in pairwise(rows)
    )
    borders: list[int] = []
    for gap, (row, after) in zip(gaps, pairwise(rows), strict=True):
        ended = row.endswith((*_STOPS, ":", "：", ";", "；")) or _ENDS.search(row[-_WINDOW:]) is not None
        if ended or gap.group().count("\n") > 1 or not (wrapped or after[0].islower()):
            borders.append(gap.end())
    return borders


def _first_word_chars(line: str) -> int:
    word = line.split(maxsplit=1)[0]
    return len(word) if word.isascii() else 1  # scripts without spaces wrap anywhere


def _kept(masked: str, candidates: Sequence[int], lines: frozenset[int]) -> list[int]:
    brackets = _bracket_ranges(masked)
    kept: list[int] = []
    last = 0
    inside = 0
    for at in candidates:
        if not last < at < len(masked) or masked[last:at].isspace():
            continue
        while inside < len(brackets) and brackets[inside][1] <= at:
            inside += 1
        in_brackets = inside < len(brackets) and brackets[inside][0] < at
        opened_inside = in_brackets and bool(masked[last : brackets[inside][0]].strip())
        labelled = _label_before(masked, last, at)
        if labelled is not None and at not in lines:
            if labelled > last and not _is_false(masked, last, labelled):
                kept.append(labelled)
                last = labelled
        elif at in lines or not (opened_inside or _is_false(masked, last, at)):
            kept.append(at)
            last = at
    return kept


def _bracket_ranges(masked: str) -> list[tuple[int, int]]:
    """Find the outermost bracketed stretches; very long ones are taken for a bracket that was never closed."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in re.finditer(r"[()（）]", masked):
        if match.group() in "(（":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            if match.end() - start <= _MAX_BRACKET:
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, match.end()))
    return pairs


def _label_before(masked: str, last: int, at: int) -> int | None:
    """Find where an inline list's "2." in front of a border starts, unless it is the "5." of "Nr. 5."."""
    window = masked[max(last, at - _WINDOW) : at]
    label = _LABEL.search(window)
    if label is None:
        return None
    start = at - len(window) + label.start("label")
    found = _LAST_TOKEN.search(window[: label.start()])
    if label["stop"] and found and found.group().lower() in BEFORE_NUMBER | ABBREVIATIONS | MAYBE_LAST:
        return None
    return start


def _is_false(masked: str, last: int, at: int) -> bool:
    """Tell a border that is none: nothing ended there."""
    window = masked[max(last, at - _WINDOW) : at]
    ends = _ENDS.search(window)
    if ends is None:
        return True
    before, stop, closers = window[: ends.start()], ends["stop"], ends["closers"]
    if stop[-1] in _WIDE_STOPS:
        return bool(closers) and _QUOTED_ON.match(masked, at) is not None
    if not window[-1].isspace():
        return not _space_is_missing(before, masked, at, closers=closers, stop=stop)
    goes_on = masked[at].islower() and (closers or len(stop) > 1 or stop == "…")
    return bool(goes_on) or (stop == "." and _abbreviates(before, masked, at))


def _space_is_missing(before: str, masked: str, at: int, *, closers: str, stop: str) -> bool:
    """Tell "in seven days.The next" from "pandas.Series"."""
    word = _NEXT_WORD.match(masked, at)
    if word is None or not word.group()[0].isupper():
        return False
    token = _LAST_TOKEN.search(before)
    if closers or stop != "." or token is None:
        return True
    is_plain = token.group().replace(".", "").isdigit() or (token.group().isalpha() and token.group().islower())
    return is_plain and word.group().lower() in STARTERS


def _abbreviates(before: str, masked: str, at: int) -> bool:
    """Tell "approx. 5", "Dr. Smith" and "3. Oktober" from the end of a sentence."""
    found = _LAST_TOKEN.search(before)
    token = found.group() if found else ""
    lower = token.lower()
    word = _NEXT_WORD.match(masked, at)
    next_word = word.group() if word else ""
    if next_word[:1].isupper() and _UNIT.search(before):
        return False
    begins = next_word[:1].isupper() and next_word.lower() in STARTERS
    if lower in MAYBE_LAST:
        return not begins
    if token.isdigit():
        torn = len(token) <= 3 and _TORN_DECIMAL.match(masked, at) is not None
        return torn or (len(token) <= 2 and _MONTH.match(masked, at) is not None)
    return (
        lower in ABBREVIATIONS
        or (lower in TITLES and token[0].isupper())
        or (lower in BEFORE_NUMBER and masked[at].isdigit())
        or (len(token) == 1 and token.isalpha() and not begins and _is_initial(token, before, next_word, masked, at))
    )


def _is_initial(token: str, before: str, next_word: str, masked: str, at: int) -> bool:
    if token.islower():  # "d. h.", "u. a."
        return len(next_word) == 1 and masked[at + 1 : at + 2] == "."
    led_by = before[: -len(token)].split()[-1:]
    return bool(next_word) and not (led_by and led_by[0].lower() in LETTERED)


def _before_emphasis(text: str, at: int) -> int:
    """Give "**" back to the sentence it opens; at the end of one it stays there."""
    start = at
    while start > 0 and text[start - 1] in "*_":
        start -= 1
    return start if start > 0 and text[start - 1].isspace() else at
