"""The offline reader: what an answer claims, what it says of itself, and whether it speaks to the question."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from schemas.answer import Form, Reading, Relevancy
from schemas.seats import Failure, Given, ReadRequest
from schemas.state import State
from tasks.models.lexicon import LIGHT_STEMS
from tasks.models.relevancy import addresses, content, fits, share_of
from tasks.text.claims import Split, split_claims
from tasks.text.clauses import not_covered
from tasks.text.phrases import ADVICE, HEDGE, ITSELF, PARTIAL

_ABOUT_QUESTION: Final = 0.34
_ANSWERS_SHARE: Final = 0.5


class OfflineReader:
    """Reads answers by rule: no key, no network, deterministic."""

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Given[Reading]]:
        """Read each answer, in order; one that cannot be read is a failure of its own."""
        for position, request in enumerate(requests):
            reply: Reading | Failure
            try:
                reply = _read(request)
            except Exception as error:  # noqa: BLE001 - one answer's bug must not cost the others
                reply = Failure(state=State.ERRORED, kind=type(error).__name__, message=str(error))
            yield Given(position, reply)


class _Denial(NamedTuple):
    """A statement that the sources do not hold something, and where it stands."""

    text: str
    start: int


def _read(request: ReadRequest) -> Reading:
    split = split_claims(request.answer)
    denials = [
        _Denial(text, part.start)
        for part in split.non_claims
        if part.kind == "coverage" and not_covered(text := " ".join(request.answer[part.start : part.end].split()))
    ]
    form = _form(request.question, split, denials)
    gives_answer = _gives_answer(request.question, split, form)
    return Reading(
        claims=split.claims,
        non_claims=split.non_claims,
        form=form,
        gives_answer=gives_answer,
        relevancy=_relevancy(request.question, split, form, gives_answer=gives_answer),
    )


def _form(question: str, split: Split, denials: Sequence[_Denial]) -> Form:
    """Tell what an answer says of itself.

    A denial after the first claim leaves something out; one before it denies the whole, unless it is of something
    the question did not ask or says itself that it is not of all ("does not state the exact number").
    """
    if not split.claims:
        return "NOT_COVERED"
    if not denials:
        return "FULL"
    first_claim = min(stretch.start for claim in split.claims for stretch in claim.stretches)
    leading = [denial.text for denial in denials if denial.start < first_claim]
    denies_all = any(_is_about(question, text) and not PARTIAL.search(text) for text in leading)
    return "NOT_COVERED" if denies_all else "PARTIAL"


def _is_about(question: str, denial: str) -> bool:
    """Tell whether a denial is of what was asked: it names it, calls it "this", or names nothing."""
    share = share_of(question, denial)
    own = content(denial) - LIGHT_STEMS
    return share is None or share >= _ABOUT_QUESTION or ITSELF.search(denial) is not None or len(own) <= 2


def _gives_answer(question: str, split: Split, form: Form) -> bool:
    """Tell whether something is answered.

    Behind a denial of the whole most claims are about something near by ("What it does describe is ..."), so one must
    be of the question and of the kind it asks for, or say that it is a guess.
    """
    if form != "NOT_COVERED":
        return True
    stated = [claim.text for claim in split.claims if not ADVICE.match(claim.text)]
    return any(_answers(question, text) for text in stated)


def _answers(question: str, claim: str) -> bool:
    share = share_of(question, claim) or 0.0
    return fits(question, claim) and (share >= _ANSWERS_SHARE or HEDGE.search(claim) is not None)


def _relevancy(question: str, split: Split, form: Form, *, gives_answer: bool) -> Relevancy:
    if form == "NOT_COVERED" and not gives_answer:
        return "ABSTAINS"
    found = addresses(question, "\n".join(claim.text for claim in split.claims))
    return "PARTLY" if form == "PARTIAL" and found == "ADDRESSES" else found
