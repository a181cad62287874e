"""Verbs that read what was computed: `report`, `show`, `unsupported`, `runs`."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli import options

if TYPE_CHECKING:
    from tasks.tables.table import Table

RunId = Annotated[str | None, typer.Option("--run", help="A run_id or its beginning. Default: the latest runs.")]
AnyJudge = Annotated[str | None, typer.Option("--judge", help="Whose verdicts. Default: the latest run's judge.")]


def report(
    workspace: options.Workspace = None,
    setup: options.Setups = None,
    judge: AnyJudge = None,
    run: RunId = None,
    form: options.Form = "text",
) -> None:
    """Compare setups: the latest run of each, or one run."""
    from tasks.compare import compare
    from tasks.report import report_tables
    from tasks.runs.moved import noting_moves
    from tasks.summary import summarize
    from tasks.tables.long_form import numbers_table
    from tasks.workspace.folder import find_workspace

    comparison = noting_moves(compare(find_workspace(workspace), run_id=run, setups=tuple(setup or ()), judge=judge))
    emit(
        form,
        document=lambda: summarize(comparison),
        tables=lambda: report_tables(comparison),
        flat=lambda: numbers_table(summarize(comparison)),
    )


def show(
    question: Annotated[str, typer.Argument(help="A question id, or its beginning.")],
    workspace: options.Workspace = None,
    setup: options.Setups = None,
    judge: AnyJudge = None,
    run: RunId = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Tell one question's whole story: passages, answer, claims, points, cell and why."""
    from flows.cli.terminal import console
    from tasks.compare import compare
    from tasks.story import tell
    from tasks.story_text import print_story
    from tasks.workspace.folder import find_workspace

    comparison = compare(find_workspace(workspace), run_id=run, setups=tuple(setup or ()), judge=judge)
    stories = tell(comparison, question)
    if as_json:
        sys.stdout.write(json.dumps(stories, ensure_ascii=False, indent=1) + "\n")
        return
    for story in stories:
        print_story(console(), story)


def unsupported(
    workspace: options.Workspace = None,
    setup: options.Setups = None,
    judge: AnyJudge = None,
    run: RunId = None,
    form: options.Form = "text",
) -> None:
    """List every claim that its context does not support."""
    from tasks.compare import compare
    from tasks.tables.claims import unsupported_table
    from tasks.workspace.folder import find_workspace

    comparison = compare(find_workspace(workspace), run_id=run, setups=tuple(setup or ()), judge=judge)
    comparison.database.run("claims")
    rows = comparison.database.run("unsupported")
    table = unsupported_table(rows, below=(f"{len(rows)} claims",))
    emit(form, document=lambda: rows, tables=lambda: [table], flat=lambda: table)


def runs(workspace: options.Workspace = None, form: options.Form = "text") -> None:
    """List the runs of a workspace, oldest first."""
    from tasks.store.runs import list_runs
    from tasks.store.store import Store
    from tasks.tables.runs import runs_table
    from tasks.workspace.folder import find_workspace

    records = list_runs(Store(find_workspace(workspace) / "store").runs_folder)
    table = runs_table(records)
    if not records:
        sys.stderr.write("fourcells: there is no run yet; start one with: fourcells run\n")
    emit(
        form,
        document=lambda: [record.model_dump(mode="json") for record in records],
        tables=lambda: [table],
        flat=lambda: table,
    )


def emit(
    form: str,
    *,
    document: Callable[[], Any],
    tables: "Callable[[], Sequence[Table]]",
    flat: "Callable[[], Table]",
) -> None:
    """Print a result in the form asked for: `document` as JSON, `flat` as CSV, else all tables."""
    from flows.cli.terminal import console
    from tasks.tables.table import print_tables, to_csv, to_markdown

    match form:
        case "json":
            sys.stdout.write(json.dumps(document(), ensure_ascii=False, indent=1) + "\n")
        case "csv":
            sys.stdout.write(to_csv(flat()))
        case "markdown":
            sys.stdout.write(to_markdown(tables()))
        case _:
            print_tables(console(), tables())
