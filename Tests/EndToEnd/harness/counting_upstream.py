"""An upstream that counts sockets, for what must never be there twice."""

from __future__ import annotations

import contextlib
import random
import selectors
import socket
import struct
import threading

from .patience import Deadline
from .raw_upstream import accept_value, frame

#: How a connection is treated, each as likely as it stands here.
DECENT = "decent"
BEHAVIOURS = (
    DECENT,
    DECENT,
    DECENT,
    DECENT,
    # The handshake is refused; accepted, and then closed at once; accepted, and then dropped.
    "refuse",
    "close",
    "drop",
    # The handshake is never answered; the bridge's close frame is not.
    "silent",
    "deaf",
)


class _Connection:
    """One socket of the bridge, of which everything is read at once that has come."""

    def __init__(self, wire: socket.socket, behaviour: str):
        self.wire = wire
        self.behaviour = behaviour
        #: Neither the bridge's FIN nor its RST was read, and we have not ended it ourselves.
        self.is_live = True
        self.is_open = False
        self._buffer = bytearray()

    def read(self) -> bool:
        """Read what has come; return whether the socket is still there."""
        while True:
            try:
                piece = self.wire.recv(1 << 16)
            except BlockingIOError:
                return self._understand()
            except OSError:
                piece = b""
            if not piece:
                return self.end()
            self._buffer += piece

    def _understand(self) -> bool:
        if not self.is_open:
            head, end, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not end or self.behaviour == "silent":
                return True
            self._buffer = bytearray(rest)
            return self._answer(head)
        while (found := self._frame()) is not None:
            opcode, payload = found
            if opcode == 9:
                self.send(frame(10, payload))
            if opcode == 8 and self.behaviour != "deaf":
                self.send(frame(8, payload[:2]))
                return self.end()
        return True

    def _answer(self, head: bytes) -> bool:
        if self.behaviour == "refuse":
            self.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            return self.end()
        self.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept_value(head)
        )
        self.is_open = True
        if self.behaviour == "close":
            self.send(frame(8, struct.pack("!H", 1012)))
        return self.end() if self.behaviour == "drop" else self._understand()

    def _frame(self) -> tuple[int, bytes] | None:
        """Take a frame of the bridge from what was read; all of them are masked and short."""
        if len(self._buffer) < 2:
            return None
        length, start = self._buffer[1] & 0x7F, 2
        if length == 126:
            if len(self._buffer) < 4:
                return None
            length, start = struct.unpack("!H", self._buffer[2:4])[0], 4
        assert length < 65536
        if len(self._buffer) < start + 4 + length:
            return None
        key, payload = self._buffer[start : start + 4], self._buffer[start + 4 : start + 4 + length]
        opcode = self._buffer[0] & 0x0F
        del self._buffer[: start + 4 + length]
        return opcode, bytes(byte ^ key[index % 4] for index, byte in enumerate(payload))

    def send(self, data: bytes) -> None:
        # One whose buffer is full, or who has gone, does not get it.
        with contextlib.suppress(OSError):
            self.wire.send(data)

    def end(self) -> bool:
        self.is_live = False
        self.wire.close()
        return False


class CountingUpstream:
    """A WebSocket server for one connection of a bridge, on a free port, that counts its live sockets.

    A socket is *live* from when it is accepted until the bridge's FIN or RST was read, or the server has
    ended it; a close frame alone does not end it. Before a new one counts, everything is read that has come
    on the others: what the bridge did with them before it dialled has come by then.
    """

    def __init__(self, seed: int):
        self._dice = random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._connections: list[_Connection] = []
        self._news = threading.Condition()
        self._is_stopped = False
        #: From now on new sockets are all treated well.
        self.is_decent = False
        self.accepted = 0
        self.most = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        host, port = self._listener.getsockname()
        return f"ws://{host}:{port}/"

    @property
    def live(self) -> int:
        with self._news:
            return sum(connection.is_live for connection in self._connections)

    def await_open(self) -> None:
        """Wait until there is one socket, and it is open and treated well."""
        deadline = Deadline("one open socket at the upstream")
        with self._news:
            while [(it.is_open, it.behaviour) for it in self._connections if it.is_live] != [(True, DECENT)]:
                self._news.wait(deadline.left())

    def stop(self) -> None:
        self._is_stopped = True
        self._thread.join()
        self._listener.close()
        for connection in self._connections:
            connection.end()

    def _run(self) -> None:
        while not self._is_stopped:
            ready = [key.fileobj for key, _ in self._selector.select(0.005)]
            with self._news:
                if self._listener in ready:
                    self._accept()
                self._read()
                # So that there is always something under way, in both directions.
                for connection in self._connections:
                    if connection.is_open and connection.is_live:
                        connection.send(frame(1, b"tick"))
                self._news.notify_all()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                wire, _ = self._listener.accept()
                wire.setblocking(False)
                self._read()
                behaviour = DECENT if self.is_decent else self._dice.choice(BEHAVIOURS)
                self._connections.append(_Connection(wire, behaviour))
                self._selector.register(wire, selectors.EVENT_READ)
                self.accepted += 1
                self.most = max(self.most, sum(connection.is_live for connection in self._connections))

    def _read(self) -> None:
        for connection in list(self._connections):
            number = connection.wire.fileno()
            if not connection.read():
                self._connections.remove(connection)
                self._selector.unregister(number)
