"""A run through Prefect: with its history in the UI of the server that PREFECT_API_URL names, or of one of its own."""

import asyncio
import logging
import os
import signal
from functools import partial
from pathlib import Path
from typing import Final

from flows.prefect_api import is_reachable
from schemas.errors import InputError
from tasks.runs.prepare import Request, check

# What a shell calls the end by SIGTERM.
_TERMINATED: Final = 128 + signal.SIGTERM


def is_configured() -> bool:
    """Whether the person has a Prefect API."""
    if os.environ.get("PREFECT_API_URL"):
        return True
    # A profile may name one; asking for it costs the import of Prefect, so only where there is a profile at all.
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    if not (home / "profiles.toml").exists():
        return False
    from prefect.settings import get_current_settings

    return bool(get_current_settings().api.url)


def _require_reachable() -> None:
    """See that the person's Prefect API answers, if there is one.

    Raises:
        InputError: With what to do when it does not.
    """
    api = os.environ.get("PREFECT_API_URL")
    if api and not is_reachable(api):
        raise InputError(
            f"no Prefect API answers at {api}",
            where="PREFECT_API_URL",
            remedy="fourcells up starts one of your own; --no-record runs without any.",
        )


def run_recorded(request: Request) -> str:
    """Run a request as the flow `evaluate`. Returns the run_id.

    Raises:
        InputError: Before anything is recorded, for a mistake in what the person gave, or no API where one should be.
        SystemExit: When the process is told to terminate.
    """
    check(request)
    _require_reachable()
    # Prefect prints our log lines among its own.
    logging.getLogger("fourcells").handlers.clear()
    # A server of its own takes 7-14 s to come up, longer than Prefect waits by default.
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "fourcells")
    from prefect.context import SyncClientContext
    from prefect.exceptions import TerminationSignal

    from flows.evaluate import evaluate

    run = partial(
        evaluate,
        workspace=str(request.workspace),
        setups=list(request.setups) or None,
        judge=request.judge,
        until=request.until,
        questions=list(request.questions) or None,
        grade_only=request.grade_only,
        skip_unresolved=request.skip_unresolved,
        retry_failed=request.retry_failed,
        budget_usd=request.budget_usd,
        batch=request.batch,
        fresh=request.fresh.judging,
        fresh_reader=request.fresh.reading,
    )
    try:
        # Without a client around it Prefect's async engine makes a sync one of its own, and leaves it open.
        with SyncClientContext.get_or_create():
            return str(asyncio.run(run()))
    except TerminationSignal:
        # Prefect's handler raises it out of the event loop; the flow run is marked by now.
        raise SystemExit(_TERMINATED) from None
