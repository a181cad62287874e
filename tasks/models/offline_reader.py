"""The offline reader: what an answer claims, what it says of itself, and whether it speaks to the question."""

from collections.abc import Iterator, Sequence
from typing import Final

from schemas.answer import Form, Reading, Relevancy
from schemas.seats import Failure, ReadRequest
from schemas.state import State
from tasks.models.lexicon import STOP_STEMS
from tasks.text.claims import split_claims
from tasks.text.phrases import NOT_COVERED, PARTIAL
from tasks.text.words import stems

# Enters the readings' keys: raise it whenever the same answer would be read otherwise.
VERSION: Final = 1


class OfflineReader:
    """Reads answers by rule: no key, no network, deterministic."""

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[tuple[int, Reading | Failure]]:
        """Read each answer, in order."""
        for position, request in enumerate(requests):
            try:
                yield position, _read(request)
            except Exception as error:  # noqa: BLE001 - one answer's bug must not cost the others
                yield position, Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error))


def _read(request: ReadRequest) -> Reading:
    split = split_claims(request.answer)
    said = [request.answer[part.start : part.end] for part in split.non_claims if part.kind == "coverage"]
    denials = [text for text in said if any(pattern.search(text) for pattern in NOT_COVERED)]
    form: Form = "FULL"
    if denials:
        form = "PARTIAL" if split.claims and all(PARTIAL.search(text) for text in denials) else "NOT_COVERED"
    gives_answer = bool(split.claims)
    return Reading(
        claims=split.claims,
        non_claims=split.non_claims,
        form=form,
        gives_answer=gives_answer,
        relevancy=_relevancy(request, abstained=form == "NOT_COVERED" and not gives_answer),
    )


def _relevancy(request: ReadRequest, *, abstained: bool) -> Relevancy:
    if abstained:
        return "ABSTAINS"
    asked = {word for word in stems(request.question) if word not in STOP_STEMS}
    shared = asked & set(stems(request.answer))
    if not asked or len(shared) * 3 >= len(asked):
        return "ADDRESSES"
    return "PARTLY" if shared else "OFF_TOPIC"
