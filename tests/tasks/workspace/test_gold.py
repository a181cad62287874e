"""Gold is found once, in the full documents."""

import pytest

from schemas.document import Document
from schemas.errors import InputError
from schemas.gold import GoldEntry
from tasks.workspace.gold import GoldFinder

TEXT = "Team keeps logs  for 30 days.\n\nEnterprise keeps logs for 400 days. Backups: 30 days."
FINDER = GoldFinder({"plans.md": Document(document_id="plans.md", title="", text=TEXT)})


def resolve(**place: object) -> tuple[int | None, int | None, int | None, int | None]:
    gold = FINDER.resolve([GoldEntry.model_validate({"document": "plans.md", **place})], where="question q1")
    found = gold[0].places[0]
    return found.start, found.end, found.ink_start, found.ink_end


@pytest.mark.parametrize(
    ("place", "stretch"),
    [
        pytest.param({"quote": "400 days"}, "400 days", id="a quote that stands once"),
        pytest.param({"quote": "30 days", "occurrence": 2}, "30 days", id="the second occurrence"),
        pytest.param({"start": 0, "end": 4}, "Team", id="offsets"),
    ],
)
def test_spans_point_at_their_text_in_characters_and_in_ink(place: dict[str, object], stretch: str) -> None:
    start, end, ink_start, ink_end = resolve(**place)
    assert TEXT[start:end] == stretch
    assert "".join(TEXT.split())[ink_start:ink_end] == "".join(stretch.split())


def test_a_document_and_a_foreign_passage_have_no_place() -> None:
    assert resolve() == (None, None, None, None)
    gold = FINDER.resolve([GoldEntry(passage="p-17")], where="question q1")
    assert gold[0].places[0].target_id == "p-17"


def test_alternatives_follow_the_entry() -> None:
    entry = GoldEntry.model_validate({
        "document": "plans.md",
        "quote": "400 days",
        "alternatives": [{"document": "plans.md", "start": 0, "end": 4}],
    })
    assert [place.end for place in FINDER.resolve([entry], where="")[0].places] == [TEXT.index("400") + 8, 4]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        pytest.param({"quote": "300 days"}, "nearest text there is", id="a quote that is not there"),
        pytest.param({"quote": "30 days"}, "stands 2 times", id="a quote that stands twice"),
        pytest.param({"quote": "30 days", "occurrence": 3}, "has 2", id="an occurrence too many"),
        pytest.param({"start": 4, "end": 900}, "has 84 characters", id="a range outside"),
        pytest.param({"start": 29, "end": 31}, "holds no text", id="a range of white space"),
        pytest.param({"document": "plan.md"}, "Did you mean plans.md", id="an unknown document"),
    ],
)
def test_what_does_not_resolve_names_the_question(place: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        resolve(**place)
    assert "question q1" in str(caught.value)


def test_a_place_asked_twice_is_the_same_and_another_occurrence_is_not() -> None:
    first, again, second = (resolve(quote="30 days", occurrence=number) for number in (1, 1, 2))
    assert first == again
    assert first != second
