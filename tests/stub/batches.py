"""Message Batches: accepted, in progress for some polls, then ended with a result for each item."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from tests.stub.errors import RefusedRequestError

# One moment for all: replies must not depend on the clock.
_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)
Result = dict[str, Any]


class Batch:
    """One batch."""

    def __init__(self, name: str, items: list[dict[str, Any]], polls: int) -> None:
        self.id = name
        self.items = items
        self.results: list[Result] | None = None
        self._polls_left = polls
        self._status: Literal["in_progress", "canceling"] = "in_progress"

    def cancel(self) -> None:
        """Ask for it to stop; what had no result yet is canceled at the next poll."""
        if self.results is None:
            self._status = "canceling"

    def poll(self, settle: Callable[[dict[str, Any]], Result]) -> None:
        """Let time pass by one poll; `settle` makes an item's result."""
        if self.results is not None:
            return
        if self._status == "canceling":
            self.results = [{"custom_id": item["custom_id"], "result": {"type": "canceled"}} for item in self.items]
        elif self._polls_left > 0:
            self._polls_left -= 1
        else:
            settled = [{"custom_id": item["custom_id"], "result": settle(item)} for item in self.items]
            # The API promises no order.
            self.results = settled[::-1]

    def to_json(self, base_url: str) -> dict[str, Any]:
        """As the API shows it."""
        ended = self.results is not None
        done = [one["result"]["type"] for one in self.results or ()]
        counts = {kind: done.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else self._status,
            "request_counts": {"processing": 0 if ended else len(self.items), **counts},
            "created_at": _MADE.isoformat(),
            "expires_at": (_MADE + timedelta(days=1)).isoformat(),
            "ended_at": (_MADE + timedelta(minutes=5)).isoformat() if ended else None,
            "cancel_initiated_at": _MADE.isoformat() if self._status == "canceling" else None,
            "archived_at": None,
            "results_url": f"{base_url}/v1/messages/batches/{self.id}/results" if ended else None,
        }


class Batches:
    """All batches of a server, which outlive their clients."""

    def __init__(self) -> None:
        self._all: dict[str, Batch] = {}

    def add(self, items: list[dict[str, Any]], *, polls: int) -> Batch:
        """Accept a batch; it is in progress at first, and for so many polls."""
        batch = Batch(f"msgbatch_{len(self._all) + 1:024d}", items, polls)
        self._all[batch.id] = batch
        return batch

    def get(self, name: str) -> Batch:
        """One of them.

        Raises:
            RefusedRequestError: 404.
        """
        if name not in self._all:
            raise RefusedRequestError(404, f"No message batch found for ID {name}")
        return self._all[name]

    def page(self, query: Mapping[str, str], base_url: str) -> dict[str, Any]:
        """A page of the list, newest first."""
        names = list(self._all)[::-1]
        if after := query.get("after_id"):
            names = names[names.index(after) + 1 :] if after in names else []
        limit = int(query.get("limit", "20"))
        shown = names[:limit]
        return {
            "data": [self._all[name].to_json(base_url) for name in shown],
            "first_id": shown[0] if shown else None,
            "last_id": shown[-1] if shown else None,
            "has_more": len(names) > limit,
        }
