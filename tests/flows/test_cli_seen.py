"""What a person sees at the command: which workspace, which run, what failed and what helps."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from flows.cli import main
from schemas.errors import InputError
from schemas.seats import Failure, Given
from schemas.state import State
from tasks.compare import compare
from tasks.runs.close import mark_interrupted
from tasks.runs.prepare import Request, prepare
from tasks.runs.run import open_run
from tasks.store.runs import RunFolder, list_runs
from tasks.summary import summarize
from tasks.tables.ledger import told_failures
from tasks.workspace import folder
from tasks.workspace.folder import BUILT_IN, find_workspace
from tests.claude_seats import seat_claude
from tests.small_workspace import walk_all
from tests.stub.server import StubServer


def fourcells(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fourcells", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


class TestWhichWorkspace:
    @pytest.fixture(autouse=True)
    def unnamed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("FOURCELLS_WORKSPACE", raising=False)

    def test_the_one_around_us(self, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(workspace / "setups")
        assert find_workspace(None, edits=True) == workspace

    def test_the_built_in_one_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert find_workspace(None) == BUILT_IN
        assert str(BUILT_IN) in caplog.text

    def test_the_built_in_one_is_not_changed_by_chance(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="is not changed"):
            find_workspace(None, edits=True)
        assert find_workspace(BUILT_IN, edits=True) == BUILT_IN

    @pytest.mark.parametrize("verb", [["import", "x.jsonl", "--setup", "x"], ["keypoints", "from-references"]])
    def test_verbs_that_edit_ask_for_a_name(
        self, verb: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(folder, "BUILT_IN", tmp_path / "nobody's")
        assert fourcells(monkeypatch, *verb) == 2
        assert "Name yours with --workspace" in capsys.readouterr().err


class TestWhichRun:
    def test_setups_that_were_asked_less_say_so(self, done: Path) -> None:
        walk_all(done, setups=("v1",), questions=("q1", "q2"))
        notes = compare(done).notes
        assert [note for note in notes if "was asked" in note] == [
            "v1 was asked 2 of these 8 questions, and its numbers stand for those alone"
        ]

    @pytest.mark.parametrize(
        ("end", "said"),
        [("interrupted", "was interrupted before its end"), ("killed", "was killed before its end")],
    )
    def test_a_run_that_did_not_end_says_so(self, workspace: Path, end: str, said: str) -> None:
        plan = prepare(Request(workspace=workspace, setups=("v1",)))
        if end == "interrupted":
            mark_interrupted(plan)
        else:
            record = open_run(plan.workspace, plan.run_id).folder.record()
            RunFolder(workspace / "store" / "runs", plan.run_id).save(record.model_copy(update={"pid": 2**22 + 1}))
        assert any(said in note for note in compare(workspace).notes)
        assert list_runs(workspace / "store" / "runs")[-1].fate == end

    def test_a_run_under_way_says_so(self, workspace: Path) -> None:
        prepare(Request(workspace=workspace, setups=("v1",)))
        assert any("is under way" in note for note in compare(workspace).notes)

    def test_a_run_that_was_to_end_early_says_so(self, workspace: Path) -> None:
        walk_all(workspace, setups=("v1",), until="retrieve")
        assert any("was to end with retrieve" in note for note in compare(workspace).notes)

    def test_a_run_that_ended_says_nothing(self, done: Path) -> None:
        assert compare(done).notes == ()


class TestWhatFailed:
    def test_each_failure_gets_the_cure_that_helps(self, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        states = {
            "q1": Failure(state=State.OVER_BUDGET, kind="Budget", message="spent"),
            "q2": Failure(
                state=State.TIMED_OUT, kind="Deadline", message="slow (failed in 3 runs; --retry-failed tries again)"
            ),
            "q3": Failure(state=State.TIMED_OUT, kind="Deadline", message="slow"),
        }
        texts = {"How long does the audit": "q1", "When do nightly": "q2", "How long is a backup": "q3"}

        class Picky:
            def read(self, requests):  # type: ignore[no-untyped-def] # noqa: ANN202
                for position, request in enumerate(requests):
                    name = next((name for text, name in texts.items() if request.question.startswith(text)), "")
                    if name:
                        yield Given(position, states[name])

        monkeypatch.setattr("tasks.judge_grounding.open_reader", lambda *_: Picky())
        comparison = compare(workspace, run_id=walk_all(workspace, setups=("v1",), questions=("q1", "q2", "q3")))
        assert told_failures(comparison, grade_only=False) == (
            "3 of 3 questions failed at a stage, the ledger says where; the budget did not reach 1: give a larger "
            "--budget; 1 failed in three runs: --retry-failed tries them once more; run again to try the others"
        )

    def test_grading_names_what_has_no_answer(
        self, workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert fourcells(monkeypatch, "grade", "--workspace", str(workspace), "--setup", "v1", "--no-record") == 3
        told = capsys.readouterr().err.splitlines()[-1]
        assert told.endswith("8 have no answer yet: fourcells run makes it")


def test_grading_expects_to_pay_for_no_answer_that_is_not_there(workspace: Path, stub: StubServer) -> None:
    from flows.estimating import expect

    seat_claude(workspace)
    found = expect(Request(workspace=workspace, setups=("naive",), judge="claude", grade_only=True, estimate=True))
    assert [one.n_calls for one in found] == [0, 0, 0, 0]


def test_a_killed_run_has_its_money_in_its_record(workspace: Path, stub: StubServer) -> None:
    seat_claude(workspace)
    run_id = walk_all(workspace, setups=("naive",), judge="claude")
    whole = list_runs(workspace / "store" / "runs")[-1].paid_usd
    assert whole > 0
    shutil.rmtree(workspace / "store")
    stub.reset()
    plan = prepare(Request(workspace=workspace, setups=("naive",), judge="claude"))
    from flows.order import STAGES, walk

    run = open_run(plan.workspace, plan.run_id)
    walk(plan, run.shards, lambda name, args, _after: STAGES[name](*args))
    # Nobody closed it, as after kill -9.
    assert run.folder.record().state == "running"
    assert run.folder.record().paid_usd == pytest.approx(whole)
    assert summarize(compare(workspace))["setups"]["naive"]["paid_usd"] == pytest.approx(whole)
    assert run_id != plan.run_id
    run.release()


def test_a_query_may_begin_with_a_comment(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "-- how many\nSELECT count(*) AS n FROM cells WHERE setup = 'v1'"
    assert fourcells(monkeypatch, "sql", query, "--workspace", str(done), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 8}]


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert fourcells(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.startswith("fourcells ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_line(done: Path) -> None:
    import subprocess

    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "flows.cli", "report", "--workspace", str(done)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ},
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == "fourcells: the output could not be written: No space left on device\n"


def test_a_prefect_api_that_does_not_answer_is_one_paragraph(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert fourcells(monkeypatch, "run", "--workspace", str(workspace)) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (workspace / "store").exists()
