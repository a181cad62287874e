"""What a statement says, as far as words show it: content, names, numbers, and what it denies."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tasks.models.lexicon import AFFIRMING_CELLS, DENYING_CELLS, DENYING_CHARACTERS, NEGATIONS, STOP_STEMS
from tasks.text.fold import Span
from tasks.text.quantities import Number, numbers
from tasks.text.statements import find_statements
from tasks.text.words import stem, words

_JOINTS: Final = frozenset({"", " ", "-"})
# How many content words a negation reaches: "not available on Starter", or "Starter unterstützt SSO nicht".
_SCOPE: Final = 3
_DIGIT: Final = re.compile(r"\d")
_DENYING: Final = re.compile(DENYING_CHARACTERS)
# "not only", "I'm not sure" and "no doubt" deny nothing.
_AFTER_NO_DENIAL: Final = frozenset(map(stem, ("only", "just", "merely", "sure", "doubt", "necessarily")))


class Token(NamedTuple):
    """A word as the judge compares it.

    Attributes:
        stem: Its stem; of a number, "#" and its value.
        start: Where it stands in the text.
        joined: Whether only a space or hyphen parts it from the word before.
        is_content: Whether it says something on its own.
        is_named: Whether it may be a name, by a capital or a digit: "Team", "v2", the "4" of "GPT-4".
        negation: Whether it denies.
        number: The number it is.
    """

    stem: str
    start: int
    joined: bool
    is_content: bool
    is_named: bool
    negation: bool
    number: Number | None


class Run(NamedTuple):
    """A name as it is written, words beside one another ("Team Plan"); `first` in its sentence."""

    stems: frozenset[str]
    first: bool


class Content(NamedTuple):
    """What one statement or claim says.

    Attributes:
        stems: Its content words.
        small: Those of them that are written without a capital or digit.
        runs: Those that may be names.
        numbers: Its numbers.
        negated: The content words a negation reaches.
        denies: Whether it holds a negation.
        is_answer: Whether it is a table cell that says yes or no.
    """

    stems: frozenset[str]
    small: frozenset[str]
    runs: tuple[Run, ...]
    numbers: tuple[Number, ...]
    negated: frozenset[str]
    denies: bool
    is_answer: bool


class Place(NamedTuple):
    """A statement of a passage.

    Attributes:
        passage: The passage's number, from 0.
        span: What to quote.
        text: All it says, parts and headings.
        content: What its parts say.
        under: The words of its headings.
        runs: The runs of parts and headings.
    """

    passage: int
    span: Span
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
    last = 0
    for word, start, end in words(text):
        number = by_start.get(start)
        compared = f"#{number.readings[0]}" if number else stem(word)
        negation = word.casefold().replace("’", "'") in NEGATIONS
        is_content = not negation and compared not in STOP_STEMS
        is_named = number is None and (word[0].isupper() or (not word.isalpha() and _DIGIT.search(word) is not None))
        joined = text[last:start] in _JOINTS
        read.append(Token(compared, start, joined, is_content, is_named, negation, number))
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
        negated=frozenset(word for at in cues for word in _reach(read, at)),
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


def find_places(passage: int, text: str) -> Iterator[Place]:
    """Read the statements of passage number `passage`, its words and numbers read once."""
    read = read_tokens(text, numbers(text))
    starts = [token.start for token in read]

    def within(start: int, end: int) -> list[Token]:
        return read[bisect_left(starts, start) : bisect_left(starts, end)]

    for statement in find_statements(text):
        start, end = statement.parts[-1]
        headings = [within(*span) for span in statement.under]
        under = frozenset(token.stem for heading in headings for token in heading if token.is_content)
        content = content_of([within(*part) for part in statement.parts], text[start:end])
        runs = (*content.runs, *find_runs(headings))
        said = "\n".join(text[a:b] for a, b in (*statement.parts, *statement.under))
        yield Place(passage, statement.span, said, content, under, runs)


def _denies_nothing(read: Sequence[Token], at: int) -> bool:
    return at + 1 < len(read) and read[at + 1].stem in _AFTER_NO_DENIAL


def _reach(read: Sequence[Token], at: int) -> list[str]:
    after = [token.stem for token in read[at + 1 : at + 1 + 2 * _SCOPE] if token.is_content]
    before = [token.stem for token in read[max(0, at - 2 * _SCOPE) : at] if token.is_content]
    return after[:_SCOPE] if after else before[-_SCOPE:]
