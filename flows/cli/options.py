"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        help="Folder of the workspace. Default: FOURCELLS_WORKSPACE, else the current folder, else the built-in one.",
    ),
]
Setups = Annotated[list[str] | None, typer.Option("--setup", help="A setup; repeat for more. Default: all.")]
JudgeName = Annotated[str, typer.Option("--judge", help="Who grades: a name under judges/.")]
Questions = Annotated[
    list[str] | None, typer.Option("--question", help="A question id; repeat for more. Default: all.")
]
Form = Annotated[Literal["text", "markdown", "csv", "json"], typer.Option("--format", help="How to print it.")]
