"""The upstream connection: handshake, closes, drops and reconnects."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable

import pytest

from harness import Bridge, Peer, RawUpstream, Upstream
from harness.raw_upstream import frame

TEXT, BINARY, CONTINUATION, CLOSE, PING = 1, 2, 0, 8, 9


def last_close(bridge: Bridge) -> dict:
    status = bridge.await_status(lambda status: status["lastClose"], "the close is recorded")
    return {name: status["lastClose"][name] for name in ("code", "reason", "clean", "by")}


def last_error(bridge: Bridge) -> dict:
    return bridge.await_status(lambda status: status["lastError"], "the error is recorded")["lastError"]


# The handshake as the upstream sees it


def test_the_handshake_asks_for_a_websocket_at_the_host_with_its_port(upstream: Upstream, peer: Peer) -> None:
    headers = peer.request.headers
    assert headers["Host"] == f"127.0.0.1:{upstream.port}"
    assert headers["Upgrade"].lower() == "websocket"
    assert headers["Connection"].lower() == "upgrade"
    assert headers["Sec-WebSocket-Version"] == "13"
    assert len(base64.b64decode(headers["Sec-WebSocket-Key"], validate=True)) == 16


def test_every_handshake_has_a_key_of_its_own(upstream: Upstream, peer: Peer) -> None:
    peer.close(1000)
    keys = {upstream.peer(number).request.headers["Sec-WebSocket-Key"] for number in range(2)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("suffix", "requested"),
    [
        ("", "/"),
        ("/", "/"),
        ("/feed/a%20b?x=%7B1%7D&y=a+b", "/feed/a%20b?x=%7B1%7D&y=a+b"),
        ("?only=query", "/?only=query"),
        ("/" + "long/" * 1000, "/" + "long/" * 1000),
    ],
    ids=["no path", "root", "path and query", "query alone", "long"],
)
def test_path_and_query_reach_the_upstream_verbatim(
    start_upstream, start_bridge, suffix: str, requested: str
) -> None:
    upstream = start_upstream()
    start_bridge(upstream.url.rstrip("/") + suffix)
    assert upstream.peer().request.path == requested


def test_userinfo_becomes_basic_authorization(start_upstream, start_bridge) -> None:
    upstream = start_upstream()
    start_bridge(upstream.url.replace("ws://", "ws://us%20er:p%40ss@"))
    scheme, credentials = upstream.peer().request.headers["Authorization"].split(" ")
    assert (scheme, base64.b64decode(credentials)) == ("Basic", b"us er:p@ss")


@pytest.mark.parametrize("scheme", ["ws", "WS", "http", "Http"])
def test_the_scheme_of_the_url_may_be(start_upstream, start_bridge, scheme: str) -> None:
    upstream = start_upstream()
    bridge = start_bridge(upstream.url.replace("ws://", f"{scheme}://"))
    assert bridge.await_ready()["state"] == "open"


def test_a_name_is_resolved(start_upstream, start_bridge) -> None:
    upstream = start_upstream()
    start_bridge(upstream.url.replace("127.0.0.1", "localhost"))
    assert upstream.peer().request.headers["Host"] == f"localhost:{upstream.port}"


# Control frames


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(125))], ids=len)
def test_a_ping_of_the_upstream_is_answered_with_its_payload(peer: Peer, payload: bytes) -> None:
    peer.ping(payload)
    assert peer.pongs == [payload]


def test_a_ping_between_the_fragments_of_a_message_is_answered(
    start_bridge, raw_upstream: RawUpstream
) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake()
    stream = bridge.stream("/events?since=start")
    peer.send(frame(TEXT, b"half of ", fin=False) + frame(PING, b"now") + frame(CONTINUATION, b"it"))
    assert peer.frame() == (10, b"now")
    assert stream.next().data == "half of it"


# How connections end


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1008, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
def test_the_close_code_of_the_upstream_is_reported_exactly(bridge: Bridge, peer: Peer, code: int) -> None:
    peer.close(code, "because")
    assert last_close(bridge) == {"code": code, "reason": "because", "clean": True, "by": "server"}


@pytest.mark.parametrize("reason", ["", "äöü 🦉", '"quoted"\n', "r" * 123], ids=len)
def test_the_close_reason_of_the_upstream_is_reported_exactly(
    bridge: Bridge, peer: Peer, reason: str
) -> None:
    stream = bridge.stream("/events?types=status")
    peer.close(4000, reason)
    assert last_close(bridge)["reason"] == reason
    assert stream.until_status("closed")["reason"] == reason


def test_the_bridge_echoes_the_close_code_of_the_upstream(peer: Peer) -> None:
    peer.close(4321, "because")
    close_frame = peer.left()
    assert close_frame
    assert close_frame[0] == 4321


def test_a_close_without_a_code_is_reported_as_1005(bridge: Bridge, peer: Peer) -> None:
    peer.close_without_code()
    assert last_close(bridge) == {"code": 1005, "reason": "", "clean": True, "by": "server"}


def test_a_drop_is_reported_as_1006(bridge: Bridge, peer: Peer) -> None:
    peer.drop()
    assert last_close(bridge) == {"code": 1006, "reason": "", "clean": False, "by": "server"}


def test_the_closed_record_holds_what_the_status_does(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?types=status")
    peer.close(4000, "because")
    closed = stream.until_status("closed")
    expected = {"code": 4000, "reason": "because", "clean": True, "by": "server"}
    assert {name: closed[name] for name in expected} == expected


# What a server may not send


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"masked", mask=True), 1002),
        (frame(TEXT, b"reserved bit", reserved=4), 1002),
        (frame(TEXT, b"reserved bit", reserved=1), 1002),
        (frame(3, b"reserved opcode"), 1002),
        (frame(11), 1002),
        (frame(PING, b"x" * 126), 1002),
        (frame(PING, b"fragment", fin=False), 1002),
        (frame(CONTINUATION, b"of nothing"), 1002),
        (frame(TEXT, b"begun", fin=False) + frame(TEXT, b"another"), 1002),
        (frame(CLOSE, b"\x03"), 1002),
        (frame(CLOSE, b"\x03\xed"), 1002),
        (frame(CLOSE, b"\x03\xe8\xff"), 1007),
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT, b"\xe2\x82"), 1007),
        (b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 1002),
        (b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", 1009),
        (b"\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x01", 1009),
    ],
    ids=[
        "masked",
        "RSV1 without compression",
        "RSV3",
        "opcode 3",
        "opcode 11",
        "ping of 126 bytes",
        "fragmented ping",
        "continuation of nothing",
        "message within a message",
        "close of one byte",
        "close with 1005",
        "close reason not UTF-8",
        "text not UTF-8",
        "text ends within a character",
        "length of 2^64 - 1",
        "length of 2^63 - 1",
        "length over the limit",
    ],
)
def test_a_frame_that_breaks_the_protocol_is_answered_with_the_right_code(
    start_bridge, raw_upstream: RawUpstream, sent: bytes, code: int
) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake()
    peer.send(sent)
    assert peer.close_code() == code
    peer.close()
    assert last_close(bridge)["by"] == "bridge"
    raw_upstream.accept().accept_handshake()  # it reconnects


# Reconnects


def test_messages_posted_while_the_upstream_is_away_are_flushed_in_order(
    upstream: Upstream, bridge: Bridge
) -> None:
    upstream.go_away()
    bridge.await_status(lambda status: not status["ready"], "the drop is noticed")
    texts = [str(number) for number in range(100)]
    for text in texts:
        bridge.send(text)
    upstream.come_back()
    assert upstream.peer(1).received(100) == texts


@pytest.mark.parametrize("end", [Peer.close, Peer.drop], ids=["close", "drop"])
def test_a_stream_goes_on_after_the_upstream_came_back(
    upstream: Upstream, bridge: Bridge, end: Callable[[Peer], None]
) -> None:
    stream = bridge.stream()
    upstream.peer(0).send("before")
    end(upstream.peer(0))
    upstream.peer(1).send("after")
    assert [event.data for event in stream.take(2)] == ["before", "after"]


def test_messages_before_a_drop_are_not_lost_to_it(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    texts = [str(number) for number in range(500)]
    peer.send(*texts)
    peer.close(1011)
    assert [event.data for event in stream.take(500)] == texts


def test_the_status_tells_when_the_next_attempt_is_due(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(away=True).url)
    status = bridge.await_status(lambda status: status["state"] == "waiting", "a retry is scheduled")
    assert status["nextAttemptAt"]
    assert status["attempt"] >= 1
    assert not status["ready"]


def test_delays_double_between_refused_attempts(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(refuse=503).url)
    stream = bridge.stream("/events?types=status&since=start")
    for attempt in range(1, 4):
        record = stream.until_status("reconnecting")
        longest = 500 * 2 ** (attempt - 1)
        assert record["attempt"] == attempt
        assert longest * 0.75 - 1 <= record["delayMs"] <= longest


def test_a_server_that_accepts_and_closes_at_once_is_not_hammered(start_upstream, start_bridge) -> None:
    upstream = start_upstream(close_at_once=1000)
    bridge = start_bridge(upstream.url)
    stream = bridge.stream("/events?types=status&since=start")
    for attempt in range(1, 4):
        record = stream.until_status("reconnecting")
        assert record["attempt"] == attempt
        assert record["delayMs"] >= 375 * 2 ** (attempt - 1) - 1
        assert upstream.dials <= attempt + 1


@pytest.mark.parametrize("status", [200, 401, 404, 503])
def test_a_refused_handshake_is_reported_with_its_status(start_upstream, start_bridge, status: int) -> None:
    bridge = start_bridge(start_upstream(refuse=status).url)
    error = last_error(bridge)
    assert (error["phase"], error["status"]) == ("handshake", status)


def test_the_failed_record_holds_what_the_status_does(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(refuse=403).url)
    failed = bridge.stream("/events?types=status&since=start").until_status("failed")
    assert (failed["phase"], failed["status"]) == ("handshake", 403)
    assert failed["error"]


def test_a_refused_connection_is_reported_as_a_failure_of_tcp(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(away=True).url)
    error = last_error(bridge)
    assert (error["phase"], error["status"]) == ("tcp", None)
    assert error["error"]
    assert error["at"]


def test_a_name_that_does_not_resolve_is_reported_as_a_failure_of_dns(start_bridge) -> None:
    bridge = start_bridge("ws://does-not-exist.invalid/")
    assert last_error(bridge)["phase"] == "dns"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        b"220 mail.example ESMTP\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"HTTP/1.1 101 " + b"x" * (1 << 20),
        b"",
    ],
    ids=["200", "no accept", "wrong accept", "not HTTP", "binary", "endless", "nothing"],
)
def test_an_answer_that_is_no_handshake_is_reported_as_its_failure(
    start_bridge, raw_upstream: RawUpstream, answer: bytes
) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.request()
    with contextlib.suppress(ConnectionError):  # it may refuse before it took all
        peer.send(answer)
    peer.close()
    assert last_error(bridge)["phase"] == "handshake"


def test_a_message_in_the_same_packet_as_the_handshake_is_not_lost(
    start_bridge, raw_upstream: RawUpstream
) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake(then=frame(TEXT, b"first"))
    assert bridge.stream("/events?since=start").next().data == "first"


def test_reconnects_are_recorded_for_a_client_that_comes_later(upstream: Upstream, bridge: Bridge) -> None:
    upstream.peer().drop()
    upstream.peer(1)
    bridge.await_ready()
    events = bridge.stream("/events?types=status&since=start&limit=8").rest()
    types = [json.loads(event.data)["type"] for event in events]
    opening = ["connecting", "open", "ready"]
    assert types == ["snapshot", *opening, "closed", "reconnecting", *opening]
