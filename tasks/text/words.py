"""Words and their stems, for search and for the offline seats, in any script."""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

import Stemmer

LANGUAGES: Final = frozenset(Stemmer.algorithms()) | {"none"}

# Scripts written without spaces have no word borders to find; pairs of neighbouring characters are the usual
# stand-in (bigrams, as Lucene's CJKAnalyzer makes them). Thai, Lao, Khmer and Burmese are treated alike.
_UNSPACED: Final = (
    r"\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0002fa1f"
)
# A word keeps an inner apostrophe, point or underscore ("don't", "v1.2.3", "max_events") and combining marks.
# Thousands separators stay inside a number ("10,000").
_WORD: Final = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|\d+(?:[.,]\d+)*(?:[^\W\d_{_UNSPACED}]+)?"
    rf"|(?:(?![{_UNSPACED}])[\w\u0300-\u036f\u0900-\u0dff\u0610-\u065f])+"
    rf"(?:['’.](?:(?![{_UNSPACED}])\w)+)*"
)
# The same for texts of ASCII only, which have no such scripts and no combining marks: three times as fast.
_ASCII_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*(?:[A-Za-z]+)?|\w+(?:['.]\w+)*", re.ASCII)
_UNSPACED_RUN: Final = re.compile(rf"[{_UNSPACED}]+")


class Word(NamedTuple):
    """A word as it stands: `text[start:end]`."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Find the words of a text, in order; a run without spaces gives its overlapping pairs of characters.

    >>> [word.text for word in words("Don't exceed 10,000 req/s on v1.2!")]
    ["Don't", 'exceed', '10,000', 'req', 's', 'on', 'v1.2']
    >>> [word.text for word in words("保留三天")]
    ['保留', '留三', '三天']
    """
    if text.isascii():
        return [Word(match.group(), *match.span()) for match in _ASCII_WORD.finditer(text)]
    found: list[Word] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if end - start > 2 and _UNSPACED_RUN.fullmatch(match.group()):
            found.extend(Word(text[at : at + 2], at, at + 2) for at in range(start, end - 1))
        else:
            found.append(Word(match.group(), start, end))
    return found


def stem(word: str, *, language: str = "english") -> str:
    """Fold a word's case and width and take its Snowball stem; "10,000" and "10000" become one.

    Args:
        word: One word.
        language: A Snowball algorithm, or "none" to keep the folded word. Words in another script than the
            language's come back folded only.

    >>> stem("Deliveries"), stem("10,000"), stem("Deliveries", language="none")
    ('deliveri', '10000', 'deliveries')
    """
    return _stem(word, language)


@lru_cache(maxsize=200_000)
def _stem(word: str, language: str) -> str:
    folded = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    if folded[:1].isdigit():
        return folded.replace(",", "")
    folded = folded.removesuffix("'s")
    return folded if language == "none" else _stemmer(language).stemWord(folded)


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


def stems(text: str, *, language: str = "english") -> list[str]:
    """Stems of all words of a text, in order, with repetitions.

    >>> stems("The retries' delays")
    ['the', 'retri', 'delay']
    """
    if text.isascii():
        return [_stem(piece, language) for piece in _ASCII_WORD.findall(text)]
    found: list[str] = []
    # The same cut as in words(), without the offsets.
    for piece in _WORD.findall(text):
        if len(piece) > 2 and piece[0] > "\u0dff" and _UNSPACED_RUN.fullmatch(piece):
            found.extend(_stem(piece[at : at + 2], language) for at in range(len(piece) - 1))
        else:
            found.append(_stem(piece, language))
    return found


class StemIds(dict[str, int]):
    """The number of each word's stem, for whole corpora; a word is stemmed once.

    Args:
        vocabulary: The number of each stem; new ones are added.
        language: As `stem` takes it.
    """

    def __init__(self, vocabulary: dict[str, int], *, language: str = "english") -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._language = language

    def __missing__(self, word: str) -> int:
        """Stem a word that was not seen yet."""
        stemmed = _stem(word, self._language)
        number = self[word] = self._vocabulary.setdefault(stemmed, len(self._vocabulary))
        return number

    def of(self, text: str) -> list[int]:
        """The numbers of a text's stems: `stems()`, as numbers.

        >>> seen: dict[str, int] = {}
        >>> StemIds(seen).of("retries retry"), seen
        ([0, 0], {'retri': 0})
        """
        if text.isascii():
            return [self[piece] for piece in _ASCII_WORD.findall(text)]
        return [self[word.text] for word in words(text)]
