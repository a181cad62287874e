"""The cell of a question: exactly one label, with a reason and an owner. Source: METRICS.md §6.

A fact is either there or `Missing`, so that no combination of states can be left without a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from schemas.answer import NoAnswer
from schemas.cell import CORRECT_AT, GROUNDED_AT, Cell, FailedPoint, Label, Owner
from schemas.question import Answerable
from schemas.state import FAILED, Reason, State
from schemas.verdict import ClaimWord, PointWord
from tasks.metrics.arrival import Arrival, join_arrivals
from tasks.metrics.correctness import JudgedPoint, is_correct, settle_vital
from tasks.metrics.grounding import is_grounded

_UNKNOWN: Final = Arrival()
# Labels that say where the evidence was.
_BY_ARRIVAL: Final = frozenset({
    Label.ABSTAINED_WITH_EVIDENCE,
    Label.ABSTAINED_WITHOUT_EVIDENCE,
    Label.FAITHFUL_BUT_WRONG,
    Label.IGNORED_EVIDENCE,
    Label.FAITHFUL_TO_WRONG_PASSAGE,
    Label.IMPROVISED,
})


@dataclass(frozen=True, slots=True)
class Missing:
    """A stage that has no result: its state, and the reason or the kind of failure.

    `correctness` of a question without key points is `Missing(State.NOT_APPLICABLE, Reason.UNLABELLED)`.
    """

    state: State
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse a state that does have a result.

        Raises:
            ValueError: The state is `scored`.
        """
        if self.state is State.SCORED:
            msg = "a scored stage has its result and is not missing"
            raise ValueError(msg)

    @property
    def failed(self) -> bool:
        """Whether the next run tries it again."""
        return self.state in FAILED


@dataclass(frozen=True, kw_only=True, slots=True)
class PointFacts:
    """One judged key point, and what the context holds of its gold.

    Attributes:
        arrival: From `tasks.metrics.arrival.weigh_point`.
    """

    point_id: str
    verdict: PointWord
    vital: bool
    arrival: Arrival = _UNKNOWN


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """All that the label of one (setup, question) rests on.

    Attributes:
        answerable: As the question says.
        answer: None when there is a text to judge, else why there is none; Missing when generating has no
            result.
        abstained: The reader's word.
        correctness: The judged key points.
        claims: Verdicts on the answer's claims.
        n_passages: Passages of the recorded context; without one every `arrival` is taken as unknown.
        question_arrival: What the context holds of the question's own gold; asked where no point failed.
        unresolved: Gold did not resolve and was skipped; only names the reason why an axis is unknown.
    """

    answerable: Answerable
    answer: NoAnswer | Missing | None
    abstained: bool | Missing
    correctness: tuple[PointFacts, ...] | Missing
    claims: tuple[ClaimWord, ...] | Missing
    n_passages: int | Missing
    question_arrival: Arrival = _UNKNOWN
    unresolved: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    correct: bool | None
    grounded: bool | None
    failed_points: tuple[PointFacts, ...]
    arrival: Arrival


class _Verdict(NamedTuple):
    label: Label
    owner: Owner = "nobody"
    reason: str = ""


def find_cell(facts: Facts, *, grounded_at: float = GROUNDED_AT, correct_at: float = CORRECT_AT) -> Cell:
    """Give a question its one label, in the order of METRICS.md §6.

    A question needs only the stages on the way to its label: a correct answer stays correct when its
    grounding failed, and a refusal needs no judge.

    Args:
        facts: What is known and what is missing.
        grounded_at: Least groundedness of a grounded answer.
        correct_at: Least vital coverage of a correct answer.

    >>> missing = Missing(State.NOT_APPLICABLE, Reason.NO_ANSWER)
    >>> facts = Facts(answerable="yes", answer="refused", abstained=missing, correctness=missing,
    ...     claims=missing, n_passages=3)
    >>> find_cell(facts).label.value, find_cell(facts).owner
    ('no_answer', 'generation')
    """
    known = _establish(facts, grounded_at=grounded_at, correct_at=correct_at)
    verdict = _decide(facts, known)
    asked = facts.answerable == "yes" and verdict.label not in {Label.CORRECT, Label.NO_ANSWER}
    return Cell(
        label=verdict.label,
        reason=verdict.reason,
        owner=verdict.owner,
        correct=known.correct,
        grounded=known.grounded,
        arrived=known.arrival.arrived if asked else None,
        page_level=known.arrival.page_level and verdict.label in _BY_ARRIVAL,
        failed_points=tuple(
            FailedPoint(
                point_id=point.point_id,
                verdict=point.verdict,
                arrived=point.arrival.arrived,
                used=point.arrival.used,
            )
            for point in known.failed_points
        ),
    )


def find_failed(points: Sequence[PointFacts]) -> list[PointFacts]:
    """Pick the points that failed: vital and not COVERED, or CONTRADICTED; none vital: all count as vital.

    >>> okay = PointFacts(point_id="p1", verdict="MISSING", vital=False)
    >>> vital = PointFacts(point_id="p2", verdict="COVERED", vital=True)
    >>> len(find_failed([okay])), len(find_failed([okay, vital]))
    (1, 0)
    """
    settled = settle_vital([JudgedPoint(point.verdict, point.vital) for point in points])
    return [
        point
        for point, (verdict, vital) in zip(points, settled, strict=True)
        if verdict == "CONTRADICTED" or (vital and verdict != "COVERED")
    ]


