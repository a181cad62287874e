"""Key points drafted by a model from the full expected documents: what to ask, and what becomes of the replies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.claude import ClaudeDrafterSettings
from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import GoldEntry
from schemas.question import KeyPoint, Question
from schemas.seats import Failure, Given
from schemas.spent import FREE, Spent
from tasks.models.claude.drafter import ClaudeDrafter, DraftedPoint, DraftRequest, draft_request
from tasks.models.claude.estimating import n_tokens
from tasks.models.claude.prices import known_models, rates_of
from tasks.text.visible import one_line
from tasks.workspace.corpus import read_corpus
from tasks.workspace.doubts import named
from tasks.workspace.gold import occurrences
from tasks.workspace.point_lists import Lists, change_lists
from tasks.workspace.prompts import read_prompt
from tasks.workspace.questions import choose_questions, read_point_lists, read_questions
from tasks.workspace.settings import load_judge

if TYPE_CHECKING:
    from tasks.models.claude.desk import Desk

# Five points with a quote each, as JSON; a model that thinks at length takes more.
_USUAL_REPLY_TOKENS: Final = 600


@dataclass(frozen=True)
class Wanted:
    """A question to draft for, with its documents in the order in which they are shown."""

    question: Question
    documents: tuple[Document, ...]
    is_shared: bool

    def request(self) -> DraftRequest:
        """As the drafter sees it."""
        texts = tuple(document.text for document in self.documents)
        return DraftRequest(question=self.question.text, documents=texts, is_shared=self.is_shared)


@dataclass(frozen=True)
class DraftPlan:
    """What will be asked of which model, and which questions are left out, and why.

    Attributes:
        where: File and table of the settings.
    """

    workspace: Path
    where: str
    settings: ClaudeDrafterSettings
    prompt: str
    known: Mapping[str, Question]
    wanted: tuple[Wanted, ...]
    again: bool
    reviewed: tuple[str, ...] = ()
    drafted: tuple[str, ...] = ()
    unanswerable: tuple[str, ...] = ()
    without_gold: tuple[str, ...] = ()
    lost_documents: tuple[str, ...] = ()

    def skipped(self) -> list[str]:
        """The questions that are left out, for a person."""
        reasons = [
            (self.reviewed, "have points that a person reviewed or changed, and are left alone"),
            (self.drafted, "have points already and are left alone; --again drafts those anew that nobody reviewed"),
            (self.unanswerable, "are marked unanswerable and need no points"),
            (self.without_gold, "have no gold that names a document to draft from"),
            (self.lost_documents, "name a document that is not in the corpus (failed)"),
        ]
        return [f"{len(ids)} questions {why}: {named(ids)}" for ids, why in reasons if ids]


def plan_drafts(workspace: Path, judge: str, questions: Sequence[str] = (), *, again: bool = False) -> DraftPlan:
    """Find out which questions points are to be drafted for.

    Args:
        workspace: Its folder.
        judge: Whose `[drafter]`.
        questions: Ids; empty means all.
        again: Draft anew where there are drafts that nobody reviewed.

    Raises:
        InputError: The judge has no drafter, or its model has no price; or something in the workspace is wrong.
    """
    where = f"{workspace / 'judges' / judge}.toml [drafter]"
    settings = _settings(workspace, judge, where)
    every = read_questions(workspace)
    known = {question.id: question for question in every}
    lists = read_point_lists(workspace, known)
    documents = {document.document_id: document for document in read_corpus(workspace)}
    n_readers = Counter(_document_ids(question) for question in every)
    wanted: list[Wanted] = []
    left: dict[str, list[str]] = {}
    for question in choose_questions(every, questions):
        ids = _document_ids(question)
        if why := _left_out(question, lists.get(question.id, ()), again=again):
            left.setdefault(why, []).append(question.id)
        elif not documents.keys() >= set(ids):
            left.setdefault("lost_documents", []).append(question.id)
        else:
            shown = tuple(documents[name] for name in ids)
            wanted.append(Wanted(question, shown, is_shared=n_readers[ids] > 1))
    return DraftPlan(
        workspace=workspace,
        where=where,
        settings=settings,
        prompt=read_prompt(workspace, settings.prompt),
        known=known,
        wanted=tuple(wanted),
        again=again,
        **{why: tuple(names) for why, names in left.items()},
    )


def _settings(workspace: Path, judge: str, where: str) -> ClaudeDrafterSettings:
    settings = load_judge(workspace, judge).drafter
    if settings is None:
        raise InputError(
            "there is no such table, and no paid model is chosen silently",
            where=where,
            allowed=", ".join(known_models("anthropic")),
            remedy='Add three lines to the file, naming one: [drafter], provider = "anthropic", model = "NAME". '
            "Or name a judge that has them with --judge.",
        )
    rates_of(settings, where=where)
    return settings


def _document_ids(question: Question) -> tuple[str, ...]:
    """The expected documents, in one order for all questions: only equal beginnings are read from the cache."""
    return tuple(sorted({entry.document for entry in question.gold if entry.document is not None}))


def _left_out(question: Question, points: Sequence[KeyPoint], *, again: bool) -> str:
    """Why a question gets no drafts, as a field of the plan; empty when it does."""
    if any(_is_somebodys(point) for point in points):
        return "reviewed"
    if not again and any(point.status != "dropped" for point in points):
        return "drafted"
    if question.answerable == "no":
        return "unanswerable"
    return "" if _document_ids(question) else "without_gold"


def _is_somebodys(point: KeyPoint) -> bool:
    """Whether a person's work is in a point that is in use."""
    return point.status == "reviewed" or (point.status != "dropped" and bool(point.edits))


