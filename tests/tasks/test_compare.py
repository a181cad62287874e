"""What stands side by side, and what does not: other judges, questions, points or thresholds are other measurements."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.cell import Cell
from schemas.errors import InputError
from schemas.spent import Spent
from tasks.compare import compare
from tasks.metrics import cells
from tasks.models.table import models_of, who_replied
from tasks.summary import summarize
from tests.small_workspace import walk_all


def _edit_lines(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        change(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _edit_point(folder: Path, question: str, number: int, **values: object) -> None:
    path = folder / "keypoints.json"
    points = json.loads(path.read_text(encoding="utf-8"))
    points[question][number] |= values
    path.write_text(json.dumps(points), encoding="utf-8")


def _ask_otherwise(folder: Path) -> None:
    _edit_lines(folder, lambda row: row.update(text="When do backups start?") if row["id"] == "q2" else None)


def _thresholds(folder: Path) -> None:
    (folder / "grading.toml").write_text("correct_at = 0.5\n", encoding="utf-8")


APART: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a question in other words": (_ask_otherwise, "(q2)", "fourcells run --setup v1"),
    "a key point in other words": (
        lambda folder: _edit_point(folder, "q1", 0, text="Kept for 90 days."),
        "(q1)",
        "grade",
    ),
    "a key point of another weight": (lambda folder: _edit_point(folder, "q3", 1, weight="okay"), "(q3)", "grade"),
    "other gold": (
        lambda folder: _edit_lines(folder, lambda row: row.update(gold=[]) if row["id"] == "q3" else None),
        "(q3)",
        "grade",
    ),
    "other thresholds": (_thresholds, "as correct from 0.75, not from 0.9 and 0.5", "grade"),
}


@pytest.mark.parametrize(("change", "told", "cure"), APART.values(), ids=APART)
def test_other_measurements_are_not_put_side_by_side(
    workspace: Path, change: Callable[[Path], object], told: str, cure: str
) -> None:
    walk_all(workspace, setups=("v1",))
    change(workspace)
    walk_all(workspace, setups=("v2",))
    comparison = compare(workspace)
    assert [pick.setup for pick in comparison.picks] == ["v2"]
    assert any("v1 is left out" in note and told in note for note in comparison.notes)
    with pytest.raises(InputError, match="do not compare") as caught:
        compare(workspace, setups=("v1", "v2"))
    assert cure in caught.value.remedy
    assert [pick.setup for pick in compare(workspace, setups=("v1",)).picks] == ["v1"], "alone it compares with nothing"
    walk_all(workspace, setups=("v1",))
    assert [pick.setup for pick in compare(workspace, setups=("v1", "v2")).picks] == ["v1", "v2"]


def test_tags_and_reviews_change_no_measurement(workspace: Path) -> None:
    walk_all(workspace, setups=("v1",))
    _edit_lines(workspace, lambda row: row.update(tags={"team": "a"}))
    _edit_point(workspace, "q1", 0, status="reviewed")
    walk_all(workspace, setups=("v2",))
    assert [pick.setup for pick in compare(workspace, setups=("v1", "v2")).picks] == ["v1", "v2"]


def test_a_setup_alone_is_measured_by_its_own_thresholds(workspace: Path) -> None:
    walk_all(workspace, setups=("v1",))
    _thresholds(workspace)
    walk_all(workspace, setups=("v2",))
    assert compare(workspace, setups=("v1",)).plan.grading.correct_at == 0.75
    assert compare(workspace, setups=("v2",)).plan.grading.correct_at == 0.5


@pytest.mark.parametrize("models", [("llama3:8b", "qwen2.5:8b"), ("m-1", "m-2")])
def test_names_of_models_are_told_apart_whatever_they_hold(models: tuple[str, str]) -> None:
    one, other = (Spent(n_calls=1, model=model) for model in models)
    assert models_of(who_replied("0f3a", one.model)) == [models[0]]
    assert models_of(who_replied("0f3a", (one + other + one).model)) == sorted(models)


def test_a_question_whose_label_failed_is_still_counted(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk_all(workspace, setups=("v1",))
    whole = summarize(compare(workspace))["setups"]["v1"]["metrics"]
    find = cells.find_cell

    def fails_once(facts: cells.Facts, **thresholds: float) -> Cell:
        if not isinstance(facts.correctness, cells.Missing) and facts.correctness[0].point_id == "q2.1":
            raise ZeroDivisionError
        return find(facts, **thresholds)

    monkeypatch.setattr("tasks.attribute.find_cell", fails_once)
    shutil.rmtree(workspace / "store" / "rows" / "cell")
    walk_all(workspace, setups=("v1",))
    summary = summarize(compare(workspace))["setups"]["v1"]
    assert summary["cells"]["undetermined"] == 1
    for metric in ("correct_rate", "correct_grounded", "correct_not_grounded"):
        assert summary["metrics"][metric] == whole[metric]


def test_correctness_is_counted_before_there_are_labels(workspace: Path) -> None:
    walk_all(workspace, setups=("v1",), until="judge-correctness")
    early = summarize(compare(workspace))["setups"]["v1"]["metrics"]["correct_rate"]
    walk_all(workspace, setups=("v1",))
    assert early == summarize(compare(workspace))["setups"]["v1"]["metrics"]["correct_rate"]
    assert early["n"] == 7
