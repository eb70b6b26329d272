"""The ways in which streams are written: each ends well, and where one does not work the next does.

`WSBRIDGE_STREAM_MODE` chooses one; without it the best one that works is used.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import Bridge, Cable, Deadline, Peer, Stream, Upstream, await_truth
from harness.environment import ROOT, STREAM_MODE

Start = Callable[..., Bridge]
#: Before the fixtures that a test asks for, which start the bridge.
in_every_mode = pytest.mark.usefixtures("stream_mode")


def warnings(bridge: Bridge) -> list[str]:
    """What the log warns of, but that the machine has few descriptors: over TLS a client takes three."""
    messages = [record["message"] for record in bridge.records if record["level"] == "warning"]
    return [message for message in messages if "(ulimit -n)" not in message]


# Which one is used


@in_every_mode
def test_nothing_is_told_of_a_way_that_works(bridge: Bridge) -> None:
    assert warnings(bridge) == []


def test_connections_that_cannot_be_taken_away_are_written_to_all_the_same(
    upstream: Upstream, start_bridge: Start
) -> None:
    denial = [sys.executable, str(ROOT / "Tests/EndToEnd/harness/denial.py"), "dup2"]
    bridge = start_bridge(upstream.url, wrapper=denial)
    peer = upstream.peer()
    bridge.await_ready()
    assert [message.split(":")[0] for message in warnings(bridge)] == [
        "streams take more memory than they could"
    ]
    stream = bridge.stream("/events?limit=2")
    peer.send("one", "two")
    assert [event.data for event in stream.take(2)] == ["one", "two"]
    assert stream.body.rest(Deadline("the end")) == b""


def test_a_way_that_there_is_not_is_refused(run_bridge: Start) -> None:
    bridge = run_bridge(
        "serve",
        "--upstream",
        "ws://127.0.0.1:1/",
        "--listen",
        "127.0.0.1:0",
        environment={STREAM_MODE: "carried"},
    )
    assert bridge.exit_code() == 78
    assert f"{STREAM_MODE}: expected detached, suspended or pulled, not `carried`" in bridge.err.text


# How streams end


def is_held(bridge: Bridge, stream: Stream) -> bool:
    """Whether the bridge has the descriptor of its end of the stream's connection."""
    ends = [f":{bridge.address[1]:04X}", f":{stream.client.wire.socket.getsockname()[1]:04X}"]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if [fields[1][-5:], fields[2][-5:]] == ends:
            return fields[9] != "0"
    return False


@in_every_mode
def test_descriptors_come_back_when_clients_leave(bridge: Bridge) -> None:
    streams = [bridge.stream() for _ in range(50)]
    assert all(is_held(bridge, stream) for stream in streams)
    for stream in streams:
        stream.client.wire.half_close()
    await_truth(lambda: not any(is_held(bridge, stream) for stream in streams), "all are closed")


@in_every_mode
def test_a_client_that_does_not_close_is_let_go(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?limit=1")
    peer.send("the only one")
    assert stream.next().data == "the only one"
    assert stream.body.rest(Deadline("the end of the stream")) == b""
    await_truth(lambda: not is_held(bridge, stream), "it is closed")


@in_every_mode
@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_a_client_that_talks_while_its_stream_ends_gets_all_of_it(
    bridge: Bridge, peer: Peer, version: str
) -> None:
    text = "0123456789abcdef" * 8192
    # What the bridge's kernel still holds at the end is more than the client's takes before it reads.
    stream = bridge.stream("/events?limit=1", receive_buffer=4096, version=version)
    peer.send(text)
    stream.client.wire.send(b"?" * 1000)
    bridge.await_status(lambda status: status["subscribers"] == 0, "the stream has ended")
    # A closed socket would answer that with a reset, which takes the rest away.
    stream.client.wire.send(b"?" * 1000)
    assert is_held(bridge, stream)
    assert stream.next().data == text
    assert stream.body.rest(Deadline("the end of the stream")) == b""


@pytest.fixture
def crowd() -> Iterator[int]:
    """So many clients, for which this process may have descriptors."""
    count = 2000
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * count, before[1]), before[1]))
    yield count
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@in_every_mode
def test_the_end_of_the_bridge_is_a_clean_end_for_thousands(bridge: Bridge, peer: Peer, crowd: int) -> None:
    streams = [bridge.stream(keep_raw=True) for _ in range(crowd)]
    peer.send("the last one")
    bridge.signal(signal.SIGTERM)
    for stream in streams:
        assert [event.data for event in stream.rest()] == ["the last one"]
        assert stream.raw is not None
        assert re.search(rb"\n\nretry: \d+\n\n$", stream.raw)
    assert bridge.exit_code() == 0
    # Among them that the shutdown timeout was over.
    assert warnings(bridge) == []


