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
    n_words = len(words(seen[:400]))
    colon = has_colon(seen)
    announces = phrases.ANNOUNCING.search(seen) is not None
    has_number = any(map(str.isdigit, seen))
    if leads_list(block, following, colon=colon):
        if colon or announces:
            return True
        if not _STOPPED.search(seen):
            return n_words <= _LINE_WORDS if block.kind != "item" else n_words <= _LABEL_WORDS and not has_verb(seen)
    if is_label(raw) and block.kind != "item":
        is_title = not has_verb(seen) and (not has_number or _NUMBERED.match(seen) is not None)
        return n_words <= _TITLE_WORDS and (colon or is_title)
    if not colon:
        return announces and n_words <= _LINE_WORDS
    says_nothing = not has_number and (n_words <= _LABEL_WORDS or not has_verb(seen))
    # What is joined to the lines below is not lost; whole sentences below are read without it.
    return says_nothing or phrases.PRESENTING.search(seen) is not None or (bool(next_line) and not is_sentence(next_line))


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
    if phrases.META_INTRO.search(intro.text):
        return False
    whole = is_sentence(text)
    if intro.is_heading:
        return not whole and not _STOPPED.search(text) and not phrases.EMPTY_HEADING.match(intro.text)
    if not whole:
        return True
    return phrases.PRESENTING.search(intro.text) is None and len(words(intro.text[:400])) <= _LONG_WORDS
