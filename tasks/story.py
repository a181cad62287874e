"""One question's whole story in one setup: what it was given, what it said, what of that holds, and its cell."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.errors import InputError
from schemas.gold import ResolvedPlace
from schemas.question import AskedQuestion
from schemas.trail import Trail
from tasks.compare import Comparison
from tasks.runs.run import Run, open_run
from tasks.scores import asked_of
from tasks.store.rows import Row
from tasks.text.ink import Ink

Story = dict[str, Any]


def tell(comparison: Comparison, question_id: str) -> list[Story]:
    """Tell the story of one question, once per setup.

    Args:
        comparison: The setups and runs to look at.
        question_id: An id, or the beginning of exactly one.

    Raises:
        InputError: When no or more than one question has such an id.
    """
    stories = []
    chosen: str | None = None
    known: dict[str, None] = {}
    for pick in comparison.picks:
        run = open_run(str(comparison.workspace), pick.run_id)
        asked = {one.question.question_id: one for one in asked_of(run, pick.setup)}
        known.update(dict.fromkeys(asked))
        chosen = chosen or _choose(question_id, list(asked))
        if chosen in asked:
            stories.append(_tell(run, pick.setup, asked[chosen].question, asked[chosen].trail))
    if not stories:
        near = [name for name in known if name.startswith(question_id)]
        raise InputError(
            f"{len(near)} questions begin with {question_id!r}" if near else f"unknown question {question_id!r}",
            allowed=", ".join((near or list(known))[:10]) + (", …" if len(near or known) > 10 else ""),
        )
    return stories


def _choose(question_id: str, names: Sequence[str]) -> str | None:
    if question_id in names:
        return question_id
    near = [name for name in names if name.startswith(question_id)]
    return near[0] if len(near) == 1 else None


def _tell(run: Run, setup: str, question: AskedQuestion, trail: Trail) -> Story:
    rows = {
        name: run.store.rows(name).fetch([step.key])[step.key] if step.scored and step.key else None
        for name in ("ranking", "context", "answer", "reading", "grounding", "correctness", "cell")
        for step in [getattr(trail, name)]
    }
    context = rows["context"]
    return {
        "setup": setup,
        "run_id": run.plan.run_id,
        "judge": run.plan.judge.name,
        "question_id": question.question_id,
        "question": question.text,
        "answerable": question.answerable,
        "gold_rule": question.gold_rule,
        "gold": [[_place(place) for place in entry.places] for entry in question.gold],
        "passages": _passages(run, question, context["passages"]) if context else None,
        "gold_elsewhere": _elsewhere(question, rows["ranking"], context),
        "answer": rows["answer"]["text"] if rows["answer"] else None,
        "no_answer": trail.no_answer,
        **{name: rows["reading"][name] if rows["reading"] else None for name in ("form", "gives_answer", "relevancy")},
        "claims": _claims(rows["reading"], rows["grounding"]),
        "points": _points(question, rows["correctness"]),
        "cell": {
            name: value for name, value in (rows["cell"] or {}).items() if name not in {"key", "made_by", "made_at"}
        },
        "states": {
            name: {"state": step.state, "reason": step.reason, "message": step.message}
            for name in rows
            for step in [getattr(trail, name)]
            if not step.scored
        },
    }


def _place(place: ResolvedPlace) -> dict[str, Any]:
    return place.model_dump(include={"kind", "target_id", "start", "end"})


def _passages(run: Run, question: AskedQuestion, passages: Sequence[Row]) -> list[dict[str, Any]]:
    texts = run.texts.passages(passages)
    return [
        {
            "number": number,
            "document": passage["document_id"],
            "id": passage["foreign_id"],
            "ranges": [[part["start"], part["end"]] for part in passage["ranges"]],
            "n_tokens": passage["n_tokens"],
            "text": text,
            "gold": _gold_within(question, passage, text),
        }
        for number, (passage, text) in enumerate(zip(passages, texts, strict=True), start=1)
    ]


def _gold_within(question: AskedQuestion, passage: Row, text: str) -> list[list[int]]:
    """Characters of a passage that are gold of the question or of a point; all where its page or its id is gold."""
    ink = Ink(text)
    found: set[tuple[int, int]] = set()
    entries = [*question.gold, *(entry for point in question.points for entry in point.gold)]
    for place in (place for entry in entries for place in entry.places):
        owner = passage["foreign_id"] if place.kind == "passage" else passage["document_id"]
        if place.target_id != owner:
            continue
        if place.ink_start is None or place.ink_end is None:
            found.add((0, len(text)))
            continue
        # Counted in ink, since an imported passage may be spaced otherwise than its document.
        for part in passage["ranges"][:1]:
            start, end = place.ink_start - part["ink_start"], place.ink_end - part["ink_start"]
            length = part["ink_end"] - part["ink_start"]
            if start < length and end > 0:
                found.add((ink.offset(max(start, 0) + 1) - 1, ink.offset(min(end, length))))
    return [list(pair) for pair in sorted(found)]


def _elsewhere(question: AskedQuestion, ranking: Row | None, context: Row | None) -> list[dict[str, Any]]:
    """Gold that is not in the context: at which ranks of the ranking its document stands."""
    given = {passage["document_id"] for passage in (context or {"passages": ()})["passages"]}
    found = []
    for entry in question.gold:
        place = entry.places[0]
        if place.kind == "passage" or place.target_id in given:
            continue
        ranks = [
            rank
            for rank, passage in enumerate((ranking or {"passages": ()})["passages"], start=1)
            if passage["document_id"] == place.target_id
        ]
        found.append({"document": place.target_id, "ranks": ranks})
    return found


def _claims(reading: Row | None, grounding: Row | None) -> list[dict[str, Any]]:
    if reading is None:
        return []
    verdicts: Mapping[int, Row] = {row["number"]: row for row in (grounding or {"verdicts": ()})["verdicts"]}
    return [
        {
            "number": claim["number"],
            "text": claim["text"],
            "verdict": verdicts[claim["number"]]["verdict"] if claim["number"] in verdicts else None,
            "judged": verdicts[claim["number"]]["judged"] if claim["number"] in verdicts else None,
            "quotes": verdicts[claim["number"]]["quotes"] if claim["number"] in verdicts else [],
            "lost_quotes": verdicts[claim["number"]]["lost_quotes"] if claim["number"] in verdicts else [],
            "why": verdicts[claim["number"]]["why"] if claim["number"] in verdicts else "",
        }
        for claim in reading["claims"]
    ]


def _points(question: AskedQuestion, correctness: Row | None) -> list[dict[str, Any]]:
    verdicts = (correctness or {"verdicts": [None] * len(question.points)})["verdicts"]
    return [
        {
            "id": point.point_id,
            "text": point.text,
            "vital": point.vital,
            "status": point.status,
            "verdict": verdict["verdict"] if verdict else None,
            "quote": verdict["quote"] if verdict else "",
            "why": verdict["why"] if verdict else "",
        }
        for point, verdict in zip(question.points, verdicts, strict=True)
    ]
