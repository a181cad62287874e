"""The whole pipeline with Claude in all seats, as a person runs it: `fourcells run` against the stub, and again."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.figure import Figure, run_command
from tests.bench.llm_runs import CONCURRENCY, LATENCY_S, QUESTIONS
from tests.bench.stub_process import ROOT, StubProcess
from tests.bench.synthetic import write_workspace

_SEAT: Final = 'provider = "anthropic"\nmodel = "{model}"\nconcurrency = {concurrency}\n'
_WRITER: Final = "claude-haiku-4-5"
_JUDGE: Final = "claude-sonnet-4-6"


def measure_pipeline(stub: StubProcess, folder: Path) -> Iterator[Figure]:
    """Writer, reader and judge: three calls an answer and one more for its key points."""
    concurrency = max(CONCURRENCY)
    workspace = _workspace(folder / "workspace", concurrency)
    stub.reset()
    names = ("--setup", "claude", "--judge", "claude", "--workspace", str(workspace))
    environment = {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "stub-key"}
    first = run_command("run", "--json", "--no-record", *names, environment=environment)
    seen = stub.stats()
    ideal_s = seen.messages / concurrency * LATENCY_S
    yield Figure(
        f"`fourcells run`, {QUESTIONS:,} questions, Claude in all seats, {concurrency} at once, whole process",
        "-",
        f"{first.seconds:.1f} s for {seen.messages:,} calls, × {first.seconds / ideal_s:.2f} of ideal; in flight at "
        f"most {seen.peak_in_flight}, mean {seen.mean_in_flight:.1f}; {first.peak_bytes / 1e6:.0f} MB",
        None,
    )
    again = run_command("run", "--json", "--no-record", *names, environment=environment)
    n_new = stub.stats().messages - seen.messages
    yield Figure(
        "the same command again, whole process",
        "0 requests, ≤ 1.5 s",
        f"{n_new} requests, {again.seconds:.2f} s",
        n_new == 0 and again.seconds <= 1.5,
    )


def _workspace(folder: Path, concurrency: int) -> Path:
    write_workspace(folder, n_documents=100, n_sections=10, n_questions=QUESTIONS)
    shutil.copytree(ROOT / "data" / "prompts", folder / "prompts")
    writer = _SEAT.format(model=_WRITER, concurrency=concurrency)
    judge = _SEAT.format(model=_JUDGE, concurrency=concurrency)
    (folder / "setups" / "claude.toml").write_text(
        f'[splitting]\nby = "heading"\n[writer]\nprompt = "grounded"\n{writer}', encoding="utf-8"
    )
    (folder / "judges" / "claude.toml").write_text(f"[reader]\n{judge}[judge]\n{judge}", encoding="utf-8")
    return folder
