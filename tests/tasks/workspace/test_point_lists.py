"""`keypoints.json` changed in place: what did not change keeps its text, and nobody's work is written over."""

import json
from pathlib import Path

import pytest

from schemas.errors import InputError
from schemas.question import KeyPoint, Question
from tasks.workspace.folder import BUILT_IN
from tasks.workspace.point_lists import as_json, change_lists, replace_list
from tasks.workspace.questions import read_key_points, read_point_lists, read_questions

KNOWN = {name: Question(id=name, text="Why?") for name in ("q1", "q2", "q3")}
TEXT = json.dumps(
    {
        "q1": [{"text": "Räume.", "id": "q1/1"}, {"id": "q1/2", "text": "b", "status": "dropped"}],
        "q2": [{"id": "q2/1", "text": "c", "weight": "okay"}],
    },
    indent=2,
    ensure_ascii=False,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "keypoints.json").write_text(f"{TEXT}\n", encoding="utf-8")
    return tmp_path


def test_only_the_changed_point_changes_in_the_file(folder: Path) -> None:
    (before,) = read_point_lists(folder, KNOWN)["q2"]
    after = before.model_copy(update={"text": "C."})
    replace_list(folder, KNOWN, "q2", before=[before], after=[after])
    wanted = {**json.loads(TEXT), "q2": [as_json(after)]}
    assert (folder / "keypoints.json").read_text("utf-8") == json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    replace_list(folder, KNOWN, "q2", before=[after], after=[before])
    assert read_point_lists(folder, KNOWN)["q2"] == (before,)


def test_what_somebody_else_changed_is_not_written_over(folder: Path) -> None:
    lists = read_point_lists(folder, KNOWN)
    (folder / "keypoints.json").write_text(TEXT.replace('"c"', '"changed"').replace("Räume", "Zimmer"), "utf-8")
    with pytest.raises(InputError, match="changed by somebody else"):
        replace_list(folder, KNOWN, "q2", before=lists["q2"], after=[])
    # Another question's points may have changed: they are kept.
    replace_list(folder, KNOWN, "q3", before=[], after=[KeyPoint(id="q3/1", text="new")])
    found = read_point_lists(folder, KNOWN)
    assert [found[name][0].text for name in found] == ["Zimmer.", "changed", "new"]


def test_no_change_leaves_the_file_alone(folder: Path) -> None:
    before = (folder / "keypoints.json").stat().st_ino
    change_lists(folder, KNOWN, lambda _: {})
    assert (folder / "keypoints.json").stat().st_ino == before


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    change_lists(tmp_path, KNOWN, lambda _: {"q1": [KeyPoint(id="q1/1", text="a")]})
    assert [point.id for point in read_key_points(tmp_path, KNOWN)["q1"]] == ["q1/1"]


def test_dropped_points_are_not_in_use(folder: Path) -> None:
    assert [point.id for point in read_key_points(folder, KNOWN)["q1"]] == ["q1/1"]
    assert [point.id for point in read_point_lists(folder, KNOWN)["q1"]] == ["q1/1", "q1/2"]


def test_every_point_of_the_built_in_file_is_written_as_it_stands_there() -> None:
    known = {question.id: question for question in read_questions(BUILT_IN)}
    raw = json.loads((BUILT_IN / "keypoints.json").read_text("utf-8"))
    lists = read_point_lists(BUILT_IN, known)
    assert {name: [json.dumps(as_json(point)) for point in found] for name, found in lists.items()} == {
        name: [json.dumps(entry) for entry in found] for name, found in raw.items()
    }
