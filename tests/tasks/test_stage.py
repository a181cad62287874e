"""The one loop of all stages: reuse, compute the missing, save as it goes, and let failures be failures."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tasks.stage as stage_module
from schemas.errors import StoreDamagedError
from schemas.seats import Failure, Given
from schemas.state import Reason, State
from schemas.trail import Step
from tasks.runs.close import close
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import Run, open_run
from tasks.stage import BLOCKED, MAX_ATTEMPTS, Item, Making, Outcomes, each, items_of, not_applicable, settle
from tasks.store.keys import digest
from tasks.store.rows import Row

REFUSAL = Failure(state=State.TIMED_OUT, kind="Deadline", message="60 s passed")


def _open(workspace: Path, *, grade_only: bool = False, retry_failed: bool = False) -> tuple[Run, list[Item]]:
    request = Request(workspace=workspace, setups=("v2",), grade_only=grade_only, retry_failed=retry_failed)
    plan = prepare(request)
    run = open_run(plan.workspace, plan.run_id)
    shard = run.shards("v2")[0]
    return run, items_of(run, shard, run.begin(shard))


def _end(run: Run, items: Sequence[Item]) -> None:
    run.folder.write_trails(run.shards("v2")[0], [item.trail for item in items])
    close(run.plan, [], ended="done")


def _key_of(item: Item) -> str:
    return digest(item.question.text)


def _row(item: Item) -> Row:
    return {"text": item.question.text, "text_digest": _key_of(item)}


def _making(
    compute: Callable[[Sequence[Item]], Outcomes], key_of: Callable[[Item], str] = _key_of, record: str = "answer"
) -> Making:
    return Making(record, key_of, compute, lambda trail, row: setattr(trail, "answer_digest", row["text_digest"]))


def _steps(items: Sequence[Item]) -> list[Step]:
    return [item.trail.answer for item in items]


def _never(items: Sequence[Item]) -> Outcomes:
    pytest.fail(f"{len(items)} rows were computed again")


def test_rows_are_computed_once_and_then_reused(workspace: Path) -> None:
    run, items = _open(workspace)
    settle(run, items, _making(lambda todo: each(_row, todo)))
    assert {(step.state, step.new) for step in _steps(items)} == {(State.SCORED, True)}
    again, same = _open(workspace)
    settle(again, same, _making(_never))
    assert {(step.state, step.new) for step in _steps(same)} == {(State.SCORED, False)}
    assert [item.trail.answer_digest for item in same] == [_key_of(item) for item in same]


def test_rows_may_come_in_any_order(workspace: Path) -> None:
    run, items = _open(workspace)
    settle(run, items, _making(lambda todo: reversed(list(each(_row, todo)))))
    rows = run.store.rows("answer").fetch(map(_key_of, items))
    assert all(rows[_key_of(item)]["text"] == item.question.text for item in items)


def test_equal_keys_are_computed_once(workspace: Path) -> None:
    run, items = _open(workspace)
    asked: list[int] = []

    def compute(todo: Sequence[Item]) -> Outcomes:
        asked.append(len(todo))
        return each(_row, todo)

    settle(run, items, _making(compute, lambda item: digest(item.question.answerable)))
    assert asked == [2]
    assert [step.new for step in _steps(items)] == [True, *[False] * 6, True]
    assert {step.state for step in _steps(items)} == {State.SCORED}


def test_an_error_in_one_row_fails_that_row_only(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    run, items = _open(workspace)

    def make(item: Item) -> Row:
        if item.question.question_id == "q3":
            message = "no such number"
            raise ZeroDivisionError(message)
        return _row(item)

    settle(run, items, _making(lambda todo: each(make, todo)))
    failed = [item for item in items if not item.trail.answer.scored]
    assert [item.question.question_id for item in failed] == ["q3"]
    step = failed[0].trail.answer
    assert (step.state, step.reason, step.message) == (State.ERRORED, "ZeroDivisionError", "no such number")
    assert "q3" in caplog.text
    assert run.store.rows("answer").count() == len(items) - 1


def test_a_failure_never_becomes_a_row_and_is_tried_again(workspace: Path) -> None:
    run, items = _open(workspace)
    settle(run, items, _making(lambda todo: each(lambda _: REFUSAL, todo)))
    assert {(step.state, step.reason, step.message, step.new) for step in _steps(items)} == {
        (State.TIMED_OUT, "Deadline", "60 s passed", True)
    }
    assert run.store.rows("answer").count() == 0
    _end(run, items)
    again, same = _open(workspace)
    settle(again, same, _making(lambda todo: each(_row, todo)))
    assert {step.state for step in _steps(same)} == {State.SCORED}


@pytest.mark.parametrize(
    ("failure", "lines"),
    [
        (
            REFUSAL,
            [f"answer of question 'q{n}' failed: Deadline: 60 s passed" for n in (1, 2, 3)]
            + ["answer of 5 more questions failed: Deadline"],
        ),
        (
            Failure(state=State.OVER_BUDGET, kind="Budget", message="…"),
            ["answer of 8 questions not tried: what is left of the budget does not reach for a call"],
        ),
    ],
    ids=["the same thing again and again", "the budget"],
)
def test_failures_are_told_without_a_flood(
    failure: Failure, lines: list[str], workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run, items = _open(workspace)
    settle(run, items, _making(lambda todo: each(lambda _: failure, todo)))
    assert [record.getMessage() for record in caplog.records if record.name == "fourcells.stage"] == lines


def test_a_row_that_the_stage_forgot_is_an_error(workspace: Path) -> None:
    run, items = _open(workspace)
    settle(run, items, _making(lambda todo: iter(list(each(_row, todo))[1:])))
    assert [(step.state, step.reason) for step in _steps(items)][:2] == [
        (State.ERRORED, "NoReply"),
        (State.SCORED, None),
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError], ids=["Ctrl-C", "an error of the stage itself"])
def test_what_was_computed_before_an_interrupt_is_saved(error: type[BaseException], workspace: Path) -> None:
    run, items = _open(workspace)

    def compute(todo: Sequence[Item]) -> Outcomes:
        yield from list(each(_row, todo))[:5]
        raise error

    with pytest.raises(error):
        settle(run, items, _making(compute))
    again, same = _open(workspace)
    settle(again, same, _making(lambda todo: each(_row, todo)))
    assert [step.new for step in _steps(same)] == [False] * 5 + [True] * 3


def test_rows_are_saved_while_a_long_stage_goes_on(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, items = _open(workspace)
    monkeypatch.setattr(stage_module, "_SAVE_EVERY_S", -1.0)
    saved: list[int] = []

    def compute(todo: Sequence[Item]) -> Outcomes:
        for outcome in each(_row, todo):
            saved.append(run.store.rows("answer").count())
            yield outcome

    settle(run, items, _making(compute))
    assert saved == list(range(8))


def test_who_watches_is_told_of_each_row(workspace: Path) -> None:
    run, items = _open(workspace)
    seen: list[tuple[str, float]] = []
    run.under_way.watch = lambda record: seen.append((record, run.under_way.n_questions(["answer"])))

    def compute(todo: Sequence[Item]) -> Outcomes:
        yield from each(_row, todo[:-1])
        yield Given(len(todo) - 1, REFUSAL)

    settle(run, items, _making(compute))
    assert seen == [("answer", n) for n in range(1, 9)]
    assert run.under_way.n_questions(["answer"]) == 0


def test_a_damaged_store_is_no_row_s_failure(workspace: Path) -> None:
    run, items = _open(workspace)

    def make(_: Item) -> Row:
        message = "a part is gone"
        raise StoreDamagedError(message)

    with pytest.raises(StoreDamagedError):
        settle(run, items, _making(lambda todo: each(make, todo)))


@pytest.mark.parametrize(
    ("settled", "state"),
    [(BLOCKED, State.BLOCKED), (not_applicable(Reason.NO_ANSWER), State.NOT_APPLICABLE)],
    ids=["blocked by an earlier stage", "nothing to score"],
)
def test_what_has_no_key_is_not_computed(settled: stage_module.Settled, state: State, workspace: Path) -> None:
    run, items = _open(workspace)
    settle(run, items, Making("answer", lambda _: settled, _never))
    assert {(step.state, step.reason, step.key) for step in _steps(items)} == {(state, settled.reason, None)}


class TestGradeOnly:
    def test_answers_are_taken_as_they_are(self, workspace: Path) -> None:
        run, items = _open(workspace)
        settle(run, items[:3], _making(lambda todo: each(_row, todo)))
        grading, same = _open(workspace, grade_only=True)
        settle(grading, same, _making(_never))
        assert [step.state for step in _steps(same)] == [State.SCORED] * 3 + [State.BLOCKED] * 5
        assert {step.new for step in _steps(same)} == {False}
        assert {step.message for step in _steps(same)[3:]} == {"`fourcells run` has not made this row yet"}

    def test_verdicts_are_made(self, workspace: Path) -> None:
        run, items = _open(workspace, grade_only=True)
        making = Making("cell", _key_of, lambda todo: each(lambda _: {"label": "correct"}, todo))
        settle(run, items, making)
        assert {item.trail.cell.state for item in items} == {State.SCORED}

    def test_saved_answers_are_taken_over(self, workspace: Path) -> None:
        run, items = _open(workspace, grade_only=True)
        settle(run, items, Making("answer", _key_of, lambda todo: each(_row, todo), free=True))
        assert {step.state for step in _steps(items)} == {State.SCORED}


class TestAttempts:
    def _fail_times(self, workspace: Path, times: int) -> None:
        for _ in range(times):
            run, items = _open(workspace)
            settle(run, items, _making(lambda todo: each(lambda _: REFUSAL, todo)))
            _end(run, items)

    def test_a_row_that_failed_in_three_runs_is_not_tried_again(self, workspace: Path) -> None:
        self._fail_times(workspace, MAX_ATTEMPTS)
        run, items = _open(workspace)
        settle(run, items, _making(_never))
        step = items[0].trail.answer
        assert (step.state, step.reason, step.new) == (State.TIMED_OUT, "Deadline", False)
        assert step.message == "60 s passed (failed in 3 runs; --retry-failed tries again)"

    def test_giving_up_is_no_attempt(self, workspace: Path) -> None:
        self._fail_times(workspace, MAX_ATTEMPTS)
        for _ in range(2):
            run, items = _open(workspace)
            settle(run, items, _making(_never))
            _end(run, items)
        run, items = _open(workspace)
        settle(run, items, _making(_never))
        assert items[0].trail.answer.message == "60 s passed (failed in 3 runs; --retry-failed tries again)"

    def test_twice_is_not_too_often(self, workspace: Path) -> None:
        self._fail_times(workspace, MAX_ATTEMPTS - 1)
        run, items = _open(workspace)
        settle(run, items, _making(lambda todo: each(_row, todo)))
        assert {step.state for step in _steps(items)} == {State.SCORED}

    def test_retry_failed_tries_again(self, workspace: Path) -> None:
        self._fail_times(workspace, MAX_ATTEMPTS)
        run, items = _open(workspace, retry_failed=True)
        settle(run, items, _making(lambda todo: each(_row, todo)))
        assert {step.state for step in _steps(items)} == {State.SCORED}
