"""Health that cannot lie: when things stand still, or what answers is no bridge."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import PATIENCE, Bridge, JoinedNetwork, Upstream, await_truth
from harness.disks import stuck_disk
from harness.environment import BINARY, clean_environment


def health(*arguments: str, wrapper: tuple[str, ...] = (), **environment: str) -> tuple[int, str]:
    """Run `wsbridge health`, which must end by itself; return its code and what it complains of."""
    done = subprocess.run(
        [*wrapper, str(BINARY), "health", *arguments],
        capture_output=True,
        text=True,
        env=clean_environment(**environment),
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def address(bridge: Bridge) -> str:
    return f"{bridge.address[0]}:{bridge.address[1]}"


# The bridge stands still


def test_a_disk_that_stands_still_makes_the_bridge_ill_until_it_goes_on(
    upstream: Upstream, start_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    bridge = start_bridge(upstream.url, "--data-dir", str(tmp_path / "data"))
    bridge.await_ready()
    with stuck_disk(bridge, tmp_path), bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "0"})
        assert bridge.get("/healthz").status == 200
        await_truth(lambda: bridge.get("/healthz").status == 503, "the bridge is ill")
        assert_problem(bridge.get("/healthz"), 503, "storage-unavailable")
        where = address(bridge)
        assert health("--listen", where) == (
            1,
            f"wsbridge: the bridge at {where} is not well: nothing could be stored for 5 seconds "
            "(storage-unavailable, status 503)\n",
        )
        # Its connection is ready all the same, and readers have no reason to go elsewhere.
        assert bridge.get("/readyz").status == 200
    await_truth(lambda: bridge.get("/healthz").status == 200, "the bridge is well again")
    assert health("--listen", address(bridge)) == (0, "")


def test_a_loop_that_stands_still_is_silent_until_it_goes_on(bridge: Bridge) -> None:
    bridge.signal(signal.SIGSTOP)
    try:
        where = address(bridge)
        assert health("--listen", where) == (
            1,
            f"wsbridge: the bridge at {where} did not answer: it does not answer in time\n",
        )
    finally:
        bridge.signal(signal.SIGCONT)
    await_truth(lambda: health("--listen", address(bridge)) == (0, ""), "the bridge is well again")


# What answers is no bridge


@pytest.fixture
def start_liar() -> Iterator[Callable[..., str]]:
    """Listen, and do this with each connection once a request came; returns the address."""
    with contextlib.ExitStack() as stack:
        over = threading.Event()

        def start(lie: Callable[[socket.socket, threading.Event], None]) -> str:
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def serve() -> None:
                with contextlib.suppress(OSError):
                    client, _ = server.accept()
                    with client:
                        client.recv(65536)
                        lie(client, over)

            thread = threading.Thread(target=serve)
            thread.start()
            stack.callback(thread.join)
            stack.callback(over.set)
            return f"127.0.0.1:{server.getsockname()[1]}"

        yield start


def say(text: bytes) -> Callable[[socket.socket, threading.Event], None]:
    return lambda client, _: client.sendall(text)


def stay_silent(_: socket.socket, over: threading.Event) -> None:
    over.wait(PATIENCE)


def drip(client: socket.socket, over: threading.Event) -> None:
    """Give the right answer, so slowly that it takes ten seconds."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n":
        client.sendall(bytes([byte]))
        if over.wait(0.25):
            return


def flood(client: socket.socket, over: threading.Event) -> None:
    """Promise an answer for ever."""
    while not over.is_set():
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


LATE = "it does not answer in time"
NO_BRIDGE = "what answers is not a bridge"
CLOSED = "it closed the connection"


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        pytest.param(stay_silent, LATE, id="nothing"),
        pytest.param(drip, LATE, id="a byte now and then"),
        pytest.param(flood, LATE, id="promises without end"),
        pytest.param(say(b""), CLOSED, id="a close"),
        pytest.param(say(b"HTTP/1.1 200 O"), CLOSED, id="half a line"),
        pytest.param(say(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n"), NO_BRIDGE, id="another protocol"),
        pytest.param(say(b"\x15\x03\x01\x00\x02\x02\x50"), NO_BRIDGE, id="TLS"),
        pytest.param(say(b"HTTP/1.1 abc OK\r\n\r\n"), NO_BRIDGE, id="no status"),
        pytest.param(say(b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20)), NO_BRIDGE, id="a head without end"),
        pytest.param(say(bytes(range(256)) * 100), NO_BRIDGE, id="bytes"),
    ],
)
def test_health_is_not_taken_in(start_liar: Callable[..., str], lie: Any, reason: str) -> None:
    where = start_liar(lie)
    assert health("--listen", where) == (1, f"wsbridge: the bridge at {where} did not answer: {reason}\n")


