"""A command in a terminal that a test looks at and types into."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])|\r")


class Terminal:
    """The side of the terminal at which a person sits."""

    def __init__(self, handle: int, process: "subprocess.Popen[bytes]") -> None:
        self._handle = handle
        self._process = process
        self._raw = b""

    def wait_for(self, text: str, *, within_s: float = 20) -> str:
        """Read until this text is shown; returns all that was shown up to it since the last call.

        Raises:
            AssertionError: It was not shown in time.
        """
        deadline = time.monotonic() + within_s
        while True:
            shown = _CONTROL.sub("", self._raw.decode("utf-8", "replace"))
            before, found, _ = shown.partition(text)
            if found:
                self._raw = shown.partition(text)[2].encode()
                return before + found
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} was not shown, but:\n{shown}")

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._handle, keys.encode())

    def end(self, *, within_s: float = 20) -> int:
        """Read on until the command ends; returns its exit code."""
        deadline = time.monotonic() + within_s
        while self._read(deadline - time.monotonic()):
            pass
        return self._process.wait(timeout=within_s)

    def _read(self, timeout_s: float) -> bool:
        if timeout_s <= 0 or not select.select([self._handle], [], [], timeout_s)[0]:
            return False
        try:
            some = os.read(self._handle, 65_536)
        except OSError:  # Linux says so when the other side has closed
            return False
        self._raw += some
        return bool(some)


@contextmanager
def terminal(words: Sequence[str], *, columns: int, lines: int) -> Iterator[Terminal]:
    """Start `fourcells` in a terminal of this size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    # Nobody answers the question where the cursor stands.
    extra = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, **extra},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
