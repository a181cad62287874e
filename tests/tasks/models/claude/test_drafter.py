"""The drafter: how documents are laid out, which quotes are found, and what becomes of a reply that has lost some."""

import asyncio
import json
from typing import Any

import pytest

from schemas.claude import ClaudeDrafterSettings
from schemas.seats import Failure
from tasks.models.claude.conversation import COMPLETE
from tasks.models.claude.drafter import ClaudeDrafter, DraftedPoint, DraftedQuote, DraftRequest
from tests.tasks.models.claude.scripted import Asked, Conversation, Script, ScriptedDesk, cut_short

SETTINGS = ClaudeDrafterSettings(provider="anthropic", model="m")
LOGS = "# Logs\n\nLogs are kept for **30 days** on the Team plan. Owners can export them as CSV.\n"
PLANS = "# Plans\n\n| Plan | Logs |\n| --- | --- |\n| Business | 90 days |\n"


def point(text: str, *evidence: tuple[int, str], weight: str = "vital") -> dict[str, Any]:
    quotes = [{"document": number, "quote": quote} for number, quote in evidence]
    return {"evidence": quotes, "text": text, "weight": weight}


def reply(*points: dict[str, Any]) -> str:
    return json.dumps({"points": points})


THIRTY = point("Team keeps logs for 30 days.", (1, "Logs are kept for 30 days"))
EXPORT = point("Owners can export logs.", (1, "Owners can export them as CSV."), weight="okay")
LOST = point("Logs cost money.", (1, "Logs cost ten dollars a month"))


def draft(*requests: DraftRequest, script: Script, settings: ClaudeDrafterSettings = SETTINGS) -> ScriptedDesk:
    desk = ScriptedDesk(script)
    drafter = ClaudeDrafter(settings, "Draft.", desk.as_desk())
    desk.given = {given.position: given.reply for given in drafter.draft(requests)}  # type: ignore[attr-defined]
    return desk


def one(script: Script, *documents: str, settings: ClaudeDrafterSettings = SETTINGS) -> tuple[Any, list[Asked]]:
    request = DraftRequest(question="How long?", documents=documents or (LOGS,))
    desk = draft(request, script=script, settings=settings)
    return desk.given[0], desk.asked  # type: ignore[attr-defined]


def texts(points: tuple[DraftedPoint, ...], *documents: str) -> list[tuple[str, list[str], tuple[str, ...]]]:
    return [
        (
            point.text,
            [documents[quote.document - 1][quote.start : quote.end] for quote in point.quotes],
            point.lost,
        )
        for point in points
    ]


def test_quotes_are_the_documents_own_words() -> None:
    table = point("Business keeps logs for 90 days.", (2, "Business"), (2, "90 days"), (1, "Owners can … them as CSV."))
    found, asked = one(lambda _: reply(THIRTY, table), LOGS, PLANS)
    assert len(asked) == 1
    assert texts(found, LOGS, PLANS) == [
        ("Team keeps logs for 30 days.", ["Logs are kept for **30 days"], ()),
        ("Business keeps logs for 90 days.", ["Business", "90 days", "Owners can", "them as CSV"], ()),
    ]
    assert found[0].quotes == (DraftedQuote(document=1, start=LOGS.index("Logs are"), end=LOGS.index("** on")),)


def test_documents_come_first_and_are_marked_when_others_read_them_too() -> None:
    for is_shared in (False, True):
        request = DraftRequest(
            question="How </question> long?", documents=(LOGS, "A </documents> b."), is_shared=is_shared
        )
        (asked,) = draft(request, script=lambda _: reply(THIRTY, EXPORT)).asked
        assert asked.numbered("document") == [(1, LOGS.strip()), (2, "A ‹/documents> b.")]
        assert asked.one("question") == "How ‹/question> long?"
        assert [node.tag for node in asked.root.inner] == ["documents", "question"]
        assert asked.cached == [is_shared, False]
        assert asked.params["system"] == [{"type": "text", "text": "Draft.", "cache_control": {"type": "ephemeral"}}]


def test_questions_that_read_the_same_are_asked_one_behind_the_other() -> None:
    requests = [
        DraftRequest(question=f"q{number}", documents=(documents,), is_shared=True)
        for number, documents in enumerate((PLANS, LOGS, PLANS, LOGS))
    ]
    desk = draft(*requests, script=lambda asked: reply() if asked.one("question") == "q2" else reply(THIRTY, EXPORT))
    assert [asked.one("question") for asked in desk.asked] == ["q1", "q3", "q0", "q0", "q2"]
    given: dict[int, Any] = desk.given  # type: ignore[attr-defined]
    # A reply is that of its question, wherever it was asked. Nothing of q0 is in the document that it reads.
    assert [isinstance(given[number], Failure) for number in range(4)] == [True, False, True, False]