def _establish(facts: Facts, *, grounded_at: float, correct_at: float) -> _Known:
    correct = _find_correct(facts, correct_at)
    failed: list[PointFacts] = []
    if facts.answerable == "yes" and correct is False and not isinstance(facts.correctness, Missing):
        failed = find_failed(facts.correctness)
    if isinstance(facts.n_passages, Missing):
        return _Known(
            correct=correct,
            grounded=None,
            failed_points=tuple(replace(point, arrival=_UNKNOWN) for point in failed),
            arrival=_UNKNOWN,
        )
    grounded = None
    if not isinstance(facts.claims, Missing):
        grounded = is_grounded(facts.claims, n_passages=facts.n_passages, threshold=grounded_at)
    arrival = join_arrivals([point.arrival for point in failed]) if failed else facts.question_arrival
    return _Known(correct=correct, grounded=grounded, failed_points=tuple(failed), arrival=arrival)


def _find_correct(facts: Facts, correct_at: float) -> bool | None:
    if facts.answerable == "unknown" or isinstance(facts.answer, Missing):
        return None
    if facts.answer is not None:
        return False
    if facts.answerable == "no":
        return None if isinstance(facts.abstained, Missing) else facts.abstained
    if isinstance(facts.correctness, Missing):
        return None
    points = [JudgedPoint(point.verdict, point.vital) for point in facts.correctness]
    return is_correct(points, threshold=correct_at)


def _decide(facts: Facts, known: _Known) -> _Verdict:
    if isinstance(facts.answer, Missing):
        return _without("answer", facts.answer)
    if facts.answer is not None:
        return _Verdict(Label.NO_ANSWER, "generation", facts.answer)
    if facts.answerable == "unknown":
        return _Verdict(Label.UNATTRIBUTED, reason="answerable: unknown")
    return _decide_answerable(facts, known) if facts.answerable == "yes" else _decide_unanswerable(facts)


def _decide_unanswerable(facts: Facts) -> _Verdict:
    if isinstance(facts.abstained, Missing):
        return _without("reading", facts.abstained)
    if facts.abstained:
        return _Verdict(Label.CORRECT)
    return _Verdict(Label.ANSWERED_UNANSWERABLE, "abstention")


def _decide_answerable(facts: Facts, known: _Known) -> _Verdict:
    if known.correct:
        return _Verdict(Label.CORRECT)
    needed: dict[str, object] = {
        "correctness": facts.correctness,
        "reading": facts.abstained,
        "context": facts.n_passages,
    }
    # An answer without key points has no cell whatever its grounding, and an abstention is not asked for it.
    if known.correct is not None and facts.abstained is not True:
        needed["grounding"] = facts.claims
    for stage, fact in needed.items():
        if isinstance(fact, Missing) and fact.failed:
            return _without(stage, fact)
    if facts.abstained is True:
        return _decide_abstained(facts, known)
    return _find_unattributed(facts, known) or _place(facts, known)


def _decide_abstained(facts: Facts, known: _Known) -> _Verdict:
    if known.arrival.arrived is None:
        return _Verdict(Label.UNATTRIBUTED, reason=f"evidence: {_why_no_evidence(facts)}")
    if known.arrival.arrived:
        return _Verdict(Label.ABSTAINED_WITH_EVIDENCE, "generation")
    return _Verdict(Label.ABSTAINED_WITHOUT_EVIDENCE, "retrieval", _how_much(known.arrival))


def _find_unattributed(facts: Facts, known: _Known) -> _Verdict | None:
    if isinstance(facts.abstained, Missing):
        return _without("reading", facts.abstained)
    if isinstance(facts.correctness, Missing):
        return _without("correctness", facts.correctness)
    if known.correct is None:
        return _Verdict(Label.UNATTRIBUTED, reason=f"correctness: {Reason.UNLABELLED}")
    if isinstance(facts.claims, Missing):
        return _without("grounding", facts.claims)
    if known.arrival.arrived is None:
        return _Verdict(Label.UNATTRIBUTED, reason=f"evidence: {_why_no_evidence(facts)}")
    return None


def _place(facts: Facts, known: _Known) -> _Verdict:
    if known.arrival.arrived:
        if not known.grounded:
            contradicts = not isinstance(facts.claims, Missing) and "CONTRADICTED" in facts.claims
            reason = "contradicts_context" if contradicts else "invented"
            return _Verdict(Label.IGNORED_EVIDENCE, "generation", reason)
        if any(point.verdict == "CONTRADICTED" for point in known.failed_points):
            return _Verdict(Label.FAITHFUL_BUT_WRONG, "corpus and labels", "contradicts_point")
        if known.arrival.used:
            return _Verdict(Label.FAITHFUL_BUT_WRONG, "corpus and labels", "evidence_used")
        return _Verdict(Label.FAITHFUL_BUT_WRONG, "generation", "omitted")
    reason = _how_much(known.arrival)
    if known.grounded:
        return _Verdict(Label.FAITHFUL_TO_WRONG_PASSAGE, "retrieval", reason)
    return _Verdict(Label.IMPROVISED, "retrieval, then abstention", reason)


def _without(stage: str, missing: Missing) -> _Verdict:
    if missing.failed:
        return _Verdict(Label.UNDETERMINED, reason=f"{stage}: {missing.state}")
    return _Verdict(Label.UNATTRIBUTED, reason=f"{stage}: {missing.why or missing.state}")


def _why_no_evidence(facts: Facts) -> str:
    if isinstance(facts.n_passages, Missing):
        return facts.n_passages.why or facts.n_passages.state
    return Reason.UNRESOLVED if facts.unresolved else Reason.UNLABELLED


def _how_much(arrival: Arrival) -> str:
    return "partial_evidence" if arrival.partial else "no_evidence"
