"""Sentence borders where answers make them hard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.sentences import find_sentences, language_of


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("See the docs, e.g. this one.", id="e.g. inside"),
        pytest.param("It is short, i.e. under a page.", id="i.e. inside"),
        pytest.param("It takes approx. 5 days.", id="approx. before a number"),
        pytest.param("Use v1.2.3 or Python 3.11 for this.", id="versions"),
        pytest.param("The value is 3.14 and not 9. 6 million.", id="decimals, one torn"),
        pytest.param("Support closes at 5 p.m. daily.", id="p.m. and lower case"),
        pytest.param("It ran at 10 a.m. Monday.", id="a.m. and a day"),
        pytest.param("See Fig. 2 and No. 5 of Vol. 3.", id="abbreviations before numbers"),
        pytest.param("J. K. Rowling met George W. Bush.", id="initials"),
        pytest.param("Mr. Smith and Dr. Jones agree.", id="titles"),
        pytest.param("The U.S. Government decides.", id="U.S. before a name"),
        pytest.param("Open config.yaml in Node.js now.", id="file and product names"),
        pytest.param("Go to https://a.io/b.html?x=1 for it.", id="web address"),
        pytest.param("Use pandas.Series here.", id="a dotted name is no missing space"),
        pytest.param("Set `a. B. C` to 3.", id="inline code"),
        pytest.param("It holds (see sec. 3. It matters) much.", id="a stop in brackets"),
        pytest.param('"Is it free?" he asked.', id="a quoted question goes on"),
        pytest.param("Wait... what now", id="dots and lower case"),
        pytest.param("Das kostet z. B. 5 Euro am 3. Oktober.", id="German abbreviations and ordinals"),
        pytest.param("「はい。」と言った。", id="a Japanese quote goes on"),
        pytest.param("no stop at all", id="no stop"),
    ],
)
def test_one_sentence(text: str) -> None:
    assert [text[start:end] for start, end in find_sentences(text)] == [text]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(["Kept 7 days. [1] ", "Next."], id="a marker behind the stop stays with its sentence"),
        pytest.param(["Kept 7 days.[1][2] ", "Next [3]. ", "Last【4†a】."], id="markers of several forms"),
        pytest.param(["Restart it.", "Then go."], id="a missing space"),
        pytest.param(["It is 3.14.", "The rest follows."], id="a missing space after a decimal"),
        pytest.param(["It takes 5 s. ", "Use v1.2.3. ", "It works."], id="units and versions at the end"),
        pytest.param(["He left at 5 p.m. ", "We stayed."], id="p.m. ends it before a plain beginning"),
        pytest.param(["Choose plan B. ", "The rest is free."], id="a letter that is no initial"),
        pytest.param(["Really?! ", "Yes!! ", "No… ", "Maybe."], id="runs of stops"),
        pytest.param(['He said "Go." ', "Then (left.) ", "Next."], id="quotes and brackets close behind the stop"),
        pytest.param(["**Bold.** ", "**Next** one. ", "*It.* ", "End."], id="emphasis stays with its sentence"),
        pytest.param(["Steps: 1. Open it. ", "2. Click it. ", "3. Done."], id="an inline list"),
        pytest.param(["Team: 7\n", "Business: 30\n", "Starter: 3"], id="lines are sentences"),
        pytest.param(
            ["The Team plan keeps its events for seven days and\nthen deletes them all. ", "Next."],
            id="wrapped lines are not",
        ),
        pytest.param(["保留三天。", "他说「好。」", "再见！", "真的吗？"], id="Chinese"),
        pytest.param(["ما هو؟ ", "هذا كتاب. ", "نعم!"], id="Arabic"),
        pytest.param(["यह है। ", "वह है॥ ", "हाँ।"], id="Hindi"),
        pytest.param(["yes it is. ", "the second one too."], id="no capitals"),
    ],
)
def test_several_sentences(parts: list[str]) -> None:
    text = "".join(parts)
    assert [text[start:end] for start, end in find_sentences(text)] == parts


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("保留三天", "zh"),
        ("三日間です", "ja"),
        ("ثلاثة أيام", "ar"),
        ("तीन दिन", "hi"),
        ("Drei Tage", "en"),
        ("", "en"),
    ],
)
def test_language_follows_the_script(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.one_of(st.text(max_size=200), st.text(alphabet='aB1 .!?…。"()[]*_`\n-', max_size=120)))
def test_ranges_cover_the_text_without_gaps(text: str) -> None:
    found = find_sentences(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(start < end for start, end in found)
