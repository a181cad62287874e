"""Words and stems in many scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.words import stem, stems, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("10,000 events at 99.95 %", ["10,000", "events", "at", "99.95"], id="numbers stay whole"),
        pytest.param("set max_events in v1.2.3", ["set", "max_events", "in", "v1.2.3"], id="names and versions"),
        pytest.param("don't, e-mail", ["don't", "e", "mail"], id="apostrophe and hyphen"),
        pytest.param("Zürich naïve", ["Zürich", "naïve"], id="accents"),
        pytest.param("हमें तीन दिन", ["हमें", "तीन", "दिन"], id="Hindi keeps its vowel signs"),
        pytest.param("ثلاثة أيام", ["ثلاثة", "أيام"], id="Arabic"),
        pytest.param("今日は10件", ["今日", "日は", "10", "件"], id="Japanese in pairs"),
        pytest.param("... --- !", [], id="no word"),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert [word.text for word in words(text)] == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Retries", "retry", id="number"),
        pytest.param("10,000", "10000", id="thousands separator"),
        pytest.param("ＴＥＡＭ", "team", id="full-width letters"),
        pytest.param("customer's", "customer", id="possessive"),
        pytest.param("STRASSE", "straße", id="case folding"),
    ],
)
def test_same_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@given(st.text(max_size=200))
def test_words_are_slices_in_order(text: str) -> None:
    found = words(text)
    assert all(text[word.start : word.end] == word.text for word in found)
    assert [word.start for word in found] == sorted(word.start for word in found)


@given(st.text(max_size=200))
def test_stems_are_the_stems_of_the_words(text: str) -> None:
    assert stems(text) == [stem(word.text) for word in words(text)]
