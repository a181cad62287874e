"""Lines that state nothing themselves but are needed to read what stands below them: "The limits are:"."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from tasks.text import phrases
from tasks.text.blocks import Block
from tasks.text.clauses import has_verb, is_sentence
from tasks.text.words import words


class Intro(NamedTuple):
    """An intro and its level; blocks of a higher level are read with it, a heading only by short bullets."""

    text: str
    level: int
    is_heading: bool = False


_COLON: Final = re.compile(r"[:：]\W*$")
_STOPPED: Final = re.compile(r"[.!?;,。！？؟।][\"'”’»)\]]*$")
_BOLD_LINE: Final = re.compile(r"(?:\*\*|__)[^*_\n]{1,100}(?:\*\*|__)\s?[:：]?")
_NUMBERED: Final = re.compile(r"(?:step|part|option|phase|section|example)\s|\d+[.)]\s", re.IGNORECASE)
_LABEL_WORDS: Final = 6
_TITLE_WORDS: Final = 10
_LINE_WORDS: Final = 14
_LONG_WORDS: Final = 30


def level_of(block: Block) -> int:
    """Order paragraphs and items by nesting: a list stands below the paragraph before it."""
    return 2 * block.depth + (block.kind == "item")


def is_label(raw: str) -> bool:
    """Tell a line that is all bold, and no sentence.

    >>> is_label("**Retention:**"), is_label("**It is free.**")
    (True, False)
    """
    return _BOLD_LINE.fullmatch(raw) is not None and not _STOPPED.search(raw.strip("*_ "))


def leads_list(block: Block, following: Block | None, *, colon: bool) -> bool:
    """Tell whether the next block is an item below a block; after a colon, items beside it count as below."""
    if following is None or following.kind != "item":
        return False
    return level_of(following) > level_of(block) or (colon and level_of(following) == level_of(block))


def presents(seen: str, raw: str, block: Block, following: Block | None, *, next_line: str) -> bool:
    """Tell whether a sentence only presents what comes next.

    Args:
        seen: The sentence as read.
        raw: The same with its Markdown.
        block: The block it stands in.
        following: The block behind that one, if the sentence is the last of its own.
        next_line: What is to be read next, in this block or in the one behind it.
    """
    if following is None and not next_line:
        return False
    colon = has_colon(seen)
    announces = phrases.ANNOUNCING.search(seen) is not None
    stopped = _STOPPED.search(seen) is not None
    is_list = leads_list(block, following, colon=colon)
    if is_list and (colon or announces):
        return True
    if colon or announces:
        return _heads_lines(seen, next_line, colon=colon)
    if is_list and not stopped:
        return _n_words(seen) <= _LINE_WORDS if block.kind != "item" else _is_title(seen, _LABEL_WORDS)
    numbered = _NUMBERED.match(seen) is not None or not _has_digit(seen)
    return is_label(raw) and block.kind != "item" and numbered and _is_title(seen, _TITLE_WORDS)


def _heads_lines(seen: str, next_line: str, *, colon: bool) -> bool:
    """Tell whether a line only presents the lines, table or code below it, rather than states something."""
    if not colon:
        return _n_words(seen) <= _LINE_WORDS
    if phrases.PRESENTING.search(seen) or (
        not _has_digit(seen) and (_n_words(seen) <= _LABEL_WORDS or not has_verb(seen))
    ):
        return True
    # What is joined to the lines below is not lost; whole sentences below are read without it.
    return bool(next_line) and not is_sentence(next_line)


def _is_title(seen: str, most_words: int) -> bool:
    return _n_words(seen) <= most_words and not has_verb(seen)


def _n_words(text: str) -> int:
    return len(words(text[:400]))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def has_colon(seen: str) -> bool:
    """Tell whether a line ends in a colon.

    >>> has_colon("The limits are: **"), has_colon("The limits are")
    (True, False)
    """
    return _COLON.search(seen) is not None


def intro_text(seen: str) -> str:
    """Give a line the colon that its content is read behind.

    >>> intro_text("The limits are as follows."), intro_text("Team plan")
    ('The limits are as follows:', 'Team plan:')
    """
    return seen.rstrip(" :：.*_") + ":"


def joined(text: str, intros: Sequence[Intro]) -> str:
    """Put those intros in front that a bullet needs to be read on its own.

    >>> joined("10 requests per second", [Intro("The limits are:", 0)])
    'The limits are: 10 requests per second'
    >>> joined("The API allows ten requests per second.", [Intro("Here are the limits:", 0)])
    'The API allows ten requests per second.'
    """
    return " ".join([*(intro.text for intro in intros if _is_needed(intro, text)), text])


def _is_needed(intro: Intro, text: str) -> bool:
    if phrases.META_INTRO.search(intro.text) or any(p.fullmatch(intro.text) for p in phrases.LEADING_CLAUSES):
        return False
    whole = is_sentence(text)
    if intro.is_heading:
        return not whole and not _STOPPED.search(text) and not phrases.EMPTY_HEADING.match(intro.text)
    if not whole:
        return True
    return phrases.PRESENTING.search(intro.text) is None and _n_words(intro.text) <= _LONG_WORDS
