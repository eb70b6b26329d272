"""An upstream that takes messages, answers the close or does not, and can stop reading."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading

from .patience import PATIENCE, await_truth
from .raw_upstream import RawPeer, RawUpstream, frame


class Taker:
    """A WebSocket server for one bridge after the other; it ticks, so that streams have something to show.

    What it sends are the texts `tick 0`, `tick 1`, …
    """

    def __init__(self, *, answers_close: bool = True, ticks: bool = True):
        self._upstream = RawUpstream()
        self.url = self._upstream.url
        self._answers_close = answers_close
        self._ticks = ticks
        self._is_over = False
        self._may_read = threading.Event()
        self._may_read.set()
        self._may_tick = threading.Event()
        self._may_tick.set()
        self._numbers = itertools.count()
        #: What has come, for each connection.
        self.lives: list[list[str]] = []
        #: The codes with which the bridge has closed.
        self.closes: list[int | None] = []
        self._peers: list[RawPeer] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def texts(self) -> list[str]:
        """All that has come, in order."""
        return [text for life in self.lives for text in life]

    def stall(self) -> None:
        """Read nothing more, and say nothing."""
        self._may_tick.clear()
        self._may_read.clear()

    def go_on(self) -> None:
        self._may_read.set()
        self._may_tick.set()

    def has(self, texts: set[str]) -> None:
        """Wait until all these have come."""
        await_truth(lambda: not texts.difference(self.texts), "everything accepted arrives")

    def await_connection(self, count: int = 1) -> None:
        await_truth(lambda: len(self.lives) >= count, f"connection {count} at the upstream")

    def drained(self) -> None:
        """Wait until all that the kernel has of connections that have ended was read."""
        for thread in self._threads[1:]:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a connection has not ended"

    def stop(self) -> None:
        self._is_over = True
        self.go_on()
        # Wakes who waits for a connection.
        with contextlib.suppress(OSError):
            host, port = self.url.removeprefix("ws://").rstrip("/").rsplit(":", 1)
            socket.create_connection((host, int(port))).close()
        self._threads[0].join(PATIENCE)
        for peer in self._peers:
            # A thread that reads notices that, and not that the socket is closed.
            with contextlib.suppress(OSError):
                peer.shut()
        self._upstream.stop()

    def _accept(self) -> None:
        while not self._is_over:
            try:
                peer = self._upstream.accept()
            except TimeoutError:
                continue
            self._peers.append(peer)
            if not self._is_over:
                thread = threading.Thread(target=self._serve, args=(peer,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _serve(self, peer: RawPeer) -> None:
        life: list[str] = []
        with contextlib.suppress(OSError, AssertionError):
            peer.accept_handshake()
            self.lives.append(life)
            gone = threading.Event()
            if self._ticks:
                threading.Thread(target=self._tick, args=(peer, gone), daemon=True).start()
            try:
                self._take(peer, life)
            finally:
                gone.set()

    def _take(self, peer: RawPeer, life: list[str]) -> None:
        while True:
            self._may_read.wait()
            opcode, payload = peer.frame()
            if opcode == 1:
                life.append(payload.decode())
            elif opcode == 8:
                self.closes.append(struct.unpack("!H", payload[:2])[0] if payload else None)
                if self._answers_close:
                    peer.send(frame(8, payload[:2]))
                    peer.close()
                    return
            elif opcode == 9 and self._may_read.is_set():
                peer.send(frame(10, payload))

    def _tick(self, peer: RawPeer, gone: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while not gone.wait(0.005):
                if self._may_tick.is_set():
                    peer.send(frame(1, f"tick {next(self._numbers)}".encode()))
