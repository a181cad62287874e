"""The quote check: what is found and where, what is too short, what a verdict without evidence becomes."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.verdict import ClaimVerdict, JudgedClaim, JudgedWord, Quote
from tasks.text.quotes import VerdictsDoNotMatchClaimsError, check_evidence, find_quote
from tasks.text.words import words

PLAIN = "The Starter plan keeps logs for 3 days. The Team plan keeps them for 30 days. Backups are encrypted."
MARKED = "The **Starter** plan keeps “audit logs” for\n3 days — see [the docs](https://example.org/logs)."
TABLE = "# Limits\n\n| Plan | Events |\n|---|---|\n| Starter | 10,000 |\n| Team | **1M** |\n\nTeam is a plan.\n"
CODE = "Retries are off:\n\n```python\nretries = 0\nx = 1  # retries = 0 again\n```\n\nand retries = 0 in prose\n"


def found(quote: str, passage: str) -> list[str]:
    return [passage[start:end] for start, end in find_quote(quote, passage)]


@pytest.mark.parametrize(
    ("quote", "passage", "stretches"),
    [
        pytest.param("The Starter plan keeps logs", PLAIN, ["The Starter plan keeps logs"], id="verbatim"),
        pytest.param("the starter PLAN keeps logs", PLAIN, ["The Starter plan keeps logs"], id="another case"),
        pytest.param("  keeps logs for 3 days\n", PLAIN, ["keeps logs for 3 days"], id="space around"),
        pytest.param("“The Starter plan keeps logs”", PLAIN, ["The Starter plan keeps logs"], id="in curly quotes"),
        pytest.param('keeps "audit logs" for 3 days', MARKED, ["keeps “audit logs” for\n3 days"], id="quote marks"),
        pytest.param("The Starter plan keeps", MARKED, ["The **Starter** plan keeps"], id="Markdown in the passage"),
        pytest.param(
            "The *Starter* plan `keeps` logs", PLAIN, ["The Starter plan keeps logs"], id="Markdown in the quote"
        ),
        pytest.param("3 days - see the docs", MARKED, ["3 days — see [the docs"], id="dash and link"),
        pytest.param("The Starter plan keeps logs.", PLAIN, ["The Starter plan keeps logs"], id="stop put at the end"),
        pytest.param(
            "The Starter plan … for 30 days",
            PLAIN,
            ["The Starter plan", "for 30 days"],
            id="ellipsis, parts in order",
        ),
        pytest.param(
            "The Team plan [...] are encrypted", PLAIN, ["The Team plan", "are encrypted"], id="dots in brackets"
        ),
        pytest.param("… keeps logs for 3 days …", PLAIN, ["keeps logs for 3 days"], id="ellipsis around"),
        pytest.param("for 30 days … The Starter plan", PLAIN, [], id="parts in the wrong order"),
        pytest.param(
            "The Starter … 30 days", "The Starter a. The Starter b: 30 days", ["The Starter", "30 days"], id="parts"
        ),
        pytest.param(
            "Wait... then the job starts", "Wait... then the job starts", ["Wait... then the job starts"], id="dots"
        ),
        pytest.param("The Starter plan keeps logs forever", PLAIN, [], id="invented"),
        pytest.param("keeps logs", PLAIN, [], id="too short"),
        pytest.param("The … encrypted", PLAIN, [], id="parts that are too short together"),
        pytest.param("Backups … are encrypted now", PLAIN, [], id="a part that is not there"),
        pytest.param(
            "Backups … encrypted … The Team",
            PLAIN + " The Team pays.",
            ["Backups", "encrypted", "The Team"],
            id="short parts of a quote that is long enough",
        ),
        pytest.param("…", PLAIN, [], id="only an ellipsis"),
        pytest.param("", PLAIN, [], id="empty"),
        pytest.param("**--**", "a **--** b", [], id="only marks"),
        pytest.param("plan keeps logs for 3 da", PLAIN, [], id="cut inside a word"),
        pytest.param("limited events for all plans", "unlimited events for all plans", [], id="rest of a word"),
        pytest.param("the price is 1", "the price is 1.5", [], id="cut inside a decimal"),
        pytest.param("it holds up to 10", "it holds up to 10,000", [], id="cut inside thousands"),
        pytest.param(
            "encryption_at_rest_enabled",
            "set encryption_at_rest_enabled to on",
            ["encryption_at_rest_enabled"],
            id="20 characters",
        ),
        pytest.param("10,000", TABLE, ["10,000"], id="whole table cell"),
        pytest.param("1M", TABLE, ["1M"], id="whole table cell in bold"),
        pytest.param("Team", TABLE, ["Team"], id="whole cell, though prose has the word too"),
        pytest.param("Starter | 10,000", TABLE, ["Starter | 10,000"], id="two whole cells"),
        pytest.param("Limits", TABLE, ["Limits"], id="whole heading"),
        pytest.param("## Limits", "## Limits\n", ["## Limits"], id="heading with its hashes"),
        pytest.param("Limits", "Limits\n======\n", ["Limits"], id="underlined heading"),
        pytest.param("Limits", "**Limits**\n\ntext", ["Limits"], id="bold line"),
        pytest.param("Limits", "The Limits are", [], id="the same word in prose"),
        pytest.param("retries = 0", CODE, ["retries = 0"], id="whole code line"),
        pytest.param("x = 1", CODE, [], id="part of a code line"),
        pytest.param("x = 1", "text\n\n    x = 1\n", ["x = 1"], id="indented code line"),
        pytest.param("3 days", "<td>3 days</td>", ["3 days"], id="HTML table cell"),
        pytest.param("日志保留三十天", "企业版的日志保留三十天。", ["日志保留三十天"], id="Chinese, four words"),
        pytest.param("保留三十", "企业版的日志保留三十天。", [], id="Chinese, too short"),
        pytest.param(
            "ログは30日間保存されます", "ログは30日間保存されます。", ["ログは30日間保存されます"], id="Japanese"
        ),
        pytest.param("บันทึกถูกเก็บไว้สามวัน", "บันทึกถูกเก็บไว้สามวันเท่านั้น", ["บันทึกถูกเก็บไว้สามวัน"], id="Thai"),
        pytest.param("يتم حفظ السجلات لمدة", "يتم حفظ السجلات لمدة ثلاثة أيام", ["يتم حفظ السجلات لمدة"], id="Arabic"),
        pytest.param("लॉग तीन दिन तक", "सभी लॉग तीन दिन तक रखे जाते हैं", ["लॉग तीन दिन तक"], id="Hindi"),
        pytest.param(
            "größe der straße in metern", "Größe der Strasse in Metern", ["Größe der Strasse in Metern"], id="German"
        ),
        pytest.param(
            "cafe\u0301 au lait chaud", "un café au lait chaud", ["café au lait chaud"], id="composed and not"
        ),
    ],
)
def test_find(quote: str, passage: str, stretches: list[str]) -> None:
    assert found(quote, passage) == stretches


def test_of_each_part_the_place_nearest_to_the_next_is_taken() -> None:
    passage = "The plan is new. Other text. The plan is old and costs 5 dollars."
    assert [start for start, _ in find_quote("The plan is … costs 5 dollars", passage)] == [29, 49]


def judged(verdict: JudgedWord, *quotes: tuple[str, int], number: int = 1) -> JudgedClaim:
    evidence = tuple(Quote(text=text, passage=passage) for text, passage in quotes)
    return JudgedClaim(number=number, verdict=verdict, quotes=evidence, why="because")


def check(claim: str, said: JudgedClaim, *passages: str) -> ClaimVerdict:
    return check_evidence([claim], [said], passages)[0]


@pytest.mark.parametrize(
    ("claim", "said", "quote", "verdict"),
    [
        pytest.param("Starter logs stay.", "SUPPORTED", "The Starter plan keeps logs", "SUPPORTED", id="found"),
        pytest.param("Starter logs stay.", "SUPPORTED", "The Starter plan loses logs", "UNVERIFIED", id="invented"),
        pytest.param("Starter logs stay.", "SUPPORTED", "keeps logs", "UNVERIFIED", id="too short"),
        pytest.param(
            "Starter logs stay.", "NOT_SUPPORTED", "no such text at all", "NOT_SUPPORTED", id="needs no evidence"
        ),
        pytest.param(
            "Starter logs go.", "CONTRADICTED", "The Starter plan keeps logs", "CONTRADICTED", id="contradicted"
        ),
        pytest.param(
            "Starter logs go.", "CONTRADICTED", "not in the passage", "UNVERIFIED", id="contradicted by nothing"
        ),
        pytest.param("They stay 3 days.", "SUPPORTED", "keeps logs for 3 days", "SUPPORTED", id="number in the quote"),
        pytest.param(
            "They stay three days.", "SUPPORTED", "keeps logs for 3 days", "SUPPORTED", id="number in letters"
        ),
        pytest.param(
            "They stay 3 days.", "SUPPORTED", "The Starter plan keeps logs", "UNVERIFIED", id="number left out"
        ),
        pytest.param("They stay 5 days.", "SUPPORTED", "keeps logs for 3 days", "UNVERIFIED", id="another number"),
        pytest.param(
            "They stay 5 days.", "CONTRADICTED", "keeps logs for 3 days", "CONTRADICTED", id="number contradicted"
        ),
        pytest.param(
            "They stay 5 days.", "CONTRADICTED", "Backups are encrypted … x", "UNVERIFIED", id="no number against it"
        ),
        pytest.param(
            "Logs stay [1].", "SUPPORTED", "The Starter plan keeps logs", "SUPPORTED", id="a marker is no number"
        ),
        pytest.param("2. Logs stay.", "SUPPORTED", "The Starter plan keeps logs", "SUPPORTED", id="nor a list number"),
        pytest.param("Two plans keep logs.", "SUPPORTED", "The Starter plan keeps logs", "SUPPORTED", id="nor a count"),
    ],
)
def test_verdict(claim: str, said: JudgedWord, quote: str, verdict: str) -> None:
    checked = check(claim, judged(said, (quote, 1)), PLAIN)
    assert (checked.verdict, checked.judged, checked.why) == (verdict, said, "because")


def test_equal_numbers_are_written_in_many_ways() -> None:
    said = judged("SUPPORTED", ("it takes 10,000 events a month", 1))
    for number in ("10000", "10,000", "10k", "10 thousand", "10 000", "10_000"):
        assert check(f"It takes {number} events.", said, "it takes 10,000 events a month").verdict == "SUPPORTED"


def test_lost_quotes_are_kept_beside_the_found() -> None:
    said = judged(
        "SUPPORTED", ("no such words in here", 1), ("Backups are encrypted … years", 1), ("plan keeps logs for", 1)
    )
    checked = check("Logs stay.", said, PLAIN)
    assert checked.verdict == "SUPPORTED"
    assert checked.lost_quotes == ("no such words in here", "Backups are encrypted … years")
    assert [(quote.text, quote.passage, quote.start) for quote in checked.quotes] == [("plan keeps logs for", 1, 12)]


def test_numbers_of_a_claim_may_come_from_several_quotes() -> None:
    said = judged("SUPPORTED", ("keeps logs for 3 days", 1), ("keeps them for 30 days", 1))
    assert check("Logs stay 3 or 30 days.", said, PLAIN).verdict == "SUPPORTED"


def test_a_quote_from_another_passage_than_named_is_lost() -> None:
    checked = check("Logs stay.", judged("SUPPORTED", ("The Starter plan keeps logs", 1)), "Something else.", PLAIN)
    assert (checked.verdict, checked.lost_quotes) == ("UNVERIFIED", ("The Starter plan keeps logs",))


def test_parts_must_stand_in_one_passage() -> None:
    said = judged("SUPPORTED", ("The Starter plan … are encrypted today", 1))
    assert check("Logs stay.", said, PLAIN, "Backups are encrypted today.").verdict == "UNVERIFIED"


def test_verdicts_come_back_in_the_order_of_the_claims() -> None:
    said = [judged("NOT_SUPPORTED", number=2), judged("CONTRADICTED", number=1)]
    assert [verdict.judged for verdict in check_evidence(["a", "b"], said, [])] == ["CONTRADICTED", "NOT_SUPPORTED"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        pytest.param([judged("NOT_SUPPORTED")], "claim 2 has no verdict", id="one missing"),
        pytest.param(
            [judged("NOT_SUPPORTED"), judged("SUPPORTED"), judged("SUPPORTED", number=2)],
            "claim 1 has 2 verdicts",
            id="two for one",
        ),
        pytest.param([judged("SUPPORTED", number=n) for n in (1, 2, 3)], "there is no claim 3", id="one too many"),
        pytest.param(
            [judged("NOT_SUPPORTED", ("x", 3)), judged("SUPPORTED", number=2)],
            "claim 1 quotes passage 3 of 1",
            id="no such passage",
        ),
    ],
)
def test_reply_that_does_not_match(said: list[JudgedClaim], message: str) -> None:
    with pytest.raises(VerdictsDoNotMatchClaimsError, match=message) as caught:
        check_evidence(["a", "b"], said, ["passage"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert isinstance(caught.value, ValueError)


_PIECES = st.sampled_from([
    "Logs ",
    "are kept ",
    "for 3 days",
    ". ",
    "**Team** ",
    "“x” ",
    "| a | ",
    "\n",
    "# H\n",
    "日志保留",
    "…",
    "1.5 ",
])
_TEXTS = st.one_of(st.text(max_size=80), st.lists(_PIECES, max_size=20).map("".join))


@given(passage=_TEXTS, data=st.data())
def test_a_verbatim_stretch_of_whole_words_is_always_found(passage: str, data: st.DataObject) -> None:
    passage = f"Of all the plans {passage} no logs are lost"
    spans = words(passage)
    first = data.draw(st.integers(0, len(spans) - 8))
    last = data.draw(st.integers(first + 7, len(spans) - 1))
    quote = passage[spans[first].start : spans[last].end]
    assert find_quote(quote, passage)


@given(quote=_TEXTS, passage=_TEXTS)
def test_what_is_found_lies_in_the_passage_in_order(quote: str, passage: str) -> None:
    spans = find_quote(quote, passage)
    assert all(0 <= start < end <= len(passage) for start, end in spans)
    assert list(spans) == sorted(spans)


@given(claims=st.lists(_TEXTS, max_size=5), quote=_TEXTS, passage=_TEXTS)
def test_one_verdict_a_claim_and_no_evidence_no_support(claims: list[str], quote: str, passage: str) -> None:
    said = [judged("SUPPORTED", (quote, 1), number=number) for number in range(len(claims), 0, -1)]
    verdicts = check_evidence(claims, said, [passage])
    assert [verdict.number for verdict in verdicts] == list(range(1, len(claims) + 1))
    assert all(verdict.verdict == "UNVERIFIED" for verdict in verdicts if not verdict.quotes)
