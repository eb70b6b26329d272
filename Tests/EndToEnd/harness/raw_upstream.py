"""An upstream made of bytes, for what no decent server sends."""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import socket
import ssl
import struct
from collections.abc import Iterator

from .patience import Deadline

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3


def frame(
    opcode: int, payload: bytes = b"", *, fin: bool = True, reserved: int = 0, mask: bool = False
) -> bytes:
    """Return a frame; a server must not set `mask`."""
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    length = len(payload)
    if length < 126:
        head = struct.pack("!BB", first, length | mask << 7)
    elif length < 65536:
        head = struct.pack("!BBH", first, 126 | mask << 7, length)
    else:
        head = struct.pack("!BBQ", first, 127 | mask << 7, length)
    return head + (b"\0\0\0\0" if mask else b"") + payload


class RawPeer:
    """The upstream's end of one TCP connection."""

    def __init__(self, connection: socket.socket):
        self._socket = connection
        self._buffer = bytearray()

    def accept_handshake(self, then: bytes = b"") -> bytes:
        """Answer the handshake as RFC 6455 says, with neither extension nor subprotocol; return its head.

        `then` goes out in the same packet.
        """
        head = self.request()
        answer = (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n"
        )
        self.send(answer % accept_value(head) + then)
        return head

    def request(self) -> bytes:
        """Return the head of the handshake request."""
        deadline = Deadline("the handshake request")
        while b"\r\n\r\n" not in self._buffer:
            assert self._fill(deadline), "the bridge closed before its request was complete"
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        self._buffer = bytearray(rest)
        return head

    def send(self, data: bytes) -> None:
        self._socket.settimeout(Deadline("the upstream sends").left())
        self._socket.sendall(data)

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return self._exactly(count, Deadline(f"{count} bytes from the bridge"))

    def frame(self) -> tuple[int, bytes]:
        """Return opcode and payload of the next frame of the bridge."""
        deadline = Deadline("a frame from the bridge")
        first, second = self._exactly(2, deadline)
        assert second & 0x80, "a client must mask its frames"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._exactly(2, deadline))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._exactly(8, deadline))
        key = self._exactly(4, deadline)
        payload = self._exactly(length, deadline)
        # As one large number, since a byte at a time takes seconds for a large message.
        mask = int.from_bytes((key * (length // 4 + 1))[:length])
        return first & 0x0F, (int.from_bytes(payload) ^ mask).to_bytes(length)

    def sip(self, limit: int) -> None:
        """Take some bytes of the bridge, once there are any, to be made frames of later."""
        self._socket.settimeout(Deadline("something from the bridge").left())
        self._buffer += self._socket.recv(limit)

    def close_code(self) -> int:
        """Pass over frames up to the bridge's close frame, and return its code."""
        opcode, payload = self.frame()
        while opcode != 8:
            opcode, payload = self.frame()
        return struct.unpack("!H", payload[:2])[0]

    def close_frame(self) -> tuple[int | None, str]:
        """Pass over frames up to the bridge's close frame; return its code (None without one) and reason."""
        opcode, payload = self.frame()
        while opcode != 8:
            opcode, payload = self.frame()
        return (struct.unpack("!H", payload[:2])[0] if payload else None), payload[2:].decode()

    def gone(self) -> None:
        """Wait for the end of what the bridge sends."""
        deadline = Deadline("the bridge closes the connection")
        while self._fill(deadline):
            pass

    def close_notify(self) -> None:
        """Say over TLS that nothing follows, and wait until the bridge has said so, too."""
        assert isinstance(self._socket, ssl.SSLSocket)
        self._socket.settimeout(Deadline("close_notify").left())
        self._socket = self._socket.unwrap()

    def half_close(self) -> None:
        """Send no more; what the bridge sends is still received. Raises ConnectionError once it has reset."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            # Python has no class of its own for it.
            if error.errno == errno.ENOTCONN:
                raise ConnectionResetError(error.errno, error.strerror) from error
            raise

    def shut(self) -> None:
        """Neither send nor receive any more, also where another thread does just that."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Give the frames up to the end of the connection; the last one may be cut off, and is left out."""
        while True:
            try:
                yield self.frame()
            except AssertionError:
                return

    def close(self) -> None:
        self._socket.close()

    def reset(self) -> None:
        """Take what the bridge has sent, understand none of it, and crash: nobody gets anything any more."""
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self._socket.recv(65536):
                pass
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _exactly(self, count: int, deadline: Deadline) -> bytes:
        while len(self._buffer) < count:
            assert self._fill(deadline), f"the bridge closed after {bytes(self._buffer)!r}"
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self, deadline: Deadline) -> bool:
        self._socket.settimeout(deadline.left())
        piece = self._socket.recv(65536)
        self._buffer += piece
        return bool(piece)


class RawUpstream:
    """A TCP server on a free port of the loopback interface, or another; the test plays the server."""

    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server((host, 0), backlog=64)
        self._host = host
        self._tls = tls
        self._peers: list[RawPeer] = []

    @property
    def url(self) -> str:
        scheme = "wss" if self._tls else "ws"
        return f"{scheme}://{self._host}:{self._listener.getsockname()[1]}/"

    def accept(self) -> RawPeer:
        """Wait for the bridge's next connection."""
        self._listener.settimeout(Deadline("the bridge dials").left())
        connection, _ = self._listener.accept()
        if self._tls:
            connection.settimeout(Deadline("the TLS handshake").left())
            connection = self._tls.wrap_socket(connection, server_side=True)
        peer = RawPeer(connection)
        self._peers.append(peer)
        return peer

    def stop(self) -> None:
        self._listener.close()
        for peer in self._peers:
            peer.close()


def accept_value(head: bytes) -> bytes:
    """Return what `Sec-WebSocket-Accept` must be for this request."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"sec-websocket-key":
            return base64.b64encode(hashlib.sha1(value.strip() + _GUID).digest())
    raise AssertionError(f"no key in {head!r}")
