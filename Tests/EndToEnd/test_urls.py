"""Which URL is dialled: lists of them, and HTTP servers that are asked for each attempt."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, JoinedNetwork, RawUpstream, WebAnswer, WebRequest, WebServer, await_truth

NAMES = ("DNS:localhost", "IP:127.0.0.1")
QUICK = "reconnect: { initialDelay: 20ms, factor: 1 }"


@pytest.fixture
def network() -> Iterator[JoinedNetwork]:
    network = JoinedNetwork()
    yield network
    network.remove()


def connection(url: str, more: str = QUICK) -> str:
    return f"connections: {{ default: {{ url: {url}, {more} }} }}"


def failure(bridge: Bridge) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


def dialled_urls(bridge: Bridge) -> list[str]:
    return [record["url"] for record in bridge.records if record["message"] == "connecting"]


# Lists


def test_a_list_of_urls_is_tried_in_turn_wrapping(start_upstream, serve_file) -> None:
    away = [start_upstream(away=True) for _ in range(2)]
    last = start_upstream(refuse=503)
    urls = [upstream.url for upstream in (*away, last)]
    bridge = serve_file(connection(f"['{urls[0]}', '{urls[1]}', '{urls[2]}']"))
    last.dialled(2)
    assert dialled_urls(bridge)[:6] == urls * 2


def test_each_url_of_a_list_is_an_attempt_of_its_own(start_upstream, serve_file) -> None:
    urls = [start_upstream(refuse=503).url for _ in range(2)]
    bridge = serve_file(
        connection(f"['{urls[0]}', '{urls[1]}']", "reconnect: { initialDelay: 10ms, maxRetries: 2 }")
    )
    status = bridge.await_status(lambda status: status["state"] == "failed", "it gives up")
    assert status["counters"]["failures"] == 3
    assert dialled_urls(bridge) == [urls[0], urls[1], urls[0]]


def test_the_status_shows_the_url_that_is_dialled(start_upstream, serve_file) -> None:
    away, there = start_upstream(away=True), start_upstream()
    secret = there.url.replace("ws://", "ws://user:s3cret@") + "feed?s3cret"
    bridge = serve_file(connection(f"['{away.url}', '{secret}']"))
    assert bridge.await_ready()["url"] == there.url + "feed"
    bridge.stop()
    assert "s3cret" not in bridge.err.text


def test_a_server_of_a_list_that_accepts_and_closes_at_once_hands_over(start_upstream, serve_file) -> None:
    closing, good = start_upstream(close_at_once=1000), start_upstream()
    bridge = serve_file(connection(f"['{closing.url}', '{good.url}']"))
    good.peer()
    bridge.await_ready()
    assert closing.dials == 1


def test_a_server_that_lasted_is_dialled_first_after_its_loss(start_upstream, serve_file) -> None:
    first, second = start_upstream(), start_upstream()
    more = "reconnect: { initialDelay: 20ms, resetAfter: 0 }"
    bridge = serve_file(connection(f"['{first.url}', '{second.url}']", more))
    bridge.await_ready()
    # Its timer, of no time, has fired once the loop has taken another turn or two.
    for _ in range(3):
        bridge.status()
    first.peer(0).drop()
    first.peer(1)
    assert second.dials == 0


# Asking an HTTP server


def asked(server: WebServer, more: str = "", timeout: str = "10s") -> str:
    return connection(f"{{ http: {{ url: '{server.url}/where', {more} }}, timeout: {timeout} }}")


OK = " answered with HTTP status 200, but "


def says(body: str, status: int = 200, **headers: str) -> Callable[[WebRequest], WebAnswer]:
    return lambda _: WebAnswer(status, body.encode(), headers)


def test_the_url_is_what_a_server_answers(start_upstream, start_web_server, serve_file) -> None:
    upstream = start_upstream()
    server = start_web_server(says(f"\r\n {upstream.url}feed?ticket=1\n"))
    serve_file(asked(server)).await_ready()
    assert upstream.peer().request.path == "/feed?ticket=1"
    request = server.requests[0]
    assert (request.method, request.target, request.body) == ("GET", "/where", b"")
    assert request.headers["Host"] == f"127.0.0.1:{server.port}"


def test_the_url_is_where_a_pointer_says_in_a_json_answer(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    server = start_web_server(says(json.dumps({"ok": True, "servers": [{"a/b": upstream.url}]})))
    serve_file(asked(server, "pointer: /servers/0/a~1b")).await_ready()


def test_a_provider_may_not_name_a_socket_of_the_bridges_machine(
    start_upstream, start_web_server, serve_file, tmp_path
) -> None:
    upstream = start_upstream(path=tmp_path / "socket")
    server = start_web_server(says(upstream.url))
    bridge = serve_file(asked(server))
    status = bridge.await_status(lambda status: status["lastError"], "the attempt fails")
    assert status["lastError"]["phase"] == "url"
    assert status["lastError"]["error"].endswith("its answer is a unix socket, which is not dialled")
    assert upstream.dials == 0


def test_a_provider_gets_the_method_headers_and_body_it_wants(
    start_upstream, start_web_server, serve_file
) -> None:
    server = start_web_server(says(start_upstream().url))
    more = (
        "method: PUT, headers: { Authorization: Bearer t, Content-Type: text/x, X-Empty: '' }, body: 'grüß'"
    )
    serve_file(asked(server, more)).await_ready()
    request = server.requests[0]
    assert (request.method, request.body) == ("PUT", "grüß".encode())
    assert request.headers["Authorization"] == "Bearer t"
    assert request.headers.get_all("Content-Type") == ["text/x"]
    assert request.headers["X-Empty"] == ""
    assert request.headers["Expect"] is None


def test_a_body_alone_makes_a_post(start_upstream, start_web_server, serve_file) -> None:
    server = start_web_server(says(start_upstream().url))
    serve_file(asked(server, "body: a=b")).await_ready()
    assert (server.requests[0].method, server.requests[0].body) == ("POST", b"a=b")


def test_a_post_without_a_body_says_so(start_upstream, start_web_server, serve_file) -> None:
    server = start_web_server(says(start_upstream().url))
    serve_file(asked(server, "method: POST")).await_ready()
    request = server.requests[0]
    assert (request.method, request.headers["Content-Length"], request.headers["Content-Type"]) == (
        "POST",
        "0",
        None,
    )


def test_userinfo_of_a_provider_becomes_basic_authorization(
    start_upstream, start_web_server, serve_file
) -> None:
    server = start_web_server(says(start_upstream().url))
    url = server.url.replace("://", "://us%20er:p%40ss@")
    serve_file(connection(f"{{ http: {{ url: '{url}' }} }}")).await_ready()
    assert server.requests[0].headers["Authorization"] == "Basic dXMgZXI6cEBzcw=="


def test_a_provider_is_asked_anew_for_every_attempt(start_upstream, start_web_server, serve_file) -> None:
    upstreams = [start_upstream(), start_upstream()]
    server = start_web_server(lambda _: WebAnswer(body=upstreams[len(server.requests) - 1].url.encode()))
    bridge = serve_file(asked(server))
    assert bridge.await_ready()["url"] == upstreams[0].url
    upstreams[0].peer().drop()
    upstreams[1].peer()
    assert bridge.await_ready()["url"] == upstreams[1].url
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "more", "error"),
    [
        (says("s3cret", 500), "", " answered with HTTP status 500"),
        (says("", 404), "", " answered with HTTP status 404"),
        (says("", 302, Location="http://127.0.0.1:1/s3cret"), "", " answered with HTTP status 302"),
        (says(""), "", f"{OK}its answer is empty"),
        (says("<html>s3cret</html>"), "", f"{OK}its answer is no URL to dial: it must start with ws://"),
        (says("ws://127.0.0.1/#s3cret"), "", f"{OK}its answer is no URL to dial: it has a fragment"),
        (says("{"), "pointer: /url", f"{OK}its answer is not JSON"),
        (says('{"error":"s3cret"}'), "pointer: /url", f"{OK}there is nothing at /url in its answer"),
        (says('{"url":{"s3cret":1}}'), "pointer: /url", f"{OK}there is no text at /url in its answer"),
        (says("x" * (1 << 20)), "", ": its answer is longer than 65536 bytes"),
    ],
    ids=["500", "404", "redirect", "empty", "HTML", "fragment", "broken JSON", "nothing", "no text", "huge"],
)
def test_an_answer_without_a_url_is_a_failure_of_the_phase_url(
    start_web_server, serve_file, answer: Callable[[WebRequest], WebAnswer], more: str, error: str
) -> None:
    server = start_web_server(answer)
    bridge = serve_file(asked(server, more))
    found = failure(bridge)
    assert (found["phase"], found["status"]) == ("url", None)
    assert found["error"].startswith(f"the URL's provider {server.url}{error}")
    server.asked(3)  # it is retried
    bridge.stop()
    assert "s3cret" not in bridge.err.text


def test_a_provider_that_cannot_be_reached_is_a_failure_of_the_phase_url(serve_file) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/s3cret?s3cret"
        bridge = serve_file(connection(f"{{ http: {{ url: '{url}' }} }}"))
        found = failure(bridge)
    assert found["phase"] == "url"
    assert "connect" in found["error"].lower()
    bridge.stop()
    assert "s3cret" not in bridge.err.text


def test_a_provider_whose_name_does_not_resolve_is_a_failure_of_the_phase_url(serve_file) -> None:
    bridge = serve_file(connection("{ http: { url: http://does-not-exist.invalid/ } }"))
    found = failure(bridge)
    assert found["phase"] == "url"
    assert "resolve" in found["error"]


def test_a_provider_must_be_trusted_over_tls(start_web_server, serve_file, authority) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"), tls=authority.server_context(*NAMES))
    found = failure(serve_file(asked(server)))
    assert found["phase"] == "url"
    assert "certificate" in found["error"]
    assert server.requests == []


def test_a_provider_of_a_trusted_authority_is_asked_over_tls(
    start_upstream, start_web_server, serve_file, authority
) -> None:
    server = start_web_server(says(start_upstream().url), tls=authority.server_context(*NAMES))
    serve_file(asked(server), environment={"SSL_CERT_FILE": str(authority.certificate)}).await_ready()


def test_that_an_upstream_is_not_verified_does_not_concern_its_provider(
    start_web_server, serve_file, authority
) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"), tls=authority.server_context(*NAMES))
    bridge = serve_file(
        connection(f"{{ http: {{ url: '{server.url}' }} }}", f"{QUICK}, tls: {{ verify: false }}")
    )
    assert "certificate" in failure(bridge)["error"]


def test_a_slow_provider_has_its_own_time_and_delays_nobody(start_web_server, serve_file) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    more = f"{QUICK}, connectTimeout: 10ms"
    bridge = serve_file(connection(f"{{ http: {{ url: '{server.url}' }}, timeout: 300ms }}", more))
    server.asked()
    assert bridge.status()["state"] == "connecting"
    found = failure(bridge)
    assert (found["phase"], found["error"]) == ("url", "no URL to dial within 300 ms")
    server.asked(3)


def test_a_question_is_given_up_with_its_attempt(start_web_server, serve_file) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    bridge = serve_file(asked(server))
    server.asked()
    bridge.post("/disconnect")
    assert bridge.status()["state"] == "closed"


def test_retry_after_of_a_provider_is_a_lower_bound(start_web_server, serve_file) -> None:
    bridge = serve_file(asked(start_web_server(lambda _: WebAnswer(429, b"", {"Retry-After": "3600"}))))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 3_600_000


def test_secrets_of_a_providers_url_and_answer_never_show(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    answer = upstream.url.replace("ws://", "ws://u:s3cret@") + "?s3cret"
    server = start_web_server(says(answer))
    url = server.url.replace("://", "://u:s3cret@") + "/s3cret?s3cret"
    more = f"http: {{ url: '{url}', headers: {{ A: s3cret }}, body: s3cret }}"
    bridge = serve_file(connection(f"{{ {more} }}"), "--log-level", "debug")
    status = bridge.await_ready()
    assert status["url"] == upstream.url
    assert f"the URL to dial is {upstream.url}" in bridge.err.text
    bridge.stop()
    assert "s3cret" not in bridge.err.text + json.dumps(status)


def test_a_date_in_a_providers_retry_after_counts_from_its_own_clock(start_web_server, serve_file) -> None:
    wait = {"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}
    answer = WebAnswer(503, b"", wait, date="Sun, 06 Nov 1994 07:49:37 GMT")
    bridge = serve_file(asked(start_web_server(lambda _: answer)))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 3_600_000


@pytest.mark.parametrize(
    "start",
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ],
    ids=["head", "body to the end", "long body", "chunks", "interim answers"],
)
def test_an_answer_without_end_is_cut_off(raw_upstream: RawUpstream, serve_file, start: bytes) -> None:
    url = raw_upstream.url.replace("ws", "http")
    bridge = serve_file(connection(f"{{ http: {{ url: '{url}' }} }}"))
    peer = raw_upstream.accept()
    peer.request()
    peer.send(start)
    piece = (
        b"HTTP/1.1 100 Continue\r\n\r\n"
        if b"100" in start[:12]
        else b"5\r\nxxxxx\r\n"
        if b"chunked" in start
        else b"X: %b\r\n" % (b"x" * 1000)
    )
    with contextlib.suppress(ConnectionError):
        while True:  # until the bridge has had enough
            peer.send(piece * 100)
    assert failure(bridge)["error"].endswith("its answer is longer than 65536 bytes")


@pytest.mark.parametrize("end", ["stop", "removal", "replacement"])
def test_a_question_ends_with_its_connection(
    start_web_server, start_upstream, serve_file, tmp_path: Path, end: str
) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    bridge = serve_file(asked(server))
    server.asked()
    if end == "stop":
        bridge.stop()
        return
    name = "default" if end == "replacement" else "other"
    upstream = start_upstream()
    (tmp_path / "wsbridge.yaml").write_text(f"connections: {{ {name}: {{ url: '{upstream.url}' }} }}")
    bridge.signal(signal.SIGHUP)
    upstream.peer()
    names = [connection["name"] for connection in bridge.get("/v1/connections").json()["connections"]]
    assert names == [name]
    await_truth(lambda: not bridge_sockets_to(bridge, server.port), "the question is dropped")


def bridge_sockets_to(bridge: Bridge, port: int) -> list[str]:
    """The bridge's TCP connections to a port, as the kernel lists them."""
    lines = Path(f"/proc/{bridge.pid}/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    inodes = {field[9] for field in fields if field[2].endswith(f":{port:04X}")}
    links = [os.readlink(entry) for entry in _descriptors(bridge)]
    return [link for link in links if link.removeprefix("socket:[").removesuffix("]") in inodes]


def _descriptors(bridge: Bridge) -> list[Path]:
    return list(Path(f"/proc/{bridge.pid}/fd").iterdir())


def test_a_stop_does_not_wait_for_the_lookup_of_a_providers_name(network, run_bridge, tmp_path: Path) -> None:
    # Longer than the test would wait.
    network.name_server(network.silent, options="timeout:30 attempts:5")
    path = tmp_path / "wsbridge.yaml"
    path.write_text(connection("{ http: { url: http://provider.test/ } }"))
    flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "debug"]
    bridge = run_bridge("serve", *flags, wrapper=network.wrapper)
    bridge.err.until(lambda text: "connecting" in text or None, "it begins to ask")
    bridge.stop()


