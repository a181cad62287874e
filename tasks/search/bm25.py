"""BM25 over chunks, on bm25s: exact, deterministic, ties broken by document and offset."""

import json
import shutil
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tasks.text.words import StemIds, stems

if TYPE_CHECKING:
    import bm25s

_NUMBERS: Final = "chunks.npy"
_DIGESTS: Final = "digests.npy"
_META: Final = "meta.json"


def retriever_version() -> str:
    """What a ranking depends on beside chunks and settings; a part of the index key."""
    return f"bm25s {version('bm25s')}, PyStemmer {version('PyStemmer')}, words 1"


class IndexedChunk(NamedTuple):
    """A chunk as the index knows it. `document` is its document's position in the corpus."""

    document: int
    start: int
    end: int
    ink_start: int
    ink_end: int
    n_tokens: int
    text_digest: str


class Hit(NamedTuple):
    """A chunk at a rank."""

    chunk: IndexedChunk
    score: float


class Bm25Index:
    """An index over chunks in corpus order.

    Args:
        engine: Scores all chunks at once.
        chunks: Six integers a chunk, in the order of `IndexedChunk`.
        digests: The chunks' text digests.
        stemmer: Language of the stems, as when it was built.
    """

    def __init__(self, engine: "bm25s.BM25", chunks: np.ndarray, digests: np.ndarray, stemmer: str) -> None:
        self._engine = engine
        self._chunks = chunks
        self._digests = digests
        self._stemmer = stemmer

    @classmethod
    def build(
        cls, texts: Iterable[str], chunks: Sequence[IndexedChunk], *, k1: float, b: float, stemmer: str
    ) -> "Bm25Index":
        """Index chunks.

        Args:
            texts: The chunks' texts, in the same order as `chunks`.
            chunks: Ordered by document and offset: that order breaks ties.
            k1: Term saturation.
            b: Length normalisation.
            stemmer: A Snowball language, or "none".
        """
        import bm25s  # noqa: PLC0415 - a run that ranks nothing does without it, and it brings scipy

        vocabulary: dict[str, int] = {}
        stem_ids = StemIds(vocabulary, language=stemmer)
        ids = [stem_ids.of(text) for text in texts]
        if not vocabulary:
            # Nothing to find: one chunk of one word that no question has.
            ids, vocabulary = [[0]], {"": 0}
        engine = bm25s.BM25(k1=k1, b=b, method="lucene")
        engine.index((ids, vocabulary), show_progress=False, create_empty_token=False)
        numbers = np.array([chunk[:6] for chunk in chunks], dtype=np.int64).reshape(-1, 6)
        digests = np.array([chunk.text_digest for chunk in chunks], dtype="S32")
        return cls(engine, numbers, digests, stemmer)

    def save(self, folder: Path) -> None:
        """Write the index to a folder that is then renamed into place: it is there whole or not at all."""
        temporary = folder.with_name(f".{folder.name}.tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        self._engine.save(temporary, show_progress=False)
        np.save(temporary / _NUMBERS, self._chunks)
        np.save(temporary / _DIGESTS, self._digests)
        (temporary / _META).write_text(json.dumps({"stemmer": self._stemmer}), encoding="utf-8")
        if not folder.exists():
            temporary.rename(folder)
        shutil.rmtree(temporary, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path) -> "Bm25Index":
        """Open a saved index.

        Raises:
            OSError: When a file of it is missing or cut off; building it anew is the cure.
            ValueError: The same.
        """
        import bm25s  # noqa: PLC0415 - as above

        engine = bm25s.BM25.load(folder, load_corpus=False, mmap=True)
        numbers, digests = np.load(folder / _NUMBERS), np.load(folder / _DIGESTS)
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        return cls(engine, numbers, digests, meta["stemmer"])

    def search(self, question: str, *, depth: int) -> list[Hit]:
        """The best chunks for a question, best first; chunks that share no word with it are not returned.

        Equal scores are ordered by document and offset.
        """
        # Sorted, so that the sum of floats does not depend on the order of the question's words.
        wanted = sorted(
            self._engine.vocab_dict[s] for s in stems(question, language=self._stemmer) if s in self._engine.vocab_dict
        )
        if not wanted:
            return []
        scores = self._engine.get_scores_from_ids(wanted)
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) > depth else 0.0
        found = np.flatnonzero(scores >= least if least > 0 else scores > 0)
        order = found[np.lexsort((found, -scores[found]))][:depth]
        return [
            Hit(IndexedChunk._make((*numbers, digest.decode())), score)
            for numbers, digest, score in zip(
                self._chunks[order].tolist(), self._digests[order].tolist(), scores[order].tolist(), strict=True
            )
        ]
