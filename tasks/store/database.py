"""DuckDB over the live parts: the views of a store, and the runs that a table is made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.setup import Grading
from tasks.store.layout import SCHEMAS, TRAIL
from tasks.store.runs import RunFolder, RunRecord
from tasks.store.store import Store

_SQL: Final = Path(__file__).resolve().parents[1] / "sql"

_QUESTIONS: Final = pa.schema([
    ("run_id", pa.string()),
    ("question_id", pa.string()),
    ("position", pa.int64()),
    ("text", pa.string()),
    ("answerable", pa.string()),
    ("gold_rule", pa.string()),
    ("n_gold", pa.int64()),
    ("gold_kind", pa.string()),
    ("tags", pa.map_(pa.string(), pa.string())),
])
_ASKED_TEXT: Final = pa.schema([("run_id", pa.string()), ("position", pa.int64()), ("asked", pa.large_string())])
_POINTS: Final = pa.schema([
    ("run_id", pa.string()),
    ("question_id", pa.string()),
    ("number", pa.int64()),
    ("point_id", pa.string()),
    ("text", pa.string()),
    ("vital", pa.bool_()),
    ("status", pa.string()),
])

# What a script counts of nested lists, by script and relation. DuckDB reads such a list whole, every quote and
# text in it; these fields alone are a fifth of the work.
_NARROW: Final[Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]]] = {
    "answers": {
        "claim_verdicts": ("grounding", ("verdicts.list.element.verdict",)),
        "point_verdicts": ("correctness", ("verdicts.list.element.number", "verdicts.list.element.verdict")),
    },
}
# A query's threads take a batch each of a table in memory; one that is a single batch is one thread's work.
_BATCH_ROWS: Final = 8_192


class Pick(NamedTuple):
    """One setup of one run: a line of a comparison."""

    run_id: str
    setup: str


class QueryResult(NamedTuple):
    """What a query gave."""

    columns: tuple[str, ...]
    table: pa.Table

    def rows(self) -> list[tuple[Any, ...]]:
        """Rows as Python values."""
        return list(zip(*(column.to_pylist() for column in self.table.columns), strict=True))


_RUN_COLUMNS: Final = {
    "run_id": pa.string(),
    "judge": pa.string(),
    "started_at": pa.string(),
    "run_state": pa.string(),
    "latest": pa.bool_(),
}


class Database:
    """An in-memory DuckDB whose views read the store's live parts; nothing it does is written anywhere.

    Args:
        store: Whose rows.
        picks: The setups of the runs to look at, in the order in which tables show them.
    """

    def __init__(self, store: Store, picks: Sequence[Pick]) -> None:
        self._connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
        # What the relations are made from: tables in memory, and the parts on disk.
        self.tables: dict[str, pa.Table] = {}
        self.parts: dict[str, list[str]] = {}
        for record in store.records():
            self._view(f"{record}_rows", SCHEMAS[record], store.rows(record).live_paths())
        self.add("manifest", _manifest(store, picks))
        self._add_asked(store, sorted({pick.run_id for pick in picks}))

    def add(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table known by a name."""
        self.tables[name] = table
        self._connection.register(name, table)

    def add_rows(self, name: str, rows: list[dict[str, Any]], columns: Mapping[str, str]) -> None:
        """Make rows known by a name; column types in Arrow's spelling (`string`, `int64`, `double`, `bool`)."""
        schema = pa.schema([(column, pa.type_for_alias(kind)) for column, kind in columns.items()])
        self.add(name, pa.Table.from_pylist(rows, schema=schema))

    def add_columns(self, name: str, values: Mapping[str, Sequence[Any]], columns: Mapping[str, str]) -> None:
        """The same for values that stand in columns."""
        schema = pa.schema([(column, pa.type_for_alias(kind)) for column, kind in columns.items()])
        self.add(name, pa.Table.from_pydict(dict(values), schema=schema))

    def grade_by(self, grading: Grading) -> None:
        """Make `thresholds` known, which `answers.sql` grades by."""
        row = {"grounded_at": grading.grounded_at, "correct_at": grading.correct_at}
        self.add_rows("thresholds", [row], dict.fromkeys(row, "double"))

    def run(self, script: str) -> list[dict[str, Any]]:
        """Run a script of `tasks/sql/` and return its last statement's rows."""
        for name, (record, columns) in _NARROW.get(script, {}).items():
            self._connection.register(name, self._narrow(record, columns))
        result = self._connection.execute(_script(script))
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def add_runs(self, store: Store, records: Sequence[RunRecord], latest: Sequence[Pick]) -> None:
        """Make `all_runs` known: the manifests of all runs, with what is known of each run."""
        shown = set(latest)
        tables = []
        for record in records:
            table = RunFolder(store.runs_folder, record.run_id).manifest()
            setups = table.column("setup").to_pylist()
            known = {
                "run_id": [record.run_id] * len(setups),
                "judge": [record.judge] * len(setups),
                "started_at": [record.started_at] * len(setups),
                "run_state": [record.state] * len(setups),
                "latest": [Pick(record.run_id, setup) in shown for setup in setups],
            }
            for (name, values), kind in zip(known.items(), _RUN_COLUMNS.values(), strict=True):
                table = table.append_column(name, pa.array(values, kind))
            tables.append(table)
        empty = pa.schema([*TRAIL, *_RUN_COLUMNS.items()]).empty_table()
        self.add("all_runs", pa.concat_tables([empty, *tables]))

    def ask(self, query: str) -> QueryResult:
        """Run one statement that only reads.

        Raises:
            ValueError: When it is anything else, or DuckDB cannot run it.
        """
        try:
            statements = self._connection.extract_statements(query)
            # EXPLAIN ANALYZE of a COPY writes its file and parses as EXPLAIN, so only SELECT is let through;
            # DESCRIBE, SHOW, SUMMARIZE, FROM, WITH and VALUES parse as SELECT.
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                msg = "only one SELECT, DESCRIBE, SHOW or SUMMARIZE runs here"
                raise ValueError(msg)
            table = self._connection.sql(query).to_arrow_table()
            return QueryResult(tuple(table.column_names), table)
        except duckdb.Error as error:
            raise ValueError(str(error)) from None

    def lock_down(self, folder: Path) -> None:
        """From here on nothing outside this folder is read, nothing is written, and no setting is changed."""
        allowed = str(folder).replace("'", "''")
        self._connection.execute(f"SET allowed_directories = ['{allowed}']")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _add_asked(self, store: Store, run_ids: Sequence[str]) -> None:
        """Make what was asked known: `asked_read`, and from it `asked_questions` and `asked_points`."""
        # Read by DuckDB: a model for each of 100,000 questions would take seconds.
        self._connection.register("asked_text", _asked_text(store, run_ids))
        asked = self._connection.sql(_script("asked")).to_arrow_table()
        self._connection.unregister("asked_text")
        self._connection.register("asked_read", _in_batches(asked))
        self.add("asked_questions", _in_batches(asked.select(_QUESTIONS.names).cast(_QUESTIONS)))
        self.add("asked_points", _in_batches(_points(asked)))

    def _narrow(self, record: str, columns: Sequence[str]) -> pa.Table:
        """Some columns of the parts that the record's view reads."""
        names = ["key", *columns]
        tables = []
        for path in self.parts.get(f"{record}_rows", ()):
            with pq.ParquetFile(path) as file:
                tables.append(file.read(names))
        if not tables:
            return SCHEMAS[record].empty_table().select(["key", *dict.fromkeys(n.partition(".")[0] for n in columns)])
        return _in_batches(pa.concat_tables(tables))

    def _view(self, name: str, schema: pa.Schema, paths: Sequence[str]) -> None:
        if not paths:
            self.add(name, schema.empty_table())
            return
        self.parts[name] = list(paths)
        self._connection.execute(view_over(name, paths))


