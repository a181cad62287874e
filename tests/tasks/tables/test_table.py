"""Tables: what fits, what is left out, and nothing in them acts."""

import csv
from io import StringIO

import pytest
from rich.console import Console

from tasks.tables.table import Column, Table, fit, print_tables, to_csv, to_markdown

TABLE = Table(
    "Setups",
    (Column("setup", right=False), Column("correct"), Column("claims supported", 1), Column("relevancy", 2)),
    (("v1", "10.0%", "99.5%", "80.0%"), ("v2", None, "100.0%", "7.0%")),
)


def printed(tables: list[Table], width: int) -> str:
    sink = StringIO()
    print_tables(Console(file=sink, width=width, markup=False, highlight=False, emoji=False), tables)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        pytest.param(80, [], id="wide enough for all"),
        pytest.param(32, ["relevancy"], id="the least important first"),
        pytest.param(16, ["claims supported", "relevancy"], id="then the next"),
        pytest.param(4, ["claims supported", "relevancy"], id="what is never left out stays"),
    ],
)
def test_fit(width: int, left_out: list[str]) -> None:
    assert fit(TABLE, width)[1] == left_out


@pytest.mark.parametrize("width", [40, 80, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in printed([TABLE], width).splitlines()) <= width


def test_what_is_left_out_is_named() -> None:
    assert "left out for width: relevancy" in printed([TABLE], 32)


NASTY = Table("T", (Column("text", right=False),), (("\x1b[31m[red]|<b>\n=1+1",),))


def test_terminal_codes_and_markup_are_text() -> None:
    assert r"\x1b[31m[red]|<b> =1+1" in printed([NASTY], 80)


def test_markdown_cells_stay_cells() -> None:
    assert "| \\\\x1b[31m[red]\\|&lt;b> =1+1 |" in to_markdown([NASTY])


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        pytest.param("=1+1", "'=1+1", id="a formula"),
        pytest.param("-cmd", "'-cmd", id="a formula in disguise"),
        pytest.param("-0.5", "-0.5", id="a negative number"),
        pytest.param("plain", "plain", id="text"),
    ],
)
def test_csv_cells_do_not_run_in_a_spreadsheet(cell: str, safe: str) -> None:
    table = Table("T", (Column("a"),), ((cell,),))
    assert list(csv.reader(StringIO(to_csv(table)))) == [["a"], [safe]]


def test_a_missing_value_is_a_dash_and_empty_in_csv() -> None:
    assert "| v2 | - | 100.0% | 7.0% |" in to_markdown([TABLE])
    assert "v2,,100.0%,7.0%" in to_csv(TABLE)
