"""Other evaluators on the same stub: each in an environment of its own, made once and kept where a variable says."""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.figure import Figure
from tests.bench.llm_client import requests
from tests.bench.llm_runs import CONCURRENCY, LATENCY_S, QUESTIONS
from tests.bench.stub_process import StubProcess

# A folder that keeps the environments for the next time; without it they go to a temporary one.
KEPT_IN: Final = "FOURCELLS_BENCH_PEERS"
_SCRIPTS: Final = Path(__file__).with_name("peers")
_INSTALL_S: Final = 900
_RUN_S: Final = 900
# Nothing of theirs is to leave this machine.
_QUIET: Final = {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "ERROR_REPORTING": "NO",
}


class Peer(NamedTuple):
    """One evaluator. Releases are named, so that the figures stay those of a known one."""

    name: str
    packages: tuple[str, ...]
    script: str
    options: tuple[str, ...] = ()
    note: str = ""


PEERS: Final = (
    Peer(
        "ragas",
        ("ragas==0.4.3", "langchain-community<0.4.2"),
        "ragas_faithfulness.py",
        ("instructor",),
        "with its own client (instructor)",
    ),
    Peer(
        "ragas",
        ("ragas==0.4.3", "langchain-community<0.4.2"),
        "ragas_faithfulness.py",
        ("langchain",),
        "with langchain's",
    ),
    Peer("deepeval", ("deepeval==4.3.1", "anthropic"), "deepeval_faithfulness.py"),
)


def measure_peers(stub: StubProcess, folder: Path) -> Iterator[Figure]:
    """Their own faithfulness metrics, told to have as many calls or cases at once as we."""
    concurrency = max(CONCURRENCY)
    cases = folder / "cases.json"
    cases.write_text(
        json.dumps([
            {"question": one.question, "answer": " ".join(one.claims), "passages": one.passages}
            for one in requests(QUESTIONS)
        ]),
        encoding="utf-8",
    )
    kept = os.environ.get(KEPT_IN)
    with tempfile.TemporaryDirectory(prefix="fourcells-peers-") as temporary:
        for peer in PEERS:
            shown = " ".join(("faithfulness by", *peer.packages[:1], peer.note)).strip()
            work = f"{shown}: {QUESTIONS:,} answers, {concurrency} at once"
            python = _environment(Path(kept or temporary) / peer.name, peer.packages)
            if isinstance(python, str):
                yield Figure(work, "-", f"skipped: {python}", None)
                continue
            stub.reset()
            yield _measured(peer, python, cases, stub, work=work, concurrency=concurrency)


def _measured(peer: Peer, python: Path, cases: Path, stub: StubProcess, *, work: str, concurrency: int) -> Figure:
    command = [str(python), str(_SCRIPTS / peer.script), stub.url, str(cases), str(concurrency), *peer.options]
    try:
        ended = subprocess.run(
            command,
            cwd=cases.parent,
            env={**os.environ, **_QUIET},
            capture_output=True,
            text=True,
            timeout=_RUN_S,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"peers: {error.stderr!s}\n")
        return Figure(work, "-", f"skipped: it ended with {type(error).__name__}", None)
    found = json.loads(ended.stdout.splitlines()[-1])
    stats = stub.stats()
    n_calls = sum(stats.requests.values())
    ideal_s = n_calls / concurrency * LATENCY_S
    measured = (
        f"× {found['seconds'] / ideal_s:.2f} of ideal ({found['seconds']:.1f} s, {n_calls:,} calls); in flight at "
        f"most {stats.peak_in_flight}, mean {stats.mean_in_flight:.1f}; CPU {found['cpu_s'] / n_calls * 1_000:.1f} ms "
        f"a call; {len(found['scores']):,} scores"
    )
    return Figure(work, "-", measured, None)


def _environment(folder: Path, packages: tuple[str, ...]) -> Path | str:
    """Make an environment with some packages, or take the one that is there; a text says why there is none."""
    python = folder / "bin" / "python"
    ready = folder / "ready.txt"
    wanted = "\n".join(packages)
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return python
    sys.stderr.write(f"peers: installing {' '.join(packages)}\n")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    try:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(install, capture_output=True, text=True, timeout=_INSTALL_S, check=True)
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(packages)} cannot be installed ({type(error).__name__})"
    ready.write_text(wanted, encoding="utf-8")
    return python
