"""Claims and declared non-claims: hand-checked answers, and the law that no character is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.text.claims import Split, split_claims

PIECES = st.lists(
    st.sampled_from(
        [
            "\n", "\n\n", " ", "\t", "> ", "- ", "* ", "1. ", "# ", "```", "|", "|---|", "---", "[1]", "[2, 3]", "(", ")", ",", ".", "...", "!",
            "?", ";", ":", "Sure!", "According to the documentation, ", "The docs do not say ", "but ", "X is 5", "Team", "Yes.", "**", "_", "`",
            "<br>", "[a](b)", "[1](u)", "。", "「", "」", "保留", "؟", "हाँ।", "e.g. ", "Sources:", "(Source: ", "Here are ", "the limits:",
            "    code", "\r\n", "\x0b", "\x00", "\u200b", "𝒳", ", according to the docs", "42", "•", "[^1]:", "【1†s】", "I hope this helps.",
            "although ", "&amp;", "\\", "\\[1\\]",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip

LONG_ANSWER = """\
Sure! Here's how retention works on each plan:

## Retention

According to the documentation, **Starter keeps events for 3 days** [1]; Team 7 days [2]; Business 30 days [1, 3].

| Plan | Price |
|:-----|------:|
| Starter | $0 [1] |
| Team | $20/mo |

### Limits

The limits are:

- 10 requests per second
- **Burst:** 50 requests per second. After that you get a `429 Too Many Requests`.
- Per plan:
  - Team: 100k events
  - Business: 1M events

To rotate a key, run:

```bash
nl keys rotate --grace 24h
# old key [0] stays valid
```

The documentation does not mention whether rotation can be automated, but there is an endpoint at `/v1/keys` [5].

Which plan are you on? I hope this helps!

