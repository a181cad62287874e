"""A stub of the Messages API in a process of its own, so that it takes no time from what is measured."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.stub.counts import Stats
from tests.stub.settings import Fault, StubSettings

ROOT: Final = Path(__file__).resolve().parents[2]


class StubProcess:
    """Runs while it is open."""

    def __init__(self, settings: StubSettings) -> None:
        self.url = ""
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.stub.server", "--settings", self._settings.model_dump_json()]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def stats(self) -> Stats:
        """What it has seen."""
        with urllib.request.urlopen(f"{self.url}/_stub/stats") as reply:
            return Stats.model_validate(json.load(reply))

    def change(self, *faults: Fault) -> None:
        """Play these faults from now on, and forget nothing."""
        self._post("settings", faults)

    def reset(self, *faults: Fault) -> None:
        """Play these faults from now on, and forget everything."""
        self._post("reset", faults)

    def _post(self, name: str, faults: tuple[Fault, ...]) -> None:
        settings = self._settings.model_copy(update={"faults": faults})
        request = urllib.request.Request(f"{self.url}/_stub/{name}", data=settings.model_dump_json().encode())
        with urllib.request.urlopen(request) as reply:
            reply.read()
