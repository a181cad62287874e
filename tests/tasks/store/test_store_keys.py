"""Keys: typed, canonical, complete, the same on every machine, and pinned."""

import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.store.keys import RECIPES, Material, digest, key, text_digest

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=8)
MATERIALS: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
# An example of every recipe, with each kind of value somewhere; changing one of these digests recomputes (or
# worse, wrongly reuses) what people have saved, so it needs a new version in RECIPES and a line in the changelog.
PINNED = {
    "document": "cc09705bdd0d6188a3143731ab9f2b9c",
    "question": "4606271df0b506628898869f13fa8407",
    "key_point": "16a37003f2331993fe7c5f41d7d4f891",
    "chunks": "fc186fd31243c66ae5a950a4e6976b81",
    "index": "cf69b77ef52eebe51c911583391d5f56",
    "ranking": "3046be91d9ea54370c58f73677c7a2eb",
    "context": "86c1ee83eff9b7dcdff500f015b9293b",
    "imported_ranking": "c42726c4d26222b7c806f005a72b4184",
    "imported_context": "0162a15832a00fde102d75e8dd38883c",
    "answer": "a70efaeb655e83ce1d1930c8d4393f0c",
    "reading": "8033895793b41fc306f52877ee3308a0",
    "grounding": "78df89c9bbfc63e93f9df44a917a5a38",
    "correctness": "ce6a99d21dab48d94291aa807d3462db",
    "cell": "6657a32846a1eb1fd1a3044815e9cdfe",
    "reader": "8d539a085ea497dc2457b7e10b1908aa",
    "judge": "05b5bff6b0691d2ae5e2033349e83b74",
    "inputs": "692348bb04ebc8364933e5c83ebb6802",
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


TRICKY: dict[str, list[Material]] = {
    "one as integer, text, float, truth and bytes": [1, "1", 1.0, True, b"1"],
    "nothing, empty text, empty bytes, empty list, empty mapping, zero, false": [None, "", b"", [], {}, 0, False],
    "borders between texts": [["ab", "c"], ["a", "bc"], ["abc"], "abc", ["a", "b", "c"]],
    "nesting": [[[1], 2], [[1, 2]], [1, [2]], [1, 2]],
    "a mapping and the list of its entries": [{"a": 1}, [["a", 1]], ["a", 1]],
    "zeros of both signs": [0.0, -0.0],
    "composed and decomposed letters": ["é", "e\u0301"],
    "an encoding written out as text": ["s1:a", "a", ["s1:a"]],
    "texts with half a surrogate pair": ["\ud800", "\ufffd", "?"],
}


@pytest.mark.parametrize("values", TRICKY.values(), ids=TRICKY)
def test_lookalikes_differ(values: list[Material]) -> None:
    assert len({digest(value) for value in values}) == len(values)


def test_tuples_count_as_lists() -> None:
    assert digest((1, (2, "x"))) == digest([1, [2, "x"]])


@pytest.mark.parametrize("value", [{1, 2}, object(), {"a": {2}}], ids=["set", "object", "set inside"])
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
    assert digest({"a": [None, True, 1, 1.0, "é", b"\x00"]}) == "72140b1c085afb8f8178e0561ca5aab3"
    assert text_digest("30 days") == "7ddd65f129ff7bcf68b8429528c99cc5"


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
