"""HTTP/1.x as a client reads it (RFC 9112): heads, bodies, chunks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .patience import Deadline
from .wire import Wire

_PIECE = 65536


@dataclass
class Head:
    """Status line and fields of a response."""

    version: str
    status: int
    reason: str
    fields: list[tuple[str, str]]

    def get(self, name: str, default: str = "") -> str:
        """Return the field's values joined by commas; the name is compared without case."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return ", ".join(values) if values else default

    def __contains__(self, name: str) -> bool:
        return any(key.lower() == name.lower() for key, _ in self.fields)


@dataclass
class Response:
    """A response with its whole body."""

    head: Head
    body: bytes = field(repr=False)

    @property
    def status(self) -> int:
        return self.head.status

    def header(self, name: str) -> str:
        return self.head.get(name)

    def json(self) -> Any:
        return json.loads(self.body.decode())

    def __repr__(self) -> str:
        return f"<{self.status} {self.head.fields} {self.body[:500]!r}>"


def parse_head(raw: bytes) -> Head:
    lines = raw.decode("latin-1").split("\r\n")
    match = re.fullmatch(r"(HTTP/1\.[01]) (\d{3})(?: (.*))?", lines[0])
    assert match, f"not a status line: {lines[0]!r}"
    fields = []
    for line in lines[1:]:
        if line:
            name, colon, value = line.partition(":")
            assert colon, f"not a field: {line!r}"
            assert name == name.strip(), f"not a field: {line!r}"
            fields.append((name, value.strip(" \t")))
    return Head(match[1], int(match[2]), match[3] or "", fields)


class Body:
    """A response's body, piece by piece, framed as its head says (RFC 9112 §6.3)."""

    def __init__(self, wire: Wire, head: Head, method: str):
        self._wire = wire
        self._left = 0
        self.chunked = "chunked" in head.get("Transfer-Encoding").lower()
        #: Whether the end was announced by the framing (or, without any, by the peer's close).
        self.ended = False
        if method == "HEAD" or head.status in (204, 304):
            self._framing, self.ended = "none", True
        elif self.chunked:
            assert "Content-Length" not in head, "both framings at once"
            self._framing = "chunked"
        elif "Content-Length" in head:
            self._framing, self._left = "length", int(head.get("Content-Length"))
            self.ended = self._left == 0
        else:
            self._framing = "close"

    def piece(self, deadline: Deadline) -> bytes:
        """Return what comes next, or nothing once the body has ended as its framing says.

        A connection that is closed in the middle of the body raises `ConnectionError`.
        """
        if self.ended:
            return b""
        if self._framing == "close":
            piece = self._wire.take(_PIECE, deadline)
            self.ended = not piece
            return piece
        if self._framing == "chunked" and self._left == 0:
            size = self._wire.take_through(b"\r\n", deadline)[:-2]
            assert re.fullmatch(rb"[0-9A-Fa-f]+", size), f"not a chunk size: {size!r}"
            self._left = int(size, 16)
            if self._left == 0:
                while self._wire.take_through(b"\r\n", deadline) != b"\r\n":
                    pass
                self.ended = True
                return b""
        piece = self._wire.take(min(self._left, _PIECE), deadline)
        if not piece:
            raise ConnectionError(f"closed with {self._left} bytes of the body missing")
        self._left -= len(piece)
        if self._left == 0:
            if self._framing == "chunked":
                end = self._wire.take_exactly(2, deadline)
                assert end == b"\r\n", f"not the end of a chunk: {end!r}"
            else:
                self.ended = True
        return piece

    def rest(self, deadline: Deadline) -> bytes:
        pieces = bytearray()
        while piece := self.piece(deadline):
            pieces += piece
        return bytes(pieces)


class Client:
    """One connection to the bridge, for as many requests as it lives."""

    def __init__(self, address: tuple[str, int], *, receive_buffer: int | None = None):
        self._host = f"[{address[0]}]:{address[1]}" if ":" in address[0] else f"{address[0]}:{address[1]}"
        self.wire = Wire(address, receive_buffer=receive_buffer)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def send_head(
        self, method: str, target: str, fields: dict[str, str] | None = None, version: str = "HTTP/1.1"
    ) -> None:
        """Send a request's head; `Host` is added unless given."""
        fields = dict(fields or {})
        if not any(name.lower() == "host" for name in fields):
            fields = {"Host": self._host, **fields}
        lines = [f"{method} {target} {version}", *(f"{name}: {value}" for name, value in fields.items())]
        self.wire.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def request(
        self, method: str, target: str, body: bytes | None = None, fields: dict[str, str] | None = None
    ) -> Response:
        fields = dict(fields or {})
        if body is not None:
            fields["Content-Length"] = str(len(body))
        self.send_head(method, target, fields)
        if body:
            self.wire.send(body)
        return self.response(method)

    def response(self, method: str = "GET") -> Response:
        """Read one response; interim ones (1xx) are passed over."""
        deadline = Deadline(f"the answer to {method}")
        while True:
            head = parse_head(self.wire.take_through(b"\r\n\r\n", deadline)[:-4])
            if head.status >= 200:
                return Response(head, Body(self.wire, head, method).rest(deadline))

    def rest(self) -> bytes:
        """Return what comes until the bridge closes the connection."""
        return self.wire.take_all(Deadline("the bridge closes the connection"))


def chunks(*pieces: bytes) -> bytes:
    """Frame a request's body in chunks, the last one included."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
