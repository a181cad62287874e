"""Runs of our own client against the stub: on time, again, killed, and with faults."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.figure import Figure, Spread
from tests.bench.llm_bare import Bare
from tests.bench.llm_client import Done, Task
from tests.bench.stub_process import ROOT, StubProcess
from tests.stub.counts import Stats
from tests.stub.settings import Fault, FaultKind

QUESTIONS: Final = 1_000
LATENCY_S: Final = 0.2
CONCURRENCY: Final = (16, 64)
_REPEATS: Final = 3
_DEADLINE_S: Final = 60.0
# Of the runs in which calls are lost: what a claim or a call that nobody answers costs at most.
_SHORT_DEADLINE_S: Final = 3.0
_LOOK_EVERY_S: Final = 0.05


class Measured(NamedTuple):
    """A run as its own process saw it and as the stub did."""

    done: Done
    stats: Stats
    process_s: float


def command(task: Task) -> list[str]:
    """The process that does it."""
    return [sys.executable, "-m", "tests.bench.llm_client", task.model_dump_json()]


def environment() -> dict[str, str]:
    """The SDK wants a key; the stub takes any."""
    return {**os.environ, "ANTHROPIC_API_KEY": "stub-key"}


def run(stub: StubProcess, folder: Path, concurrency: int, *, deadline_s: float = _DEADLINE_S) -> Measured:
    """Run once, with a journal that is kept in `folder`."""
    task = Task(
        base_url=stub.url, folder=str(folder), questions=QUESTIONS, concurrency=concurrency, deadline_s=deadline_s
    )
    began = time.perf_counter()
    ended = subprocess.run(command(task), cwd=ROOT, env=environment(), check=True, stdout=subprocess.PIPE)
    return Measured(Done.model_validate_json(ended.stdout), stub.stats(), time.perf_counter() - began)


def measure_clean(stub: StubProcess, folder: Path) -> Iterator[Figure]:
    """No faults: time, calls in flight, CPU and memory; then the same again, from the journal."""
    for concurrency in CONCURRENCY:
        runs = []
        for repeat in range(_REPEATS):
            stub.reset()
            runs.append(run(stub, folder / f"{concurrency}-{repeat}", concurrency))
        yield from _clean_figures(concurrency, runs)
        yield _bare_figure(stub, folder, concurrency)
    stub.reset()
    first, again = (run(stub, folder / "twice", max(CONCURRENCY)) for _ in range(2))
    n_new = again.stats.messages - first.stats.messages
    same = again.done.digest == first.done.digest
    shown = f"{n_new} requests, {again.done.seconds:.2f} s (process with its imports {again.process_s:.2f} s), " + (
        "the same verdicts" if same else "other verdicts"
    )
    reached = n_new == 0 and again.done.seconds <= 1.5 and same
    yield Figure("the same again, all from the journal", "0 requests, ≤ 1.5 s", shown, reached)


def _clean_figures(concurrency: int, runs: list[Measured]) -> Iterator[Figure]:
    what = f"{QUESTIONS:,} questions, {concurrency} at once"
    ideal_s = QUESTIONS / concurrency * LATENCY_S
    ratios = Spread.of([one.done.seconds / ideal_s for one in runs])
    wall = Spread.of([one.done.seconds for one in runs])
    yield Figure(
        f"{what}: wall",
        f"≤ 1.10 × ideal ({ideal_s:.2f} s)",
        f"× {ratios.median:.2f} ({ratios.least:.2f}-{ratios.most:.2f}, {ratios.n} runs); {wall.median:.2f} s",
        ratios.median <= 1.10,
    )
    peaks = sorted({one.stats.peak_in_flight for one in runs})
    means = Spread.of([one.stats.mean_in_flight / concurrency for one in runs])
    yield Figure(
        f"{what}: in flight, as the server saw it",
        "peak exactly the limit, mean ≥ 0.9 of it",
        f"peak {', '.join(map(str, peaks))}; mean {means.median:.2f} ({means.least:.2f}-{means.most:.2f})",
        peaks == [concurrency] and means.median >= 0.9,
    )
    cpu = Spread.of([one.done.cpu_s / one.stats.messages for one in runs])
    yield Figure(f"{what}: CPU a request", "≤ 3 ms", cpu.shown("ms", scale=1_000), cpu.median <= 0.003)
    peak = max(one.done.peak_bytes for one in runs)
    yield Figure(f"{what}: memory", "≤ 200 MB", f"{peak / 1e6:.0f} MB", peak <= 200e6)


def _bare_figure(stub: StubProcess, folder: Path, concurrency: int) -> Figure:
    """What this machine and the SDK leave of the ideal."""
    took = []
    for _ in range(_REPEATS):
        stub.reset()
        task = Task(base_url=stub.url, folder=str(folder), questions=QUESTIONS, concurrency=concurrency)
        asked = [sys.executable, "-m", "tests.bench.llm_bare", task.model_dump_json()]
        ended = subprocess.run(asked, cwd=ROOT, env=environment(), check=True, stdout=subprocess.PIPE)
        took.append(Bare.model_validate_json(ended.stdout))
    ratios = Spread.of([one.seconds / (QUESTIONS / concurrency * LATENCY_S) for one in took])
    cpu = Spread.of([one.cpu_s / QUESTIONS for one in took])
    return Figure(
        f"{QUESTIONS:,} questions, {concurrency} at once: the SDK alone, nothing kept or parsed",
        "-",
        f"× {ratios.median:.2f} ({ratios.least:.2f}-{ratios.most:.2f}); CPU {cpu.shown('ms', scale=1_000)}",
        reached=None,
    )


def measure_kill(stub: StubProcess, folder: Path) -> Iterator[Figure]:
    """Killed when half the replies are out, then run again."""
    concurrency = max(CONCURRENCY)
    stub.reset()
    journal = folder / "killed"
    task = Task(
        base_url=stub.url,
        folder=str(journal),
        questions=QUESTIONS,
        concurrency=concurrency,
        deadline_s=_SHORT_DEADLINE_S,
    )
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command(task), cwd=ROOT, env=environment(), stdout=said)
        while stub.stats().statuses.get(200, 0) < QUESTIONS // 2 and process.poll() is None:
            time.sleep(_LOOK_EVERY_S)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = stub.stats()
    after = run(stub, journal, concurrency, deadline_s=_SHORT_DEADLINE_S)
    repeated = after.stats.answered_again
    n_scored = after.done.rows.get("scored", 0)
    yield Figure(
        f"killed (-9) at half of {QUESTIONS:,} with {concurrency} in flight, run again",
        f"calls repeated ≤ {concurrency}, nothing lost",
        f"{before.messages} calls, then {after.stats.messages - before.messages}: {repeated} of those answered "
        f"before; {n_scored:,} rows",
        repeated <= concurrency and n_scored == QUESTIONS,
    )


def measure_faults(stub: StubProcess, folder: Path) -> Iterator[Figure]:
    """Overload, replies of no use, and calls that nobody answers."""
    concurrency = max(CONCURRENCY)
    stub.reset()
    clean = run(stub, folder / "clean", concurrency, deadline_s=_SHORT_DEADLINE_S)
    what = f"{QUESTIONS:,} questions, {concurrency} at once"

    def played(kind: FaultKind, share: float, *, times: int | None, retry_after_s: float | None = None) -> Measured:
        stub.reset(Fault(kind=kind, share=share, times=times, retry_after_s=retry_after_s))
        return run(stub, folder / kind, concurrency, deadline_s=_SHORT_DEADLINE_S)

    limited = played("rate_limited", 0.1, times=1, retry_after_s=1)
    n_scored = limited.done.rows.get("scored", 0)
    ratio = limited.done.seconds / clean.done.seconds
    yield Figure(
        f"{what}, 10 % of the calls answered 429 once, Retry-After 1 s",
        "nothing lost, ≤ 1.3 × clean",
        f"{limited.stats.faults.get('rate_limited', 0)} × 429, {n_scored:,} rows, × {ratio:.2f}",
        n_scored == QUESTIONS and limited.done.digest == clean.done.digest and ratio <= 1.3,
    )
    spoilt = played("malformed", 0.05, times=None)
    n_spoilt = spoilt.stats.faults.get("malformed", 0)
    rows = spoilt.done.rows
    yield Figure(
        f"{what}, 5 % always answered with broken JSON",
        "one re-ask each, then a failed row that is counted",
        f"{n_spoilt} broken replies, {spoilt.stats.messages:,} calls, "
        + ", ".join(f"{n:,} {state}" for state, n in sorted(rows.items())),
        rows.get("invalid", 0) * 2 == n_spoilt > 0
        and rows.get("invalid", 0) + rows.get("scored", 0) == QUESTIONS
        and spoilt.stats.messages == QUESTIONS + rows.get("invalid", 0),
    )
    stalled = played("stall", 0.01, times=1)
    longest_s = clean.done.seconds + 2 * _SHORT_DEADLINE_S
    n_scored = stalled.done.rows.get("scored", 0)
    yield Figure(
        f"{what}, 1 % never answered at first, deadline {_SHORT_DEADLINE_S:g} s",
        f"≤ clean + 2 × deadline ({longest_s:.1f} s)",
        f"{stalled.stats.faults.get('stall', 0)} stalled, {stalled.done.seconds:.1f} s, {n_scored:,} rows",
        n_scored == QUESTIONS and stalled.done.seconds <= longest_s,
    )
