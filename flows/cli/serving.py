"""`fourcells up` and `fourcells down`: a Prefect server and worker of your own."""

import sys

from flows.cli import options


def up(workspace: options.Workspace = None) -> None:
    """Start a Prefect server and worker on this machine, and deploy prefect.yaml. Safe to call twice."""
    from flows.server import start
    from tasks.workspace.folder import find_workspace

    folder = find_workspace(workspace) if workspace is not None else None
    api = start(folder)
    sys.stdout.write(
        f"UI: {api.removesuffix('/api')}\n"
        f"for prefect in this shell: export PREFECT_API_URL={api}\n"
        "then: prefect deployment run evaluate/nightly --watch\n"
    )


def down() -> None:
    """Stop what `fourcells up` started."""
    from flows.server import stop

    stopped = stop()
    sys.stdout.write(f"stopped {stopped} processes\n" if stopped else "nothing was running\n")
