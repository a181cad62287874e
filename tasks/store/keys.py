"""Keys: a hash of everything that could change a row and nothing else."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

Material: TypeAlias = "bool | int | float | str | Sequence[Material] | Mapping[str, Material] | None"


class Recipe(NamedTuple):
    """What a record's key is made of. Raise `version` when the stage computes something else from the same."""

    version: int
    inputs: tuple[str, ...]


# The one table of what every key is made of (DESIGN.md). Left out on purpose, since they cannot change a
# result: time-outs, parallelism, shard sizes, paths, names of setups and judges, ids of questions.
RECIPES: Final[Mapping[str, Recipe]] = {
    "document": Recipe(1, ("document_id", "text_digest")),
    "question": Recipe(1, ("content",)),
    "key_point": Recipe(1, ("content",)),
    "chunks": Recipe(1, ("text_digest", "splitting", "splitter")),
    "index": Recipe(1, ("chunks", "retriever")),
    "ranking": Recipe(1, ("index", "question", "depth")),
    "context": Recipe(1, ("ranking", "k", "neighbours", "cut_off", "room")),
    "imported_ranking": Recipe(1, ("passages", "documents")),
    "imported_context": Recipe(1, ("passages", "documents")),
    "answer": Recipe(1, ("question", "passages", "prompt", "writer", "trial")),
    "reading": Recipe(1, ("question", "answer", "reader_key", "trial")),
    "grounding": Recipe(1, ("question", "claims", "passages", "judge_key", "trial")),
    "correctness": Recipe(1, ("question", "answer", "points", "judge_key", "trial")),
    "cell": Recipe(
        2,
        (
            "question",
            "answerable",
            "gold_rule",
            "gold",
            "points",
            "context",
            "answer",
            "reading",
            "grounding",
            "correctness",
            "states",
            "thresholds",
            "calibration",
        ),
    ),
    "reader": Recipe(1, ("provider", "endpoint", "model", "parameters", "prompt", "schema", "parser")),
    "judge": Recipe(1, ("provider", "endpoint", "model", "parameters", "prompt", "schema", "parser")),
    "inputs": Recipe(1, ("setups", "judge", "questions", "documents", "grading", "until")),
}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    msg = f"no canonical encoding for {type(value).__name__}"
    raise TypeError(msg)


# Keys are made for every row of every stage: this encoder is C, and as strict as one of our own.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


def digest(material: "Material | bytes") -> str:
    """Hash a value in the one canonical typed encoding, JSON with sorted keys: 32 hex digits (blake2b-128).

    `1`, `"1"`, `1.0` and `True` differ; mappings do not depend on their order; tuples count as lists.

    Raises:
        TypeError: For a set or any other type without one canonical order, and for bytes inside something.

    >>> digest(1) == digest(True), digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    (False, True)
    """
    # No JSON text begins so, and no two values share one. Half a surrogate pair out of somebody's JSON is still text.
    if isinstance(material, bytes):
        raw = b"bytes:" + material
    else:
        raw = _ENCODER.encode(material).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def text_digest(text: str) -> str:
    """Digest of a text alone, as rows store it.

    >>> text_digest("30 days") == digest("30 days")
    True
    """
    return digest(text)


def key(record: str, **inputs: Material) -> str:
    """Make a row's key: record kind and stage version first, then its inputs by name.

    Raises:
        TypeError: When an input of the record's recipe is missing or one too many is given.
    """
    recipe = RECIPES[record]
    values = [inputs[name] for name in recipe.inputs if name in inputs]
    if not len(values) == len(inputs) == len(recipe.inputs):
        msg = f"the key of a {record} is made of {sorted(recipe.inputs)}, got {sorted(inputs)}"
        raise TypeError(msg)
    return digest([record, recipe.version, values])
