"""Requests whose client goes, and what they need of a connection that is kept on demand."""

from __future__ import annotations

import json
import os

import pytest

from assertions import assert_names_parameter, assert_problem
from harness import Bridge, Peer, Upstream, await_truth
from test_requests import ask

SLOW = "?correlate=/id&timeout=5m"


def descriptors(bridge: Bridge) -> int:
    return len(os.listdir(f"/proc/{bridge.pid}/fd"))


def on_demand(*upstreams: Upstream) -> str:
    """Return a file with connections that are kept on demand: `default`, and `other` where there are two."""
    connections = {
        name: {"url": upstream.url, "connect": "onDemand", "idleTimeout": "100ms"}
        for name, upstream in zip(["default", "other"], upstreams, strict=False)
    }
    return json.dumps({"connections": connections})


@pytest.mark.parametrize("query", [SLOW, "?correlate=next&timeout=5m"])
def test_a_client_that_goes_takes_its_request_along(bridge: Bridge, peer: Peer, query: str) -> None:
    bridge.get("/healthz")
    before = descriptors(bridge)
    clients = [ask(bridge, '{"id":1}', query) for _ in range(10)]
    peer.received(10)
    # That of the question before may have been one of them.
    assert descriptors(bridge) >= before + 9
    for client in clients:
        client.wire.close()
    await_truth(lambda: descriptors(bridge) <= before, "their descriptors are free")
    # None of them takes what is another's.
    client = ask(bridge, '{"id":1}', query)
    peer.received(11)
    peer.send('{"id":1}')
    assert client.response("POST").status == 200


def test_a_client_that_closes_its_side_is_told_that_it_waits_no_longer(bridge: Bridge, peer: Peer) -> None:
    client = ask(bridge, '{"id":1}', SLOW)
    peer.received(1)
    client.wire.half_close()
    assert_problem(client.response("POST"), 504, "reply-timeout")


def test_a_request_wakes_a_connection_and_keeps_it_from_being_idle(start_upstream, serve_file) -> None:
    upstream, other = start_upstream(), start_upstream()
    bridge = serve_file(on_demand(upstream, other))
    # It wakes the connection, though it does not wait for it.
    early = bridge.post(f"/request{SLOW}", b'{"id":1}')
    assert_problem(early, 503, "upstream-unavailable")
    assert early.header("Retry-After")
    peer = upstream.peer()
    assert peer.left() == (1000, "")
    assert bridge.post("/messages?wait=30s", b"wake").status == 200
    second = upstream.peer(1)
    client = ask(bridge, '{"id":1}', SLOW)
    assert second.received(2)[1] == '{"id":1}'
    # By the time that one which was used later has been idle for long enough, so would this one.
    assert bridge.post("/v1/connections/other/messages?wait=30s", b"wake").status == 200
    assert other.peer().left() == (1000, "")
    assert not second.gone
    second.send('{"id":1}')
    assert client.response("POST").status == 200
    assert second.left() == (1000, "")


def test_a_request_whose_client_has_gone_keeps_no_connection(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(on_demand(upstream))
    assert bridge.post("/messages?wait=30s", b"wake").status == 200
    peer = upstream.peer()
    client = ask(bridge, '{"id":1}', SLOW)
    peer.received(2)
    client.wire.close()
    assert peer.left() == (1000, "")


def test_a_request_takes_no_idempotency_key(bridge: Bridge) -> None:
    response = bridge.request("POST", f"/request{SLOW}", b"{}", {"Idempotency-Key": "a"})
    assert_names_parameter(response, "Idempotency-Key")
