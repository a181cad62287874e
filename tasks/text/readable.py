"""A stretch of Markdown as a person reads it: without emphasis, link targets, tags and line breaks."""

import re
from typing import Final

from tasks.text.markers import find_code_spans, find_links

_TAG: Final = re.compile(
    r"</?(?:br|hr|b|i|u|em|strong|p|div|span|ul|ol|li|details|summary|sup|sub|small|a|kbd|mark|center|font)"
    r"(?:\s[^<>]{0,200})?\s?/?>",
    re.IGNORECASE,
)
_STARS: Final = re.compile(r"(?<![\s\\*])\*{1,3}|\*{1,3}(?![\s*])|~~")
_UNDERSCORES: Final = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_ENTITY: Final = {"&nbsp;": " ", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'"}
_ENTITIES: Final = re.compile("|".join(map(re.escape, _ENTITY)))
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])")
_SPACED_STOP: Final = re.compile(r"\s+([,;:!?.。，；：！？、]+)(?=\s|$)")
_WORDY: Final = re.compile(r"[^\W_]")
_MARKUP: Final = re.compile(r"[*_~`<&\\]|\]\(")
_SPACE: Final = re.compile(r"\s+")


def readable(markdown: str) -> str:
    r"""Give the words of a stretch on one line; inline code keeps its backticks and is not touched.

    >>> readable("Keep **7 days**, see [the\ndocs](a.md) and `x*y*z`.")
    'Keep 7 days, see the docs and `x*y*z`.'
    """
    if not _MARKUP.search(markdown):
        return _SPACED_STOP.sub(r"\1", " ".join(markdown.split()))
    text = _without_links(markdown) if "](" in markdown else markdown
    parts: list[str] = []
    done = 0
    for start, end in find_code_spans(text, 0, len(text)):
        parts += [_plain(text[done:start]), text[start:end]]
        done = end
    parts.append(_plain(text[done:]))
    return _SPACED_STOP.sub(r"\1", _SPACE.sub(" ", "".join(parts))).strip()


def has_words(markdown: str) -> bool:
    """Tell whether anything is left to read besides tags and punctuation.

    >>> has_words("**<br>** —"), has_words("7")
    (False, True)
    """
    return _WORDY.search(_TAG.sub("", markdown) if "<" in markdown else markdown) is not None


def _without_links(text: str) -> str:
    parts: list[str] = []
    done = 0
    for link in find_links(text):
        parts += [text[done : link.start], text[link.text_start : link.text_end]]
        done = link.end
    return "".join([*parts, text[done:]])


def _plain(text: str) -> str:
    text = _TAG.sub(" ", text) if "<" in text else text
    text = _STARS.sub("", text) if "*" in text or "~~" in text else text
    text = _UNDERSCORES.sub("", text) if "_" in text else text
    text = _ESCAPED.sub(r"\1", text) if "\\" in text else text
    return _ENTITIES.sub(lambda match: _ENTITY[match.group()], text) if "&" in text else text
