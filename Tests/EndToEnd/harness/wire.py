"""A TCP connection read with deadlines."""

from __future__ import annotations

import socket
import ssl
import struct

from .patience import Deadline

_READ_SIZE = 65536


class SecureAddress(tuple[str, int]):
    """Where TLS is spoken: an address with the settings to speak it with."""

    context: ssl.SSLContext
    #: What the certificate must be for.
    name: str

    @classmethod
    def of(cls, host: str, port: int, context: ssl.SSLContext, name: str = "localhost") -> SecureAddress:
        address = cls((host, port))
        address.context = context
        address.name = name
        return address


class Wire:
    """A client's socket and the bytes that arrived on it but were not taken yet."""

    def __init__(self, address: tuple[str, int], *, receive_buffer: int | None = None):
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer is not None:
            # Before connecting, because the window is agreed on in the TCP handshake.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(Deadline("connect").left())
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if isinstance(address, SecureAddress):
            try:
                self.socket = address.context.wrap_socket(self.socket, server_hostname=address.name)
            except OSError:
                self.socket.close()
                raise
        self._buffer = bytearray()

    def send(self, data: bytes) -> None:
        self.socket.settimeout(Deadline("send").left())
        self.socket.sendall(data)

    def take(self, most: int, deadline: Deadline) -> bytes:
        """Return 1 to `most` bytes, or none at the end of the stream."""
        if not self._buffer and not self._fill(deadline):
            return b""
        piece = bytes(self._buffer[:most])
        del self._buffer[:most]
        return piece

    def take_exactly(self, count: int, deadline: Deadline) -> bytes:
        while len(self._buffer) < count:
            if not self._fill(deadline):
                raise ConnectionError(f"the stream ended after {bytes(self._buffer)!r}: {deadline.what}")
        piece = bytes(self._buffer[:count])
        del self._buffer[:count]
        return piece

    def take_through(self, mark: bytes, deadline: Deadline) -> bytes:
        """Return everything up to and including the first `mark`."""
        searched = 0
        while (at := self._buffer.find(mark, searched)) < 0:
            searched = max(0, len(self._buffer) - len(mark) + 1)
            if not self._fill(deadline):
                raise ConnectionError(f"the stream ended after {bytes(self._buffer)!r}: {deadline.what}")
        return self.take_exactly(at + len(mark), deadline)

    def take_all(self, deadline: Deadline) -> bytes:
        """Return everything that comes until the peer closes or resets the connection."""
        try:
            while self._fill(deadline):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
        everything = bytes(self._buffer)
        self._buffer.clear()
        return everything

    def half_close(self) -> None:
        # Of the connection, whatever is spoken on it.
        socket.socket.shutdown(self.socket, socket.SHUT_WR)

    def reset(self) -> None:
        """Close with an RST, as a crashed machine's kernel would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        self.socket.close()

    def _fill(self, deadline: Deadline) -> bool:
        self.socket.settimeout(deadline.left())
        try:
            piece = self.socket.recv(_READ_SIZE)
        except TimeoutError as error:
            raise TimeoutError(f"not within {deadline.seconds:g} s: {deadline.what}") from error
        self._buffer += piece
        return bool(piece)