def is_libcurl_loaded(bridge: Bridge) -> bool:
    return "libcurl" in Path(f"/proc/{bridge.pid}/maps").read_text()


def test_libcurl_is_loaded_only_for_those_who_ask_with_it(
    start_upstream, start_web_server, start_bridge, serve_file
) -> None:
    upstream = start_upstream()
    plain = start_bridge(upstream.url)
    plain.await_ready()
    assert not is_libcurl_loaded(plain)
    asking = serve_file(asked(start_web_server(says(upstream.url))))
    asking.await_ready()
    assert is_libcurl_loaded(asking)


def test_without_libcurl_it_is_said_and_the_others_go_on(
    start_upstream, start_web_server, serve_file, tmp_path: Path
) -> None:
    (tmp_path / "libcurl.so.4").write_text("no library")
    upstream = start_upstream()
    server = start_web_server(says(upstream.url))
    bridge = serve_file(
        f"connections: {{ default: {{ url: {{ http: {{ url: '{server.url}' }} }}, {QUICK} }},"
        f" plain: {{ url: '{upstream.url}' }} }}",
        environment={"LD_LIBRARY_PATH": str(tmp_path)},
    )
    upstream.peer()
    found = failure(bridge)
    assert found["phase"] == "url"
    assert found["error"].startswith("libcurl cannot be used: ")
    assert "libcurl.so.4" in found["error"]
    bridge.await_status(lambda status: status["counters"]["failures"] > 2, "it is retried")


