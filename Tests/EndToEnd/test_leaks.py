"""Connections leave no descriptor behind; `make soak` does more of the same, and looks at memory as well."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Peer, await_truth

HASTE = {"initialDelay": "10ms", "maxDelay": "10ms", "jitter": 0, "resetAfter": "0s"}
DIALS = 300
CROWD = 100


def descriptors(bridge: Bridge) -> int:
    return len(os.listdir(f"/proc/{bridge.pid}/fd"))


def await_descriptors(bridge: Bridge, count: int) -> None:
    # What was let go of is closed a moment later.
    await_truth(lambda: descriptors(bridge) == count, f"{count} descriptors")


def settled(bridge: Bridge) -> int:
    """Return how many there are once nothing changes any more."""
    counts: list[int] = []

    def is_settled() -> bool:
        counts.append(descriptors(bridge))
        return len(counts) > 20 and len(set(counts[-20:])) == 1

    await_truth(is_settled, "descriptors come to rest")
    return counts[-1]


def paused(bridge: Bridge) -> int:
    """Pause, and return how many there are without an upstream."""
    bridge.post("/pause")
    count = settled(bridge)
    bridge.post("/resume")
    return count


@pytest.mark.parametrize(
    ("kind", "counter"),
    [
        ("reconnects", "opens"),
        ("reconnects over TLS", "opens"),
        ("refused certificates", "failures"),
        ("refused handshakes", "failures"),
        ("refused dials", "failures"),
        ("unknown names", "failures"),
    ],
)
def test_many_dials_leave_no_descriptor_behind(
    start_upstream, serve_file, authority, kind: str, counter: str
) -> None:
    context = (
        authority.server_context("IP:127.0.0.1")
        if kind in ("reconnects over TLS", "refused certificates")
        else None
    )
    upstream = start_upstream(
        tls=context,
        away=kind == "refused dials",
        refuse=403 if kind == "refused handshakes" else None,
        close_at_once=1001 if counter == "opens" else None,
    )
    settings: dict[str, Any] = {"url": upstream.url, "reconnect": HASTE}
    if kind == "reconnects over TLS":
        settings["tls"] = {"ca": str(authority.certificate)}
    if kind == "unknown names":
        settings["url"] = "ws://-x.invalid/"
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))

    def await_dials(count: int) -> None:
        bridge.await_status(lambda status: status["counters"][counter] >= count, f"{count} {counter}")

    await_dials(20)
    before = paused(bridge)
    await_dials(DIALS)
    bridge.post("/pause")
    await_descriptors(bridge, before)
    bridge.post("/resume")


def test_a_crowd_of_connections_leaves_no_descriptor_behind(
    start_upstream, serve_file, tmp_path: Path
) -> None:
    upstream = start_upstream()
    file = tmp_path / "wsbridge.yaml"
    idle = {"idle": {"url": upstream.url, "connect": "manual"}}
    bridge = serve_file(json.dumps({"connections": idle}))
    before = 0
    for number in range(3):
        crowd = {f"c{number}-{n}": {"url": upstream.url} for n in range(CROWD)}
        file.write_text(json.dumps({"connections": idle | crowd}))
        bridge.signal(signal.SIGHUP)
        upstream.peer((number + 1) * CROWD - 1)
        file.write_text(json.dumps({"connections": idle}))
        bridge.signal(signal.SIGHUP)
        for peer in upstream.peers[number * CROWD :]:
            assert peer.left() == (1001, "")
        # What was opened for the first connection stays.
        before = before or settled(bridge)
    await_descriptors(bridge, before)


@pytest.mark.usefixtures("stream_mode")
@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_streams_that_end_leave_no_descriptor_behind(bridge: Bridge, peer: Peer, version: str) -> None:
    peer.send("the only one")

    def read() -> None:
        with bridge.stream("/events?since=start&limit=1", version=version) as stream:
            assert [event.data for event in stream.rest()] == ["the only one"]

    read()
    before = settled(bridge)
    for _ in range(CROWD):
        read()
    await_descriptors(bridge, before)