@in_every_mode
@pytest.mark.parametrize("target", ["/events", "/events?limit=30"])
def test_the_end_of_the_bridge_waits_for_readers_behind(bridge: Bridge, peer: Peer, target: str) -> None:
    texts = [f"{index} " + "x" * 500_000 for index in range(20)]
    stream = bridge.stream(target, receive_buffer=4096, keep_raw=True)
    peer.send(*texts)
    bridge.await_status(lambda status: status["counters"]["received"] == 20, "all have come")
    bridge.signal(signal.SIGTERM)
    bridge.err.until(lambda text: "stopping" in text or None, "the end has begun")
    # A body that ends well has all of it, so that scripts can tell.
    assert [event.data for event in stream.rest()] == texts
    assert stream.raw is not None
    assert re.search(rb"\n\nretry: \d+\n\n$", stream.raw)
    assert bridge.exit_code() == 0
    assert warnings(bridge) == []


@in_every_mode
def test_a_reader_that_stays_behind_at_the_end_of_the_bridge_can_tell(serve_with) -> None:
    bridge, peer = serve_with("http: { shutdownTimeout: 500ms }")
    stream = bridge.stream("/events", receive_buffer=4096)
    peer.send(*(f"{index} " + "x" * 500_000 for index in range(20)))
    bridge.await_status(lambda status: status["counters"]["received"] == 20, "all have come")
    bridge.signal(signal.SIGTERM)
    assert bridge.exit_code() == 0
    assert any("the shutdown timeout is over" in warning for warning in warnings(bridge))
    with pytest.raises(ConnectionError):
        stream.rest()


# Clients that are gone without a word


@pytest.fixture
def cable(run_bridge: Start) -> Iterator[Cable]:
    """A cable between the namespaces of the bridge and its client, which both end before it does."""
    cable = Cable()
    yield cable
    cable.remove()


@in_every_mode
def test_a_client_that_vanishes_is_noticed(cable: Cable, run_bridge: Start, tmp_path: Path) -> None:
    # The kernel repeats what is not acknowledged after 5 ms at first, not after 200.
    cable.near.ip("route", "replace", "10.77.0.0/24", "dev", "near", "rto_min", "5ms")
    path = tmp_path / "wsbridge.yaml"
    settings = {
        "http": {"keepAlive": 1, "allowAnonymous": True, "allowedHosts": ["*"]},
        "connections": {"default": {"url": "ws://127.0.0.1:1/", "connect": "manual"}},
    }
    path.write_text(json.dumps(settings))
    flags = ["--config", str(path), "--listen", "10.77.0.1:0", "--log-format", "json"]
    bridge = run_bridge("serve", *flags, namespace=cable.near).listening()
    stays = bridge.stream()
    with cable.far:
        vanishing = Stream(bridge.address)
    with vanishing:
        vanishing.opened()
        bridge.await_status(lambda status: status["subscribers"] == 2, "both are there")
        cable.far.ip("route", "add", "blackhole", "10.77.0.1")
        bridge.await_status(lambda status: status["subscribers"] == 1, "the one that vanished is forgotten")
    assert not stays.body.ended
