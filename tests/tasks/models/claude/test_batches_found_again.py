"""Message batches after crashes, beside other processes and over a bad line: nothing is submitted twice."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from schemas.claude import ClaudeSettings
from schemas.errors import InputError
from schemas.state import State
from tasks.models.claude.batch_watch import label_of
from tasks.models.claude.errors import PATIENCE, EndpointError
from tasks.store.journal import Journal
from tests.tasks.models.claude.batch_double import Double, refusal
from tests.tasks.models.claude.batch_runs import (
    KEYS,
    PARAMS,
    SEAT,
    Outcome,
    Run,
    failures,
    named,
    place_of,
    stop_after_submitting,
    texts,
    until,
)

# Crashes and other processes.


def test_a_stopped_run_leaves_its_batch_and_the_next_one_waits_for_it(double: Double, journal: Journal) -> None:
    stop_after_submitting(double, journal, *KEYS[:3])
    assert [batch.batch_id for batch in journal.open_batches()] == ["msgbatch_0"]
    run = Run(double, journal)
    assert texts(run.ask(*KEYS[:3])) == named(*KEYS[:3])
    assert double.n("post") == 0
    assert journal.open_batches() == []


def test_a_later_run_sends_only_what_is_not_on_its_way(double: Double, journal: Journal) -> None:
    stop_after_submitting(double, journal, *KEYS[:2])
    assert texts(Run(double, journal).ask(*KEYS[:4])) == named(*KEYS[:4])
    assert [batch.ids for batch in double.batches.values()] == [named(*KEYS[:2]), named(*KEYS[2:4])]


def test_replies_that_nobody_asks_for_any_more_are_kept_and_booked(double: Double, journal: Journal) -> None:
    stop_after_submitting(double, journal, *KEYS[:3])
    run = Run(double, journal)
    assert texts(run.ask(KEYS[0])) == named(KEYS[0])
    assert [len(journal.replies(key)) for key in KEYS[:3]] == [1, 1, 1]
    assert run.budget.spent_usd == 15.0


def test_a_run_that_ends_between_submitting_and_storing_is_found_out(double: Double, journal: Journal) -> None:
    foreign = double.add(["somebody-0", "else-0"])
    _killed_before_storing(double, journal)
    double.add(["another-0", "one-0"], polls=2)
    double.add(["of another size"])
    run = Run(double, journal)
    assert texts(run.ask(*KEYS[:2])) == named(*KEYS[:2])
    assert double.n("post") == 1
    assert journal.known_batches() == {"msgbatch_1"}
    assert foreign not in journal.known_batches()


def _killed_before_storing(double: Double, journal: Journal) -> None:
    attach = journal.attach

    def killed(intent_id: str, batch_id: str) -> None:
        raise RuntimeError("killed")

    journal.attach = killed  # type: ignore[method-assign]
    assert [str(each) for each in Run(double, journal).ask(*KEYS[:2])] == ["killed", "killed"]
    journal.attach = attach  # type: ignore[method-assign]
    assert [batch.batch_id for batch in journal.open_batches()] == [None]


def test_a_run_that_ends_before_submitting_is_found_out_too(double: Double, journal: Journal) -> None:
    double.add(["of-0", "another-0"])
    journal.intent("i1", {label_of(SEAT): named(*KEYS[:2])}, endpoint=place_of(double, journal), after=None)
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert double.n("post") == 1
    assert journal.open_batches() == []


def test_two_processes_at_once_submit_each_request_once(double: Double, journal: Journal, tmp_path: Path) -> None:
    other = Journal(tmp_path / "journal")
    runs = [Run(double, journal), Run(double, other)]

    async def scene() -> list[list[Outcome]]:
        return list(await asyncio.gather(runs[0].send(*KEYS[:5]), runs[1].send(*KEYS[2:])))

    one, two = asyncio.run(scene())
    assert (texts(one), texts(two)) == (named(*KEYS[:5]), named(*KEYS[2:]))
    submitted = [each for batch in double.batches.values() for each in batch.ids]
    assert sorted(submitted) == named(*KEYS)
    assert journal.open_batches() == []
    other.close()


def test_an_intent_that_another_process_is_submitting_is_waited_for(
    double: Double, journal: Journal, tmp_path: Path
) -> None:
    other = Journal(tmp_path / "journal")
    run = Run(double, journal)

    async def scene() -> list[Outcome]:
        with other.submitting("i1"):
            other.intent("i1", {label_of(SEAT): named(KEYS[0])}, endpoint=place_of(double, journal))
            sending = asyncio.create_task(run.send(KEYS[0]))
            await until(lambda: len(run.clock.slept) > 3)
            assert double.calls == []
            other.attach("i1", double.add(named(KEYS[0])))
        return await sending

    assert texts(asyncio.run(scene())) == named(KEYS[0])
    assert double.n("post") == 0
    other.close()


def test_what_another_process_has_kept_meanwhile_is_not_bought(double: Double, journal: Journal) -> None:
    (kept,) = Run(double, journal).ask(KEYS[0])
    assert Run(double, journal).ask(KEYS[0]) == [kept]
    assert double.n("post") == 1


@pytest.mark.parametrize("when", ["collecting", "submitting", "waiting"])
def test_stopping_never_loses_a_batch(when: str, double: Double, journal: Journal) -> None:
    double.polls = 1_000_000

    async def scene() -> None:
        run = Run(double, journal)
        sending = [asyncio.create_task(run.batches.send(SEAT, key, 0, PARAMS)) for key in KEYS[:2]]

        def stop() -> None:
            for task in sending:
                task.cancel()

        if when == "submitting":
            double.before_post = stop
            await until(lambda: double.n("post"))
        elif when == "waiting":
            await until(lambda: double.n("status"))
        else:
            await asyncio.sleep(0)
        stop()
        await asyncio.wait(sending)
        assert all(task.cancelled() for task in sending)
        await until(lambda: not run.batches._tasks)
        assert (run.batches._items, run.batches._watched) == ({}, {})

    asyncio.run(scene())
    assert [batch.batch_id for batch in journal.open_batches()] == ([] if when == "collecting" else ["msgbatch_0"])
    assert len(double.batches) == (0 if when == "collecting" else 1)


# Faults of the line.


def test_an_answer_that_got_lost_does_not_submit_twice(double: Double, journal: Journal) -> None:
    double.lose_answers = 1
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert (double.n("post"), len(double.batches)) == (1, 1)


@pytest.mark.parametrize("status", [500, 502])
def test_a_server_error_without_a_batch_submits_again(status: int, double: Double, journal: Journal) -> None:
    double.faults["post"] = [lambda: refusal(status, "api_error", "Internal server error")]
    assert texts(Run(double, journal).ask(KEYS[0])) == named(KEYS[0])
    assert (double.n("post"), double.n("list")) == (2, 2)


@pytest.mark.parametrize("status", [429, 529])
def test_an_overload_is_waited_out_as_long_as_the_server_asks(status: int, double: Double, journal: Journal) -> None:
    double.faults["post"] = [lambda: refusal(status, "rate_limit_error", "slow down", **{"retry-after": "7"})]
    run = Run(double, journal)
    assert texts(run.ask(KEYS[0])) == named(KEYS[0])
    assert 7.0 in run.clock.slept
    assert double.n("list") == 1


def test_a_server_that_stays_silent_leaves_the_intent_to_the_next_run(double: Double, journal: Journal) -> None:
    double.faults["post"] = [lambda: refusal(500, "api_error", "Internal server error")] * 1_000
    impatient = SEAT.model_copy(update={"patience_s": 60.0})
    assert failures(Run(double, journal).ask(KEYS[0], settings=impatient)) == [(State.TIMED_OUT, PATIENCE)]
    assert len(journal.open_batches()) == 1
    double.faults.clear()
    assert texts(Run(double, journal).ask(KEYS[0])) == named(KEYS[0])
    assert journal.open_batches() == []


def test_a_refused_batch_fails_its_rows_and_leaves_nothing(double: Double, journal: Journal) -> None:
    double.faults["post"] = [lambda: refusal(400, "invalid_request_error", "requests.0.params: wrong")]
    assert failures(Run(double, journal).ask(*KEYS[:2])) == [(State.ERRORED, "BadRequestError")] * 2
    assert journal.open_batches() == []


def test_a_wrong_key_stops_the_run(double: Double, journal: Journal) -> None:
    double.faults["list"] = [lambda: refusal(401, "authentication_error", "invalid x-api-key")]
    (stopped,) = Run(double, journal).ask(KEYS[0])
    assert isinstance(stopped, EndpointError)
    assert "API key" in str(stopped)


def test_an_endpoint_without_batches_is_said(double: Double, journal: Journal) -> None:
    double.faults["list"] = [lambda: httpx2.Response(404, text="<html>not here</html>")]
    (stopped,) = Run(double, journal).ask(KEYS[0])
    assert isinstance(stopped, EndpointError)
    assert "no message batches" in str(stopped)
    assert "--batch" in stopped.remedy


@pytest.mark.parametrize("provider", ["bedrock", "vertex"])
def test_the_clouds_batches_are_another_api(provider: str, double: Double, journal: Journal) -> None:
    cloud = ClaudeSettings.model_validate({"provider": provider, "model": "claude-opus-4-1"})
    (stopped,) = Run(double, journal).ask(KEYS[0], settings=cloud)
    assert isinstance(stopped, InputError)
    assert provider in str(stopped)


@pytest.mark.parametrize("call", ["status", "results"])
@pytest.mark.parametrize("kind", ["500", "broken", "page"])
def test_looking_is_repeated_like_a_live_call(call: str, kind: str, double: Double, journal: Journal) -> None:
    def broken() -> httpx2.Response:
        raise httpx2.ReadError("the line broke")

    fault = {
        "500": lambda: refusal(500, "api_error", "Internal server error"),
        "broken": broken,
        "page": lambda: httpx2.Response(200, text="<html>"),
    }[kind]
    double.faults[call] = [fault, fault]
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert double.n("post") == 1


def test_results_that_break_off_begin_anew_and_count_once(double: Double, journal: Journal) -> None:
    double.cut_results = 2
    stop_after_submitting(double, journal, *KEYS[:3])
    run = Run(double, journal)
    assert texts(run.ask(KEYS[0])) == named(KEYS[0])
    assert double.n("results") == 3
    assert run.budget.spent_usd == 15.0


def test_looking_that_fails_too_long_leaves_the_batch_to_the_next_run(double: Double, journal: Journal) -> None:
    double.faults["status"] = [lambda: refusal(500, "api_error", "Internal server error")] * 1_000
    impatient = SEAT.model_copy(update={"patience_s": 60.0})
    assert failures(Run(double, journal).ask(KEYS[0], settings=impatient)) == [(State.TIMED_OUT, PATIENCE)]
    double.faults.clear()
    assert texts(Run(double, journal).ask(KEYS[0])) == named(KEYS[0])
    assert double.n("post") == 1


def test_a_batch_that_is_gone_is_sent_anew(double: Double, journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    stop_after_submitting(double, journal, *KEYS[:2])
    double.batches["msgbatch_x"] = double.batches.pop("msgbatch_0")
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert double.n("post") == 1
    assert "sent anew" in caplog.text
