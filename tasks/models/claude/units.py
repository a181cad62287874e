"""An answer cut into numbered sentences, as a reader is shown it and refers to it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple

from schemas.answer import NonClaimKind
from tasks.models.claude.delimit import neutral, wrapped
from tasks.text.blocks import Block, find_blocks
from tasks.text.masking import citation_ranges, masked, without_quote_marks
from tasks.text.readable import has_words
from tasks.text.sentences import find_sentences

_TEXT_KINDS: Final = frozenset({"paragraph", "item", "quote", "heading"})


class Unit(NamedTuple):
    """A sentence, heading, table row or code block: characters `start` to `end` of the answer.

    Attributes:
        number: From 1, in the order of the answer.
        opens: Whether it is the first of its block: where a long answer may be cut.
    """

    number: int
    start: int
    end: int
    opens: bool


@dataclass(frozen=True)
class Numbered:
    """An answer with its units, and what can be told without a reader.

    Attributes:
        units: All that could state something, in order.
        citations: Ranges of the citation markers, in order.
        plain: The answer with its citations blank, at the same length.
        rest: What states nothing for certain: headers of tables, fences of code.
    """

    text: str
    units: tuple[Unit, ...]
    citations: tuple[tuple[int, int], ...]
    plain: str
    rest: tuple[tuple[NonClaimKind, int, int], ...]

    def shown(self) -> str:
        """The answer in its tag, each unit in a numbered tag of its own.

        >>> print(number_sentences("- It is free. [1]").shown())
        <answer>
        - <sentence number="1">It is free. [1]</sentence>
        </answer>
        """
        # Neutralised as a whole: a tag may not come together from two sentences either. Offsets stay.
        text = neutral(self.text)
        parts: list[str] = []
        done = 0
        for unit in self.units:
            parts += [text[done : unit.start], f'<sentence number="{unit.number}">', text[unit.start : unit.end]]
            parts.append("</sentence>")
            done = unit.end
        return wrapped("answer", "".join([*parts, text[done:]]))

    def outside_citations(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of a range between its citations, trimmed; none of them is empty."""
        at = start
        first = bisect_right(self.citations, start, key=itemgetter(1))
        last = bisect_left(self.citations, end, key=itemgetter(0))
        for a, b in [*self.citations[first:last], (end, end)]:
            piece = self.text[at : max(at, a)]
            if piece.strip():
                yield at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())
            at = max(at, b)


def number_sentences(text: str) -> Numbered:
    r"""Cut an answer into units; list items are cut into sentences, a table's row and a block of code are one unit.

    >>> text = "Two limits:\n- 10 a second. Bursts: 50.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    >>> [text[unit.start:unit.end] for unit in number_sentences(text).units]
    ['Two limits:', '10 a second.', 'Bursts: 50.', '| 1 | 2 |']
    """
    blocks = find_blocks(text)
    citations = tuple(citation_ranges(text, blocks))
    quoteless = without_quote_marks(text, blocks)
    visible = masked(quoteless, blocks, citations)
    units: list[Unit] = []
    rest: list[tuple[NonClaimKind, int, int]] = []
    for found in blocks:
        opens = True
        for start, end in _ranges(found, quoteless, visible, citations):
            units.append(Unit(len(units) + 1, start, end, opens))
            opens = False
        rest += [("heading", start, end) for start, end in _frame(found, is_empty=opens)]
    return Numbered(text, tuple(units), citations, _blanked(text, citations), tuple(rest))


def _ranges(
    found: Block, quoteless: str, visible: str, citations: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    start, end = found.body_start, found.body_end
    if found.kind in _TEXT_KINDS:
        body = quoteless[start:end]
        markers = [(a - start, b - start) for a, b in citations if start <= a and b <= end]
        for a, b in find_sentences(body, markers=markers):
            sentence = start + a, start + a + len(body[a:b].rstrip())
            if has_words(visible[slice(*sentence)]):
                yield sentence
    elif found.kind == "code":
        code = quoteless[start:end]
        if code.strip():
            yield start + len(code) - len(code.lstrip()), start + len(code.rstrip())
    elif found.kind == "row" and has_words(visible[found.start : found.end]):
        yield found.start, found.end


def _frame(found: Block, *, is_empty: bool) -> Iterator[tuple[int, int]]:
    if found.kind in {"header_row", "delimiter_row"} or (found.kind in {"row", "code"} and is_empty):
        yield found.start, found.end
    elif found.kind == "code":
        yield found.start, found.body_start
        yield found.body_end, found.end


def _blanked(text: str, citations: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in citations:
        parts += [text[done:start], " " * (end - max(done, start))]
        done = max(done, end)
    return "".join([*parts, text[done:]])
