"""What holds of the cell of every question, whatever is known or missing."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.cell import Cell, Label
from schemas.state import FAILED, Reason, State
from tasks.metrics.arrival import Arrival
from tasks.metrics.cells import Facts, Missing, PointFacts, find_cell

FAILURES = st.builds(Missing, st.sampled_from(sorted(FAILED)))
NOT_APPLICABLE = st.builds(lambda why: Missing(State.NOT_APPLICABLE, why), st.sampled_from(Reason))
MISSING = st.one_of(FAILURES, NOT_APPLICABLE)
MAYBE = st.sampled_from([None, True, False])
ARRIVALS = st.builds(Arrival, arrived=MAYBE, partial=st.booleans(), used=MAYBE, page_level=st.booleans())
POINTS = st.builds(
    PointFacts,
    point_id=st.sampled_from(["p1", "p2"]),
    verdict=st.sampled_from(["COVERED", "PARTLY", "MISSING", "CONTRADICTED"]),
    vital=st.booleans(),
    arrival=ARRIVALS,
)
CLAIMS = st.sampled_from(["SUPPORTED", "NOT_SUPPORTED", "CONTRADICTED", "UNVERIFIED"])
FACTS = st.builds(
    Facts,
    answerable=st.sampled_from(["yes", "yes", "no", "unknown"]),
    answer=st.one_of(st.none(), st.none(), st.sampled_from(["refused", "truncated", "empty"]), MISSING),
    abstained=st.one_of(st.booleans(), MISSING),
    correctness=st.one_of(st.lists(POINTS, max_size=3).map(tuple), MISSING),
    claims=st.one_of(st.lists(CLAIMS, max_size=4).map(tuple), MISSING),
    n_passages=st.one_of(st.integers(0, 3), MISSING),
    question_arrival=ARRIVALS,
    unresolved=st.booleans(),
)
CELLS = {
    Label.FAITHFUL_BUT_WRONG,
    Label.IGNORED_EVIDENCE,
    Label.FAITHFUL_TO_WRONG_PASSAGE,
    Label.IMPROVISED,
}


@given(FACTS)
def test_every_question_gets_one_label_that_its_cell_bears_out(facts: Facts) -> None:
    cell = find_cell(facts)
    assert isinstance(cell, Cell)
    assert (cell.owner == "nobody") == (cell.label in {Label.CORRECT, Label.UNDETERMINED, Label.UNATTRIBUTED})
    if cell.label in CELLS:
        assert cell.correct is False
        assert cell.failed_points
        assert cell.grounded == (cell.label in {Label.FAITHFUL_BUT_WRONG, Label.FAITHFUL_TO_WRONG_PASSAGE})
        assert cell.arrived == (cell.label in {Label.FAITHFUL_BUT_WRONG, Label.IGNORED_EVIDENCE})
    assert (cell.label is Label.CORRECT) == (cell.correct is True)
    assert cell.reason or cell.label not in CELLS | {Label.UNDETERMINED, Label.UNATTRIBUTED, Label.NO_ANSWER}


@given(st.lists(FACTS, max_size=20))
def test_counts_add_up_to_the_questions_asked(asked: list[Facts]) -> None:
    counts = Counter(find_cell(facts).label for facts in asked)
    assert sum(counts[label] for label in Label) == len(asked)


@given(FACTS)
def test_only_a_failed_stage_makes_a_question_undetermined(facts: Facts) -> None:
    stages = (facts.answer, facts.abstained, facts.correctness, facts.claims, facts.n_passages)
    failed = any(isinstance(stage, Missing) and stage.failed for stage in stages)
    assert failed or find_cell(facts).label is not Label.UNDETERMINED


@given(FACTS, st.data())
def test_the_order_of_points_and_claims_changes_nothing(facts: Facts, data: st.DataObject) -> None:
    changes: dict[str, Any] = {}
    for name in ("correctness", "claims"):
        rows = getattr(facts, name)
        if not isinstance(rows, Missing):
            changes[name] = tuple(data.draw(st.permutations(rows)))
    before, after = find_cell(facts), find_cell(replace(facts, **changes))
    assert (after.label, after.reason, after.owner) == (before.label, before.reason, before.owner)
