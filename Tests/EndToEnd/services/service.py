"""What all stand-ins for services share: a WebSocket server that writes down what its clients do wrong."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

from harness.patience import Deadline

logging.getLogger("websockets").setLevel(logging.CRITICAL)


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all services of this process, on a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass(frozen=True)
class Breach:
    """A rule of the service that its client broke."""

    #: Where the service's documentation has the rule.
    clause: str
    what: str
    #: The number of the connection, from 0; None for what is no matter of one.
    session: int | None = None


class Ended(Exception):
    """The client is gone, or was sent away."""


class _WatchedConnection(ServerConnection):
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

    def __init__(self, service: Service, connection: _WatchedConnection, number: int):
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
            with contextlib.suppress(Ended):
                await coroutine

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


class Service:
    """A WebSocket server on the loopback interface that a subclass makes a particular service.

    A subclass says in `converse` what it does with a connection, and in `admit` which handshakes it refuses.
    Rules are checked there, and broken ones written down by `breach`. Tests call what is no coroutine from
    their own thread, and coroutines with `run`.
    """

    #: What is understood; the first of these that the client offers is chosen, or none.
    subprotocols: ClassVar[list[str] | None] = None
    #: The path and query of `url`.
    path: ClassVar[str] = "/"

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.breaches: list[Breach] = []
        self._news = threading.Condition()
        self._stopped = False
        self._server = self.run(self._start())
        self.port: int = next(iter(self._server.sockets)).getsockname()[1]

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path}"

    # What a subclass says

    async def converse(self, session: Session) -> None:
        """Speak to a client whose handshake is done; at the end the connection is closed with 1000."""
        raise NotImplementedError

    def admit(self, request: Request) -> tuple[int, str] | None:
        """Return the HTTP status and text with which a handshake is refused; None for one that is right."""
        return None

    def control_frame(self, session: Session, frame: Frame) -> None:
        """A ping, pong or close frame came, which the library answers by itself."""

    def left(self, session: Session) -> None:
        """A connection is over, and its `close_frame` known."""

    # What happens

    def breach(self, clause: str, what: str, session: Session | None = None) -> None:
        """Write down that a client broke a rule."""
        with self._news:
            self.breaches.append(Breach(clause, what, session.number if session else None))
            self._news.notify_all()

    def after(self, seconds: float, judge: Callable[[], None]) -> asyncio.TimerHandle:
        """Judge something later, whatever becomes of connections; called on the service's loop."""

        def act() -> None:
            if not self._stopped:
                judge()

        return _loop().call_later(seconds, act)

    def changed(self) -> None:
        """Something that tests may wait for has changed."""
        with self._news:
            self._news.notify_all()

    def await_truth(self, holds: Callable[[], Any], what: str) -> None:
        """Wait until something holds that changes with messages, breaches and connections."""
        deadline = Deadline(what)
        with self._news:
            while not holds():
                self._news.wait(deadline.left())

    def session(self, number: int = 0) -> Session:
        """Wait for connection `number`, from 0."""
        self.await_truth(lambda: len(self.sessions) > number, f"connection {number} of the service")
        return self.sessions[number]

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the service's loop, from a test's thread, and return what it does."""
        return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result(
            Deadline("the service acts").left()
        )

    def drop(self) -> None:
        """End all connections without a word."""

        async def drop() -> None:
            for session in self.sessions:
                if session.is_open:
                    session.drop()

        self.run(drop())

    def close(self, code: int, reason: str = "") -> None:
        """Close all connections with this code."""

        async def close() -> None:
            await asyncio.gather(*(each.close(code, reason) for each in self.sessions if each.is_open))

        self.run(close())

    def stop(self) -> None:
        async def stop() -> None:
            self._stopped = True
            self._server.close(close_connections=False)
            for connection in list(self._server.connections):
                connection.transport.abort()
            await self._server.wait_closed()

        self.run(stop())

    # The server

    async def _start(self) -> Server:
        return await serve(
            self._handle,
            host="127.0.0.1",
            port=0,
            select_subprotocol=self._select_subprotocol,
            process_request=self._process_request,
            create_connection=_WatchedConnection,
            ping_interval=None,
            close_timeout=2,
        )

    def _select_subprotocol(self, _: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        return next((name for name in offered if name in (self.subprotocols or [])), None)

    def _process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        refusal = self.admit(request)
        if refusal is None:
            return None
        status, text = refusal
        return connection.respond(status, text + "\n")  # type: ignore[arg-type]

    async def _handle(self, connection: ServerConnection) -> None:
        assert isinstance(connection, _WatchedConnection)
        session = Session(self, connection, len(self.sessions))
        with self._news:
            self.sessions.append(session)
            self._news.notify_all()
        try:
            await self.converse(session)
            await session.close()
        except Ended:
            pass
        except Exception as error:
            # Else the stand-in would seem content with what it could not judge.
            session.breach("the stand-in itself", f"it failed: {error!r}")
            raise
        await connection.wait_closed()
        session.ended()
        self.left(session)
        self.changed()