@pytest.mark.parametrize(
    "status", ["204 No Content", "301 Moved", "401 Unauthorized", "404 Not Found", "500 x"]
)
def test_health_wants_the_status_200(start_liar: Callable[..., str], status: str) -> None:
    where = start_liar(say(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()))
    code, complaint = health("--listen", where)
    advice = "; the token of WSBRIDGE_TOKEN is sent along" if status[:3] == "401" else ""
    said = f"wsbridge: the bridge at {where} is not well: (status {status[:3]}){advice}\n"
    assert (code, complaint) == (1, said)


# Finding it


def test_health_finds_the_bridge_as_serve_does(
    bridge: Bridge, start_liar: Callable[..., str], tmp_path: Path
) -> None:
    well, ill = address(bridge), start_liar(stay_silent)
    path = tmp_path / "wsbridge.yaml"
    path.write_text(f"http: {{ listen: '{ill}' }}")
    assert health("--config", str(path))[0] == 1
    # The environment comes before the file, and a flag before both.
    assert health("--config", str(path), WSBRIDGE_LISTEN=well) == (0, "")
    assert health("--config", str(path), "--listen", well, WSBRIDGE_LISTEN=ill) == (0, "")
    path.write_text(f"http: {{ listen: '{well}' }}")
    assert health(WSBRIDGE_CONFIG=str(path)) == (0, "")


@pytest.mark.parametrize("host", ["", "0.0.0.0", "localhost"])
def test_a_wildcard_means_this_machine(bridge: Bridge, host: str) -> None:
    assert health("--listen", f"{host}:{bridge.address[1]}") == (0, "")


def test_a_name_server_that_is_silent_is_not_waited_for() -> None:
    network = JoinedNetwork()
    try:
        network.name_server(network.silent)
        code, complaint = health("--listen", "bridge.example:8080", wrapper=tuple(network.wrapper))
    finally:
        network.remove()
    assert (code, complaint) == (1, "wsbridge: the bridge did not answer in time\n")


# Readiness


def test_readyz_says_of_each_connection_why_it_is_not_ready(
    start_upstream: Callable[..., Upstream],
    start_raw_upstream: Callable[..., Any],
    serve_file: Callable[..., Bridge],
) -> None:
    silent, deaf = start_raw_upstream(), start_raw_upstream()
    refusing = start_upstream(refuse=403).url
    later = {"initialDelay": "1h", "maxDelay": "1h"}
    connections = {
        "ready": {"url": start_upstream().url},
        "connecting": {"url": silent.url, "connectTimeout": "1h"},
        "waiting": {"url": refusing, "reconnect": later},
        "failed": {"url": refusing, "reconnect": {"maxRetries": 0}},
        "final": {"url": refusing, "reconnect": {"stopOnStatus": [403]}},
        "closed": {"url": start_upstream().url},
        "closing": {"url": deaf.url, "closeTimeout": "1h"},
        "paused": {"url": start_upstream().url},
        "script": {
            "url": start_upstream().url,
            "onOpen": [{"expect": {"equals": "never"}, "timeout": "1h"}],
        },
        # These need not be up.
        "manual": {"url": refusing, "connect": "manual"},
        "demand": {"url": refusing, "connect": "onDemand"},
    }
    tokens = [
        {"name": "all", "token": "all-of-them"},
        {"name": "one", "token": "one-of-them", "connections": ["waiting"]},
    ]
    settings = {"http": {"tokens": tokens, "shutdownTimeout": "1s"}, "connections": connections}
    bridge = serve_file(json.dumps(settings))
    own = {"Authorization": "Bearer all-of-them"}
    silent.accept().request()
    deaf.accept().accept_handshake()
    handshake = "the last attempt failed at handshake with 403"
    expected = {
        "ready": ("open", None),
        "connecting": ("connecting", "connecting"),
        "waiting": ("waiting", f"waiting to connect again; {handshake}"),
        "failed": ("failed", f"gave up; {handshake}"),
        "final": ("failed", f"gave up; {handshake}"),
        "closed": ("closed", "closed"),
        "closing": ("closing", "closing"),
        "paused": ("paused", "paused"),
        "script": ("open", "open, with steps of onOpen to come"),
    }

    def rows(fields: dict[str, str] | None = own) -> list[dict[str, Any]]:
        answer = bridge.get("/readyz", fields)
        assert answer.status == 503
        assert answer.json()["ready"] is False
        return answer.json()["connections"]

    def states() -> dict[str, tuple[str, str | None]]:
        return {row["name"]: (row["state"], row["reason"]) for row in rows()}

    await_truth(lambda: states()["closing"][0] == "open", "the deaf one is open")
    for name, action in {"closed": "disconnect", "closing": "disconnect", "paused": "pause"}.items():
        assert bridge.request("POST", f"/v1/connections/{name}/{action}", b"", own).status == 200
    await_truth(lambda: states() == expected, "all are as they are meant to be")
    # Strangers see how many there are and why, and no names; a token sees what it covers.
    assert [set(row) for row in rows(None)] == [{"state", "reason"}] * len(expected)
    assert [row["name"] for row in rows({"Authorization": "Bearer one-of-them"})] == ["waiting"]
