"""What a stub server saw."""

from collections import Counter
from typing import Any

from schemas.record import Record


class Stats(Record):
    """Requests of one server since it began or was reset.

    Attributes:
        requests: By route, as "POST /v1/messages".
        statuses: Of all replies sent, by status; what broke, stalled or was hung up on has none.
        faults: Faults played, by kind.
        peak_in_flight: Most message requests that waited for their reply at one time.
        mean_in_flight: Their mean over time, from the first's arrival to the last's end.
        seconds: That time.
        different: Different bodies among the message requests.
        answered_again: Message requests whose body had been answered with a reply before: bought twice.
    """

    requests: dict[str, int]
    statuses: dict[int, int]
    faults: dict[str, int]
    peak_in_flight: int
    mean_in_flight: float
    seconds: float
    different: int
    answered_again: int

    @property
    def messages(self) -> int:
        """How many messages were asked for, live."""
        return self.requests.get("POST /v1/messages", 0)


class Counts:
    """Counts while requests come and go; times come from outside, in seconds."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.bodies: list[tuple[str, bytes]] = []
        self._answered: Counter[int] = Counter()
        self._asked: set[int] = set()
        self._again = 0
        self._in_flight = 0
        self._peak = 0
        self._area = 0.0
        self._began: float | None = None
        self._seen = 0.0

    def came(self, route: str, body: bytes) -> None:
        """Note a request."""
        self.requests[route] += 1
        if body:
            self.bodies.append((route, body))

    def begin(self, now: float, body: bytes) -> None:
        """Note that a message request waits from now on."""
        self._move(now, 1)
        self._asked.add(hash(body))
        self._again += self._answered[hash(body)] > 0

    def end(self, now: float) -> None:
        """Note that one waits no longer."""
        self._move(now, -1)

    def answered(self, body: bytes) -> None:
        """Note that a message request got a reply that has to be paid for."""
        self._answered[hash(body)] += 1

    def stats(self) -> Stats:
        """All of it so far."""
        seconds = 0.0 if self._began is None else self._seen - self._began
        return Stats(
            requests=dict(self.requests),
            statuses=dict(self.statuses),
            faults=dict(self.faults),
            peak_in_flight=self._peak,
            mean_in_flight=self._area / seconds if seconds else 0.0,
            seconds=seconds,
            different=len(self._asked),
            answered_again=self._again,
        )

    def to_json(self) -> dict[str, Any]:
        """What `GET /_stub/stats` shows."""
        return self.stats().model_dump(mode="json")

    def _move(self, now: float, step: int) -> None:
        if self._began is None:
            self._began = now
        else:
            self._area += self._in_flight * (now - self._seen)
        self._seen = now
        self._in_flight += step
        self._peak = max(self._peak, self._in_flight)
