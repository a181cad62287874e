"""Tables beside the main one say of each row what became of it: cells, ledger, thresholds, claims, gold and views."""

from collections import Counter
from pathlib import Path

import pytest

from schemas.gold import GoldKind, GoldRule, ResolvedGold, ResolvedPlace
from schemas.plan import Shard
from schemas.question import Answerable, AskedPoint, AskedQuestion
from schemas.setup import Grading
from schemas.state import State
from schemas.trail import Step
from schemas.verdict import ClaimWord, PointWord
from tasks.explore import ask_sql, open_views
from tasks.metrics import correctness as c
from tasks.metrics import grounding as g
from tasks.metrics.cells import Missing
from tasks.store.database import Database, Pick
from tasks.store.keys import digest
from tasks.store.runs import RunFolder
from tasks.store.store import Store
from tests.tasks.test_compare_laws import RETRIEVAL, Fate, draw_fate, draw_question, make_database, save, seeded


def test_every_question_is_in_its_cell_with_reason_and_owner(tmp_path: Path) -> None:
    random = seeded(6)
    asked = [draw_question(random, number) for number in range(120)]
    fates = [draw_fate(random, question) for question in asked]
    arrived = {question.question_id: n % 2 == 0 for n, question in enumerate(asked)}
    database = make_database(tmp_path, {"one": fates}, asked, arrived=arrived)
    found = {(row["label"], row["reason"], row["owner"], row["page_level"]): row["n"] for row in database.run("cells")}
    cells = [fate.rows["cell"] for fate in fates]
    assert found == Counter((cell["label"], cell["reason"], cell["owner"], cell["page_level"]) for cell in cells)
    assert {page_level for _, _, _, page_level in found} == {False, True}


def _with_cell_step(root: Path, step: Step) -> Database:
    """One question, whose attribute stage ended so."""
    asked = [draw_question(seeded(1), 1)]
    fate = Fate(asked[0], None)
    make_database(root, {"one": [fate]}, asked)
    trail = save(fate, "one")
    trail.cell = step
    store = Store(root)
    shard = Shard(workspace=str(root), run_id="r", setup="one", number=0, start=0, stop=1)
    RunFolder(store.runs_folder, "r").write_trails(shard, [trail])
    database = Database(store, [Pick("r", "one")])
    database.add_rows("retrieval_scores", [], RETRIEVAL)
    database.grade_by(Grading())
    database.run("answers")
    return database


def test_a_question_whose_attribute_stage_failed_is_undetermined(tmp_path: Path) -> None:
    (row,) = _with_cell_step(tmp_path, Step(state=State.ERRORED, reason="Kind")).run("cells")
    assert (row["label"], row["reason"], row["owner"], row["n"]) == ("undetermined", "attribute: errored", "nobody", 1)


def test_a_question_that_no_stage_labelled_yet_is_in_no_cell(tmp_path: Path) -> None:
    database = _with_cell_step(tmp_path, Step())
    assert database.run("cells") == []
    (row,) = [row for row in database.run("ledger") if row["stage"] == "cell"]
    assert (row["state"], row["reason"], row["n"]) == ("not run", None, 1)


