"""Our seats against the stub: what they send is a request of the real API, and what they make of its replies holds."""

import json
from collections.abc import Iterator
from pathlib import Path

import llm_comply  # type: ignore[import-untyped]
import pytest

from schemas.claude import ClaudeJudgeSettings, ClaudeReaderSettings, ClaudeWriterSettings
from schemas.seats import Failure, GroundRequest, PointsRequest, ReadRequest, WriteRequest
from schemas.state import State
from tasks.models.claude.budget import Budget
from tasks.models.claude.desk import Desk
from tasks.models.claude.judge import ClaudeJudge
from tasks.models.claude.reader import ClaudeReader
from tasks.models.claude.writer import ClaudeWriter
from tasks.store.journal import Journal
from tests.small_workspace import DOCUMENTS
from tests.stub.server import StubServer
from tests.stub.settings import Fault, FaultKind

MODEL = "claude-sonnet-4-6"
QUESTION = "How long does the audit log keep entries on the Team plan?"
PASSAGES = (DOCUMENTS["plans/audit-log.md"], DOCUMENTS["backups.md"])
ANSWER = "On the Team plan the audit log keeps entries for 90 days [doc 1].\n\nIt is sealed with wax."
CLAIMS = ("On the Team plan the audit log keeps entries for 90 days.", "It is sealed with wax.")
SPEC_PATH = Path(llm_comply.__file__).with_name("specs") / "anthropic.json"

pytestmark = pytest.mark.filterwarnings("ignore:jsonschema.RefResolver:DeprecationWarning")


@pytest.fixture
def desk(stub: StubServer, tmp_path: Path) -> Iterator[Desk]:
    journal = Journal(tmp_path / "journal")
    yield Desk(journal, budget=Budget(None), owner="test")
    journal.close()


@pytest.fixture
def judge(stub: StubServer, desk: Desk) -> ClaudeJudge:
    settings = ClaudeJudgeSettings(provider="anthropic", model=MODEL, base_url=stub.url)
    return ClaudeJudge(settings, "Judge the claims.", "Judge the points.", desk)


def test_a_question_goes_through_all_seats(stub: StubServer, desk: Desk, judge: ClaudeJudge) -> None:
    writing = ClaudeWriterSettings(provider="anthropic", model=MODEL, base_url=stub.url)
    writer = ClaudeWriter(writing, "Answer, and mark each claim with [doc n].", desk)
    [written] = writer.write([WriteRequest(question=QUESTION, passages=PASSAGES)])
    assert not isinstance(written.reply, Failure)
    assert "90 days" in written.reply.text

    reading = ClaudeReaderSettings(provider="anthropic", model=MODEL, base_url=stub.url)
    [read] = ClaudeReader(reading, "Read.", desk).read([ReadRequest(question=QUESTION, answer=ANSWER)])
    assert not isinstance(read.reply, Failure)
    assert tuple(claim.text for claim in read.reply.claims) == CLAIMS
    assert [part.kind for part in read.reply.non_claims if part.kind != "space"] == ["marker"]

    [grounded] = judge.judge_grounding([GroundRequest(question=QUESTION, claims=CLAIMS, passages=PASSAGES)])
    assert not isinstance(grounded.reply, Failure)
    assert [judged.verdict for judged in grounded.reply] == ["SUPPORTED", "NOT_SUPPORTED"]
    assert all(quote.text in PASSAGES[quote.passage - 1] for quote in grounded.reply[0].quotes)

    points = ("Entries are kept for 90 days on the Team plan.", "Owners can open it.")
    [marked] = judge.judge_points([PointsRequest(question=QUESTION, answer=ANSWER, points=points)])
    assert not isinstance(marked.reply, Failure)
    assert [judged.verdict for judged in marked.reply] == ["COVERED", "MISSING"]
    assert stub.stats().messages == 4

    spec = llm_comply.SpecLoader(str(SPEC_PATH))
    for body in stub.bodies():
        assert not spec.validate(body, "CreateMessageParams"), json.dumps(body)[:200]


@pytest.mark.parametrize(
    ("kind", "state", "n_calls"),
    [("refused", State.REFUSED, 1), ("missing_verdict", State.INVALID, 2), ("doubled_verdict", State.INVALID, 2),
     ("malformed", State.INVALID, 2), ("empty", State.INVALID, 2)],
)  # fmt: skip
def test_a_judgement_that_cannot_be_had_is_a_failed_row(
    stub: StubServer, judge: ClaudeJudge, kind: FaultKind, state: State, n_calls: int
) -> None:
    stub.change(Fault(kind=kind, times=None))
    [given] = judge.judge_grounding([GroundRequest(question=QUESTION, claims=CLAIMS, passages=PASSAGES)])
    assert isinstance(given.reply, Failure)
    assert given.reply.state is state
    assert given.spent.n_calls == stub.stats().messages == n_calls


@pytest.mark.parametrize("kind", ["reset", "reset_midway", "server_error", "malformed", "missing_verdict"])
def test_what_goes_wrong_once_is_made_good(stub: StubServer, judge: ClaudeJudge, kind: FaultKind) -> None:
    stub.change(Fault(kind=kind))
    [given] = judge.judge_grounding([GroundRequest(question=QUESTION, claims=CLAIMS, passages=PASSAGES)])
    assert not isinstance(given.reply, Failure)
    assert stub.stats().messages == 2


def test_a_context_beyond_the_window_is_judged_in_portions(stub: StubServer, desk: Desk) -> None:
    stub.change(window=2_000)
    settings = ClaudeJudgeSettings(
        provider="anthropic", model=MODEL, base_url=stub.url, context_window=2_000, max_tokens=500
    )
    judge = ClaudeJudge(settings, "Judge the claims.", "Judge the points.", desk)
    padding = tuple(f"Part {number} of it is kept in box {number}. " * 40 for number in range(6))
    request = GroundRequest(question=QUESTION, claims=CLAIMS, passages=(*padding, PASSAGES[0]))
    [given] = judge.judge_grounding([request])
    assert not isinstance(given.reply, Failure)
    assert [judged.verdict for judged in given.reply] == ["SUPPORTED", "NOT_SUPPORTED"]
    assert {quote.passage for quote in given.reply[0].quotes} == {7}
    assert stub.stats().messages > 1
    assert set(stub.stats().statuses) == {200}
