"""What the README says of the built-in workspace is what a run of it says."""

import pytest

from tasks.compare import Comparison
from tasks.explore import ask_sql, open_views
from tasks.summary import summarize
from tests.readme_blocks import README, SLICES, TOUR, blocks, filled, run_built_in


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return run_built_in(tmp_path_factory.mktemp("readme") / "data")


def test_generated_blocks_are_up_to_date(comparison: Comparison) -> None:
    text = README.read_text(encoding="utf-8")
    assert filled(text, blocks(comparison)) == text, "run: make readme"


def value(comparison: Comparison, setup: str, metric: str) -> float:
    found = summarize(comparison)["setups"][setup]["metrics"][metric]["value"]
    assert isinstance(found, float)
    return found


def test_what_the_tour_says_of_the_setups(comparison: Comparison) -> None:
    def of(setup: str, metric: str) -> float:
        return value(comparison, setup, metric)

    assert of("v1", "recall@5") > of("v2", "recall@5")
    assert of("v1", "recall@2000t") < of("v2", "recall@2000t")
    assert all(of("w1", metric) == of("v2", metric) for metric in ("recall@5", "recall@2000t", "mrr"))
    assert of("w1", "context_recall") > of("v2", "context_recall")
    assert of("v1", "abstained_rate") == 0
    assert of("v1", "answered_unanswerable_rate") == 1
    for setup in ("v1", "v2", "w1"):
        assert of(setup, "supported_rate") > 0.9
        assert of(setup, "correct_rate") < 0.2
    assert of("assistant", "correct_rate") > 0.5


def test_the_tour_visits_every_cell_that_fails(comparison: Comparison) -> None:
    cells = {row["label"] for row in comparison.database.run("cells")}
    assert len(TOUR) == len(cells - {"correct"}) == 7


@pytest.mark.parametrize("title", SLICES)
def test_every_slice_has_rows(comparison: Comparison, title: str) -> None:
    assert ask_sql(open_views(comparison.workspace), SLICES[title]).rows()
