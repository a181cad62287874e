"""The human-labelled sets of FOURCELLS_REAL_DATA/judging, and which part of each is for tuning."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.parquet as pq

# Tuned on dev and reported on test, but for this one, whose test labels are not public.
_REPORTED_ON: Final = {"scifact": "dev"}


class Pair(NamedTuple):
    """A statement, the text it was held against, and what people said.

    Attributes:
        source: The set it comes from.
        text: The context of a claim, or the answer that a key point or reference is looked for in.
        statement: The claim, key point or reference answer.
        label: Whether people found the statement in the text.
        level: The label with all its levels, as its set has them.
        question: The question asked, or "".
        cluster: What is resampled: rows of one cluster are not independent.
        for_tuning: Whether it may be tuned on; then no figure may be reported on it.
    """

    source: str
    text: str
    statement: str
    label: bool
    level: str
    question: str
    cluster: str
    for_tuning: bool


def read_claims(folder: Path) -> list[Pair]:
    """Claims with the context they were checked against; a cluster is a context."""
    return [_pair(row, text="context", statement="claim", cluster="context") for row in _rows(folder, "claims")]


def read_key_points(folder: Path) -> list[Pair]:
    """Key points with the answer they were looked for in; a cluster is an answer."""
    return [_pair(row, text="answer", statement="keypoint", cluster="answer") for row in _rows(folder, "key_points")]


def read_answers(folder: Path) -> list[Pair]:
    """Reference answers with the answer that people graded; a cluster is a question."""
    rows = _rows(folder, "answers")
    return [_pair(row, text="answer", statement="reference", cluster="question") for row in rows]


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return sorted(rows, key=lambda row: (row["source"], row["id"]))


def _pair(row: dict[str, Any], *, text: str, statement: str, cluster: str) -> Pair:
    return Pair(
        source=row["source"],
        text=row[text],
        statement=row[statement],
        label=row["label"],
        level=row.get("label_raw", ""),
        question=row["question"] or "",
        cluster=row[cluster],
        for_tuning=row["split"] != _REPORTED_ON.get(row["source"], "test"),
    )
