"""The offline judge and the overlap baseline on what people labelled: claims, key points, answers."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from schemas.seats import Failure, GroundRequest, PointsRequest
from schemas.verdict import PointWord
from tasks.metrics.correctness import JudgedPoint, is_correct
from tasks.models.offline_judge import OfflineJudge
from tasks.text.quotes import check_evidence
from tasks.workspace.references import split_reference
from tests.bench.balanced import Compared, Said, balanced_accuracy, compare
from tests.bench.judging_data import Pair
from tests.bench.overlap import overlap, tuned_threshold

# EVOUNA writes the references that are right alike beside one another.
_OR: Final = "/"
_LEVELS: Final[dict[PointWord, str]] = {
    "COVERED": "fully_covered",
    "PARTLY": "partially_covered",
    "MISSING": "not_covered",
    "CONTRADICTED": "not_covered",
}


class Judged(NamedTuple):
    """A labelled pair with the judge's word and the baseline's score, 0-1."""

    pair: Pair
    said: bool
    score: float


class OnSources(NamedTuple):
    """Judge against baseline for each source, on the rows that may be reported."""

    threshold: float
    by_source: dict[str, Compared]


class Levels(NamedTuple):
    """Three-level agreement on key points, and what always saying the commonest level would reach."""

    judge: float
    baseline: float
    commonest: float


def judge_claims(pairs: Sequence[Pair]) -> list[Judged]:
    """Judge each claim as a run does, quote check included: only SUPPORTED with found evidence counts."""
    requests = [GroundRequest(question=p.question, claims=(p.statement,), passages=(p.text,)) for p in pairs]
    judged: list[Judged] = []
    for position, reply, _ in OfflineJudge().judge_grounding(requests):
        assert not isinstance(reply, Failure), reply
        pair, request = pairs[position], requests[position]
        (verdict,) = check_evidence(request.claims, reply, request.passages)
        judged.append(Judged(pair, verdict.verdict == "SUPPORTED", overlap(pair.statement, pair.text)))
    return judged


def judge_points(pairs: Sequence[Pair]) -> list[PointWord]:
    """Judge each key point against its answer."""
    requests = [PointsRequest(question=p.question, answer=p.text, points=(p.statement,)) for p in pairs]
    return [verdicts[0] for verdicts in _point_words(requests)]


def judge_answers(pairs: Sequence[Pair]) -> list[Judged]:
    """Grade each answer by METRICS.md §5 against the points its reference splits into, all vital.

    Of references that are right alike, one suffices; the baseline gets the best of them too.
    """
    references = [_references(pair.statement) for pair in pairs]
    requests = [
        PointsRequest(question=pair.question, answer=pair.text, points=tuple(points))
        for pair, either in zip(pairs, references, strict=True)
        for points in either
    ]
    words = _point_words(requests)
    graded: list[Judged] = []
    for pair, either in zip(pairs, references, strict=True):
        right = [is_correct([JudgedPoint(word) for word in next(words)]) or False for _ in either]
        graded.append(Judged(pair, any(right), max(overlap(" ".join(points), pair.text) for points in either)))
    return graded


def on_sources(judged: Sequence[Judged]) -> OnSources:
    """Tune the baseline's threshold on the rows meant for it, one for all sources, and compare on the rest."""
    threshold = _threshold(judged, lambda one: one.pair.label)
    reported = [one for one in judged if not one.pair.for_tuning]
    by_source = {
        source: compare([Said(one.pair.cluster, one.pair.label, one.said, one.score >= threshold) for one in rows])
        for source, rows in groupby(reported, key=lambda one: one.pair.source)
    }
    return OnSources(threshold, by_source)


def on_points(pairs: Sequence[Pair], words: Sequence[PointWord]) -> tuple[dict[str, OnSources], Levels]:
    """Key points at both borders of their three levels, each with a baseline threshold of its own, and all levels."""
    scores = [overlap(pair.statement, pair.text) for pair in pairs]
    borders: dict[str, OnSources] = {}
    for name, levels in (
        ("covered or not", {"fully_covered"}),
        ("any of it or none", {"fully_covered", "partially_covered"}),
    ):
        rows = [
            Judged(pair._replace(label=pair.level in levels), _LEVELS[word] in levels, score)
            for pair, word, score in zip(pairs, words, scores, strict=True)
        ]
        borders[name] = on_sources(rows)
    high, low = (border.threshold for border in borders.values())
    said = [
        (pair.level, _LEVELS[word], _level(score, low=low, high=high))
        for pair, word, score in zip(pairs, words, scores, strict=True)
        if not pair.for_tuning
    ]
    given = [level for level, _, _ in said]
    return borders, Levels(
        judge=sum(level == judge for level, judge, _ in said) / len(said),
        baseline=sum(level == baseline for level, _, baseline in said) / len(said),
        commonest=max(given.count(level) for level in _LEVELS.values()) / len(said),
    )


def tuning_accuracy(judged: Sequence[Judged]) -> dict[str, float]:
    """Balanced accuracy of the judge on the rows it was tuned on, for the judge's builder."""
    rows = [one for one in judged if one.pair.for_tuning]
    return {
        source: balanced_accuracy([one.said for one in ones], [one.pair.label for one in ones])
        for source, ones in ((s, list(g)) for s, g in groupby(rows, key=lambda one: one.pair.source))
    }


def _threshold(judged: Sequence[Judged], label: Callable[[Judged], bool]) -> float:
    rows: dict[str, list[tuple[float, bool]]] = {}
    for one in judged:
        if one.pair.for_tuning:
            rows.setdefault(one.pair.source, []).append((one.score, label(one)))
    return tuned_threshold(rows)


def _level(score: float, *, low: float, high: float) -> str:
    if score >= high:
        return "fully_covered"
    return "partially_covered" if score >= low else "not_covered"


def _references(reference: str) -> list[list[str]]:
    alike = [one.strip() for one in reference.split(_OR) if one.strip()] or [reference]
    return [split_reference(one) or [one] for one in alike]


def _point_words(requests: Sequence[PointsRequest]) -> Iterator[list[PointWord]]:
    for _, reply, _ in OfflineJudge().judge_points(requests):
        assert not isinstance(reply, Failure), reply
        yield [verdict.verdict for verdict in reply]
