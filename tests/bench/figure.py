"""One measured figure beside what it has to reach."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

FOURCELLS: Final = Path(sys.executable).with_name("fourcells")


class Figure(NamedTuple):
    """A line of the table."""

    work: str
    reach: str
    measured: str
    reached: bool | None


class Spread(NamedTuple):
    """Several measurements of one thing."""

    median: float
    least: float
    most: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Sum measurements up."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    def shown(self, unit: str = "s", *, scale: float = 1.0) -> str:
        """Median and range, or the one value."""
        if self.n == 1:
            return f"{self.median * scale:.3g} {unit} (one run)"
        low, high = self.least * scale, self.most * scale
        return f"{self.median * scale:.3g} {unit} ({low:.3g}-{high:.3g}, {self.n} runs)"


def timed(call: Callable[[], object], *, n: int) -> Spread:
    """Call something several times."""
    seconds = []
    for _ in range(n):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return Spread.of(seconds)


class Ran(NamedTuple):
    """A process from start to end."""

    seconds: float
    peak_bytes: int


def run_command(*arguments: str, environment: Mapping[str, str] | None = None) -> Ran:
    """Run `fourcells` with these arguments in a process of its own.

    Raises:
        RuntimeError: When it fails.
    """
    began = time.perf_counter()
    with subprocess.Popen(
        [str(FOURCELLS), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        # wait4 knows the peak memory of this one child.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode:
        msg = f"fourcells {' '.join(arguments)} ended with {process.returncode}: {said[-2000:].decode()}"
        raise RuntimeError(msg)
    return Ran(seconds, usage.ru_maxrss * 1024)