def test_the_ledger_says_why_and_counts_failures_by_state(tmp_path: Path) -> None:
    random = seeded(7)
    asked = [draw_question(random, number) for number in range(120)]
    fates = [draw_fate(random, question) for question in asked]
    rows = make_database(tmp_path, {"one": fates}, asked).run("ledger")
    found = {(row["stage"], row["state"], row["reason"]): row["n"] for row in rows}
    expected: Counter[tuple[str, str, str | None]] = Counter()
    for fate in fates:
        results = {
            "answer": fate.answer,
            "context": fate.context,
            "reading": fate.reading,
            "grounding": fate.claims,
            "correctness": fate.points,
        }
        expected.update([("ranking", "scored", None), ("cell", "scored", None)])
        for stage, result in results.items():
            if isinstance(result, Missing):
                why = result.why if result.state is State.NOT_APPLICABLE else None
                expected[stage, str(result.state), why] += 1
            else:
                expected[stage, "scored", None] += 1
    assert found == expected


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (None, ("scored", None)),
        ("unanswerable", ("not_applicable", "unanswerable")),
        ("unlabelled", ("not_applicable", "unlabelled")),
        ("unresolved", ("not_applicable", "unresolved")),
        ("passages_not_recorded", ("not_applicable", "passages_not_recorded")),
        ("an earlier stage has no result", ("blocked", None)),
    ],
)
def test_gold_in_context_is_in_the_ledger(reason: str | None, told: tuple[str, str | None], tmp_path: Path) -> None:
    asked = [draw_question(seeded(1), 1)]
    database = make_database(tmp_path, {"one": [Fate(asked[0], None)]}, asked)
    score = {"place": 0, "setup": "one", "question_id": "q1", "value": None, "reason": reason}
    other = {**score, "metric": "mrr", "reason": "no_ranking"}
    database.add_rows("retrieval_scores", [{**score, "metric": "context_recall"}, other], RETRIEVAL)
    (row,) = [row for row in database.run("ledger") if row["stage"] == "gold in context"]
    assert (row["state"], row["reason"], row["n"]) == (*told, 1)


def test_means_of_retrieval_leave_out_what_has_no_value(tmp_path: Path) -> None:
    asked = [draw_question(seeded(1), number) for number in range(3)]
    database = make_database(tmp_path, {"one": [Fate(question, None) for question in asked]}, asked)
    values = [(1.0, None), (0.5, None), (None, "unlabelled")]
    rows = [
        {"place": 0, "setup": "one", "question_id": f"q{n}", "metric": "mrr", "value": value, "reason": reason}
        for n, (value, reason) in enumerate(values)
    ]
    database.add_rows("retrieval_scores", rows, RETRIEVAL)
    (row,) = [row for row in database.run("comparison") if row["metric"] == "mrr"]
    assert (row["value"], row["n"]) == (0.75, 2)


IN_CELL = {"faithful_but_wrong", "ignored_evidence", "faithful_to_wrong_passage", "improvised"}


def test_questions_that_other_thresholds_would_move(tmp_path: Path) -> None:
    """Only those in the four cells, whose column is whether the answer is grounded."""
    words: list[tuple[ClaimWord, ...]] = [
        ("SUPPORTED",) * 10,
        ("SUPPORTED",) * 9 + ("NOT_SUPPORTED",),
        ("SUPPORTED",) * 9 + ("CONTRADICTED",),
        ("SUPPORTED",) * 8 + ("NOT_SUPPORTED",) * 2,
        ("SUPPORTED",) * 7 + ("NOT_SUPPORTED",) * 3,
    ]
    points: list[tuple[PointWord, ...]] = [("MISSING",), ("COVERED",)]
    asked = [
        AskedQuestion(
            question_id=f"q{number}",
            question_key=digest(number),
            text="",
            answerable="yes",
            gold_rule="all",
            points=(AskedPoint(point_id="p", point_key=digest("p"), text="", vital=True, status="draft"),),
        )
        for number in range(len(words) * len(points))
    ]
    cases = [(claims, said) for said in points for claims in words]
    fates = [
        Fate(question, None, 1, 3, ("FULL", True, "ADDRESSES"), claims, said)
        for question, (claims, said) in zip(asked, cases, strict=True)
    ]
    arrived = {question.question_id: n % 2 == 0 for n, question in enumerate(asked)}
    (row,) = make_database(tmp_path, {"one": fates}, asked, arrived=arrived).run("thresholds")
    assert {fate.rows["cell"]["label"] for fate in fates[: len(words)]} == IN_CELL
    wrong = [
        (claims, fate.rows["cell"])
        for fate, (claims, _) in zip(fates, cases, strict=True)
        if fate.rows["cell"]["label"] in IN_CELL
    ]
    assert row["n_in_cells"] == len(wrong) == len(words)
    for column, threshold in (("change_at_08", 0.8), ("change_at_10", 1.0)):
        moved = [
            claims
            for claims, cell in wrong
            if g.is_grounded(claims, n_passages=3, threshold=threshold) != cell["grounded"]
        ]
        assert row[column] == len(moved) == 1


