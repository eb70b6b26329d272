"""`GET /status`."""

from __future__ import annotations

import re

import pytest

from harness import Bridge, Peer, Upstream

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test_the_status_of_an_open_connection_has_every_member(upstream: Upstream, bridge: Bridge) -> None:
    status = bridge.status()
    assert {name: status[name] for name in ("name", "state", "ready", "attempt", "subscribers")} == {
        "name": "default",
        "state": "open",
        "ready": True,
        "attempt": 0,
        "subscribers": 0,
    }
    assert re.fullmatch(TIME, status["since"])
    for name in ("nextAttemptAt", "subprotocol", "lastClose", "lastError"):
        assert status[name] is None, name
    assert status["network"] in ("reachable", "unreachable", "ignored")


@pytest.mark.parametrize(
    ("member", "names"),
    [
        ("heartbeat", ["intervalMs", "missLimit", "misses", "lastAnswerAt", "rttMs"]),
        ("outbox", ["messages", "bytes", "maxMessages", "oldestAgeMs"]),
        ("history", ["messages", "bytes", "oldest", "newest"]),
        (
            "counters",
            [
                "received",
                "receivedBytes",
                "sent",
                "sentBytes",
                "opens",
                "closes",
                "failures",
                "heartbeatsSent",
                "heartbeatsMissed",
                "expired",
                "dropped",
                "gaps",
            ],
        ),
    ],
)
def test_a_member_of_the_status_has_its_members(bridge: Bridge, member: str, names: list[str]) -> None:
    assert set(names) <= set(bridge.status()[member])


def test_the_heartbeat_has_its_defaults(bridge: Bridge) -> None:
    heartbeat = bridge.status()["heartbeat"]
    assert (heartbeat["intervalMs"], heartbeat["missLimit"], heartbeat["misses"]) == (20_000, 2, 0)


def test_the_status_is_the_same_at_the_canonical_path(bridge: Bridge) -> None:
    def steady(status: dict) -> dict:
        return {name: status[name] for name in ("name", "url", "state", "since", "counters", "history")}

    assert steady(bridge.get("/v1/connections/default/status").json()) == steady(bridge.status())


def test_what_was_received_is_counted(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    peer.send("1234", b"567", "")
    stream.take(3)
    counters = bridge.status()["counters"]
    assert (counters["received"], counters["receivedBytes"]) == (3, 7)


def test_what_was_sent_is_counted(bridge: Bridge, peer: Peer) -> None:
    bridge.send("1234")
    bridge.send("567")
    peer.received(2)
    status = bridge.await_status(lambda status: status["counters"]["sent"] == 2, "both are counted")
    assert status["counters"]["sentBytes"] == 7


def test_opens_closes_and_failures_are_counted(upstream: Upstream, bridge: Bridge) -> None:
    upstream.go_away()
    bridge.await_status(lambda status: status["counters"]["failures"] > 0, "a failed attempt")
    upstream.come_back()
    counters = bridge.await_ready()["counters"]
    assert (counters["opens"], counters["closes"]) == (2, 1)


def test_the_history_names_its_oldest_and_newest_record(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?types=text,status&since=start")
    peer.send("one", "two")
    before, one = stream.until("message")
    two = stream.next()
    history = bridge.status()["history"]
    oldest = before[1]  # after the snapshot
    assert (history["oldest"], history["newest"]) == (oldest.id, two.id)
    assert one.id not in (oldest.id, two.id)


def test_the_attempt_is_zero_again_once_the_connection_is_ready(upstream: Upstream, bridge: Bridge) -> None:
    upstream.go_away()
    bridge.await_status(lambda status: status["attempt"] > 1, "a second attempt")
    upstream.come_back()
    assert bridge.await_ready()["attempt"] == 0


def test_the_state_is_connecting_while_the_handshake_is_not_answered(start_bridge, raw_upstream) -> None:
    bridge = start_bridge(raw_upstream.url)
    raw_upstream.accept().request()
    status = bridge.status()
    assert (status["state"], status["ready"]) == ("connecting", False)
