"""How an upstream is found and reached: names, addresses, deadlines, unix sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, JoinedNetwork, RawUpstream, Upstream

NAME = "upstream.example"


@pytest.fixture
def network() -> Iterator[JoinedNetwork]:
    network = JoinedNetwork()
    yield network
    network.remove()


@pytest.fixture
def start_raw_upstream(serve_inside) -> Iterator[Callable[[str], RawUpstream]]:
    """Start an upstream made of bytes on an address; it closes before the bridge is stopped."""
    with contextlib.ExitStack() as stack:

        def start(host: str) -> RawUpstream:
            upstream = RawUpstream(host)
            stack.callback(upstream.stop)
            return upstream

        yield start


@pytest.fixture
def serve_inside(network: JoinedNetwork, run_bridge, tmp_path: Path) -> Callable[..., Bridge]:
    """Serve with a configuration file in a network of its own."""

    def serve(text: str, **options: Any) -> Bridge:
        path = tmp_path / "wsbridge.yaml"
        path.write_text(text)
        flags = ["--config", str(path), "--listen", f"{network.inside}:0", "--log-format", "json"]
        environment = {"WSBRIDGE_ALLOW_ANONYMOUS": "true", "NO_PROXY": "*"}
        wrapper = network.wrapper
        return run_bridge("serve", *flags, environment=environment, wrapper=wrapper, **options).listening()

    return serve


def connection(url: str, more: str = "") -> str:
    members = f"url: '{url}', reconnect: {{ initialDelay: 100ms, factor: 1 }} {more}"
    return f"connections: {{ default: {{ {members} }} }}"


def failure(bridge: Bridge) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


# Several addresses


@pytest.mark.parametrize("family", [4, 6], ids=["IPv4 answers", "IPv6 answers"])
def test_happy_eyeballs_pass_over_a_silent_address(
    network: JoinedNetwork, serve_inside, start_upstream, family: int
) -> None:
    # The silent address is of the family that the system puts first.
    network.prefers(6 if family == 4 else 4)
    answering, silent = (
        (network.outside, network.silent6) if family == 4 else (network.outside6, network.silent)
    )
    upstream = start_upstream(host=answering)
    network.names(f"{silent} {NAME}", f"{answering} {NAME}")
    bridge = serve_inside(connection(f"ws://{NAME}:{upstream.port}/"))
    bridge.await_ready()
    assert (upstream.dials, bridge.status()["counters"]["failures"]) == (1, 0)


def test_happy_eyeballs_pass_over_an_address_that_refuses(
    network: JoinedNetwork, serve_inside, start_upstream
) -> None:
    upstream = start_upstream(host=network.outside)
    network.names(
        f"{network.outside6} {NAME}", f"{network.second_outside} {NAME}", f"{network.outside} {NAME}"
    )
    bridge = serve_inside(connection(f"ws://{NAME}:{upstream.port}/"))
    bridge.await_ready()
    assert bridge.status()["counters"]["failures"] == 0


def test_an_error_tells_of_all_addresses(network: JoinedNetwork, serve_inside, start_upstream) -> None:
    away = start_upstream(host=network.outside, away=True)
    network.names(
        f"{network.outside6} {NAME}", f"{network.second_outside} {NAME}", f"{network.outside} {NAME}"
    )
    error = failure(serve_inside(connection(f"ws://{NAME}:{away.port}/")))
    assert error["phase"] == "tcp"
    told = {text.rsplit(": ", 1)[0]: text.rsplit(": ", 1)[1] for text in error["error"].split("; ")}
    hosts = (network.outside, network.second_outside, f"[{network.outside6}]")
    assert told == {f"{host}:{away.port}": "connection refused" for host in hosts}


def test_a_deadline_tells_of_the_addresses_that_were_silent(network: JoinedNetwork, serve_inside) -> None:
    network.names(f"{network.silent6} {NAME}", f"{network.silent} {NAME}")
    error = failure(serve_inside(connection(f"ws://{NAME}:1/", ", connectTimeout: 700ms")))
    assert error["phase"] == "tcp"
    assert error["error"].startswith("not connected within 700 ms; ")
    assert f"[{network.silent6}]:1: no answer" in error["error"]
    assert f"{network.silent}:1: no answer" in error["error"]


def test_socks5_asks_for_the_next_address_when_the_proxy_cannot_reach_one(
    network: JoinedNetwork, serve_inside, start_raw_upstream
) -> None:
    network.prefers(6)
    network.names(f"{network.silent} {NAME}", f"{network.silent6} {NAME}")
    raw = start_raw_upstream(network.outside)
    proxy = raw.url.replace("ws://", "socks5://")
    bridge = serve_inside(connection(f"ws://{NAME}:80/", f", proxy: '{proxy}'"))
    asked: list[int] = []
    for refused in (True, False):
        peer = raw.accept()
        assert peer.take(3) == b"\x05\x01\x00"
        peer.send(b"\x05\x00")
        kind = peer.take(4)[3]
        asked.append(kind)
        peer.take((16 if kind == 4 else 4) + 2)
        peer.send(b"\x05\x04" if refused else b"\x05\x00\x00\x01\0\0\0\0\0\0")
    peer.accept_handshake()
    bridge.await_ready()
    assert asked == [4, 1]
    assert bridge.status()["counters"]["failures"] == 0


# Names


def test_names_are_resolved_anew_for_each_attempt(
    network: JoinedNetwork, serve_inside, start_upstream
) -> None:
    first = start_upstream(host=network.outside)
    second = start_upstream(host=network.second_outside, port=first.port)
    network.names(f"{network.outside} {NAME}")
    serve_inside(connection(f"ws://{NAME}:{first.port}/"))
    peer = first.peer()
    network.names(f"{network.second_outside} {NAME}")
    peer.drop()
    second.peer()
    assert first.dials == 1


def test_a_name_that_comes_to_exist_is_found(network: JoinedNetwork, serve_inside, start_upstream) -> None:
    upstream = start_upstream(host=network.outside)
    bridge = serve_inside(connection(f"ws://{NAME}:{upstream.port}/"))
    error = failure(bridge)
    assert error["phase"] == "dns"
    assert error["error"].startswith(f"the name {NAME} cannot be resolved: ")
    network.names(f"{network.outside} {NAME}")
    bridge.await_ready()


def test_names_that_get_no_answer_do_not_keep_others_waiting(
    network: JoinedNetwork, serve_inside, start_upstream
) -> None:
    upstream = start_upstream(host=network.outside)
    network.name_server(network.silent)
    network.names(f"{network.outside} {NAME}")
    silent = ", ".join(f"s{number}: {{ url: 'ws://s{number}.example' }}" for number in range(6))
    bridge = serve_inside(
        f"connections: {{ {silent}, z: {{ url: 'ws://{NAME}:{upstream.port}', connect: manual }} }}"
    )
    assert bridge.post("/v1/connections/z/connect").status == 200
    upstream.peer()
    states = {one["name"]: one["state"] for one in bridge.get("/v1/connections").json()["connections"]}
    assert set(states.values()) == {"connecting", "open"}


# Deadlines


def test_one_deadline_covers_a_silent_name_server(network: JoinedNetwork, serve_inside) -> None:
    network.name_server(network.silent)
    error = failure(serve_inside(connection(f"ws://{NAME}/", ", connectTimeout: 300ms")))
    assert (error["phase"], error["error"]) == ("dns", "not connected within 300 ms")


@pytest.mark.parametrize(
    ("phase", "scheme", "proxy"),
    [
        ("proxy", "ws", "http://{}"),
        ("proxy", "ws", "https://{}"),
        ("proxy", "ws", "socks5h://{}"),
        ("tls", "wss", None),
        ("handshake", "ws", None),
    ],
)
def test_one_deadline_covers_dns_to_handshake(
    serve_file, raw_upstream: RawUpstream, phase: str, scheme: str, proxy: str | None
) -> None:
    authority = raw_upstream.url.split("/")[2]
    text = f"{scheme}://{'upstream.example' if proxy else authority}/"
    setting = f", proxy: '{proxy.format(authority)}'" if proxy else ""
    bridge = serve_file(connection(text, f", connectTimeout: 300ms{setting}"))
    raw_upstream.accept()
    error = failure(bridge)
    assert (error["phase"], error["error"]) == (phase, "not connected within 300 ms")
    raw_upstream.accept()  # it tries again


def test_a_proxy_and_its_upstream_share_one_deadline(serve_file, raw_upstream: RawUpstream) -> None:
    proxy = raw_upstream.url.replace("ws://", "http://")
    bridge = serve_file(connection("wss://upstream.example/", f", connectTimeout: 300ms, proxy: '{proxy}'"))
    peer = raw_upstream.accept()
    peer.request()
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
    error = failure(bridge)
    assert (error["phase"], error["error"]) == ("tls", "not connected within 300 ms")


# The connection itself


def test_the_kernel_probes_a_silent_connection_and_sends_small_writes_at_once(
    start_bridge, upstream: Upstream, tmp_path: Path
) -> None:
    log = tmp_path / "strace.log"
    trace = ["-f", "-e", "trace=setsockopt", "-e", "signal=all", "-o", str(log)]
    bridge = start_bridge(upstream.url, wrapper=["strace", *trace])
    bridge.await_ready()
    calls = log.read_text()
    bridge.pid = int(calls.split(maxsplit=1)[0])  # strace would not pass the signals on
    assert "TCP_NODELAY, [1]" in calls
    assert "SO_KEEPALIVE, [1]" in calls
    assert "TCP_KEEPIDLE, [60]" in calls


@pytest.mark.parametrize(
    ("host", "name"), [("127.0.0.1", ""), ("::1", ""), ("localhost", "127.0.0.1"), ("127.0.0.1", "::1")]
)
def test_sni_is_never_an_ip(start_upstream, serve_file, authority, host: str, name: str) -> None:
    names: list[str | None] = []
    context = authority.server_context("IP:127.0.0.1", "IP:::1")
    context.sni_callback = lambda _, name, __: names.append(name)
    upstream = start_upstream(tls=context, host="127.0.0.1" if host == "localhost" else host)
    url = upstream.url.replace("127.0.0.1", host)
    server_name = f", serverName: '{name}'" if name else ""
    text = connection(url, f", tls: {{ ca: '{authority.certificate}' {server_name} }}")
    serve_file(text).await_ready()
    assert names == [None]


# Unix sockets


@pytest.mark.parametrize("secure", [False, True], ids=["ws+unix", "wss+unix"])
def test_messages_flow_over_a_unix_socket(
    start_upstream, start_bridge, authority, tmp_path: Path, secure: bool
) -> None:
    context = authority.server_context("DNS:localhost") if secure else None
    upstream = start_upstream(path=tmp_path / "u.sock", tls=context)
    # A proxy has no way to a socket of this machine.
    environment = {"SSL_CERT_FILE": str(authority.certificate), "ALL_PROXY": "http://127.0.0.1:9"}
    bridge = start_bridge(upstream.url + "feed?token=s3cret", environment=environment)
    bridge.await_ready()
    stream = bridge.stream()
    text = "x" * (1 << 20)
    upstream.peer().send(text)
    bridge.send(text)
    assert stream.next().data == text
    assert upstream.peer().received(1) == [text]
    request = upstream.peer().request
    assert (request.path, request.headers["Host"]) == ("/feed?token=s3cret", "localhost")
    scheme = "wss+unix" if secure else "ws+unix"
    assert bridge.status()["url"] == f"{scheme}:{tmp_path}/u.sock:/feed"


def test_a_relative_unix_socket_is_beside_the_file(start_upstream, serve_file, tmp_path: Path) -> None:
    start_upstream(path=tmp_path / "u.sock")
    serve_file(connection("ws+unix:u.sock:/")).await_ready()


def test_an_explicit_proxy_is_not_asked_for_a_unix_socket(start_upstream, serve_file, tmp_path: Path) -> None:
    start_upstream(path=tmp_path / "u.sock")
    serve_file(connection(f"ws+unix:{tmp_path}/u.sock:/", ", proxy: 'http://127.0.0.1:9'")).await_ready()


def test_a_unix_socket_that_is_not_there_fails_in_phase_tcp_until_it_is(
    start_upstream, start_bridge, tmp_path: Path
) -> None:
    path = tmp_path / "u.sock"
    bridge = start_bridge(f"ws+unix:{path}:/")
    error = failure(bridge)
    assert (error["phase"], error["error"]) == ("tcp", f"{path}: no such file or directory")
    start_upstream(path=path)
    bridge.await_ready()


def test_a_unix_socket_that_nobody_listens_on_refuses(start_bridge, tmp_path: Path) -> None:
    path = tmp_path / "u.sock"
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(path))
        error = failure(start_bridge(f"ws+unix:{path}:/"))
    assert (error["phase"], error["error"]) == ("tcp", f"{path}: connection refused")
