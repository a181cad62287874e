"""The tables of a comparison, made by SQL, equal the scalar definitions on any rows; undefined is NULL with n = 0."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import get_args

import pytest

from schemas.answer import Form, NoAnswer, Relevancy
from schemas.plan import Plan, PlannedSetup, Shard
from schemas.question import Answerable, AskedPoint, AskedQuestion
from schemas.setup import Grading, Judge, Setup
from schemas.state import FAILED, Reason, State
from schemas.trail import Step, Trail
from schemas.verdict import ClaimWord, PointWord
from tasks.metrics import correctness as c
from tasks.metrics import grounding as g
from tasks.metrics.arrival import Arrival
from tasks.metrics.cells import Facts, Missing, PointFacts, find_cell
from tasks.store.database import Database, Pick
from tasks.store.keys import digest
from tasks.store.rows import Row
from tasks.store.runs import RunFolder, RunRecord
from tasks.store.store import Store

RETRIEVAL = {
    "place": "int64",
    "setup": "string",
    "question_id": "string",
    "metric": "string",
    "value": "double",
    "reason": "string",
}
NOTHING_KNOWN: Mapping[str, bool] = {}
BLOCKED = Missing(State.BLOCKED, "an earlier stage has no result")


@dataclass
class Fate:
    """What became of one question in one setup: a result, or why there is none."""

    question: AskedQuestion
    answer: NoAnswer | Missing | None
    n_words: int = 0
    context: int | Missing = BLOCKED
    reading: tuple[Form, bool, Relevancy] | Missing = BLOCKED
    claims: tuple[ClaimWord, ...] | Missing = BLOCKED
    points: tuple[PointWord, ...] | Missing = BLOCKED
    rows: dict[str, Row] = field(default_factory=dict)

    @property
    def judged(self) -> list[c.JudgedPoint] | None:
        """The verdicts on its points."""
        if isinstance(self.points, Missing):
            return None
        return [c.JudgedPoint(word, point.vital) for word, point in zip(self.points, self.question.points, strict=True)]

    @property
    def abstained(self) -> bool | None:
        """By the scalar definition."""
        if isinstance(self.reading, Missing):
            return None
        return c.has_abstained(self.reading[0], gives_answer=self.reading[1])

    @property
    def outcome(self) -> c.Outcome:
        """As the answer-level rates take it."""
        return c.Outcome(
            answerable=self.question.answerable,
            labelled=bool(self.question.points),
            no_answer=isinstance(self.answer, str),
            abstained=self.abstained,
            correct=None if self.judged is None else c.is_correct(self.judged),
            grounded=None if isinstance(self.claims, Missing) else g.is_grounded(self.claims, n_passages=3),
        )


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - draws examples, no secrets


def draw_question(random: Random, number: int) -> AskedQuestion:
    weights = [random.random() < 0.7 for _ in range(random.choice([0, 1, 1, 2, 3]))]
    return AskedQuestion(
        question_id=f"q{number}",
        question_key=digest(number),
        text=f"question {number}",
        answerable=random.choice(get_args(Answerable)),
        gold_rule="all",
        points=tuple(
            AskedPoint(
                point_id=f"q{number}.{n}",
                point_key=digest([number, n]),
                text=f"point {n}",
                vital=vital or not any(weights),
                status="draft",
            )
            for n, vital in enumerate(weights)
        ),
    )


def _missing(random: Random) -> Missing:
    return Missing(random.choice(sorted(FAILED)), "Kind")


def draw_fate(random: Random, question: AskedQuestion) -> Fate:
    recorded = random.random() < 0.85
    context = random.randrange(2_000) if recorded else Missing(State.NOT_APPLICABLE, Reason.PASSAGES_NOT_RECORDED)
    if random.random() < 0.1:
        return Fate(question, _missing(random), context=context)
    if random.random() < 0.15:
        none = Missing(State.NOT_APPLICABLE, Reason.NO_ANSWER)
        points = Missing(State.NOT_APPLICABLE, Reason.UNANSWERABLE) if question.answerable == "no" else none
        return Fate(question, random.choice(get_args(NoAnswer)), 0, context, none, none, points)
    fate = Fate(question, None, random.randrange(90), context)
    if random.random() < 0.9:
        fate.reading = (
            random.choice(get_args(Form)),
            random.random() < 0.5,
            random.choice(get_args(Relevancy)),
        )
        words = tuple(random.choices(get_args(ClaimWord), [6, 2, 1, 1], k=random.randrange(5)))
        fate.claims = words if random.random() < 0.9 else _missing(random)
        if isinstance(context, Missing):
            fate.claims = context
    if question.answerable == "no" or not question.points:
        fate.points = Missing(State.NOT_APPLICABLE, Reason.UNLABELLED)
    elif random.random() < 0.9:
        fate.points = tuple(random.choices(get_args(PointWord), [6, 2, 1, 1], k=len(question.points)))
    else:
        fate.points = _missing(random)
    return fate


def _verdict(number: int, word: ClaimWord) -> Row:
    """What a judge said of a claim: with two quotes where it is supported, with a lost one where it is unverified."""
    quotes = [{"text": f"quote {n} for {number}", "passage": n, "start": 0, "end": 1} for n in (2, 1)]
    return {
        "number": number,
        "verdict": word,
        "judged": "SUPPORTED" if word == "UNVERIFIED" else word,
        "quotes": quotes if word == "SUPPORTED" else [],
        "lost_quotes": ["nowhere"] if word == "UNVERIFIED" else [],
        "why": f"because of {number}",
    }


def _step(fate: Fate, name: str, result: object) -> Step:
    if isinstance(result, Missing):
        return Step(state=result.state, reason=result.why)
    return Step(state=State.SCORED, key=fate.rows[name]["key"])


def save(fate: Fate, name: str, *, arrived: bool | None = None) -> Trail:
    """Make the rows behind a fate, and its line of the manifest."""
    question = fate.question

    def add(record: str, **columns: object) -> None:
        fate.rows[record] = {"key": digest([name, record, question.question_id]), **columns}

    if not isinstance(fate.answer, Missing):
        add("answer", no_answer=fate.answer, n_words=fate.n_words)
    if not isinstance(fate.reading, Missing):
        form, gives_answer, relevancy = fate.reading
        n_claims = 0 if isinstance(fate.claims, Missing) else len(fate.claims)
        claims = [{"number": n, "text": f"claim {n} of {name}, {question.question_id}"} for n in range(1, n_claims + 1)]
        add("reading", form=form, gives_answer=gives_answer, relevancy=relevancy, claims=claims)
    if not isinstance(fate.claims, Missing):
        add("grounding", verdicts=[_verdict(n, word) for n, word in enumerate(fate.claims, start=1)])
    if not isinstance(fate.points, Missing):
        quotes = {word: "" if word == "MISSING" else f"the answer on what is {word}" for word in fate.points}
        said = [{"number": n, "verdict": word, "quote": quotes[word]} for n, word in enumerate(fate.points, start=1)]
        add("correctness", verdicts=said)
    cell = find_cell(
        Facts(
            answerable=question.answerable,
            answer=fate.answer,
            abstained=fate.reading if isinstance(fate.reading, Missing) else bool(fate.abstained),
            correctness=fate.points
            if isinstance(fate.points, Missing)
            else tuple(
                PointFacts(
                    point_id=point.point_id,
                    verdict=word,
                    vital=point.vital,
                    arrival=Arrival(arrived=arrived, page_level=bool(arrived)),
                )
                for point, word in zip(question.points, fate.points, strict=True)
            ),
            claims=fate.claims,
            n_passages=fate.context if isinstance(fate.context, Missing) else 3,
        )
    )
    add("cell", **cell.model_dump(mode="json"))
    context = fate.context if isinstance(fate.context, Missing) else None
    return Trail(
        setup=name,
        question_id=question.question_id,
        question_key=question.question_key,
        ranking=Step(state=State.SCORED, key=digest("ranking")),
        context=Step(state=context.state, reason=context.why) if context else Step(state=State.SCORED),
        answer=_step(fate, "answer", fate.answer),
        reading=_step(fate, "reading", fate.reading),
        grounding=_step(fate, "grounding", fate.claims),
        correctness=_step(fate, "correctness", fate.points),
        cell=_step(fate, "cell", cell),
        context_tokens=None if isinstance(fate.context, Missing) else fate.context,
        no_answer=fate.answer if isinstance(fate.answer, str) else None,
    )


def make_database(
    root: Path,
    setups: dict[str, list[Fate]],
    asked: Sequence[AskedQuestion],
    *,
    arrived: Mapping[str, bool] = NOTHING_KNOWN,
) -> Database:
    store = Store(root)
    folder = RunFolder(store.runs_folder, "r")
    plan = Plan(
        run_id="r",
        inputs_id="i",
        workspace=str(root),
        started_at="2026-01-01",
        setups=tuple(PlannedSetup(setup=Setup(name=name)) for name in setups),
        judge=Judge(name="offline"),
        grading=Grading(),
        documents=(),
        n_questions=len(asked),
    )
    record = RunRecord(
        run_id="r",
        inputs_id="i",
        state="running",
        started_at="2026-01-01",
        until="attribute",
        setups=tuple(setups),
        judge="offline",
        reader_key="r",
        judge_key="j",
        points_key="j",
        trials={},
        n_questions=len(asked),
    )
    folder.create(plan, record, asked)
    for name, fates in setups.items():
        trails = [save(fate, name, arrived=arrived.get(fate.question.question_id)) for fate in fates]
        shard = Shard(workspace=str(root), run_id="r", setup=name, number=0, start=0, stop=len(fates))
        folder.write_trails(shard, trails)
        for kind in ("answer", "reading", "grounding", "correctness", "cell"):
            store.rows(kind).publish([fate.rows[kind] for fate in fates if kind in fate.rows])
    database = Database(store, [Pick("r", name) for name in setups])
    database.add_rows("retrieval_scores", [], RETRIEVAL)
    database.grade_by(Grading())
    database.run("answers")
    return database


def _expected(fates: Sequence[Fate]) -> dict[str, tuple[float | None, int]]:
    """Every number by its scalar definition."""
    answers = [fate.claims for fate in fates if not isinstance(fate.claims, Missing)]
    n_claims, n_telling = sum(map(len, answers)), sum(bool(words) for words in answers)
    points = [word for fate in fates if not isinstance(fate.points, Missing) for word in fate.points]
    tokens = [fate.context for fate in fates if not isinstance(fate.context, Missing)]
    words = [fate.n_words for fate in fates if not isinstance(fate.answer, Missing)]
    outcomes = [fate.outcome for fate in fates]
    graded = [o for o in outcomes if o.answerable == "yes" and o.labelled and (o.correct is not None or o.no_answer)]
    read = [outcome for outcome in outcomes if outcome.abstained is not None or outcome.no_answer]
    relevancies = [fate.reading[2] for fate in fates if not isinstance(fate.reading, Missing)]
    n_refused = sum(outcome.no_answer for outcome in outcomes)
    split = c.split_correct(outcomes)
    coverages = [
        0.0
        if outcome.no_answer and outcome.labelled and outcome.answerable != "no"
        else None
        if isinstance(fate.points, Missing)
        else c.coverage(fate.points)
        for fate, outcome in zip(fates, outcomes, strict=True)
    ]
    return {
        "context_tokens": (sum(tokens) / len(tokens) if tokens else None, len(tokens)),
        "claims": (n_claims if answers else None, len(answers)),
        "supported_rate": (g.supported_rate(answers), n_claims),
        "unverified_rate": (g.unverified_rate(answers), n_claims),
        "mean_groundedness": (g.mean_groundedness(answers), n_telling),
        "mean_groundedness_all": (g.mean_groundedness_all(answers), len(answers)),
        "answers_with_unsupported": (g.answers_with_unsupported(answers), n_telling),
        "covered_rate": (c.point_rate(points, word="COVERED"), len(points)),
        "partly_rate": (c.point_rate(points, word="PARTLY"), len(points)),
        "missing_rate": (c.point_rate(points, word="MISSING"), len(points)),
        "contradicted_rate": (c.point_rate(points, word="CONTRADICTED"), len(points)),
        "mean_coverage": (c.mean_coverage(coverages), len(coverages) - coverages.count(None)),
        "answer_words": (median(words) if words else None, len(words)),
        "correct_rate": (c.correct_rate(outcomes), len(graded)),
        "correct_grounded": (split.correct_grounded, len(graded)),
        "correct_not_grounded": (split.correct_not_grounded, len(graded)),
        "abstained_rate": (c.abstained_rate(outcomes), len(read)),
        "false_abstention_rate": (
            c.false_abstention_rate(outcomes),
            sum(outcome.answerable == "yes" for outcome in read),
        ),
        "answered_unanswerable_rate": (
            c.answered_unanswerable_rate(outcomes),
            sum(outcome.answerable == "no" for outcome in read),
        ),
        "relevancy_rate": (
            c.relevancy_rate(relevancies, n_no_answer=n_refused),
            len(relevancies) + n_refused,
        ),
    }


SIZES = [1, 1, 1, 2, 2, 3, 5, 8, 300]


@pytest.mark.parametrize(
    ("seed", "size"), list(enumerate(SIZES)), ids=[f"{n} questions, seed {i}" for i, n in enumerate(SIZES)]
)
def test_every_number_equals_its_scalar_definition(seed: int, size: int, tmp_path: Path) -> None:
    random = seeded(seed)
    asked = [draw_question(random, number) for number in range(size)]
    setups = {name: [draw_fate(random, question) for question in asked] for name in ("one", "two", "three")}
    database = make_database(tmp_path, setups, asked)
    found = {(row["setup"], row["metric"]): (row["value"], row["n"]) for row in database.run("comparison")}
    for name, fates in setups.items():
        for metric, expected in _expected(fates).items():
            value, n = found.pop((name, metric))
            assert (value, n) == (pytest.approx(expected[0], abs=1e-12), expected[1]), (name, metric)
    assert found == {}


def test_an_empty_group_is_null_with_a_count_of_zero(tmp_path: Path) -> None:
    asked = [draw_question(seeded(1), number) for number in range(3)]
    fates = [Fate(question, Missing(State.ERRORED, "Kind")) for question in asked]
    rows = make_database(tmp_path, {"failed": fates}, asked).run("comparison")
    assert {(row["value"], row["n"]) for row in rows} == {(None, 0)}
    assert len(rows) == len(_expected(fates))


@pytest.mark.parametrize("seed", range(3))
def test_cells_and_the_ledger_of_each_setup_add_up_to_the_questions_asked(seed: int, tmp_path: Path) -> None:
    random = seeded(seed)
    asked = [draw_question(random, number) for number in range(40)]
    setups = {name: [draw_fate(random, question) for question in asked] for name in ("one", "two")}
    database = make_database(tmp_path, setups, asked)
    cells: Counter[str] = Counter()
    stages: Counter[tuple[str, str]] = Counter()
    for row in database.run("cells"):
        cells[row["setup"]] += row["n"]
    for row in database.run("ledger"):
        stages[row["setup"], row["stage"]] += row["n"]
    assert cells == {"one": 40, "two": 40}
    assert set(stages.values()) == {40}
    assert len(stages) == 2 * 7


def test_other_thresholds_are_counted_as_the_scalars_would(tmp_path: Path) -> None:
    random = seeded(5)
    asked = [draw_question(random, number) for number in range(200)]
    fates = [draw_fate(random, question) for question in asked]
    (row,) = make_database(tmp_path, {"one": fates}, asked).run("thresholds")
    labelled = [fate for fate in fates if fate.question.answerable == "yes" and fate.question.points]
    for column, threshold in (("correct_rate_at_05", 0.5), ("correct_rate_at_10", 1.0)):
        right = [
            fate.judged is not None and bool(c.is_correct(fate.judged, threshold=threshold))
            for fate in labelled
            if fate.judged is not None or isinstance(fate.answer, str)
        ]
        assert row[column] == pytest.approx(sum(right) / len(right))
        assert row["n_correct"] == len(right)
