"""What a statement says, as far as words show it: content, names, numbers, and what it denies."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tasks.models.lexicon import AFFIRMING_CELLS, DENYING_CELLS, DENYING_CHARACTERS, NEGATIONS, STOP_STEMS, same
from tasks.text.fold import Span
from tasks.text.quantities import Number, numbers
from tasks.text.statements import Statement, find_statements
from tasks.text.words import stem, words

# Passages of one corpus come again and again; an analysed one takes some hundred kilobytes.
_PASSAGES_KEPT: Final = 256
_JOINTS: Final = frozenset({"", " ", "-"})
# How many content words a negation reaches: "not available on Starter", or "Starter unterstützt SSO nicht".
_SCOPE: Final = 3
# A negation reaches no further than its clause.
_CLAUSE_END: Final = re.compile(r"[,;:.()–—]\s|\s[–—-]\s|[，；：。、]")
_YES_OR_NO: Final = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_DENYING: Final = re.compile(DENYING_CHARACTERS)
# "not only", "I'm not sure" and "no doubt" deny nothing.
_AFTER_NO_DENIAL: Final = frozenset(map(stem, ("but", "only", "just", "merely", "sure", "doubt", "necessarily")))


class Token(NamedTuple):
    """A word as the judge compares it.

    Attributes:
        stem: The stem for it and its equals; of a number, "#" and its value.
        start: Where it stands in the text.
        joined: Whether only a space or hyphen parts it from the word before.
        is_content: Whether it says something on its own.
        is_named: Whether it may be a name, by a capital or a digit: "Team", "v2", the "4" of "GPT-4".
        negation: Whether it denies.
        number: The number it is.
        clause: The number of its clause in the text.
    """

    stem: str
    start: int
    joined: bool
    is_content: bool
    is_named: bool
    negation: bool
    number: Number | None
    clause: int


class Run(NamedTuple):
    """A name as it is written, words beside one another ("Team Plan"); `first` in its sentence."""

    stems: frozenset[str]
    first: bool


class Denied(NamedTuple):
    """What one negation denies: the content words it reaches, and all those of its clause."""

    reached: frozenset[str]
    clause: frozenset[str]


class Content(NamedTuple):
    """What one statement or claim says.

    Attributes:
        stems: Its content words.
        small: Those of them that are written without a capital or digit.
        runs: Those that may be names.
        numbers: Its numbers.
        negated: What each of its negations denies.
        denies: Whether it holds a negation.
        is_answer: Whether it says yes or no, in a table cell or to a question over it.
    """

    stems: frozenset[str]
    small: frozenset[str]
    runs: tuple[Run, ...]
    numbers: tuple[Number, ...]
    negated: tuple[Denied, ...]
    denies: bool
    is_answer: bool


class Place(NamedTuple):
    """A statement of a passage.

    Attributes:
        passage: The passage's number, from 0.
        span: What to quote.
        sources: Its parts and headings.
        text: All it says, parts and headings.
        content: What its parts say.
        under: The words of its headings.
        runs: The runs of parts and headings.
    """

    passage: int
    span: Span
    sources: tuple[Span, ...]
    text: str
    content: Content
    under: frozenset[str]
    runs: tuple[Run, ...]

    @property
    def stems(self) -> frozenset[str]:
        """All words it may be understood by."""
        return self.content.stems | self.under


def read_tokens(text: str, stated: Iterable[Number]) -> list[Token]:
    """Read a text word by word, its numbers given."""
    by_start = {number.start: number for number in stated}
    read: list[Token] = []
    last = clause = 0
    for word, start, end in words(text):
        clause += _CLAUSE_END.search(text, last, start) is not None
        number = by_start.get(start)
        plain = stem(word)
        compared = f"#{number.readings[0]}" if number else plain if plain in STOP_STEMS else same(plain)
        negation = word.casefold().replace("’", "'") in NEGATIONS
        is_content = not negation and (number is not None or plain not in STOP_STEMS)
        is_named = number is None and (word[0].isupper() or (not word.isalpha() and _DIGIT.search(word) is not None))
        joined = text[last:start] in _JOINTS
        read.append(Token(compared, start, joined, is_content, is_named, negation, number, clause))
        last = end
    return read


def content_of(parts: Sequence[Sequence[Token]], text: str) -> Content:
    """Gather what a statement says; of a table cell, the last part is the cell itself.

    Args:
        parts: The tokens of each part.
        text: The parts' text, for what has no word borders; of a table cell, the cell's.
    """
    read = [token for part in parts for token in part]
    cell = text.strip(" \t*_`.").casefold() if len(parts) > 1 else ""
    cues = [at for at, token in enumerate(read) if token.negation and not _denies_nothing(read, at)]
    return Content(
        stems=frozenset(token.stem for token in read if token.is_content),
        small=frozenset(token.stem for token in read if token.is_content and not token.is_named),
        runs=find_runs(parts, labels=len(parts) > 1),
        numbers=tuple(token.number for token in read if token.number),
        negated=tuple(_denied(read, at) for at in cues),
        denies=bool(cues) or cell in DENYING_CELLS or _DENYING.search(text) is not None,
        is_answer=cell in AFFIRMING_CELLS or cell in DENYING_CELLS,
    )


def find_runs(parts: Iterable[Sequence[Token]], *, labels: bool = False) -> tuple[Run, ...]:
    """Find the runs of capitalised words and of words with digits.

    The capital of a sentence's first word may mean nothing, so that word is a run of its own. Labels (table
    cells, and headings of names only) are no sentences.
    """
    runs: list[Run] = []
    for part in parts:
        is_label = labels or all(token.is_named for token in part if token.is_content)
        gathered: list[str] = []
        for at, token in enumerate(part):
            named = token.is_content and token.is_named
            if gathered and not (named and token.joined):
                runs.append(Run(frozenset(gathered), first=False))
                gathered = []
            if named and at == 0 and not is_label:
                runs.append(Run(frozenset({token.stem}), first=True))
            elif named:
                gathered.append(token.stem)
        if gathered:
            runs.append(Run(frozenset(gathered), first=False))
    return tuple(runs)


def find_places(passage: int, text: str) -> list[Place]:
    """Read the statements of passage number `passage`."""
    return [place._replace(passage=passage) for place in _read_places(text)]


@lru_cache(maxsize=_PASSAGES_KEPT)
def _read_places(text: str) -> tuple[Place, ...]:
    return tuple(_places(text))


def _places(text: str) -> Iterator[Place]:
    """The statements of a passage, its words and numbers read once."""
    read = read_tokens(text, numbers(text))
    starts = [token.start for token in read]

    def within(start: int, end: int) -> list[Token]:
        return read[bisect_left(starts, start) : bisect_left(starts, end)]

    for statement in find_statements(text):
        start, end = statement.parts[-1]
        headings = [within(*span) for span in statement.under]
        content = content_of([within(*part) for part in statement.parts], text[start:end])
        if _answers(text, statement):
            content = content._replace(is_answer=True)
        sources = (*statement.parts, *statement.under)
        yield Place(
            passage=0,
            span=statement.span,
            sources=sources,
            text="\n".join(text[a:b] for a, b in sources),
            content=content,
            under=frozenset(token.stem for heading in headings for token in heading if token.is_content),
            runs=(*content.runs, *find_runs(headings)),
        )


def _answers(text: str, statement: Statement) -> bool:
    """Whether a sentence says yes or no to the question it stands under."""
    if len(statement.parts) > 1 or not statement.under:
        return False
    asked = text[slice(*statement.under[-1])].rstrip(" *_")
    return asked.endswith("?") and _YES_OR_NO.match(text, *statement.span) is not None


def _denies_nothing(read: Sequence[Token], at: int) -> bool:
    return at + 1 < len(read) and read[at + 1].stem in _AFTER_NO_DENIAL


def _denied(read: Sequence[Token], at: int) -> Denied:
    clause = [token for token in read if token.is_content and token.clause == read[at].clause]
    after = [token.stem for token in clause if read[at].start < token.start]
    before = [token.stem for token in clause if token.start < read[at].start]
    reached = after[:_SCOPE] if after else before[-_SCOPE:]
    return Denied(frozenset(reached), frozenset(token.stem for token in clause))
