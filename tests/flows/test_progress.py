"""What a person sees of a run that goes on: questions through each stage, row by row."""

from pathlib import Path

import pytest

from flows.cli import progress
from flows.here import run_here
from schemas.plan import Until
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import open_run


def _seen(workspace: Path, until: Until = "attribute") -> dict[str, list[tuple[int, int]]]:
    plan = prepare(Request(workspace=workspace, setups=("v2",), until=until))
    seen: dict[str, list[tuple[int, int]]] = {}

    def show(stage: str, done: int, total: int) -> None:
        seen.setdefault(stage, []).append((done, total))

    run_here(plan, *progress._reports(open_run(plan.workspace, plan.run_id), show))
    return seen


@pytest.fixture(autouse=True)
def every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EYE_S", -1.0)


def test_a_stage_moves_row_by_row_and_ends_whole(workspace: Path) -> None:
    seen = _seen(workspace)
    rows = [(n, 8) for n in range(9)]
    assert seen["generate"] == [*rows, (8, 8)]
    # Two records: each moves a question by half.
    assert seen["retrieve"][::2] == rows
    assert list(seen) == ["index", "retrieve", "generate", "judge-grounding", "judge-correctness", "attribute"]
    assert {counts[-1] for stage, counts in seen.items() if stage != "index"} == {(8, 8)}


def test_what_is_reused_is_through_at_once(done: Path) -> None:
    assert _seen(done)["generate"] == [(0, 8), (8, 8)]


def test_a_run_that_ends_earlier_shows_no_later_stage(workspace: Path) -> None:
    assert list(_seen(workspace, until="retrieve")) == ["index", "retrieve"]
