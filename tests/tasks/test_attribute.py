"""Where a quote stands in its document."""

import pytest

from tasks.attribute import _quote_place
from tasks.metrics.evidence import InkRange, PassagePlace

# "Two limits." at ink 100 to 110, "Ten each." at 200 to 208, joined by one "…".
TEXT = "Two limits.\n…\nTen each."
PASSAGE = PassagePlace("limits.md", (InkRange(100, 110), InkRange(200, 208)), "p7")


@pytest.mark.parametrize(
    ("quote", "ink"),
    [
        pytest.param("Two limits.", (InkRange(100, 110),), id="all of the first stretch"),
        pytest.param("limits", (InkRange(103, 109),), id="inside the first stretch"),
        pytest.param("Ten each.", (InkRange(200, 208),), id="all of the second stretch"),
        pytest.param("each", (InkRange(203, 207),), id="inside the second stretch"),
        pytest.param("limits.\n…\nTen", (InkRange(103, 110), InkRange(200, 203)), id="across both"),
        pytest.param("…", (), id="between them"),
    ],
)
def test_a_quote_stands_where_its_ink_stands(quote: str, ink: tuple[InkRange, ...]) -> None:
    start = TEXT.index(quote)
    place = _quote_place(PASSAGE, TEXT, {"start": start, "end": start + len(quote)})
    assert place == PassagePlace("limits.md", ink, "p7")


def test_a_quote_of_a_passage_without_a_place_has_the_document_only() -> None:
    assert _quote_place(PassagePlace("a.md"), "Ten each.", {"start": 0, "end": 3}) == PassagePlace("a.md")
