"""The offline judge on hand-checked claims and key points, and the laws it keeps."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.seats import Failure, GroundRequest, PointsRequest
from schemas.state import State
from schemas.verdict import ClaimVerdict, JudgedClaim, PointVerdict
from tasks.models import offline_judge
from tasks.models.offline_judge import OfflineJudge
from tasks.text.quotes import check_evidence

PLANS = """# Plans

| Plan | Log retention | Seats | SSO |
|---|---|---|---|
| Starter | 3 days | 1 | no |
| Team | 30 days | 10 | no |
| Enterprise | 1 year | unlimited | yes |
"""
COLUMNS = """| Feature | Starter | Team | Enterprise |
|---|---|---|---|
| Audit log | ✗ | ✗ | ✓ |
| Events per month | 10,000 | 1,000,000 | unlimited |
"""
PROSE = (
    "The Starter plan keeps logs for 3 days. The Team plan keeps logs for 30 days. Refunds are paid within five "
    "business days of a request. Exports are not available on the Starter plan. Backups are encrypted at rest."
)
CODE = "Set the limit in the client:\n\n```python\nclient = Client(max_events=500, retries=3)\n```\n"
LIMITS = """## Limits

Events are kept for 7 days. Replay jobs hold up to 10,000 events.

Exports run at night. Alerts are sent by email. One job runs at a time.
"""
SUPPORT = """## First response

| Plan | Severity 1 | Severity 3 |
|---|---|---|
| Team | 4 hours | 1 business day |
| Enterprise | 30 minutes | 8 business hours |
"""
FAQ = """## Questions

**Can stored events be moved?** No. They stay where they are until they expire.

