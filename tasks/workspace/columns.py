"""What a column of somebody else's file holds, by its name: plain names and those of ragas."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.errors import InputError

# What is looked for, and the names it goes by; where a file has two of them, the first counts.
KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "question_id": ("question_id", "id", "qid"),
    "question": ("question", "user_input", "query"),
    "answer": ("answer", "response", "output"),
    "passages": ("passages", "contexts", "retrieved_contexts", "documents"),
    "passage_ids": ("passage_ids", "retrieved_context_ids", "context_ids"),
    "ranks": ("ranks",),
    "gold_ids": ("gold_ids", "reference_context_ids", "relevant_ids"),
    "reference_contexts": ("reference_contexts",),
    "reference": ("reference", "ground_truth", "ground_truths", "expected_answer"),
}


@dataclass(frozen=True)
class Columns:
    """Which of the file's columns holds what.

    Attributes:
        names: The file's own name of what is looked for, where it has one.
        unused: The file's other columns.
        where: The file.
    """

    names: Mapping[str, str]
    unused: tuple[str, ...]
    where: str

    def get(self, fields: Mapping[str, object], wanted: str) -> object:
        """A row's value; None where the file has no such column."""
        return fields.get(self.names[wanted]) if wanted in self.names else None

    def need(self, *wanted: str) -> None:
        """Ask for one of several columns.

        Raises:
            InputError: When the file has none of them, naming the column that comes nearest.
        """
        if any(name in self.names for name in wanted):
            return
        known = [name for one in wanted for name in KNOWN[one]]
        meant, near = _nearest(wanted, self.unused)
        hint = f" (the nearest there is: {near!r})" if near else ""
        problem = f"no column holds the {' or the '.join(wanted)}{hint}"
        remedy = f"Rename it, or say which it is with: --column {meant}={near or 'THEIRS'}."
        raise InputError(problem, where=self.where, allowed=", ".join(known), remedy=remedy)


def map_columns(there: Sequence[str], *, by_hand: Sequence[str], where: str) -> Columns:
    """Say which column holds what.

    Names are compared without regard to case, spaces and hyphens.

    Args:
        there: The file's columns.
        by_hand: `WANTED=THEIRS` each, which go before the known names; `WANTED=` leaves a column unused.
        where: The file.

    Raises:
        InputError: When something mapped by hand is unknown or not there.

    >>> dict(map_columns(["User Input", "response"], by_hand=(), where="a.csv").names)
    {'question': 'User Input', 'answer': 'response'}
    """
    chosen = dict(_by_hand(entry, there, where) for entry in by_hand)
    names: dict[str, str] = {}
    folded = {_folded(name): name for name in reversed(there) if name not in chosen.values()}
    for wanted, aliases in KNOWN.items():
        found = chosen.get(wanted, next((folded[alias] for alias in aliases if alias in folded), ""))
        if found:
            names[wanted] = found
    return Columns(names, tuple(name for name in there if name not in names.values()), where)


def _by_hand(entry: str, there: Sequence[str], where: str) -> tuple[str, str]:
    wanted, equals, theirs = entry.partition("=")
    if not equals or wanted not in KNOWN:
        near = difflib.get_close_matches(wanted, KNOWN, n=1)
        problem = f"--column {entry!r} does not begin with one of our names and '='"
        remedy = f"Did you mean {near[0]}={theirs or 'THEIRS'}?" if near else "Write it as --column answer=THEIRS."
        raise InputError(problem, allowed=", ".join(KNOWN), remedy=remedy)
    if theirs and theirs not in there:
        near = difflib.get_close_matches(theirs, there, n=1)
        problem = f"--column {entry!r}: the file has no column {theirs!r}"
        remedy = f"Did you mean {near[0]!r}?" if near else ""
        raise InputError(problem, where=where, allowed=", ".join(map(repr, there)), remedy=remedy)
    return wanted, theirs


def _folded(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _nearest(wanted: Sequence[str], there: Sequence[str]) -> tuple[str, str]:
    """The column most like any known name, and what that name stands for."""
    likeness = (
        (difflib.SequenceMatcher(None, alias, _folded(name)).ratio(), one, name)
        for one in wanted
        for alias in KNOWN[one]
        for name in there
    )
    return max(likeness, default=(0.0, wanted[0], ""))[1:]
