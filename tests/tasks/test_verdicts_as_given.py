"""Verdicts that do not fit what was asked are no row."""

from collections.abc import Sequence
from typing import Any

import pytest

from schemas.seats import Failure, GroundRequest, PointsRequest
from schemas.state import State
from schemas.verdict import JudgedClaim, PointVerdict, Quote
from tasks.judge_correctness import _row
from tasks.judge_grounding import _checked

POINTS = PointsRequest(question="q", answer="a", points=("one", "two"))
CLAIMS = GroundRequest(question="q", claims=("one", "two"), passages=("The limit of the Team plan is fifty members.",))


def points(*numbers: int) -> list[PointVerdict]:
    return [PointVerdict(number=number, verdict="COVERED", quote=f"quote {number}") for number in numbers]


def test_verdicts_on_points_are_kept_in_the_order_of_the_points() -> None:
    row = _row(POINTS, points(2, 1), "judge:m")
    assert isinstance(row, dict)
    assert [(verdict["number"], verdict["quote"]) for verdict in row["verdicts"]] == [(1, "quote 1"), (2, "quote 2")]
    assert row["judge_id"] == "judge:m"


@pytest.mark.parametrize("numbers", [[1], [1, 1], [1, 2, 2], [1, 2, 3], [2, 3], []], ids=str)
def test_there_is_one_verdict_on_each_point(numbers: Sequence[int]) -> None:
    failure = _row(POINTS, points(*numbers), "judge:m")
    assert isinstance(failure, Failure)
    assert (failure.state, failure.kind) == (State.INVALID, "VerdictsDoNotMatchPoints")


def claims(*numbers: int) -> list[JudgedClaim]:
    quotes = (Quote(text="The limit of the Team plan is fifty members.", passage=1),)
    return [JudgedClaim(number=number, verdict="SUPPORTED", quotes=quotes) for number in numbers]


def test_verdicts_on_claims_are_kept_with_who_gave_them() -> None:
    row: Any = _checked(CLAIMS, claims(1, 2), "judge:m")
    assert [(verdict["number"], verdict["verdict"]) for verdict in row["verdicts"]] == [
        (1, "SUPPORTED"),
        (2, "SUPPORTED"),
    ]
    assert row["judge_id"] == "judge:m"


@pytest.mark.parametrize("numbers", [[1], [1, 1], [1, 2, 3]], ids=str)
def test_there_is_one_verdict_on_each_claim(numbers: Sequence[int]) -> None:
    failure = _checked(CLAIMS, claims(*numbers), "judge:m")
    assert isinstance(failure, Failure)
    assert failure.state is State.INVALID
    assert failure.kind.startswith("VerdictsDoNotMatchClaims")
