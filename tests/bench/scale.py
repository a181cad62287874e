"""One setup over 20,000 chunks at three sizes, and what a reused row costs."""

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.figure import Figure, Spread, run_command
from tests.bench.synthetic import write_workspace

_SIZES: Final = (1_000, 10_000, 30_000)
_RECORDS: Final = 7
# How much dearer a question may be at the largest size than at the middle one, still to be called flat.
_FLAT: Final = 1.25


class _Measured(NamedTuple):
    cold_s: float
    warm: Spread
    peak_bytes: int


def measure_scale(folder: Path) -> Iterator[Figure]:
    """Whole processes, cold (empty store) and warm; then the walk alone, in this process."""
    found = {size: _at(folder / f"questions-{size}", size) for size in _SIZES}
    middle, most = found[_SIZES[1]], found[_SIZES[2]]
    work = "one setup, 10,000 questions over 20,000 chunks, offline, whole process"
    yield Figure(f"{work}: cold", "≤ 180 s", f"{middle.cold_s:.1f} s (one run)", middle.cold_s <= 180)
    yield Figure(f"{work}: warm", "≤ 10 s", middle.warm.shown(), middle.warm.median <= 10)
    peak = middle.peak_bytes / 1e9
    yield Figure(f"{work}: peak memory", "≤ 1.5 GB", f"{peak:.2f} GB", peak <= 1.5)
    steps = [(found[a], found[b], b - a) for a, b in pairwise(_SIZES)]
    # What the next question costs: the corpus and the start-up are the same at all sizes and drop out.
    cold = [1000 * (b.cold_s - a.cold_s) / n for a, b, n in steps]
    warm = [1000 * (b.warm.median - a.warm.median) / n for a, b, n in steps]
    bytes_each = [(b.peak_bytes - a.peak_bytes) / n / 1000 for a, b, n in steps]
    told = (
        f"cold {cold[0]:.2f} then {cold[1]:.2f} ms, warm {warm[0]:.2f} then {warm[1]:.2f} ms, memory "
        f"{bytes_each[0]:.1f} then {bytes_each[1]:.1f} KB; peak {', '.join(f'{m.peak_bytes / 1e9:.2f}' for m in found.values())} GB"
    )
    flat = cold[1] <= _FLAT * cold[0] and warm[1] <= _FLAT * warm[0] and most.peak_bytes <= 3 * middle.peak_bytes
    yield Figure(
        "the same, each further question from 1,000 to 10,000, then to 30,000", "flat (× 1.25 at most)", told, flat
    )
    yield _reused(folder / "questions-10000", 10_000)


def _at(workspace: Path, size: int) -> _Measured:
    write_workspace(workspace, n_documents=2_000, n_sections=10, n_questions=size)
    arguments = ("run", "--json", "--no-record", "--workspace", str(workspace))
    cold = run_command(*arguments)
    warm = [run_command(*arguments) for _ in range(3)]
    return _Measured(
        cold.seconds, Spread.of([one.seconds for one in warm]), max(cold.peak_bytes, *(one.peak_bytes for one in warm))
    )


def _reused(workspace: Path, size: int) -> Figure:
    from flows.here import run_here
    from tasks.runs.prepare import Request, prepare

    seconds = []
    n_rows = 0
    for _ in range(3):
        plan = prepare(Request(workspace=workspace))
        began = time.perf_counter()
        record = run_here(plan, lambda _count: None)
        seconds.append(time.perf_counter() - began)
        assert not any(count.computed for count in record.counts)
        # Unanswerable questions have no correctness row.
        n_rows = size * _RECORDS - size // 10
    each = Spread.of([one / n_rows for one in seconds])
    work = (
        f"rows reused: overhead per row ({n_rows:,} rows of seven records, all stages, trails and run's end included)"
    )
    return Figure(work, "≤ 50 µs", each.shown("µs", scale=1e6), each.median <= 50e-6)
