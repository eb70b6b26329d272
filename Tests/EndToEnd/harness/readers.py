"""Hundreds of event streams, read by one thread as they come."""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import threading
from dataclasses import dataclass, field

from .event_source import Event, EventSourceParser
from .patience import Deadline


@dataclass
class Reading:
    """One stream, as far as it has come."""

    target: str
    bytes: bytearray = field(default_factory=bytearray)
    #: The connection has ended, by the bridge's doing.
    has_ended: bool = False

    @property
    def head(self) -> bytes:
        return bytes(self.bytes).partition(b"\r\n\r\n")[0]

    @property
    def has_begun(self) -> bool:
        return b"\nretry:" in self.bytes or b"\r\n\r\n" in self.bytes and "format" in self.target

    def body(self) -> tuple[bytes, bool]:
        """Return the body so far, and whether it has ended as its framing says."""
        rest = bytes(self.bytes).partition(b"\r\n\r\n")[2]
        if b"chunked" not in self.head.lower():
            return rest, self.has_ended
        pieces, at = [], 0
        while (end := rest.find(b"\r\n", at)) >= 0:
            size = int(rest[at:end], 16)
            piece = rest[end + 2 : end + 2 + size]
            pieces.append(piece)
            if size == 0:
                return b"".join(pieces), rest[end + 2 :] == b"\r\n"
            if len(piece) < size:
                break
            at = end + 2 + size + 2
        return b"".join(pieces), False

    def events(self) -> list[Event]:
        return EventSourceParser().feed(self.body()[0])

    def last_retry(self) -> int | None:
        """Return the milliseconds that the client is told at the very end; None without that."""
        found = re.search(rb"\n\nretry: ?(\d+)\n\n$", self.body()[0])
        return int(found[1]) if found else None


class Readers:
    """Clients of event streams; whatever the bridge does with their connections is only noted."""

    def __init__(self, address: tuple[str, int]):
        self._address = address
        self._selector = selectors.DefaultSelector()
        self._news = threading.Condition()
        self._is_over = False
        self.readings: list[Reading] = []
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()
        for one in self._sockets:
            one.close()
        self._selector.close()

    def open(self, target: str, count: int = 1, *, version: str = "1.1", fields: str = "") -> list[Reading]:
        """Open so many streams, and wait until they have begun."""
        added = []
        for _ in range(count):
            one = socket.create_connection(self._address, Deadline("connect").left())
            one.sendall(f"GET {target} HTTP/{version}\r\nHost: localhost\r\n{fields}\r\n".encode())
            one.setblocking(False)
            reading = Reading(target)
            added.append(reading)
            with self._news:
                self._sockets.append(one)
                self.readings.append(reading)
                self._selector.register(one, selectors.EVENT_READ, reading)
        self.until(lambda: all(it.has_begun for it in added), f"{count} streams of {target} begin")
        return added

    def ended(self) -> None:
        """Wait until the bridge has ended every connection."""
        self.until(lambda: all(it.has_ended for it in self.readings), "all streams end")

    def until(self, holds, what: str) -> None:
        deadline = Deadline(what)
        with self._news:
            while not holds():
                self._news.wait(deadline.left())

    def _run(self) -> None:
        while not self._is_over:
            with self._news:
                # What is registered meanwhile is seen in the next round.
                ready = self._selector.select(0) if self._selector.get_map() else []
                for key, _ in ready:
                    self._read(key.fileobj, key.data)
                if ready:
                    self._news.notify_all()
            if not ready:
                with contextlib.suppress(OSError):
                    self._selector.select(0.02)

    def _read(self, one, reading: Reading) -> None:
        try:
            piece = one.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        reading.bytes += piece
        if not piece:
            reading.has_ended = True
            self._selector.unregister(one)
