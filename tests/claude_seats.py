"""Claude seats for the small workspace: three setups, one per prompt of the field, and a judge."""

import shutil
from pathlib import Path

from tasks.workspace.folder import BUILT_IN

SETUPS = ("naive", "grounded", "neighbours")
WRITER = "claude-haiku-4-5"
JUDGE = "claude-sonnet-5-5"


def seat_claude(workspace: Path, *, more: str = "") -> Path:
    """Add setups `naive`, `grounded`, `neighbours` and judge `claude` to a workspace.

    Args:
        workspace: Its folder.
        more: Lines for every seat, such as `concurrency = 4`.
    """
    shutil.copytree(BUILT_IN / "prompts", workspace / "prompts", dirs_exist_ok=True)
    for name in SETUPS:
        context = "[context]\nk = 3\nneighbours = 1\n" if name == "neighbours" else "[context]\nk = 3\n"
        splitting = '[splitting]\nby = "tokens"\nmax_tokens = 48\n'
        (workspace / "setups" / f"{name}.toml").write_text(
            f"{splitting}{context}[writer]\n{_seat(WRITER, more)}prompt = {name!r}\n", encoding="utf-8"
        )
    seats = [f"[{seat}]\n{_seat(JUDGE, more)}" for seat in ("reader", "judge")]
    (workspace / "judges" / "claude.toml").write_text("".join(seats), encoding="utf-8")
    return workspace


def _seat(model: str, more: str) -> str:
    return f'provider = "anthropic"\nmodel = "{model}"\n{more}\n'
