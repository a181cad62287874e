"""`fourcells store`."""

from typing import Annotated

import typer

from flows.cli import options

app = typer.Typer(help="The saved rows: size, compacting, pruning.", no_args_is_help=True, rich_markup_mode=None)


@app.command("size")
def size(workspace: options.Workspace = None, form: options.Form = "text") -> None:
    """Say how many rows, files and bytes there are of everything."""
    from flows.cli.reading import emit
    from tasks.store.store import Store
    from tasks.store.upkeep import sizes
    from tasks.tables.table import Column, Table
    from tasks.workspace.folder import find_workspace

    found = sizes(Store(find_workspace(workspace) / "store"))
    table = Table(
        title="The store",
        columns=(Column("what", right=False), Column("rows"), Column("files"), Column("bytes")),
        rows=tuple(tuple(None if cell is None else str(cell) for cell in entry) for entry in found),
        below=(f"{sum(entry.n_bytes for entry in found):,} bytes in all",),
    )
    emit(form, document=lambda: [entry._asdict() for entry in found], tables=lambda: [table], flat=lambda: table)


@app.command("compact")
def compact(workspace: options.Workspace = None) -> None:
    """Merge each record's files into one; it goes by itself above 200."""
    from flows.cli.asking import say
    from tasks.store import upkeep
    from tasks.store.store import Store
    from tasks.workspace.folder import find_workspace

    parts = upkeep.compact(Store(find_workspace(workspace) / "store"))
    lines = [f"{record}: {before} files became {after}" for record, (before, after) in parts.items() if before > after]
    say(lines or ["every record is in one file already"])


@app.command("prune")
def prune(
    workspace: options.Workspace = None,
    keep_runs: Annotated[
        int | None, typer.Option("--keep-runs", min=0, help="Drop all but so many of the newest runs first.")
    ] = None,
    older_than_days: Annotated[
        float, typer.Option("--older-than-days", min=0, help="What was made within so many days stays.")
    ] = 1.0,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this nothing is touched.")] = False,
) -> None:
    """Drop what no run refers to. Says what would go, unless told --yes."""
    from datetime import timedelta

    from flows.cli.asking import say
    from tasks.runs import prune as pruning
    from tasks.workspace.folder import find_workspace

    older_than = timedelta(days=older_than_days)
    found = pruning.prune(find_workspace(workspace), keep_runs=keep_runs, older_than=older_than, really=yes)
    say(found.told(done=yes))
