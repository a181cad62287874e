"""What no linter can check: the repository's own promises about itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from flows.cli import app
from tasks.metrics import METRICS

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for folder in ("flows", "tasks", "schemas", "tests") for path in (ROOT / folder).rglob("*.py")]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(group: typer.Typer, *before: str) -> list[str]:
    own = [" ".join((*before, command.name or "")) for command in group.registered_commands]
    for sub in group.registered_groups:
        assert sub.typer_instance is not None
        own += commands(sub.typer_instance, *before, sub.name or "")
    return own


def test_flow_files_do_not_shadow_other_modules() -> None:
    names = {path.stem for path in (ROOT / "flows").glob("*.py")} - {"__init__", "__main__"}
    assert not names & (set(sys.stdlib_module_names) | {"flows", "tasks", "schemas"})


@pytest.mark.parametrize("path", [p for p in SOURCES if "flows" in p.relative_to(ROOT).parts[:1]], ids=str)
def test_flow_files_define_no_classes(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_stays_readable(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_readme_lists_exactly_the_metrics() -> None:
    assert set(re.findall(r"^\| `([\w@]+)` \|", README, flags=re.MULTILINE)) == set(METRICS)


@pytest.mark.parametrize("command", commands(app))
def test_readme_knows_every_command(command: str) -> None:
    assert f"fourcells {command}" in README


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"(?m)(?:^|`)fourcells ((?:[a-z]+(?:-[a-z]+)* ?)+)", README)))
)
def test_readme_names_only_commands_that_exist(command: str) -> None:
    known = commands(app)
    words = command.split()
    assert any(known_command.split() == words[: len(known_command.split())] for known_command in known)


def test_importing_a_stage_never_imports_prefect() -> None:
    code = "import sys, flows.order, flows.cli; sys.exit('prefect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, flows.cli; sys.exit(any(name in sys.modules for name in ('pyarrow', 'duckdb', 'numpy', 'bm25s')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
