"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        help="Folder of the workspace. Default: FOURCELLS_WORKSPACE, else the one we are in, else the built-in one.",
    ),
]
Setups = Annotated[
    list[str] | None,
    typer.Option("--setup", help="A setup; repeat for more. Default: all; run leaves out what costs money."),
]
JudgeName = Annotated[str, typer.Option("--judge", help="Who grades: a name under judges/.")]
Questions = Annotated[
    list[str] | None, typer.Option("--question", help="A question id; repeat for more. Default: all.")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", min=0.0, help="US dollars this run may pay at most; what is left over stays over_budget."),
]
Batch = Annotated[bool, typer.Option("--batch", help="Message Batches: half the price, replies within a day.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try rows again that failed in three runs.")]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Print calls, tokens and dollars per stage, ask nothing, and stop.")
]
Form = Annotated[Literal["text", "markdown", "csv", "json"], typer.Option("--format", help="How to print it.")]
