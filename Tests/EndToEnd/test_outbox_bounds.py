"""Messages that cannot go: `maxAge`, `overflow`, `whenOffline`, `wakes`, `receiveOnly`, and 1009."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Upstream, await_truth

Serve = Callable[..., Bridge]


def keep(upstream: str, **settings: Any) -> str:
    """Return a file with one connection, which is dialled again soon unless the settings say otherwise."""
    reconnect = {"initialDelay": "10ms", "factor": 1, **settings.pop("reconnect", {})}
    connection = {"url": upstream, "reconnect": reconnect, **settings}
    return json.dumps({"http": {"maxBodyBytes": "32MiB"}, "connections": {"default": connection}})


def ask(bridge: Bridge, body: bytes) -> tuple[Client, str]:
    """POST a message that waits; return the connection of the answer to come, and the id."""
    known = {one["id"] for one in bridge.get("/outbox").json()["messages"]}
    client = bridge.client()
    client.send_head("POST", "/messages?wait=1m", {"Content-Length": str(len(body))})
    client.wire.send(body)

    def new() -> list[str]:
        return [one["id"] for one in bridge.get("/outbox").json()["messages"] if one["id"] not in known]

    return client, await_truth(new, "the message is in the outbox")[0]


def state(bridge: Bridge, identifier: str) -> str:
    return bridge.get(f"/outbox/{identifier}").json()["state"]


# maxAge


def test_a_message_expires_and_who_waits_for_it_is_told(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, outbox={"maxAge": "300ms"}))
    stream = bridge.stream("/events?types=status")
    response = bridge.post("/messages?wait=1m", b"too late")
    assert_problem(response, 409, "message-expired")
    identifier = stream.until_status("message-expired")["id"]
    assert identifier in response.json()["detail"]
    assert state(bridge, identifier) == "expired"
    status = bridge.status()
    assert (status["counters"]["expired"], status["counters"]["dropped"]) == (1, 0)
    assert status["outbox"] == {"messages": 0, "bytes": 0, "maxMessages": 1000, "oldestAgeMs": None}


def test_only_what_is_too_old_expires(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, outbox={"maxAge": "300ms"}))
    stream = bridge.stream("/events?types=status")
    bridge.send("old")
    stream.until_status("message-expired")
    away.come_back()
    assert bridge.post("/messages?wait=30s", b"new").status in (200, 409)
    bridge.await_ready()
    assert bridge.post("/messages?wait=30s", b"last").status == 200
    assert "old" not in away.peer().messages


# overflow


def test_a_full_outbox_refuses(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, outbox={"maxMessages": 2}))
    for text in ("one", "two"):
        bridge.send(text)
    response = bridge.post("/messages", b"three")
    assert_problem(response, 503, "outbox-full")
    assert int(response.header("Retry-After")) >= 1
    away.come_back()
    assert away.peer().received(2) == ["one", "two"]


def test_the_oldest_are_dropped_for_newer_ones(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, outbox={"maxMessages": 2, "overflow": "dropOldest"}))
    stream = bridge.stream("/events?types=status")
    client, first = ask(bridge, b"one")
    second = bridge.send("two").json()["id"]
    third = bridge.send("three").json()["id"]
    assert_problem(client.response("POST"), 409, "message-dropped")
    assert stream.until_status("message-dropped")["id"] == first
    assert [state(bridge, each) for each in (first, second, third)] == ["dropped", "queued", "queued"]
    status = bridge.status()
    assert (status["counters"]["dropped"], status["counters"]["expired"]) == (1, 0)
    assert (status["outbox"]["messages"], status["outbox"]["bytes"]) == (2, 8)
    away.come_back()
    assert away.peer().received(2) == ["two", "three"]
    bridge.await_status(lambda status: status["counters"]["sent"] == 2, "both are sent")


# whenOffline


def test_messages_can_be_refused_while_offline(away: Upstream, serve_file: Serve) -> None:
    reconnect = {"initialDelay": "1h", "maxDelay": "1h", "jitter": 0}
    bridge = serve_file(keep(away.url, outbox={"whenOffline": "reject"}, reconnect=reconnect))
    bridge.await_status(lambda status: status["state"] == "waiting", "a retry is scheduled")
    for target in ("/messages", "/messages?queue=true", "/messages?wait=1m"):
        response = bridge.post(target, b"now or never")
        assert_problem(response, 503, "upstream-unavailable")
        # The next attempt is an hour away, less what this test took.
        assert 3000 <= int(response.header("Retry-After")) <= 3600
    assert bridge.status()["outbox"]["messages"] == 0
    away.come_back()
    bridge.post("/connect")
    bridge.await_ready()
    assert bridge.post("/messages?wait=30s", b"now").status == 200
    assert away.peer().received(1) == ["now"]


# wakes


def test_a_connection_that_gave_up_takes_nothing(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, reconnect={"maxRetries": 1}))
    bridge.await_status(lambda status: status["state"] == "failed", "it gave up")
    assert_problem(bridge.post("/messages", b"hello"), 409, "connection-closed")
    assert bridge.status()["state"] == "failed"


def test_a_message_may_wake_a_connection_that_gave_up(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(away.url, outbox={"wakes": True}, reconnect={"maxRetries": 1}))
    stream = bridge.stream("/events?types=status&since=start")
    stream.until_status("gave-up")
    bridge.send("first")
    assert stream.until_status("gave-up")["attempts"] == 1
    away.come_back()
    bridge.send("second")
    assert away.peer().received(2) == ["first", "second"]


def test_a_message_does_not_wake_what_a_user_closed(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream.url, outbox={"wakes": True}))
    bridge.await_ready()
    bridge.post("/disconnect")
    bridge.await_status(lambda status: status["state"] == "closed", "it is closed")
    assert_problem(bridge.post("/messages", b"hello"), 409, "connection-closed")


# receiveOnly


def test_a_connection_for_receiving_sends_control_frames_alone(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream.url, receiveOnly=True, heartbeat={"interval": "50ms"}))
    stream = bridge.stream()
    peer = upstream.peer()
    bridge.await_ready()
    for target in ("/messages", "/messages?wait=1s", "/messages?queue=false"):
        assert_problem(bridge.post(target, b"hello"), 409, "receive-only")
    peer.send("from the upstream")
    assert stream.next().data == "from the upstream"
    peer.ping(b"are you there")
    await_truth(lambda: len(peer.pings) >= 3, "heartbeats at the upstream")
    bridge.post("/disconnect", b'{"code":4000,"reason":"enough"}', "application/json")
    assert peer.left() == (4000, "enough")
    assert peer.messages == []
    assert bridge.status()["counters"]["sent"] == 0


# 1009


@pytest.mark.parametrize(
    ("confirm", "size"),
    # With `written` what the kernel takes as a whole counts as sent, so it must be too big for that.
    [("pong", 2_000), ("written", 24 << 20)],
)
def test_a_message_that_caused_1009_is_not_replayed_for_ever_and_nothing_else_is_lost(
    start_upstream, serve_file: Serve, confirm: str, size: int
) -> None:
    upstream = start_upstream(max_size=1_000, away=True)
    outbox = {"confirm": confirm, "maxBytes": "64MiB"}
    bridge = serve_file(keep(upstream.url, outbox=outbox, compression=False))
    stream = bridge.stream("/events?types=status")
    before = [bridge.send(text).json()["id"] for text in ("one", "two")]
    client, big = ask(bridge, b"x" * size)
    after = [bridge.send(text).json()["id"] for text in ("three", "four")]
    upstream.come_back()
    assert_problem(client.response("POST"), 409, "message-dropped")
    assert stream.until_status("message-dropped")["id"] == big
    bridge.await_status(lambda status: status["outbox"]["messages"] == 0, "the others are sent")
    assert state(bridge, big) == "dropped"
    assert {state(bridge, each) for each in (*before, *after)} == {"sent"}
    assert bridge.status()["counters"]["dropped"] == 1
    await_truth(lambda: any("four" in peer.messages for peer in upstream.peers), "the last message")
    firsts = list(dict.fromkeys(text for peer in upstream.peers for text in peer.messages))
    assert firsts == ["one", "two", "three", "four"]
