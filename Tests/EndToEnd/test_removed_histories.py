"""What readers learn of a connection that was removed and made again, which a restart does not change."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Event, RawPeer, RawUpstream, await_truth
from harness.raw_upstream import frame

Serve = Callable[..., Bridge]


@pytest.fixture
def upstream(start_raw_upstream: Callable[..., RawUpstream]) -> RawUpstream:
    return start_raw_upstream()


@pytest.fixture
def serve(serve_file: Serve, tmp_path: Path) -> Callable[[], Bridge]:
    """Serve without any connection but those that clients make."""
    settings = {"http": {"dynamicConnections": True}, "storage": {"directory": str(tmp_path / "data")}}

    def start() -> Bridge:
        return serve_file(json.dumps(settings))

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    bridge.exit_code()


ends = pytest.mark.parametrize("end", [Bridge.stop, kill])


def put(bridge: Bridge, upstream: RawUpstream) -> RawPeer:
    settings = json.dumps({"url": upstream.url, "heartbeat": {"send": "none"}})
    assert bridge.request("PUT", "/v1/connections/c", settings.encode()).status in (200, 201)
    peer = upstream.accept()
    peer.accept_handshake()
    return peer


def filled(bridge: Bridge, upstream: RawUpstream) -> tuple[RawPeer, list[Event]]:
    """Have ten messages come and be seen."""
    peer = put(bridge, upstream)
    stream = bridge.stream("/v1/connections/c/events?since=start")
    peer.send(b"".join(frame(1, str(number).encode()) for number in range(10)))
    return peer, stream.take(10)


def remove(bridge: Bridge, peer: RawPeer) -> None:
    """Remove the connection, and wait until nothing of it is left."""
    stream = bridge.stream("/v1/connections/c/events")
    assert bridge.request("DELETE", "/v1/connections/c").status == 204
    opcode, payload = peer.frame()
    assert opcode == 8
    peer.send(frame(8, payload))
    stream.rest()


def renew(bridge: Bridge, upstream: RawUpstream) -> None:
    """Make the connection again, and have a message come and be seen."""
    put(bridge, upstream).send(frame(1, b"new"))
    assert bridge.stream("/v1/connections/c/events?since=start").next().data == "new"


def answers(bridge: Bridge, seen: list[Event]) -> list[Any]:
    """Return what each reader gets first that comes back with an id from before the removal."""
    found = []
    for event in seen:
        stream = bridge.stream("/v1/connections/c/events?limit=1", {"Last-Event-ID": event.id})
        found.append([(one.type, one.id, one.data) for one in stream.rest()])
    return found


@ends
def test_a_restart_does_not_change_what_was_lost_with_a_removal(
    serve: Callable[[], Bridge], upstream: RawUpstream, end: Callable[[Bridge], None]
) -> None:
    bridge = serve()
    peer, seen = filled(bridge, upstream)
    remove(bridge, peer)
    renew(bridge, upstream)
    before = answers(bridge, seen)
    for place, answer in enumerate(before):
        gap, new = answer
        # With what was recorded when it was closed.
        assert json.loads(gap[2])["missed"] == 10 - place
        assert (gap[0], new[2]) == ("gap", "new")
    for _ in range(2):
        end(bridge)
        bridge = serve()
        put(bridge, upstream)
        assert answers(bridge, seen) == before


@ends
def test_what_was_lost_is_known_though_it_is_made_again_only_after_a_restart(
    serve: Callable[[], Bridge], upstream: RawUpstream, end: Callable[[Bridge], None]
) -> None:
    bridge = serve()
    peer, seen = filled(bridge, upstream)
    remove(bridge, peer)
    for _ in range(2):
        end(bridge)
        bridge = serve()
    renew(bridge, upstream)
    for place, (gap, new) in enumerate(answers(bridge, seen)):
        assert (gap[0], json.loads(gap[2])["missed"]) == ("gap", 10 - place)
        assert new[2] == "new"


@ends
def test_what_is_made_while_the_one_before_still_closes_has_an_unknown_past(
    serve: Callable[[], Bridge], upstream: RawUpstream, end: Callable[[Bridge], None]
) -> None:
    bridge = serve()
    peer, seen = filled(bridge, upstream)
    assert bridge.request("DELETE", "/v1/connections/c").status == 204
    # It does not answer the close frame.
    assert peer.frame()[0] == 8
    renew(bridge, upstream)
    before = answers(bridge, seen)
    assert [json.loads(gap[2])["missed"] for gap, _ in before] == [None] * 10
    end(bridge)
    bridge = serve()
    put(bridge, upstream)
    assert answers(bridge, seen) == before


def test_of_what_is_removed_little_stays(
    serve: Callable[[], Bridge], upstream: RawUpstream, tmp_path: Path
) -> None:
    """The rows of a removed connection go, but for one that tells of its past."""
    bridge = serve()
    for _ in range(3):
        peer, _ = filled(bridge, upstream)
        remove(bridge, peer)

    def rows(what: str) -> int:
        database = sqlite3.connect(f"file:{tmp_path}/data/wsbridge.db?mode=ro", uri=True)
        try:
            return database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
        finally:
            database.close()

    await_truth(lambda: rows("records") == 0 and rows("connections") == 1, "the rest is gone")
    renew(bridge, upstream)
    await_truth(lambda: rows("connections") == 1 and rows("records") > 0, "it has the row of the one before")