def estimate(plan: DraftPlan) -> list[str]:
    """Calls, tokens and dollars, before anything is asked."""
    rates = rates_of(plan.settings)
    inputs = [n_tokens(draft_request(plan.settings, plan.prompt, wanted.request())) for wanted in plan.wanted]
    n_out = len(inputs) * _USUAL_REPLY_TOKENS
    usual = sum(rates.cost({"input_tokens": n, "output_tokens": _USUAL_REPLY_TOKENS}, batch=False) for n in inputs)
    most = sum(rates.worst(n, plan.settings.max_tokens, batch=False) for n in inputs)
    return [
        *plan.skipped(),
        f"{len(inputs)} calls of {plan.settings.model}, one for each question (a reply of no use is asked for twice)",
        f"estimated tokens: {sum(inputs):,} in (at four bytes each), {n_out:,} out ({_USUAL_REPLY_TOKENS} each)",
        f"about ${usual:.4f}; ${most:.4f} if every reply took its max_tokens of {plan.settings.max_tokens:,}",
        "replies that an earlier run paid for cost nothing",
    ]


@dataclass
class Drafts:
    """The replies so far, and what becomes of them.

    Attributes:
        plan: What is asked.
        points: Drafted points by question, in the order in which they came.
        failed: Why a question has none.
        left_out: Drafted points that were not taken, with the reason.
    """

    plan: DraftPlan
    points: dict[str, tuple[DraftedPoint, ...]] = field(default_factory=dict)
    failed: dict[str, Failure] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    spent: Spent = FREE
    n_written: int = 0
    n_questions: int = 0

    def run(self, desk: "Desk") -> Iterator[int]:
        """Ask for all that is wanted; yields how many questions are through.

        The file is written once, at the end, however that comes: by an error or Ctrl-C too.

        Raises:
            FourcellsError: When no call can be made.
        """
        drafter = ClaudeDrafter(self.plan.settings, self.plan.prompt, desk)
        replies = drafter.draft([wanted.request() for wanted in self.plan.wanted])
        try:
            for n, given in enumerate(replies, start=1):
                self.take(given)
                yield n
        finally:
            change_lists(self.plan.workspace, self.plan.known, self._changed)

    def take(self, given: Given[tuple[DraftedPoint, ...]]) -> None:
        """Note one reply."""
        question_id = self.plan.wanted[given.position].question.id
        self.spent += given.spent
        if isinstance(given.reply, Failure):
            self.failed[question_id] = given.reply
        else:
            self.points[question_id] = given.reply

    @property
    def n_failed(self) -> int:
        """Questions that got no points although they were to."""
        return len(self.failed) + len(self.plan.lost_documents)

    def told(self) -> list[str]:
        """What came of it, for a person."""
        lines = [f"{self.n_written} key points drafted for {self.n_questions} questions"]
        if self.n_written:
            lines[0] += "; a person has to review them: fourcells keypoints review"
        lines += self.plan.skipped()
        lines += self.left_out
        lines += [
            f"failed: {name} ({why.state.value}, {why.kind}): {one_line(why.message, most=200)}"
            for name, why in sorted(self.failed.items())
        ]
        spent = self.spent
        if spent.n_calls:
            lines.append(
                f"${spent.paid_usd:.4f} paid now for {spent.n_calls} replies that cost ${spent.cost_usd:.4f} in all: "
                f"{spent.input_tokens:,} tokens in, {spent.cache_read_tokens:,} read from and "
                f"{spent.cache_write_tokens:,} written to the cache, {spent.output_tokens:,} out"
            )
        return lines

    def _changed(self, lists: Lists) -> Lists:
        """The new lists of the questions that are still to be drafted for, as the file is now."""
        taken = {point.id for points in lists.values() for point in points}
        changed: dict[str, list[KeyPoint]] = {}
        for wanted in self.plan.wanted:
            name = wanted.question.id
            if name not in self.points:
                continue
            now = lists.get(name, ())
            if _left_out(wanted.question, now, again=self.plan.again):
                self.left_out.append(f"the drafts of {name} were not taken, since it got other points meanwhile")
                continue
            dropped = [point for point in now if point.status == "dropped"]
            ids = taken - {point.id for point in now} | {point.id for point in dropped}
            drafted = self._key_points(wanted, dropped, ids)
            changed[name] = [*dropped, *drafted]
            taken |= {point.id for point in drafted}
            self.n_written += len(drafted)
            self.n_questions += bool(drafted)
        return changed

    def _key_points(self, wanted: Wanted, dropped: Sequence[KeyPoint], taken: set[str]) -> list[KeyPoint]:
        names = (name for n in count(1) if (name := f"{wanted.question.id}/{n}") not in taken)
        seen = {_folded(point.text) for point in dropped}
        found: list[KeyPoint] = []
        for point in self.points[wanted.question.id]:
            told = f"{wanted.question.id}: {one_line(point.text, most=100)!r}"
            if point.lost or not point.quotes:
                lost = one_line(point.lost[0], most=100) if point.lost else ""
                self.left_out.append(f"left out of {told}, since its quote is not in the document: {lost!r}")
            elif _folded(point.text) in seen:
                self.left_out.append(f"left out of {told}, which a person dropped or the reply has twice")
            else:
                seen.add(_folded(point.text))
                found.append(_key_point(next(names), point, wanted.documents))
        return found


def _key_point(name: str, point: DraftedPoint, documents: Sequence[Document]) -> KeyPoint:
    gold = tuple(_gold(documents[quote.document - 1], quote.start, quote.end) for quote in point.quotes)
    named_documents = tuple(dict.fromkeys(entry.document for entry in gold if entry.document is not None))
    return KeyPoint(id=name, text=point.text, weight=point.weight, documents=named_documents, gold=gold, status="draft")


def _gold(document: Document, start: int, end: int) -> GoldEntry:
    """A verbatim quote; `occurrence` says which one where it stands more than once."""
    quote = document.text[start:end]
    starts = list(occurrences(quote, document.text))
    which = starts.index(start) + 1 if len(starts) > 1 else None
    return GoldEntry(document=document.document_id, quote=quote, occurrence=which)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
