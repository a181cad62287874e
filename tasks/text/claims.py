"""An answer as claims and declared non-claims; every character belongs to exactly one of them.

White space and layout (bullets, emphasis at an edge, tags, rules) outside the claims is a non-claim of kind "space".
A claim's stretches are trimmed and leave its citation markers out, so a marker inside a sentence makes two stretches.
"""

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.answer import Claim, NonClaim, NonClaimKind, Stretch
from tasks.text import phrases
from tasks.text.blocks import QUOTE_MARK, Block, cells, find_blocks
from tasks.text.clauses import Part, cut_sentence, is_fragment, is_yes_or_no, not_covered, with_shared
from tasks.text.intros import Intro, has_colon, intro_text, is_label, joined, leads_list, level_of, presents
from tasks.text.masking import citation_ranges, masked, without_quote_marks
from tasks.text.readable import has_words, readable
from tasks.text.sentences import find_sentences


class Split(NamedTuple):
    """What an answer states, and the rest of it."""

    claims: tuple[Claim, ...]
    non_claims: tuple[NonClaim, ...]


_TEXT_KINDS: Final = frozenset({"paragraph", "item", "quote"})
_TABLE_KINDS: Final = frozenset({"header_row", "delimiter_row", "row"})
_SOURCE_NOTE: Final = re.compile(
    r"\W{0,5}(?:sources?|references?|citations?|quellen?|fuentes?|参考|来源|出典)\W{0,3}[:：]", re.IGNORECASE
)
_DEFINITION: Final = re.compile(r"\[\^?[\w.-]{1,40}\]:\s*\S")
_LISTED_SOURCE: Final = re.compile(r"\W*(?:\[|https?:|www\.|\d+[.)\]])")
_PRONOUN: Final = re.compile(r"(?:\w+,?\s)?(?:it|they)\b", re.IGNORECASE)
_MERGED_CHARS: Final = 300  # a claim takes fragments in up to here, or a text of nothing else would be one claim
_EDGE: Final = " \t;；"


@dataclass
class _Said:
    """A claim in the making. `sentence` is its number in its block; `intro` what its own block leads it in with."""

    text: str
    ranges: list[tuple[int, int]]
    sentence: int = 0
    intro: str = ""
    opens_line: bool = False
    is_label: bool = False

    def append(self, other: "_Said") -> None:
        self.text = f"{self.text} {other.text}"
        self.ranges += other.ranges

    def lead(self, other: "_Said") -> None:
        """Hand itself over to the claim behind it."""
        colon = ":" if other.opens_line and self.text[-1:].isalnum() else ""
        other.text = f"{self.text}{colon} {other.text}"
        other.ranges = self.ranges + other.ranges
        other.sentence = min(self.sentence, other.sentence)
        other.opens_line = self.opens_line


def split_claims(text: str) -> Split:
    r"""Split an answer into numbered claims and declared non-claims.

    >>> split = split_claims("Sure! The limits are:\n- 10 requests per second [1]")
    >>> [claim.text for claim in split.claims], [part.kind for part in split.non_claims if part.kind != "space"]
    (['The limits are: 10 requests per second'], ['greeting', 'heading', 'marker'])
    """
    walk = _Walk(text)
    walk.run()
    return _accounted(text, walk.said, walk.rest)


