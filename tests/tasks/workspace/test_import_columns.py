"""Which column holds what, and how the nearest is named where one is missing."""

import pytest

from schemas.errors import InputError
from tasks.workspace.columns import map_columns

MAPPED: dict[str, tuple[list[str], list[str], dict[str, str], tuple[str, ...]]] = {
    "plain names": (
        ["question_id", "answer", "passages"],
        [],
        {"question_id": "question_id", "answer": "answer", "passages": "passages"},
        (),
    ),
    "ragas names": (
        ["user_input", "response", "retrieved_contexts", "retrieved_context_ids", "reference_contexts"],
        [],
        {
            "question": "user_input",
            "answer": "response",
            "passages": "retrieved_contexts",
            "passage_ids": "retrieved_context_ids",
            "reference_contexts": "reference_contexts",
        },
        (),
    ),
    "old ragas names": (
        ["question", "contexts", "answer", "ground_truths"],
        [],
        {"question": "question", "answer": "answer", "passages": "contexts", "reference": "ground_truths"},
        (),
    ),
    "capitals and spaces": (
        ["Retrieved Contexts", "OUTPUT"],
        [],
        {"answer": "OUTPUT", "passages": "Retrieved Contexts"},
        (),
    ),
    "of two names the first known counts": (["response", "answer"], [], {"answer": "answer"}, ("response",)),
    "by hand before known names": (["answer", "text"], ["answer=text"], {"answer": "text"}, ("answer",)),
    "left unused by hand": (["id", "query"], ["question_id="], {"question": "query"}, ("id",)),
    "an equals sign in a name": (["a=b"], ["answer=a=b"], {"answer": "a=b"}, ()),
}


@pytest.mark.parametrize(("there", "by_hand", "names", "unused"), MAPPED.values(), ids=MAPPED)
def test_mapping(there: list[str], by_hand: list[str], names: dict[str, str], unused: tuple[str, ...]) -> None:
    columns = map_columns(there, by_hand=by_hand, where="a.csv")
    assert (columns.names, columns.unused) == (names, unused)


def test_a_missing_column_names_the_nearest_and_what_is_known() -> None:
    columns = map_columns(["latency", "respons"], by_hand=(), where="a.csv")
    with pytest.raises(InputError) as caught:
        columns.need("answer")
    assert str(caught.value) == (
        "a.csv: no column holds the answer (the nearest there is: 'respons'). Allowed: answer, response, output. "
        "Rename it, or say which it is with: --column answer=respons."
    )


@pytest.mark.parametrize(
    ("by_hand", "said"),
    [
        pytest.param("answr=text", "Did you mean answer=text", id="a slip in our name"),
        pytest.param("answer", "answer=THEIRS", id="no equals sign"),
        pytest.param("answer=txt", "has no column 'txt'.*Did you mean 'text'", id="a slip in theirs"),
    ],
)
def test_mapping_by_hand_is_checked(by_hand: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        map_columns(["text"], by_hand=[by_hand], where="a.csv")
