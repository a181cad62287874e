"""Progress of one list of things: a bar on a terminal, a line now and then elsewhere, always on stderr."""

import sys
import time
from collections.abc import Iterator
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from flows.cli.terminal import bars

_PATIENCE_S: Final = 2.0


def counted(done: Iterator[int], *, n: int, what: str) -> Iterator[int]:
    """Hand on the counts, each of which says how many of `n` are through, and show them."""
    if not sys.stderr.isatty():
        yield from _lines(done, n, what)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with bars(*columns) as progress:
        bar = progress.add_task(what, total=n)
        for count in done:
            progress.update(bar, completed=count)
            yield count


def _lines(done: Iterator[int], n: int, what: str) -> Iterator[int]:
    told = time.monotonic()
    for count in done:
        if time.monotonic() - told > _PATIENCE_S:
            told = time.monotonic()
            sys.stderr.write(f"{count:,} of {n:,} {what}\n")
        yield count
