"""HTTP/1.1 as a test double needs it: requests with a length, replies now, later, cut short or never."""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

_END_OF_HEAD: Final = b"\r\n\r\n"
_LARGEST_HEAD: Final = 64 * 1024
# Closing with this sends a reset instead of a proper end.
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class Request(NamedTuple):
    """One request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """A whole reply."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    kind: str = "application/json"

    def as_bytes(self) -> bytes:
        """The reply as it goes over the wire."""
        head = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase if self.status != 529 else 'Overloaded'}"]
        head += [f"content-type: {self.kind}", f"content-length: {len(self.body)}"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(head).encode("latin-1") + _END_OF_HEAD + self.body


class Exchange:
    """A request that waits for its reply; ends once, whichever way."""

    def __init__(self, line: "Line", request: Request) -> None:
        self.request = request
        self.on_end: Callable[[], None] | None = None
        self._line = line

    def answer(self, answer: Answer) -> None:
        """Send the reply, unless the client has gone."""
        if self._end():
            self._line.send(answer.as_bytes())
            self._line.next_request()

    def reset(self) -> None:
        """Break the connection before any byte of a reply."""
        if self._end():
            self._line.reset()

    def break_off(self, answer: Answer) -> None:
        """Send a part of the reply's body, then close."""
        if self._end():
            whole = answer.as_bytes()
            self._line.send(whole[: len(whole) - max(1, len(answer.body) // 2)])
            self._line.close()

    def gone(self) -> None:
        """Note that the client hung up."""
        self._end()

    def _end(self) -> bool:
        # The line forgets an exchange when it ends, so a late reply finds another one or none there.
        if self._line.current is not self:
            return False
        self._line.current = None
        if self.on_end is not None:
            self.on_end()
        return True


class Line(asyncio.Protocol):
    """One connection: its requests come one after the other."""

    def __init__(self, handle: Callable[[Exchange], None], lines: "set[Line]") -> None:
        self.current: Exchange | None = None
        self._handle = handle
        self._lines = lines
        self._held = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._lines.add(self)

    def connection_lost(self, _exc: Exception | None) -> None:
        """End; a request that waited is over."""
        self._lines.discard(self)
        if self.current is not None:
            self.current.gone()

    def data_received(self, data: bytes) -> None:
        """Collect, and hand on a request once it is whole."""
        self._held += data
        if self.current is None:
            self.next_request()

    def next_request(self) -> None:
        """Hand on the next request that is here as a whole."""
        end = self._held.find(_END_OF_HEAD)
        if end < 0:
            if len(self._held) > _LARGEST_HEAD:
                self.close()
            return
        first, *rest = self._held[:end].decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        begin = end + len(_END_OF_HEAD)
        length = int(headers.get("content-length", "0"))
        if "transfer-encoding" in headers:
            self.send(Answer(411, b"", {}).as_bytes())
            self.close()
            return
        if len(self._held) < begin + length:
            return
        body = bytes(self._held[begin : begin + length])
        del self._held[: begin + length]
        method, path, _ = first.split(" ", 2)
        self.current = Exchange(self, Request(method, path, headers, body))
        self._handle(self.current)

    def send(self, data: bytes) -> None:
        """Write."""
        assert self._transport is not None
        self._transport.write(data)

    def close(self) -> None:
        """Close after what was written is sent."""
        assert self._transport is not None
        self._transport.close()

    def reset(self) -> None:
        """Break the connection so that the client sees a reset."""
        assert self._transport is not None
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()
