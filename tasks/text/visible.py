"""Text of documents and answers made safe to show: it may hold terminal codes, and it must not act."""

import re
from typing import Final

_ACTIVE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    r"""Spell out control characters and those that turn the direction of text; line ends and tabs stay.

    >>> visible("red \x1b[31m alert")
    'red \\x1b[31m alert'
    """
    return _ACTIVE.sub(_spelled, text)


def one_line(text: str, *, most: int | None = None) -> str:
    r"""The same on one line, cut with an ellipsis after `most` characters.

    >>> one_line("a\n  b", most=80), one_line("abcdef", most=4)
    ('a b', 'abc…')
    """
    flat = visible(" ".join(text.split()))
    return flat if most is None or len(flat) <= most else flat[: most - 1] + "…"


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == ord("\r"):
        return ""
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"
