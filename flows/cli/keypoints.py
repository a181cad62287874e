"""`fourcells keypoints`."""

import typer

from flows.cli import options

app = typer.Typer(help="Key points: what a right answer says.", no_args_is_help=True, rich_markup_mode=None)


@app.command("from-references")
def from_references(workspace: options.Workspace = None) -> None:
    """Split reference answers into key points, for questions that have none; each is to be reviewed."""
    from flows.cli.asking import say
    from tasks.workspace.folder import find_workspace
    from tasks.workspace.references import draft_from_references

    say(draft_from_references(find_workspace(workspace)).told())


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
