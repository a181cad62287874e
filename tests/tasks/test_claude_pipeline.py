"""The whole pipeline with Claude in every seat, against a stub of the API: three setups, one per prompt."""

import asyncio
import logging
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from flows.estimating import expect
from schemas.claude import ClaudeSettings
from schemas.errors import FourcellsError, InputError
from schemas.expected import Expected
from schemas.state import State
from tasks.compare import compare
from tasks.models.claude import connection, desk
from tasks.models.claude.batches import Batches
from tasks.models.claude.prices import rates_of
from tasks.models.claude.sending import Clock
from tasks.runs.estimate import _ASSUMED as ASSUMED
from tasks.runs.prepare import Request
from tasks.runs.trials import Fresh
from tasks.store.runs import list_runs
from tasks.summary import summarize
from tests.claude_seats import JUDGE, SETUPS, WRITER, seat_claude
from tests.small_workspace import run_all, stored, tables, timeless, totals, trails_of, walk_all
from tests.stub.server import StubServer
from tests.stub.settings import Fault

RUN: dict[str, Any] = {"setups": SETUPS, "judge": "claude"}
SEATED = ("answer", "reading", "grounding", "correctness")
JUDGED = ("grounding", "correctness")
CALLS = "POST /v1/messages"
BATCHES = "POST /v1/messages/batches"


@pytest.fixture
def seated(workspace: Path, stub: StubServer) -> Path:
    """The small workspace with Claude in every seat, and a stub to ask."""
    return seat_claude(workspace)


def calls(stub: StubServer) -> int:
    """How many messages were asked for so far."""
    return stub.stats().requests.get(CALLS, 0)


def test_every_row_is_made_by_claude_once_and_its_cost_is_known(seated: Path, stub: StubServer) -> None:
    summary = run_all(seated, **RUN)
    assert totals(summary, "failed") == dict.fromkeys(totals(summary, "failed"), 0)
    rows = stored(seated)
    asked = sum(row["n_calls"] for record in SEATED for row in rows[record].values())
    assert asked == calls(stub)
    # A setup's own answer and key points: three calls a graded answer, fewer where two setups share a row.
    assert 0 < asked <= 3 * 8 * 4
    for record in SEATED:
        # Nobody is asked about an answer without a claim, or a context without a passage.
        for row in (row for row in rows[record].values() if row["n_calls"]):
            assert row["cost_usd"] > 0
            assert row["input_tokens"] + row["cache_read_tokens"] + row["cache_write_tokens"] > 0
            assert row["output_tokens"] > 0
            assert row["latency_s"] > 0
    assert {row["writer_id"] for row in rows["answer"].values()} == {WRITER}
    judges = {row["judge_id"] for record in SEATED[1:] for row in rows[record].values() if row["n_calls"]}
    assert {name.rpartition(":")[2] for name in judges} == {JUDGE}
    assert not summary["offline_judge"]
    run = list_runs(seated / "store" / "runs")[-1]
    cost = sum(row["cost_usd"] for record in SEATED for row in rows[record].values())
    assert run.paid_usd == pytest.approx(cost)


