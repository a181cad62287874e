"""The terminal: results on stdout, everything else on stderr."""

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, ProgressColumn


def console() -> Console:
    """For results. Markup in documents and answers is text; piped output takes the width of COLUMNS or 80."""
    return Console(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else _width())


@contextmanager
def bars(*columns: ProgressColumn) -> Iterator[Progress]:
    """Bars on the terminal, gone at the end; what is logged meanwhile stands above them."""
    handlers = [one for one in logging.getLogger("fourcells").handlers if isinstance(one, logging.StreamHandler)]
    screen = Console(markup=False, highlight=False, emoji=False, stderr=True)
    with Progress(*columns, console=screen, transient=True) as progress:
        # A handler keeps the stream it was made with; the bars have put another in its place.
        before = [one.setStream(sys.stderr) for one in handlers]
        try:
            yield progress
        finally:
            for one, stream in zip(handlers, before, strict=True):
                one.setStream(stream or one.stream)


def _width() -> int:
    return shutil.get_terminal_size((80, 24)).columns
