"""`fourcells keypoints`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tasks.workspace.drafting import Drafts

app = typer.Typer(help="Key points: what a right answer says.", no_args_is_help=True, rich_markup_mode=None)


@app.command("from-references")
def from_references(workspace: options.Workspace = None) -> None:
    """Split reference answers into key points, for questions that have none; each is to be reviewed."""
    from flows.cli.asking import say
    from tasks.workspace.folder import find_workspace
    from tasks.workspace.references import draft_from_references

    say(draft_from_references(find_workspace(workspace, edits=True)).told())


@app.command("draft")
def draft(
    workspace: options.Workspace = None,
    judge: Annotated[str, typer.Option("--judge", help="Whose [drafter]: a name under judges/.")] = "offline",
    question: options.Questions = None,
    again: Annotated[
        bool, typer.Option("--again", help="Draft anew where there are only points that nobody reviewed.")
    ] = False,
    budget: options.Budget = None,
    estimate: options.Estimate = False,
) -> None:
    """Let a model draft key points from the full expected documents; each is to be reviewed.

    Questions with points that a person reviewed are never touched.
    """
    from flows.cli.asking import say
    from tasks.workspace import drafting
    from tasks.workspace.folder import find_workspace

    plan = drafting.plan_drafts(find_workspace(workspace, edits=True), judge, question or (), again=again)
    if estimate:
        say(drafting.estimate(plan))
    else:
        _draft(drafting.Drafts(plan), budget)


def _draft(drafts: "Drafts", budget: float | None) -> None:
    from flows.cli.asking import say
    from tasks.models.claude.connection import check_credentials

    if drafts.plan.wanted:
        check_credentials(drafts.plan.settings, where=drafts.plan.where)
    try:
        if drafts.plan.wanted:
            _ask(drafts, budget)
    finally:
        # After an error or Ctrl-C too: what came until then is in the file.
        say(drafts.told())
    if drafts.n_failed:
        sys.stderr.write(f"fourcells: {drafts.n_failed} questions got no key points; run again to try them\n")
        raise typer.Exit(3)


def _ask(drafts: "Drafts", budget: float | None) -> None:
    from flows.cli.counting import counted
    from tasks.models.claude.budget import Budget
    from tasks.models.claude.desk import Desk
    from tasks.store.journal import Journal
    from tasks.store.runs import new_run_id
    from tasks.store.store import Store

    plan = drafts.plan
    store = Store(plan.workspace / "store")
    store.prepare()
    journal = Journal(store.journal_folder)
    journal.ready()
    try:
        desk = Desk(journal, budget=Budget(budget), owner=new_run_id())
        for _ in counted(drafts.run(desk), n=len(plan.wanted), what="questions"):
            pass
    finally:
        journal.close()


@app.command("review")
def review(
    workspace: options.Workspace = None,
    who: Annotated[
        str | None, typer.Option("--who", help="Name to record. Default: git's user.name, else the login name.")
    ] = None,
    question: options.Questions = None,
    every: Annotated[
        bool, typer.Option("--all", help="Walk through every point, reviewed and dropped ones too.")
    ] = False,
) -> None:
    """Walk through the points that nobody reviewed, beside their source: accept, edit, split, drop, mark, undo.

    Every change is saved at once, with who, when and why.
    """
    from tasks.workspace.folder import find_workspace

    _review(find_workspace(workspace, edits=True), who=who, wanted=question or (), every=every)


def _review(folder: "Path", *, who: str | None, wanted: "Sequence[str]", every: bool) -> None:
    _require_terminal()
    from flows.cli.asking import say
    from flows.cli.reviewing import review_points
    from tasks.workspace.person import who_is_it
    from tasks.workspace.review import open_review
    from tasks.workspace.sources import open_sources

    review, known = open_review(folder, wanted, who=who_is_it(who, folder), every=every)
    if review.here is None:
        say(review.told())
        return
    review_points(review, folder, known, open_sources(folder))
    say(review.told())


def _require_terminal() -> None:
    from schemas.errors import InputError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "keypoints review asks a person, and this is no terminal",
            remedy="Start it in a terminal. keypoints.json may be edited by hand as well.",
        )


@app.command("status")
def status(workspace: options.Workspace = None, form: options.Form = "text") -> None:
    """Count key points by status, and the questions without any."""
    from flows.cli.reading import emit
    from tasks.workspace.folder import find_workspace
    from tasks.workspace.references import status_counts, status_table

    folder = find_workspace(workspace)
    emit(
        form,
        document=lambda: status_counts(folder),
        tables=lambda: [status_table(folder)],
        flat=lambda: status_table(folder),
    )
