"""From ranks to contexts, and from imported passages to places."""

from itertools import pairwise

import pytest

from tasks.search.locate import Locator
from tasks.search.neighbours import Stretch, with_neighbours


def chunks(document: str, *borders: int) -> list[Stretch]:
    return [Stretch(document, a, b, a, b) for a, b in pairwise(borders)]


A, B = chunks("a", 0, 10, 20, 30, 40, 50), chunks("b", 0, 5, 9)


@pytest.mark.parametrize(
    ("ranked", "neighbours", "given"),
    [
        pytest.param([A[2]], 1, [("a", 10, 40)], id="one either side"),
        pytest.param([A[0]], 2, [("a", 0, 30)], id="the start of a document"),
        pytest.param([A[4], A[0]], 1, [("a", 0, 20), ("a", 30, 50)], id="apart: in reading order"),
        pytest.param([A[3], A[1]], 1, [("a", 0, 50)], id="touching: merged"),
        pytest.param([B[1], A[0]], 1, [("b", 0, 9), ("a", 0, 20)], id="documents by their best rank"),
        pytest.param([], 3, [], id="nothing ranked"),
    ],
)
def test_neighbours(ranked: list[Stretch], neighbours: int, given: list[tuple[str, int, int]]) -> None:
    found = with_neighbours(ranked, {"a": A, "b": B}, neighbours=neighbours)
    assert [stretch[:3] for stretch in found] == given


TEXTS = {"a.md": "Hello  big\nworld. The end", "b.md": "a big world, 天 地"}


@pytest.mark.parametrize(
    ("text", "document", "found"),
    [
        pytest.param("big world.", None, ("a.md", "big\nworld."), id="white space does not matter"),
        pytest.param("big world", None, ("a.md", "big\nworld"), id="in two documents: the first"),
        pytest.param("big world", "b.md", ("b.md", "big world"), id="in two documents: the one named"),
        pytest.param("天地", None, ("b.md", "天 地"), id="Chinese"),
        pytest.param("Hello", None, ("a.md", "Hello"), id="the first word"),
        pytest.param("end", None, ("a.md", "end"), id="the last word"),
        pytest.param("big world.", "b.md", None, id="not in the one named"),
        pytest.param("worldly", None, None, id="nowhere"),
        pytest.param("  ", None, None, id="nothing to find"),
        pytest.param("end a big", None, None, id="not across documents"),
    ],
)
def test_locate(text: str, document: str | None, found: tuple[str, str] | None) -> None:
    place = Locator(TEXTS).find(text, document=document)
    assert (place and (place.document, TEXTS[place.document][place.range.start : place.range.end])) == found


def test_a_document_nobody_knows_is_looked_for_everywhere() -> None:
    place = Locator(TEXTS).find("Hello", document="elsewhere.md")
    assert place is not None
    assert place.document == "a.md"
