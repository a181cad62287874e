"""A small real workspace as a test writes it, ways to run it, and ways to look at what was stored."""

import json
from pathlib import Path
from typing import Any

from schemas.trail import Trail
from tasks.store.runs import RunFolder
from tasks.store.store import Store

Summary = dict[str, Any]
Stored = dict[str, dict[str, dict[str, Any]]]

DOCUMENTS = {
    "plans/audit-log.md": """# Audit log

## Enterprise plan

On the Enterprise plan the audit log keeps every entry for 400 days. Entries can be exported as CSV or JSON.

## Team plan

On the Team plan the audit log keeps entries for 90 days. Entries cannot be exported on this plan.

Owners and security admins can open the audit log. Other members do not see it in the menu.
""",
    "plans/prices.md": """# Prices

The Team plan costs 20 dollars for each member and month. The Enterprise plan is sold by the year only.

Prices do not include tax. A yearly subscription of the Team plan is 15 percent cheaper than twelve months.
""",
    "backups.md": """# Backups

Nightly backups start at 02:00 UTC. A backup is kept for 30 days and then deleted without notice.

## Restoring

To restore a backup, open the console, choose Backups and press Restore. A restore takes about ten minutes for
each terabyte. While a restore runs the database is read-only.

## Regions

Backups are stored in the region of the database. A copy in a second region costs 12 dollars a month.
""",
    "limits.md": """# Limits

A project holds at most 50 databases. A database holds at most 4 terabytes.

A query is stopped after 60 seconds. The limit can be raised to 300 seconds by support.
""",
    "support.md": """# Support

Support answers within four hours on working days. On the Enterprise plan support answers within 30 minutes at
any hour.

Write to the support desk from the console. Attach the request id, which stands in the header of every reply.
""",
    "keys.txt": """API keys

An API key is shown once, when it is made. A lost key cannot be shown again: make a new one and delete the old one.

Keys expire after one year. A warning is sent 14 days before a key expires.
""",
}

QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "text": "How long does the audit log keep entries on the Team plan?"},
    {"id": "q2", "text": "When do nightly backups start?"},
    {"id": "q3", "text": "How long is a backup kept before it is deleted?"},
    {"id": "q4", "text": "How many databases can a project hold?"},
    {"id": "q5", "text": "How fast does support answer on the Enterprise plan?"},
    {"id": "q6", "text": "What should I do when an API key is lost?"},
    {"id": "q7", "text": "What does a copy of backups in a second region cost?"},
    {"id": "q8", "text": "Which payment cards does the shop in Lisbon accept?", "answerable": "no"},
]
GOLD = {
    "q1": ("plans/audit-log.md", "On the Team plan the audit log keeps entries for 90 days."),
    "q2": ("backups.md", "Nightly backups start at 02:00 UTC."),
    "q3": ("backups.md", "A backup is kept for 30 days"),
    "q4": ("limits.md", "A project holds at most 50 databases."),
    "q5": ("support.md", "On the Enterprise plan support answers within 30 minutes"),
    "q6": ("keys.txt", "make a new one and delete the old one"),
    "q7": ("backups.md", "A copy in a second region costs 12 dollars a month."),
}
POINTS = {
    "q1": ["On the Team plan the audit log keeps entries for 90 days."],
    "q2": ["Nightly backups start at 02:00 UTC."],
    "q3": ["A backup is kept for 30 days.", "Backups are deleted without notice."],
    "q4": ["A project holds at most 50 databases."],
    "q5": ["On the Enterprise plan support answers within 30 minutes.", "Support answers at any hour."],
    "q6": ["A lost key cannot be shown again.", "A new key has to be made."],
    "q7": ["A copy in a second region costs 12 euros a month."],
}
SETUPS = {
    "v1": '[splitting]\nby = "heading"\n',
    "v2": '[splitting]\nby = "tokens"\nmax_tokens = 48\n[context]\nk = 3\n[writer]\nabstain_below = 0.5\n',
    "w1": (
        '[splitting]\nby = "tokens"\nmax_tokens = 24\n[context]\nk = 3\nneighbours = 1\n[writer]\nabstain_below = 0.5\n'
    ),
}


def write_workspace(folder: Path) -> Path:
    """Six short documents, eight questions of which one is unanswerable, three setups; nothing was run yet."""
    for name, text in DOCUMENTS.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    questions = [
        {**question, "gold": [{"document": GOLD[question["id"]][0], "quote": GOLD[question["id"]][1]}]}
        if question["id"] in GOLD
        else question
        for question in QUESTIONS
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    points = {
        name: [{"id": f"{name}.{number}", "text": text} for number, text in enumerate(texts, start=1)]
        for name, texts in POINTS.items()
    }
    (folder / "keypoints.json").write_text(json.dumps(points), encoding="utf-8")
    for kind, files in (("setups", SETUPS), ("judges", {"offline": ""})):
        (folder / kind).mkdir()
        for name, text in files.items():
            (folder / kind / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def walk_all(workspace: Path, **request: object) -> str:
    """Take a workspace through everything in this process; returns the run_id."""
    # Imported here: most tests need no pipeline.
    from flows.here import run_here
    from tasks.runs.prepare import Request, prepare

    plan = prepare(Request(workspace=workspace, **request))  # type: ignore[arg-type]
    run_here(plan, lambda _count: None)
    return plan.run_id


def run_all(workspace: Path, **request: object) -> Summary:
    """The same; returns the document of `run --json`."""
    from tasks.compare import compare
    from tasks.summary import summarize

    return summarize(compare(workspace, run_id=walk_all(workspace, **request)))


def stored(workspace: Path) -> Stored:
    """All rows of a store, by record and key; fails when a key has two rows."""
    store = Store(workspace / "store")
    found: Stored = {}
    for record in store.records():
        rows = store.rows(record)
        tables = [rows.parts.read(part).to_pylist() for part in rows.parts.live()]
        flat = [row for table in tables for row in table]
        found[record] = {row["key"]: row for row in flat}
        assert len(found[record]) == len(flat), f"a {record} key has two rows"
    return found


def timeless(found: Stored) -> Stored:
    """Stored rows without what two runs of the same thing may differ in."""
    return {
        record: {
            key: {name: value for name, value in row.items() if name not in {"made_by", "made_at", "latency_s"}}
            for key, row in rows.items()
        }
        for record, rows in found.items()
    }


def tables(summary: Summary) -> Summary:
    """A run's document without its name and without what was computed and what reused."""
    return {
        name: {part: setup[part] for part in ("metrics", "states", "cells", "cost_usd")}
        for name, setup in summary["setups"].items()
    }


def totals(summary: Summary, kind: str) -> dict[str, int]:
    """Counts of one kind (`computed`, `reused`, `failed`) by stage, over all setups."""
    found: dict[str, int] = {}
    for setup in summary["setups"].values():
        for stage, n in setup[kind].items():
            found[stage] = found.get(stage, 0) + n
    return found


def trails_of(workspace: Path, run_id: str, setup: str) -> dict[str, Trail]:
    """What became of each question of a setup, by question id."""
    folder = RunFolder(workspace / "store" / "runs", run_id)
    return {trail.question_id: trail for trail in folder.all_trails(setup)}
