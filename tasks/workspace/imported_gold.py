"""Gold that an import file brings: resolved once against the corpus, for questions that have no labels yet."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from schemas.document import Document
from schemas.question import Question
from tasks.search.locate import Locator
from tasks.workspace.given import Given
from tasks.workspace.settings import read_text
from tasks.workspace.writing import replace_text

# What stands in more places than these says nothing of where an answer is.
_MOST_PLACES: Final = 20


@dataclass
class Labels:
    """What was added to which question, and how much of each.

    Attributes:
        changes: New values of a question's fields, by question id.
        n_kept: Questions for which the file has gold, and which have labels of their own.
        n_lost: Reference contexts whose text is not in the corpus.
    """

    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    n_spans: int = 0
    n_documents: int = 0
    n_foreign: int = 0
    n_lost: int = 0
    n_kept: int = 0
    n_references: int = 0
    n_unanswerable: int = 0


class GoldResolver:
    """Turns gold ids and reference contexts into places.

    Args:
        rows: All rows of the file: ids are looked up among the passages of every one.
        documents: By id.
        locator: Over the same documents.
    """

    def __init__(self, rows: Iterable[Given], documents: Mapping[str, Document], locator: Locator) -> None:
        self._documents = documents
        self._locator = locator
        self._texts: dict[str, set[tuple[str, str | None]]] = {}
        for row in rows:
            for passage in row.passages or ():
                if passage.id is not None:
                    self._texts.setdefault(passage.id, set()).add((passage.text, passage.document))
            if len(row.gold_ids) == len(row.reference_contexts):
                for name, text in zip(row.gold_ids, row.reference_contexts, strict=True):
                    self._texts.setdefault(name, set()).add((text, None))

    def places(self, row: Given, labels: Labels) -> list[dict[str, Any]]:
        """Find a row's gold, each place once, and count what kind it is."""
        found = [self._place_of_id(name) for name in row.gold_ids]
        if len(row.gold_ids) != len(row.reference_contexts):
            # Otherwise they are the texts of these very ids, and looked up with them.
            spans = [self._span({(text, None)}) for text in row.reference_contexts]
            found.extend(span for span in spans if span is not None)
            labels.n_lost += spans.count(None)
        unique = list({json.dumps(place): place for place in found}.values())
        labels.n_spans += sum("start" in place for place in unique)
        labels.n_foreign += sum("passage" in place for place in unique)
        labels.n_documents += sum("start" not in place and "passage" not in place for place in unique)
        return unique

    def _place_of_id(self, name: str) -> dict[str, Any]:
        if name in self._documents:
            return {"document": name}
        return self._span(self._texts.get(name, set())) or {"passage": name}

    def _span(self, texts: set[tuple[str, str | None]]) -> dict[str, Any] | None:
        """Where all these texts stand: a place, and others that hold the same as its alternatives.

        None when there is none, when one id came with different texts, or when so short a text stands everywhere.
        """
        found = [
            list(islice(self._locator.everywhere(text, document=named), _MOST_PLACES + 1)) for text, named in texts
        ]
        common = [place for place in found[0] if all(place in others for others in found)] if found else []
        if not common or len(common) > _MOST_PLACES:
            return None
        place, *others = [
            {"document": place.document, "start": place.range.start, "end": place.range.end} for place in common
        ]
        return place | ({"alternatives": others} if others else {})


def new_labels(given: Mapping[str, Given], questions: Sequence[Question], resolver: GoldResolver) -> Labels:
    """Say what the file adds to the questions; labels that people have are never overwritten.

    Args:
        given: Rows by question id.
        questions: Of the workspace.
        resolver: Over all rows.
    """
    labels = Labels()
    for question in questions:
        row = given.get(question.id)
        if row is None:
            continue
        has_gold = bool(row.gold_ids or row.reference_contexts)
        if question.answerable == "no":
            labels.n_unanswerable += has_gold or row.reference is not None
            continue
        change: dict[str, Any] = {}
        if has_gold and question.gold:
            labels.n_kept += 1
        elif has_gold and (places := resolver.places(row, labels)):
            # The file does not say that all of them are needed together.
            change |= {"gold": places, "gold_rule": "any"}
        if row.reference is not None and question.reference is None:
            labels.n_references += 1
            change["reference"] = row.reference
        if change:
            labels.changes[question.id] = change | ({"answerable": "yes"} if question.answerable == "unknown" else {})
    return labels


def write_labels(workspace: Path, labels: Labels) -> None:
    """Change the questions' lines in `questions.jsonl`; every other line stays as it is."""
    if not labels.changes:
        return
    path = workspace / "questions.jsonl"
    lines = read_text(path).split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        record = json.loads(line)
        if change := labels.changes.get(record["id"]):
            lines[number] = json.dumps({**record, **change}, ensure_ascii=False)
    replace_text(path, "\n".join(lines))
