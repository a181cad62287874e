"""What a review costs the next run: an edit of a point's text judges the answers to its question anew, and no others."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.workspace.point_lists import replace_list
from tasks.workspace.review import Action, Review, open_review
from tests.small_workspace import Stored, Summary, run_all, stored, trails_of

Do = Callable[[Review], Action | None]
SETUPS = ("v1", "v2", "w1")


def reviewed(workspace: Path, do: Do) -> Action:
    """Do one thing to the second point of q3, as `keypoints review` does."""
    review, known = open_review(
        workspace, ["q3"], who="Ana", every=True, now=lambda: datetime(2026, 11, 30, tzinfo=UTC)
    )
    review.next()
    before = review.lists["q3"]
    action = do(review)
    assert action is not None
    replace_list(workspace, known, "q3", before=before, after=review.lists["q3"])
    return action


def grown(before: Stored, after: Stored) -> dict[str, int]:
    gained = {record: len(after[record].keys() - rows.keys()) for record, rows in before.items()}
    return {record: n for record, n in gained.items() if n}


def judged_anew(workspace: Path, run_id: str, stage: str) -> set[tuple[str, str]]:
    """Setups and questions whose row of this stage is not the one of the run before."""
    return {
        (setup, name)
        for setup in SETUPS
        for name, trail in trails_of(workspace, run_id, setup).items()
        if getattr(trail, stage).new
    }


def keys(workspace: Path, run_id: str, stage: str) -> dict[tuple[str, str], str | None]:
    return {
        (setup, name): getattr(trail, stage).key
        for setup in SETUPS
        for name, trail in trails_of(workspace, run_id, setup).items()
    }


TEXTS: dict[str, Do] = {
    "an edit": lambda review: review.edit("Backups are deleted without any notice.", "clearer"),
    "a split": lambda review: review.split(["Backups are deleted.", "Nobody is told."], "two things"),
    "a drop": lambda review: review.drop("trivial"),
}


@pytest.mark.parametrize("do", TEXTS.values(), ids=TEXTS)
def test_a_changed_text_judges_only_the_answers_to_its_question_anew(
    do: Do, done: Path, finished: tuple[Path, Summary]
) -> None:
    rows, first = stored(done), finished[1]["run_id"]
    reviewed(done, do)
    run_id = run_all(done)["run_id"]
    changed = {(setup, "q3") for setup in SETUPS}
    for stage in ("correctness", "cell"):
        old, new = keys(done, first, stage), keys(done, run_id, stage)
        assert {place for place in old if old[place] != new[place]} == changed, stage
    for stage in ("ranking", "context", "answer", "reading", "grounding"):
        assert keys(done, first, stage) == keys(done, run_id, stage), stage
        assert judged_anew(done, run_id, stage) == set(), stage
    assert grown(rows, stored(done)).keys() <= {"key_point", "correctness", "cell"}
    # Setups that gave the same answer share the judgement.
    n_answers = len({key for (_, name), key in keys(done, run_id, "correctness").items() if name == "q3"})
    assert grown(rows, stored(done))["correctness"] == n_answers


FREE: dict[str, tuple[Do, set[str]]] = {
    "accepting": (lambda review: review.accept(), {"key_point"}),
    "marking": (lambda review: review.mark("nice to know"), {"key_point", "cell"}),
}


@pytest.mark.parametrize(("do", "recomputed"), FREE.values(), ids=FREE)
def test_accepting_and_marking_judge_nothing_anew(
    do: Do, recomputed: set[str], done: Path, finished: tuple[Path, Summary]
) -> None:
    rows = stored(done)
    reviewed(done, do)
    run_id = run_all(done)["run_id"]
    assert set(grown(rows, stored(done))) == recomputed
    assert keys(done, finished[1]["run_id"], "correctness") == keys(done, run_id, "correctness")


def test_undoing_an_edit_takes_back_what_it_cost(done: Path, finished: tuple[Path, Summary]) -> None:
    reviewed(done, TEXTS["an edit"])
    run_all(done)
    rows = stored(done)
    reviewed(done, lambda review: review.undo())
    run_id = run_all(done)["run_id"]
    # The rows of the old text are still there.
    assert grown(rows, stored(done)) == {}
    assert keys(done, finished[1]["run_id"], "cell") == keys(done, run_id, "cell")
