"""Measure the model client on a stub of the Messages API, write the section "Model calls": `make bench-llm`."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.bench.figure import Figure
from tests.bench.llm_peers import measure_peers
from tests.bench.llm_pipeline import measure_pipeline
from tests.bench.llm_runs import LATENCY_S, measure_clean, measure_faults, measure_kill
from tests.bench.results_page import machine, table, write_section
from tests.bench.stub_process import StubProcess
from tests.stub.settings import StubSettings

# In the order of the table. All talk to one stub, in the same run.
MEASURES: Final[dict[str, Callable[[StubProcess, Path], Iterator[Figure]]]] = {
    "clean": measure_clean,
    "kill": measure_kill,
    "faults": measure_faults,
    "pipeline": measure_pipeline,
    "peers": measure_peers,
}
_PACKAGES: Final = ("fourcells", "anthropic", "diskcache", "pydantic")
_REACHED: Final = {True: "yes", False: "no", None: "-"}


def main(names: list[str]) -> int:
    """Measure everything and write the page; or only what is named, and print it."""
    if unknown := set(names) - set(MEASURES):
        sys.stderr.write(f"bench: unknown {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}\n")
        return 2
    began = time.perf_counter()
    figures = []
    with StubProcess(StubSettings(quick=True, latency_s=LATENCY_S)) as stub:
        for name in names or MEASURES:
            with tempfile.TemporaryDirectory(prefix="fourcells-bench-") as folder:
                for figure in MEASURES[name](stub, Path(folder)):
                    figures.append(figure)
                    sys.stderr.write(f"{name}: {figure.work}: {figure.measured}\n")
    if names:
        return 0
    rows = [(one.work, one.reach, one.measured, _REACHED[one.reached]) for one in figures]
    body = (
        f"Written by `make bench-llm`. {machine(_PACKAGES)}. A stub of the Messages API in a process of its own on "
        f"this machine answers each call after {LATENCY_S * 1_000:.0f} ms; nothing here was measured on the real API. "
        "A question is one call of the judge of grounding: three claims, five passages of about 110 words, the journal "
        "on disk. Ideal is calls / limit × latency. Time is from the first question to the last result, without start "
        f"and imports (the price list counts as one); CPU is of the client's process in that time. {time.perf_counter() - began:.0f} s in all.\n\n"
        + table(("work", "reach", "measured", "reached"), rows)
    )
    write_section("Model calls", body)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
