"""How an estimate counts."""

from collections.abc import Sequence
from typing import cast

from schemas.question import AskedQuestion
from schemas.seats import MOST_CLAIMS
from schemas.trail import Trail
from tasks.models.claude.estimating import EstimatingDesk
from tasks.runs.estimate import _count
from tasks.stage import Item, Making, Outcomes
from tasks.store.journal import Journal


def test_answers_of_many_claims_are_counted_once_for_each_part_they_are_judged_in() -> None:
    desk = EstimatingDesk(cast(Journal, None))
    n_claims = [None, 1, MOST_CLAIMS, MOST_CLAIMS + 1, 2 * MOST_CLAIMS, 2 * MOST_CLAIMS + 1]
    items = [
        Item(
            AskedQuestion(question_id="q", question_key="k", text="", answerable="yes", gold_rule="all"),
            Trail(setup="v1", question_id="q", question_key="k", n_claims=n),
        )
        for n in n_claims
    ]
    counted: dict[int | None, int] = {}

    def compute(todo: Sequence[Item]) -> Outcomes:
        counted.update((item.trail.n_claims, desk.n_parts) for item in todo)
        return iter(())

    _count(desk, Making("grounding", lambda _: "", compute), items)
    assert [counted[n] for n in n_claims] == [1, 1, 1, 2, 2, 3]
    assert desk.n_parts == 1, "what comes after is counted whole"
    _count(desk, Making("reading", lambda _: "", compute), items)
    assert set(counted.values()) == {1}
