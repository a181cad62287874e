"""The flow against a running server, nothing to compute."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.figure import Figure, Spread
from tests.bench.synthetic import write_workspace

# 24 shards of 50 questions through five stages, and the index: 121 task runs.
_N_QUESTIONS: Final = 1_200
_CALL: Final = (
    "import asyncio, sys, time\n"
    "from flows.evaluate import evaluate\n"
    "for _ in range(6):\n"
    "    began = time.perf_counter()\n"
    "    asyncio.run(evaluate(workspace=sys.argv[1]))\n"
    "    print('seconds', time.perf_counter() - began)\n"
)


def measure_flow(folder: Path) -> Iterator[Figure]:
    """One process with a client; the first call computes, the others reuse everything."""
    workspace = write_workspace(folder / "served", n_documents=100, n_sections=10, n_questions=_N_QUESTIONS)
    before = os.environ.get("FOURCELLS_SERVER_HOME")
    os.environ["FOURCELLS_SERVER_HOME"] = str(folder / "server")
    from flows import server

    try:
        api = server.start(None)
        done = subprocess.run(
            [sys.executable, "-c", _CALL, str(workspace)],
            env={**os.environ, "PREFECT_API_URL": api, "PREFECT_HOME": str(folder / "client")},
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        server.stop()
        if before is None:
            del os.environ["FOURCELLS_SERVER_HOME"]
        else:
            os.environ["FOURCELLS_SERVER_HOME"] = before
    seconds = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("seconds")]
    warm = Spread.of(seconds[1:])
    work = "the flow on a running server, 24 shards × 5 stages and the index (121 task runs), nothing to compute"
    yield Figure(work, "≤ 3 s", f"{warm.shown()}; first, computing: {seconds[0]:.1f} s", warm.median <= 3)
