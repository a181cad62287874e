"""TOML files and JSON records, checked against their models; every mistake becomes one clear paragraph."""

import difflib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from schemas.claude import Provider
from schemas.errors import InputError
from schemas.setup import Grading, Judge, Setup

Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], data: Mapping[str, Any], *, where: str) -> Model:
    """Check data against a model.

    Raises:
        InputError: Naming the first wrong key, what was got and what is allowed; further ones are counted.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        explained = _explain(error, model, where)
    raise explained


def _explain(error: ValidationError, model: type[BaseModel], where: str) -> InputError:
    # An unknown key is the likeliest cause of the others, so it is told first.
    entries = sorted(error.errors(include_url=False), key=lambda entry: entry["type"] != "extra_forbidden")
    first, *others = [_explain_one(entry, model, where) for entry in entries]
    first.others = tuple(others)
    return first


def _explain_one(first: ErrorDetails, model: type[BaseModel], where: str) -> InputError:
    # A tagged union adds its tag to the path; a person wrote no such key.
    path = ".".join(str(part) for part in first["loc"] if str(part) not in _tags(model))
    if first["type"] == "extra_forbidden":
        allowed = sorted(_fields(model, first["loc"][:-1]))
        near = difflib.get_close_matches(str(first["loc"][-1]), allowed, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Remove it or correct its name."
        return InputError(f"unknown key {path}", where=where, allowed=", ".join(allowed), remedy=hint)
    if first["type"] == "missing":
        if path.endswith(".model"):
            return InputError(
                f"key {path} is missing: no paid model is a default",
                where=where,
                allowed=_models_of(first),
                remedy="Name one.",
            )
        return InputError(f"key {path} is missing", where=where, remedy="Add it.")
    if first["type"] == "union_tag_invalid":
        told = first["ctx"]
        label, got = f"{path}.{told['discriminator'].strip(chr(39))}", _shown(told["tag"])
        return InputError(f"key {label}: unknown {got}", where=where, allowed=told["expected_tags"].replace("'", ""))
    message = str(first["msg"]).removeprefix("Value error, ")
    got = _shown(first.get("input"))
    label = f"key {path}" if path else "the record"
    return InputError(f"{label}: {message[0].lower()}{message[1:]}; got {got}", where=where)


def _models_of(missing: ErrorDetails) -> str:
    # Imported here: the price list is only looked into when somebody named no model.
    from tasks.models.claude.prices import known_models  # noqa: PLC0415

    provider: Provider = missing["input"]["provider"]
    return ", ".join(known_models(provider))


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _tags(model: type[BaseModel]) -> frozenset[str]:
    seats = frozenset({"offline", *get_args(Provider)})
    return {Setup: seats | {"tokens", "heading", "document"}, Judge: seats}.get(model, frozenset())


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Names of the fields at a path inside a model, through optional, tuple and union types."""
    models = [model]
    for part in path:
        annotations = [kind.model_fields[str(part)].annotation for kind in models if str(part) in kind.model_fields]
        if annotations:
            models = [found for annotation in annotations for found in _models(annotation)]
        elif not isinstance(part, int):
            tagged = [
                kind
                for kind in models
                if any(part in get_args(field.annotation) for field in kind.model_fields.values())
            ]
            models = tagged or models
    return sorted({name for kind in models for name in kind.model_fields if name != "name"})


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models(part)]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        InputError: When it is not UTF-8 or not TOML, with the line.
    """
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", where=str(path), remedy="Correct this line.") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte-order mark.

    Raises:
        InputError: When it cannot be read or is not UTF-8, with the line of the first wrong byte.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not UTF-8: byte 0x{raw[error.start]:02x} in line {line}",
            where=str(path),
            remedy="Save the file as UTF-8, for example with: iconv -f LATIN1 -t UTF-8.",
        ) from None


def parse_json(text: str, *, where: str) -> object:
    r"""Read JSON that somebody wrote.

    Raises:
        InputError: When it is not JSON, or holds half a character (a lone surrogate such as "\ud800").
    """
    try:
        value = json.loads(text)
        # Only an escape can bring a lone surrogate in; no file, table or terminal could take it out again.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(
            "a string holds half a character (a lone surrogate escape)", where=where, remedy="Remove the escape."
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", where=where) from None
    return value


def parse_object(text: str, *, where: str) -> dict[str, Any]:
    """The same, for a JSON object.

    Raises:
        InputError: When it is something else.
    """
    return as_object(parse_json(text, where=where), where=where)


def as_object(value: object, *, where: str) -> dict[str, Any]:
    """The value, known to be an object.

    Raises:
        InputError: When it is something else.
    """
    if not isinstance(value, dict):
        raise InputError("expected a JSON object", where=where)
    return value


def names_in(folder: Path) -> list[str]:
    """Names of the settings files in a folder."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def load_setup(workspace: Path, name: str) -> Setup:
    """Load `setups/NAME.toml`."""
    return _load(Setup, workspace / "setups", name, kind="setup")


def load_judge(workspace: Path, name: str) -> Judge:
    """Load `judges/NAME.toml`."""
    return _load(Judge, workspace / "judges", name, kind="judge")


def load_grading(workspace: Path) -> Grading:
    """Load `grading.toml`; a workspace without one takes the defaults."""
    path = workspace / "grading.toml"
    return validate(Grading, read_toml(path) if path.exists() else {}, where=str(path))


def _load(model: type[Model], folder: Path, name: str, *, kind: str) -> Model:
    known = names_in(folder)
    # Compared with the names there are, never turned into a path: a name may hold anything.
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}?" if near else f"Name one of these, or add a file to {folder}."
        raise InputError(f"unknown {kind} {name!r}", allowed=", ".join(known) or "none yet", remedy=hint)
    path = folder / f"{name}.toml"
    data = read_toml(path)
    if "name" in data:
        raise InputError("unknown key name", where=str(path), remedy="Remove it: the file's name is the name.")
    return validate(model, {**data, "name": name}, where=str(path))
