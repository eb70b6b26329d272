"""What the bridge does at its edges: starting, stopping, without descriptors, with smuggled requests."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable

import pytest

from assertions import assert_problem
from harness import Bridge, Client, RawUpstream, Upstream
from harness.environment import BINARY
from harness.patience import Deadline, await_truth


def test_nobody_is_told_that_the_connection_is_unknown_while_the_bridge_starts(
    upstream: Upstream, start_bridge: Callable[..., Bridge]
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    first: list[int] = []

    def ask() -> None:
        while True:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
        with Client(("127.0.0.1", port)) as client:
            first.append(client.request("GET", "/status", None, {}).status)

    eager = threading.Thread(target=ask)
    eager.start()
    start_bridge(upstream.url, listen=f"127.0.0.1:{port}")
    eager.join()
    assert first == [200]


def test_clients_cannot_take_the_descriptors_that_the_upstream_needs(
    upstream: Upstream, start_bridge: Callable[..., Bridge]
) -> None:
    bridge = start_bridge(upstream.url, wrapper=["prlimit", "--nofile=128:128"])
    bridge.await_ready()
    clients = [socket.create_connection(bridge.address) for _ in range(200)]
    upstream.peer().drop()
    upstream.dialled(2)
    for client in clients:
        client.close()

    def is_ready() -> bool:
        # Until it has seen that they left, there is no room: it closes or answers 503.
        with contextlib.suppress(ConnectionError):
            response = bridge.get("/status")
            return response.status == 200 and response.json()["ready"]
        return False

    await_truth(is_ready, "the connection is ready")
    assert any("descriptors" in record["message"] for record in bridge.records)


@pytest.mark.parametrize(
    "request_line",
    [b"GET /healthz\0junk HTTP/1.1", b"GET /healthz\0 HTTP/1.1", b"GET /events?limit=1&\0x HTTP/1.1"],
    ids=repr,
)
def test_a_raw_nul_in_the_target_is_refused(bridge: Bridge, request_line: bytes) -> None:
    with bridge.client() as client:
        client.wire.send(request_line + b"\r\nHost: localhost\r\n\r\n")
        assert_problem(client.response(), 400, "invalid-target")


@pytest.mark.parametrize(
    "fields",
    [
        b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n",
        b"Content-Length : 5\r\n",
        b"Origin : http://evil.example\r\nContent-Length: 5\r\n",
        b"Ori(gin: http://evil.example\r\nContent-Length: 5\r\n",
    ],
    ids=repr,
)
def test_a_field_name_that_is_no_token_is_refused(bridge: Bridge, fields: bytes) -> None:
    with bridge.client() as client:
        client.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\nhello")
        assert client.response().status == 400


@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["CR LF", "LF"])
@pytest.mark.parametrize(
    "fields",
    [
        [b"Host: localhost\0.evil.example", b"Accept: */*"],
        [b"Host: localhost", b"X: a\0"],
        [b"Host: localhost", b"Accept: */*", b"X: a\0b"],
        [b"Host: localhost", b"X: a\0\0\0\0\0\0b"],
        [b"Host: localhost", b"X:\0", b"Y: 1"],
        [b"Host: localhost", b"X: a", b" folded", b"Y: 1"],
        [b"Host: localhost", b"X: a", b"\tfolded"],
    ],
    ids=repr,
)
def test_a_nul_in_a_value_or_a_folded_line_is_refused(
    bridge: Bridge, fields: list[bytes], end: bytes
) -> None:
    if fields[1:] in ([b"X: a\0"], [b"X:\0", b"Y: 1"]) and end == b"\n":
        # What libmicrohttpd leaves of it cannot be told from a line that ends with CR LF.
        return
    with bridge.client() as client:
        client.wire.send(end.join([b"GET /status HTTP/1.1", *fields, b"", b""]))
        assert_problem(client.response(), 400, "invalid-framing")
        assert client.rest() == b""


@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["CR LF", "LF"])
@pytest.mark.parametrize(
    "fields",
    [
        [b"Host: localhost"],
        [b"Host:localhost", b"Empty:", b"Blank: ", b"Spaces: a \t b \t "],
        [b'Cookie: a=b; c="d\\"e"; f', b"Host: localhost", b"Long: " + b"x" * 12_000, b"Last: \xff"],
        [b"Host: localhost", b"Empty:"],
        [b"Host: localhost", *(b"F%d: %d" % (number, number) for number in range(200))],
    ],
    ids=["one", "spaces", "long", "empty", "many"],
)
def test_fields_that_are_right_are_taken_however_they_come(
    bridge: Bridge, fields: list[bytes], end: bytes
) -> None:
    request = end.join([b"GET /healthz HTTP/1.1", *fields, b"", b""])
    with bridge.client() as client:
        client.wire.send(b"\r\n" + request + request)
        assert [client.response().status for _ in range(2)] == [200, 200]
        for start in range(0, len(request), 100):
            client.wire.send(request[start : start + 100])
        assert client.response().status == 200


def test_a_bridge_that_stops_refuses_new_clients(
    raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]
) -> None:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    bridge.signal(15)
    # Its close frame shows that it is stopping; it waits for the answer, which does not come.
    assert peer.close_code() == 1001
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(bridge.address)
    peer.close()
    assert bridge.exit_code() == 0


def test_a_bridge_without_standard_streams_serves_and_stops_cleanly(upstream: Upstream) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(BINARY), "serve", "--upstream", upstream.url, "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command])
    try:
        upstream.peer()
        with Client(("127.0.0.1", port)) as client:
            assert client.request("GET", "/healthz", None, {}).status == 200
    finally:
        process.terminate()
        assert process.wait(Deadline("the process ends").left()) == 0
