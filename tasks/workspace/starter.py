"""The files that `fourcells init` writes: an example to replace, and settings to start from."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from schemas.setup import Grading
from tasks.workspace.folder import BUILT_IN

_ALWAYS: Final = """\
# Chunks of at most 512 tokens, five passages, and a writer that always answers. What is left out takes its default.
[splitting]
by = "tokens"
max_tokens = 512

[context]
k = 5

[writer]
provider = "offline"
sentences = 3
"""
_ABSTAINS: Final = """\
# The same search, with a writer that says so when the passages do not answer.
[splitting]
by = "tokens"
max_tokens = 512

[context]
k = 5

[writer]
provider = "offline"
sentences = 3
abstain_below = 0.35
"""


def _built_in(name: str) -> dict[str, str]:
    return {name: (BUILT_IN / name).read_text(encoding="utf-8")}


# Never taken unless named, since it costs money.
_CLAUDE: Final = _built_in("setups/claude-grounded.toml")
SETUPS: Final[Mapping[str, str]] = {"setups/v1.toml": _ALWAYS, "setups/v2.toml": _ABSTAINS, **_CLAUDE}
BEIR_SETUPS: Final[Mapping[str, str]] = {
    "setups/bm25.toml": _ALWAYS,
    "setups/bm25-abstains.toml": _ABSTAINS,
    **_CLAUDE,
}

_DOCUMENT: Final = """\
# Logs

Replace this page with the documents that your assistant answers from.

## Retention

Logs are kept for 30 days on the Team plan and for 90 days on the Business plan. After that they are deleted.

## Export

Workspace owners can export logs as CSV. An export holds at most 10,000 lines.
"""
_QUESTIONS: Final = (
    {
        "id": "q1",
        "text": "How long are logs kept on the Team plan?",
        "answerable": "yes",
        "gold": [{"document": "example.md", "quote": "Logs are kept for 30 days on the Team plan"}],
    },
    {
        "id": "q2",
        "text": "Who can export logs?",
        "answerable": "yes",
        "gold": [{"document": "example.md", "quote": "Workspace owners can export logs as CSV"}],
    },
    {"id": "q3", "text": "How do I restore a deleted workspace?", "answerable": "no"},
)
_POINTS: Final = {
    "q1": [
        {
            "id": "q1/1",
            "text": "On the Team plan logs are kept for 30 days.",
            "weight": "vital",
            "documents": ["example.md"],
            "gold": [{"document": "example.md", "quote": "Logs are kept for 30 days on the Team plan"}],
            "status": "reviewed",
        },
        {
            "id": "q1/2",
            "text": "After that they are deleted.",
            "weight": "okay",
            "documents": ["example.md"],
            "gold": [{"document": "example.md", "quote": "After that they are deleted."}],
            "status": "reviewed",
        },
    ],
    "q2": [
        {
            "id": "q2/1",
            "text": "Workspace owners can export logs.",
            "weight": "vital",
            "documents": ["example.md"],
            "gold": [{"document": "example.md", "quote": "Workspace owners can export logs as CSV"}],
            "status": "reviewed",
        },
        {
            "id": "q2/2",
            "text": "The export is a CSV file.",
            "weight": "okay",
            "documents": ["example.md"],
            "gold": [{"document": "example.md", "quote": "export logs as CSV"}],
            "status": "reviewed",
        },
    ],
}
EXAMPLE: Final[Mapping[str, str]] = {
    "corpus/example.md": _DOCUMENT,
    "questions.jsonl": "".join(f"{json.dumps(question)}\n" for question in _QUESTIONS),
    "keypoints.json": json.dumps(_POINTS, indent=2) + "\n",
}
_JUDGE: Final = """\
# The built-in reader and judge: no key, no network, no model. For wiring, demos and a first look, not a verdict.
[reader]
provider = "offline"

[judge]
provider = "offline"
"""
_IGNORED: Final = """\
# Made by runs: the rows that were computed, and reports.
store/
reports/
"""
_FOLDERS: Final = ("answers", "judges", "labels/calibration", "prompts", "setups")


def furnish(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Make a workspace's folders and write what every workspace has, and these files, where there is none yet.

    Returns:
        Paths of the files written.
    """
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    wanted = {**files, "grading.toml": _grading(), ".gitignore": _IGNORED}
    if not any((folder / "judges").glob("*.toml")):
        wanted |= {"judges/offline.toml": _JUDGE, **_built_in("judges/claude.toml")}
    written = []
    for name, text in wanted.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(name)
    return [*written, *_copy_prompts(folder)]


def _copy_prompts(folder: Path) -> list[str]:
    copied = []
    for source in sorted(path for path in (BUILT_IN / "prompts").rglob("*") if path.is_file()):
        name = source.relative_to(BUILT_IN)
        if not (folder / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
            copied.append(name.as_posix())
    return copied


def _grading() -> str:
    defaults = Grading()
    return f"""\
# Thresholds and cuts of every number. These are the defaults: take the "# " away before one to change it. Reports
# print the values used.

# Cuts at which the ranking is measured.
# k = {list(defaults.k)}

# Tokens of text at which recall is measured, whatever the size of the passages.
# budget_tokens = {defaults.budget_tokens}

# Share of supported claims from which on an answer counts as grounded.
# grounded_at = {defaults.grounded_at}

# Share of vital key points from which on an answer counts as correct.
# correct_at = {defaults.correct_at}
"""
