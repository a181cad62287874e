"""The columns of every record on disk. Nested lists stay inside their row, so a key is there whole or not at all."""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

SCHEMA_VERSION: Final = 2

_RANGE: Final = pa.struct([
    ("start", pa.int64()),
    ("end", pa.int64()),
    ("ink_start", pa.int64()),
    ("ink_end", pa.int64()),
])
_PASSAGE: Final = pa.struct([
    ("document_id", pa.string()),
    ("document_key", pa.string()),
    ("ranges", pa.list_(_RANGE)),
    ("n_tokens", pa.int64()),
    ("text_digest", pa.string()),
    ("text", pa.string()),
    ("foreign_id", pa.string()),
    ("score", pa.float64()),
])
_STRETCH: Final = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_CHUNK: Final = pa.struct([
    ("start", pa.int64()),
    ("end", pa.int64()),
    ("ink_start", pa.int64()),
    ("ink_end", pa.int64()),
    ("n_tokens", pa.int64()),
    ("text_digest", pa.string()),
])
_CLAIM: Final = pa.struct([("number", pa.int64()), ("text", pa.string()), ("stretches", pa.list_(_STRETCH))])
_NON_CLAIM: Final = pa.struct([("kind", pa.string()), ("start", pa.int64()), ("end", pa.int64())])
_QUOTE: Final = pa.struct([
    ("text", pa.string()),
    ("passage", pa.int64()),
    ("start", pa.int64()),
    ("end", pa.int64()),
])
_CLAIM_VERDICT: Final = pa.struct([
    ("number", pa.int64()),
    ("verdict", pa.string()),
    ("judged", pa.string()),
    ("quotes", pa.list_(_QUOTE)),
    ("lost_quotes", pa.list_(pa.string())),
    ("why", pa.string()),
])
_POINT_VERDICT: Final = pa.struct([
    ("number", pa.int64()),
    ("verdict", pa.string()),
    ("quote", pa.string()),
    ("why", pa.string()),
])
_FAILED_POINT: Final = pa.struct([
    ("point_id", pa.string()),
    ("verdict", pa.string()),
    ("arrived", pa.bool_()),
    ("used", pa.bool_()),
])

# What a row took when it was made. The offline seats cost nothing; NULL means that it was not measured.
_TOOK: Final = [
    ("cost_usd", pa.float64()),
    ("latency_s", pa.float64()),
    ("n_calls", pa.int64()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("cache_read_tokens", pa.int64()),
    ("cache_write_tokens", pa.int64()),
]
_JUDGED: Final = [("judge_id", pa.string()), *_TOOK]
_MADE: Final = [("made_by", pa.string()), ("made_at", pa.timestamp("us", tz="UTC"))]


def _schema(*fields: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([("key", pa.string()), *fields, *_MADE])


SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "document": _schema(
        ("document_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.large_string()),
        ("text_digest", pa.string()),
        ("n_tokens", pa.int64()),
        ("n_words", pa.int64()),
    ),
    "question": _schema(
        ("question_id", pa.string()),
        ("text", pa.string()),
        ("answerable", pa.string()),
        ("gold_rule", pa.string()),
        ("tags", pa.map_(pa.string(), pa.string())),
        ("reference", pa.string()),
        ("content", pa.string()),
    ),
    "key_point": _schema(
        ("point_id", pa.string()),
        ("text", pa.string()),
        ("weight", pa.string()),
        ("status", pa.string()),
        ("content", pa.string()),
    ),
    "chunks": _schema(("chunks", pa.list_(_CHUNK)), ("chunks_digest", pa.string())),
    "ranking": _schema(("passages", pa.list_(_PASSAGE))),
    "context": _schema(("passages", pa.list_(_PASSAGE)), ("n_tokens", pa.int64()), ("passages_digest", pa.string())),
    "answer": _schema(
        ("text", pa.string()),
        ("text_digest", pa.string()),
        ("n_words", pa.int64()),
        ("no_answer", pa.string()),
        ("writer_id", pa.string()),
        *_TOOK,
    ),
    "reading": _schema(
        ("claims", pa.list_(_CLAIM)),
        ("non_claims", pa.list_(_NON_CLAIM)),
        ("form", pa.string()),
        ("gives_answer", pa.bool_()),
        ("relevancy", pa.string()),
        ("n_claims", pa.int64()),
        ("claims_digest", pa.string()),
        *_JUDGED,
    ),
    "grounding": _schema(("verdicts", pa.list_(_CLAIM_VERDICT)), *_JUDGED),
    "correctness": _schema(("verdicts", pa.list_(_POINT_VERDICT)), *_JUDGED),
    "cell": _schema(
        ("label", pa.string()),
        ("reason", pa.string()),
        ("owner", pa.string()),
        ("correct", pa.bool_()),
        ("grounded", pa.bool_()),
        ("arrived", pa.bool_()),
        ("page_level", pa.bool_()),
        ("failed_points", pa.list_(_FAILED_POINT)),
    ),
}

# Columns that later stages read to make their keys; they are held in memory beside the keys, so that a row
# which is reused is never read whole.
CARRIED: Final[Mapping[str, tuple[str, ...]]] = {
    "document": (),
    "question": (),
    "key_point": (),
    "chunks": ("chunks_digest",),
    "ranking": (),
    "context": ("passages_digest", "n_tokens"),
    "answer": ("text_digest", "no_answer"),
    "reading": ("claims_digest", "n_claims"),
    "grounding": (),
    "correctness": (),
    "cell": ("label",),
}

# One row per (setup, question) of a run: the state, reason and key of every stage, and what it took.
_STEP: Final = ("state", "reason", "message", "key", "new")


def _steps(*names: str) -> list[tuple[str, pa.DataType]]:
    return [(f"{name}_{part}", pa.bool_() if part == "new" else pa.string()) for name in names for part in _STEP]


TRAIL: Final = pa.schema([
    ("setup", pa.string()),
    ("question_id", pa.string()),
    ("question_key", pa.string()),
    *_steps("ranking", "context", "answer", "reading", "grounding", "correctness", "cell"),
    ("passages_digest", pa.string()),
    ("context_tokens", pa.int64()),
    ("answer_digest", pa.string()),
    ("no_answer", pa.string()),
    ("claims_digest", pa.string()),
    ("n_claims", pa.int64()),
    ("label", pa.string()),
    ("paid_usd", pa.float64()),
    ("spent_s", pa.float64()),
])


def table_of(record: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table in the record's columns; a column that a row lacks is NULL.

    Raises:
        KeyError: When a row has a column that the record has not: it would be lost without a word.
    """
    schema = SCHEMAS[record]
    names = frozenset(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            msg = f"a {record} row has no column {', '.join(sorted(unknown))}"
            raise KeyError(msg)
    return pa.Table.from_pylist([{**_blank(schema), **row} for row in rows], schema=schema)


def _blank(schema: pa.Schema) -> dict[str, None]:
    return dict.fromkeys(schema.names)