def test_before_a_provider_was_asked_there_is_no_url(start_web_server, serve_file) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"))
    bridge = serve_file(connection(f"{{ http: {{ url: '{server.url}' }} }}", "connect: manual"))
    assert bridge.status()["url"] is None


def test_a_provider_is_asked_through_the_proxy_of_the_environment(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    proxy = start_web_server(says(upstream.url))
    environment = {"HTTP_PROXY": proxy.url, "NO_PROXY": "127.0.0.1"}
    text = connection("{ http: { url: 'http://provider.invalid/x?y' } }")
    serve_file(text, environment=environment).await_ready()
    assert proxy.requests[0].target == "http://provider.invalid/x?y"


def test_a_proxy_of_the_connection_has_no_exceptions(start_upstream, start_web_server, serve_file) -> None:
    upstream = start_upstream()
    proxy = start_web_server(says("ws://upstream.invalid/"))
    more = f"proxy: '{proxy.url}', {QUICK}"
    text = connection("{ http: { url: 'http://provider.invalid/x' } }", more)
    serve_file(text, environment={"NO_PROXY": "*", "no_proxy": "*"})
    # The upstream itself would have to be reached by CONNECT, which this one does not know.
    proxy.asked(1)
    assert proxy.requests[0].target == "http://provider.invalid/x"
    assert upstream.dials == 0


def test_nothing_is_left_open_by_questions(start_web_server, serve_file) -> None:
    server = start_web_server(says("", 500))
    bridge = serve_file(asked(server))
    server.asked(3)
    count = len(os.listdir(f"/proc/{bridge.pid}/fd"))
    server.asked(30)
    bridge.post("/disconnect")
    await_truth(lambda: len(os.listdir(f"/proc/{bridge.pid}/fd")) <= count, "its descriptors are closed")


def test_a_reload_changes_who_is_asked(start_upstream, serve_file, tmp_path: Path) -> None:
    old, new = start_upstream(), start_upstream()
    bridge = serve_file(connection(f"{{ command: [echo, {shlex.quote(old.url)}] }}"))
    bridge.await_ready()
    (tmp_path / "wsbridge.yaml").write_text(connection(f"[{new.url}]"))
    bridge.signal(signal.SIGHUP)
    new.peer()
    assert bridge.await_ready()["url"] == new.url


@pytest.mark.parametrize("status", [200, 401])
def test_what_a_server_says_in_place_of_a_url_is_in_the_log_at_debug(
    start_web_server, serve_file, status: int
) -> None:
    """As Slack does, with status 200; it may repeat what it was asked."""
    server = start_web_server(says('{"ok":false,"error":"invalid_auth","token":"s3cret-key"}', status))
    text = asked(server, "pointer: /url, headers: { Authorization: 'Bearer s3cret-key' }")
    bridge = serve_file(text, "--log-level", "debug")
    failure(bridge)
    bridge.stop()
    bodies = [record["body"] for record in bridge.records if "body" in record]
    assert bodies
    assert set(bodies) == {'{"ok":false,"error":"invalid_auth","token":"***"}'}
    assert "s3cret" not in bridge.err.text
