"""Whether two runs measured the same thing: numbers that come from different ones do not compare (METRICS.md §7)."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.question import AskedQuestion
from tasks.store.runs import RunRecord, load_asked, load_plan

# What says nothing of the measurement: a person may tag a question or review a point at any time.
_ASIDE: Final[dict[str, Any]] = {
    "question_key": True,
    "tags": True,
    "points": {"__all__": {"point_key": True, "status": True}},
}


class Difference(NamedTuple):
    """What stands between two runs, told of the one in question, and the verb that takes it away."""

    told: str
    verb: str


def difference(runs: Path, record: RunRecord, reference: RunRecord) -> Difference | None:
    """Say why a run's numbers do not stand beside another's.

    Args:
        runs: The store's folder of runs.
        record: The run in question.
        reference: The one it would stand beside.
    """
    if _judged_by(record) != _judged_by(reference):
        return Difference(f"was read or judged by another version of judge {record.judge}", "grade")
    if record.run_id == reference.run_id:
        return None
    mine, theirs = (load_plan(runs / one.run_id).grading for one in (record, reference))
    if (mine.grounded_at, mine.correct_at) != (theirs.grounded_at, theirs.correct_at):
        return Difference(
            f"counts as grounded from {mine.grounded_at} and as correct from {mine.correct_at}, not from "
            f"{theirs.grounded_at} and {theirs.correct_at}",
            "grade",
        )
    before = {question.question_id: question for question in load_asked(runs / record.run_id)}
    common = [
        (before[one.question_id], one) for one in load_asked(runs / reference.run_id) if one.question_id in before
    ]
    changed = [(old, new) for old, new in common if old.question_key != new.question_key or old.points != new.points]
    changed = [(old, new) for old, new in changed if _measured(old) != _measured(new)]
    if not changed:
        return None
    asked_anew = any(old.text != new.text for old, new in changed)
    names = ", ".join(old.question_id for old, _ in changed[:3]) + (", …" if len(changed) > 3 else "")
    return Difference(
        f"asked {len(changed)} of its questions with other words, gold or key points ({names})",
        "run" if asked_anew else "grade",
    )


def _judged_by(record: RunRecord) -> tuple[str, str, str]:
    return record.reader_key, record.judge_key, record.points_key


def _measured(question: AskedQuestion) -> dict[str, Any]:
    return question.model_dump(exclude=_ASIDE)
