"""One claim on one call, as another run would make it."""

from tasks.store.journal import Journal


def claim(journal: Journal, request_key: str, attempt: int, *, owner: str, seconds: float) -> bool:
    """Whether the claim was made."""
    return journal.claim_all([(request_key, attempt, seconds)], owner=owner) == [True]
