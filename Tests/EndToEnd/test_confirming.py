"""`confirm: pong`: a message is sent when the upstream has it, and what it may not have is written again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from harness import Bridge, RawPeer, RawUpstream, Upstream, await_truth
from harness.raw_upstream import frame

Serve = Callable[..., Bridge]
TEXT, PING, PONG = 1, 9, 10


def keep(url: str, confirm: str = "pong", **settings: Any) -> str:
    connection = {
        "url": url,
        "heartbeat": {"interval": 0},
        "reconnect": {"initialDelay": "10ms", "factor": 1, "jitter": 0},
        "outbox": {"confirm": confirm},
        **settings,
    }
    return json.dumps({"connections": {"default": connection}})


def state(bridge: Bridge, identifier: str) -> str:
    return bridge.get(f"/outbox/{identifier}").json()["state"]


def test_a_message_is_sent_when_a_later_ping_came_back(serve_file: Serve, raw_upstream: RawUpstream) -> None:
    bridge = serve_file(keep(raw_upstream.url))
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    identifier = bridge.send("hello").json()["id"]
    assert peer.frame() == (TEXT, b"hello")
    opcode, payload = peer.frame()
    assert opcode == PING
    assert state(bridge, identifier) == "queued"
    assert bridge.status()["outbox"]["messages"] == 1
    assert bridge.request("DELETE", "/outbox").json() == {"dropped": 0}
    # A pong that nobody asked for proves nothing.
    peer.send(frame(PONG, b"unsolicited"))
    assert bridge.post("/messages?wait=100ms", b"second").json()["state"] == "queued"
    assert peer.frame() == (TEXT, b"second")
    peer.send(frame(PONG, payload))
    bridge.await_status(lambda status: status["counters"]["sent"] == 1, "the first message is confirmed")
    assert state(bridge, identifier) == "sent"
    opcode, payload = peer.frame()
    assert opcode == PING
    peer.send(frame(PONG, payload))
    bridge.await_status(lambda status: status["outbox"]["messages"] == 0, "the second is confirmed, too")


def test_a_post_that_waits_waits_for_the_proof(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream.url))
    peer = upstream.peer()
    response = bridge.post("/messages?wait=30s", b"hello")
    assert (response.status, response.json()["state"]) == (200, "sent")
    assert peer.received(1) == ["hello"]
    assert len(peer.pinged(1)) == 1


def test_one_ping_confirms_many_messages(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream.url))
    peer = upstream.peer()
    bridge.await_ready()
    lines = b"\n".join(b"%d" % number for number in range(200))
    response = bridge.post("/messages?wait=30s", lines, "application/x-ndjson")
    assert response.status == 200
    assert peer.received(200) == [str(number) for number in range(200)]
    assert len(peer.pinged(1)) == 1


def test_heartbeats_confirm_as_well(serve_file: Serve, raw_upstream: RawUpstream) -> None:
    bridge = serve_file(keep(raw_upstream.url, heartbeat={"interval": "100ms", "missLimit": 1000}))
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    bridge.send("hello")
    # A server need answer the newest ping only (RFC 6455 §5.5.3): passes over one of each kind.
    frames = [peer.frame() for _ in range(5)]
    assert [payload for opcode, payload in frames if opcode == TEXT] == [b"hello"]
    peer.send(frame(PONG, frames[-1][1]))
    bridge.await_status(lambda status: status["counters"]["sent"] == 1, "the message is confirmed")


@pytest.mark.parametrize(("confirm", "is_lost"), [("written", True), ("pong", False)])
def test_what_a_crashed_upstream_had_swallowed(
    serve_file: Serve, raw_upstream: RawUpstream, confirm: str, is_lost: bool
) -> None:
    bridge = serve_file(keep(raw_upstream.url, confirm))
    first = raw_upstream.accept()
    first.accept_handshake()
    bridge.await_ready()
    for text in ("one", "two"):
        bridge.send(text)
    if is_lost:
        bridge.await_status(lambda status: status["counters"]["sent"] == 2, "both are sent")
    assert first.frame() == (TEXT, b"one")
    first.reset()
    second = raw_upstream.accept()
    second.accept_handshake()
    bridge.await_ready()
    bridge.send("three")
    texts = (payload for opcode, payload in second.frames() if opcode == TEXT)
    expected = [b"three"] if is_lost else [b"one", b"two", b"three"]
    assert [next(texts) for _ in expected] == expected


class FickleServer:
    """Plays an upstream that gets some of the messages and then crashes, again and again."""

    def __init__(self, upstream: RawUpstream):
        self._upstream = upstream
        #: What it understood, in order, again if it came again.
        self.got: list[int] = []
        #: What the bridge must know that it understood.
        self.confirmed: set[int] = set()

    def accept(self) -> RawPeer:
        peer = self._upstream.accept()
        peer.accept_handshake()
        self._here: list[int] = []
        self._answered: list[int] = []
        return peer

    def handle(self, peer: RawPeer) -> bool:
        """Handle one frame; return whether it was a message."""
        opcode, payload = peer.frame()
        if opcode == PING:
            # Only the answer to the last one can have brought the bridge to ask again.
            self.confirmed.update(self._answered)
            peer.send(frame(PONG, payload))
            self._answered = list(self._here)
            return False
        assert opcode == TEXT
        number = int(payload)
        assert number not in self.confirmed, f"{number} came again although it was confirmed"
        self._here.append(number)
        self.got.append(number)
        return True


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_over_many_crashes(serve_file: Serve, raw_upstream: RawUpstream, seed: int) -> None:
    dice = random.Random(seed)
    bridge = serve_file(keep(raw_upstream.url))
    fickle = FickleServer(raw_upstream)
    posted = 0
    for _ in range(30):
        peer = fickle.accept()
        count = dice.randint(1, 12)
        # Some while it is up, some while it is not or not yet known to be.
        for _ in range(count):
            bridge.send(str(posted))
            posted += 1
        understood = dice.randint(0, count)
        while understood > 0:
            understood -= fickle.handle(peer)
        # The bridge had its turns to write whatever it wants to.
        bridge.status()
        peer.reset()
    peer = fickle.accept()
    bridge.send(str(posted))
    while posted not in fickle.got:
        fickle.handle(peer)
    opcode, payload = peer.frame()
    assert opcode == PING
    peer.send(frame(PONG, payload))
    bridge.await_status(lambda status: status["outbox"]["messages"] == 0, "all is confirmed")
    assert list(dict.fromkeys(fickle.got)) == list(range(posted + 1))
    counters = bridge.status()["counters"]
    assert (counters["sent"], counters["dropped"], counters["expired"]) == (posted + 1, 0, 0)


def test_an_upstream_that_drops_after_a_few_messages_gets_all_in_the_end(
    serve_file: Serve, raw_upstream: RawUpstream
) -> None:
    bridge = serve_file(keep(raw_upstream.url, connect="manual"))
    for number in range(40):
        bridge.send(str(number))
    bridge.post("/connect")
    fickle = FickleServer(raw_upstream)
    for _ in range(60):
        peer = fickle.accept()
        if bridge.status()["outbox"]["messages"] == 0:
            break
        understood = 0
        while understood < 3 and 39 not in fickle.got:
            understood += fickle.handle(peer)
        if 39 in fickle.got:
            fickle.handle(peer)
            break
        peer.half_close()
        peer.gone()
    bridge.await_status(lambda status: status["outbox"]["messages"] == 0, "all is confirmed")
    assert list(dict.fromkeys(fickle.got)) == list(range(40))


def test_without_answers_the_outbox_fills(serve_file: Serve, raw_upstream: RawUpstream) -> None:
    outbox = {"confirm": "pong", "maxMessages": 3}
    bridge = serve_file(keep(raw_upstream.url, outbox=outbox))
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    for text in ("one", "two", "three"):
        bridge.send(text)
    texts = [payload for opcode, payload in (peer.frame() for _ in range(4)) if opcode == TEXT]
    assert texts == [b"one", b"two", b"three"]
    assert bridge.post("/messages", b"four").status == 503


def test_unconfirmed_messages_count_as_recorded_once(serve_file: Serve, raw_upstream: RawUpstream) -> None:
    configuration = json.loads(keep(raw_upstream.url))
    configuration["history"] = {"includeSent": True}
    bridge = serve_file(json.dumps(configuration))
    first = raw_upstream.accept()
    first.accept_handshake()
    bridge.await_ready()
    bridge.send("hello")
    assert first.frame() == (TEXT, b"hello")
    first.reset()
    second = raw_upstream.accept()
    second.accept_handshake()
    assert second.frame() == (TEXT, b"hello")
    _, payload = second.frame()
    second.send(frame(PONG, payload))
    await_truth(lambda: bridge.status()["counters"]["sent"] == 1, "it is confirmed")
    page = bridge.get("/messages?direction=out").json()
    assert [message["data"] for message in page["messages"]] == ["hello"]
