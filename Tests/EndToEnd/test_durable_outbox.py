"""With a data directory: what was accepted outlives the process, however that ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream

Durable = Callable[..., Bridge]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(start_bridge: Callable[..., Bridge], data: Path) -> Durable:
    """Start a bridge to an upstream, with its store in `data`."""

    def start(upstream: Upstream, *arguments: str, **options: Any) -> Bridge:
        return start_bridge(upstream.url, "--data-dir", str(data), *arguments, **options)

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    assert bridge.exit_code() == -signal.SIGKILL


ENDS = [Bridge.stop, kill]


@pytest.mark.parametrize("end", ENDS)
def test_what_was_accepted_is_sent_after_a_restart_in_order(
    away: Upstream, durable: Durable, end: Callable[[Bridge], None]
) -> None:
    first = durable(away)
    ids = [first.send(f"message {number}").json()["id"] for number in range(20)]
    binary = first.post("/messages", b"\0\1\xff", "application/octet-stream")
    lines = first.post("/messages", b"one\ntwo\n", "application/x-ndjson")
    assert (binary.status, lines.status) == (202, 202)
    end(first)
    second = durable(away)
    waiting = second.get("/outbox").json()["messages"]
    assert [each["id"] for each in waiting][: len(ids)] == ids
    assert len(waiting) == 23
    away.come_back()
    second.post("/connect")
    expected = [*(f"message {number}" for number in range(20)), b"\0\1\xff", "one", "two"]
    assert away.peer().received(23) == expected
    second.await_status(lambda status: status["outbox"]["messages"] == 0, "all is sent")
    assert second.get(f"/outbox/{ids[7]}").json()["state"] == "sent"


@pytest.mark.parametrize("end", ENDS)
def test_what_was_sent_is_not_sent_again(
    upstream: Upstream, durable: Durable, end: Callable[[Bridge], None]
) -> None:
    first = durable(upstream)
    sent = first.post("/messages?wait=10s", b"once").json()
    assert sent["state"] == "sent"
    # What the end of the first is stored with is stored by then.
    marker = first.send("marker").json()["id"]
    first.await_status(lambda status: status["counters"]["sent"] == 2, "the marker is sent")
    assert first.request("DELETE", "/outbox").json() == {"dropped": 0}
    end(first)
    second = durable(upstream)
    second.await_ready()
    assert second.get(f"/outbox/{marker}").json()["state"] == "sent"
    assert second.post("/messages?wait=10s", b"after").status == 200
    assert upstream.peer(1).received(1) == ["after"]
