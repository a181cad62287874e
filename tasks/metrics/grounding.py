"""The answer against its context, as arithmetic on the verdicts of its claims. Source: METRICS.md §3.

Of a setup, `answers` is one list of verdict words per answer whose grounding is scored; answers without any
claim are empty lists. A writer's refusal has no grounding and is not among them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from schemas.cell import GROUNDED_AT
from schemas.verdict import ClaimWord

Answers = Sequence[Sequence[ClaimWord]]


class Groundedness(NamedTuple):
    """Groundedness of one answer; `vacuous` when it is 1.0 only because the answer claims nothing."""

    value: float
    vacuous: bool


def groundedness(verdicts: Sequence[ClaimWord], *, n_passages: int | None) -> Groundedness | None:
    """Share of an answer's claims that its context supports.

    Args:
        verdicts: One word per claim.
        n_passages: Passages of the context; None when it was not recorded.

    Returns:
        0-1; 1 and vacuous without claims; 0 when the context is empty and there are claims; None
        (not_applicable) when the context was not recorded.

    >>> groundedness(["SUPPORTED", "UNVERIFIED"], n_passages=3)
    Groundedness(value=0.5, vacuous=False)
    """
    if n_passages is None:
        return None
    if not verdicts:
        return Groundedness(1.0, vacuous=True)
    supported = 0 if n_passages == 0 else _count(verdicts, "SUPPORTED")
    return Groundedness(supported / len(verdicts), vacuous=False)


def is_grounded(
    verdicts: Sequence[ClaimWord], *, n_passages: int | None, threshold: float = GROUNDED_AT
) -> bool | None:
    """Say whether an answer is grounded, for its cell: enough claims supported and none contradicted.

    Returns:
        True for an answer without claims; None when the context was not recorded.

    >>> is_grounded(["SUPPORTED"] * 9 + ["NOT_SUPPORTED"], n_passages=3)
    True
    >>> is_grounded(["SUPPORTED"] * 99 + ["CONTRADICTED"], n_passages=3)
    False
    """
    share = groundedness(verdicts, n_passages=n_passages)
    return None if share is None else share.value >= threshold and "CONTRADICTED" not in verdicts


def supported_rate(answers: Answers) -> float | None:
    """All supported claims over all claims (micro: long answers weigh more).

    Returns:
        0-1; None without claims.

    >>> supported_rate([["SUPPORTED"], ["NOT_SUPPORTED", "SUPPORTED", "CONTRADICTED"], []])
    0.5
    """
    return _claim_rate(answers, "SUPPORTED")


def unverified_rate(answers: Answers) -> float | None:
    """Claims whose verdict lost its evidence over all claims; above 5 % it is the judge that needs a look.

    Returns:
        0-1; None without claims.

    >>> unverified_rate([["SUPPORTED"], ["UNVERIFIED"]])
    0.5
    """
    return _claim_rate(answers, "UNVERIFIED")


def mean_groundedness(answers: Answers) -> float | None:
    """Mean share of supported claims over the answers with at least one claim (macro).

    Returns:
        0-1; None when no answer has a claim.

    >>> mean_groundedness([["SUPPORTED"], ["NOT_SUPPORTED", "SUPPORTED"], []])
    0.75
    """
    shares = [_count(verdicts, "SUPPORTED") / len(verdicts) for verdicts in answers if verdicts]
    return sum(shares) / len(shares) if shares else None


def mean_groundedness_all(answers: Answers) -> float | None:
    """Mean share of supported claims with vacuous answers as 1.0.

    A setup that always abstains scores 1.0, so it is shown only beside `abstained_rate`.

    Returns:
        0-1; None without answers.

    >>> mean_groundedness_all([["NOT_SUPPORTED"], []])
    0.5
    """
    shares = [_count(verdicts, "SUPPORTED") / len(verdicts) if verdicts else 1.0 for verdicts in answers]
    return sum(shares) / len(shares) if shares else None


def answers_with_unsupported(answers: Answers) -> float | None:
    """Share of the answers with at least one claim in which any claim is not SUPPORTED.

    Returns:
        0-1; None when no answer has a claim.

    >>> answers_with_unsupported([["SUPPORTED"], ["SUPPORTED", "UNVERIFIED"], []])
    0.5
    """
    flawed = [_count(verdicts, "SUPPORTED") < len(verdicts) for verdicts in answers if verdicts]
    return sum(flawed) / len(flawed) if flawed else None


def _claim_rate(answers: Answers, word: ClaimWord) -> float | None:
    n_claims = sum(len(verdicts) for verdicts in answers)
    return sum(_count(verdicts, word) for verdicts in answers) / n_claims if n_claims else None


def _count(verdicts: Sequence[ClaimWord], word: ClaimWord) -> int:
    return sum(verdict == word for verdict in verdicts)
