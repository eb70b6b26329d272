"""`connect: onDemand`: a connection that is there while it is used."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, RawUpstream, Upstream, await_truth

Serve = Callable[..., Bridge]


def keep(*upstreams: Upstream | RawUpstream, idle: str = "100ms", **settings: Any) -> str:
    """Return a file with connections `default`, `second`, … that are kept on demand."""
    names = ["default", "second", "third"]
    connections = {
        name: {
            "url": upstream.url,
            "connect": "onDemand",
            "idleTimeout": idle,
            "reconnect": {"initialDelay": "10ms", "factor": 1},
            **settings,
        }
        for name, upstream in zip(names, upstreams, strict=False)
    }
    return json.dumps({"connections": connections})


def await_idle(bridge: Bridge) -> None:
    bridge.await_status(lambda status: status["state"] == "idle", "the connection is idle")


def test_nothing_is_dialled_unasked_and_that_is_ready(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream))
    assert bridge.status()["state"] == "idle"
    ready = bridge.get("/readyz")
    assert (ready.status, ready.json()) == (200, {"ready": True, "connections": []})
    assert upstream.dials == 0


def test_a_message_opens_it_and_it_closes_when_it_is_idle(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream))
    for number in range(3):
        assert bridge.post("/messages?wait=30s", b"%d" % number).status == 200
        assert upstream.peer(number).left() == (1000, "")
        await_idle(bridge)
    assert [peer.messages for peer in upstream.peers] == [["0"], ["1"], ["2"]]
    last = bridge.status()["lastClose"]
    assert (last["by"], last["code"], last["clean"]) == ("bridge", 1000, True)


def test_a_stream_opens_it_and_keeps_it_open(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, heartbeat={"interval": "100ms"}))
    stream = bridge.stream("/events?types=text,status")
    assert [status["type"] for status in itertools.islice(stream.statuses(), 3)][0] == "snapshot"
    peer = upstream.peer()
    # More than the timeout.
    await_truth(lambda: len(peer.pings) >= 5, "heartbeats at the upstream")
    peer.send("still here")
    assert stream.until("message")[1].data == "still here"
    assert bridge.status()["counters"]["closes"] == 0
    stream.close()
    assert peer.left() == (1000, "")
    await_idle(bridge)


def test_a_poll_that_waits_opens_it(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream))
    assert bridge.get("/messages").status == 200
    assert upstream.dials == 0
    client = bridge.client()
    client.send_head("GET", "/messages?wait=1m")
    upstream.peer().send("news")
    page = client.response("GET").json()
    assert [message["data"] for message in page["messages"]] == ["news"]
    assert upstream.peer().left() == (1000, "")


def test_a_merged_stream_opens_what_it_selects(start_upstream, serve_file: Serve) -> None:
    upstreams = [start_upstream() for _ in range(3)]
    bridge = serve_file(keep(*upstreams))
    stream = bridge.stream("/v1/events?connection=default&connection=second")
    for upstream in upstreams[:2]:
        upstream.peer()
    assert bridge.get("/v1/connections/third/status").json()["state"] == "idle"
    stream.close()
    for upstream in upstreams[:2]:
        assert upstream.peer().left() == (1000, "")
    assert upstreams[2].dials == 0


def test_messages_that_nobody_reads_do_not_keep_it_open(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream))
    assert bridge.post("/messages?wait=30s", b"hello").status == 200
    peer = upstream.peer()
    noise = peer.start_sending(map(str, itertools.count()), lambda: asyncio.sleep(0.01))
    assert peer.left() == (1000, "")
    noise.cancel()


def test_a_message_that_waits_keeps_it_trying(start_upstream, serve_file: Serve) -> None:
    upstream = start_upstream(away=True)
    bridge = serve_file(keep(upstream, idle="10ms"))
    bridge.send("hello")
    bridge.await_status(lambda status: status["counters"]["failures"] >= 5, "it tries")
    upstream.come_back()
    assert upstream.peer().received(1) == ["hello"]
    assert upstream.peer().left() == (1000, "")


def test_it_does_not_try_for_nobody(start_upstream, serve_file: Serve) -> None:
    upstream = start_upstream(away=True)
    bridge = serve_file(keep(upstream))
    stream = bridge.stream()
    bridge.await_status(lambda status: status["counters"]["failures"] >= 2, "it tries")
    stream.close()
    await_idle(bridge)


def test_readers_that_come_and_go_do_not_shorten_the_delays(
    serve_file: Serve, raw_upstream: RawUpstream
) -> None:
    bridge = serve_file(keep(raw_upstream))
    reader = bridge.stream()
    peer = raw_upstream.accept()
    peer.request()
    reader.close()
    bridge.await_status(lambda status: status["subscribers"] == 0, "the reader is gone")
    peer.send(b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n")
    bridge.await_status(lambda status: status["state"] == "idle", "nobody needs it")
    bridge.stream()
    status = bridge.status()
    assert status["state"] == "waiting"
    assert status["nextAttemptAt"]


def test_what_is_refused_while_offline_brings_it_up(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, idle="1m", outbox={"whenOffline": "reject"}))
    assert_problem(bridge.post("/messages", b"hello"), 503, "upstream-unavailable")
    bridge.await_ready()
    assert bridge.post("/messages?wait=30s", b"again").status == 200
    assert upstream.peer().received(1) == ["again"]


def test_a_user_who_closed_it_is_obeyed(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream, idle="1m"))
    bridge.stream()
    bridge.await_ready()
    bridge.post("/disconnect")
    bridge.await_status(lambda status: status["state"] == "closed", "it is closed")
    bridge.stream()
    assert_problem(bridge.post("/messages", b"hello"), 409, "connection-closed")
    assert (bridge.status()["state"], upstream.dials) == ("closed", 1)
    assert bridge.post("/connect").status == 200
    bridge.await_ready()


def test_a_user_who_paused_it_is_obeyed(upstream: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(keep(upstream))
    assert bridge.post("/pause").json()["state"] == "paused"
    bridge.stream()
    bridge.send("meanwhile")
    assert (bridge.status()["state"], upstream.dials) == ("paused", 0)
    bridge.post("/resume")
    assert upstream.peer().received(1) == ["meanwhile"]


@pytest.mark.parametrize("verb", ["connect", "reconnect"])
def test_a_user_may_open_it_and_idling_closes_it(upstream: Upstream, serve_file: Serve, verb: str) -> None:
    bridge = serve_file(keep(upstream))
    assert bridge.post(f"/{verb}").status == 200
    assert upstream.peer().left() == (1000, "")
    await_idle(bridge)