STAGES = {"generate": "answer", "read": "reading", "judge-grounding": "grounding", "judge-correctness": "correctness"}
SUMMED = ("n_calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def test_who_replied_and_what_it_took_are_those_of_the_rows_behind_a_setup(seated: Path, stub: StubServer) -> None:
    run_id = walk_all(seated, **RUN)
    comparison = compare(seated, run_id=run_id)
    replied = {(row["stage"], row["judge_id"].rpartition(":")[2]) for row in comparison.database.run("who_replied")}
    assert replied == {(stage, JUDGE) for stage in ("read", "judge-grounding", "judge-correctness")}
    summary = summarize(comparison)
    rows = stored(seated)
    for name, setup in summary["setups"].items():
        trails = trails_of(seated, run_id, name).values()
        assert list(setup["took"]) == list(STAGES)
        for stage, record in STAGES.items():
            steps = [getattr(trail, record) for trail in trails]
            behind = [rows[record][step.key] for step in steps if step.scored]
            asked = [row for row in behind if row["n_calls"]]
            assert setup["took"][stage] == {
                "n_rows": len(asked),
                **{column: sum(row[column] for row in behind) for column in SUMMED},
                "cost_usd": pytest.approx(sum(row["cost_usd"] for row in behind)),
                "latency_s": pytest.approx(median(row["latency_s"] for row in asked)),
            }
        assert setup["cost_usd"] == pytest.approx(sum(took["cost_usd"] for took in setup["took"].values()))


def test_an_identical_second_run_asks_nothing_and_pays_nothing(seated: Path, stub: StubServer) -> None:
    first = run_all(seated, **RUN)
    before, rows = calls(stub), timeless(stored(seated))
    second = run_all(seated, **RUN)
    assert calls(stub) == before
    assert timeless(stored(seated)) == rows
    assert tables(second) == tables(first)
    assert set(totals(second, "computed").values()) == {0}
    assert list_runs(seated / "store" / "runs")[-1].paid_usd == 0
    # A reused row still says what it cost when it was made.
    costs = [setup["cost_usd"] for setup in second["setups"].values()]
    assert all(cost > 0 for cost in costs)


@pytest.mark.parametrize(
    ("prompt", "again"),
    [
        ("grounded", {"answer"}),
        ("reader", {"reading"}),
        ("grounding", {"grounding"}),
        ("points", {"correctness"}),
    ],
)
def test_an_edited_prompt_recomputes_from_its_stage_on(
    seated: Path, stub: StubServer, prompt: str, again: set[str]
) -> None:
    run_all(seated, **RUN)
    before = stored(seated)
    path = seated / "prompts" / f"{prompt}.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    run_all(seated, **RUN)
    after = stored(seated)
    grown = {record for record in before if len(after[record]) > len(before[record])}
    # The stub answers the same, whatever it is told, so what reads the new row finds all it needs saved already.
    assert grown == {*again, "cell"}


def test_a_comment_in_a_prompt_recomputes_nothing(seated: Path, stub: StubServer) -> None:
    run_all(seated, **RUN)
    before = calls(stub)
    for path in (seated / "prompts").glob("*.md"):
        path.write_text(path.read_text(encoding="utf-8") + "\n<!-- why: a thought -->\n", encoding="utf-8")
    run_all(seated, **RUN)
    assert calls(stub) == before


def test_what_cannot_change_a_reply_recomputes_nothing(seated: Path, stub: StubServer) -> None:
    run_all(seated, **RUN)
    before = calls(stub)
    seat_claude(seated, more="concurrency = 2\ndeadline_s = 30\npatience_s = 90\n")
    run_all(seated, **RUN)
    assert calls(stub) == before


def test_a_comparison_says_that_judge_and_writer_are_one_model(
    seated: Path, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    judge = seated / "judges" / "claude.toml"
    judge.write_text(judge.read_text(encoding="utf-8").replace(JUDGE, WRITER), encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="fourcells"):
        run_id = walk_all(seated, setups=("naive",), judge="claude")
    said = "judge claude is the same model as the writer of naive"
    assert said in caplog.text
    assert any(said in note for note in compare(seated, run_id=run_id).notes)


def test_a_fresh_grading_is_another_reading_by_the_same_judge(seated: Path, stub: StubServer) -> None:
    run_all(seated, **RUN)
    before, asked = stored(seated), calls(stub)
    run_id = walk_all(seated, **RUN, grade_only=True, fresh=Fresh(judging=True))
    after = stored(seated)
    grown = {record: len(after[record]) - len(rows) for record, rows in before.items()}
    assert grown["grounding"] == len(before["grounding"])
    assert grown["correctness"] == len(before["correctness"])
    assert grown["answer"] == grown["reading"] == 0
    new = [row for record in JUDGED for key, row in after[record].items() if key not in before[record]]
    assert calls(stub) == asked + sum(row["n_calls"] for row in new)
    runs = {run.run_id: run for run in list_runs(seated / "store" / "runs")}
    assert runs[run_id].trials == dict.fromkeys(SETUPS, (0, 1))
    # From now on this reading is the one that counts.
    asked = calls(stub)
    again = walk_all(seated, **RUN)
    assert calls(stub) == asked
    runs = {run.run_id: run for run in list_runs(seated / "store" / "runs")}
    assert runs[again].trials == dict.fromkeys(SETUPS, (0, 1))


def test_a_budget_leaves_the_rest_pending_and_keeps_what_was_bought(seated: Path, stub: StubServer) -> None:
    # One call of the judge's at its worst, and a little: what it does cost leaves room for a few more.
    limit = 0.1
    run_id = walk_all(seated, **RUN, budget_usd=limit)
    run = next(run for run in list_runs(seated / "store" / "runs") if run.run_id == run_id)
    assert 0 < run.paid_usd <= limit
    assert run.state == "failed_rows"
    states = [
        getattr(trail, record).state
        for setup in SETUPS
        for trail in trails_of(seated, run_id, setup).values()
        for record in SEATED
    ]
    assert State.OVER_BUDGET in states
    assert State.SCORED in states
    bought = calls(stub)
    summary = run_all(seated, **RUN)
    assert totals(summary, "failed") == dict.fromkeys(totals(summary, "failed"), 0)
    assert calls(stub) > bought, "the rest was bought"
    paid = sum(run.paid_usd for run in list_runs(seated / "store" / "runs"))
    cost = sum(row["cost_usd"] for record in SEATED for row in stored(seated)[record].values())
    assert paid == pytest.approx(cost), "resumed runs add up"
    assert stub.stats().answered_again == 0, "and nothing twice"


def test_an_estimate_asks_nothing_and_counts_the_calls_to_come(seated: Path, stub: StubServer) -> None:
    expected = expect(Request(workspace=seated, **RUN))
    assert calls(stub) == 0
    assert not list_runs(seated / "store" / "runs"), "an estimate is no run"
    run_all(seated, **RUN)
    # Only what the answers will be is not known before; a call for each is.
    assert sum(one.n_calls for one in expected) >= calls(stub)
    assert sum(one.n_calls for one in expected if one.stage == "generate") == len(stored(seated)["answer"])
    after = expect(Request(workspace=seated, **RUN))
    assert sum(one.n_calls for one in after) == 0
    assert sum(one.cost_usd for one in after) == 0


def by_stage(expected: list[Expected]) -> dict[str, Expected]:
    return {one.stage: one for one in expected}


def test_an_estimate_takes_replies_to_be_as_long_as_the_saved_ones(seated: Path, stub: StubServer) -> None:
    assumed = by_stage(expect(Request(workspace=seated, setups=("naive",), judge="claude")))
    for stage, one in assumed.items():
        assert one.output_tokens == one.n_calls * ASSUMED[STAGES[stage]]
    walk_all(seated, setups=("naive",), judge="claude")
    rows = stored(seated)
    expected = by_stage(expect(Request(workspace=seated, setups=("grounded",), judge="claude")))
    for stage, record in STAGES.items():
        n_tokens, n_calls = (sum(row[name] for row in rows[record].values()) for name in ("output_tokens", "n_calls"))
        assert n_calls >= 5
        assert expected[stage].output_tokens == expected[stage].n_calls * round(n_tokens / n_calls)
    assert expected["generate"].n_reused == 0


def test_an_estimate_of_grading_makes_no_answers_and_reuses_what_is_saved(seated: Path, stub: StubServer) -> None:
    walk_all(seated, setups=("naive",), judge="claude", until="generate")
    before = by_stage(expect(Request(workspace=seated, setups=("naive",), judge="claude", grade_only=True)))
    assert (before["generate"].n_calls, before["generate"].n_reused, before["generate"].model) == (0, 8, None)
    # What the answers are is known, so each of them is one call and no stand-in.
    assert (before["read"].n_calls, before["read"].model) == (8, JUDGE)
    walk_all(seated, setups=("naive",), judge="claude", grade_only=True)
    after = by_stage(expect(Request(workspace=seated, setups=("naive",), judge="claude", grade_only=True)))
    assert {one.n_calls for one in after.values()} == {0}
    assert (after["read"].n_reused, after["judge-correctness"].n_reused) == (8, 7)


def test_a_batch_gives_the_same_rows_at_half_the_price(
    seated: Path, stub: StubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(sleep=lambda seconds: asyncio.sleep(min(seconds, 0.02)))
    monkeypatch.setattr(
        desk, "_batches", lambda journal, budget, _: Batches(journal, budget, clock=clock, quiet_s=0.05)
    )
    other = seat_claude(_fresh(tmp_path / "other"))
    run_all(other, **RUN)
    live = timeless(stored(other))
    stub.reset()
    run_all(seated, **RUN, batch=True)
    assert calls(stub) == 0
    assert stub.stats().requests[BATCHES] > 0
    batched = timeless(stored(seated))
    assert {record: set(rows) for record, rows in batched.items()} == {r: set(rows) for r, rows in live.items()}
    rates = {model: rates_of(ClaudeSettings(provider="anthropic", model=model)) for model in (WRITER, JUDGE)}
    for record in SEATED:
        for row in batched[record].values():
            usage = {
                "input_tokens": row["input_tokens"],
                "output_tokens": row["output_tokens"],
                "cache_read_input_tokens": row["cache_read_tokens"],
                "cache_creation_input_tokens": row["cache_write_tokens"],
            }
            full = rates[WRITER if record == "answer" else JUDGE].cost(usage, batch=False)
            assert row["cost_usd"] == pytest.approx(full / 2)


def test_a_refusing_writer_is_its_setups_behaviour_and_a_refusing_judge_a_missing_measurement(
    seated: Path, stub: StubServer
) -> None:
    stub.change(Fault(kind="refused", having=WRITER, share=0.4, times=None))
    run_id = walk_all(seated, **RUN)
    trails = [trail for setup in SETUPS for trail in trails_of(seated, run_id, setup).values()]
    refused = [trail for trail in trails if trail.no_answer == "refused"]
    assert refused
    assert all(trail.answer.state is State.SCORED for trail in trails)
    assert all(trail.grounding.state is State.NOT_APPLICABLE for trail in refused)
    stub.reset(Fault(kind="refused", having=JUDGE, times=None))
    judged = walk_all(seated, setups=("naive",), judge="claude", grade_only=True, fresh=Fresh(judging=True))
    states = {trail.grounding.state for trail in trails_of(seated, judged, "naive").values()}
    assert State.REFUSED in states


def test_verdicts_of_two_versions_of_a_model_are_not_mixed(seated: Path, stub: StubServer) -> None:
    walk_all(seated, **RUN, questions=("q1", "q2", "q3"))
    stub.reset(returned_model="claude-sonnet-5-5-20261101")
    run_id = walk_all(seated, **RUN)
    with pytest.raises(FourcellsError, match="--fresh"):
        compare(seated, run_id=run_id)


def test_a_wrong_key_stops_the_run_with_one_paragraph(
    seated: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_wire", None)  # its client has the other key
    monkeypatch.setenv("ANTHROPIC_API_KEY", "wrong-key")
    with pytest.raises(FourcellsError, match="key"):
        walk_all(seated, **RUN)
    assert list_runs(seated / "store" / "runs")[-1].state == "stopped"
    # Each of the three setups' shards may have had its first calls on their way.
    assert calls(stub) <= 3 * 8


def test_nobody_pays_without_having_named_it(seated: Path, stub: StubServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="fourcells"):
        summary = run_all(seated)
    assert set(summary["setups"]) == {"v1", "v2", "w1"}
    assert "left out, since their answers cost money: grounded, naive, neighbours" in caplog.text
    assert calls(stub) == 0


def test_where_no_reply_can_be_kept_none_is_bought(seated: Path, stub: StubServer) -> None:
    journal = seated / "store" / "journal"
    journal.mkdir(parents=True)
    (journal / "replies").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(FourcellsError):
        walk_all(seated, **RUN)
    assert calls(stub) == 0


def test_a_missing_key_or_price_stops_before_the_first_stage(seated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = seated / "setups" / "naive.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(WRITER, "claude-of-tomorrow"), encoding="utf-8")
    with pytest.raises(InputError, match="price"):
        walk_all(seated, setups=("naive",))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY"):
        walk_all(seated, setups=("grounded",))
    assert not (seated / "store").exists()


def _fresh(folder: Path) -> Path:
    from tests.small_workspace import write_workspace

    return write_workspace(folder)
