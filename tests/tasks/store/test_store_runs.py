"""Runs: the manifest, read while it is written, and counting of failed attempts."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tasks.store.runs as runs_module
from schemas.errors import StoreDamagedError
from schemas.plan import Plan, PlannedSetup, Shard
from schemas.setup import Grading, Judge, Setup
from schemas.state import FAILED, ON_ITS_WAY, State
from schemas.trail import Step, Trail
from tasks.store.runs import RunFolder, RunRecord, failed_attempts, list_runs, new_run_id

STEPS = st.builds(
    Step,
    state=st.none() | st.sampled_from(State),
    reason=st.none() | st.text(max_size=5),
    message=st.none() | st.text(max_size=5),
    key=st.none() | st.text("0123456789abcdef", min_size=32, max_size=32),
    new=st.none() | st.booleans(),
)
MAYBE = st.none() | st.text(max_size=5)
COUNTS = st.none() | st.integers(0, 10**9)
TRAILS = st.builds(
    Trail,
    setup=st.text(max_size=5),
    question_id=st.text(max_size=5),
    question_key=st.text(max_size=5),
    **dict.fromkeys(runs_module.STEPS, STEPS),
    **dict.fromkeys(("passages_digest", "answer_digest", "no_answer", "claims_digest", "label"), MAYBE),
    **dict.fromkeys(("context_tokens", "n_claims"), COUNTS),
    paid_usd=st.floats(0, 100),
    spent_s=st.floats(0, 100),
)


def _begin(runs: Path, run_id: str, *, state: str = "running", n_failed: int = 0) -> RunFolder:
    plan = Plan(
        run_id=run_id,
        inputs_id="i",
        workspace=str(runs),
        started_at="2026-01-01",
        setups=(PlannedSetup(setup=Setup(name="a")), PlannedSetup(setup=Setup(name="b"))),
        judge=Judge(name="offline"),
        grading=Grading(),
        documents=(),
        n_questions=2,
    )
    record = RunRecord.model_validate({
        "run_id": run_id,
        "inputs_id": "i",
        "state": state,
        "started_at": "2026-01-01",
        "until": "attribute",
        "setups": ("a", "b"),
        "judge": "offline",
        "reader_key": "r",
        "judge_key": "j",
        "points_key": "j",
        "trials": {},
        "n_questions": 2,
        "n_failed": n_failed,
    })
    folder = RunFolder(runs, run_id)
    folder.create(plan, record, [])
    return folder


def _shard(runs: Path, run_id: str, setup: str = "a", number: int = 0) -> Shard:
    return Shard(workspace=str(runs), run_id=run_id, setup=setup, number=number, start=0, stop=1)


def _trail(setup: str = "a", question: str = "q", answer: Step | None = None) -> Trail:
    return Trail(setup=setup, question_id=question, question_key="k", answer=answer or Step())


def _fail(runs: Path, run_id: str, *steps: Step, close: bool = True) -> None:
    folder = _begin(runs, run_id, state="failed_rows", n_failed=1)
    for setup, step in zip("ab", steps, strict=False):
        folder.write_trails(_shard(runs, run_id, setup), [_trail(setup, answer=step)])
    if close:
        folder.close(folder.record())


def _failed(*, key: str = "k1", state: State = State.ERRORED, message: str = "no", new: bool = True) -> Step:
    return Step(state=state, reason="Kind", message=message, key=key, new=new)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trails=st.lists(TRAILS, max_size=4))
def test_trails_are_read_back_as_they_were_written(trails: list[Trail], tmp_path: Path) -> None:
    run_id = new_run_id()
    folder = _begin(tmp_path, run_id)
    folder.write_trails(_shard(tmp_path, run_id), trails)
    assert folder.read_trails(_shard(tmp_path, run_id)) == trails


class TestManifest:
    def test_shards_that_were_never_reached_have_no_rows_yet(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        assert folder.manifest().num_rows == 0
        assert folder.all_trails("a") == []
        folder.write_trails(_shard(tmp_path, "r", "b", 1), [_trail("b", "q2")])
        folder.write_trails(_shard(tmp_path, "r", "a", 0), [_trail("a", "q1")])
        assert folder.manifest().column("question_id").to_pylist() == ["q1", "q2"]
        assert [trail.question_id for trail in folder.all_trails("b")] == ["q2"]
        assert folder.rows_of("c").num_rows == 0

    def test_steps_of_a_setup_are_those_of_its_trails(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        for setup, number in (("b", 0), ("a", 1), ("a", 0)):
            folder.write_trails(_shard(tmp_path, "r", setup, number), [_trail(setup, f"{setup}{number}")])
        trails = folder.all_trails("a")
        assert [trail.question_id for trail in trails] == ["a0", "a1"]
        steps = folder.steps("a", ("context", "cell"))
        assert steps == {trail.question_id: (trail.context, trail.cell) for trail in trails}

    def test_a_shard_written_again_replaces_its_rows(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        for question in ("first", "second"):
            folder.write_trails(_shard(tmp_path, "r"), [_trail(question=question)])
        assert folder.manifest().column("question_id").to_pylist() == ["second"]

    def test_closing_merges_the_shards_and_counts_what_failed(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        for number, step in enumerate((_failed(), Step(state=State.SCORED), Step(state=State.BLOCKED))):
            folder.write_trails(_shard(tmp_path, "r", number=number), [_trail(question=str(number), answer=step)])
        assert folder.count_failed() == 2
        folder.close(folder.record())
        assert sorted(path.name for path in folder.folder.iterdir()) == [
            "asked.parquet",
            "manifest.parquet",
            "plan.json",
            "run.json",
        ]
        assert folder.manifest().num_rows == 3
        assert folder.count_failed() == 2

    def test_an_empty_run_can_be_closed(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        assert folder.count_failed() == 0
        folder.close(folder.record())
        assert folder.manifest().num_rows == 0

    @pytest.mark.parametrize("moment", ["before the first shard is read", "after the first shard was read"])
    def test_a_reader_gets_all_rows_while_the_run_is_closed(
        self, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = _begin(tmp_path, "r")
        for number in range(3):
            folder.write_trails(_shard(tmp_path, "r", number=number), [_trail(question=str(number))])
        read = runs_module._read_table

        def close_meanwhile(path: Path, columns: list[str] | None = None) -> object:
            monkeypatch.undo()
            if moment.startswith("before"):
                RunFolder(tmp_path, "r").close(folder.record())
                return read(path, columns)
            found = read(path, columns)
            RunFolder(tmp_path, "r").close(folder.record())
            return found

        monkeypatch.setattr(runs_module, "_read_table", close_meanwhile)
        assert sorted(folder.manifest().column("question_id").to_pylist()) == ["0", "1", "2"]

    def test_a_damaged_manifest_is_said_with_the_way_out(self, tmp_path: Path) -> None:
        folder = _begin(tmp_path, "r")
        folder.close(folder.record())
        path = folder.folder / "manifest.parquet"
        os.truncate(path, path.stat().st_size - 9)
        with pytest.raises(StoreDamagedError, match=r"manifest.parquet.*reuses every saved row"):
            folder.manifest()


class TestListOfRuns:
    def test_oldest_first_also_within_a_second(self, tmp_path: Path) -> None:
        names = [new_run_id() for _ in range(20)]
        assert len({name[:-3] for name in names}) > 1
        assert [name[:-3] for name in sorted(names)] == [name[:-3] for name in names]
        for name in names[:2]:
            _begin(tmp_path, name)
        assert [record.run_id for record in list_runs(tmp_path)] == sorted(names[:2])

    def test_what_is_no_run_is_skipped(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        _begin(tmp_path, "good")
        _begin(tmp_path, "bad").folder.joinpath("run.json").write_text("{", encoding="utf-8")
        (tmp_path / "being-written").mkdir()
        assert [record.run_id for record in list_runs(tmp_path)] == ["good"]
        assert "run bad cannot be read" in caplog.text
        assert "being-written" not in caplog.text

    def test_a_store_without_runs_has_none(self, tmp_path: Path) -> None:
        assert list_runs(tmp_path / "runs") == []


class TestFailedAttempts:
    def test_runs_are_counted_and_the_last_one_speaks(self, tmp_path: Path) -> None:
        for number in range(3):
            _fail(tmp_path, f"r{number}", _failed(message=f"message {number}"))
        found = failed_attempts(tmp_path, "answer", but_for="")
        assert {key: (entry.count, entry.message) for key, entry in found.items()} == {"k1": (3, "message 2")}

    def test_the_run_under_way_does_not_count(self, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed())
        assert failed_attempts(tmp_path, "answer", but_for="r0") == {}

    def test_two_setups_that_share_a_row_are_one_attempt(self, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed(message="one"), _failed(message="two"))
        assert failed_attempts(tmp_path, "answer", but_for="")["k1"].count == 1

    def test_a_killed_run_counts_as_far_as_it_came(self, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed(), close=False)
        assert failed_attempts(tmp_path, "answer", but_for="")["k1"].count == 1

    @pytest.mark.parametrize("state", State)
    def test_only_what_was_tried_and_failed_counts(self, state: State, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed(state=state))
        tried = state in FAILED - {State.BLOCKED, State.OVER_BUDGET}
        assert bool(failed_attempts(tmp_path, "answer", but_for="")) is tried

    def test_a_row_that_was_given_up_without_trying_does_not_count(self, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed(new=False))
        assert failed_attempts(tmp_path, "answer", but_for="") == {}

    @pytest.mark.parametrize("kind", sorted(ON_ITS_WAY))
    def test_what_waits_for_a_batch_does_not_count(self, kind: str, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", replace(_failed(), reason=kind))
        assert failed_attempts(tmp_path, "answer", but_for="") == {}

    def test_other_records_do_not_count(self, tmp_path: Path) -> None:
        _fail(tmp_path, "r0", _failed())
        assert failed_attempts(tmp_path, "reading", but_for="") == {}

    def test_a_run_that_cannot_be_read_is_passed_over(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        _fail(tmp_path, "r0", _failed())
        _fail(tmp_path, "r1", _failed())
        (tmp_path / "r1" / "manifest.parquet").write_bytes(b"PAR1")
        assert failed_attempts(tmp_path, "answer", but_for="")["k1"].count == 1
        assert "r1" in caplog.text
