"""`rate`: how much is sent, heartbeats included. That no span holds more is proven on a virtual clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness import Bridge, Upstream, await_truth

Serve = Callable[..., Bridge]


def keep(upstream: Upstream, messages: int, per: str, **settings: Any) -> str:
    connection = {
        "url": upstream.url,
        "rate": {"messages": messages, "per": per},
        "heartbeat": {"interval": 0},
        "reconnect": {"initialDelay": "10ms", "factor": 1},
        **settings,
    }
    return json.dumps({"connections": {"default": connection}})


def test_what_is_beyond_the_rate_waits_also_over_reconnects(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, 2, "1h"))
    for text in ("one", "two"):
        assert bridge.post("/messages?wait=30s", text.encode()).status == 200
    held = bridge.post("/messages?wait=200ms", b"three")
    assert (held.status, held.json()["state"]) == (202, "queued")
    first = upstream.peer()
    assert first.received(2) == ["one", "two"]
    first.drop()
    second = upstream.peer(1)
    bridge.await_ready()
    assert bridge.post("/messages?wait=200ms", b"four").status == 202
    assert bridge.status()["outbox"]["messages"] == 2
    assert (first.messages, second.messages) == (["one", "two"], [])


def test_what_waits_for_the_rate_goes_in_order(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, 3, "50ms"))
    for number in range(20):
        bridge.send(str(number))
    assert upstream.peer().received(20) == [str(number) for number in range(20)]


def test_heartbeats_count_and_one_that_is_held_is_no_miss(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, 3, "1h", heartbeat={"interval": "50ms", "missLimit": 1}))
    peer = upstream.peer()
    await_truth(lambda: len(peer.pings) == 3, "three heartbeats at the upstream")
    # Twenty more fall due meanwhile.
    assert bridge.post("/messages?wait=1s", b"held").status == 202
    status = bridge.status()
    counters = status["counters"]
    assert (counters["heartbeatsSent"], counters["heartbeatsMissed"], counters["closes"]) == (3, 0, 0)
    assert status["state"] == "open"
    assert (len(peer.pings), peer.messages) == (3, [])


def test_pongs_and_close_frames_are_not_held(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, 1, "1h"))
    peer = upstream.peer()
    assert bridge.post("/messages?wait=30s", b"one").status == 200
    for number in range(5):
        peer.ping(b"%d" % number)
    bridge.post("/disconnect", b'{"code":4000}', "application/json")
    assert peer.left() == (4000, "")


def test_a_full_outbox_does_not_starve_heartbeats(upstream: Upstream, serve_file: Serve) -> None:
    settings = {"heartbeat": {"interval": "60ms", "missLimit": 1}, "outbox": {"maxMessages": 20_000}}
    bridge = serve_file(keep(upstream, 1, "20ms", **settings))
    peer = upstream.peer()
    lines = b"\n".join(b"%d" % number for number in range(20_000))
    assert bridge.post("/messages", lines, "application/x-ndjson").status == 202
    await_truth(lambda: len(peer.pings) >= 5, "heartbeats at the upstream")
    status = bridge.status()
    assert status["outbox"]["messages"] > 0
    assert status["counters"]["heartbeatsMissed"] == 0
    count = len(peer.messages)
    assert peer.messages == [str(number) for number in range(count)]


def test_pings_that_confirm_count(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, 3, "1h", outbox={"confirm": "pong"}))
    lines = b"one\ntwo\nthree"
    assert bridge.post("/messages?wait=200ms", lines, "application/x-ndjson").status == 202
    peer = upstream.peer()
    bridge.await_status(lambda status: status["counters"]["sent"] == 2, "two are confirmed")
    assert peer.received(2) == ["one", "two"]
    assert len(peer.pinged(1)) == 1
    assert peer.messages == ["one", "two"]
    assert bridge.status()["outbox"]["messages"] == 1
