"""Results of a message batch that are not what the API promises: one bad line costs no other."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from schemas.state import BATCH_UNREAD, State
from tasks.models.claude import batch_watch
from tasks.models.claude.batch_watch import EXPIRED
from tasks.models.claude.errors import EndpointError
from tasks.store.journal import Journal
from tests.tasks.models.claude.batch_double import Double, refusal, succeeded
from tests.tasks.models.claude.batch_runs import KEYS, Run, failures, named, texts


def shown_as(double: Double, change: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of results on their way; they come in reverse order of the requests."""
    results = double._results

    def changed(batch_id: str) -> httpx2.Response:
        return httpx2.Response(200, content="".join(change(results(batch_id).text.splitlines(keepends=True))).encode())

    double._results = changed  # type: ignore[method-assign]


def left_open(journal: Journal) -> list[str]:
    return sorted(each for batch in journal.open_batches() for each in batch.custom_ids)


@pytest.mark.parametrize(
    "result",
    [
        {"type": "succeeded"},
        {"type": "succeeded", "message": None},
        {"type": "succeeded", "message": "yes"},
        {"type": "errored", "error": "no"},
        {"type": "errored", "error": {"error": "no"}},
        {"odd": 1},
    ],
    ids=["no message", "none", "text", "error in words", "inner error in words", "no type"],
)
def test_an_odd_result_is_its_own_failure_and_can_be_read_again(
    result: dict[str, Any], double: Double, journal: Journal
) -> None:
    double.results[f"{KEYS[1]}-0"] = result
    good, odd, last = Run(double, journal).ask(*KEYS[:3])
    assert texts([good, last]) == named(KEYS[0], KEYS[2])
    assert failures([odd]) == [(State.ERRORED, BATCH_UNREAD)]
    assert "the same command with --batch reads it again" in str(odd)
    assert "msgbatch_0" in str(odd)
    assert left_open(journal) == named(KEYS[1])
    double.results.clear()
    assert texts(Run(double, journal).ask(*KEYS[:3])) == named(*KEYS[:3])
    assert (double.n("post"), left_open(journal)) == (1, [])


@pytest.mark.parametrize("result", [None, "yes", 7, ["type"]])
def test_a_result_that_is_no_object_is_odd_too(result: object, double: Double, journal: Journal) -> None:
    odd = json.dumps({"custom_id": f"{KEYS[0]}-0", "result": result}) + "\n"
    shown_as(double, lambda lines: [*lines[:-1], odd])
    one, two = Run(double, journal).ask(*KEYS[:2])
    assert failures([one]) == [(State.ERRORED, BATCH_UNREAD)]
    assert texts([two]) == named(KEYS[1])
    assert double.n("results") == 1


