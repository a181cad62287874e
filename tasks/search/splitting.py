"""Splitting documents into chunks that keep their offsets: every chunk equals its slice of the document."""

from collections.abc import Iterator
from importlib.metadata import version
from itertools import pairwise
from typing import Final, assert_never

from markdown_it import MarkdownIt
from semantic_text_splitter import MarkdownSplitter

from schemas.document import Chunk
from schemas.setup import SplitByHeading, SplitByTokens, SplitNot
from tasks.text.tokens import BYTES_PER_TOKEN, count_tokens

# The splitter takes quadratic time on text without borders, so a very long document is handed over in
# stretches, each ending at the last good border before this many characters.
_STRETCH: Final = 100_000


def splitter_version() -> str:
    """What chunk borders depend on beside text and settings; a part of the chunks' key."""
    return f"semantic-text-splitter {version('semantic-text-splitter')}, markdown-it-py {version('markdown-it-py')}"


def split(text: str, settings: SplitByTokens | SplitByHeading | SplitNot) -> list[Chunk]:
    r"""Split a document, in reading order; white space between chunks belongs to none.

    A document without text gives no chunk.

    >>> text = "# A\n\nOne.\n\n# B\n\nTwo."
    >>> [text[chunk.start : chunk.end] for chunk in split(text, SplitByHeading(by="heading"))]
    ['# A\n\nOne.', '# B\n\nTwo.']
    """
    match settings:
        case SplitByTokens():
            borders = _by_tokens(text, settings)
        case SplitByHeading():
            borders = _by_heading(text, settings.max_level)
        case SplitNot():
            borders = iter([(0, len(text))])
        case _:
            assert_never(settings)
    return [
        Chunk(start=start, end=end, n_tokens=count_tokens(text[start:end]))
        for start, end in (_trimmed(text, start, end) for start, end in borders)
        if start < end
    ]


def _by_tokens(text: str, settings: SplitByTokens) -> Iterator[tuple[int, int]]:
    for base, stretch in _stretches(text):
        if stretch.isascii():
            # One character is one byte, so tokens turn into characters and the splitter counts by itself.
            size, overlap = settings.max_tokens * BYTES_PER_TOKEN, settings.overlap_tokens * BYTES_PER_TOKEN
            splitter = MarkdownSplitter(size, overlap=overlap)
        else:
            splitter = MarkdownSplitter.from_callback(
                count_tokens, settings.max_tokens, overlap=settings.overlap_tokens
            )
        for offset, chunk in splitter.chunk_indices(stretch):
            yield base + offset, base + offset + len(chunk)


def _stretches(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = min(start + _STRETCH, len(text))
        if end < len(text):
            middle = start + _STRETCH // 2
            for border in ("\n# ", "\n## ", "\n\n", "\n", " "):
                found = text.rfind(border, middle, end)
                if found > 0:
                    end = found + 1
                    break
        yield start, text[start:end]
        start = end


def _by_heading(text: str, max_level: int) -> Iterator[tuple[int, int]]:
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    starts = [
        lines[token.map[0]]
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map and int(token.tag[1]) <= max_level
    ]
    borders = [0, *(start for start in starts if start), len(text)]
    return iter(pairwise(borders))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return begin, max(begin, start + len(piece.rstrip()))
