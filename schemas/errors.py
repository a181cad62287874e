"""Every error a person can meet: what was got, what is allowed, what to do, each kept as a field."""

from typing import Any


class FourcellsError(Exception):
    """Base of all our errors. `str()` is one paragraph, ready to print.

    Args:
        problem: What was wrong, as a sentence without the final stop.
        where: File, line or key, if there is one.
        allowed: What would have been right.
        remedy: What to do now.
    """

    exit_code = 2

    def __init__(self, problem: str, *, where: str = "", allowed: str = "", remedy: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where
        self.allowed = allowed
        self.remedy = remedy

    def __str__(self) -> str:
        """Join the parts into one paragraph.

        >>> str(FourcellsError("unknown setup 'v9'", allowed="v1, v2", remedy="Name one of these."))
        "unknown setup 'v9'. Allowed: v1, v2. Name one of these."
        """
        head = f"{self.where}: {self.problem}" if self.where else self.problem
        parts = [head.rstrip(".") + "."]
        if self.allowed:
            parts.append(f"Allowed: {self.allowed.rstrip('.')}.")
        if self.remedy:
            parts.append(self.remedy)
        return " ".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with every field: an error crosses process borders when a flow runs elsewhere."""
        return (_rebuild, (type(self), self.problem, self.where, self.allowed, self.remedy))


def _rebuild(kind: type[FourcellsError], problem: str, where: str, allowed: str, remedy: str) -> FourcellsError:
    return kind(problem, where=where, allowed=allowed, remedy=remedy)


class InputError(FourcellsError):
    """A mistake in what the person gave: nothing was computed and nothing was written.

    Attributes:
        others: Further mistakes in the same record, which only `doctor` tells one by one.
    """

    others: "tuple[InputError, ...]" = ()

    def __str__(self) -> str:
        """The paragraph, and how many more there are.

        >>> error = InputError("unknown key a")
        >>> error.others = (InputError("unknown key b"),)
        >>> str(error)
        'unknown key a. (1 more mistake there; fourcells doctor lists all.)'
        """
        alone, n = self.alone(), len(self.others)
        more = f"{n} more mistake{'s' if n > 1 else ''} there; fourcells doctor lists all."
        return f"{alone} ({more})" if n else alone

    def alone(self) -> str:
        """The paragraph of this mistake."""
        return super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the others, too."""
        return (*super().__reduce__(), {"others": self.others})


class StoreError(FourcellsError):
    """The store cannot be written or read: a full disk, missing rights, a newer release's store."""

    exit_code = 2


class StoppedError(Exception):
    """A person stopped the run, or another shard's error did: nothing of this shard's is wrong."""


class StoreDamagedError(FourcellsError):
    """A saved part could not be read and was put aside; its rows have to be computed again."""

    exit_code = 3
