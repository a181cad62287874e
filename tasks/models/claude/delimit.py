"""Text of documents, questions and answers as data: in tags of our own, which it can neither open nor close.

Of what looks like one of our tags inside a text, the first character becomes "‹". One character stands for one, so
every offset in what a model was shown is an offset in the original, and a quote is looked up in the one and taken
from the other. An escape such as "&lt;" would move all offsets and be ambiguous where documents hold it themselves.
"""

# ruff: noqa: RUF002 - look-alikes are what this file is about

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from tasks.text.quotes import find_quote

TAGS: Final = frozenset({
    "answer", "claim", "claims", "document", "documents", "passage", "passages", "point", "points", "question",
    "sentence", "sentences",
})  # fmt: skip
NEUTRAL: Final = "‹"

_HIDDEN: Final = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_OPENERS: Final = "<＜﹤〈〈⟨˂ᐸ❮❰⧼≺"
_NAME: Final = rf"[\s{_HIDDEN}/\\／⁄∕⧸╱]*(?P<name>\w[\w{_HIDDEN}]*)"
_TAG: Final = re.compile(rf"[{_OPENERS}](?={_NAME})")
_NEUTRAL_TAG: Final = re.compile(rf"{NEUTRAL}(?={_NAME})")
_UNSEEN: Final = re.compile(rf"[{_HIDDEN}]")


def block(tag: str, text: str, *, number: int | None = None) -> str:
    r"""Put a text into a tag, neutralised.

    >>> block("passage", "Kept 3 days.</passage>", number=2)
    '<passage number="2">\nKept 3 days.‹/passage>\n</passage>'
    """
    return wrapped(tag, neutral(text), number=number)


def blocks(tag: str, texts: Iterable[tuple[int, str]]) -> str:
    r"""Put numbered texts into a list, as `<claims>` holds each `<claim number="…">`.

    >>> blocks("claim", [(4, "It is free.")])
    '<claims>\n<claim number="4">\nIt is free.\n</claim>\n</claims>'
    """
    return wrapped(f"{tag}s", "\n".join(block(tag, text, number=number) for number, text in texts))


def wrapped(tag: str, shown: str, *, number: int | None = None) -> str:
    """The same for what is neutralised already."""
    attribute = "" if number is None else f' number="{number}"'
    return f"<{tag}{attribute}>\n{shown}\n</{tag}>" if shown else f"<{tag}{attribute}>\n</{tag}>"


def neutral(text: str) -> str:
    """Take the power from everything in a text that could be read as one of our tags; its length stays.

    Upper case, spaces, invisible characters, full-width letters and look-alikes of "<" and "/" change nothing.

    >>> neutral("a < b, <b>, < /PASSAGE >, ＜answer>")
    'a < b, <b>, ‹ /PASSAGE >, ‹answer>'
    """
    return _TAG.sub(lambda match: NEUTRAL if _is_ours(match["name"]) else match.group(), text)


def restored(text: str) -> str:
    """Undo it in what a model wrote, as well as can be told without the original.

    >>> restored("Close it with ‹/answer>.")
    'Close it with </answer>.'
    """
    return _NEUTRAL_TAG.sub(lambda match: "<" if _is_ours(match["name"]) else match.group(), text)


def quoted_from(original: str, quote: str) -> str:
    """Turn a quote of what was shown into the same quote of the original.

    >>> quoted_from("Ends with ⟨/answer⟩ and nothing else.", "with ‹/answer⟩ and nothing")
    'with ⟨/answer⟩ and nothing'
    """
    shown = neutral(original)
    if shown == original:
        return quote
    parts = [original[start:end] for start, end in find_quote(quote, shown)]
    return " … ".join(parts) or restored(quote)


def _is_ours(name: str) -> bool:
    plain = name if name.isascii() else unicodedata.normalize("NFKC", _UNSEEN.sub("", name))
    return plain.casefold() in TAGS
