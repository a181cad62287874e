"""An instance of a JSON schema that depends on a seed and nothing else."""

from collections.abc import Mapping
from typing import Any, Final

from tests.stub.settings import fraction

_SCALARS: Final[Mapping[str, Any]] = {"string": "stub", "integer": 1, "number": 1.0, "null": None}


def invent(schema: Mapping[str, Any], seed: bytes) -> object:
    """The smallest instance with all properties; what can be chosen is chosen by hash of the seed.

    Args:
        schema: As structured outputs take it: references point into its own $defs.
        seed: Equal ones give equal instances.
    """
    return _invent(schema, schema.get("$defs", {}), seed)


def _invent(schema: Mapping[str, Any], named: Mapping[str, Any], seed: bytes) -> object:
    while "$ref" in schema or "anyOf" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema["anyOf"][0]
    if "const" in schema or "enum" in schema:
        values = schema.get("enum") or [schema["const"]]
        return values[int(fraction(seed) * len(values))]
    match schema.get("type", "object"):
        case "object":
            found = schema.get("properties", {})
            return {name: _invent(part, named, seed + b"/" + name.encode()) for name, part in found.items()}
        case "array":
            least = max(1, schema.get("minItems", 0))
            return [_invent(schema.get("items", {"type": "string"}), named, seed + b"/%d" % n) for n in range(least)]
        case "boolean":
            return fraction(seed) < 0.5
        case kind:
            return _SCALARS[kind]
