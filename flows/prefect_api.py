"""What is asked of a Prefect server by its REST API: importing Prefect's own client takes seconds."""

import json
import urllib.error
import urllib.request
from typing import Any, Final

_TIMEOUT_S: Final = 10.0
_ENDED_BY: Final = "its worker ended before it did; what was computed is saved"
_UNDER_WAY: Final = ("PENDING", "RUNNING", "CANCELLING")


def answers(api: str) -> bool:
    """Whether a server of this address is up."""
    return _health(api, timeout_s=2.0) == 200


def is_reachable(api: str) -> bool:
    """Whether anything answers there, be it with a refusal."""
    return _health(api, timeout_s=_TIMEOUT_S) is not None


def _health(api: str, *, timeout_s: float) -> int | None:
    try:
        with urllib.request.urlopen(f"{api}/health", timeout=timeout_s) as reply:  # noqa: S310 - a Prefect API
            return int(reply.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
    except (OSError, ValueError):
        return None


def is_deployed(api: str, name: str) -> bool:
    """Whether the server knows a deployment, `FLOW/NAME`."""
    return _ask(api, f"deployments/name/{name}") is not None


def add_schedule(api: str, name: str, cron: str) -> None:
    """Give a deployment a schedule (UTC) that is switched off."""
    deployment = _ask(api, f"deployments/name/{name}")
    if deployment is not None:
        entry = {"active": False, "schedule": {"cron": cron, "timezone": "UTC"}}
        _ask(api, f"deployments/{deployment['id']}/schedules", [entry])


def end_orphans(api: str, pool: str) -> None:
    """Mark runs of a work pool that has no worker as crashed: each would hold its deployment's one slot for ever."""
    wanted = {
        "work_pools": {"name": {"any_": [pool]}},
        "flow_runs": {"state": {"type": {"any_": _UNDER_WAY}}},
    }
    for run in _ask(api, "flow_runs/filter", wanted) or ():
        crashed = {"type": "CRASHED", "name": "Crashed", "message": _ENDED_BY}
        _ask(api, f"flow_runs/{run['id']}/set_state", {"state": crashed, "force": True})


def _ask(api: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - whatever JSON it is
    """The reply to a GET, or to a POST with a body; None when there is no such thing.

    Raises:
        HTTPError: When the server refuses.
    """
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{api}/{path}", data=data, headers={"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as reply:  # noqa: S310 - our own server
            said = reply.read()
            return json.loads(said) if said else None
    except urllib.error.HTTPError as refused:
        refused.close()
        if refused.code == 404:
            return None
        raise
