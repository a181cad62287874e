"""RESULTS.md: one section for each benchmark; writing one leaves the others as they are."""

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).with_name("RESULTS.md")
_TITLE: Final = "# Measured\n\nEvery section is written by the command it names; nothing here is typed by hand.\n"
_CPU: Final = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def write_section(name: str, body: str, *, page: Path = PAGE) -> None:
    """Replace section `name` of the page, or add it at the end."""
    text = page.read_text(encoding="utf-8") if page.exists() else _TITLE
    section = f"## {name}\n\n{body.strip()}\n"
    found = re.search(rf"^## {re.escape(name)}\n.*?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if found:
        after = text[found.end() :]
        text = text[: found.start()] + section + ("\n" + after if after else "")
    else:
        text = text.rstrip("\n") + "\n\n" + section
    page.write_text(text, encoding="utf-8")


def replace_rows(rows: Sequence[Sequence[str]], *, page: Path = PAGE) -> None:
    """Replace rows of the page's tables by newer ones with the same first cell; a row that is not there is left out."""
    lines = page.read_text(encoding="utf-8").splitlines()
    newer = {f"| {row[0]} |": f"| {' | '.join(row)} |" for row in rows}
    shown = [
        next((row for begin, row in newer.items() if line.startswith(begin)), line) if line.startswith("| ") else line
        for line in lines
    ]
    page.write_text("\n".join(shown) + "\n", encoding="utf-8")


def machine(packages: Sequence[str]) -> str:
    """Date, machine and versions of a measurement, as one line."""
    cpuinfo = Path("/proc/cpuinfo")
    found = _CPU.search(cpuinfo.read_text(encoding="utf-8")) if cpuinfo.exists() else None
    cpu = found.group(1) if found else platform.processor() or "unknown processor"
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    today = datetime.now(UTC).date().isoformat()
    return f"{today}; {cpu}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are numbers and stand to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
