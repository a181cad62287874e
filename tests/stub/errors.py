"""Error bodies as the Messages API sends them."""

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.stub.wire import Answer

_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class RefusedRequestError(Exception):
    """A request that the API would turn down: status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def error_body(status: int, message: str, request_id: str | None) -> dict[str, Any]:
    """The body of an error."""
    return {"type": "error", "error": {"type": _TYPES[status], "message": message}, "request_id": request_id}


def error_answer(status: int, message: str, request_id: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An error as a reply."""
    body = json.dumps(error_body(status, message, request_id)).encode()
    return Answer(status, body, {"request-id": request_id, **(headers or {})})
