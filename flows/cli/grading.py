"""`fourcells run` and `fourcells grade`."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli import options
from schemas.plan import Until

if TYPE_CHECKING:
    from tasks.runs.prepare import Request

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Record = Annotated[
    bool | None,
    typer.Option(
        "--record/--no-record", help="As a Prefect flow, or here. Default: a flow where there is a Prefect API."
    ),
]


def run(
    workspace: options.Workspace = None,
    setup: options.Setups = None,
    judge: options.JudgeName = "offline",
    question: options.Questions = None,
    until: Annotated[Until, typer.Option(help="The last stage to run.")] = "attribute",
    as_json: AsJson = False,
    record: Record = None,
    skip_unresolved: Annotated[
        bool,
        typer.Option("--skip-unresolved", help="Go on when gold is not found, and count those questions apart."),
    ] = False,
    retry_failed: options.RetryFailed = False,
    estimate: options.Estimate = False,
    budget: options.Budget = None,
    batch: options.Batch = False,
) -> None:
    """Take every question through all stages; rows that exist are reused."""
    # Imported here: --help has to be quick.
    from tasks.runs.prepare import Request
    from tasks.workspace.folder import find_workspace

    _walk(
        Request(
            workspace=find_workspace(workspace),
            setups=tuple(setup or ()),
            judge=judge,
            questions=tuple(question or ()),
            until=until,
            skip_unresolved=skip_unresolved,
            retry_failed=retry_failed,
            budget_usd=budget,
            batch=batch,
            estimate=estimate,
        ),
        as_json=as_json,
        record=record,
    )


def grade(
    workspace: options.Workspace = None,
    setup: options.Setups = None,
    judge: options.JudgeName = "offline",
    question: options.Questions = None,
    as_json: AsJson = False,
    record: Record = None,
    retry_failed: options.RetryFailed = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Judge everything once more; kept beside the old, and taken from now on.")
    ] = False,
    fresh_reader: Annotated[
        bool, typer.Option("--fresh-reader", help="Let the reader read the answers once more, too.")
    ] = False,
    estimate: options.Estimate = False,
    budget: options.Budget = None,
    batch: options.Batch = False,
) -> None:
    """Judge answers that exist; none is retrieved or written anew."""
    from tasks.runs.prepare import Request
    from tasks.runs.trials import Fresh
    from tasks.workspace.folder import find_workspace

    _walk(
        Request(
            workspace=find_workspace(workspace),
            setups=tuple(setup or ()),
            judge=judge,
            questions=tuple(question or ()),
            grade_only=True,
            retry_failed=retry_failed,
            fresh=Fresh(reading=fresh_reader, judging=fresh),
            budget_usd=budget,
            batch=batch,
            estimate=estimate,
        ),
        as_json=as_json,
        record=record,
    )


def _walk(request: "Request", *, as_json: bool, record: bool | None) -> None:
    from flows.recorded import is_configured, run_recorded
    from tasks.compare import compare
    from tasks.report import report_tables
    from tasks.summary import summarize
    from tasks.tables.ledger import told_failures
    from tasks.tables.table import print_tables

    if request.estimate:
        _print_estimate(request, as_json=as_json)
        return
    recorded = is_configured() if record is None else record
    run_id = run_recorded(request) if recorded else _walk_here(request)
    comparison = compare(request.workspace, run_id=run_id)
    if as_json:
        sys.stdout.write(json.dumps(summarize(comparison), ensure_ascii=False, indent=1) + "\n")
    else:
        from flows.cli.terminal import console

        print_tables(console(), report_tables(comparison, title=f"Run {run_id}"))
    if comparison.runs[run_id].n_failed:
        sys.stderr.write(f"fourcells: {told_failures(comparison, grade_only=request.grade_only)}\n")
        raise typer.Exit(3)


def _print_estimate(request: "Request", *, as_json: bool) -> None:
    from flows.cli.terminal import console
    from flows.estimating import expect
    from tasks.tables.costs import estimate_document, estimate_table
    from tasks.tables.table import print_tables

    expected = expect(request)
    if as_json:
        document = estimate_document(expected, batch=request.batch)
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    else:
        print_tables(console(), [estimate_table(expected, batch=request.batch)])


def _walk_here(request: "Request") -> str:
    from flows.cli.progress import shown_progress
    from flows.here import run_here
    from tasks.runs.prepare import prepare

    plan = prepare(request)
    with shown_progress(plan) as (progress, splitting):
        run_here(plan, progress, splitting)
    if sys.stderr.isatty():
        sys.stderr.write("not recorded in Prefect; for a history in its UI: fourcells up, then the line it prints\n")
    return plan.run_id
