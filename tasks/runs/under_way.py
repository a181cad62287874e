"""How far the shards under way are: a shard counts when it has ended, and a person wants to see it move before."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class Settling:
    """One record being made for one shard.

    Attributes:
        n_items: Questions of the shard.
        n_todo: Rows that have to be made.
        n_done: Of these, made or failed.
    """

    record: str
    n_items: int
    n_todo: int
    n_done: int = 0


class UnderWay:
    """What a run is making just now.

    >>> under_way = UnderWay()
    >>> with under_way.settling("grounding", n_items=50, n_todo=10) as made:
    ...     made()
    ...     under_way.n_questions(("reading", "grounding"))
    27.5
    >>> under_way.n_questions(("reading", "grounding"))
    0
    """

    def __init__(self) -> None:
        self._open: set[Settling] = set()
        self.watch: Callable[[str], None] = _nobody

    @contextmanager
    def settling(self, record: str, *, n_items: int, n_todo: int) -> Iterator[Callable[[], None]]:
        """Give what is to be called after each row; the watcher is told then.

        Args:
            record: Which rows.
            n_items: Questions of the shard.
            n_todo: Rows that have to be made, at least one.
        """
        mine = Settling(record, n_items, n_todo)

        def made() -> None:
            mine.n_done += 1
            self.watch(record)

        self._open.add(mine)
        try:
            yield made
        finally:
            self._open.discard(mine)

    def n_questions(self, records: Collection[str]) -> float:
        """How many questions of shards under way are through a stage, each record of it an equal part.

        Args:
            records: Of the stage, in the order in which a shard makes them.
        """
        place = {record: position for position, record in enumerate(records)}
        return sum(
            one.n_items * (place[one.record] * one.n_todo + one.n_done) / (len(place) * one.n_todo)
            for one in tuple(self._open)
            if one.record in place
        )


def _nobody(_record: str) -> None:
    """Nobody watches."""
