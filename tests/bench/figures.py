"""Measure time and memory and write the section "Figures" of RESULTS.md: `make bench`."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.bench.bare_bm25 import measure_bm25
from tests.bench.claims_tables import measure_tables
from tests.bench.commands import measure_commands
from tests.bench.figure import Figure
from tests.bench.lookups import measure_lookups
from tests.bench.ranks import measure_ranks
from tests.bench.results_page import machine, replace_rows, table, write_section
from tests.bench.scale import measure_scale
from tests.bench.served_flow import measure_flow

# In the order of the table. Each takes a folder of its own.
MEASURES: Final[dict[str, Callable[[Path], Iterator[Figure]]]] = {
    "commands": measure_commands,
    "scale": measure_scale,
    "bm25": measure_bm25,
    "ranks": measure_ranks,
    "tables": measure_tables,
    "lookups": measure_lookups,
    "flow": measure_flow,
}
_PACKAGES: Final = (
    "fourcells", "prefect", "duckdb", "pyarrow", "numpy", "pydantic", "bm25s", "PyStemmer", "ir-measures", "typer",
)  # fmt: skip


def main(names: list[str]) -> int:
    """Measure everything and write the page; or only what is named, and replace its rows."""
    if unknown := set(names) - set(MEASURES):
        sys.stderr.write(f"bench: unknown {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}\n")
        return 2
    began = time.perf_counter()
    figures = []
    for name in names or MEASURES:
        with tempfile.TemporaryDirectory(prefix="fourcells-bench-") as folder:
            for figure in MEASURES[name](Path(folder)):
                figures.append(figure)
                sys.stderr.write(f"{name}: {figure.work}: {figure.measured}\n")
    rows = [(one.work, one.reach, one.measured, "yes" if one.reached else "no") for one in figures]
    if names:
        replace_rows(rows)
        return 0
    body = (
        f"Written by `make bench`. {machine(_PACKAGES)}. Medians with their range. The texts are generated: "
        f"pseudo-words by Zipf's law in English frames, 110 words a chunk. {time.perf_counter() - began:.0f} s in all; "
        "single rows may have been measured again since (`make bench ROWS=…`).\n\n"
        + table(("work", "reach", "measured", "reached"), rows)
    )
    write_section("Figures", body)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
