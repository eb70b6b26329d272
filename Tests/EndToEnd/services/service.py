"""What all stand-ins for services share: a WebSocket server that writes down what its clients do wrong."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.frames import Frame
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from harness.patience import Deadline

from .session import Ended, Session, WatchedConnection

__all__ = ["Breach", "Ended", "Service", "Session"]

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
            create_connection=WatchedConnection,
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
        assert isinstance(connection, WatchedConnection)
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
            session.mistake(error)
            raise
        await connection.wait_closed()
        session.ended()
        self.left(session)
        self.changed()