@dataclass
class _Walk:
    """Goes over the blocks of one answer and collects what it finds, in order."""

    text: str
    said: list[_Said] = field(default_factory=list)
    rest: list[tuple[NonClaimKind, int, int]] = field(default_factory=list)
    intros: list[Intro] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    carried: str = ""
    waiting: _Said | None = None
    in_sources: bool = False
    is_uncovered: bool = False

    def __post_init__(self) -> None:
        self.blocks = find_blocks(self.text)
        self.citations = citation_ranges(self.text, self.blocks)
        self.plain = without_quote_marks(self.text, self.blocks)
        self.masked = masked(self.plain, self.blocks, self.citations)
        self._next_citation = 0

    def run(self) -> None:
        """Read all blocks."""
        self.rest.extend(("marker", start, end) for start, end in self.citations)
        for block, following in zip(self.blocks, [*self.blocks[1:], None], strict=False):
            self._leave(block)
            if block.kind in _TEXT_KINDS:
                self._read_text(block, following)
            elif block.kind == "code":
                self._read_code(block)
            elif block.kind == "row":
                self._read_row(block)
            elif block.kind != "layout":
                self._read_head(block)
        self._stop_waiting()

    def _leave(self, block: Block) -> None:
        """Forget the intros, the header and the source list that a block does not belong to."""
        if block.kind not in _TABLE_KINDS:
            self.header = []
        if block.kind != "paragraph":
            self._stop_waiting()
        if block.kind == "heading" or (block.kind == "layout" and not block.quoted):
            self.intros, self.carried, self.in_sources = [], "", False
        elif block.kind in _TEXT_KINDS:
            level, is_item = level_of(block), block.kind == "item"
            self.intros = [i for i in self.intros if i.level < level and (is_item or not i.is_heading)]

    def _read_head(self, block: Block) -> None:
        self._keep("heading", block.start, block.end)
        if block.kind == "header_row":
            self.header = [self._seen(start, end) for start, end in cells(self.text, block)]
        elif block.kind == "heading":
            title = self._seen(block.body_start, block.body_end)
            self.in_sources = phrases.SOURCE_LIST.match(title) is not None and bool(self.said)
            self.intros = [Intro(intro_text(title), -1, is_heading=True)]

    def _read_code(self, block: Block) -> None:
        code = self.text[block.body_start : block.body_end]
        code = textwrap.dedent(QUOTE_MARK.sub("", code) if block.quoted else code).strip()
        if not code:
            self._keep("heading", block.start, block.end)
            return
        self._keep("heading", block.start, block.body_start)
        self.said.append(_Said(code, self._outside(block.body_start, block.body_end)))
        self._keep("heading", block.body_end, block.end)

    def _read_row(self, block: Block) -> None:
        values = [self._seen(start, end) for start, end in cells(self.text, block)]
        if not has_words(" ".join(values)):
            self._keep("heading", block.start, block.end)
            return
        names = self.header + [""] * len(values)
        named = [f"{name}: {value}" if name else value for name, value in zip(names, values, strict=False) if value]
        # A first column without a name holds the row's own: "Price: Starter: $0; Team: $20".
        lead = f"{named.pop(0)}: " if self.header and not names[0] and values[0] and len(named) > 1 else ""
        self.said.append(_Said(lead + "; ".join(named), self._outside(block.start, block.end)))

    def _read_text(self, block: Block, following: Block | None) -> None:
        if self._lists_sources(block):
            self._keep("marker", block.start, block.end)
            return
        intro, self.carried = self.carried, ""
        intros = list(self.intros)  # what this block introduces is not for itself
        found: list[_Said] = []
        sentences = self._sentences(block)
        for index, (start, end) in enumerate(sentences):
            raw, seen = self.plain[start:end].strip(), self._seen(start, end)
            after = sentences[index + 1 : index + 2]
            next_line = self._next_line(after, following)
            if presents(seen, raw, block, None if after else following, next_line=next_line):
                self._keep("heading", start, end)
                intro = intro_text(seen) if after else self._introduce(seen, block, following)
                continue
            opens_line = "\n" in self.plain[sentences[index - 1][1] : start] if index else True
            label = block.kind == "item" and is_label(raw)
            for part in cut_sentence(self.masked, start, end):
                said = self._take(part)
                if said is not None:
                    said.sentence, said.intro = index, intro
                    said.opens_line, said.is_label = opens_line and part.start == start, label
                    found.append(said)
        self._add(self._merged(found, block, following), block, intros)

    def _sentences(self, block: Block) -> list[tuple[int, int]]:
        start = block.body_start
        body = self.plain[start : block.body_end]
        markers = [(a - start, b - start) for a, b in self._citations_in(start, block.body_end)]
        ranges = [(start + a, start + a + len(body[a:b].rstrip())) for a, b in find_sentences(body, markers=markers)]
        return [(a, b) for a, b in ranges if has_words(self.masked[a:b])]

    def _lists_sources(self, block: Block) -> bool:
        """Tell a "Sources: ..." line, a footnote, and what stands in a list of sources; it only cites."""
        body = self.plain[block.body_start : block.body_end]
        if self.said and phrases.SOURCE_LIST.match(readable(body.split("\n", 1)[0][:200])):
            self.in_sources = True
        elif block.kind != "item" and self.in_sources:
            self.in_sources = _LISTED_SOURCE.match(body) is not None
        is_note = bool(self.said) and _SOURCE_NOTE.match(body) is not None
        return self.in_sources or is_note or _DEFINITION.match(body) is not None

    def _next_line(self, after: Sequence[tuple[int, int]], following: Block | None) -> str:
        if after:
            return self._seen(*after[0])
        if following is None or following.kind not in _TEXT_KINDS:
            return ""
        line = self.plain[following.body_start : following.body_end].split("\n", 1)[0]
        return readable(line[:400])

    def _introduce(self, seen: str, block: Block, following: Block | None) -> str:
        """Remember what the blocks behind are read with; nothing is left for the block itself."""
        level = level_of(block)
        if leads_list(block, following, colon=has_colon(seen)):
            beside = following is not None and level_of(following) == level
            self.intros = [intro for intro in self.intros if not (beside and intro.is_heading)]
            self.intros.append(Intro(intro_text(seen), level - 1 if beside else level, is_heading=beside))
        elif following is not None and following.kind in _TEXT_KINDS:
            self.carried = intro_text(seen)
        return ""

    def _take(self, part: Part) -> _Said | None:
        if part.kind != "claim":
            self._keep(part.kind, part.start, part.end)
            self.is_uncovered |= part.kind == "coverage" and not_covered(self._seen(part.start, part.end))
            return None
        text = with_shared(self._seen(part.start, part.end).strip(_EDGE), part)
        if not text:
            return None
        kind = self._aside(text)
        if kind is not None:
            self._keep(kind, part.start, part.end)
            return None
        return _Said(text, self._outside(part.start, part.end))

    def _aside(self, text: str) -> NonClaimKind | None:
        """Tell what an answer says instead of answering, once it has said that its sources do not cover it."""
        if phrases.SOURCES_HOLD.match(text) and not any(map(str.isdigit, text)):
            only = phrases.SOURCES_ONLY.search(text) is not None
            if (self.is_uncovered and only) or (not _PRONOUN.match(text) and (self.is_uncovered or only)):
                return "coverage"
        return "greeting" if self.is_uncovered and phrases.ADVICE.match(text) else None

    def _merged(self, found: list[_Said], block: Block, following: Block | None) -> list[_Said]:
        """Give fragments to a neighbour of their block; a bare "Yes." may go to the next paragraph."""
        if self.waiting is not None and found:
            self.waiting.lead(found[0])
            self.waiting = None
        kept: list[_Said] = []
        for said, after in zip(found, [*found[1:], None], strict=False):
            yes_no = is_yes_or_no(said.text)
            if not (yes_no or said.is_label or is_fragment(said.text)) or len(said.text) > _MERGED_CHARS:
                kept.append(said)
            elif after is not None and (yes_no or (not kept and (block.kind == "item" or not after.opens_line))):
                said.lead(after)
            elif kept and not said.opens_line and len(kept[-1].text) < _MERGED_CHARS:
                kept[-1].append(said)
            elif after is None and yes_no and following is not None and following.kind == block.kind == "paragraph":
                self.waiting = said
            else:
                kept.append(said)
        return kept

    def _add(self, claims: Sequence[_Said], block: Block, intros: Sequence[Intro]) -> None:
        for said in claims:
            if said.intro:
                said.text = joined(said.text, [Intro(said.intro, 0, is_heading=True)])
            elif said.sentence == claims[0].sentence and block.kind in {"item", "paragraph"}:
                said.text = joined(said.text, intros)
            self.said.append(said)

    def _stop_waiting(self) -> None:
        if self.waiting is not None:
            self.said.append(self.waiting)
            self.waiting = None

    def _keep(self, kind: NonClaimKind, start: int, end: int) -> None:
        self.rest.extend((kind, a, b) for a, b in self._outside(start, end))

    def _seen(self, start: int, end: int) -> str:
        return readable("".join(self.plain[a:b] for a, b in self._around(start, end)))

    def _outside(self, start: int, end: int) -> list[tuple[int, int]]:
        """Give the stretches of a range between its citations, trimmed."""
        found: list[tuple[int, int]] = []
        for a, b in self._around(start, end):
            piece = self.plain[a:b]
            if piece.strip():
                found.append((a + len(piece) - len(piece.lstrip()), a + len(piece.rstrip())))
        return found

    def _around(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = start
        for a, b in self._citations_in(start, end):
            yield at, max(at, a)
            at = b
        yield at, max(at, end)

    def _citations_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """Give the citations in a range. Ranges are asked for mostly in order, so the search goes on where it was."""
        at = self._next_citation
        while at > 0 and self.citations[at - 1][1] > start:
            at -= 1
        while at < len(self.citations) and self.citations[at][1] <= start:
            at += 1
        self._next_citation = at
        last = at
        while last < len(self.citations) and self.citations[last][0] < end:
            last += 1
        return self.citations[at:last]


def _accounted(text: str, said: Sequence[_Said], rest: Sequence[tuple[NonClaimKind, int, int]]) -> Split:
    """Number the claims, let restatements share one, and declare all that is left as space."""
    shared: dict[str, _Said] = {}
    for claim in said:
        first = shared.setdefault(_key(claim.text), claim)
        if first is not claim:
            first.ranges += claim.ranges
    claims = tuple(
        Claim(
            number=number,
            text=claim.text,
            stretches=tuple(Stretch(start=start, end=end) for start, end in claim.ranges),
        )
        for number, claim in enumerate(shared.values(), 1)
    )
    taken: list[tuple[NonClaimKind | None, int, int]] = list(rest)
    taken += [(None, start, end) for claim in shared.values() for start, end in claim.ranges]
    taken.sort(key=lambda piece: piece[1])
    non_claims: list[NonClaim] = []
    done = 0
    for kind, start, end in [*taken, (None, len(text), len(text))]:
        if done < start:
            non_claims.append(NonClaim(kind="space", start=done, end=start))
        if kind is not None:
            non_claims.append(NonClaim(kind=kind, start=start, end=end))
        done = end
    return Split(claims, tuple(non_claims))


def _key(text: str) -> str:
    """Fold what does not make another statement: case, width, closing stop and leading connective."""
    folded = unicodedata.normalize("NFKC", text).casefold().rstrip(" .!。！")
    return phrases.CONNECTIVE.sub("", folded) or folded
