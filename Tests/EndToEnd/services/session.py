"""The service's end of a connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

if TYPE_CHECKING:
    from .service import Service


class Ended(Exception):
    """The client is gone, or was sent away."""


class WatchedConnection(ServerConnection):
    """Tells of every frame that comes, control frames included."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.on_frame: Callable[[Frame], None] = lambda _: None

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame):
            self.on_frame(event)
        super().process_event(event)


class Session:
    """One connection of a client, as the service sees it; its methods run on the service's loop."""

    def __init__(self, service: Service, connection: WatchedConnection, number: int):
        self._service = service
        self._connection = connection
        self.number = number
        assert connection.request
        self.request: Request = connection.request
        self.subprotocol: str | None = connection.subprotocol
        self.opened_at = time.monotonic()
        #: What the service knows of this client; each service has its own.
        self.notes: dict[str, Any] = {}
        #: When each frame came, pings and pongs included, for limits on rates.
        self.frames: list[tuple[float, Opcode]] = []
        #: The messages that came, as they were.
        self.received: list[str | bytes] = []
        #: Code and reason of the client's close frame.
        self.close_frame: tuple[int, str] | None = None
        #: The code with which the service closed, if it did so first.
        self.closed_with: int | None = None
        self.is_open = True
        self._companions: set[asyncio.Task[None]] = set()
        connection.on_frame = self._came

    def _came(self, frame: Frame) -> None:
        self.frames.append((time.monotonic(), frame.opcode))
        if frame.opcode in (Opcode.PING, Opcode.PONG, Opcode.CLOSE):
            self._service.control_frame(self, frame)
            self._service.changed()

    def mistake(self, error: Exception) -> None:
        """Write down that the stand-in failed, which else would seem content with what it could not judge."""
        self.breach("the stand-in itself", f"it failed: {error!r}")

    def breach(self, clause: str, what: str) -> None:
        """Write down that the client broke a rule."""
        self._service.breach(clause, what, self)

    async def receive(self, within: float | None = None) -> str | bytes:
        """Wait for a message; raise `Ended` if none will come, `TimeoutError` after so many seconds."""
        try:
            async with asyncio.timeout(within):
                message = await self._connection.recv()
        except ConnectionClosed:
            raise Ended from None
        self.received.append(message)
        self._service.changed()
        return message

    async def receive_object(self, code: int, clause: str, within: float | None = None) -> dict[str, Any]:
        """Wait for a text that is a JSON object; anything else is refused with this code."""
        message = await self.receive(within)
        if isinstance(message, bytes):
            await self.refuse(code, clause, "the message is binary")
        try:
            value = json.loads(message)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            await self.refuse(code, clause, f"no JSON object: {message!r}")
        return value

    async def send(self, message: Any) -> None:
        """Send text or bytes as they are, anything else as JSON."""
        if not isinstance(message, str | bytes):
            message = json.dumps(message, separators=(",", ":"))
        try:
            await self._connection.send(message)
        except ConnectionClosed:
            raise Ended from None

    async def ping(self, payload: bytes = b"") -> None:
        """Send a ping, and wait for its pong."""
        try:
            await (await self._connection.ping(payload))
        except ConnectionClosed:
            raise Ended from None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close with this code; what follows raises `Ended`."""
        if self.closed_with is None and self._connection.state is State.OPEN:
            self.closed_with = code
        await self._connection.close(code, reason)

    async def refuse(self, code: int, clause: str, what: str) -> None:
        """Write down a breach, and close for it with the service's code; raises `Ended`."""
        self.breach(clause, what)
        await self.close(code, what[:120])
        raise Ended

    def alongside(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something beside the conversation, such as a heartbeat, that ends with the connection."""

        async def run() -> None:
            try:
                await coroutine
            except Ended:
                pass
            except Exception as error:
                self.mistake(error)

        task = asyncio.get_running_loop().create_task(run())
        self._companions.add(task)

    def drop(self) -> None:
        """End the connection without a word."""
        self._connection.transport.abort()

    def ended(self) -> None:
        for task in self._companions:
            task.cancel()
        frame = self._connection.protocol.close_rcvd
        self.close_frame = (frame.code, frame.reason) if frame else None
        self.is_open = False
