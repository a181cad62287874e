"""The cell of a question: every label, reason and owner by hand."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from schemas.cell import Cell, Label
from schemas.gold import ResolvedGold, ResolvedPlace
from schemas.question import Answerable
from schemas.state import Reason, State
from tasks.metrics.arrival import Arrival, weigh_arrival
from tasks.metrics.cells import Facts, Missing, PointFacts, find_cell, find_failed
from tasks.metrics.evidence import InkRange, PassagePlace

ARRIVED = Arrival(arrived=True, partial=True, used=False)
USED = replace(ARRIVED, used=True)
ABSENT = Arrival(arrived=False, partial=False, used=False)
PART = Arrival(arrived=False, partial=True, used=False)
NO_GOLD = Arrival()

TIMED_OUT = Missing(State.TIMED_OUT, "APITimeoutError")
BLOCKED = Missing(State.BLOCKED)
UNLABELLED = Missing(State.NOT_APPLICABLE, Reason.UNLABELLED)
NOT_RECORDED = Missing(State.NOT_APPLICABLE, Reason.PASSAGES_NOT_RECORDED)
NO_ANSWER = Missing(State.NOT_APPLICABLE, Reason.NO_ANSWER)


def point(verdict: str, arrival: Arrival = ARRIVED, *, vital: bool = True, point_id: str = "p1") -> PointFacts:
    return PointFacts(point_id=point_id, verdict=verdict, vital=vital, arrival=arrival)  # type: ignore[arg-type]


# An answerable question, answered with one grounded claim, that misses its one vital point.
BASE = Facts(
    answerable="yes",
    answer=None,
    abstained=False,
    correctness=(point("MISSING"),),
    claims=("SUPPORTED",),
    n_passages=3,
    question_arrival=ARRIVED,
)
UNGROUNDED: dict[str, Any] = {"claims": ("NOT_SUPPORTED",)}
REFUSED: dict[str, Any] = {
    "answer": "refused",
    "abstained": NO_ANSWER,
    "correctness": NO_ANSWER,
    "claims": NO_ANSWER,
}
FAILED_ANSWER: dict[str, Any] = {
    "answer": TIMED_OUT,
    "abstained": BLOCKED,
    "correctness": BLOCKED,
    "claims": BLOCKED,
}


def missing(arrival: Arrival) -> dict[str, Any]:
    return {"correctness": (point("MISSING", arrival),)}


CELL_CASES: dict[str, tuple[dict[str, Any], str, str, str]] = {
    # the four cells: label, reason, owner
    "grounded, arrived, the point is left out": ({}, "faithful_but_wrong", "omitted", "generation"),
    "grounded, arrived, its evidence was used": (
        missing(USED),
        "faithful_but_wrong",
        "evidence_used",
        "corpus and labels",
    ),
    "grounded, arrived, contradicts the point, which goes before use": (
        {"correctness": (point("CONTRADICTED", USED),)},
        "faithful_but_wrong",
        "contradicts_point",
        "corpus and labels",
    ),
    "the evidence of any failed point was used": (
        {"correctness": (point("MISSING"), point("PARTLY", USED, point_id="p2"))},
        "faithful_but_wrong",
        "evidence_used",
        "corpus and labels",
    ),
    "the evidence of a covered point was used, not of the failed one": (
        {"correctness": (point("MISSING"), point("COVERED", USED, point_id="p2"))},
        "faithful_but_wrong",
        "omitted",
        "generation",
    ),
    "arrived and invented": (UNGROUNDED, "ignored_evidence", "invented", "generation"),
    "the right chunk at rank 1 and an answer that contradicts it": (
        {"claims": ("CONTRADICTED",), "correctness": (point("CONTRADICTED"),)},
        "ignored_evidence",
        "contradicts_context",
        "generation",
    ),
    "nine supported claims and a contradicted one": (
        {"claims": ("SUPPORTED",) * 9 + ("CONTRADICTED",)},
        "ignored_evidence",
        "contradicts_context",
        "generation",
    ),
    "an unverified contradiction is no contradiction": (
        {"claims": ("UNVERIFIED",)},
        "ignored_evidence",
        "invented",
        "generation",
    ),
    "grounded on the wrong text": (
        missing(ABSENT),
        "faithful_to_wrong_passage",
        "no_evidence",
        "retrieval",
    ),
    "grounded, part of the gold there": (
        missing(PART),
        "faithful_to_wrong_passage",
        "partial_evidence",
        "retrieval",
    ),
    "one failed point's gold there, another's not": (
        {"correctness": (point("MISSING"), point("MISSING", ABSENT, point_id="p2"))},
        "faithful_to_wrong_passage",
        "partial_evidence",
        "retrieval",
    ),
    "nothing to stand on and it spoke": (
        {**UNGROUNDED, **missing(ABSENT)},
        "improvised",
        "no_evidence",
        "retrieval, then abstention",
    ),
    "an empty context and it spoke": (
        {"n_passages": 0, **missing(ABSENT)},
        "improvised",
        "no_evidence",
        "retrieval, then abstention",
    ),
    "only the failed points are asked for evidence": (
        {"correctness": (point("MISSING"), point("COVERED", ABSENT, point_id="p2"))},
        "faithful_but_wrong",
        "omitted",
        "generation",
    ),
    "an answer without claims is grounded": ({"claims": ()}, "faithful_but_wrong", "omitted", "generation"),
    "not correct by coverage alone: the partly made points failed": (
        {"correctness": (point("PARTLY", ABSENT), point("PARTLY", ABSENT, point_id="p2"))},
        "faithful_to_wrong_passage",
        "no_evidence",
        "retrieval",
    ),
    "an okay point contradicted is the failed one": (
        {"correctness": (point("COVERED", ABSENT), point("CONTRADICTED", vital=False, point_id="p2"))},
        "faithful_but_wrong",
        "contradicts_point",
        "corpus and labels",
    ),
    # before the cells
    "correct": ({"correctness": (point("COVERED"),)}, "correct", "", "nobody"),
    "correct with a partly made point": (
        {"correctness": (point("COVERED"), point("PARTLY", ABSENT, point_id="p2"))},
        "correct",
        "",
        "nobody",
    ),
    "correct though every judge of grounding failed": (
        {"correctness": (point("COVERED"),), "claims": TIMED_OUT, "abstained": TIMED_OUT},
        "correct",
        "",
        "nobody",
    ),
    "correct by its points goes before an abstention": (
        {"correctness": (point("COVERED"),), "abstained": True},
        "correct",
        "",
        "nobody",
    ),
    "refused": (REFUSED, "no_answer", "refused", "generation"),
    "refused on an unanswerable question": (
        {**REFUSED, "answerable": "no"},
        "no_answer",
        "refused",
        "generation",
    ),
    "refused, answerability unknown": (
        {**REFUSED, "answerable": "unknown"},
        "no_answer",
        "refused",
        "generation",
    ),
    "abstained on an unanswerable question": (
        {"answerable": "no", "abstained": True, "correctness": UNLABELLED},
        "correct",
        "",
        "nobody",
    ),
    "answered an unanswerable question": (
        {"answerable": "no", "correctness": UNLABELLED},
        "answered_unanswerable",
        "",
        "abstention",
    ),
    "an unanswerable question needs no grounding": (
        {"answerable": "no", "claims": TIMED_OUT, "correctness": TIMED_OUT},
        "answered_unanswerable",
        "",
        "abstention",
    ),
    "abstained, the evidence there": ({"abstained": True}, "abstained_with_evidence", "", "generation"),
    "abstained, the evidence not there": (
        {"abstained": True, **missing(ABSENT)},
        "abstained_without_evidence",
        "no_evidence",
        "retrieval",
    ),
    "abstained without key points: the question's gold is asked": (
        {"abstained": True, "correctness": UNLABELLED, "question_arrival": PART},
        "abstained_without_evidence",
        "partial_evidence",
        "retrieval",
    ),
    "abstained: its grounding is not needed": (
        {"abstained": True, "claims": TIMED_OUT},
        "abstained_with_evidence",
        "",
        "generation",
    ),
    # unattributed
    "answerability unknown": (
        {"answerable": "unknown", "correctness": (point("COVERED"),)},
        "unattributed",
        "answerable: unknown",
        "nobody",
    ),
    "no key points": ({"correctness": UNLABELLED}, "unattributed", "correctness: unlabelled", "nobody"),
    "judged without any key point": (
        {"correctness": ()},
        "unattributed",
        "correctness: unlabelled",
        "nobody",
    ),
    "no key points: a failed grounding is not needed": (
        {"correctness": UNLABELLED, "claims": TIMED_OUT},
        "unattributed",
        "correctness: unlabelled",
        "nobody",
    ),
    "a failed point without any gold": (missing(NO_GOLD), "unattributed", "evidence: unlabelled", "nobody"),
    "gold that did not resolve": (
        {**missing(NO_GOLD), "unresolved": True},
        "unattributed",
        "evidence: unresolved",
        "nobody",
    ),
    "the context was not recorded": (
        {"n_passages": NOT_RECORDED, "claims": NOT_RECORDED},
        "unattributed",
        "grounding: passages_not_recorded",
        "nobody",
    ),
    "abstained, the context not recorded": (
        {"abstained": True, "n_passages": NOT_RECORDED, "claims": NOT_RECORDED},
        "unattributed",
        "evidence: passages_not_recorded",
        "nobody",
    ),
    "abstained without gold": (
        {"abstained": True, **missing(NO_GOLD)},
        "unattributed",
        "evidence: unlabelled",
        "nobody",
    ),
    # undetermined
    "generating failed": (FAILED_ANSWER, "undetermined", "answer: timed_out", "nobody"),
    "judging correctness failed": (
        {"correctness": TIMED_OUT},
        "undetermined",
        "correctness: timed_out",
        "nobody",
    ),
    "reading failed": (
        {"abstained": TIMED_OUT, "claims": BLOCKED},
        "undetermined",
        "reading: timed_out",
        "nobody",
    ),
    "reading failed on an unanswerable question": (
        {"answerable": "no", "abstained": TIMED_OUT},
        "undetermined",
        "reading: timed_out",
        "nobody",
    ),
    "judging grounding failed": ({"claims": TIMED_OUT}, "undetermined", "grounding: timed_out", "nobody"),
    "a failure goes before a missing axis": (
        {"claims": TIMED_OUT, **missing(NO_GOLD)},
        "undetermined",
        "grounding: timed_out",
        "nobody",
    ),
    "abstained and correctness failed": (
        {"abstained": True, "correctness": TIMED_OUT},
        "undetermined",
        "correctness: timed_out",
        "nobody",
    ),
    "the budget ran out before the judge": (
        {"correctness": Missing(State.OVER_BUDGET)},
        "undetermined",
        "correctness: over_budget",
        "nobody",
    ),
}


@pytest.mark.parametrize(("change", "label", "reason", "owner"), CELL_CASES.values(), ids=CELL_CASES)
def test_cell(change: dict[str, Any], label: str, reason: str, owner: str) -> None:
    cell = find_cell(replace(BASE, **change))
    assert (cell.label.value, cell.reason, cell.owner) == (label, reason, owner)


def test_the_audit_log_answer_from_the_enterprise_page() -> None:
    """METRICS.md §9: the Team page is not in the context, the answer is faithful to the Enterprise page."""
    team = ResolvedGold(
        places=(ResolvedPlace(kind="span", target_id="team", start=10, end=60, ink_start=8, ink_end=50),)
    )
    context = [PassagePlace("enterprise", (InkRange(0, 400),))]
    quotes = [PassagePlace("enterprise", (InkRange(20, 60),))]
    arrival = weigh_arrival([team], rule="all", context=context, quotes=quotes)
    cell = find_cell(replace(BASE, correctness=(point("MISSING", arrival),), n_passages=len(context)))
    assert (cell.label, cell.grounded, cell.correct) == (Label.FAITHFUL_TO_WRONG_PASSAGE, True, False)


def test_a_cell_keeps_what_it_was_decided_from() -> None:
    facts = replace(BASE, correctness=(point("PARTLY", USED, point_id="p7"), point("COVERED", ABSENT, point_id="p8")))
    cell = find_cell(facts, correct_at=1.0)
    assert (cell.correct, cell.grounded, cell.arrived) == (False, True, True)
    assert [failed.model_dump() for failed in cell.failed_points] == [
        {"point_id": "p7", "verdict": "PARTLY", "arrived": True, "used": True}
    ]


def test_a_correct_cell_knows_its_grounding_and_is_not_asked_for_evidence() -> None:
    cell = find_cell(replace(BASE, correctness=(point("COVERED"),), **UNGROUNDED))
    assert (cell.correct, cell.grounded, cell.arrived, cell.failed_points) == (True, False, None, ())


@pytest.mark.parametrize(("answerable", "correct"), [("yes", False), ("no", False), ("unknown", None)])
def test_a_refusal_is_not_correct(answerable: Answerable, *, correct: bool | None) -> None:
    assert find_cell(replace(BASE, **{**REFUSED, "answerable": answerable})).correct is correct


def test_page_level_gold_marks_the_cell() -> None:
    page = replace(ARRIVED, page_level=True)
    assert find_cell(replace(BASE, correctness=(point("MISSING", page),))).page_level
    assert find_cell(replace(BASE, abstained=True, correctness=(point("MISSING", page),))).page_level
    assert not find_cell(replace(BASE, correctness=(point("COVERED", page),))).page_level
    unlabelled = Missing(State.NOT_APPLICABLE, Reason.UNLABELLED)
    assert not find_cell(replace(BASE, correctness=unlabelled, question_arrival=page)).page_level


def test_without_a_recorded_context_no_arrival_is_believed() -> None:
    cell = find_cell(replace(BASE, n_passages=NOT_RECORDED, claims=NOT_RECORDED))
    assert (cell.grounded, cell.arrived, cell.failed_points[0].arrived) == (None, None, None)


def test_thresholds_move_a_question_between_columns_and_out_of_the_cells() -> None:
    facts = replace(BASE, claims=("SUPPORTED",) * 8 + ("NOT_SUPPORTED",) * 2)
    labels = [find_cell(facts, grounded_at=at).label for at in (0.8, 0.9)]
    assert labels == [Label.FAITHFUL_BUT_WRONG, Label.IGNORED_EVIDENCE]
    half = replace(BASE, correctness=(point("PARTLY"),))
    assert find_cell(half, correct_at=0.5).label is Label.CORRECT
    assert find_cell(half).label is Label.FAITHFUL_BUT_WRONG


def test_where_no_point_is_vital_all_can_fail() -> None:
    points = (point("MISSING", vital=False), point("COVERED", vital=False, point_id="p2"))
    assert [failed.point_id for failed in find_failed(points)] == ["p1"]


def test_a_scored_stage_is_not_missing() -> None:
    with pytest.raises(ValueError, match="not missing"):
        Missing(State.SCORED)


def test_every_owner_is_reached_by_a_case_above() -> None:
    owners = {owner for _, _, _, owner in CELL_CASES.values()}
    labels = {label for _, label, _, _ in CELL_CASES.values()}
    assert owners == set(get_args(Cell.model_fields["owner"].annotation))
    assert labels == {label.value for label in Label}
