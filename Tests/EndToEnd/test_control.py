"""`POST /connect` and `POST /disconnect`."""

from __future__ import annotations

import json

import pytest

from assertions import assert_problem
from harness import Bridge, Peer, Upstream, curl


def disconnect(bridge: Bridge, body: object = None) -> None:
    """Disconnect, and wait until the connection is closed."""
    sent = b"" if body is None else json.dumps(body).encode()
    response = bridge.post("/disconnect", sent, "application/json" if sent else None)
    assert response.status == 200, response
    bridge.await_status(lambda status: status["state"] == "closed", "the connection is closed")


def test_disconnect_closes_the_upstream_with_1000(bridge: Bridge, peer: Peer) -> None:
    disconnect(bridge)
    assert peer.left() == (1000, "")


def test_disconnect_works_with_curl(bridge: Bridge, peer: Peer) -> None:
    done = curl("-f", "-X", "POST", f"{bridge.base}/disconnect")
    assert done.returncode == 0
    assert json.loads(done.stdout)["name"] == "default"
    assert peer.left() == (1000, "")


def test_a_body_of_curls_default_content_type_is_read_as_json(bridge: Bridge, peer: Peer) -> None:
    curl("-f", "-d", '{"code":4001}', f"{bridge.base}/disconnect")
    assert peer.left() == (4001, "")


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1011, 1012, 1014, 3000, 4999])
def test_the_code_and_reason_given_reach_the_upstream(bridge: Bridge, peer: Peer, code: int) -> None:
    disconnect(bridge, {"code": code, "reason": "good night"})
    assert peer.left() == (code, "good night")


@pytest.mark.parametrize("reason", ["", "r" * 123, "ü" * 61, "🦉", '\\"\n'])
def test_a_reason_reaches_the_upstream_exactly(bridge: Bridge, peer: Peer, reason: str) -> None:
    disconnect(bridge, {"code": 3000, "reason": reason})
    assert peer.left() == (3000, reason)


@pytest.mark.parametrize("body", [{}, {"code": 1000}, {"reason": ""}])
def test_every_member_of_the_body_is_optional(bridge: Bridge, peer: Peer, body: dict) -> None:
    disconnect(bridge, body)
    assert peer.left() == (1000, "")


@pytest.mark.parametrize(
    "body",
    [
        b"not JSON",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b'{"code":"1000"}',
        b'{"code":1000.5}',
        b'{"code":true}',
        b'{"code":-1}',
        b'{"code":0}',
        b'{"code":999}',
        b'{"code":1004}',
        b'{"code":1005}',
        b'{"code":1006}',
        b'{"code":1015}',
        b'{"code":2999}',
        b'{"code":5000}',
        b'{"code":66536}',
        b'{"code":18446744073709551616}',
        b'{"code":1e400}',
        b'{"reason":7}',
        b'{"reason":"' + b"r" * 124 + b'"}',
        b'{"reason":"' + "ü".encode() * 62 + b'"}',
        b'{"reason":"\xff"}',
        b"[" * 100_000,
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_an_invalid_body_is_refused_and_the_connection_stays(bridge: Bridge, peer: Peer, body: bytes) -> None:
    assert_problem(bridge.post("/disconnect", body, "application/json"), 400, "invalid-body")
    bridge.send("still there")
    assert peer.received(1) == ["still there"]


def test_a_disconnect_is_reported_as_the_users(bridge: Bridge) -> None:
    disconnect(bridge, {"code": 4000, "reason": "enough"})
    status = bridge.status()
    closed = {name: status["lastClose"][name] for name in ("code", "reason", "clean", "by")}
    assert closed == {"code": 4000, "reason": "enough", "clean": True, "by": "user"}
    assert status["nextAttemptAt"] is None


def test_a_disconnected_connection_is_not_dialled_again(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=status")
    disconnect(bridge)
    bridge.post("/connect")
    statuses = stream.statuses()
    types = [next(statuses)["type"] for _ in range(5)]
    assert types == ["snapshot", "closed", "connecting", "open", "ready"]
    assert upstream.dials == 2


def test_a_post_to_a_disconnected_connection_is_refused(bridge: Bridge) -> None:
    disconnect(bridge)
    assert_problem(bridge.post("/messages", b"no"), 409, "connection-closed")


def test_streams_stay_open_over_disconnect_and_connect(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream()
    disconnect(bridge)
    bridge.post("/connect")
    upstream.peer(1).send("again")
    assert stream.next().data == "again"


def test_connect_after_disconnect_sends_and_receives_again(upstream: Upstream, bridge: Bridge) -> None:
    disconnect(bridge)
    assert bridge.post("/connect").status == 200
    bridge.await_ready()
    bridge.send("hello again")
    assert upstream.peer(1).received(1) == ["hello again"]


def test_connect_to_an_open_connection_changes_nothing(upstream: Upstream, bridge: Bridge) -> None:
    for _ in range(3):
        response = bridge.post("/connect")
        assert (response.status, response.json()["state"]) == (200, "open")
    bridge.send("same connection")
    assert upstream.peer().received(1) == ["same connection"]
    assert upstream.dials == 1


def test_a_second_disconnect_changes_nothing(bridge: Bridge, peer: Peer) -> None:
    disconnect(bridge, {"code": 4001})
    disconnect(bridge, {"code": 4002})
    assert peer.left() == (4001, "")
    assert bridge.status()["lastClose"]["code"] == 4001


def test_disconnect_ends_the_wait_for_a_retry(start_upstream, start_bridge) -> None:
    upstream = start_upstream(away=True)
    bridge = start_bridge(upstream.url)
    bridge.await_status(lambda status: status["state"] == "waiting", "a retry is scheduled")
    disconnect(bridge)
    upstream.come_back()
    bridge.post("/connect")
    bridge.await_ready()
    assert upstream.dials == 1


def test_disconnect_while_connecting_ends_the_attempt(start_bridge, raw_upstream) -> None:
    bridge = start_bridge(raw_upstream.url)
    raw_upstream.accept().request()
    disconnect(bridge)
    assert bridge.status()["counters"]["opens"] == 0


def test_connect_does_not_wait_for_the_retry_that_is_scheduled(start_upstream, start_bridge) -> None:
    upstream = start_upstream(refuse=503)
    bridge = start_bridge(upstream.url)
    stream = bridge.stream("/events?types=status&since=start")
    while stream.until_status("reconnecting")["attempt"] < 2:
        pass
    upstream.refuse = None
    bridge.post("/connect")
    statuses = stream.statuses()
    assert [next(statuses)["type"] for _ in range(3)] == ["connecting", "open", "ready"]


@pytest.mark.parametrize("action", ["connect", "disconnect"])
def test_the_answer_is_the_status(bridge: Bridge, action: str) -> None:
    answer = bridge.post(f"/v1/connections/default/{action}").json()
    assert set(answer) == set(bridge.status())
