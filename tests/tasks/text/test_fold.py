"""Folding: what is made equal, and that every folded range leads back."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.text.fold import fold


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        pytest.param("The LOG", "the log", id="case"),
        pytest.param("Straße", "strasse", id="case that grows"),
        pytest.param("a \t\n  b", "a b", id="white space runs"),
        pytest.param("a\u00a0b\u3000c", "a b c", id="wide and hard spaces"),
        pytest.param("“a” «b» „c‘ 'd'", "'a' 'b' 'c' 'd'", id="quote marks"),
        pytest.param("3–5 — six−7 -- x", "3-5 - six-7 - x", id="dashes"),
        pytest.param("**kept** for _3_ `days`", "kept for 3 days", id="Markdown emphasis and code"),
        pytest.param("a **b** c * d", "a b c d", id="marks between spaces leave one space"),
        pytest.param(r"max\_events", "maxevents", id="escaped underscore"),
        pytest.param("see [the docs](https://example.org/a_(b)) now", "see the docs now", id="link"),
        pytest.param('[a](b "title")', "a", id="link with a title"),
        pytest.param("ﬁle １２ ｱﾞ", "file 12 ア\u3099", id="ligature, full width, half width"),
        pytest.param("e\u0301te\u0301", "été", id="combining marks"),
        pytest.param("so\u00adft\u200b", "soft", id="invisible characters"),
        pytest.param("日志，保留：三天。", "日志,保留:三天。", id="full-width punctuation"),
        pytest.param("…", "...", id="ellipsis"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_folded(written: str, folded: str) -> None:
    assert fold(written).text == folded


@pytest.mark.parametrize(
    ("written", "part", "original"),
    [
        pytest.param("Kept  for **3 days**.", "for 3 days", "for **3 days", id="marks and spaces inside"),
        pytest.param("Große Straße", "strasse", "Straße", id="letter that folds to two"),
        pytest.param("cafe\u0301 au lait", "café", "cafe\u0301", id="two characters that fold to one"),
        pytest.param("see [the docs](u) now", "docs now", "docs](u) now", id="across a link target"),
    ],
)
def test_range_leads_back(written: str, part: str, original: str) -> None:
    folded = fold(written)
    at = folded.text.index(part)
    start, end = folded.original(at, at + len(part))
    assert written[start:end] == original


@pytest.mark.parametrize(("start", "end"), [(1, 1), (-1, 2), (0, 4), (2, 1)])
def test_no_such_range(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no such range"):
        fold("abc").original(start, end)


_PIECES = st.sampled_from([
    *"aB1.,!_*`[]()-–—'\"“”…\\ \t\n",
    *["e\u0301", "ß", "ﬁ", "ｶﾞ", "é", "İ", "日本", "ไม่", "नहीं", "\u200b", "](x y)", "Å", "한\u1100\u1161\u11a8"],
])
_TEXTS = st.one_of(st.text(max_size=30), st.lists(_PIECES, max_size=20).map("".join))


@given(text=_TEXTS, data=st.data())
def test_each_range_folds_to_what_holds_it(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    assume(folded.text and "](" not in text)  # A link target cut in two is none; then the exact look finds it.
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    a, b = folded.original(start, end)
    assert 0 <= a < b <= len(text)
    assert folded.text[start:end] in fold(text[a:b]).text


@given(text=_TEXTS)
def test_ranges_of_neighbours_do_not_cross(text: str) -> None:
    folded = fold(text)
    starts = [folded.original(at, at + 1).start for at in range(len(folded.text))]
    assert starts == sorted(starts)


@given(text=_TEXTS)
def test_case_space_and_emphasis_make_no_difference(text: str) -> None:
    plain = fold(f"x {text} x").text
    assert fold(f"X\n **{text}** X").text == plain


def test_five_megabytes_fold_in_linear_time() -> None:
    line = "The **Starter** plan — “logs” are kept for 3 days; see [docs](https://example.org). 日志保留三天。\n"
    # Processor time, which a busy machine does not stretch; a quadratic way would take hours.
    started = time.process_time()
    folded = fold(line * (5_000_000 // len(line)))
    assert time.process_time() - started < 30
    assert folded.text.startswith("the starter plan - 'logs' are kept")
