"""The terminal: results on stdout, everything else on stderr."""

import shutil
import sys

from rich.console import Console


def console() -> Console:
    """For results. Markup in documents and answers is text; piped output takes the width of COLUMNS or 80."""
    return Console(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else _width())


def progress_console() -> Console:
    """For progress and notes."""
    return Console(markup=False, highlight=False, emoji=False, stderr=True)


def _width() -> int:
    return shutil.get_terminal_size((80, 24)).columns
