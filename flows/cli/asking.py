"""Verbs that make or check a workspace: `init`, `import`, `doctor`."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from flows.cli import options

Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="WANTED=THEIRS: which column holds what; repeat for more. WANTED= uses none."),
]
Ranked = Annotated[bool, typer.Option("--ranked", help="The passages stand in the retriever's order.")]


def init(
    folder: Annotated[Path, typer.Argument(help="The new workspace.")],
    from_beir: Annotated[
        Path | None, typer.Option("--from-beir", help="A folder with corpus.jsonl, queries.jsonl and qrels/.")
    ] = None,
    from_answers: Annotated[
        Path | None, typer.Option("--from-answers", help="A file of saved answers that also holds the questions.")
    ] = None,
    setup: Annotated[
        str | None, typer.Option("--setup", help="With --from-answers: the name of their setup. Default: saved.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="With --from-answers: a folder of documents to copy.")
    ] = None,
    column: Columns = None,
    ranked: Ranked = False,
) -> None:
    """Make a workspace; no file is ever overwritten."""
    from tasks.workspace import making
    from tasks.workspace.importing import Source

    if from_beir is not None and from_answers is not None:
        _refuse("--from-beir and --from-answers are two ways to begin", "Take one; answers can be imported afterwards.")
    if from_answers is None and (corpus is not None or column or ranked or setup):
        _refuse("--corpus, --setup, --column and --ranked belong to --from-answers", "Leave them out.")
    if from_beir is not None:
        lines = making.make_from_beir(folder, from_beir)
    elif from_answers is not None:
        source = Source(from_answers, tuple(column or ()), ranked=ranked)
        lines = making.make_from_answers(folder, source, setup=setup or "saved", corpus=corpus)
    else:
        lines = making.make_workspace(folder)
    say([*lines, f"next: fourcells run --workspace {shlex.quote(str(folder))}"])


def import_answers(
    file: Annotated[Path, typer.Argument(help="Saved answers: .jsonl, .json, .csv, .tsv or .parquet.")],
    setup: Annotated[str, typer.Option("--setup", help="Name of the setup that they become.")],
    workspace: options.Workspace = None,
    column: Columns = None,
    ranked: Ranked = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a setup of saved answers of that name.")] = False,
) -> None:
    """Take over saved answers, with or without passages, ranks, ids and gold, as a setup to grade."""
    from tasks.workspace import importing
    from tasks.workspace.folder import find_workspace

    source = importing.Source(file, tuple(column or ()), ranked=ranked)
    say(importing.import_answers(find_workspace(workspace, edits=True), source, setup=setup, replace=replace))


def doctor(workspace: options.Workspace = None) -> None:
    """Say everything that is wrong in a workspace; nothing is written. Warnings alone end with 0, errors with 2."""
    from tasks.workspace.doctor import examine
    from tasks.workspace.folder import find_workspace

    diagnosis = examine(find_workspace(workspace))
    say(diagnosis.told())
    if diagnosis.errors:
        sys.exit(2)


def _refuse(problem: str, remedy: str) -> NoReturn:
    from schemas.errors import InputError

    raise InputError(problem, remedy=remedy)


def say(lines: Sequence[str]) -> None:
    """Print lines; what files hold may be active in a terminal, and is spelled out."""
    from tasks.text.visible import visible

    sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
