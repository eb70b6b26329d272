"""Clients that close their side, or all of it, together with the last that they say."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import Bridge, Upstream, await_truth
from harness.http1 import parse_head
from harness.metrics import scrape
from harness.patience import PATIENCE, Deadline
from harness.wire import Wire

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture(params=["plain", "unix", "tls"])
def connect(
    request: pytest.FixtureRequest, monkeypatch, upstream: Upstream, tmp_path: Path
) -> Iterator[Callable[[], Wire]]:
    """Serve in each of the ways in which clients come; only the end of a connection ends it in time."""
    if request.param == "tls":
        monkeypatch.setattr(Bridge, "tls", request.getfixturevalue("local_tls"))
    file = tmp_path / "wsbridge.yaml"
    http = {"requestTimeout": "10m"}
    file.write_text(json.dumps({"http": http, "connections": {"default": {"url": upstream.url}}}))
    path = tmp_path / "bridge.sock"
    listen = f"unix:{path}" if request.param == "unix" else "127.0.0.1:0"
    run_bridge = request.getfixturevalue("run_bridge")
    bridge = run_bridge("serve", "--config", str(file), "--listen", listen, "--log-format", "json")
    wires: list[Wire] = []

    def connect() -> Wire:
        if request.param == "unix":
            wire = Wire.__new__(Wire)
            wire.socket = socket.socket(socket.AF_UNIX)
            wire.socket.connect(str(path))
            wire._buffer = bytearray()
        else:
            wire = Wire(bridge.address)
        wires.append(wire)
        return wire

    if request.param == "unix":
        bridge.err.until(lambda text: '"listening"' in text or None, "the record `listening`")
    else:
        bridge.listening()
    yield connect
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("requests", [[GET], [GET, GET, GET], [POST, GET], [GET] * 40])
def test_what_was_asked_is_answered_and_then_the_connection_ends(connect, requests: list[bytes]) -> None:
    wire = connect()
    wire.send(b"".join(requests))
    wire.half_close()
    answers = wire.take_all(Deadline("the bridge closes the connection"))
    assert answers.count(b"HTTP/1.1 20") == len(requests)


@pytest.mark.parametrize(
    "part",
    [b"GET /hea", b"GET /healthz HTTP/1.1\r\nHost: loc", POST[:-2], GET + b"GET /hea", GET + POST[:-2]],
)
def test_what_cannot_become_a_request_any_more_is_not_waited_for(connect, part: bytes) -> None:
    wire = connect()
    wire.send(part)
    wire.half_close()
    answers = wire.take_all(Deadline("the bridge closes the connection"))
    assert answers.count(b"HTTP/1.1 200") == part.count(GET)


@pytest.mark.parametrize("part", [GET, b"GET /hea", GET + b"GET /hea", POST[:-2]])
def test_so_is_the_end_of_what_comes_late(connect, part: bytes) -> None:
    """After the connection has rested, and was looked at: the last bytes and the end come at once."""
    wire = connect()
    for _ in range(3):
        wire.send(GET)
        head = wire.take_through(b"\r\n\r\n", Deadline("the answer"))
        wire.take_exactly(int(parse_head(head[:-4]).get("Content-Length")), Deadline("the body"))
    # There is nothing to await: what the bridge does meanwhile, nobody sees.
    with pytest.raises(TimeoutError):
        wire.take(1, Deadline("the bridge has looked at it", 1.5))
    wire.send(part)
    wire.half_close()
    wire.take_all(Deadline("the bridge closes the connection"))


def test_those_who_are_gone_hold_no_descriptors(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        f"http: {{ requestTimeout: 10m }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    for _ in range(200):
        # The answer is under way when it closes, or even before.
        with socket.create_connection(bridge.address, PATIENCE) as client:
            client.sendall(GET)
            client.shutdown(socket.SHUT_WR)
    await_truth(lambda: clients(bridge) <= 1, "all are gone")


def clients(bridge: Bridge) -> float:
    return scrape(bridge).value("wsbridge_http_connections")
