"""Upstreams that are reached through a proxy."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, RawUpstream, Upstream
from harness.proxies import Proxy, TLSFront, danted, microsocks, squid, tinyproxy

LOGIN = ("u53r", "s3cret")
WRONG = ("u53r", "wr0ng")
CONFIGURATION = 78


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


def starting(stack: contextlib.ExitStack, program: Callable[..., Proxy]) -> Callable[..., Proxy]:
    def start(**options: Any) -> Proxy:
        proxy = program(**options)
        stack.callback(proxy.stop)
        return proxy

    return start


@pytest.fixture
def http_proxy(stack) -> Callable[..., Proxy]:
    """Start an HTTP proxy that is there in no time."""
    return starting(stack, tinyproxy)


@pytest.fixture(params=[tinyproxy, squid], ids=lambda program: program.__name__)
def any_http_proxy(stack, request: pytest.FixtureRequest) -> Callable[..., Proxy]:
    """Start one of the HTTP proxies."""
    return starting(stack, request.param)


@pytest.fixture(params=[microsocks, danted], ids=lambda program: program.__name__)
def socks_proxy(stack, request: pytest.FixtureRequest) -> Callable[..., Proxy]:
    """Start one of the SOCKS proxies."""
    return starting(stack, request.param)


@pytest.fixture
def through(serve_file) -> Callable[..., Bridge]:
    """Serve an upstream with a `proxy` in the configuration file, and what else stands there."""

    def serve(
        url: str, proxy: str, more: str = "", reconnect: str = "initialDelay: 100ms", **options: Any
    ) -> Bridge:
        members = f'url: "{url}", proxy: "{proxy}", reconnect: {{ {reconnect} }} {more}'
        return serve_file(f"connections: {{ default: {{ {members} }} }}", **options)

    return serve


def failure(bridge: Bridge) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


def assert_messages_flow(bridge: Bridge, upstream: Upstream) -> None:
    bridge.await_ready()
    stream = bridge.stream()
    text = random.Random(7).randbytes(1 << 18).hex()
    upstream.peer().send(text)
    bridge.send(text)
    assert stream.next().data == text
    assert upstream.peer().received(1) == [text]


def assert_hides(bridge: Bridge, *secrets: str) -> None:
    shown = (
        bridge.err.text + bridge.get("/status").body.decode() + bridge.get("/v1/connections").body.decode()
    )
    for secret in secrets:
        assert secret not in shown


# HTTP proxies


def test_messages_flow_through_an_http_proxy(start_upstream, any_http_proxy, through) -> None:
    upstream, proxy = start_upstream(), any_http_proxy()
    assert_messages_flow(through(upstream.url, proxy.url), upstream)
    proxy.logged(f"CONNECT 127.0.0.1:{upstream.port} HTTP/1.1")


def test_tls_goes_through_an_http_proxy(start_upstream, any_http_proxy, through, authority) -> None:
    names: list[str | None] = []
    context = authority.server_context("DNS:localhost")
    context.sni_callback = lambda _, name, __: names.append(name)
    upstream, proxy = start_upstream(tls=context), any_http_proxy()
    url = upstream.url.replace("127.0.0.1", "localhost")
    bridge = through(url, proxy.url, environment={"SSL_CERT_FILE": str(authority.certificate)})
    assert_messages_flow(bridge, upstream)
    proxy.logged(f"CONNECT localhost:{upstream.port} HTTP/1.1")
    assert names == ["localhost"]


def test_an_http_proxy_may_want_a_login(start_upstream, any_http_proxy, through) -> None:
    upstream, proxy = start_upstream(), any_http_proxy(credentials=LOGIN)
    bridge = through(upstream.url, proxy.url_with(LOGIN))
    assert_messages_flow(bridge, upstream)
    proxy.logged(f"CONNECT 127.0.0.1:{upstream.port}")
    assert_hides(bridge, "s3cret", "u53r", "dTUzcjpzM2NyZXQ=")


@pytest.mark.parametrize(
    ("login", "hint"),
    [(None, "it wants a user name and a password"), (WRONG, "does not accept the user name")],
)
def test_a_login_that_an_http_proxy_refuses_fails_with_its_status(
    upstream: Upstream, any_http_proxy, through, login: tuple[str, str] | None, hint: str
) -> None:
    proxy = any_http_proxy(credentials=LOGIN)
    bridge = through(upstream.url, proxy.url_with(login))
    error = failure(bridge)
    # tinyproxy answers 401 for 407 where credentials are wrong.
    assert (error["phase"], error["status"]) in {("proxy", 407), ("proxy", 401)}
    assert error["error"].startswith(f"the proxy http://{proxy.authority} answered CONNECT with HTTP status")
    if error["status"] == 407:
        assert hint in error["error"]
    assert_hides(bridge, "wr0ng", "u53r")
    assert upstream.dials == 0


def test_a_port_that_an_http_proxy_forbids_fails_with_403(
    upstream: Upstream, any_http_proxy, through
) -> None:
    bridge = through(upstream.url, any_http_proxy(only_port=443).url)
    error = failure(bridge)
    assert (error["phase"], error["status"]) == ("proxy", 403)


def test_an_upstream_that_an_http_proxy_cannot_reach_fails_with_its_status(
    start_upstream, any_http_proxy, through
) -> None:
    error = failure(through(start_upstream(away=True).url, any_http_proxy().url))
    assert error["phase"] == "proxy"
    assert 500 <= error["status"] <= 504


def test_a_status_of_the_proxy_can_end_the_attempts(upstream: Upstream, any_http_proxy, through) -> None:
    bridge = through(upstream.url, any_http_proxy(only_port=443).url, reconnect="stopOnStatus: [403]")
    bridge.await_status(lambda status: status["state"] == "failed", "the connection gives up")


# Proxies over TLS


@pytest.mark.parametrize("secure", [False, True], ids=["ws", "wss"])
def test_a_proxy_may_be_spoken_to_over_tls(
    start_upstream, http_proxy, through, authority, stack, secure: bool
) -> None:
    upstream = start_upstream(tls=authority.server_context("IP:127.0.0.1") if secure else None)
    front = TLSFront(authority.server_context("DNS:localhost"), http_proxy().port)
    stack.callback(front.stop)
    environment = {"SSL_CERT_FILE": str(authority.certificate)}
    bridge = through(upstream.url, f"https://localhost:{front.port}", environment=environment)
    assert_messages_flow(bridge, upstream)


def test_a_certificate_of_the_proxy_that_is_wrong_fails_in_phase_proxy(
    upstream: Upstream, http_proxy, through, authority, stack
) -> None:
    front = TLSFront(authority.server_context("DNS:other.example"), http_proxy().port)
    stack.callback(front.stop)
    environment = {"SSL_CERT_FILE": str(authority.certificate)}
    # What `tls` says is about the upstream.
    bridge = through(
        upstream.url, f"https://localhost:{front.port}", ", tls: { verify: false }", environment=environment
    )
    error = failure(bridge)
    assert error["phase"] == "proxy"
    assert "the proxy's certificate was refused" in error["error"]


# SOCKS


def test_socks5h_lets_the_proxy_look_names_up(start_upstream, socks_proxy, through) -> None:
    upstream, proxy = start_upstream(), socks_proxy()
    bridge = through(upstream.url.replace("127.0.0.1", "localhost"), proxy.url)
    assert_messages_flow(bridge, upstream)
    proxy.reached("localhost", upstream.port)


def test_socks5_looks_names_up_here(start_upstream, socks_proxy, through, authority) -> None:
    names: list[str | None] = []
    context = authority.server_context("DNS:localhost")
    context.sni_callback = lambda _, name, __: names.append(name)
    upstream, proxy = start_upstream(tls=context), socks_proxy()
    url = upstream.url.replace("127.0.0.1", "localhost")
    environment = {"SSL_CERT_FILE": str(authority.certificate)}
    bridge = through(url, proxy.url_with(None, "socks5"), environment=environment)
    assert_messages_flow(bridge, upstream)
    proxy.reached("127.0.0.1", upstream.port)
    # The proxy is told an address, the upstream its name.
    assert names == ["localhost"]


def test_a_socks_proxy_may_want_a_login(start_upstream, socks_proxy, through) -> None:
    upstream, proxy = start_upstream(), socks_proxy(credentials=LOGIN)
    bridge = through(upstream.url, proxy.url_with(LOGIN))
    assert_messages_flow(bridge, upstream)
    assert_hides(bridge, "s3cret", "u53r")


@pytest.mark.parametrize(
    ("login", "text"),
    [(None, "in without logging in"), (WRONG, "does not accept the user name and the password")],
)
def test_a_login_that_a_socks_proxy_refuses_fails_in_phase_proxy(
    upstream: Upstream, socks_proxy, through, login: tuple[str, str] | None, text: str
) -> None:
    proxy = socks_proxy(credentials=LOGIN)
    bridge = through(upstream.url, proxy.url_with(login))
    error = failure(bridge)
    assert (error["phase"], error["status"]) == ("proxy", None)
    assert text in error["error"]
    assert_hides(bridge, "wr0ng", "u53r")


def test_a_refusal_of_a_socks_proxy_is_told_in_words(start_upstream, socks_proxy, through) -> None:
    error = failure(through(start_upstream(away=True).url, socks_proxy().url))
    assert error["phase"] == "proxy"
    assert "says that the upstream refused the connection (SOCKS reply 5)" in error["error"]


# IPv6


@pytest.mark.parametrize("kind", ["http", "socks5", "socks5h"])
def test_proxy_and_upstream_may_have_ipv6_addresses(
    start_upstream, http_proxy, socks_proxy, through, kind: str
) -> None:
    upstream = start_upstream(host="::1")
    proxy = (http_proxy if kind == "http" else socks_proxy)(host="::1")
    assert_messages_flow(through(upstream.url, proxy.url_with(None, kind)), upstream)
    proxy.logged("[::1]" if kind == "http" else "::1")


# The environment


@pytest.mark.parametrize(
    ("variable", "secure"),
    [
        ("HTTP_PROXY", False),
        ("http_proxy", False),
        ("HTTPS_PROXY", True),
        ("https_proxy", True),
        ("ALL_PROXY", False),
        ("all_proxy", True),
    ],
)
def test_the_environment_names_a_proxy(
    start_upstream, start_bridge, http_proxy, authority, variable: str, secure: bool
) -> None:
    upstream = start_upstream(tls=authority.server_context("IP:127.0.0.1") if secure else None)
    proxy = http_proxy()
    environment = {
        "SSL_CERT_FILE": str(authority.certificate),
        variable: proxy.url,
        "NO_PROXY": "other.example",
    }
    # Loopback addresses are no exception.
    assert_messages_flow(start_bridge(upstream.url, environment=environment), upstream)
    proxy.logged(f"CONNECT 127.0.0.1:{upstream.port}")


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
def test_a_proxy_for_the_other_scheme_is_not_used(start_upstream, start_bridge, variable: str) -> None:
    upstream = start_upstream()
    assert_messages_flow(start_bridge(upstream.url, environment={variable: "http://127.0.0.1:9"}), upstream)


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("127.0.0.1", "*"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "a.example, 127.0.0.0/8"),
        ("localhost", "localhost"),
        ("localhost", "LocalHost."),
        ("localhost", "x,.localhost"),
        ("127.0.0.1", "127.0.0.1:{port}"),
    ],
)
@pytest.mark.parametrize("variable", ["NO_PROXY", "no_proxy"])
def test_no_proxy_matches_by_label_and_block(
    start_upstream, start_bridge, variable: str, host: str, direct: str
) -> None:
    upstream = start_upstream()
    environment = {"HTTP_PROXY": "http://127.0.0.1:9", variable: direct.format(port=upstream.port)}
    bridge = start_bridge(upstream.url.replace("127.0.0.1", host), environment=environment)
    assert_messages_flow(bridge, upstream)


@pytest.mark.parametrize("direct", ["host", "localhos", "127.0.0.2", "10.0.0.0/8", "127.0.0.1:9", "calhost"])
def test_no_proxy_matches_nothing_else(upstream: Upstream, start_bridge, raw_upstream, direct: str) -> None:
    environment = {"HTTP_PROXY": raw_upstream.url.replace("ws://", "http://"), "NO_PROXY": direct}
    start_bridge(upstream.url.replace("127.0.0.1", "localhost"), environment=environment)
    assert raw_upstream.accept().request().startswith(b"CONNECT localhost:")


def test_an_explicit_proxy_is_used_whatever_no_proxy_says(start_upstream, http_proxy, through) -> None:
    upstream, proxy = start_upstream(), http_proxy()
    environment = {"NO_PROXY": "*", "HTTP_PROXY": "http://127.0.0.1:9"}
    assert_messages_flow(through(upstream.url, proxy.url, environment=environment), upstream)
    proxy.logged("CONNECT")


def test_proxy_none_goes_straight(start_upstream, through) -> None:
    upstream = start_upstream()
    bridge = through(upstream.url, "none", environment={"HTTP_PROXY": "http://127.0.0.1:9"})
    assert_messages_flow(bridge, upstream)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_a_wrong_proxy_in_the_environment_is_an_error_that_hides_it(run_bridge, variable: str) -> None:
    bridge = run_bridge("check", environment={variable: "ftp://us3r:s3cret@h", "WSBRIDGE_UPSTREAM": "ws://h"})
    assert bridge.exit_code() == CONFIGURATION
    assert bridge.err.text.startswith(f"wsbridge: {variable}: expected a proxy such as http://")
    assert "s3cret" not in bridge.err.text
    assert "us3r" not in bridge.err.text


def test_a_wrong_proxy_harms_no_connection_that_wants_none(upstream: Upstream, through) -> None:
    through(upstream.url, "none", environment={"HTTP_PROXY": "ftp://h"}).await_ready()


def test_entries_of_no_proxy_that_mean_nothing_are_told(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"no_proxy": "10.0.0.0/33,localhost,<local>"})
    told = [record for record in bridge.records if record.get("variable") == "no_proxy"]
    assert [(record["level"], record["entries"]) for record in told] == [("warning", "10.0.0.0/33, <local>")]


def test_the_demo_needs_no_proxy(run_bridge) -> None:
    flags = ["--listen", "127.0.0.1:0", "--log-format", "json"]
    bridge = run_bridge("demo", *flags, environment={"HTTP_PROXY": "http://127.0.0.1:9"}).listening()
    bridge.await_ready()


# Proxies that misbehave


@pytest.fixture
def raw_proxy(raw_upstream: RawUpstream) -> str:
    return raw_upstream.url.replace("ws://", "http://").rstrip("/")


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (b"\0garbage\r\n", None, "something that is not HTTP/1"),
        (b"\x05\x00", None, "something that is not HTTP/1"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20), None, "a head of more than 16384 bytes"),
        (b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n", 407, "wants a user name and a password"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n", 302, "HTTP status 302"),
        (b"HTTP/1.1 200 O", None, "closed the connection without an answer"),
        (b"", None, "closed the connection without an answer"),
    ],
    ids=["garbage", "SOCKS", "endless head", "407", "redirect", "closes midway", "closes"],
)
def test_a_proxy_that_misbehaves_fails_the_attempt_and_is_asked_again(
    through, raw_upstream: RawUpstream, raw_proxy: str, answer: bytes, status: int | None, text: str
) -> None:
    bridge = through("wss://upstream.example/", raw_proxy)
    peer = raw_upstream.accept()
    assert peer.request().startswith(b"CONNECT upstream.example:443 HTTP/1.1")
    with contextlib.suppress(ConnectionError):
        peer.send(answer)
        peer.half_close()
    error = failure(bridge)
    assert (error["phase"], error["status"]) == ("proxy", status)
    assert text in error["error"]
    assert raw_upstream.accept().request().startswith(b"CONNECT")


def test_a_proxy_that_trickles_bytes_is_understood(
    through, raw_upstream: RawUpstream, raw_proxy: str
) -> None:
    bridge = through("ws://upstream.example/", raw_proxy)
    peer = raw_upstream.accept()
    peer.request()
    for byte in b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n":
        peer.send(bytes([byte]))
    peer.accept_handshake()
    bridge.await_ready()


def test_bytes_after_the_proxy_s_head_belong_to_the_tunnel(
    through, raw_upstream: RawUpstream, raw_proxy: str
) -> None:
    bridge = through("ws://upstream.example/", raw_proxy)
    peer = raw_upstream.accept()
    peer.request()
    peer.send(b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n")
    peer.accept_handshake()
    bridge.await_ready()


def test_a_proxy_that_nobody_runs_fails_in_phase_tcp_and_is_named(start_upstream, through) -> None:
    away = start_upstream(away=True)
    error = failure(through("ws://upstream.example/", f"http://u:s3cret@127.0.0.1:{away.port}"))
    assert error["phase"] == "tcp"
    where = f"127.0.0.1:{away.port}"
    assert error["error"] == f"the proxy http://{where}: {where}: connection refused"


def test_a_proxy_whose_name_does_not_exist_fails_in_phase_dns(through) -> None:
    error = failure(through("ws://127.0.0.1/", "http://proxy.invalid:1"))
    assert error["phase"] == "dns"
    assert error["error"].startswith(
        "the proxy http://proxy.invalid:1: the name proxy.invalid cannot be resolved"
    )


def test_check_masks_the_credentials_of_a_proxy(run_bridge, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("connections: { default: { url: ws://h, proxy: 'socks5h://u:s3cret@p' } }")
    bridge = run_bridge("check", "--config", str(path))
    assert bridge.exit_code() == 0
    assert 'proxy: "socks5h://***@p:1080"' in bridge.out.text
    assert "s3cret" not in bridge.out.text