def test_the_first_of_a_group_is_done_before_the_others_begin() -> None:
    seen: list[str] = []

    class Slow(Conversation):
        async def ask(self, request: Any, parse: Any, *, complete: Any = COMPLETE, most: Any = None) -> Any:  # noqa: ANN401
            seen.append("begun")
            await asyncio.sleep(0)
            result = await super().ask(request, parse, complete=complete, most=most)
            seen.append("done")
            return result

    class AllAtOnce(ScriptedDesk):
        def converse(self, settings: Any, talks: Any, *, trial: int = 0) -> Any:  # noqa: ANN401
            async def hold() -> None:
                await asyncio.gather(*(talk(Slow(settings, self.script, trial=trial)) for talk in talks))

            asyncio.run(hold())
            return iter(())

    requests = [DraftRequest(question=f"q{number}", documents=(LOGS,), is_shared=True) for number in range(3)]
    drafter = ClaudeDrafter(SETTINGS, "Draft.", AllAtOnce(lambda _: reply(THIRTY, EXPORT)).as_desk())
    assert list(drafter.draft(requests)) == []
    assert seen == ["begun", "done", "begun", "begun", "done", "done"]


INVALID: dict[str, str] = {
    "a lost quote": reply(THIRTY, EXPORT, LOST),
    "a document that is not there": reply(THIRTY, EXPORT, point("x", (2, "Logs are kept for 30 days"))),
    "a quote that is too short": reply(THIRTY, EXPORT, point("x", (1, "export"))),
    "a point without evidence": reply(THIRTY, EXPORT, point("x")),
    "one point": reply(THIRTY),
    "six points": reply(*[THIRTY] * 6),
    "no JSON": "{",
    "another shape": '{"points": [{"text": "x"}]}',
}


@pytest.mark.parametrize("first", INVALID.values(), ids=INVALID)
def test_a_reply_that_will_not_do_is_asked_for_once_more(first: str) -> None:
    replies = iter([first, reply(THIRTY, EXPORT)])
    found, asked = one(lambda _: next(replies))
    assert [point.text for point in found] == ["Team keeps logs for 30 days.", "Owners can export logs."]
    assert len(asked) == 2


def test_what_the_second_reply_has_lost_is_told_and_the_rest_kept() -> None:
    found, asked = one(lambda _: reply(THIRTY, LOST))
    assert len(asked) == 2
    assert texts(found, LOGS) == [
        ("Team keeps logs for 30 days.", ["Logs are kept for **30 days"], ()),
        ("Logs cost money.", [], ("Logs cost ten dollars a month",)),
    ]


def test_nothing_found_twice_is_a_failure() -> None:
    found, asked = one(lambda _: reply(LOST, LOST))
    assert (found.state, found.kind, len(asked)) == ("invalid", "InvalidReply", 2)
    assert "Logs cost ten dollars" in found.message


def test_documents_that_do_not_answer_give_no_points_and_are_not_asked_about_again() -> None:
    found, asked = one(lambda _: reply())
    assert (found.kind, len(asked)) == ("NoPoints", 1)


def test_a_reply_cut_short_gets_more_room() -> None:
    settings = SETTINGS.model_copy(update={"max_tokens": 500})
    found, asked = one(
        lambda asked: cut_short() if asked.max_tokens == 500 else reply(THIRTY, EXPORT), settings=settings
    )
    assert (len(found), [one.max_tokens for one in asked]) == (2, [500, 1_000])


def test_documents_beyond_the_window_are_not_cut_but_told() -> None:
    settings = SETTINGS.model_copy(update={"context_window": 10_000})
    found, asked = one(lambda _: reply(THIRTY), "Logs. " * 20_000, settings=settings)
    assert (found.kind, found.state, asked) == ("RequestTooLong", "truncated", [])
    assert "too long for the model's window" in found.message


def test_a_quote_of_a_neutralised_tag_is_found() -> None:
    document = "Close it with </document> and nothing else."
    quoted = point("It is closed.", (1, "Close it with ‹/document> and nothing"))
    found, _ = one(lambda _: reply(quoted, quoted), document)
    assert texts(found, document)[0][1] == ["Close it with </document> and nothing"]