**Does the limit apply to each workspace?** Yes, on every plan.
"""
SECTIONS = "## Starter\n\nKeeps the audit log for 7 days.\n\n## Team\n\nKeeps the audit log for 90 days.\n"


def ground(claims: list[str], passages: list[str]) -> tuple[ClaimVerdict, ...]:
    request = GroundRequest(question="?", claims=tuple(claims), passages=tuple(passages))
    [(position, judged, _)] = OfflineJudge().judge_grounding([request])
    assert position == 0
    assert not isinstance(judged, Failure)
    return check_evidence(claims, judged, passages)


def judge_point(point: str, answer: str) -> PointVerdict:
    request = PointsRequest(question="?", answer=answer, points=(point,))
    [(_, judged, _)] = OfflineJudge().judge_points([request])
    assert not isinstance(judged, Failure)
    return judged[0]


@pytest.mark.parametrize(
    ("claim", "passage", "verdict"),
    [
        pytest.param("The Starter plan keeps logs for 3 days.", PROSE, "SUPPORTED", id="as the passage says"),
        pytest.param("Logs are kept for 3 days on the Starter plan.", PROSE, "SUPPORTED", id="words in another order"),
        pytest.param("The Starter plan keeps logs for three days.", PROSE, "SUPPORTED", id="number in letters"),
        pytest.param("The Starter plan keeps logs for 5 days.", PROSE, "CONTRADICTED", id="number changed"),
        pytest.param("The Starter plan keeps logs for 3 weeks.", PROSE, "CONTRADICTED", id="unit changed"),
        pytest.param("The Starter plan keeps logs for 30 days.", PROSE, "CONTRADICTED", id="plan changed in prose"),
        pytest.param("It allows 100 calls an hour.", "It allows 100 calls a day.", "CONTRADICTED", id="period changed"),
        pytest.param(
            "API v3 supports webhooks.", "The API v2 supports webhooks.", "NOT_SUPPORTED", id="version changed"
        ),
        pytest.param("The Enterprise plan keeps logs for 30 days.", PROSE, "NOT_SUPPORTED", id="plan not in the text"),
        pytest.param("Exports are available on the Starter plan.", PROSE, "CONTRADICTED", id="negation dropped"),
        pytest.param("Backups are not encrypted at rest.", PROSE, "CONTRADICTED", id="negation added"),
        pytest.param("Backups are unencrypted at rest.", PROSE, "CONTRADICTED", id="opposite by prefix"),
        pytest.param("Backups are copied to three regions every night.", PROSE, "NOT_SUPPORTED", id="invented"),
        pytest.param(
            "Support tickets are resolved within five business days.", PROSE, "NOT_SUPPORTED", id="another subject"
        ),
        pytest.param("The Team plan has 10 seats.", PLANS, "SUPPORTED", id="table row"),
        pytest.param("Team keeps logs for 30 days.", PLANS, "SUPPORTED", id="table row, short"),
        pytest.param("Enterprise keeps logs for 30 days.", PLANS, "NOT_SUPPORTED", id="Team to Enterprise in a table"),
        pytest.param("SSO is available on Enterprise.", PLANS, "SUPPORTED", id="cell says yes"),
        pytest.param("SSO is available on Team.", PLANS, "CONTRADICTED", id="cell says no"),
        pytest.param("The audit log is available on Enterprise.", COLUMNS, "SUPPORTED", id="plans are columns"),
        pytest.param("The audit log is available on Team.", COLUMNS, "CONTRADICTED", id="plans are columns, no"),
        pytest.param("Team has 1000000 events per month.", COLUMNS, "SUPPORTED", id="number without separators"),
        pytest.param("Starter has 1,000,000 events per month.", COLUMNS, "NOT_SUPPORTED", id="Team to Starter, column"),
        pytest.param("The client has max_events=500.", CODE, "SUPPORTED", id="code line"),
        pytest.param("The client has max_events=900.", CODE, "NOT_SUPPORTED", id="code line, number changed"),
        pytest.param("Team keeps the audit log for 90 days.", SECTIONS, "SUPPORTED", id="name in the heading"),
        pytest.param("Starter keeps the audit log for 90 days.", SECTIONS, "CONTRADICTED", id="under another heading"),
        pytest.param(
            "企业版的日志保留三十天。", "团队版的日志保留三天。企业版的日志保留三十天。", "SUPPORTED", id="Chinese"
        ),
        pytest.param("企业版的日志保留90天。", "企业版的日志保留30天。", "CONTRADICTED", id="Chinese, number changed"),
        pytest.param("企业版可以导出发票。", "团队版的日志保留三天。", "NOT_SUPPORTED", id="Chinese, invented"),
        pytest.param("ログは30日間保存されます。", "ログは30日間保存されます。", "SUPPORTED", id="Japanese"),
        pytest.param(
            "يتم حفظ السجلات لمدة 30 يوما.", "يتم حفظ السجلات لمدة 30 يوما في الخطة.", "SUPPORTED", id="Arabic"
        ),
        pytest.param("लॉग 30 दिन तक रखे जाते हैं।", "सभी लॉग 30 दिन तक रखे जाते हैं।", "SUPPORTED", id="Hindi"),
        pytest.param(
            "Der Starter-Tarif speichert Protokolle drei Tage.",
            "Der Starter-Tarif speichert alle Protokolle für 3 Tage. Der Team-Tarif ist teurer und nicht kostenlos.",
            "SUPPORTED",
            id="German",
        ),
        pytest.param(
            "Der Team-Tarif speichert Protokolle 3 Tage.",
            "Der Starter-Tarif speichert alle Protokolle für 3 Tage und wird nicht berechnet.",
            "NOT_SUPPORTED",
            id="German, plan changed",
        ),
        pytest.param("Deleted logs are erased for good.", "Removed logs are gone for good.", "SUPPORTED", id="equals"),
        pytest.param(
            "Events are kept for 7 days and replay jobs hold up to 10,000 events, one at a time.",
            LIMITS,
            "SUPPORTED",
            id="three statements of one passage",
        ),
        pytest.param(
            "Severity 3 has a first response of 8 business hours on Enterprise.",
            SUPPORT,
            "SUPPORTED",
            id="number in the column header",
        ),
        pytest.param("Stored events can be moved.", FAQ, "CONTRADICTED", id="question answered with no"),
        pytest.param("The limit applies to each workspace.", FAQ, "SUPPORTED", id="question answered with yes"),
        pytest.param(
            "Live events with the same key may arrive between replayed ones.",
            "A replay is not ordered: live events with the same key may arrive between replayed ones.",
            "SUPPORTED",
            id="negation in another clause",
        ),
        pytest.param(
            "Test keys reach nothing but the sandbox.",
            "Test keys only reach the sandbox.",
            "SUPPORTED",
            id="nothing but",
        ),
        pytest.param(
            "Logs are kept for 9 days.",
            "Logs are kept for 3 days. Support answers within 9 days.",
            "CONTRADICTED",
            id="number that counts something else nearby",
        ),
        pytest.param("Anything at all is said here.", "", "NOT_SUPPORTED", id="empty passage"),
    ],
)
def test_claim(claim: str, passage: str, verdict: str) -> None:
    assert ground([claim], [passage])[0].verdict == verdict


@pytest.mark.parametrize(
    ("claim", "passages", "evidence"),
    [
        pytest.param(
            "The Team plan has 10 seats.", [PROSE, PLANS], [(2, "| Team | 30 days | 10 | no |")], id="whole table row"
        ),
        pytest.param(
            "The client has max_events=500.",
            [CODE],
            [(1, "client = Client(max_events=500, retries=3)")],
            id="code line",
        ),
        pytest.param(
            "Severity 3 has a first response of 8 business hours on Enterprise.",
            [SUPPORT],
            [(1, "| Enterprise | 30 minutes | 8 business hours |"), (1, "Severity 3")],
            id="table row and the header that holds a number",
        ),
        pytest.param(
            "Backups are encrypted at rest.", [PLANS, PROSE], [(2, "Backups are encrypted at rest.")], id="sentence"
        ),
        pytest.param(
            "The log is kept for 3 days in the cold store.",
            ["The log is kept in the store.", "Nothing here. The log is kept for 3 days. It lies in a cold store."],
            [(2, "The log is kept for 3 days. It lies in a cold store.")],
            id="two neighbouring sentences in one quote",
        ),
    ],
)
def test_evidence_is_copied_from_the_passage(claim: str, passages: list[str], evidence: list[tuple[int, str]]) -> None:
    verdict = ground([claim], passages)[0]
    assert verdict.judged == "SUPPORTED"
    assert not verdict.lost_quotes
    assert [(quote.passage, quote.text) for quote in verdict.quotes] == evidence


def test_a_passage_too_short_to_quote_leaves_a_claim_unverified() -> None:
    verdict = ground(["Refunds: see below."], ["See below: Refunds"])[0]
    assert (verdict.judged, verdict.verdict) == ("SUPPORTED", "UNVERIFIED")


def test_dublin_has_two_claims_of_which_one_is_supported() -> None:
    passages = ["Dublin is the capital of Ireland and lies on the east coast at the mouth of the Liffey."]
    claims = ["Dublin is the capital of Ireland.", "Dublin has a population of 1.5 million."]
    assert [verdict.verdict for verdict in ground(claims, passages)] == ["SUPPORTED", "NOT_SUPPORTED"]


def test_enterprise_page_does_not_speak_of_team() -> None:
    enterprise = "## Enterprise\n\nThe audit log is kept for 400 days on the Enterprise plan."
    claims = ["The audit log is kept for 400 days on the Enterprise plan.", "The Team plan keeps it for 400 days."]
    assert [verdict.verdict for verdict in ground(claims, [enterprise])] == ["SUPPORTED", "NOT_SUPPORTED"]


ANSWER = (
    "Logs are kept for 30 days on the Team plan [1]. You can export them as CSV at any time. "
    "Exports do not include deleted records."
)


@pytest.mark.parametrize(
    ("point", "verdict", "quote"),
    [
        pytest.param(
            "The Team plan keeps logs for 30 days.",
            "COVERED",
            "Logs are kept for 30 days on the Team plan [1].",
            id="said",
        ),
        pytest.param(
            "Exporting as CSV is possible at any time.",
            "COVERED",
            "You can export them as CSV at any time.",
            id="reworded",
        ),
        pytest.param(
            "Administrators can export as CSV and as Parquet at any time.",
            "PARTLY",
            "You can export them as CSV at any time.",
            id="half of it",
        ),
        pytest.param("Seats are billed monthly in advance.", "MISSING", "", id="not said"),
        pytest.param(
            "The Team plan keeps logs for 90 days.",
            "CONTRADICTED",
            "Logs are kept for 30 days on the Team plan [1].",
            id="another number",
        ),
        pytest.param(
            "Exports include deleted records.", "CONTRADICTED", "Exports do not include deleted records.", id="denied"
        ),
        pytest.param("30", "COVERED", "Logs are kept for 30 days on the Team plan [1].", id="a bare number"),
    ],
)
def test_point(point: str, verdict: str, quote: str) -> None:
    judged = judge_point(point, ANSWER)
    assert (judged.verdict, judged.quote) == (verdict, quote)


def test_each_claim_of_each_request_has_one_verdict_in_order() -> None:
    requests = [
        GroundRequest(question="?", claims=("Logs are kept.", "Seats are sold."), passages=(PROSE, PLANS)),
        GroundRequest(question="?", claims=(), passages=()),
    ]
    replies = {given.position: given.reply for given in OfflineJudge().judge_grounding(requests)}
    assert [[claim.number for claim in _verdicts(replies[at])] for at in (0, 1)] == [[1, 2], []]


def test_a_request_that_cannot_be_judged_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_claims = offline_judge._judge_claims

    def break_on_bad(request: GroundRequest) -> tuple[JudgedClaim, ...]:
        if request.question == "bad":
            msg = "no such thing"
            raise KeyError(msg)
        return judge_claims(request)

    monkeypatch.setattr(offline_judge, "_judge_claims", break_on_bad)
    requests = [GroundRequest(question=q, claims=("Logs are kept.",), passages=(PROSE,)) for q in ("bad", "good")]
    replies = {given.position: given.reply for given in OfflineJudge().judge_grounding(requests)}
    assert replies[0] == Failure(state=State.ERRORED, kind="KeyError", message="'no such thing'")
    assert len(_verdicts(replies[1])) == 1


def test_verdicts_are_the_same_under_every_hash_seed() -> None:
    code = (
        "from tasks.models.offline_judge import OfflineJudge; from schemas.seats import GroundRequest;"
        f"passages = ({PLANS!r}, {PROSE!r}); claims = ('Team keeps logs 3 days.', 'SSO is on.');"
        "r = GroundRequest(question='?', claims=claims, passages=passages);"
        "print([v.model_dump_json() for _, vs, _ in OfflineJudge().judge_grounding([r]) for v in vs])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1


def _verdicts(reply: tuple[JudgedClaim, ...] | Failure) -> tuple[JudgedClaim, ...]:
    assert not isinstance(reply, Failure)
    return reply


_SENTENCES = st.sampled_from([
    *[sentence.strip() + "." for sentence in PROSE.split(". ")],
    "Team keeps logs for 3 days.",
    "v2 needs no key",
    "企业版的日志保留30天。",
    "| Team | 30 days |",
    "# Heading",
    "x = 1",
])
_TEXTS = st.one_of(st.text(max_size=60), st.lists(_SENTENCES, max_size=4).map("\n".join))


@settings(max_examples=60, deadline=None)
@given(claims=st.lists(_TEXTS, max_size=4), passages=st.lists(_TEXTS, max_size=4))
def test_any_text_gets_one_verdict_a_claim_with_quotes_from_its_passage(claims: list[str], passages: list[str]) -> None:
    verdicts = ground(claims, passages)
    assert [verdict.number for verdict in verdicts] == list(range(1, len(claims) + 1))
    for verdict in verdicts:
        assert verdict.judged == "NOT_SUPPORTED" or all(text in "\n".join(passages) for text in verdict.lost_quotes)
        assert all(passages[quote.passage - 1][quote.start : quote.end] == quote.text for quote in verdict.quotes)


@settings(max_examples=60, deadline=None)
@given(claim=_TEXTS, passages=st.lists(_TEXTS, max_size=5), data=st.data())
def test_passage_order_changes_no_verdict(claim: str, passages: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(passages))
    assert ground([claim], passages)[0].judged == ground([claim], shuffled)[0].judged


@settings(max_examples=60, deadline=None)
@given(point=_TEXTS, answer=_TEXTS)
def test_any_point_gets_one_verdict_with_the_answers_own_words(point: str, answer: str) -> None:
    judged = judge_point(point, answer)
    assert judged.number == 1
    assert all(part in answer for part in judged.quote.split(" … "))


@settings(max_examples=30, deadline=None)
@given(claims=st.lists(_SENTENCES, min_size=2, max_size=4), passages=st.lists(_SENTENCES, min_size=1, max_size=3))
def test_a_verdict_does_not_depend_on_the_other_claims(claims: list[str], passages: list[str]) -> None:
    together = [verdict.judged for verdict in ground(claims, passages)]
    assert together == [ground([claim], passages)[0].judged for claim in claims]
