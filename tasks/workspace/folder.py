"""Which folder is the workspace, and what has to be in it."""

import os
from pathlib import Path
from typing import Final

from schemas.errors import InputError

BUILT_IN: Final = Path(__file__).resolve().parents[2] / "data"
_ENVIRONMENT: Final = "FOURCELLS_WORKSPACE"


def find_workspace(given: Path | None) -> Path:
    """Choose the workspace: the one given, FOURCELLS_WORKSPACE, the current folder if it is one, the built-in one.

    Raises:
        InputError: When the folder given is not a workspace.
    """
    named = given or (Path(value) if (value := os.environ.get(_ENVIRONMENT)) else None)
    if named is not None:
        return check_workspace(named)
    here = Path.cwd()
    return here if is_workspace(here) else check_workspace(BUILT_IN)


def is_workspace(folder: Path) -> bool:
    """Whether a folder has questions and setups."""
    return (folder / "questions.jsonl").is_file() and (folder / "setups").is_dir()


def check_workspace(folder: Path) -> Path:
    """Return the folder, made absolute.

    Raises:
        InputError: Saying what is missing in it.
    """
    if not folder.is_dir():
        raise InputError(
            "there is no such folder", where=str(folder), remedy="Make a workspace with: fourcells init DIR."
        )
    missing = [name for name in ("questions.jsonl", "setups") if not (folder / name).exists()]
    if missing:
        raise InputError(
            f"this folder is no workspace: it has no {' and no '.join(missing)}",
            where=str(folder),
            remedy="Name another with --workspace, or make one with: fourcells init DIR.",
        )
    return folder.resolve()
