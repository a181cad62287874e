"""The name that reviews are recorded under."""

import getpass
import subprocess
from pathlib import Path

import pytest

from tasks.workspace.person import who_is_it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(getpass, "getuser", lambda: "login")
    return tmp_path


def test_the_name_given_comes_first_then_git_then_the_login(folder: Path) -> None:
    assert who_is_it(None, folder) == "login"
    for command in (["git", "init", "-q"], ["git", "config", "user.name", "Ana Räume"]):
        subprocess.run(command, cwd=folder, check=True)
    assert who_is_it(None, folder) == "Ana Räume"
    assert who_is_it(" ", folder) == "Ana Räume"
    assert who_is_it("Ben", folder) == "Ben"


def test_without_git_and_login_it_is_unknown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError

    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(getpass, "getuser", nobody)
    assert who_is_it(None, folder) == "unknown"
