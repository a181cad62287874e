"""`fourcells up` and `fourcells down`: a Prefect server and worker of your own."""

import shlex
import shutil
import sys
from pathlib import Path

from flows.cli import options


def up(workspace: options.Workspace = None) -> None:
    """Start a Prefect server and worker on this machine, and deploy prefect.yaml. Safe to call twice."""
    from flows.server import start
    from tasks.workspace.folder import find_workspace

    folder = find_workspace(workspace) if workspace is not None else None
    sys.stderr.write("starting a Prefect server and a worker; the first time takes up to a minute\n")
    api = start(folder)
    # Beside our own interpreter, which need not be on the person's path.
    prefect = "prefect" if shutil.which("prefect") else shlex.quote(str(Path(sys.executable).with_name("prefect")))
    sys.stdout.write(
        f"UI: {api.removesuffix('/api')}\n"
        f"for prefect in this shell: export PREFECT_API_URL={api}\n"
        f"then: {prefect} deployment run evaluate/nightly --watch\n"
    )


def down() -> None:
    """Stop what `fourcells up` started."""
    from flows.server import stop

    sys.stdout.write("stopped server and worker\n" if stop() else "nothing was running\n")
