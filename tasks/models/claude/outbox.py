"""What message batches are made of before they are any: requests that somebody waits for, collected by endpoint."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.claude import ClaudeSettings
from tasks.models.claude.batch_api import BatchApi
from tasks.models.claude.purchases import Bought


@dataclass(eq=False)
class Item:
    """One request that somebody waits for.

    Attributes:
        raw: Its JSON, as it stands in a batch.
        n_waiting: How many wait for it.
        n_looks: How often another process was found to be buying it.
        submitting: What is about to submit it; not left alone half-way, since then nobody would know the batch's id.
        watched: The batch it waits for, once it is in one.
    """

    custom_id: str
    settings: ClaudeSettings
    raw: bytes
    reply: "asyncio.Future[Bought]"
    n_waiting: int = 0
    n_looks: int = 0
    submitting: "asyncio.Task[None] | None" = None
    watched: "Watched | None" = None

    def is_abandoned(self) -> bool:
        """Whether nobody waits for a reply that is still to come."""
        return not self.n_waiting and not self.reply.done()


@dataclass(eq=False)
class Watched:
    """A batch that is waited for, and the items that do."""

    intent_id: str
    task: "asyncio.Task[None]"
    items: set[Item] = field(default_factory=set)


@dataclass(eq=False)
class Outbox:
    """What is collected for one endpoint. A batch may mix models, but not endpoints."""

    name: str
    api: BatchApi
    pending: dict[str, Item] = field(default_factory=dict)
    n_bytes: int = 0
    n_arrived: int = 0
    collecting: "asyncio.Task[None] | None" = None

    def put(self, item: Item) -> None:
        """Take an item in."""
        self.pending[item.custom_id] = item
        self.n_bytes += len(item.raw)
        self.n_arrived += 1

    def drop(self, item: Item) -> None:
        """Give an item up, if it is here."""
        if self.pending.get(item.custom_id) is item:
            del self.pending[item.custom_id]
            self.n_bytes -= len(item.raw)

    def take(self) -> list[Item]:
        """Take everything out."""
        items = list(self.pending.values())
        self.pending, self.n_bytes = {}, 0
        return items


def request_json(custom_id: str, params: Mapping[str, Any]) -> bytes:
    """A request as it stands in a batch."""
    request = {"custom_id": custom_id, "params": dict(params)}
    try:
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # A lone surrogate out of somebody's JSON has no UTF-8, but an escape.
        return json.dumps(request, separators=(",", ":")).encode()
