"""Who is at the keyboard, for what is recorded under a name."""

import getpass
import subprocess
from pathlib import Path


def who_is_it(given: str | None, folder: Path) -> str:
    """The name a person gave, else git's `user.name` in this folder, else the login name; "unknown" without either."""
    return (given or "").strip() or _git_name(folder) or _login_name()


def _git_name(folder: Path) -> str:
    command = ["git", "config", "user.name"]
    try:
        found = subprocess.run(  # noqa: S603 - a fixed command
            command, cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError:
        return ""
    return found.stdout.strip()


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