def view_over(name: str, paths: Sequence[str]) -> str:
    """SQL of a view over Parquet files. Names are ours; a workspace's path is quoted."""
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    return f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{listed}])"  # noqa: S608


def views_script() -> str:
    """The SQL of the views a person queries."""
    return _script("views")


def _script(name: str) -> str:
    return (_SQL / f"{name}.sql").read_text(encoding="utf-8")


def _in_batches(table: pa.Table) -> pa.Table:
    """The same table, cut into batches and not copied."""
    return pa.Table.from_batches(table.to_batches(max_chunksize=_BATCH_ROWS), table.schema)


def _manifest(store: Store, picks: Sequence[Pick]) -> pa.Table:
    tables = []
    for place, pick in enumerate(picks):
        run = RunFolder(store.runs_folder, pick.run_id)
        table = run.rows_of(pick.setup)
        table = table.append_column("run_id", pa.repeat(pick.run_id, table.num_rows))
        table = table.append_column("judge", pa.repeat(run.record().judge, table.num_rows))
        tables.append(table.append_column("place", pa.repeat(pa.scalar(place, pa.int64()), table.num_rows)))
    empty = pa.schema([*TRAIL, ("run_id", pa.string()), ("judge", pa.string()), ("place", pa.int64())]).empty_table()
    return _in_batches(pa.concat_tables([empty, *tables]))


def _asked_text(store: Store, run_ids: Sequence[str]) -> pa.Table:
    tables = []
    for run_id in run_ids:
        asked = RunFolder(store.runs_folder, run_id).asked_text()
        columns = [pa.repeat(run_id, len(asked)), pa.array(np.arange(len(asked))), asked.cast(pa.large_string())]
        tables.append(pa.table(columns, schema=_ASKED_TEXT))
    return _in_batches(pa.concat_tables([_ASKED_TEXT.empty_table(), *tables]))


def _points(asked: pa.Table) -> pa.Table:
    """A row for each point of each question, numbered from 1."""
    lists = asked.column("points").combine_chunks()
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    question = np.repeat(np.arange(len(lengths)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    of_question = asked.select(["run_id", "question_id"]).take(pa.array(question))
    points = lists.flatten()
    columns = {
        "run_id": of_question.column("run_id"),
        "question_id": of_question.column("question_id"),
        "number": pa.array(np.arange(len(points)) - first + 1),
        **{name: points.field(name) for name in ("point_id", "text", "vital", "status")},
    }
    return pa.table(columns).cast(_POINTS)
