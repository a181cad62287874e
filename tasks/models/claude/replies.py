"""What every reply goes through before it counts: its schema, and one verdict for each thing that was asked about."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tasks.models.claude.conversation import InvalidReplyError, RawReply

Model = TypeVar("Model", bound=BaseModel)


def read_reply(model: type[Model], raw: RawReply) -> Model:
    """Read a reply.

    Raises:
        InvalidReplyError: It is not JSON, or breaks the schema.
    """
    try:
        return model.model_validate_json(raw.text)
    except ValidationError as error:
        raise InvalidReplyError(_told(error)) from None


def _told(error: ValidationError) -> str:
    """The first fault in one line: pydantic's own text has three for each, and an address."""
    first, *others = error.errors(include_url=False, include_input=False, include_context=False)
    where = ".".join(str(part) for part in first["loc"])
    more = f" ({len(others)} more like this)" if others else ""
    return f"{where}: {first['msg']}{more}" if where else f"{first['msg']}{more}"


def require_one_each(what: str, got: Sequence[int], *, wanted: Sequence[int]) -> None:
    """Hold the numbers of a reply's verdicts against what was asked.

    Raises:
        InvalidReplyError: Naming those that are missing, said twice, or not there at all.
    """
    counts = Counter(got)
    problems = [f"{what} {number} has no verdict" for number in wanted if not counts[number]]
    problems += [f"{what} {number} has {times} verdicts" for number, times in counts.items() if times > 1]
    problems += [f"there is no {what} {number}" for number in counts if number not in wanted]
    if problems:
        raise InvalidReplyError("; ".join(problems))
