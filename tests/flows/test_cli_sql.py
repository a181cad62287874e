"""`fourcells sql`: every view, and nothing but reading."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from flows.cli import main
from schemas.errors import InputError
from tasks.explore import ask_sql, names_for_completion, open_views

VIEWS = {
    "documents", "chunks", "questions", "key_points", "rankings", "passages", "answers", "claims", "verdicts",
    "citations", "points", "cells", "runs", "scores", "costs",
}  # fmt: skip


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_views_are_there_and_empty_before_the_first_run(workspace: Path, view: str) -> None:
    assert ask_sql(open_views(workspace), f"SELECT * FROM {view}").rows() == []
    assert not (workspace / "store").exists()


@pytest.mark.parametrize("view", sorted(VIEWS - {"citations"}))
def test_views_hold_a_run(done: Path, view: str) -> None:
    assert ask_sql(open_views(done), f"SELECT * FROM {view}").rows()


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_every_column_is_explained(done: Path, view: str) -> None:
    query = f"SELECT column_name, comment FROM duckdb_columns() WHERE table_name = '{view}'"
    comments = ask_sql(open_views(done), query).rows()
    assert comments
    assert [name for name, comment in comments if not comment] == []


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        pytest.param("SELECT count(*) FROM cells WHERE setup = 'v1'", [(8,)], id="a question is in one cell"),
        pytest.param(
            "SELECT count(*) FROM chunks AS c JOIN documents AS d USING (document_id) "
            'WHERE c.text <> substring(d.text, c.start + 1, c."end" - c.start)',
            [(0,)],
            id="chunks are slices",
        ),
        pytest.param(
            "SELECT count(*) FROM verdicts AS v JOIN passages AS p ON p.setup = v.setup AND "
            "p.question_id = v.question_id AND p.number = v.passage "
            'WHERE v.quote <> substring(p.text, v.start + 1, v."end" - v.start)',
            [(0,)],
            id="quotes stand in their passage",
        ),
        pytest.param("SELECT count(DISTINCT run_id) FROM runs WHERE latest", [(1,)], id="one run"),
        pytest.param(
            "SELECT (SELECT count(*) FROM claims) - (SELECT sum(n_claims) FROM answers)", [(0,)], id="claims add up"
        ),
    ],
)
def test_what_views_say(done: Path, query: str, rows: list[tuple[object, ...]]) -> None:
    assert ask_sql(open_views(done), query).rows() == rows


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO 'out.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'other.db'",
        "CREATE TABLE t (a INT)",
        "DROP VIEW cells",
        "SET enable_external_access = true",
        "PRAGMA version",
        "INSERT INTO cells VALUES (1)",
        "SELECT 1; SELECT 2",
        "",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT nope FROM cells",
        "SELEC 1",
    ],
)
def test_nothing_else_runs(done: Path, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done)
    before = sorted(path.name for path in done.iterdir())
    with pytest.raises(InputError):
        ask_sql(open_views(done), query)
    assert sorted(path.name for path in done.iterdir()) == before


def printed(
    done: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *options: str
) -> bytes:
    monkeypatch.setattr(sys, "argv", ["fourcells", "sql", *options, "--workspace", str(done)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}
    sys.stdout.flush()
    return capfdbinary.readouterr().out


QUERY = "SELECT label, count(*) AS n FROM cells GROUP BY ALL ORDER BY ALL"


def test_forms(done: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    records = json.loads(printed(done, monkeypatch, capfdbinary, QUERY, "--format", "json"))
    csv = printed(done, monkeypatch, capfdbinary, QUERY, "--format", "csv").decode().splitlines()
    parquet = pq.read_table(BytesIO(printed(done, monkeypatch, capfdbinary, QUERY, "--format", "parquet"))).to_pylist()
    markdown = printed(done, monkeypatch, capfdbinary, QUERY, "--format", "markdown").decode()
    table = printed(done, monkeypatch, capfdbinary, QUERY).decode()
    assert records == parquet
    assert csv == ["label,n", *(f"{record['label']},{record['n']}" for record in records)]
    assert all(f"| {record['label']} | {record['n']} |" in markdown for record in records)
    assert f"{len(records)} rows" in table


def test_a_query_from_standard_input(done: Path) -> None:
    command = [sys.executable, "-m", "flows.cli", "sql", "--format", "csv", "--workspace", str(done)]
    finished = subprocess.run(command, input="SELECT 1 AS one", capture_output=True, text=True, check=True)
    assert finished.stdout == "one\n1\n"


def test_views_file_for_the_plain_client(
    done: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    printed(done, monkeypatch, capfdbinary, "--write-views")
    plain = duckdb.connect()
    plain.execute((done / "store" / "views.sql").read_text("utf-8"))
    ours = open_views(done)
    for view in VIEWS:
        counted = f"SELECT count(*) FROM {view}"
        assert plain.sql(counted).fetchall() == ask_sql(ours, counted).rows()


def test_completion_knows_views_and_columns(done: Path) -> None:
    assert VIEWS | {"label", "question_id", "verdict"} <= set(names_for_completion(open_views(done)))
