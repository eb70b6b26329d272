"""A client of a stand-in that does what its test says, right or wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from harness.patience import Deadline

from .service import Service, Session


class Client:
    """One WebSocket connection (Python's `websockets`), spoken by hand.

    Pings are answered by themselves, with what `pong` makes of their payload: None for no answer.
    """

    def __init__(
        self,
        url: str,
        *,
        subprotocols: list[str] | None = None,
        headers: dict[str, str] | None = None,
        pong: Callable[[bytes], bytes | None] | None = None,
    ):
        # The library warns of connections that no `with` holds; `close` does what the end of one would.
        self._connection = connect(
            url,
            subprotocols=[Subprotocol(name) for name in subprotocols] if subprotocols else None,
            additional_headers=headers,
            ping_interval=None,
            proxy=None,
            close_timeout=2,
        ).__enter__()
        if pong:
            self._answer_pings(pong)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def subprotocol(self) -> str | None:
        return self._connection.subprotocol

    def send(self, *messages: Any) -> None:
        """Send text and bytes as they are, anything else as JSON; nobody need be there any more."""
        for message in messages:
            text = message if isinstance(message, str | bytes) else json.dumps(message)
            try:
                self._connection.send(text)
            except ConnectionClosed:
                return

    def ping(self, payload: bytes = b"") -> None:
        self._connection.ping(payload)

    def pong(self, payload: bytes = b"") -> None:
        """Send a pong that nobody asked for."""
        self._connection.pong(payload)

    def receive_text(self) -> str | bytes:
        """Wait for a message."""
        return self._connection.recv(Deadline("a message of the service").left())

    def receive(self) -> Any:
        """Wait for a message of JSON."""
        return json.loads(self.receive_text())

    def receive_until(self, holds: Callable[[Any], Any]) -> Any:
        """Wait for a message of JSON for which this holds; others before it do not matter."""
        deadline = Deadline("a message of the service of a certain kind")
        while not holds(message := json.loads(self._connection.recv(deadline.left()))):
            pass
        return message

    def closed(self) -> int:
        """Wait until the service ends the connection, and return the code of its close frame, or 1006."""
        deadline = Deadline("the service ends the connection")
        try:
            while True:
                self._connection.recv(deadline.left())
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006

    def close(self, code: int = 1000) -> None:
        self._connection.close(code)

    def _answer_pings(self, pong: Callable[[bytes], bytes | None]) -> None:
        protocol = self._connection.protocol
        send = protocol.send_frame

        def send_frame(frame: Frame) -> None:
            if frame.opcode is not Opcode.PONG:
                send(frame)
            elif (payload := pong(bytes(frame.data))) is not None:
                send(Frame(Opcode.PONG, payload))

        protocol.send_frame = send_frame  # type: ignore[method-assign]


def refusal(url: str, **options: Any) -> int:
    """Return the status with which a service refuses a handshake."""
    try:
        with Client(url, **options):
            raise AssertionError("the service took the connection")
    except InvalidStatus as refused:
        return refused.response.status_code


def finished(service: Service, number: int = 0) -> Session:
    """Wait until a connection has ended and the service has judged all of it."""
    session = service.session(number)
    service.await_truth(lambda: not session.is_open, f"connection {number} of the service ends")
    return session


def clauses(service: Service) -> set[str]:
    """Return where the rules stand that were broken."""
    return {breach.clause for breach in service.breaches}


def await_breach(service: Service, clause: str) -> None:
    """Wait until the service complains by this rule, and see that it does so by no other."""
    service.await_truth(lambda: service.breaches, f"a complaint by {clause}")
    assert clauses(service) == {clause}, service.breaches
