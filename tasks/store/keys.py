"""Keys: a hash of everything that could change a row and nothing else."""

import hashlib
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

Material: TypeAlias = "bool | int | float | str | bytes | Sequence[Material] | Mapping[str, Material] | None"


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
        1,
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


def digest(material: Material) -> str:
    """Hash a value in the one canonical typed encoding: 32 hex digits (blake2b-128).

    `1`, `"1"`, `1.0` and `True` differ; mappings do not depend on their order; tuples count as lists.

    Raises:
        TypeError: For a set or any other type without one canonical order.

    >>> digest(1) == digest(True), digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    (False, True)
    """
    hasher = hashlib.blake2b(digest_size=16)
    parts: list[bytes] = []
    _encode(material, parts)
    hasher.update(b"".join(parts))
    return hasher.hexdigest()


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
    if set(inputs) != set(recipe.inputs):
        msg = f"the key of a {record} is made of {sorted(recipe.inputs)}, got {sorted(inputs)}"
        raise TypeError(msg)
    return digest([record, recipe.version, [inputs[name] for name in recipe.inputs]])


def _encode(value: Material, parts: list[bytes]) -> None:
    # Every value starts with its type and says its length, so no two values share an encoding. Exact types
    # stand first: keys are made for every row of every stage, and asking for a subclass takes longest.
    kind = type(value)
    if kind is str:
        parts.append(_encode_text(value))  # type: ignore[arg-type]
    elif kind is list or kind is tuple:
        parts.append(b"l%d:" % len(value))  # type: ignore[arg-type]
        for item in value:  # type: ignore[union-attr]
            _encode(item, parts)
    elif kind is dict:
        _encode_mapping(value, parts)  # type: ignore[arg-type]
    elif kind is int:
        parts.append(b"i%d;" % value)  # type: ignore[str-format]
    elif value is None:
        parts.append(b"n")
    elif isinstance(value, list | tuple):
        _encode(list(value), parts)
    elif isinstance(value, Mapping):
        _encode_mapping(value, parts)
    else:
        parts.append(_encode_scalar(value))


def _encode_mapping(value: Mapping[str, Material], parts: list[bytes]) -> None:
    parts.append(b"m%d:" % len(value))
    for name in sorted(value):
        _encode(name, parts)
        _encode(value[name], parts)


def _encode_text(value: str) -> bytes:
    # surrogatepass: a lone surrogate out of somebody's JSON is still a text with a key.
    raw = value.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(raw), raw)


def _encode_scalar(value: object) -> bytes:
    match value:
        case str():
            return _encode_text(value)
        case bool():
            return b"t" if value else b"f"
        case int():
            return b"i%d;" % value
        case float():
            return b"d" + struct.pack(">d", value)
        case bytes():
            return b"b%d:%b" % (len(value), value)
        case _:
            msg = f"no canonical encoding for {type(value).__name__}"
            raise TypeError(msg)
