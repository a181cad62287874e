"""What the rows of an import file say: answers with passages, ids, ranks and gold, each value checked in its row."""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schemas.errors import InputError
from schemas.saved import SavedPassage, ranking_fault
from tasks.workspace.columns import Columns
from tasks.workspace.foreign import ForeignRow
from tasks.workspace.settings import validate

_TEXT_KEYS: Final = ("text", "content", "page_content")
_ID_KEYS: Final = ("id", "passage_id", "chunk_id")
_DOCUMENT_KEYS: Final = ("document", "document_id", "doc_id", "source")


@dataclass(frozen=True)
class Given:
    """One row.

    Attributes:
        answer: None when the row has none.
        passages: None when nobody recorded them.
        bare: Passages of which only ids (and ranks) came; their texts are empty.
        reference_contexts: Texts that hold the answer.
    """

    where: str
    question_id: str | None
    question: str | None
    answer: str | None
    passages: tuple[SavedPassage, ...] | None
    bare: tuple[SavedPassage, ...]
    gold_ids: tuple[str, ...]
    reference_contexts: tuple[str, ...]
    reference: str | None


def read_given(rows: Sequence[ForeignRow], columns: Columns, *, ranked: bool) -> list[Given]:
    """Read all rows.

    Args:
        rows: Of the file.
        columns: Which column holds what.
        ranked: The passages stand in the retriever's order.

    Raises:
        InputError: Naming the row and the column whose value cannot be read.
    """
    return [_given(row, columns, ranked=ranked) for row in rows]


def _given(row: ForeignRow, columns: Columns, *, ranked: bool) -> Given:
    def place(wanted: str) -> str:
        return f"{row.where} column {columns.names.get(wanted, wanted)}"

    def text(wanted: str) -> str | None:
        return _text(columns.get(row.fields, wanted), place(wanted))

    def texts(wanted: str) -> tuple[str, ...]:
        found = _list(columns.get(row.fields, wanted), place(wanted)) or []
        return tuple(one for entry in found if (one := _text(entry, place(wanted))))

    passages = _list(columns.get(row.fields, "passages"), place("passages"))
    ids, ranks = texts("passage_ids"), _list(columns.get(row.fields, "ranks"), place("ranks"))
    if passages is None and not ids and _list(columns.get(row.fields, "passage_ids"), place("passage_ids")) == []:
        passages = []  # an empty list of ids says as well that there were none
    entries = [""] * len(ids) if passages is None else passages
    found = _passages(row.where, entries, ids, ranks if entries else None, ranked=ranked)
    return Given(
        where=row.where,
        question_id=text("question_id") or None,
        question=text("question") or None,
        answer=text("answer"),
        passages=None if passages is None else found,
        bare=found if passages is None else (),
        gold_ids=texts("gold_ids"),
        reference_contexts=texts("reference_contexts"),
        reference=_reference(columns.get(row.fields, "reference"), place("reference")),
    )


def _passages(
    where: str, entries: list[Any], ids: tuple[str, ...], ranks: list[Any] | None, *, ranked: bool
) -> tuple[SavedPassage, ...]:
    for name, others in (("passage ids", ids), ("ranks", ranks)):
        if others and len(others) != len(entries):
            problem = f"{len(others)} {name} for {len(entries)} passages"
            raise InputError(problem, where=where, remedy="Give every passage its own, in the same order.")
    given: list[dict[str, Any]] = []
    found: list[SavedPassage] = []
    for position, entry in enumerate(entries):
        fields = _passage_fields(entry, f"{where} passage {position + 1}")
        if ids and fields["id"] is None:
            fields["id"] = ids[position]
        if ranks:
            fields["rank"] = ranks[position]
        if ranked:
            fields["rank"] = position + 1
        given.append(fields)
    for fields, rank in zip(given, _from_one([fields["rank"] for fields in given]), strict=True):
        found.append(validate(SavedPassage, fields | {"rank": rank}, where=f"{where} passage {len(found) + 1}"))
    if (fault := ranking_fault(found)) is not None:
        raise InputError(
            f"{fault}, and a ranking has every rank from 1 (or from 0) once",
            where=where,
            remedy="Where only a part of the retriever's list was recorded, it is a context: take the ranks out (of a "
            "column: --column ranks=).",
        )
    return tuple(found)


def _from_one(ranks: Sequence[Any]) -> list[Any]:
    """Ranks as numbers from 1, also of those who count from 0."""
    numbers = [
        int(float(rank)) if isinstance(rank, str | float) and str(rank).removesuffix(".0").isdigit() else rank
        for rank in ranks
    ]
    first = 1 if 0 in numbers else 0
    return [rank + first if isinstance(rank, int) else rank for rank in numbers]


def _passage_fields(entry: object, where: str) -> dict[str, Any]:
    if isinstance(entry, str):
        _check_characters(entry, where)
        return {"text": entry, "id": None, "document": None, "rank": None}
    if not isinstance(entry, Mapping):
        problem = f"a passage is a text, or an object with a text; got {_short(entry)}"
        raise InputError(problem, where=where)
    text = _first(entry, _TEXT_KEYS)
    if text is None:
        problem = f"the passage has no text; its keys are {', '.join(map(repr, entry)) or 'none'}"
        raise InputError(problem, where=where, allowed=", ".join(_TEXT_KEYS))
    return {
        "text": _text(text, where),
        "id": _text(_first(entry, _ID_KEYS), where),
        "document": _text(_first(entry, _DOCUMENT_KEYS), where),
        "rank": _first(entry, ("rank",)),
    }


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> object:
    return next((entry[key] for key in keys if not _missing(entry.get(key))), None)


def _missing(value: object) -> bool:
    # pandas writes NaN where there is no value; it is the one thing that differs from itself.
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124


def _text(value: object, where: str) -> str | None:
    if _missing(value):
        return None
    if isinstance(value, str):
        _check_characters(value, where)
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A column of whole numbers with a gap in it reaches us as 1.0, 2.0 and so on.
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    problem = f"expected a text, got {_short(value)}"
    raise InputError(problem, where=where)


def _check_characters(text: str, where: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        problem = f"half a character (\\u{ord(text[error.start]):04x}) in {_short(text)}"
        remedy = "Write characters beyond U+FFFF as both halves, or as UTF-8."
        raise InputError(problem, where=where, remedy=remedy) from None


def _list(value: object, where: str) -> list[Any] | None:
    """Take a list as it is, or as JSON (or pandas, to CSV) writes it in a text; an empty text is no list.

    Raises:
        InputError: When it is neither.
    """
    if _missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    found = _unwritten(value) if isinstance(value, str) else value
    if not isinstance(found, list | tuple):
        problem = f"expected a list, got {_short(value)}"
        remedy = 'Write it as a JSON list, such as ["first passage", "second passage"].'
        raise InputError(problem, where=where, remedy=remedy)
    return list(found)


def _unwritten(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _reference(value: object, where: str) -> str | None:
    """The reference answer; of several (ragas' old `ground_truths`) the first, since they say the same again."""
    if isinstance(value, list | tuple):
        value = next((entry for entry in value if not _missing(entry)), None)
    elif isinstance(value, str) and value.lstrip().startswith("["):
        several = _unwritten(value)
        value = several[0] if isinstance(several, list) and several else value
    text = _text(value, where)
    return text if text and text.strip() else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
