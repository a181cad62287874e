"""Which folder is the workspace, and what has to be in it."""

import logging
import os
from pathlib import Path
from typing import Final

from schemas.errors import InputError

log = logging.getLogger("fourcells.workspace")

BUILT_IN: Final = Path(__file__).resolve().parents[2] / "data"
_ENVIRONMENT: Final = "FOURCELLS_WORKSPACE"


def find_workspace(given: Path | None, *, edits: bool = False) -> Path:
    """Choose the workspace: the one given, FOURCELLS_WORKSPACE, the one we are in, the built-in one.

    Args:
        given: What the person named.
        edits: Questions, answers or key points are going to be changed, which those of the built-in workspace are
            not unless it is named.

    Raises:
        InputError: When the folder given is not a workspace, or none was named for edits.
    """
    named = given or (Path(value) if (value := os.environ.get(_ENVIRONMENT)) else None)
    if named is not None:
        return check_workspace(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if is_workspace(folder):
            return folder
    if edits:
        raise InputError(
            "this folder is no workspace, and the built-in one is not changed",
            where=str(here),
            remedy="Name yours with --workspace, or make one with: fourcells init DIR.",
        )
    log.warning("this folder is no workspace: taking the built-in one, %s (--workspace names another)", BUILT_IN)
    return check_workspace(BUILT_IN)


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
