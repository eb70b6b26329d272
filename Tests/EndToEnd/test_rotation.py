"""Rotation: the next socket is opened before the old one is closed, and nothing is lost or doubled."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Peer, Upstream
from test_requests import ask

QUICK = {"initialDelay": "10ms", "maxDelay": "20ms", "resetAfter": 0}
ROTATE = [{"when": {"equals": "rotate"}, "action": "rotate", "forward": False}]


@pytest.fixture
def serve(start_upstream, serve_file) -> Callable[..., tuple[Upstream, Bridge]]:
    """Serve one connection that rotates when it is told to, and an upstream that listens."""

    def start(*, answers: Callable[[Any], Any] = lambda _: None, **settings: Any) -> tuple[Upstream, Bridge]:
        upstream = start_upstream(answers=answers)
        everything = {"url": upstream.url, "reconnect": QUICK, "rules": ROTATE, **settings}
        return upstream, serve_file(json.dumps({"connections": {"default": everything}}))

    return start


def rotated(bridge: Bridge) -> int:
    page = bridge.get("/messages?since=start&types=status&limit=1000").json()
    return sum(record["data"]["type"] == "rotated" for record in page["messages"])


def test_the_new_socket_runs_its_script_before_the_old_one_is_closed(serve) -> None:
    steps = [{"send": {"text": "hello"}}, {"expect": {"equals": "welcome"}}]
    upstream, bridge = serve(onOpen=steps)
    old = upstream.peer()
    old.received(1)
    old.send("welcome")
    bridge.await_ready()
    stream = bridge.stream("/events?types=text,status&since=start&format=json")
    old.send("rotate")
    new = upstream.peer(1)
    assert new.received(1) == ["hello"]
    # Until then the old one goes on, in both directions.
    bridge.send("to the old one")
    assert old.received(2)[1] == "to the old one"
    old.send("from the old one")
    assert not old.gone
    new.send("from the new one", "welcome")
    assert old.left() == (1000, "")
    bridge.send("to the new one")
    assert new.received(2)[1] == "to the new one"
    assert bridge.status()["counters"]["opens"] == 1
    names = []
    while "rotated" not in names:
        record = json.loads(stream.next().data)
        names.append(record["data"]["type"] if record["type"] == "status" else record["data"])
    expected = ["connecting", "open", "ready", "from the old one", "from the new one", "rotated"]
    assert names[1:] == expected
    assert old.messages == ["hello", "to the old one"]


def test_nothing_is_lost_and_nothing_doubled_over_many_rotations(serve) -> None:
    upstream, bridge = serve(outbox={"confirm": "pong", "maxMessages": 5000})
    bridge.await_ready()
    stream = bridge.stream()
    counts = {"posted": 0, "sent": 0}
    stop = threading.Event()

    def post() -> None:
        while not stop.is_set():
            bridge.send(f"message {counts['posted']}")
            counts["posted"] += 1

    posting = threading.Thread(target=post)
    posting.start()
    try:
        for number in range(10):
            peer = upstream.peer(number)
            for _ in range(20):
                peer.send(f"event {counts['sent']}")
                counts["sent"] += 1
            peer.send("rotate")
            bridge.await_status(lambda _, number=number: rotated(bridge) == number + 1, "it has rotated")
    finally:
        stop.set()
        posting.join()
    bridge.await_status(lambda status: status["outbox"]["messages"] == 0, "all is sent")
    # The library answers the ping that confirms before the upstream has read what came before it.
    received = upstream.received(counts["posted"])
    assert sorted(received) == sorted(f"message {number}" for number in range(counts["posted"]))
    for peer in upstream.peers:
        numbers = [int(str(message).split()[1]) for message in peer.messages]
        assert numbers == sorted(numbers)
    events = [event.data for event in stream.take(counts["sent"])]
    assert sorted(events) == sorted(f"event {number}" for number in range(counts["sent"]))
    assert bridge.status()["counters"]["closes"] == 0


def test_a_new_socket_that_cannot_be_had_leaves_the_old_one_and_is_tried_for_again(serve) -> None:
    upstream, bridge = serve()
    bridge.await_ready()
    upstream.refuse = 503
    upstream.peer().send("rotate")
    bridge.await_status(lambda status: status["counters"]["failures"] >= 3, "three attempts failed")
    assert bridge.status()["ready"]
    bridge.send("still here")
    assert upstream.peer().received(1) == ["still here"]
    upstream.refuse = None
    # Nobody has to ask again.
    upstream.peer(1)
    bridge.await_status(lambda _: rotated(bridge) == 1, "it has rotated")
    counters = bridge.status()["counters"]
    assert (counters["opens"], counters["closes"]) == (1, 0)


def test_what_a_new_socket_that_failed_had_to_send_does_not_hold_the_rate_for_ever(serve) -> None:
    upstream, bridge = serve(
        rules=[*ROTATE, {"when": {"json": {"/blob": None}}, "reply": {"text": "{{/blob}}"}}],
        onOpen=[{"expect": {"equals": "welcome"}, "timeout": "30s"}],
        rate={"messages": 1, "per": "10ms"},
        compression=False,
        reconnect=QUICK | {"maxRetries": 0},
    )
    old = upstream.peer()
    old.send("welcome")
    bridge.await_ready()
    old.send("rotate")
    # Its answer is more than may wait for the kernel, and more than that takes at once.
    upstream.peer(1).send(json.dumps({"blob": "x" * 12_000_000}))
    bridge.await_status(lambda status: status["lastError"], "the new socket was given up")
    bridge.send("still here")
    assert old.received(1) == ["still here"]


def test_the_old_one_ends_while_the_new_one_is_on_its_way(serve) -> None:
    upstream, bridge = serve(onOpen=[{"expect": {"equals": "welcome"}, "timeout": "30s"}])
    old = upstream.peer()
    old.send("welcome")
    bridge.await_ready()
    old.send("rotate")
    new = upstream.peer(1)
    old.drop()
    bridge.await_status(lambda status: status["counters"]["closes"] == 1, "the old one is gone")
    bridge.send("waits")
    new.send("welcome")
    assert new.received(1) == ["waits"]
    # No third one was dialled.
    assert upstream.dials == 2


def test_requests_are_answered_on_the_socket_that_they_went_out_on(serve) -> None:
    upstream, bridge = serve(onOpen=[{"expect": {"equals": "welcome"}, "timeout": "30s"}])
    old = upstream.peer()
    old.send("welcome")
    bridge.await_ready()
    client = bridge.client()
    client.send_head("POST", "/request?correlate=/id", {"Content-Length": "8"})
    client.wire.send(b'{"id":1}')
    old.received(1)
    with bridge.stream() as stream:
        old.send("rotate")
        # What the new one has to say may look like a reply.
        upstream.peer(1).send('{"id":1,"from":"the new one"}', "welcome")
        assert json.loads(stream.next().data)["from"] == "the new one"
    assert rotated(bridge) == 0
    old.send('{"id":1,"from":"the old one"}')
    assert client.response("POST").json()["from"] == "the old one"
    bridge.await_status(lambda _: rotated(bridge) == 1, "it has rotated")


def test_an_old_socket_that_does_not_read_is_dropped(start_bridge, start_raw_upstream, serve_file) -> None:
    upstream = start_raw_upstream()
    settings = {"url": upstream.url, "rules": ROTATE, "closeTimeout": "200ms"}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    old = upstream.accept()
    old.accept_handshake()
    bridge.await_ready()
    # More than the kernel takes.
    for _ in range(12):
        bridge.post("/messages", b"x" * 1_000_000)
    old.send(b"\x81\x06rotate")
    new = upstream.accept()
    new.accept_handshake()
    assert new.frame()[1] == b"x" * 1_000_000
    bridge.await_status(lambda _: rotated(bridge) == 1, "it has rotated")


def test_heartbeats_go_on_with_the_new_socket(serve) -> None:
    upstream, bridge = serve(heartbeat={"interval": "50ms"})
    bridge.await_ready()
    upstream.peer().send("rotate")
    new: Peer = upstream.peer(1)
    bridge.await_status(lambda _: rotated(bridge) == 1, "it has rotated")
    before = len(new.pings)
    bridge.await_status(lambda _: len(new.pings) >= before + 3, "it is asked for signs of life")
    assert bridge.status()["heartbeat"]["misses"] == 0


def test_a_url_that_comes_in_a_message(serve, start_upstream) -> None:
    other: Upstream = start_upstream()
    rules = [{"when": {"prefix": "{"}, "action": "rotate", "urlPointer": "/go/0"}]
    upstream, bridge = serve(rules=rules)
    bridge.await_ready()
    upstream.peer().send(json.dumps({"go": [f"{other.url}?session=secret"]}))
    assert other.peer().request.path == "/?session=secret"
    bridge.await_status(lambda _: rotated(bridge) == 1, "it has rotated")
    assert bridge.status()["url"] == other.url
    assert "secret" not in bridge.err.text
    # After a loss it is the connection's own URL again.
    other.peer().drop()
    upstream.peer(1)


def test_the_end_of_the_process_closes_both(serve) -> None:
    upstream, bridge = serve(onOpen=[{"expect": {"equals": "welcome"}, "timeout": "30s"}])
    upstream.peer().send("welcome")
    bridge.await_ready()
    upstream.peer().send("rotate")
    new = upstream.peer(1)
    bridge.stop()
    assert upstream.peer().left() == (1001, "")
    new.left()


def test_the_old_one_is_closed_in_order_though_a_request_there_gets_no_answer(serve) -> None:
    upstream, bridge = serve(closeTimeout="200ms")
    bridge.await_ready()
    old = upstream.peer()
    client = ask(bridge, '{"id":1}', "?correlate=/id&timeout=5m")
    old.received(1)
    old.send("rotate")
    upstream.peer(1)
    assert old.left() == (1000, "")
    assert_problem(client.response("POST"), 502, "connection-lost")
