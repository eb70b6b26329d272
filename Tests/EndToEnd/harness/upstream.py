"""An independent WebSocket server (Python's `websockets`) that remembers what the bridge did to it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import hashlib
import http
import logging
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response

from .network import IsolatedNetwork
from .patience import Deadline

T = TypeVar("T")
Message = str | bytes

# Its tracebacks of connections that tests break on purpose would only hide the failures.
logging.getLogger("websockets").setLevel(logging.CRITICAL)


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all upstreams of this process, on a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _start(coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def _run(coroutine: Coroutine[Any, Any, T], what: str) -> T:
    return _start(coroutine).result(Deadline(what).left())


class _RecordingConnection(ServerConnection):
    """Keeps the control frames that the library answers by itself."""

    def __init__(self, news: threading.Condition, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._news = news
        self.pings: list[bytes] = []
        self.pongs: list[bytes] = []

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame) and event.opcode in (Opcode.PING, Opcode.PONG):
            with self._news:
                (self.pings if event.opcode is Opcode.PING else self.pongs).append(bytes(event.data))
                self._news.notify_all()
        super().process_event(event)


class Peer:
    """The upstream's end of one connection that the bridge opened."""

    def __init__(self, connection: _RecordingConnection, news: threading.Condition):
        self._connection = connection
        self._news = news
        assert connection.request
        self.request: Request = connection.request
        self.messages: list[Message] = []
        self.pings = connection.pings
        self.pongs = connection.pongs
        #: Code and reason of the bridge's close frame (1005 if it had none), None without one.
        self.close_frame: tuple[int, str] | None = None
        self.gone = False

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the certificate that the bridge showed."""
        secure = self._connection.transport.get_extra_info("ssl_object")
        return hashlib.sha256(secure.getpeercert(binary_form=True)).hexdigest()

    # What the upstream does

    def send(self, *messages: Message) -> None:
        """Send messages, and return once the last one is on its way."""
        self.start_sending(messages).result(Deadline("the upstream sends").left())

    def start_sending(
        self, messages: Iterable[Message], between: Callable[[], Awaitable[None]] | None = None
    ) -> concurrent.futures.Future[None]:
        """Send messages in the background, one after the other, with `between` after each."""

        async def send() -> None:
            for message in messages:
                await self._connection.send(message)
                if between:
                    await between()

        return _start(send())

    def send_fragments(self, *fragments: Message) -> None:
        """Send one message in several frames."""
        _run(self._connection.send(fragments), "the upstream sends fragments")

    def ping(self, payload: bytes) -> None:
        """Ping, and wait for the pong with the same payload."""

        async def ping() -> None:
            await (await self._connection.ping(payload))

        _run(ping(), "the bridge's pong")

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close with a close frame, and wait for the end of the closing handshake."""
        _run(self._connection.close(code, reason), "the closing handshake")

    def close_without_code(self) -> None:
        async def close() -> None:
            async with self._connection.send_context():
                self._connection.protocol.send_close()

        _run(close(), "the upstream sends an empty close frame")

    def drop(self) -> None:
        """End the TCP connection without a close frame."""
        _loop().call_soon_threadsafe(self._connection.transport.abort)

    # What the upstream saw

    def received(self, count: int) -> list[Message]:
        """Wait for this many messages in all, and return them."""
        self._await(lambda: len(self.messages) >= count, f"message {count} at the upstream")
        return self.messages[:count]

    def pinged(self, count: int) -> list[bytes]:
        """Wait for this many pings in all, and return the payloads of all that came."""
        # The library answers a ping before it tells of it, so the bridge may know of the answer first.
        self._await(lambda: len(self.pings) >= count, f"ping {count} at the upstream")
        return list(self.pings)

    def left(self) -> tuple[int, str] | None:
        """Wait for the end of the connection, and return the bridge's close frame."""
        self._await(lambda: self.gone, "the bridge closes the upstream connection")
        return self.close_frame

    async def run(self, answers: Callable[[Message], Message | None]) -> None:
        """Record what arrives, and answer it, until the connection ends."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = await self._connection.recv()
                if (answer := answers(message)) is not None:
                    # It came, and so may have more, though nobody is there any more to be answered.
                    with contextlib.suppress(ConnectionClosed):
                        await self._connection.send(answer)
                with self._news:
                    self.messages.append(message)
                    self._news.notify_all()
        await self._connection.wait_closed()
        with self._news:
            frame = self._connection.protocol.close_rcvd
            self.close_frame = (frame.code, frame.reason) if frame else None
            self.gone = True
            self._news.notify_all()

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        _await(self._news, holds, what)


class Upstream:
    """A WebSocket server on a free port of the loopback interface, another address, or a unix socket."""

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        compression: str | None = "deflate",
        subprotocols: list[str] | None = None,
        refuse: int | None = None,
        close_at_once: int | None = None,
        away: bool = False,
        max_size: int | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        path: Path | None = None,
        namespace: IsolatedNetwork | None = None,
        answers: Callable[[Message], Message | None] = lambda _: None,
    ):
        """Listen, unless `away`, on a port of `host` (in `namespace`), or on a unix socket at `path`.

        `refuse` answers every handshake with this HTTP status; `close_at_once` accepts and then closes with
        this code; a message of more than `max_size` bytes closes the connection with 1009. `answers` gives
        what to send at once for a message.
        """
        self.refuse = refuse
        self.close_at_once = close_at_once
        #: Requests for a handshake so far, refused ones included.
        self.dials = 0
        self.peers: list[Peer] = []
        self._answers = answers
        self._tls = tls
        self._compression = compression
        self._subprotocols: Any = subprotocols
        self._max_size = max_size
        self._news = threading.Condition()
        self._server: Server | None = None
        self._host = host
        self._namespace = namespace
        self._path = path
        # Holds the port as long as this lives, so that nobody else gets it while nobody listens there.
        self._placeholder = self._bound_socket(port)
        self.port: int = self._placeholder.getsockname()[1]
        if not away:
            self.come_back()

    @property
    def url(self) -> str:
        if self._path:
            return f"{'wss' if self._tls else 'ws'}+unix:{self._path}:/"
        return self.url_at(self._host)

    def url_at(self, host: str) -> str:
        """Return the URL under another name or address of the host."""
        return f"{'wss' if self._tls else 'ws'}://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def come_back(self) -> None:
        """Listen on the port."""

        async def start() -> Server:
            options: dict[str, Any] = {
                "ssl": self._tls,
                "compression": self._compression,
                "subprotocols": self._subprotocols,
                "process_request": self._process_request,
                "create_connection": functools.partial(_RecordingConnection, self._news),
                "max_size": self._max_size,
                "ping_interval": None,
                "close_timeout": 2,
            }
            if self._path:
                return await unix_serve(self._handle, path=str(self._path), **options)
            return await serve(self._handle, sock=self._bound_socket(self.port), **options)

        self._server = _run(start(), "the upstream listens")

    def go_away(self) -> None:
        """Stop listening and drop all connections; dials are refused by the kernel then."""
        server, self._server = self._server, None
        if server is None:
            return

        async def stop() -> None:
            server.close(close_connections=False)
            for connection in list(server.connections):
                connection.transport.abort()
            await server.wait_closed()

        _run(stop(), "the upstream goes away")

    def stop(self) -> None:
        self.go_away()
        self._placeholder.close()

    def peer(self, index: int = 0) -> Peer:
        """Wait for the bridge's connection number `index` (from 0)."""
        _await(self._news, lambda: len(self.peers) > index, f"connection {index} at the upstream")
        return self.peers[index]

    def received(self, count: int) -> list[Message]:
        """Wait for this many messages in all, over all connections, and return all that came."""

        def messages() -> list[Message]:
            return [message for peer in self.peers for message in peer.messages]

        _await(self._news, lambda: len(messages()) >= count, f"message {count} at the upstream")
        return messages()

    def dialled(self, count: int) -> None:
        """Wait for this many dials in all."""
        _await(self._news, lambda: self.dials >= count, f"dial {count} at the upstream")

    def _bound_socket(self, port: int) -> socket.socket:
        """Bind without listening; several such sockets may share a port while none of them listens."""
        with self._namespace or contextlib.nullcontext():
            bound = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((self._host, port))
        return bound

    def _process_request(self, connection: ServerConnection, _: Request) -> Response | None:
        with self._news:
            self.dials += 1
            self._news.notify_all()
        if self.refuse is not None:
            return connection.respond(http.HTTPStatus(self.refuse), "refused by the test\n")
        return None

    async def _handle(self, connection: ServerConnection) -> None:
        assert isinstance(connection, _RecordingConnection)
        peer = Peer(connection, self._news)
        with self._news:
            self.peers.append(peer)
            self._news.notify_all()
        if self.close_at_once is not None:
            await connection.close(self.close_at_once)
        await peer.run(self._answers)


def _await(news: threading.Condition, holds: Callable[[], bool], what: str) -> None:
    deadline = Deadline(what)
    with news:
        while not holds():
            news.wait(deadline.left())
