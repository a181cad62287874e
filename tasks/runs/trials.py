"""Which reading of its judge and reader a setup is graded with (METRICS.md §7)."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tasks.store.runs import RunRecord


class Trials(NamedTuple):
    """Numbers from 0: of what the reader says of an answer, and of what the judge says of claims and points."""

    reading: int = 0
    judging: int = 0


class Fresh(NamedTuple):
    """Which of them a person wants once more."""

    reading: bool = False
    judging: bool = False


NOTHING_FRESH: Final = Fresh()


def trials_of(setup: str, records: Sequence[RunRecord], *, reader_key: str, judge_key: str, fresh: Fresh) -> Trials:
    """Go on with the latest reading by the same reader, and the same judge; take the next where a fresh one is wanted.

    Args:
        setup: Its name.
        records: Of all runs, oldest first.
        reader_key: Of the reader in front.
        judge_key: Of the judge of grounding.
        fresh: What to do once more.
    """
    mine = [record for record in records if setup in record.setups]
    readings = [record.trials[setup][0] for record in mine if record.reader_key == reader_key]
    judgings = [record.trials[setup][1] for record in mine if record.judge_key == judge_key]
    return Trials(_next(readings, fresh=fresh.reading), _next(judgings, fresh=fresh.judging))


def _next(trials: Sequence[int], *, fresh: bool) -> int:
    if not trials:
        return 0
    return max(trials) + 1 if fresh else trials[-1]
