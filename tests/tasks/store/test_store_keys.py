"""Keys: typed, canonical, complete, the same on every machine, and pinned."""

import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.store.keys import RECIPES, Material, digest, key, text_digest

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
MATERIALS: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
# An example of every recipe, with each kind of value somewhere; changing one of these digests recomputes (or
# worse, wrongly reuses) what people have saved, so it needs a new version in RECIPES and a line in the changelog.
PINNED = {
    "document": "b7257cca5d76fa605f05fd23470d49e7",
    "question": "d864622609687fb17f715cc07a68d3d7",
    "key_point": "3238179ec7f546e78b4919d4d096709d",
    "chunks": "9cdccfc9ae8f0a008ef3f5705418d2c7",
    "index": "036176e307e3af5f708b1981be7cff53",
    "ranking": "4b5ef8a15eae74448a5170354bd193e8",
    "context": "97ef8932fa6a0a2aafdef4be028a19da",
    "imported_ranking": "a60cfba0b772a3ee89365936224160f2",
    "imported_context": "1b4cc6ead58583a395b18f83cecf88ca",
    "answer": "0df2ca5f2ea0134463435d1b5a6be0c4",
    "reading": "f868e26613020c23b3e4892f86618a9d",
    "grounding": "2bb0838bf00093c42637cc8574ab27bf",
    "correctness": "229ac61b748855642637a40aa099baf1",
    "cell": "08e8ed25fb8185b0c7a5408349caa4b4",
    "reader": "b6028897cdc90a060bfa1c4fc8768156",
    "judge": "8f6169048e85461a9f57a4cb8729b8e0",
    "inputs": "f10d544f5d89635be4a2bdd92b314c0a",
}


def _typed(value: object) -> object:
    """A value with the types that `==` overlooks, floats by their sign too."""
    match value:
        case dict():
            return ("map", frozenset((name, _typed(item)) for name, item in value.items()))
        case list() | tuple():
            return ("list", tuple(_typed(item) for item in value))
        case float():
            return ("float", value.hex())
        case _:
            return (type(value).__name__, value)


@given(MATERIALS, MATERIALS)
def test_values_share_a_digest_exactly_when_they_are_the_same(one: Material, other: Material) -> None:
    assert (digest(one) == digest(other)) is (_typed(one) == _typed(other))


@given(st.dictionaries(st.text(max_size=3), SCALARS, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_a_mapping_does_not_matter(mapping: dict[str, Any], random: Random) -> None:
    names = list(mapping)
    random.shuffle(names)
    assert digest({name: mapping[name] for name in names}) == digest(mapping)


TRICKY: dict[str, list["Material | bytes"]] = {
    "one as integer, text, float, truth and bytes": [1, "1", 1.0, True, b"1"],
    "nothing, empty text, empty bytes, empty list, empty mapping, zero, false": [None, "", b"", [], {}, 0, False],
    "borders between texts": [["ab", "c"], ["a", "bc"], ["abc"], "abc", ["a", "b", "c"]],
    "nesting": [[[1], 2], [[1, 2]], [1, [2]], [1, 2]],
    "a mapping and the list of its entries": [{"a": 1}, [["a", 1]], ["a", 1]],
    "zeros of both signs": [0.0, -0.0],
    "composed and decomposed letters": ["é", "e\u0301"],
    "an encoding written out as text": ['"a"', "a", ['"a"'], '["a"]', "bytes:a", b"a", b'"a"'],
    "texts with half a surrogate pair": ["\ud800", "\ufffd", "?"],
}


@pytest.mark.parametrize("values", TRICKY.values(), ids=TRICKY)
def test_lookalikes_differ(values: list["Material | bytes"]) -> None:
    assert len({digest(value) for value in values}) == len(values)


def test_tuples_count_as_lists() -> None:
    assert digest((1, (2, "x"))) == digest([1, [2, "x"]])


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), {"a": {2}}, [b"a"]], ids=["set", "object", "set inside", "bytes inside"]
)
def test_what_has_no_canonical_order_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        digest(value)  # type: ignore[arg-type]


def test_every_input_of_every_recipe_changes_its_key() -> None:
    for record, recipe in RECIPES.items():
        inputs: dict[str, Material] = dict.fromkeys(recipe.inputs, "same")
        keys = {key(record, **inputs)} | {key(record, **{**inputs, name: "other"}) for name in recipe.inputs}
        assert len(keys) == 1 + len(recipe.inputs), record


def test_records_of_different_kinds_never_share_a_key() -> None:
    keys = {key(record, **dict.fromkeys(recipe.inputs)) for record, recipe in RECIPES.items()}
    assert len(keys) == len(RECIPES)


@pytest.mark.parametrize(
    "inputs",
    [{"document_id": "a"}, {"document_id": "a", "text_digest": "b", "path": "c"}],
    ids=["one missing", "one too many"],
)
def test_a_key_takes_exactly_its_recipe(inputs: dict[str, Material]) -> None:
    with pytest.raises(TypeError, match="made of"):
        key("document", **inputs)


def test_digests_are_pinned() -> None:
    assert digest({"a": [None, True, 1, 1.0, "é"]}) == "2aa473a4c32b33de635624e887fabd68"
    assert text_digest("30 days") == "de4fd463d9ba6093f2256b7f2d0720ce"


@pytest.mark.parametrize("record", RECIPES)
def test_the_key_of_a_record_is_pinned(record: str) -> None:
    assert _example(record) == PINNED[record]


def _example(record: str) -> str:
    return key(record, **{name: [name, 1, 0.5, None] for name in RECIPES[record].inputs})


def test_keys_agree_under_two_hash_seeds() -> None:
    script = (
        "from tasks.store.keys import RECIPES, digest, key\n"
        "print([key(r, **{n: [n, 1, 0.5, None] for n in RECIPES[r].inputs}) for r in RECIPES])\n"
        "print(digest({'b': 1, 'a': 2}))"
    )
    run = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    expected = [_example(record) for record in RECIPES]
    assert run == [f"{expected}\n{digest({'a': 2, 'b': 1})}\n"] * 2
