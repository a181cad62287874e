"""Nothing is computed twice: what an edit recomputes is what read the edited thing, and nothing else."""

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tasks.models import versions
from tasks.runs.prune import prune
from tests.small_workspace import Stored, Summary, run_all, stored, tables, totals, trails_of, walk_all

Edit = Callable[[Path], object]

JUDGED = {"grounding", "correctness", "cell"}
WRITTEN = {"answer", "reading", *JUDGED}
GIVEN = {"context", *WRITTEN}
RANKED = {"ranking", *GIVEN}


def _replace(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (name, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def _set(section: str, line: str) -> Edit:
    """Set a line of a section of v2's settings."""

    def edit(workspace: Path) -> None:
        path = workspace / "setups" / "v2.toml"
        name = line.partition(" ")[0]
        kept = [old for old in path.read_text(encoding="utf-8").splitlines() if not old.startswith(f"{name} ")]
        if f"[{section}]" not in kept:
            kept.append(f"[{section}]")
        kept.insert(kept.index(f"[{section}]") + 1, line)
        path.write_text("\n".join(kept), encoding="utf-8")

    return edit


def _point(change: Callable[[dict[str, Any]], object]) -> Edit:
    """Change the one key point of q2."""

    def edit(workspace: Path) -> None:
        path = workspace / "keypoints.json"
        points = json.loads(path.read_text(encoding="utf-8"))
        change(points["q2"][0])
        path.write_text(json.dumps(points), encoding="utf-8")

    return edit


def _question(change: Callable[[dict[str, Any]], object]) -> Edit:
    """Change question q2."""

    def edit(workspace: Path) -> None:
        path = workspace / "questions.jsonl"
        questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        change(next(question for question in questions if question["id"] == "q2"))
        path.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")

    return edit


def _grown(before: Stored, after: Stored) -> dict[str, int]:
    """How many rows each record gained."""
    for record, rows in before.items():
        assert rows.keys() <= after[record].keys()
    gained = {record: len(after[record]) - len(rows) for record, rows in before.items()}
    return {record: n for record, n in gained.items() if n}


def test_a_second_run_computes_nothing(
    done: Path,
    finished: tuple[Path, Summary],
) -> None:
    before = stored(done)
    second = run_all(done)
    stages = ["index", "retrieve", "generate", "judge-grounding", "judge-correctness", "attribute"]
    assert totals(second, "computed") == dict.fromkeys(stages, 0)
    # Six documents, eight questions, of which the unanswerable one has no correctness; three setups.
    assert totals(second, "reused") == dict(zip(stages, [18, 24, 24, 24, 21, 24], strict=True))
    assert totals(second, "failed") == dict.fromkeys(stages, 0)
    assert tables(second) == tables(finished[1])
    assert stored(done) == before


def test_a_first_run_counts_every_question_once(finished: tuple[Path, Summary]) -> None:
    computed, reused = totals(finished[1], "computed"), totals(finished[1], "reused")
    assert {stage: computed[stage] + reused[stage] for stage in computed} == {
        "index": 18,
        "retrieve": 24,
        "generate": 24,
        "judge-grounding": 24,
        "judge-correctness": 21,
        "attribute": 24,
    }


def test_a_store_copied_to_another_folder_still_hits(
    finished: tuple[Path, Summary],
    workspace: Path,
) -> None:
    shutil.copytree(finished[0] / "store", workspace / "store")
    assert set(totals(run_all(workspace), "computed").values()) == {0}


EDITS: dict[str, tuple[Edit, set[str]]] = {
    "sentences of the writer": (_set("writer", "sentences = 1"), WRITTEN),
    "passages of the writer": (_set("writer", "passages = 1"), {"answer", "cell"}),
    "k of the context": (_set("context", "k = 1"), GIVEN),
    "neighbours of the context": (_set("context", "neighbours = 2"), GIVEN),
    "a setting of the retriever": (_set("retrieval", "k1 = 0.4"), RANKED),
    "language of the retriever": (_set("retrieval", 'stemmer = "none"'), RANKED),
    "depth of the ranking": (_set("retrieval", "depth = 20"), {"ranking", "context", "cell"}),
    "splitting": (_set("splitting", "max_tokens = 32"), {"chunks", *RANKED}),
    "a threshold of grading": (lambda w: (w / "grading.toml").write_text("correct_at = 1.0"), {"cell"}),
    "a cut of grading": (lambda w: (w / "grading.toml").write_text("k = [2]"), set()),
    "a name of a setup": (lambda w: (w / "setups/v2.toml").rename(w / "setups/renamed.toml"), set()),
    "a comment in a setup": (lambda w: _replace(w, "setups/v2.toml", "[writer]", "# the writer\n[writer]"), set()),
    "a default written out": (_set("retrieval", "b = 0.75"), set()),
}


@pytest.mark.parametrize(("edit", "recomputed"), EDITS.values(), ids=EDITS)
def test_an_edited_setting_recomputes_from_its_stage_on(edit: Edit, recomputed: set[str], done: Path) -> None:
    before = stored(done)
    edit(done)
    walk_all(done)
    assert set(_grown(before, stored(done))) <= recomputed
    # What the edit leads to may come out as it was; the first stage that reads it is always asked again.
    first = [record for record in ("chunks", "ranking", "context", "answer", "cell") if record in recomputed][:1]
    assert set(first) <= set(_grown(before, stored(done)))


SEATS: dict[str, tuple[str, set[str]]] = {
    "another judge": ("OFFLINE_JUDGE", JUDGED),
    "another reader": ("OFFLINE_READER", {"reading", "cell"}),
    "another writer": ("OFFLINE_WRITER", {"answer", "cell"}),
}


@pytest.mark.parametrize(("seat", "recomputed"), SEATS.values(), ids=SEATS)
def test_a_new_version_of_a_seat_recomputes_what_it_makes(
    seat: str,
    recomputed: set[str],
    done: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stored(done)
    monkeypatch.setattr(versions, seat, 1_000)
    walk_all(done)
    after = stored(done)
    assert _grown(before, after) == {record: len(before[record]) for record in recomputed}


def test_grading_with_another_judge_makes_verdicts_only(
    done: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stored(done)
    monkeypatch.setattr(versions, "OFFLINE_JUDGE", 1_000)
    graded = run_all(done, grade_only=True)
    assert set(_grown(before, stored(done))) == JUDGED
    assert totals(graded, "failed")["attribute"] == 0
    assert totals(graded, "computed")["generate"] == 0


QUESTION_EDITS: dict[str, tuple[Edit, dict[str, int]]] = {
    "text of the question": (
        _question(lambda question: question.update(text="At what time do nightly backups start?")),
        {
            "question": 1,
            "ranking": 3,
            "context": 3,
            "answer": 3,
            "reading": 1,
            "grounding": 3,
            "correctness": 1,
            "cell": 3,
        },
    ),
    "gold of the question": (
        _question(lambda question: question.update(gold=[{"document": "backups.md"}])),
        {"question": 1, "cell": 3},
    ),
    "rule of the gold": (_question(lambda question: question.update(gold_rule="any")), {"question": 1, "cell": 3}),
    "tags of the question": (_question(lambda question: question.update(tags={"area": "x"})), {"question": 1}),
    "text of a point": (
        _point(lambda point: point.update(text="Backups start at 02:00 UTC every night.")),
        {"key_point": 1, "correctness": 1, "cell": 3},
    ),
    "gold of a point": (
        _point(lambda point: point.update(gold=[{"document": "limits.md"}])),
        {"key_point": 1, "cell": 3},
    ),
    "status of a point": (_point(lambda point: point.update(status="reviewed")), {"key_point": 1}),
    "weight of the only point, which is vital all the same": (
        _point(lambda point: point.update(weight="okay")),
        {"key_point": 1},
    ),
}


@pytest.mark.parametrize(("edit", "recomputed"), QUESTION_EDITS.values(), ids=QUESTION_EDITS)
def test_an_edited_question_or_point_recomputes_only_what_read_it(
    edit: Edit, recomputed: dict[str, int], done: Path
) -> None:
    before = stored(done)
    edit(done)
    walk_all(done)
    grown = _grown(before, stored(done))
    assert grown.keys() == recomputed.keys()
    assert all(grown[record] <= n for record, n in recomputed.items())


def test_marking_a_point_as_okay_costs_only_cells(done: Path) -> None:
    before = stored(done)
    path = done / "keypoints.json"
    points = json.loads(path.read_text(encoding="utf-8"))
    points["q3"][1]["weight"] = "okay"
    path.write_text(json.dumps(points), encoding="utf-8")
    walk_all(done)
    assert _grown(before, stored(done)) == {"key_point": 1, "cell": 3}


CORPUS_EDITS: dict[str, tuple[Edit, str]] = {
    "an edited document": (
        lambda w: _replace(w, "corpus/limits.md", "at most 4 terabytes", "at most 8 terabytes"),
        "document",
    ),
    "a new document": (
        lambda w: (w / "corpus/poem.md").write_text("# Xyzzy\n\nPlugh plover frobozz.\n"),
        "document",
    ),
    "re-chunking": (_set("splitting", "max_tokens = 40"), "chunks"),
}


@pytest.mark.parametrize(("edit", "record"), CORPUS_EDITS.values(), ids=CORPUS_EDITS)
def test_everything_is_ranked_anew_and_answers_whose_context_did_not_change_are_reused(
    edit: Edit, record: str, done: Path, finished: tuple[Path, Summary]
) -> None:
    rows = stored(done)
    before = trails_of(done, finished[1]["run_id"], "v2")
    edit(done)
    after = trails_of(done, walk_all(done), "v2")
    assert record in _grown(rows, stored(done))
    assert all(trail.ranking.new for trail in after.values())
    same = {name for name, trail in after.items() if trail.passages_digest == before[name].passages_digest}
    assert {name for name, trail in after.items() if not trail.answer.new} == same
    assert 0 < len(same) < len(after)


def test_pruning_keeps_the_documents_that_reused_contexts_were_cut_from(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No chunk changes, so neither does any ranking: its passages stand in the document as it was.
    path = done / "corpus" / "limits.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")
    walk_all(done)
    prune(done, keep_runs=1, older_than=timedelta(0), really=True)
    monkeypatch.setattr(versions, "OFFLINE_JUDGE", 1_000)
    assert set(totals(run_all(done), "failed").values()) == {0}


def test_stopping_early_and_going_on_later_computes_nothing_twice(workspace: Path) -> None:
    early = totals(run_all(workspace, until="generate"), "computed")
    assert set(early) == {"index", "retrieve", "generate"}
    later = totals(run_all(workspace), "computed")
    assert [later[stage] for stage in ("index", "retrieve", "generate")] == [0, 0, 0]
    assert later["judge-grounding"] > 0


def test_one_question_alone_computes_its_own_rows(workspace: Path) -> None:
    alone = totals(run_all(workspace, questions=("q2",), setups=("v1",)), "computed")
    assert alone == dict(zip(alone, [6, 1, 1, 1, 1, 1], strict=True))
    rest = run_all(workspace, setups=("v1",))
    assert totals(rest, "reused") == dict(zip(alone, [6, 1, 1, 1, 1, 1], strict=True))
