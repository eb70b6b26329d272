"""More clients than there is room for: each is served, told, or let go; none waits for nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from assertions import assert_problem
from harness import PATIENCE, Bridge, Client, RawUpstream, Upstream, await_truth
from harness.environment import BINARY, clean_environment

FULL = "there is no room for more clients"


def messages(bridge: Bridge, message: str) -> list[dict[str, Any]]:
    return [record for record in bridge.records if record["message"] == message]


def few_descriptors(bridge: Bridge) -> dict[str, Any]:
    return next(record for record in bridge.records if "descriptors" in record["message"])


@pytest.fixture
def crowded(upstream: Upstream, start_bridge: Callable[..., Bridge]) -> tuple[Bridge, list[Client]]:
    """A bridge with few descriptors, and as many clients as it serves, each of which waits for a message."""
    bridge = start_bridge(upstream.url, wrapper=["prlimit", "--nofile=100:100"])
    upstream.peer()
    limit = few_descriptors(bridge)["connections"]
    assert 10 <= limit < 100
    assert few_descriptors(bridge)["wanted"] == 11_000
    bridge.await_ready()
    clients = []
    while bridge.get("/status").status == 200:
        client = bridge.client()
        client.send_head("GET", "/messages?since=now&wait=5m")
        clients.append(client)
        assert len(clients) <= limit
    assert len(clients) == limit
    return bridge, clients


def test_who_finds_no_room_is_told(crowded: tuple[Bridge, list[Client]], upstream: Upstream) -> None:
    bridge, clients = crowded
    refusal = bridge.get("/status")
    assert_problem(refusal, 503, "too-many-connections")
    assert int(refusal.header("Retry-After")) > 0
    assert refusal.header("Connection") == "close"
    assert_problem(bridge.post("/messages", b"x"), 503, "too-many-connections")
    clients.pop().wire.close()
    await_truth(lambda: bridge.get("/status").status == 200, "there is room again")
    # Those that were there go on.
    upstream.peer().send("for all")
    for client in clients:
        assert client.response().json()["messages"][0]["data"] == "for all"
    assert messages(bridge, FULL)[0]["limit"] == len(clients) + 1


def test_a_page_that_may_read_answers_may_read_that_there_is_no_room(
    upstream: Upstream, start_bridge: Callable[..., Bridge]
) -> None:
    bridge = start_bridge(
        upstream.url,
        wrapper=["prlimit", "--nofile=100:100"],
        environment={"WSBRIDGE_ALLOWED_ORIGINS": "https://app.example"},
    )
    bridge.await_ready()
    streams = [bridge.stream() for _ in range(few_descriptors(bridge)["connections"])]
    for origin, told in (("https://app.example", "https://app.example"), ("https://other.example", "")):
        refusal = bridge.get("/status", {"Origin": origin})
        assert_problem(refusal, 503, "too-many-connections")
        assert refusal.header("Access-Control-Allow-Origin") == told
        assert refusal.header("Vary") == "Origin"
    assert len(streams) > 1


def test_whether_the_bridge_lives_is_told_where_there_is_no_room(
    crowded: tuple[Bridge, list[Client]],
) -> None:
    bridge, _ = crowded
    with bridge.client() as client:
        response = client.request("GET", "/healthz")
        assert response.status == 200
        assert response.header("Connection") == "close"
        assert client.rest() == b""
    address = f"{bridge.address[0]}:{bridge.address[1]}"
    health = subprocess.run(
        [str(BINARY), "health", "--listen", address],
        env=clean_environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (health.returncode, health.stderr) == (0, b"")
    assert len(messages(bridge, FULL)) <= 1


def test_a_crowd_waits_for_nothing(crowded: tuple[Bridge, list[Client]]) -> None:
    bridge, clients = crowded
    further = [bridge.client() for _ in range(200)]
    closed = 0
    for client in reversed(further):
        try:
            client.send_head("GET", "/status")
            assert client.response().status == 503
        except ConnectionError:
            closed += 1
    assert closed > 100
    assert messages(bridge, FULL)
    for client in clients:
        client.wire.close()
    await_truth(lambda: bridge.get("/status").status == 200, "there is room again")


def test_streams_take_room_like_any_connection(
    raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]
) -> None:
    bridge = start_bridge(raw_upstream.url, wrapper=["prlimit", "--nofile=100:100"])
    raw_upstream.accept().accept_handshake()
    bridge.await_ready()
    limit = few_descriptors(bridge)["connections"]
    streams = [bridge.stream() for _ in range(limit)]
    assert_problem(bridge.get("/events"), 503, "too-many-connections")
    streams[0].client.wire.close()
    await_truth(lambda: bridge.get("/status").status == 200, "there is room again")