**Sources:**
- [1] retention.md
"""


def texts(answer: str) -> list[str]:
    return [claim.text for claim in split_claims(answer).claims]


def declared(answer: str) -> list[tuple[str, str]]:
    return [
        (part.kind, answer[part.start : part.end]) for part in split_claims(answer).non_claims if part.kind != "space"
    ]


def assert_accounted(text: str, split: Split) -> None:
    ranges = [(part.start, part.end) for part in split.non_claims]
    ranges += [(stretch.start, stretch.end) for claim in split.claims for stretch in claim.stretches]
    done = 0
    for start, end in sorted(ranges):
        assert start == done < end
        done = end
    assert done == len(text)
    assert [claim.number for claim in split.claims] == list(range(1, len(split.claims) + 1))


def test_a_long_answer() -> None:
    assert texts(LONG_ANSWER) == [
        "Starter keeps events for 3 days",
        "Team keeps events for 7 days",
        "Business keeps events for 30 days.",
        "Plan: Starter; Price: $0",
        "Plan: Team; Price: $20/mo",
        "The limits are: 10 requests per second",
        "The limits are: Burst: 50 requests per second.",
        "After that you get a `429 Too Many Requests`.",
        "The limits are: Per plan: Team: 100k events",
        "The limits are: Per plan: Business: 1M events",
        "nl keys rotate --grace 24h\n# old key [0] stays valid",
        "there is an endpoint at `/v1/keys`.",
    ]
    assert declared(LONG_ANSWER) == [
        ("greeting", "Sure!"),
        ("heading", "Here's how retention works on each plan:"),
        ("heading", "## Retention"),
        ("coverage", "According to the documentation,"),
        ("marker", "[1]"),
        ("marker", "[2]"),
        ("marker", "[1, 3]"),
        ("heading", "| Plan | Price |"),
        ("heading", "|:-----|------:|"),
        ("marker", "[1]"),
        ("heading", "### Limits"),
        ("heading", "The limits are:"),
        ("heading", "Per plan:"),
        ("heading", "To rotate a key, run:"),
        ("heading", "```bash"),
        ("heading", "```"),
        ("coverage", "The documentation does not mention whether rotation can be automated, but"),
        ("marker", "[5]"),
        ("question", "Which plan are you on?"),
        ("greeting", "I hope this helps!"),
        ("marker", "**Sources:**"),
        ("marker", "-"),
        ("marker", "[1]"),
        ("marker", "retention.md"),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("", [], id="an empty answer"),
        pytest.param(" \n\t", [], id="white space only"),
        pytest.param("Josh Hutcherson", ["Josh Hutcherson"], id="a bare name is the answer"),
        pytest.param("Yes", ["Yes"], id="a bare yes is the answer"),
        pytest.param("Team keeps 7 days. Business keeps 30.", ["Team keeps 7 days.", "Business keeps 30."], id="two sentences, two claims"),
        pytest.param("Starter keeps 3 days; Team 7 days; Business 30 days.", ["Starter keeps 3 days", "Team keeps 7 days", "Business keeps 30 days."], id="a shared verb is carried"),
        pytest.param("Retention: Starter 3 days; Team 7 days.", ["Retention: Starter 3 days", "Retention: Team 7 days."], id="a shared label is carried"),
        pytest.param("Starter costs $5; Team 10 seats.", ["Starter costs $5", "Team 10 seats."], id="no verb is carried to another unit"),
        pytest.param("It supports A, B; C, D; and E.", ["It supports A, B; C, D; and E."], id="parts that state nothing stay together"),
        pytest.param("It holds (a is 1; b is 2).", ["It holds (a is 1; b is 2)."], id="a semicolon in brackets does not part"),
        pytest.param("- Virginia\n- Ohio", ["Virginia", "Ohio"], id="bullets without an intro"),
        pytest.param("Supported:\n\n1. CSV\n\n2. JSON", ["Supported: CSV", "Supported: JSON"], id="a loose list under an intro"),
        pytest.param("Steps to rotate a key\n1. Open it.", ["Steps to rotate a key: Open it."], id="an intro without a colon"),
        pytest.param("Here is a summary of the points:\n- Fast", ["Fast"], id="a mere announcement is not joined"),
        pytest.param("## Limits\n- 5 GB\n- The API allows ten requests per second.", ["Limits: 5 GB", "The API allows ten requests per second."], id="a heading leads short bullets in"),
        pytest.param("- Symptoms, such as:\n- cough\n- Doctors recommend that tests are done.", ["Symptoms, such as: cough", "Doctors recommend that tests are done."], id="a flattened nested list"),
        pytest.param("1. **Rotate the key**\nOpen the console.", ["Rotate the key: Open the console."], id="a bold label and its text"),
        pytest.param("Some countries include:\n\nIndia\nKenya", ["Some countries include: India", "Some countries include: Kenya"], id="plain lines under an intro"),
        pytest.param("|  | Team |\n|---|---|\n| SSO | No |", ["SSO: Team: No"], id="a table whose first column has no name"),
        pytest.param("| a | b |\n| 1 | 2 |", ["a; b", "1; 2"], id="a table without a delimiter row"),
        pytest.param("> Team keeps its\n> events.", ["Team keeps its events."], id="a quote's marks are not text"),
        pytest.param("Yes. Team supports SSO.", ["Yes. Team supports SSO."], id="yes goes with its sentence"),
        pytest.param("Yes.\n\nTeam supports SSO.", ["Yes. Team supports SSO."], id="yes goes to the next paragraph"),
        pytest.param("Team keeps 7 days. Not more.", ["Team keeps 7 days. Not more."], id="a fragment goes to its neighbour"),
        pytest.param("Use the trial. It is free.", ["Use the trial.", "It is free."], id="a short sentence stays"),
        pytest.param("It is 5 [1], not 6 [2].", ["It is 5, not 6."], id="markers leave no gap"),
        pytest.param("It is 5 (see [1] and [2]).", ["It is 5."], id="brackets around markers go too"),
        pytest.param("It is 5 (source: plans.md). See [the docs](a.md).", ["It is 5.", "See the docs."], id="a source note and a link"),
        pytest.param("**Bold** and _it_ with `a*b*c`.", ["Bold and it with `a*b*c`."], id="emphasis goes, code stays"),
        pytest.param("According to the documentation, X is 5.", ["X is 5."], id="a leading coverage clause is cut"),
        pytest.param("The documentation states that X is 5.", ["X is 5."], id="and so is a reporting one"),
        pytest.param("X is 5, according to the docs.", ["X is 5"], id="and a trailing one"),
        pytest.param("The docs do not say X, but Y is 5.", ["Y is 5."], id="what stands beside a denial is kept"),
        pytest.param("Although the docs do not say so, Y is 5.", ["Y is 5."], id="also behind a concession"),
        pytest.param("The API does not support pages.", ["The API does not support pages."], id="a product's denial is a claim"),
        pytest.param("团队版保留七天[1]。商业版保留三十天。", ["团队版保留七天。", "商业版保留三十天。"], id="Chinese"),
        pytest.param("ドキュメントによると、7日間保存します。", ["7日間保存します。"], id="Japanese"),
        pytest.param("الخطة تحفظ 7 أيام. الثانية تحفظ 30 يوما.", ["الخطة تحفظ 7 أيام.", "الثانية تحفظ 30 يوما."], id="Arabic"),
        pytest.param("यह 7 दिन रखता है। वह 30 दिन रखता है।", ["यह 7 दिन रखता है।", "वह 30 दिन रखता है।"], id="Hindi"),
        pytest.param("Laut der Dokumentation sind es z. B. 7 Tage.", ["sind es z. B. 7 Tage."], id="German"),
        pytest.param("D'après la documentation, il y a 7 jours.", ["il y a 7 jours."], id="French"),
    ],
)  # fmt: skip
def test_claims(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected
    assert_accounted(answer, split_claims(answer))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Great question!", "greeting"),
        ("I hope this helps!", "greeting"),
        ("Let me know if you have any other questions.", "greeting"),
        ("Ich hoffe, das hilft!", "greeting"),
        ("N'hésitez pas à demander.", "greeting"),
        ("希望这对您有帮助！", "greeting"),
        ("Which plan do you use?", "question"),
        ("你用的是哪个版本？", "question"),
        ("The documentation does not say how long.", "coverage"),
        ("I couldn't find any information about refunds.", "coverage"),
        ("Refunds are not mentioned in the provided context.", "coverage"),
        ("There is no information about refunds in the docs.", "coverage"),
        ("The passages provided only discuss the Business plan.", "coverage"),
        ("I don't know.", "coverage"),
        ("Die Dokumentation enthält keine Angaben dazu.", "coverage"),
        ("La documentación no menciona reembolsos.", "coverage"),
        ("文档没有提到退款。", "coverage"),
        ("企業版については記載がありません。", "coverage"),
        ("## Limits", "heading"),
        ("[1]", "marker"),
    ],
)
def test_what_states_nothing(answer: str, kind: str) -> None:
    assert texts(answer) == []
    assert {found for found, _ in declared(answer)} == {kind}


def test_restatements_share_one_claim() -> None:
    split = split_claims("The limit is 5. It is fast. In short, the limit is 5!")
    assert [claim.text for claim in split.claims] == ["The limit is 5.", "It is fast."]
    assert [len(claim.stretches) for claim in split.claims] == [2, 1]


def test_a_marker_inside_a_sentence_makes_two_stretches() -> None:
    answer = "X is 5 [1] and Y is 6."
    (claim,) = split_claims(answer).claims
    assert [answer[s.start : s.end] for s in claim.stretches] == ["X is 5", "and Y is 6."]


def test_a_bullets_stretch_is_the_bullet_alone() -> None:
    answer = "The limits are:\n- 10 requests"
    (claim,) = split_claims(answer).claims
    assert [answer[s.start : s.end] for s in claim.stretches] == ["10 requests"]


@pytest.mark.parametrize("list_head", ["## Sources", "Sources:", "**References:**"])
def test_a_list_of_sources_claims_nothing(list_head: str) -> None:
    assert texts(f"Team keeps 7 days.\n\n{list_head}\n\n- [1] Plans\n- Retention") == ["Team keeps 7 days."]


def test_advice_is_no_claim_once_the_sources_are_said_to_be_silent() -> None:
    assert texts("The docs don't say. Please contact support for help.") == []
    assert texts("Please contact support to raise the limit to 10.") == [
        "Please contact support to raise the limit to 10."
    ]


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), PIECES))
def test_every_character_is_accounted_for_exactly_once(text: str) -> None:
    split = split_claims(text)
    assert_accounted(text, split)
    assert split == split_claims(text)


@given(PIECES)
def test_claims_are_readable_and_stretches_trimmed(text: str) -> None:
    for claim in split_claims(text).claims:
        assert claim.text == claim.text.strip() != ""
        assert all(text[s.start : s.end].strip() == text[s.start : s.end] for s in claim.stretches)


def test_a_claim_splits_into_itself() -> None:
    for text in texts(LONG_ANSWER):
        if "\n" not in text and ";" not in text:
            assert texts(text) == [text]


@pytest.mark.parametrize(
    "unit",
    [
        "Team keeps 7 days [1]. ",
        "- item of 5\n",
        "Yes. ",
        "保留三天。",
        "(a. B ",
        "[1",
        "`a ",
        "**a ",
        "The docs do not say x, but ",
    ],
)
def test_time_grows_with_length_only(unit: str) -> None:
    split = split_claims(unit * (40_000 // len(unit)))
    assert_accounted(unit * (40_000 // len(unit)), split)
