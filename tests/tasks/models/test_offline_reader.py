"""What the offline reader says of an answer."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answer import Reading
from schemas.seats import Failure, Reader, ReadRequest
from schemas.state import State
from tasks.models import offline_reader
from tasks.models.offline_reader import OfflineReader
from tasks.models.relevancy import addresses, asked_for
from tasks.text.claims import split_claims

QUESTION = "How long does the Team plan keep events?"


def read(answer: str, *, question: str = QUESTION) -> Reading:
    ((_, reading, _),) = OfflineReader().read([ReadRequest(question=question, answer=answer)])
    assert isinstance(reading, Reading)
    return reading


@pytest.mark.parametrize(
    ("answer", "form", "gives_answer", "relevancy"),
    [
        pytest.param("The Team plan keeps events for 7 days.", "FULL", True, "ADDRESSES", id="a plain answer"),
        pytest.param("7 days", "FULL", True, "ADDRESSES", id="a bare number for how long"),
        pytest.param("Events on Team are kept.", "FULL", True, "PARTLY", id="the subject without the number"),
        pytest.param("The API returns JSON, and every page of it has a cursor.", "FULL", True, "OFF_TOPIC", id="something else"),
        pytest.param("The documentation does not say how long the Team plan keeps events.", "NOT_COVERED", False, "ABSTAINS", id="abstains"),
        pytest.param("I don't know.", "NOT_COVERED", False, "ABSTAINS", id="does not know"),
        pytest.param("Die Dokumentation enthält keine Angaben dazu.", "NOT_COVERED", False, "ABSTAINS", id="abstains in German"),
        pytest.param("The docs do not cover this. They only describe the Enterprise plan. Please contact support.", "NOT_COVERED", False, "ABSTAINS", id="abstains at length"),
        pytest.param("The docs do not cover this. In general, events are kept for 30 days.", "NOT_COVERED", True, "ADDRESSES", id="hedges"),
        pytest.param("I cannot find this in the context, but Team events are kept for 7 days.", "NOT_COVERED", True, "ADDRESSES", id="hedges in one sentence"),
        pytest.param("The docs do not cover this, so I can't tell. What they do describe is the log, which lists 50 entries.", "NOT_COVERED", False, "ABSTAINS", id="abstains and tells of something near by"),
        pytest.param("Team keeps events for 7 days. The docs do not say whether this can be raised.", "PARTIAL", True, "PARTLY", id="leaves something out"),
        pytest.param("The docs do not mention prices. Team keeps events for 7 days.", "PARTIAL", True, "PARTLY", id="denies what was not asked"),
        pytest.param("The docs do not state the exact number, but Team deletes events weekly.", "PARTIAL", True, "PARTLY", id="denies the exact number"),
        pytest.param("Which region do you use?", "NOT_COVERED", False, "ABSTAINS", id="asks back"),
        pytest.param("Sure! I hope this helps.", "NOT_COVERED", False, "ABSTAINS", id="only courtesy"),
        pytest.param("", "NOT_COVERED", False, "ABSTAINS", id="empty"),
    ],
)  # fmt: skip
def test_reading(answer: str, form: str, *, gives_answer: bool, relevancy: str) -> None:
    reading = read(answer)
    assert (reading.form, reading.gives_answer, reading.relevancy) == (form, gives_answer, relevancy)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (QUESTION, "number"),
        ("When was it released?", "number"),
        ("Who leads it when Ann is away?", "name"),
        ("Where is the log?", "place"),
        ("Why does it fail?", "reason"),
        ("How do I rotate a key?", "way"),
        ("Can I export the log?", "yes_no"),
        ("What is a workspace?", "open"),
        ("团队版保留多久？", "number"),
    ],
)
def test_kind_of_thing_asked_for(question: str, asked: str) -> None:
    assert asked_for(question) == asked


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        pytest.param("Who wrote Hamlet?", "shakespeare", "ADDRESSES", id="a name written small"),
        pytest.param("Who wrote Hamlet?", "1986", "OFF_TOPIC", id="a number for who"),
        pytest.param(
            "How long are events kept?",
            "Bananas cost 3 dollars.",
            "OFF_TOPIC",
            id="a short sentence about something else",
        ),
        pytest.param(
            "How long are events kept?", "It is 30 days.", "ADDRESSES", id="a short sentence that points back"
        ),
        pytest.param("Can I export it?", "Yes", "ADDRESSES", id="a bare yes"),
        pytest.param("Why does a call fail?", "Invalid token", "PARTLY", id="a phrase for why"),
        pytest.param("团队版保留多久？", "团队版保留七天。", "ADDRESSES", id="Chinese"),
        pytest.param(
            "How long does Team keep events?", "团队版保留七天。", "ADDRESSES", id="another script, and a number"
        ),
    ],
)
def test_addresses(question: str, answer: str, expected: str) -> None:
    assert addresses(question, answer) == expected


def test_replies_come_with_their_positions() -> None:
    requests = [ReadRequest(question=QUESTION, answer=answer) for answer in ("7 days", "", "Yes")]
    assert [given.position for given in OfflineReader().read(requests)] == [0, 1, 2]


def test_it_is_a_reader() -> None:
    reader: Reader = OfflineReader()
    assert list(reader.read([])) == []


def test_a_bug_costs_one_answer_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(text: str) -> object:
        if text == "bad":
            message = "no such block"
            raise ValueError(message)
        return split_claims(text)

    monkeypatch.setattr(offline_reader, "split_claims", breaks)
    requests = [ReadRequest(question=QUESTION, answer=answer) for answer in ("bad", "7 days")]
    first, second = (given.reply for given in OfflineReader().read(requests))
    assert first == Failure(state=State.ERRORED, kind="ValueError", message="no such block")
    assert isinstance(second, Reading)


@given(st.text(max_size=100), st.text(max_size=200))
def test_no_text_is_too_odd(question: str, answer: str) -> None:
    reading = read(answer, question=question)
    assert (reading.relevancy == "ABSTAINS") == (reading.form == "NOT_COVERED" and not reading.gives_answer)
    assert not reading.gives_answer or reading.claims


def test_readings_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from schemas.seats import ReadRequest; from tasks.models.offline_reader import OfflineReader\n"
        "answer = 'The docs do not say, but Team keeps 7 days [1]; Business 30 days.\\n- a\\n- b'\n"
        f"print(list(OfflineReader().read([ReadRequest(question={QUESTION!r}, answer=answer)])))"
    )
    root = Path(__file__).resolve().parents[3]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
