"""The `fourcells` command, one file per group of verbs."""

import errno
import logging
import os
import sys
import threading
from importlib.metadata import version
from typing import Annotated, Final, NoReturn

import typer

from flows.cli import asking, grading, keypoints, querying, reading, serving, storing
from schemas.errors import FourcellsError

_INTERRUPTED: Final = 130
_UNWRITTEN: Final = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
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
# A query may begin with a comment, which looks like an option.
app.command("sql", context_settings={"ignore_unknown_options": True})(querying.sql)
app.command("up")(serving.up)
app.command("down")(serving.down)
app.add_typer(keypoints.app, name="keypoints")
app.add_typer(storing.app, name="store")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"fourcells {version('fourcells')}\n")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
]


@app.callback()
def fourcells(_version: Version = False) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; a mistake prints one paragraph, and Ctrl-C says what became of the work.

    Raises:
        SystemExit: With the exit code.
        OSError: What none of our own errors explains.
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
    except OSError as error:
        # That of a file is the store's error; this is where our output goes.
        if error.errno not in _UNWRITTEN or error.filename is not None:
            raise
        sys.stderr.write(f"fourcells: the output could not be written: {error.strerror}\n")
        os._exit(1)


def _leave() -> NoReturn:
    """Say that all is saved, and end at once: after a second Ctrl-C threads may still wait for replies."""
    sys.stderr.write(_SAVED)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)
    sys.exit(_INTERRUPTED)
