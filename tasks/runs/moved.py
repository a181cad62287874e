"""Has the workspace moved on since a run? The run still reports, from its own rows, and says so."""

from dataclasses import replace
from pathlib import Path

from schemas.errors import InputError
from tasks.compare import Comparison
from tasks.runs.prepare import Request, check
from tasks.store.keys import text_digest
from tasks.store.runs import RunFolder, load_asked, load_plan
from tasks.store.store import Store


def noting_moves(comparison: Comparison) -> Comparison:
    """Add a note for each run whose questions, points, documents or settings are not those of the workspace now."""
    notes = [note for run_id in comparison.runs for note in _notes(comparison.workspace, run_id)]
    return replace(comparison, notes=(*comparison.notes, *notes))


def _notes(workspace: Path, run_id: str) -> list[str]:
    folder = RunFolder(Store(workspace / "store").runs_folder, run_id).folder
    plan, then = load_plan(folder), load_asked(folder)
    names = tuple(planned.setup.name for planned in plan.setups)
    questions = tuple(question.question_id for question in then)
    try:
        now = check(Request(workspace, setups=names, judge=plan.judge.name, questions=questions, skip_unresolved=True))
    except InputError as error:
        return [f"run {run_id}: the workspace has moved on since; {error}"]
    before = {
        question.question_id: (question.question_key, [p.point_key for p in question.points]) for question in then
    }
    after = {
        question.question_id: (question.question_key, [p.point_key for p in question.points]) for question in now.asked
    }
    documents = {(document.document_id, document.text_digest) for document in plan.documents}
    changed = {
        "questions or points": sum(before[name] != after.get(name) for name in before),
        "documents": len(documents ^ {(one.document_id, text_digest(one.text)) for one in now.documents}),
        "setups": sum(
            (a.setup, a.answers_digest) != (b.setup, b.answers_digest)
            for a, b in zip(plan.setups, now.setups, strict=True)
        ),
        "thresholds": int(plan.grading != now.grading),
    }
    told = ", ".join(f"{n} {what}" for what, n in changed.items() if n)
    return [f"run {run_id}: the workspace has moved on since ({told} changed); run it again to compare"] if told else []
