"""What the stub says: depends on the request and on nothing else."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.stub import quick, seats
from tests.stub.asked import Asked, Seat, read_request
from tests.stub.invent import invent

Compose = Callable[[Asked], dict[str, Any]]
_THOROUGH: Final[Mapping[Seat, Compose]] = {
    "reader": seats.read,
    "grounding": seats.ground,
    "points": seats.mark_points,
}
_QUICK: Final[Mapping[Seat, Compose]] = {
    "reader": quick.read,
    "grounding": quick.ground,
    "points": quick.mark_points,
}
_HELLO: Final = "A stub says hello."


def compose(params: Mapping[str, Any], *, by_hash: bool) -> str:
    """The text of a reply: of the seat that asks, or an instance of whatever schema the reply has to fit."""
    asked = read_request(params)
    if asked.seat == "writer":
        if not asked.question:
            return _HELLO
        return quick.write(asked) if by_hash else seats.write(asked)
    known = (_QUICK if by_hash else _THOROUGH).get(asked.seat)
    reply = known(asked) if known is not None and _is_ours(asked) else invent(asked.schema or {}, asked.text.encode())
    return json.dumps(reply, ensure_ascii=False)


def _is_ours(asked: Asked) -> bool:
    """Whether the tags are there that such a seat gives."""
    given = {"reader": asked.sentences or asked.answer, "grounding": asked.claims, "points": asked.points}
    return bool(given.get(asked.seat))
