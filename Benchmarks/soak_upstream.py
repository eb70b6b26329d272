"""The upstream of `soak.py`: says something, and ends the connection in one way after the other."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import itertools
import re
import ssl
import zlib

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3
_TEXT = b"What is said again and again. " * 100


class Upstream:
    """A WebSocket server on a free port of the loopback interface."""

    def __init__(self, tls: ssl.SSLContext | None = None, *, refuses: bool = False, stays: bool = False):
        """Every handshake gets 403 if it `refuses`; if it `stays` the connections are left to the bridge."""
        #: Connections at this moment.
        self._open_now = 0
        self._change = asyncio.Condition()
        self._tls = tls
        self._refuses = refuses
        self._stays = stays
        self._endings = itertools.cycle([self._close, self._end, self._break_off, self._blunder])

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls, backlog=1024)

    @property
    def url(self) -> str:
        return f"{'wss' if self._tls else 'ws'}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = await reader.readuntil(b"\r\n\r\n")
            if self._refuses:
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno.\n")
            else:
                self._open(writer, head)
                await self._count(+1)
                try:
                    if not self._stays:
                        next(self._endings)(writer)
                    # The bridge's close frame, the first thing that it says; then the server ends it.
                    await reader.read(65536)
                finally:
                    await self._count(-1)
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    async def has(self, count: int) -> None:
        """Wait until there are so many connections."""
        async with asyncio.timeout(120), self._change:
            await self._change.wait_for(lambda: self._open_now == count)

    async def _count(self, change: int) -> None:
        async with self._change:
            self._open_now += change
            self._change.notify_all()

    def _open(self, writer: asyncio.StreamWriter, head: bytes) -> None:
        key = re.search(rb"(?i)\r\nsec-websocket-key: *(\S+)", head)
        assert key
        accept = base64.b64encode(hashlib.sha1(key[1] + _GUID).digest())
        compresses = b"permessage-deflate" in head
        extensions = b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if compresses else b""
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n%b\r\n" % (accept, extensions)
        )
        writer.write(_frame(0xC1, _deflated(_TEXT)) if compresses else _frame(0x81, _TEXT))

    # The ways in which it ends

    @staticmethod
    def _close(writer: asyncio.StreamWriter) -> None:
        writer.write(_frame(0x88, b"\x03\xe9bye"))

    @staticmethod
    def _end(writer: asyncio.StreamWriter) -> None:
        writer.close()

    @staticmethod
    def _break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(_frame(0x81, _TEXT)[:100])
        writer.close()

    @staticmethod
    def _blunder(writer: asyncio.StreamWriter) -> None:
        writer.write(_frame(0x83, b"a frame that there is not"))


def _frame(first: int, payload: bytes) -> bytes:
    if len(payload) < 126:
        return bytes([first, len(payload)]) + payload
    return bytes([first, 126]) + len(payload).to_bytes(2) + payload


def _deflated(text: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    # RFC 7692 §7.2.1: less the empty block at the end.
    return (compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]
