"""SQL over a store: the views of `tasks/sql/views.sql`, and nothing but reading."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.errors import InputError
from schemas.setup import Grading
from tasks.index import chunk_keys
from tasks.scores import add_retrieval_scores
from tasks.store.database import Database, Pick, QueryResult, view_over, views_script
from tasks.store.files import write_whole
from tasks.store.runs import RunFolder, RunRecord, list_runs
from tasks.store.store import Store
from tasks.store.tabular import parquet_bytes


def open_views(workspace: Path) -> Database:
    """Make every view of a workspace's store; before the first run they are there and empty."""
    store = Store(workspace / "store")
    records = list_runs(store.runs_folder)
    latest = latest_picks(records)
    database = Database(store, latest)
    database.add_runs(store, records, latest)
    newest = RunFolder(store.runs_folder, records[-1].run_id).plan() if records else None
    documents = newest.documents if newest else ()
    database.add_rows(
        "planned_documents",
        [document.model_dump(include={"document_id", "document_key"}) for document in documents],
        {"document_id": "string", "document_key": "string"},
    )
    chunks: list[dict[str, Any]] = []
    for pick in latest:
        plan = RunFolder(store.runs_folder, pick.run_id).plan()
        setup = next(planned.setup for planned in plan.setups if planned.setup.name == pick.setup)
        if setup.answers is None:
            chunks.extend(
                {"setup": pick.setup, "document_id": document.document_id, "chunks_key": key}
                for document, key in chunk_keys(plan.documents, setup).items()
            )
    unique = {tuple(chunk.values()): chunk for chunk in chunks}
    columns = {"setup": "string", "document_id": "string", "chunks_key": "string"}
    database.add_rows("planned_chunks", list(unique.values()), columns)
    add_retrieval_scores(database, workspace, latest, newest.grading if newest else Grading())
    database.run("views")
    database.lock_down(store.root)
    return database


def names_for_completion(database: Database) -> list[str]:
    """Names of views and of their columns."""
    views = [str(row[0]) for row in database.ask("SELECT view_name FROM duckdb_views() WHERE NOT internal").rows()]
    columns = [str(row[0]) for view in views for row in database.ask(f"DESCRIBE {view}").rows()]
    return sorted({*views, *columns})


def write_views_file(workspace: Path) -> Path:
    """Write `store/views.sql` for the plain duckdb client, and beside it what is not in the parts.

    The file names the parts that are live now; write it again after a run.
    """
    database = open_views(workspace)
    folder = workspace.resolve() / "store"
    lines = ["-- Written by `fourcells sql --write-views`; names the parts that were live then."]
    for name, table in database.tables.items():
        path = folder / "views" / f"{name}.parquet"
        write_whole(path, parquet_bytes(table))
        lines.append(view_over(name, [str(path)]) + ";")
    lines.extend(view_over(name, paths) + ";" for name, paths in database.parts.items())
    path = folder / "views.sql"
    write_whole(path, "\n".join([*lines, "", views_script()]).encode())
    return path


def latest_picks(records: Sequence[RunRecord]) -> list[Pick]:
    """The latest run of each (setup, judge), ordered by setup and judge."""
    latest: dict[tuple[str, str], Pick] = {}
    for record in records:
        latest.update({(setup, record.judge): Pick(record.run_id, setup) for setup in record.setups})
    return [latest[name] for name in sorted(latest)]


def ask_sql(database: Database, query: str) -> QueryResult:
    """Run one reading statement: SELECT (also FROM, WITH, VALUES), DESCRIBE, SHOW or SUMMARIZE.

    Raises:
        InputError: For anything else, for more than one statement, and for what DuckDB cannot run.
    """
    try:
        return database.ask(query)
    except ValueError as error:
        raise InputError(str(error), remedy="See what there is with: fourcells sql 'SHOW TABLES'.") from None
