"""Heartbeats: how a bridge finds out that its upstream is gone, and never that one is which is not.

The intervals are short so that what is awaited comes soon. Nothing depends on how soon: a test waits for
records and counters, and where nothing may be missed the upstream has several intervals to answer.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from harness import Bridge, Deadline, DistantUpstream, RawPeer, RawUpstream, Stream, Upstream, await_truth
from harness.raw_upstream import frame

Serve = Callable[..., Bridge]
Start = Callable[..., Upstream]
StartDistant = Callable[..., DistantUpstream]
Message = str | bytes

LOST = ["heartbeat-missed", "heartbeat-missed", "heartbeat-lost", "closed"]


@pytest.fixture
def serve_beating(serve_file: Serve) -> Callable[[str, str], Bridge]:
    """Serve with these heartbeats, and wait until the connection is ready."""

    def serve(url: str, heartbeat: str, more: str = "") -> Bridge:
        bridge = serve_file(
            f"connections: {{ default: {{ url: '{url}', proxy: none,"
            f" heartbeat: {{ {heartbeat} }}, {more} }} }}"
        )
        bridge.await_ready()
        return bridge

    return serve


ServeBeating = Callable[..., Bridge]


def answering(answers: dict[Message, Message]) -> Callable[[Message], Message | None]:
    return answers.get


def beats(bridge: Bridge, count: int) -> dict[str, Any]:
    """Wait until this many heartbeats were written, and return the status."""
    return bridge.await_status(
        lambda status: status["counters"]["heartbeatsSent"] >= count, f"{count} heartbeats are sent"
    )


def lost_on(stream: Stream) -> list[dict[str, Any]]:
    """Wait for the loss of the connection on a stream with status, and return what led to it."""
    found = []
    for status in stream.statuses():
        if status["type"] in LOST:
            found.append(status)
        if status["type"] == "closed":
            return found
    raise AssertionError


def assert_nothing_missed(bridge: Bridge) -> None:
    status = bridge.status()
    assert status["counters"]["heartbeatsMissed"] == 0, status
    assert status["counters"]["opens"] == 1, status


# What is sent, what answers it, and what is sent back


def test_a_text_heartbeat_is_answered_and_the_answer_reaches_nobody(
    start_upstream: Start, serve_beating: ServeBeating
) -> None:
    upstream = start_upstream(answers=answering({"ping": "pong"}))
    bridge = serve_beating(upstream.url, "interval: 200ms, missLimit: 50, send: { text: ping }")
    stream = bridge.stream("/events?types=text,binary,status")
    status = bridge.await_status(lambda status: status["heartbeat"]["lastAnswerAt"], "an answer")
    assert status["heartbeat"]["rttMs"] > 0
    beats(bridge, 3)
    peer = upstream.peer()
    assert peer.received(2) == ["ping", "ping"]
    assert peer.pings == []
    peer.send("pong!", b"pong")
    events = [stream.next() for _ in range(3)]
    assert [event.type for event in events] == ["status", "message", "binary"]
    counters = bridge.status()["counters"]
    assert (counters["received"], counters["sent"], counters["heartbeatsMissed"]) == (2, 0, 0)


@pytest.mark.parametrize("send", ["ping", "{ text: ping }"])
def test_an_upstream_that_does_not_answer_is_lost_and_dialled_again(
    raw_upstream: RawUpstream, serve_file: Serve, send: str
) -> None:
    bridge = serve_file(
        f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none,"
        f" heartbeat: {{ interval: 100ms, send: {send} }}, reconnect: {{ initialDelay: 10ms }} }} }}"
    )
    stream = bridge.stream("/events?types=status")
    peer = raw_upstream.accept()
    peer.accept_handshake()
    records = lost_on(stream)
    assert [record["type"] for record in records] == LOST
    assert [record["misses"] for record in records[:2]] == [1, 2]
    closed = records[3]
    assert (closed["code"], closed["clean"], closed["by"]) == (1006, False, "bridge")
    assert stream.until_status("reconnecting")["attempt"] == 1
    raw_upstream.accept()
    # Two were missed. A bridge that could not look for a whole interval blames nobody, and asks once more.
    asked = list(peer.frames())
    assert len(asked) >= 2
    counters = bridge.status()["counters"]
    assert (counters["heartbeatsSent"], counters["heartbeatsMissed"]) == (len(asked), 2)


@pytest.mark.parametrize(
    ("send", "expect", "answer", "others"),
    [
        ("{ base64: AAE= }", "{ base64: AgM= }", b"\2\3", [b"\2", "AgM="]),
        ("{ text: a }", "{ equals: A }", "A", ["a", b"A"]),
        ("{ text: a }", "{ contains: liv }", "still alive", ["li v"]),
        ("{ text: a }", "{ prefix: 'HB ' }", "HB 17", ["hb 17"]),
        ("{ text: a }", r"{ regex: '^HB-\d+$' }", "HB-17", ["HB-", "x HB-17"]),
        ("{ text: a }", "{ json: { /a: 11, /d/b: true } }", '{"a": 1.1e1, "d": {"b": true}}', ['{"a": 11}']),
        (
            "{ text: a }",
            "{ json: { /t: pong, /id: null } }",
            r'{"t":"p\u006fng","id":null}',
            ['{"t":"pong"}'],
        ),
        ("ping", "{ equals: here }", "here", ["there"]),
    ],
)
def test_what_matches_is_the_answer_and_all_else_is_forwarded(
    start_upstream: Start,
    serve_beating: ServeBeating,
    send: str,
    expect: str,
    answer: Message,
    others: list[Message],
) -> None:
    upstream = start_upstream()
    bridge = serve_beating(upstream.url, f"interval: 200ms, missLimit: 50, send: {send}, expect: {expect}")
    stream = bridge.stream()
    beats(bridge, 1)
    assert bridge.status()["heartbeat"]["lastAnswerAt"] is None
    upstream.peer().send(answer, *others, answer, "end")
    for other in others:
        event = stream.next()
        assert event.type == ("message" if isinstance(other, str) else "binary")
        if isinstance(other, str):
            assert event.data == other
    assert stream.next().data == "end"
    assert bridge.status()["heartbeat"]["lastAnswerAt"]


def test_a_reply_is_sent_whenever_something_matched_also_with_heartbeats_off(
    upstream: Upstream, serve_beating: ServeBeating
) -> None:
    bridge = serve_beating(
        upstream.url,
        "interval: 0, send: none, expect: { json: { /op: ping } }, "
        'reply: { text: \'{"op":"pong","n":{{/n}},"s":"{{/s}}","seq":{{last:/seq}},"count":{{counter}}}\' }',
    )
    stream = bridge.stream()
    peer = upstream.peer()
    peer.send('{"seq":41}', '{"op":"ping","n":5,"s":"a\\"b"}', '{"op":"ping","n":"x,y","s":[1],"seq":42}')
    first, second = (json.loads(message) for message in peer.received(2))
    assert first == {"op": "pong", "n": 5, "s": 'a"b', "seq": 41, "count": 1}
    assert second == {"op": "pong", "n": "x,y", "s": "[1]", "seq": 42, "count": 2}
    peer.send("end")
    assert [event.data for event in stream.take(2)] == ['{"seq":41}', "end"]
    heartbeat = bridge.status()["heartbeat"]
    assert heartbeat["lastAnswerAt"]
    assert heartbeat["rttMs"] is None


def test_templates_are_filled_in_for_each_heartbeat(
    start_upstream: Start, serve_beating: ServeBeating
) -> None:
    upstream = start_upstream(answers=lambda _: "yes")
    serve_beating(
        upstream.url,
        "interval: 100ms, missLimit: 100, expect: { equals: 'yes' }, "
        "send: { text: '{{counter}} {{nowMillis}} {{uuid}} {{now}} "
        "{{last:/none}} {{sha256base64:abc}} \\{{x}}' }",
    )
    first, second = (str(message).split(" ", 6) for message in upstream.peer().received(2))
    assert [first[0], second[0]] == ["1", "2"]
    assert int(second[1]) > int(first[1]) > 1_700_000_000_000
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first[2])
    assert first[2] != second[2]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first[3])
    assert first[4:] == ["null", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "{{x}}"]


def test_only_an_answer_shows_life_if_that_is_wanted(upstream: Upstream, serve_beating: ServeBeating) -> None:
    bridge = serve_beating(upstream.url, "interval: 300ms, send: { text: ping }, alive: answer")
    stream = bridge.stream("/events?types=status")
    peer = upstream.peer()
    chatter = peer.start_sending(chatter_until(lambda: peer.gone), between=a_while)
    records = lost_on(stream)
    assert [record["type"] for record in records] == LOST
    chatter.cancel()


def test_whatever_arrives_shows_life_by_default(upstream: Upstream, serve_beating: ServeBeating) -> None:
    bridge = serve_beating(upstream.url, "interval: 500ms, missLimit: 3, send: { text: ping }")
    done = False
    peer = upstream.peer()
    sending = peer.start_sending(chatter_until(lambda: done), between=a_while)
    beats(bridge, 6)
    assert_nothing_missed(bridge)
    assert bridge.status()["heartbeat"]["lastAnswerAt"] is None
    done = True
    sending.result(Deadline("the chatter ends").left())


async def a_while() -> None:
    await asyncio.sleep(0.02)


def chatter_until(is_done: Callable[[], bool]) -> Any:
    while not is_done():
        yield "chatter"


def test_an_upstream_that_is_only_listened_to_is_lost_when_it_falls_silent(
    upstream: Upstream, serve_beating: ServeBeating
) -> None:
    bridge = serve_beating(upstream.url, "interval: 200ms, send: none")
    stream = bridge.stream("/events?types=status")
    assert [record["type"] for record in lost_on(stream)] == LOST
    assert upstream.peer().pings == []
    assert bridge.status()["counters"]["heartbeatsSent"] == 0


def test_a_lost_upstream_is_told_the_close_code(raw_upstream: RawUpstream, serve_file: Serve) -> None:
    serve_file(
        f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none,"
        " heartbeat: { interval: 100ms, closeCode: 4321 } } }"
    )
    peer = raw_upstream.accept()
    peer.accept_handshake()
    assert peer.close_code() == 4321


# A peer that is gone


@pytest.mark.parametrize("send", ["ping", "{ text: ping }"])
def test_an_upstream_that_freezes_is_lost(
    start_distant_upstream: StartDistant, serve_beating: ServeBeating, send: str
) -> None:
    upstream = start_distant_upstream()
    bridge = serve_beating(upstream.url, f"interval: 300ms, send: {send}")
    stream = bridge.stream("/events?types=status")
    beats(bridge, 1)
    upstream.freeze()
    assert lost_on(stream)[-2]["type"] == "heartbeat-lost"


@pytest.mark.parametrize("send", ["ping", "{ text: ping }"])
def test_an_upstream_that_vanishes_without_a_packet_is_lost(
    start_distant_upstream: StartDistant, serve_beating: ServeBeating, send: str
) -> None:
    upstream = start_distant_upstream(network=True)
    bridge = serve_beating(upstream.url, f"interval: 300ms, send: {send}")
    stream = bridge.stream("/events?types=status")
    beats(bridge, 1)
    upstream.vanish()
    records = lost_on(stream)
    assert [record["type"] for record in records[-4:]] == LOST
    assert records[-1]["by"] == "bridge"


def test_an_upstream_that_vanishes_during_a_large_upload_is_lost(
    start_distant_upstream: StartDistant, serve_beating: ServeBeating
) -> None:
    upstream = start_distant_upstream(network=True)
    bridge = serve_beating(upstream.url, "interval: 300ms", "outbox: { maxBytes: 64MiB }")
    stream = bridge.stream("/events?types=status")
    beats(bridge, 1)
    upstream.vanish()
    for _ in range(20):
        assert bridge.post("/messages", b"x" * 1_000_000).status == 202
    assert lost_on(stream)[-2]["type"] == "heartbeat-lost"
    # It was in the middle of them.
    assert bridge.status()["outbox"]["messages"] > 0


# A peer that is busy


@pytest.mark.parametrize("alive", ["any", "answer"])
def test_a_large_message_that_comes_slowly_causes_no_false_miss(
    raw_upstream: RawUpstream, serve_file: Serve, alive: str
) -> None:
    bridge = serve_file(
        f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none,"
        f" heartbeat: {{ interval: 1s, missLimit: 2, alive: {alive} }} }} }}"
    )
    peer = raw_upstream.accept()
    peer.accept_handshake()
    stream = bridge.stream()
    payload = b"x" * 200_000
    data = frame(1, payload)
    # A pong cannot stand inside a frame: it comes after all of it.
    at = len(data) - 100_000
    peer.send(data[:at])
    opcode, ping = peer.frame()
    assert opcode == 9
    deadline = Deadline("the message comes slowly")
    beginning = deadline.left()
    while beginning - deadline.left() < 4:
        at += 100
        peer.send(data[at - 100 : at])
        pause()
    peer.send(data[at:] + frame(10, ping))
    assert stream.next().data.encode() == payload
    bridge.await_status(lambda status: status["heartbeat"]["rttMs"], "the pong is taken for the answer")
    assert_nothing_missed(bridge)


@pytest.mark.parametrize("send", ["ping", "{ text: ping }"])
def test_a_large_upload_that_moves_slowly_causes_no_false_miss(
    raw_upstream: RawUpstream, serve_file: Serve, send: str
) -> None:
    bridge = serve_file(
        f"http: {{ maxBodyBytes: 32MiB }}\n"
        f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none, outbox: {{ maxBytes: 64MiB }},"
        f" heartbeat: {{ interval: 1s, missLimit: 3, alive: answer, send: {send} }} }} }}"
    )
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    size = 16_000_000
    assert bridge.post("/messages", b"x" * size).status == 202
    assert bridge.post("/messages", b"behind it").status == 202
    slowly_for(peer, 4)
    assert bridge.status()["counters"]["sent"] == 0
    frames = []
    while len(frames) < 3:
        opcode, payload = peer.frame()
        frames.append((opcode, payload if len(payload) < size else b"large"))
        if opcode == 9:
            peer.send(frame(10, payload))
        elif payload == b"ping":
            peer.send(frame(1, b"pong"))
    # The heartbeat is not behind all that waits in the outbox.
    assert (1, b"large") in frames
    assert any(opcode == 9 or payload == b"ping" for opcode, payload in frames)
    bridge.await_status(lambda status: status["heartbeat"]["rttMs"], "the heartbeat is answered")
    assert_nothing_missed(bridge)


def slowly_for(peer: RawPeer, seconds: float) -> None:
    """Read a little now and then."""
    deadline = Deadline("the upload moves slowly")
    beginning = deadline.left()
    while beginning - deadline.left() < seconds:
        peer.sip(50_000)
        pause()


def pause() -> None:
    """Take a fraction of an interval's time."""
    time.sleep(0.05)


