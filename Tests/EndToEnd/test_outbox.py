"""What waits to be sent, what became of it, pausing, readiness: `/outbox`, `/pause`, `/readyz`."""

from __future__ import annotations

import re

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def sent(bridge: Bridge, text: str) -> str:
    """POST a message, and return its id."""
    return bridge.send(text).json()["id"]


# The state of a message


def test_a_message_is_queued_until_it_was_written_then_sent(away: Upstream, lonely: Bridge) -> None:
    identifier = sent(lonely, "hello")
    queued = lonely.get(f"/outbox/{identifier}").json()
    assert set(queued) == {"id", "state", "queuedAt", "sentAt"}
    assert (queued["id"], queued["state"], queued["sentAt"]) == (identifier, "queued", None)
    assert re.fullmatch(TIME, queued["queuedAt"])
    away.come_back()
    lonely.post("/connect")
    lonely.await_status(lambda status: status["counters"]["sent"] == 1, "the message is sent")
    done = lonely.get(f"/v1/connections/default/outbox/{identifier}").json()
    assert (done["state"], done["queuedAt"]) == ("sent", queued["queuedAt"])
    assert re.fullmatch(TIME, done["sentAt"])


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("identifier", ["x", "nothing-m1.1", "%00", "000000000000-m1.1", "000000000000-1"])
def test_a_message_that_never_was_is_not_found(lonely: Bridge, method: str, identifier: str) -> None:
    assert lonely.request(method, f"/outbox/{identifier}").status in (400, 404)


def test_an_id_of_a_message_is_no_cursor(lonely: Bridge) -> None:
    identifier = sent(lonely, "hello")
    assert_problem(lonely.get(f"/events?since={identifier}"), 400, "invalid-parameter")
    assert_problem(lonely.get("/events", {"Last-Event-ID": identifier}), 400, "invalid-parameter")


# The list


def test_the_outbox_lists_what_waits_in_order(lonely: Bridge) -> None:
    assert lonely.get("/outbox").json() == {"messages": []}
    first = sent(lonely, "hello")
    second = lonely.post("/messages", b"\0\1", "application/octet-stream").json()["id"]
    messages = lonely.get("/outbox").json()["messages"]
    assert [(one["id"], one["type"], one["bytes"]) for one in messages] == [
        (first, "text", 5),
        (second, "binary", 2),
    ]
    assert all(re.fullmatch(TIME, one["queuedAt"]) for one in messages)


def test_one_message_can_be_dropped(away: Upstream, lonely: Bridge) -> None:
    identifiers = [sent(lonely, text) for text in ("one", "two", "three")]
    assert lonely.request("DELETE", f"/outbox/{identifiers[1]}").json() == {"dropped": 1}
    assert lonely.request("DELETE", f"/outbox/{identifiers[1]}").json() == {"dropped": 0}
    assert lonely.get(f"/outbox/{identifiers[1]}").json()["state"] == "dropped"
    away.come_back()
    assert away.peer().received(2) == ["one", "three"]


def test_all_messages_can_be_dropped_and_each_is_on_record(lonely: Bridge) -> None:
    stream = lonely.stream("/events?types=status")
    identifiers = [sent(lonely, text) for text in ("one", "two")]
    assert lonely.request("DELETE", "/outbox").json() == {"dropped": 2}
    assert lonely.request("DELETE", "/outbox").json() == {"dropped": 0}
    assert [stream.until_status("message-dropped")["id"] for _ in range(2)] == identifiers
    status = lonely.status()
    assert (status["outbox"]["messages"], status["outbox"]["bytes"]) == (0, 0)
    assert status["counters"]["dropped"] == 2


def test_what_was_sent_cannot_be_dropped(bridge: Bridge) -> None:
    identifier = bridge.post("/messages?wait=30s", b"hello").json()["id"]
    assert bridge.request("DELETE", f"/outbox/{identifier}").json() == {"dropped": 0}
    assert bridge.get(f"/outbox/{identifier}").json()["state"] == "sent"


# Pausing and reconnecting


def test_a_pause_closes_the_connection_and_the_outbox_keeps_filling(
    upstream: Upstream, bridge: Bridge
) -> None:
    stream = bridge.stream("/events?types=status")
    assert bridge.post("/pause").status == 200
    assert upstream.peer().left() == (1000, "")
    closed = stream.until_status("closed")
    assert (closed["by"], closed["code"]) == ("bridge", 1000)
    stream.until_status("paused")
    assert bridge.status()["state"] == "paused"
    assert bridge.post("/messages", b"meanwhile").status == 202
    assert bridge.post("/pause").json()["state"] == "paused"
    assert bridge.post("/resume").status == 200
    assert [next(stream.statuses())["type"] for _ in range(4)] == ["resumed", "connecting", "open", "ready"]
    assert upstream.peer(1).received(1) == ["meanwhile"]
    assert bridge.post("/resume").json()["state"] == "open"
    assert upstream.dials == 2


def test_connect_ends_a_pause(upstream: Upstream, bridge: Bridge) -> None:
    bridge.post("/pause")
    bridge.await_status(lambda status: status["state"] == "paused", "the connection is paused")
    assert bridge.post("/connect").status == 200
    bridge.await_ready()
    assert upstream.dials == 2


def test_reconnect_opens_a_new_connection_at_once(upstream: Upstream, bridge: Bridge) -> None:
    first = upstream.peer()
    assert bridge.post("/reconnect").status == 200
    upstream.peer(1)
    assert first.left() == (1000, "")
    bridge.await_ready()
    assert bridge.status()["lastClose"]["by"] == "user"


@pytest.mark.parametrize("action", ["reconnect", "pause", "resume"])
def test_the_answer_is_the_status(bridge: Bridge, action: str) -> None:
    answer = bridge.post(f"/v1/connections/default/{action}").json()
    assert set(answer) == set(bridge.status())


# Readiness


def test_readyz_follows_the_connection(bridge: Bridge) -> None:
    ready = bridge.get("/readyz")
    assert ready.status == 200
    row = {"name": "default", "state": "open", "reason": None}
    assert ready.json() == {"ready": True, "connections": [row]}
    bridge.post("/pause")
    bridge.await_status(lambda status: status["state"] == "paused", "the connection is paused")
    unready = bridge.get("/readyz")
    assert unready.status == 503
    row = {"name": "default", "state": "paused", "reason": "paused"}
    assert unready.json() == {"ready": False, "connections": [row]}
    assert bridge.get("/healthz").status == 200


def test_readyz_says_where_the_last_attempt_failed(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(refuse=403).url)
    bridge.await_status(lambda status: status["state"] == "waiting", "a retry is scheduled")
    (row,) = bridge.get("/readyz").json()["connections"]
    assert "handshake with 403" in row["reason"]


def test_readyz_is_open_to_all_and_names_no_connection_to_strangers(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "secret-token"})
    key = {"Authorization": "Bearer secret-token"}
    upstream.peer()
    anonymous, known = bridge.get("/readyz"), bridge.get("/readyz", key)
    assert set(anonymous.json()["connections"][0]) == {"state", "reason"}
    assert known.json()["connections"][0]["name"] == "default"


def test_the_bridge_is_unready_while_it_stops(start_bridge, raw_upstream) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    with bridge.client() as client:
        assert client.request("GET", "/readyz").status == 200
        bridge.process.terminate()
        assert peer.close_code() == 1001
        response = client.request("GET", "/readyz")
        assert (response.status, response.json()["ready"]) == (503, False)
    peer.close()
    assert bridge.exit_code() == 0
