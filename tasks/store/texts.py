"""The texts of passages, read from the documents' rows."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tasks.store.store import Store

# Documents in memory at once, counted in characters.
_ROOM: Final = 200_000_000


class Texts:
    """Document texts by key, the least recently used going first."""

    def __init__(self, store: Store) -> None:
        self._documents = store.rows("document")
        self._held: OrderedDict[str, str] = OrderedDict()
        self._size = 0
        self._guard = threading.Lock()

    def load(self, document_keys: Iterable[str]) -> dict[str, str]:
        """Texts of documents.

        Raises:
            StoreDamagedError: When a document has no row.
        """
        wanted = dict.fromkeys(document_keys)
        with self._guard:
            missing = [key for key in wanted if key not in self._held]
            for key, row in self._documents.fetch(missing, ["text"]).items():
                self._held[key] = row["text"]
                self._size += len(row["text"])
            found = {}
            for key in wanted:
                self._held.move_to_end(key)
                found[key] = self._held[key]
            while self._size > _ROOM and len(self._held) > len(wanted):
                _, text = self._held.popitem(last=False)
                self._size -= len(text)
        return found

    def passages(self, passages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Texts of passages as rows hold them: their own, or the stretch of their document.

        Ranges of one passage that do not touch are joined by a line with an ellipsis.
        """
        rows = list(passages)
        texts = self.load(row["document_key"] for row in rows if row["text"] is None)
        return [
            row["text"]
            if row["text"] is not None
            else "\n…\n".join(texts[row["document_key"]][part["start"] : part["end"]] for part in row["ranges"])
            for row in rows
        ]