def test_a_stalled_subscriber_causes_no_false_miss_and_pings_are_answered_with_their_payload(
    upstream: Upstream, serve_beating: ServeBeating
) -> None:
    bridge = serve_beating(upstream.url, "interval: 500ms, missLimit: 4, alive: answer")
    stalled = bridge.stream("/events", receive_buffer=4096)
    peer = upstream.peer()
    for _ in range(20):
        peer.send(*["x" * 100_000] * 10)
    before = bridge.status()["counters"]["heartbeatsSent"]
    for number in range(5):
        payload = b"ping %d" % number
        peer.ping(payload)
        assert peer.pongs[-1] == payload
    beats(bridge, before + 4)
    assert_nothing_missed(bridge)
    stalled.close()


def test_pings_are_answered_with_their_payload_while_the_connection_closes(
    raw_upstream: RawUpstream, serve_file: Serve
) -> None:
    bridge = serve_file(f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none }} }}")
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    assert bridge.post("/disconnect").status == 200
    assert peer.close_code() == 1000
    peer.send(frame(9, b"still there?"))
    assert peer.frame() == (10, b"still there?")
    peer.send(frame(8, b"\x03\xe8"))


def test_a_flood_of_pings_is_coalesced_and_the_newest_is_answered(
    raw_upstream: RawUpstream, serve_file: Serve
) -> None:
    bridge = serve_file(f"connections: {{ default: {{ url: '{raw_upstream.url}', proxy: none }} }}")
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    count = 100_000
    flood = b"".join(frame(9, b"%0100d" % number) for number in range(count))
    peer.send(flood + frame(1, b"end"))
    bridge.await_status(lambda status: status["counters"]["received"] == 1, "the flood is over")
    pongs = 0
    while True:
        opcode, payload = peer.frame()
        assert opcode == 10
        pongs += 1
        if payload == b"%0100d" % (count - 1):
            break
    assert pongs < count


# A bridge that slept


@pytest.mark.parametrize("send", ["ping", "{ text: ping }"])
def test_a_bridge_that_was_stopped_asks_at_once(
    upstream: Upstream, serve_beating: ServeBeating, send: str
) -> None:
    bridge = serve_beating(upstream.url, f"interval: 1h, send: {send}")
    peer = upstream.peer()
    bridge.signal(signal.SIGSTOP)
    bridge.signal(signal.SIGCONT)
    await_truth(lambda: peer.pings or peer.messages, "a heartbeat")
    beats(bridge, 1)
    assert_nothing_missed(bridge)


def test_answers_that_came_while_the_bridge_was_stopped_are_no_misses(
    start_upstream: Start, serve_beating: ServeBeating
) -> None:
    upstream = start_upstream(answers=answering({"ping": "pong"}))
    bridge = serve_beating(upstream.url, "interval: 300ms, missLimit: 1, send: { text: ping }, alive: answer")
    peer = upstream.peer()
    for count in range(1, 4):
        beats(bridge, count)
        peer.received(count)
        bridge.signal(signal.SIGSTOP)
        for _ in range(10):
            pause()
        bridge.signal(signal.SIGCONT)
    beats(bridge, 5)
    assert_nothing_missed(bridge)
