"""What a seat needs beside its settings: its prompt's text, a desk to ask from, and which reading this is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk


def _no_desk() -> "Desk":
    msg = "an offline seat asks nobody"
    raise RuntimeError(msg)


@dataclass(frozen=True)
class Seating:
    """What a run gives its seats.

    Attributes:
        prompts: Texts by name, as they stood when the run was prepared.
        desk: Opens the desk that model calls go through; offline seats never ask for it.
        reading_trial: Which reading of the reader's this is (METRICS.md §7).
        judging_trial: Which one of the judge's.
    """

    prompts: Mapping[str, str]
    desk: Callable[[], "Desk"] = _no_desk
    reading_trial: int = 0
    judging_trial: int = 0


OFFLINE = Seating(prompts={})
