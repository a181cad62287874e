"""Which reading by the judge and the reader counts."""

from typing import Any

import pytest

from tasks.runs.trials import NOTHING_FRESH, Fresh, Trials, trials_of
from tasks.store.runs import RunRecord


def graded(trials: dict[str, tuple[int, int]], *, reader_key: str = "r", judge_key: str = "j") -> RunRecord:
    values: dict[str, Any] = {
        "run_id": "1",
        "inputs_id": "i",
        "state": "done",
        "started_at": "2026-01-01",
        "until": "attribute",
        "setups": tuple(trials),
        "judge": "claude",
        "reader_key": reader_key,
        "judge_key": judge_key,
        "points_key": "p",
        "trials": trials,
        "n_questions": 1,
    }
    return RunRecord(**values)


RUNS = [
    graded({"v1": (0, 0), "v2": (3, 3)}),
    graded({"v1": (1, 2)}),
    graded({"v1": (2, 0)}, judge_key="other"),
    graded({"v1": (0, 1)}, reader_key="other"),
    graded({"v2": (4, 4)}),
]


@pytest.mark.parametrize(
    ("setup", "fresh", "trials"),
    [
        pytest.param("v1", NOTHING_FRESH, Trials(reading=2, judging=1), id="the latest by the same reader and judge"),
        pytest.param("v1", Fresh(reading=True), Trials(reading=3, judging=1), id="a fresh reading"),
        pytest.param("v1", Fresh(judging=True), Trials(reading=2, judging=3), id="a fresh judging, after the highest"),
        pytest.param("w1", NOTHING_FRESH, Trials(), id="never graded"),
        pytest.param("w1", Fresh(reading=True, judging=True), Trials(), id="never graded, and fresh"),
    ],
)
def test_trials(setup: str, fresh: Fresh, trials: Trials) -> None:
    assert trials_of(setup, RUNS, reader_key="r", judge_key="j", fresh=fresh) == trials
