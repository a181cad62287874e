"""A message batch that is on its way, as the journal keeps it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A message batch whose results are not all kept yet.

    Attributes:
        intent_id: Ours, from before it was submitted.
        endpoint: Where it was submitted.
        created_at_s: Unix time of the intent.
        requests: Custom ids of its requests, by a label that says what whoever reads the results has to know.
        after: Id of the batch that was the endpoint's newest before; None when it had none.
        batch_id: The server's; None when the process ended, or is, between submitting and storing it.
    """

    intent_id: str
    endpoint: str
    created_at_s: float
    requests: Mapping[str, tuple[str, ...]]
    after: str | None = None
    batch_id: str | None = None

    @property
    def custom_ids(self) -> set[str]:
        """Of all its requests."""
        return {custom_id for custom_ids in self.requests.values() for custom_id in custom_ids}

    @classmethod
    def read(cls, value: bytes) -> Self:
        """The way back from `encoded`."""
        found = json.loads(value)
        found["requests"] = {label: tuple(custom_ids) for label, custom_ids in found["requests"].items()}
        return cls(**found)

    def encoded(self) -> bytes:
        """As it is kept."""
        return json.dumps({field.name: getattr(self, field.name) for field in fields(self)}).encode()

    def only(self, custom_ids: Collection[str]) -> Self | None:
        """The batch with some of its requests only; None when none is left."""
        requests = {label: tuple(each for each in ids if each in custom_ids) for label, ids in self.requests.items()}
        requests = {label: ids for label, ids in requests.items() if ids}
        return replace(self, requests=requests) if requests else None
