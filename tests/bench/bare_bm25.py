"""Our index beside the bare library on the same texts and settings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import bm25s
import Stemmer

from tasks.search.bm25 import Bm25Index, IndexedChunk
from tests.bench.figure import Figure, timed
from tests.bench.synthetic import Language, asking

_N_CHUNKS: Final = 100_000
_N_QUERIES: Final = 300
_DEPTH: Final = 50
_K1: Final = 1.2
_B: Final = 0.75


def measure_bm25(_folder: Path) -> Iterator[Figure]:
    """Index, and answer 300 questions one by one, as stages do."""
    language = Language()
    sections = [language.section() for _ in range(_N_CHUNKS)]
    texts = [section.text for section in sections]
    asked = [asking(language, section.sentences[0]) for section in language.random.sample(sections, _N_QUERIES)]
    chunks = [IndexedChunk(n, 0, len(text), 0, len(text), 1, "0" * 32) for n, text in enumerate(texts)]
    stemmer = Stemmer.Stemmer("english")
    bare: list[bm25s.BM25] = []
    ours: list[Bm25Index] = []

    def index_bare() -> None:
        engine = bm25s.BM25(k1=_K1, b=_B, method="lucene")
        engine.index(bm25s.tokenize(texts, stopwords=None, stemmer=stemmer, show_progress=False), show_progress=False)
        bare[:] = [engine]

    def ask_bare() -> None:
        for question in asked:
            words = bm25s.tokenize(question, stopwords=None, stemmer=stemmer, show_progress=False)
            bare[0].retrieve(words, k=_DEPTH, show_progress=False)

    def index_ours() -> None:
        ours[:] = [Bm25Index.build(texts, chunks, k1=_K1, b=_B, stemmer="english")]

    def ask_ours() -> None:
        for question in asked:
            ours[0].search(question, depth=_DEPTH)

    for work, mine, theirs, n in (
        ("100,000 chunks: index", index_ours, index_bare, 3),
        ("300 queries of 100,000 chunks, depth 50, one by one", ask_ours, ask_bare, 5),
    ):
        # In turn, so that whatever else the machine does falls on both.
        pairs = [(timed(theirs, n=1).median, timed(mine, n=1).median) for _ in range(n)]
        quotients = sorted(mine_s / theirs_s for theirs_s, mine_s in pairs)
        middle = quotients[n // 2]
        least = [min(column) for column in zip(*pairs, strict=True)]
        told = (
            f"× {middle:.2f} ({quotients[0]:.2f}-{quotients[-1]:.2f}, {n} runs in turn); "
            f"{least[1]:.2f} s beside {least[0]:.2f} s at best"
        )
        yield Figure(work, "≤ 1.2 × the bare BM25 library", told, middle <= 1.2)
