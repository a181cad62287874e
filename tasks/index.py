"""Stage index: split the documents that have no chunks yet, and know the index by its key."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from schemas.passage import Range
from schemas.plan import PlannedDocument, StageCount
from schemas.setup import Setup
from tasks.runs.run import Run, open_run
from tasks.search.bm25 import Bm25Index, IndexedChunk, retriever_version
from tasks.search.neighbours import Stretch
from tasks.search.splitting import split, splitter_version
from tasks.store.indexes import open_index
from tasks.store.keys import Material, digest, key, text_digest
from tasks.store.rows import Row
from tasks.text.ink import Ink

log = logging.getLogger("fourcells.index")

# Documents split and saved at a time: bounds memory, and what a crash can lose.
_BATCH: Final = 500

Report = Callable[[int, int], None]


def index(workspace: str, run_id: str, setup: str, report: Report | None = None) -> StageCount:
    """Split every document of the corpus that has no chunks under this setup's settings.

    The BM25 index itself is built when a ranking is missing. Documents with equal content are split once.

    Args:
        workspace: Folder of the workspace.
        run_id: The run.
        setup: Name of a setup of the run.
        report: Called with (documents done, documents in all).

    Returns:
        `computed` and `reused` count documents.
    """
    run = open_run(workspace, run_id)
    settings = run.setup(setup).setup
    if settings.answers is not None or run.plan.grade_only:
        return StageCount(stage="index", setup=setup)
    rows = run.store.rows("chunks")
    keys = chunk_keys(run.plan.documents, settings)
    known = rows.carried(list(keys.values()))
    missing = {name: document for (document, name), row in zip(keys.items(), known, strict=True) if row is None}
    todo = list(missing.items())
    for start in range(0, len(todo), _BATCH):
        batch = todo[start : start + _BATCH]
        texts = run.texts.load(document.document_key for _, document in batch)
        rows.publish([{"key": name, **chunks_row(texts[document.document_key], settings)} for name, document in batch])
        if report is not None:
            report(min(start + _BATCH, len(todo)), len(todo))
    return StageCount(stage="index", setup=setup, computed=len(todo), reused=len(keys) - len(todo))


def chunk_keys(documents: Sequence[PlannedDocument], setup: Setup) -> dict[PlannedDocument, str]:
    """Key of each document's chunks."""
    settings: Material = setup.splitting.model_dump(mode="json")
    splitter = splitter_version()
    return {
        document: key("chunks", text_digest=document.text_digest, splitting=settings, splitter=splitter)
        for document in documents
    }


def chunks_row(text: str, setup: Setup) -> Row:
    """A document's chunks, with their borders in non-space characters and the digests of their texts."""
    ink = Ink(text)
    chunks: list[dict[str, Any]] = [
        {
            "start": chunk.start,
            "end": chunk.end,
            "ink_start": ink.at(chunk.start),
            "ink_end": ink.at(chunk.end),
            "n_tokens": chunk.n_tokens,
            "text_digest": text_digest(text[chunk.start : chunk.end]),
        }
        for chunk in split(text, setup.splitting)
    ]
    return {
        "chunks": chunks,
        "chunks_digest": digest([[chunk["start"], chunk["end"], chunk["text_digest"]] for chunk in chunks]),
    }


@lru_cache(maxsize=64)
def index_key(run: Run, setup: Setup) -> str:
    """Key of the index: (document id, its chunks' digest) in order, and the retriever's settings.

    Asked for by every shard of a setup, and made once, after the index stage.
    """
    keys = chunk_keys(run.plan.documents, setup)
    carried = run.store.rows("chunks").carried(list(keys.values()))
    pairs: list[Material] = [
        [document.document_id, row["chunks_digest"]]
        for document, row in zip(keys, carried, strict=True)
        if row is not None
    ]
    retriever = setup.retrieval.model_dump(mode="json", exclude={"depth"})
    return key("index", chunks=pairs, retriever={**retriever, "version": retriever_version()})


def open_or_build(run: Run, setup: Setup, name: str) -> Bm25Index:
    """Open the index of that key, building it when it is not there or cannot be read."""
    return open_index(run.store.index_folder, name, lambda: _build(run, setup))


def _build(run: Run, setup: Setup) -> Bm25Index:
    documents = run.plan.documents
    all_chunks = document_chunks(run, setup, [document.document_id for document in documents])
    log.info("indexing %d documents", len(documents))
    chunks: list[IndexedChunk] = []
    texts: list[str] = []
    for start in range(0, len(documents), _BATCH):
        batch = documents[start : start + _BATCH]
        loaded = run.texts.load(document.document_key for document in batch)
        for position, document in enumerate(batch, start=start):
            for chunk in all_chunks[document.document_id]:
                chunks.append(IndexedChunk(position, **chunk))
                texts.append(loaded[document.document_key][chunk["start"] : chunk["end"]])
    retrieval = setup.retrieval
    return Bm25Index.build(texts, chunks, k1=retrieval.k1, b=retrieval.b, stemmer=retrieval.stemmer)


def document_chunks(run: Run, setup: Setup, document_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """Chunks of documents, by document id, in reading order."""
    keys = chunk_keys([run.documents[name] for name in document_ids], setup)
    rows = run.store.rows("chunks").fetch(keys.values(), ["chunks"])
    return {document.document_id: rows[name]["chunks"] for document, name in keys.items()}


def stretch_of(document_id: str, row: Row) -> Stretch:
    """A chunk or a range as a stretch of its document."""
    return Stretch(document_id, row["start"], row["end"], row["ink_start"], row["ink_end"])


def range_of(chunk: IndexedChunk | Stretch) -> Range:
    """The same without its document."""
    return Range(start=chunk.start, end=chunk.end, ink_start=chunk.ink_start, ink_end=chunk.ink_end)
