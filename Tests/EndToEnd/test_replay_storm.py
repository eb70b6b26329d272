"""Replay under 10,000 random disconnects of subscribers, while messages arrive at full speed."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from harness import PATIENCE, Bridge, Peer
from harness.event_source import Event, EventSourceParser

SUBSCRIBERS = 8
#: What a visit reads at most, in bytes.
VISIT = 4000
RESET = struct.pack("ii", 1, 0)


@dataclass
class Subscriber:
    """Reads some bytes, leaves in the midst of them, and comes back with the id that it saw last."""

    bridge: Bridge
    seed: int
    #: How often it leaves before it stays.
    visits: int
    stopping: threading.Event
    #: The id that it saw last.
    position: str = ""
    #: `since=start` begins with whatever is kept.
    first_number: int | None = None
    next_number: int = 0
    missed: int = 0
    events: int = 0
    gaps: int = 0
    disconnects: int = 0
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        generator = random.Random(self.seed)
        while self.disconnects < self.visits and not self.wrong:
            self._visit(generator.randint(1, VISIT), generator)
            self.disconnects += 1
        self.stopping.wait(PATIENCE)
        # The last time it stays until it has everything.
        self._visit(None, generator)

    def _visit(self, most: int | None, generator: random.Random) -> None:
        with socket.create_connection(self.bridge.address, timeout=PATIENCE) as wire:
            cursor = f"Last-Event-ID: {self.position}" if self.position else "X-First: yes"
            target = "/events" if self.position else "/events?since=start"
            idle = "" if most else ("&" if "?" in target else "?") + "idle=1s"
            wire.sendall(f"GET {target}{idle} HTTP/1.0\r\nHost: localhost\r\n{cursor}\r\n\r\n".encode())
            parser = EventSourceParser()
            head, _, body = _through_head(wire).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200") or head.startswith(b"HTTP/1.0 200"), head
            left = most
            while True:
                self._take(parser.feed(body if left is None else body[:left]))
                if left is not None:
                    left -= len(body)
                    if left <= 0:
                        break
                body = wire.recv(65536)
                if not body:
                    break
            if generator.random() < 0.5:
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self.position = event.id
            if event.type == "gap":
                self.gaps += 1
                self._skip(json.loads(event.data)["missed"])
                continue
            number = int(event.data)
            if self.first_number is None:
                self.first_number = self.next_number = number
            if number != self.next_number:
                self.wrong.append(f"{number} came and {self.next_number} was next, at {event.id}")
            self.next_number = number + 1
            self.events += 1

    def _skip(self, missed: int | None) -> None:
        if missed is None:
            self.wrong.append("a gap of unknown length")
        elif self.first_number is not None:
            self.missed += missed
            self.next_number += missed


def _through_head(wire: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = wire.recv(4096)
        assert piece, received
        received += piece
    return received


@pytest.fixture
def storm(serve_with) -> Iterator[Callable[..., tuple[list[Subscriber], int]]]:
    """Let subscribers come and go so many times together; return them, and how many messages came."""
    stopping = threading.Event()
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")

    def run(sections: str, disconnects: int, lead: int | None) -> tuple[list[Subscriber], int]:
        bridge, peer = serve_with(sections)
        each = disconnects // SUBSCRIBERS
        subscribers = [Subscriber(bridge, seed + index, each, stopping) for index in range(SUBSCRIBERS)]

        def is_early(count: int) -> bool:
            return lead is not None and count > lead + min(one.next_number for one in subscribers)

        sent = _flood(peer, stopping, is_early)
        with ThreadPoolExecutor(SUBSCRIBERS) as pool:
            runs = [pool.submit(subscriber.run) for subscriber in subscribers]
            while any(not run.done() for run in runs) and any(
                one.disconnects < each and not one.wrong for one in subscribers
            ):
                stopping.wait(0.05)
            stopping.set()
            for done in runs:
                done.result(PATIENCE)
        count = sent()
        bridge.await_status(lambda status: status["subscribers"] == 0, "all have left")
        assert bridge.status()["counters"]["received"] == count
        return subscribers, count

    yield run
    stopping.set()


def _flood(peer: Peer, stopping: threading.Event, is_early: Callable[[int], bool]) -> Callable[[], int]:
    """Send numbers as fast as they are taken, until told to stop; the answer waits for that and counts."""
    count = 0

    def numbers() -> Iterator[str]:
        nonlocal count
        while not stopping.is_set():
            yield str(count)
            count += 1

    async def breathe() -> None:
        if count % 50 == 0:
            await asyncio.sleep(0)
            while is_early(count) and not stopping.is_set():  # noqa: ASYNC110  # they read in other threads
                await asyncio.sleep(0.001)

    sending = peer.start_sending(numbers(), between=breathe)

    def finished() -> int:
        sending.result(PATIENCE)
        return count

    return finished


def test_nothing_is_lost_or_doubled_over_10_000_disconnects(storm) -> None:
    # What is kept is enough for the one that is farthest behind: then nothing at all may be missing.
    disconnects = 10_000
    subscribers, count = storm("history: { maxMessages: 10000 }", disconnects, lead=5000)
    for one in subscribers:
        assert (one.wrong, one.gaps) == ([], 0)
        assert (one.disconnects, one.first_number, one.events) == (disconnects // SUBSCRIBERS, 0, count)


def test_every_loss_that_a_short_history_forces_is_told_exactly(storm) -> None:
    disconnects = 2000
    subscribers, count = storm("history: { maxMessages: 20 }", disconnects, lead=None)
    for one in subscribers:
        assert one.wrong == []
        assert (one.disconnects, one.first_number + one.events + one.missed) == (
            disconnects // SUBSCRIBERS,
            count,
        )
    assert sum(one.gaps for one in subscribers) > SUBSCRIBERS