@pytest.mark.parametrize(
    ("words", "okay", "rates"),
    [
        pytest.param(("COVERED",), (), (1, 1), id="covered"),
        pytest.param(("PARTLY",), ("PARTLY",), (1, 0), id="what is okay to leave out adds nothing"),
        pytest.param(("COVERED",) * 4 + ("PARTLY",), (), (1, 0), id="nine tenths are not all"),
        pytest.param(("COVERED",) * 9 + ("MISSING",), (), (0, 0), id="a vital point missing"),
        pytest.param(("COVERED",), ("CONTRADICTED",), (0, 0), id="an okay point contradicted"),
    ],
)
def test_correct_at_other_thresholds(
    words: tuple[PointWord, ...], okay: tuple[PointWord, ...], rates: tuple[float, float], tmp_path: Path
) -> None:
    points = tuple(
        AskedPoint(point_id=f"p{n}", point_key=digest(n), text="", vital=n < len(words), status="draft")
        for n in range(len(words) + len(okay))
    )
    question = AskedQuestion(
        question_id="q1", question_key=digest("q1"), text="", answerable="yes", gold_rule="all", points=points
    )
    fate = Fate(question, None, 1, 3, ("FULL", True, "ADDRESSES"), (), words + okay)
    (row,) = make_database(tmp_path, {"one": [fate]}, [question]).run("thresholds")
    assert (row["correct_rate_at_05"], row["correct_rate_at_10"], row["n_correct"]) == (*rates, 1)
    expected = [c.is_correct(fate.judged or [], threshold=threshold) for threshold in (0.5, 1.0)]
    assert list(rates) == expected


ORDER = ["CONTRADICTED", "UNVERIFIED", "NOT_SUPPORTED"]


def test_unsupported_claims_are_listed_the_contradicted_ones_first(tmp_path: Path) -> None:
    random = seeded(8)
    asked = [draw_question(random, number) for number in range(40)]
    setups = {name: [draw_fate(random, question) for question in asked] for name in ("two", "one")}
    database = make_database(tmp_path, setups, asked)
    database.run("claims")
    expected = [
        (place, ORDER.index(word), fate.question.question_id, n, name)
        for place, (name, fates) in enumerate(setups.items())
        for fate in fates
        if not isinstance(fate.claims, Missing)
        for n, word in enumerate(fate.claims, start=1)
        if word != "SUPPORTED"
    ]
    found = database.run("unsupported")
    assert [(row["setup"], row["verdict"], row["question_id"], row["number"]) for row in found] == [
        (name, ORDER[turn], question_id, n) for _, turn, question_id, n, name in sorted(expected)
    ]
    for row in found:
        assert row["claim"] == f"claim {row['number']} of {row['setup']}, {row['question_id']}"
        assert row["question"] == f"question {row['question_id'].removeprefix('q')}"
        assert row["judged"] == ("SUPPORTED" if row["verdict"] == "UNVERIFIED" else row["verdict"])
        assert row["lost_quotes"] == (["nowhere"] if row["verdict"] == "UNVERIFIED" else [])
        assert row["why"] == f"because of {row['number']}"


