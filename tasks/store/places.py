"""Where the passages of many rankings or contexts stand, read off the columns: no object for each passage."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from tasks.metrics.evidence import InkRange, PassagePlace
from tasks.store.rows import Rows

_FIELDS: Final = (
    "document_id",
    "foreign_id",
    "n_tokens",
    "ranges.list.element.ink_start",
    "ranges.list.element.ink_end",
)
# Stands for every passage that cannot complete the gold in question: it takes its rank and nothing more.
ELSEWHERE: Final = PassagePlace(None)


class Places:
    """The passages of some rows of one record.

    Args:
        rows: Of `ranking` or `context`.
        keys: Which; each once.
    """

    def __init__(self, rows: Rows, keys: Iterable[str]) -> None:
        wanted = list(dict.fromkeys(keys))
        self._row = {key: number for number, key in enumerate(wanted)}
        columns = [f"passages.list.element.{field}" for field in _FIELDS]
        lists = rows.table(wanted, columns).column("passages").combine_chunks()
        passages = lists.flatten()
        self._offsets = _offsets(lists)
        documents = passages.field("document_id").dictionary_encode()
        self._documents: list[str | None] = [*documents.dictionary.to_pylist(), None]
        self._code = {document: code for code, document in enumerate(self._documents)}
        # The last code, -1, is that of no document.
        self._codes = documents.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        self._tokens = passages.field("n_tokens").to_numpy(zero_copy_only=False)
        foreign = passages.field("foreign_id")
        self._foreign: list[str | None] | None = None if foreign.null_count == len(foreign) else foreign.to_pylist()
        ranges = passages.field("ranges")
        self._range_offsets = _offsets(ranges)
        ink = ranges.flatten()
        self._ink = np.column_stack([ink.field(end).to_numpy(zero_copy_only=False) for end in ("ink_start", "ink_end")])

    def __contains__(self, key: str | None) -> bool:
        """Whether the row is among those that were read."""
        return key in self._row

    def n_tokens(self, key: str) -> list[int]:
        """Tokens of each passage of a row, in its order."""
        start, stop = self._bounds(key)
        found: list[int] = self._tokens[start:stop].tolist()
        return found

    def of(self, key: str, documents: Sequence[str]) -> list[PassagePlace]:
        """The places of a row's passages, in its order; those from other documents are `ELSEWHERE`.

        With foreign ids among the passages, every place is given.
        """
        start, stop = self._bounds(key)
        if self._foreign is not None:
            return [self._place(number) for number in range(start, stop)]
        places = [ELSEWHERE] * (stop - start)
        own = self._codes[start:stop]
        for code in {self._code[document] for document in documents if document in self._code}:
            for position in np.flatnonzero(own == code).tolist():
                places[position] = self._place(start + position)
        return places

    def _bounds(self, key: str) -> tuple[int, int]:
        row = self._row[key]
        return int(self._offsets[row]), int(self._offsets[row + 1])

    def _place(self, number: int) -> PassagePlace:
        first, last = self._range_offsets[number : number + 2]
        ink = tuple(InkRange(start, end) for start, end in self._ink[first:last].tolist())
        foreign = None if self._foreign is None else self._foreign[number]
        return PassagePlace(self._documents[self._codes[number]], ink, foreign)


def _offsets(lists: pa.ListArray) -> np.ndarray:
    """Borders of each row in the flattened values, which start at 0 whatever part of an array this is."""
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate(([0], np.cumsum(lengths)))
