"""The `fourcells` command, one file per group of verbs."""

import logging
import os
import sys
import threading
from typing import Final, NoReturn

import typer

from flows.cli import asking, grading, keypoints, querying, reading, serving, storing
from schemas.errors import FourcellsError

_INTERRUPTED: Final = 130
_SAVED: Final = "fourcells: interrupted; everything computed so far is saved, run again for the rest\n"

app = typer.Typer(
    name="fourcells",
    help="Measure retrieval, groundedness and correctness of a RAG assistant apart, and find who owns each failure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("init")(asking.init)
app.command("import")(asking.import_answers)
app.command("doctor")(asking.doctor)
app.command("run")(grading.run)
app.command("grade")(grading.grade)
app.command("report")(reading.report)
app.command("show")(reading.show)
app.command("unsupported")(reading.unsupported)
app.command("runs")(reading.runs)
app.command("sql")(querying.sql)
app.command("up")(serving.up)
app.command("down")(serving.down)
app.add_typer(keypoints.app, name="keypoints")
app.add_typer(storing.app, name="store")


def main() -> None:
    """Run the command; a mistake prints one paragraph, and Ctrl-C says what became of the work.

    Raises:
        SystemExit: Always, with the exit code.
    """
    # Ours only: a library's chatter is not the person's business.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("fourcells: %(message)s"))
    logging.getLogger("fourcells").addHandler(handler)
    # How far a message batch is.
    logging.getLogger("fourcells.models").setLevel(logging.INFO)
    try:
        app()
    except FourcellsError as error:
        sys.stderr.write(f"fourcells: {error}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _leave()
    except SystemExit as ending:
        # Typer turns Ctrl-C inside a command into exit code 130 and says nothing.
        if ending.code == _INTERRUPTED:
            _leave()
        raise
    except BrokenPipeError:
        # The reader of our output has gone (head, less): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)


def _leave() -> NoReturn:
    """Say that all is saved, and end at once: after a second Ctrl-C threads may still wait for replies."""
    sys.stderr.write(_SAVED)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)
    sys.exit(_INTERRUPTED)