def test_a_price_that_cannot_be_made_is_its_own_failure(
    double: Double, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rates:
        def cost(self, usage: dict[str, Any], *, batch: bool) -> float:
            return float(usage["input_tokens"] * (0.5 if batch else 1.0))

    monkeypatch.setattr(batch_watch, "rates_of", lambda _: Rates())
    double.results[f"{KEYS[0]}-0"] = succeeded("odd")
    double.results[f"{KEYS[0]}-0"]["message"]["usage"]["input_tokens"] = "many"
    odd, good = Run(double, journal).ask(*KEYS[:2])
    assert failures([odd]) == [(State.ERRORED, BATCH_UNREAD)]
    assert texts([good]) == named(KEYS[1])


def test_what_failed_beside_an_odd_result_is_sent_anew(double: Double, journal: Journal) -> None:
    double.results |= {f"{KEYS[0]}-0": {"type": "succeeded"}, f"{KEYS[1]}-0": {"type": "expired"}}
    assert failures(Run(double, journal).ask(*KEYS[:2])) == [(State.ERRORED, BATCH_UNREAD), (State.ERRORED, EXPIRED)]
    double.results.clear()
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert [batch.ids for batch in double.batches.values()] == [named(*KEYS[:2]), named(KEYS[1])]


BROKEN: list[tuple[str, Callable[[list[str]], list[str]]]] = [
    ("garbage at the end", lambda lines: [*lines[:-1], "<html>proxy error</html>\n"]),
    ("cut", lambda lines: [*lines[:-1], lines[-1][:-60]]),
    ("without a name", lambda lines: [*lines[:-1], '{"result": {"type": "expired"}}\n']),
    ("a list", lambda lines: [*lines[:-1], "[1, 2]\n"]),
]


@pytest.mark.parametrize("change", [change for _, change in BROKEN], ids=[name for name, _ in BROKEN])
def test_what_was_read_is_kept_when_a_line_cannot_be_read(
    change: Callable[[list[str]], list[str]], double: Double, journal: Journal
) -> None:
    results = double._results
    shown_as(double, change)
    lost, *good = Run(double, journal).ask(*KEYS[:4])
    assert texts(good) == named(*KEYS[1:4])
    assert failures([lost]) == [(State.ERRORED, "UnreadableLineError")]
    # It may have been the line's fault, so it was read some times.
    assert double.n("results") == 5
    assert left_open(journal) == named(KEYS[0])
    double._results = results  # type: ignore[method-assign]
    assert texts(Run(double, journal).ask(*KEYS[:4])) == named(*KEYS[:4])
    assert double.n("post") == 1


def test_lines_after_one_that_cannot_be_read_are_read(double: Double, journal: Journal) -> None:
    shown_as(double, lambda lines: ["<html>\n", "</html>\n", "\n", *lines[1:]])
    *good, lost = Run(double, journal).ask(*KEYS[:4])
    assert texts(good) == named(*KEYS[:3])
    assert failures([lost]) == [(State.ERRORED, "UnreadableLineError")]


def test_a_line_that_is_there_the_next_time_is_no_failure(double: Double, journal: Journal) -> None:
    times: list[int] = []

    def once(lines: list[str]) -> list[str]:
        times.append(1)
        return [lines[0][:20] + "\n", *lines[1:]] if len(times) == 1 else lines

    shown_as(double, once)
    assert texts(Run(double, journal).ask(*KEYS[:3])) == named(*KEYS[:3])
    assert (double.n("results"), left_open(journal)) == (2, [])


@pytest.mark.parametrize("chunk", [1, 2, 500])
def test_a_download_that_breaks_for_good_keeps_what_came(
    chunk: int, double: Double, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_watch, "_CHUNK", chunk)
    double.cut_results = 1_000
    *rest, first = Run(double, journal).ask(*KEYS[:4])
    assert texts([first]) == named(KEYS[3])
    assert {state for state, _ in failures(rest)} == {State.ERRORED}
    assert left_open(journal) == named(*KEYS[:3])
    double.cut_results = 0
    assert texts(Run(double, journal).ask(*KEYS[:4])) == named(*KEYS[:4])
    assert (double.n("post"), left_open(journal)) == (1, [])


def test_an_error_of_all_while_results_are_read_keeps_what_came(double: Double, journal: Journal) -> None:
    double.cut_results = 1
    shown = double._results

    def then_refused(batch_id: str) -> httpx2.Response:
        double.faults["results"] = [lambda: refusal(401, "authentication_error", "invalid x-api-key")]
        return shown(batch_id)

    double._results = then_refused  # type: ignore[method-assign]
    stopped, good = Run(double, journal).ask(*KEYS[:2])
    assert isinstance(stopped, EndpointError)
    assert texts([good]) == named(KEYS[1])
    assert left_open(journal) == named(KEYS[0])


def test_results_that_vanish_while_they_are_read_are_kept_as_far_as_they_came(double: Double, journal: Journal) -> None:
    double.cut_results = 1
    shown = double._results

    def then_gone(batch_id: str) -> httpx2.Response:
        if batch_id == "msgbatch_0":
            double.faults["results"] = [lambda: refusal(404, "not_found_error", "gone")]
        return shown(batch_id)

    double._results = then_gone  # type: ignore[method-assign]
    assert texts(Run(double, journal).ask(*KEYS[:2])) == named(*KEYS[:2])
    assert [batch.ids for batch in double.batches.values()] == [named(*KEYS[:2]), named(KEYS[0])]
    assert left_open(journal) == []
