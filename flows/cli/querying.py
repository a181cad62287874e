"""`fourcells sql`: reading the store with DuckDB."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli import options

if TYPE_CHECKING:
    from tasks.store.database import Database

Form = Annotated[
    Literal["table", "markdown", "csv", "json", "parquet"], typer.Option("--format", help="How to print it.")
]


def sql(
    query: Annotated[str | None, typer.Argument(help="SELECT, DESCRIBE, SHOW or SUMMARIZE; none: a prompt.")] = None,
    workspace: options.Workspace = None,
    form: Form = "table",
    write_views: Annotated[
        bool, typer.Option("--write-views", help="Write store/views.sql, for the plain duckdb client.")
    ] = False,
) -> None:
    """Query the store: SHOW TABLES lists the views, DESCRIBE one shows its columns."""
    from tasks.explore import open_views, write_views_file
    from tasks.workspace.folder import find_workspace

    folder = find_workspace(workspace)
    if write_views:
        path = write_views_file(folder)
        sys.stdout.write(f"wrote {path}; read it with: duckdb -init {path}\n")
        return
    database = open_views(folder)
    if query is None and sys.stdin.isatty():
        _converse(database, folder)
        return
    _run(database, query if query is not None else sys.stdin.read(), form)


def _run(database: "Database", query: str, form: str) -> None:
    from tasks.explore import ask_sql
    from tasks.store.tabular import parquet_bytes

    result = ask_sql(database, query)
    if form == "parquet":
        sys.stdout.buffer.write(parquet_bytes(result.table))
        return
    from flows.cli.reading import emit
    from tasks.tables.query_result import as_records, as_table

    table = as_table(result)
    shown = "text" if form == "table" else form
    emit(shown, document=lambda: as_records(result), tables=lambda: [table], flat=lambda: table)


def _converse(database: "Database", folder: Path) -> None:
    """A prompt with history and completion; Ctrl-D leaves it."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory

    from schemas.errors import FourcellsError
    from tasks.explore import names_for_completion

    history = folder / "store" / ".sql_history"
    history.parent.mkdir(parents=True, exist_ok=True)
    words = WordCompleter(names_for_completion(database), ignore_case=True)
    session: PromptSession[str] = PromptSession(history=FileHistory(str(history)), completer=words)
    sys.stderr.write("SHOW TABLES lists the views, DESCRIBE one shows its columns, Ctrl-D leaves\n")
    while True:
        try:
            query = session.prompt("fourcells> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            continue
        if query.strip().rstrip(";"):
            try:
                _run(database, query, "table")
            except FourcellsError as error:
                sys.stderr.write(f"{error}\n")
