"""What can have become of one stage of one row (METRICS.md §1)."""

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """The state in which a stage of a (setup, question) ends. A score never says that something went wrong."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    INVALID = "invalid"
    TIMED_OUT = "timed_out"
    ERRORED = "errored"
    OVER_BUDGET = "over_budget"
    BLOCKED = "blocked"


FAILED: Final = frozenset(State) - {State.SCORED, State.NOT_APPLICABLE}


# Kinds of failure that are no attempt: what was asked for is in a batch, on its way.
IN_BATCH: Final = "InBatch"
BATCH_UNREAD: Final = "BatchUnread"
ON_ITS_WAY: Final = frozenset({IN_BATCH, BATCH_UNREAD})


class Reason(StrEnum):
    """Why there is nothing to score."""

    UNANSWERABLE = "unanswerable"
    UNLABELLED = "unlabelled"
    UNRESOLVED = "unresolved"
    PASSAGES_NOT_RECORDED = "passages_not_recorded"
    NO_RANKING = "no_ranking"
    SPAN_GOLD = "span_gold"
    NO_MARKERS = "no_markers"
    NO_ANSWER = "no_answer"
