"""A folder in BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`, as a workspace's questions."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from schemas.errors import InputError
from schemas.gold import GoldEntry
from schemas.question import Question
from tasks.workspace.settings import parse_object, read_text

_HEADER: Final = ("query-id", "corpus-id", "score")


@dataclass(frozen=True)
class BeirFolder:
    """What such a folder holds.

    Attributes:
        corpus: Its `corpus.jsonl`.
        qrels: The file of judgments that was read.
        questions: Those with a judgment above 0 or a reference answer.
        n_left_out: Queries with neither.
    """

    corpus: Path
    qrels: Path
    questions: tuple[Question, ...]
    n_left_out: int


def read_beir(folder: Path) -> BeirFolder:
    """Read queries and judgments; a judgment above 0 becomes document gold with the score as its grade.

    Raises:
        InputError: When a file is missing or wrong, the choice among several qrels is open, or no query is left.
    """
    for name in ("corpus.jsonl", "queries.jsonl", "qrels"):
        if not (folder / name).exists():
            problem = f"this is no folder in BEIR's layout: it has no {name}"
            raise InputError(problem, where=str(folder), allowed="corpus.jsonl, queries.jsonl and qrels/*.tsv")
    qrels = _choose_qrels(folder / "qrels")
    judged = read_qrels(qrels)
    queries = dict(_read_queries(folder / "queries.jsonl"))
    if unknown := next((name for name in judged if name not in queries), None):
        problem = f"query {unknown!r} is judged, and not in queries.jsonl"
        raise InputError(problem, where=str(qrels))
    questions = tuple(
        _question(name, *query, judged.get(name, {}))
        for name, query in queries.items()
        if name in judged or query[1] is not None
    )
    if not questions:
        problem = "no query has a judgment above 0 or a reference answer"
        raise InputError(problem, where=str(folder / "queries.jsonl"))
    return BeirFolder(folder / "corpus.jsonl", qrels, questions, len(queries) - len(questions))


def _choose_qrels(folder: Path) -> Path:
    found = sorted(folder.glob("*.tsv"))
    test = folder / "test.tsv"
    if test in found:
        return test
    if len(found) == 1:
        return found[0]
    names = ", ".join(path.name for path in found)
    problem = f"which judgments to take is open: {names}" if found else "there are no judgments (*.tsv)"
    raise InputError(problem, where=str(folder), remedy="Name the right one test.tsv." if found else "Add test.tsv.")


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Read judgments above 0: document and score, by query, in the file's order.

    Raises:
        InputError: When the header is missing, a line has not three columns, or a pair is judged twice.
    """
    judged: dict[str, dict[str, float]] = {}
    seen: set[tuple[str, str]] = set()
    lines = [line.rstrip("\r") for line in read_text(path).split("\n")]
    if tuple(lines[0].split("\t")) != _HEADER:
        problem = f"the first line is {lines[0][:80]!r}"
        raise InputError(problem, where=str(path), allowed="a header of three columns, " + " <tab> ".join(_HEADER))
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        cells = line.split("\t")
        if len(cells) != len(_HEADER):
            problem = f"{len(cells)} columns instead of {len(_HEADER)}"
            raise InputError(problem, where=where, allowed=" <tab> ".join(_HEADER))
        query, document, score = cells[0], cells[1], _score(cells[2], where)
        if (query, document) in seen:
            problem = f"query {query!r} and document {document!r} are judged twice"
            raise InputError(problem, where=where)
        seen.add((query, document))
        if score > 0:
            judged.setdefault(query, {})[document] = score
    return judged


def _score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        problem = f"the score {text[:80]!r} is no number"
        raise InputError(problem, where=where)
    return score


def _read_queries(path: Path) -> Iterator[tuple[str, tuple[str, str | None]]]:
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        query = parse_object(line, where=where)
        name, text = query.get("_id"), query.get("text")
        if not isinstance(name, str) or not name or not isinstance(text, str) or not text.strip():
            problem = "a query needs a string _id and a string text"
            raise InputError(problem, where=where)
        if name in seen:
            problem = f"query {name!r} is there twice"
            raise InputError(problem, where=where, remedy="Give one of them another _id.")
        seen.add(name)
        yield name, (text, _reference(query))


def _reference(query: Mapping[str, Any]) -> str | None:
    metadata = query.get("metadata")
    answer = metadata.get("answer") if isinstance(metadata, dict) else None
    return answer if isinstance(answer, str) and answer.strip() else None


def _question(name: str, text: str, reference: str | None, judged: Mapping[str, float]) -> Question:
    gold = tuple(GoldEntry(document=document, grade=score) for document, score in judged.items())
    return Question(
        id=name, text=text, answerable="yes", gold=gold, gold_rule="any" if gold else "all", reference=reference
    )
