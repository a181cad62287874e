"""What stops no run and still deserves a look: labels that are missing or thin, points their gold does not support."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import Place
from schemas.question import KeyPoint, Question
from schemas.seats import Failure, GroundRequest
from schemas.setup import Judge, Setup, SplitNot
from tasks.text.tokens import count_tokens
from tasks.text.visible import one_line
from tasks.workspace.gold import GoldFinder
from tasks.workspace.sources import block_around

_MOST_NAMED: Final = 5
_SHOWN: Final = 3
# Two to five points a question are recommended (METRICS.md §5).
_POINTS: Final = range(2, 6)
_LEAST_WORDS: Final = 5
# Beyond this one chunk is more text than a prompt should spend on one passage.
_LONG_TOKENS: Final = 8_000

Points = Mapping[str, Sequence[KeyPoint]]


def named(ids: Sequence[str]) -> str:
    """The first few ids, and how many more there are.

    >>> named(["q1", "q2"]), named(list("abcdefg"))
    ('q1, q2', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(one_line(name, most=60) for name in ids[:_MOST_NAMED]) + more


def doubts_about_labels(questions: Sequence[Question], points: Points) -> Iterator[str]:
    """Doubts about questions and key points that need no documents."""
    answerable = [question for question in questions if question.answerable == "yes"]
    texts: dict[str, list[str]] = {}
    for question in questions:
        texts.setdefault(" ".join(question.text.split()), []).append(question.id)
    lists = {question.id: points.get(question.id, ()) for question in questions}
    counted = [
        ("answerable questions have no gold: retrieval cannot be measured on them",
         [q.id for q in answerable if not q.gold]),
        ("answerable questions have no key points: correctness cannot be measured on them",
         [q.id for q in answerable if not lists[q.id]]),
        ("questions do not say whether they are answerable: their failures stay unattributed",
         [q.id for q in questions if q.answerable == "unknown"]),
        ("unanswerable questions have gold or key points, which play no part",
         [q.id for q in questions if q.answerable == "no" and (q.gold or lists[q.id])]),
        ("questions share their text with another", [name for ids in texts.values() for name in ids[1:]]),
        (f"questions have fewer than {_POINTS[0]} or more than {_POINTS[-1]} key points",
         [name for name, found in lists.items() if found and len(found) not in _POINTS]),
        ("questions have no vital point, so all of theirs count as vital",
         [name for name, found in lists.items() if found and all(point.weight != "vital" for point in found)]),
    ]  # fmt: skip
    yield from (f"{len(ids)} {what}: {named(ids)}" for what, ids in counted if ids)
    every = [point for found in lists.values() for point in found]
    if waiting := [point.id for point in every if point.status != "reviewed"]:
        yield f"{len(waiting)} of {len(every)} key points are not reviewed by a person: {named(waiting)}"


def doubts_about_documents(
    documents: Sequence[Document], setups: Sequence[Setup], questions: Sequence[Question], points: Points
) -> Iterator[str]:
    """Documents that are nearly empty, very long, or named by no gold; points that name unknown documents."""
    known = {document.document_id for document in documents}
    if thin := [d.document_id for d in documents if len(d.text.split()) < _LEAST_WORDS and len(d.text) < 40]:
        yield f"{len(thin)} documents are nearly empty: {named(thin)}"
    if whole := [setup.name for setup in setups if setup.answers is None and isinstance(setup.splitting, SplitNot)]:
        long = [d.document_id for d in documents if count_tokens(d.text) > _LONG_TOKENS]
        if long:
            yield (
                f"{len(long)} documents have over {_LONG_TOKENS} tokens, and setup {named(whole)} takes each as one "
                f"chunk: {named(long)}"
            )
    every = [point for found in points.values() for point in found]
    if lost := [point.id for point in every if not known.issuperset(point.documents)]:
        yield f"{len(lost)} key points name documents that are not in the corpus: {named(lost)}"
    entries = [entry for gold in (*(q.gold for q in questions), *(p.gold for p in every)) for entry in gold]
    places: list[Place] = [place for entry in entries for place in (entry, *entry.alternatives)]
    unnamed = known - {place.document for place in places}
    if places and unnamed:
        yield f"{len(unnamed)} of {len(known)} documents are named by no gold"


def doubts_about_points(
    questions: Sequence[Question], points: Points, texts: Mapping[str, str], finder: GoldFinder
) -> Iterator[str]:
    """Vital points whose own gold does not support them, by the offline judge.

    A gold quote is the shortest that answers and often leaves out what its page is about, so the judge is shown the
    paragraph or table it stands in, under its headings.
    """
    # Imported here: doctor finds most mistakes without any judge.
    from tasks.models.table import open_judge  # noqa: PLC0415

    asked: list[tuple[KeyPoint, GroundRequest]] = []
    for question in questions:
        for point in points.get(question.id, ()):
            passages = _gold_texts(point, texts, finder) if point.weight == "vital" else ()
            if passages:
                request = GroundRequest(question=question.text, claims=(point.text,), passages=passages)
                asked.append((point, request))
    judge = open_judge(Judge(name="offline"))
    more: list[str] = []
    for position, judged, _ in judge.judge_grounding([request for _, request in asked]):
        if isinstance(judged, Failure) or judged[0].verdict == "SUPPORTED":
            continue
        point, _ = asked[position]
        more.append(point.id)
        if len(more) <= _SHOWN:
            yield (
                f"offline judge: the gold of point {one_line(point.id)} does not support it ({judged[0].verdict}): "
                f"{one_line(point.text, most=100)!r}"
            )
    if more[_SHOWN:]:
        yield (
            f"offline judge: it says the same of {len(more) - _SHOWN} more of {len(asked)} vital points; it compares "
            f"words and is often wrong: {named(more[_SHOWN:])}"
        )


def _gold_texts(point: KeyPoint, texts: Mapping[str, str], finder: GoldFinder) -> tuple[str, ...]:
    found = []
    for entry in point.gold:
        try:
            place = finder.resolve([entry], where="")[0].places[0]
        except InputError:
            continue  # told among the errors
        if place.kind == "span":
            text = texts[place.target_id]
            block = block_around(text, place.start or 0, place.end or 0)
            found.append("\n\n".join([*block.headings, text[block.start : block.end]]))
    return tuple(found)