def test_views_show_what_the_quote_check_left_of_the_judges_word_and_quotes_where_there_are_any(tmp_path: Path) -> None:
    random = seeded(10)
    asked = [draw_question(random, number) for number in range(20)]
    fates = [draw_fate(random, question) for question in asked]
    make_database(tmp_path / "store", {"one": fates}, asked)
    found = ask_sql(open_views(tmp_path), "SELECT question_id, number, verdict FROM claims").rows()
    expected = [
        (fate.question.question_id, n, word)
        for fate in fates
        if not isinstance(fate.claims, Missing)
        for n, word in enumerate(fate.claims, start=1)
    ]
    assert Counter(found) == Counter(expected)
    assert "UNVERIFIED" in {word for _, _, word in expected}
    points = ask_sql(open_views(tmp_path), "SELECT DISTINCT verdict, quote FROM points").rows()
    assert ("MISSING", None) in points
    assert ("COVERED", "the answer on what is COVERED") in points
    assert all((quote is None) == (word == "MISSING") for word, quote in points)
    # One row for each quote, and one for a verdict that has none.
    found = ask_sql(open_views(tmp_path), "SELECT question_id, number, verdict, quote FROM verdicts").rows()
    assert Counter(found) == Counter(
        (question_id, n, word, quote)
        for question_id, n, word in expected
        for quote in ([f"quote {one} for {n}" for one in (2, 1)] if word == "SUPPORTED" else [None])
    )


def test_a_run_that_was_cut_short_has_scores_of_what_it_reached(tmp_path: Path) -> None:
    asked = [draw_question(seeded(1), number) for number in range(3)]
    make_database(tmp_path / "store", {"one": [Fate(question, None) for question in asked[:2]]}, asked)
    found = ask_sql(open_views(tmp_path), "SELECT DISTINCT question_id FROM scores ORDER BY ALL").rows()
    assert found == [("q0",), ("q1",)]


def test_five_supported_verdicts_are_drawn_to_be_read_and_five_others(tmp_path: Path) -> None:
    random = seeded(9)
    asked = [draw_question(random, number) for number in range(40)]
    database = make_database(tmp_path, {"one": [draw_fate(random, question) for question in asked]}, asked)
    database.run("claims")
    rows = database.run("verdicts_to_read")
    assert [row["verdict"] == "SUPPORTED" for row in rows] == [True] * 5 + [False] * 5
    for row in rows[:5]:
        number = row["claim"].split()[1]
        assert (row["quote"], row["passage"]) == (f"quote 2 for {number}", 2)
    assert {row["quote"] for row in rows[5:]} == {None}


SPAN: tuple[GoldKind, ...] = ("span",)


def _with_gold(
    number: int, *entries: tuple[GoldKind, ...], rule: GoldRule = "all", answerable: Answerable = "yes"
) -> AskedQuestion:
    """A question with so many entries of gold, each with a place of each of its kinds."""
    question = draw_question(seeded(1), number)
    gold = [ResolvedGold(places=tuple(ResolvedPlace(kind=kind, target_id="d") for kind in kinds)) for kinds in entries]
    return question.model_copy(update={"gold": tuple(gold), "gold_rule": rule, "answerable": answerable})


def test_what_recall_is_measured_against_is_counted_once_for_all_setups(tmp_path: Path) -> None:
    asked = [
        _with_gold(1, SPAN),
        _with_gold(2, *[SPAN] * 4),
        _with_gold(3, *[SPAN] * 2, rule="any", answerable="unknown"),
        _with_gold(4),
        _with_gold(5, *[SPAN] * 7, answerable="no"),
        _with_gold(6, ("passage",)),
        _with_gold(7, SPAN, ("document",)),
        _with_gold(8, ("span", "document")),
    ]
    fates = {name: [Fate(question, None) for question in asked] for name in ("one", "two")}
    rows = make_database(tmp_path, fates, asked).run("gold")
    assert [tuple(row.values()) for row in rows] == [
        ("document, span", "all", 2, 1.5),
        ("passage", "all", 1, 1.0),
        ("span", "all", 2, 2.5),
        ("span", "any", 1, 2.0),
    ]
