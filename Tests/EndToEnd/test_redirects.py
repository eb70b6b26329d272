"""Redirects of the handshake, seen by an HTTP server that is not the product's."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from harness import Bridge, RawUpstream, WebAnswer, WebRequest, WebServer

NAMES = ("DNS:localhost", "IP:127.0.0.1")
RECONNECT = "reconnect: { initialDelay: 20ms, factor: 1 }"


def to(location: str | None, status: int = 302) -> Callable[[WebRequest], WebAnswer]:
    headers = {} if location is None else {"Location": location}
    return lambda _: WebAnswer(status, b"elsewhere", headers)


def websocket(server: WebServer, userinfo: str = "") -> str:
    return server.url.replace("http", "ws", 1).replace("://", f"://{userinfo}")


def failure(bridge: Bridge) -> dict:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_to_an_upstream(
    start_upstream, start_web_server, start_bridge, status: int
) -> None:
    upstream = start_upstream()
    server = start_web_server(to(upstream.url + "feed?x=1", status))
    bridge = start_bridge(websocket(server))
    bridge.await_ready()
    assert upstream.peer().request.path == "/feed?x=1"
    assert len(server.requests) == 1
    # A redirect is a part of an attempt, and no failure.
    assert bridge.status()["counters"]["failures"] == 0


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_other_statuses_that_begin_with_3_are_no_redirects(
    start_upstream, start_web_server, start_bridge, status: int
) -> None:
    upstream = start_upstream()
    bridge = start_bridge(websocket(start_web_server(to(upstream.url, status))))
    assert (failure(bridge)["phase"], failure(bridge)["status"]) == ("handshake", status)
    assert upstream.dials == 0


def test_a_relative_location_counts_from_the_redirecting_url(start_web_server, start_bridge) -> None:
    steps = {"/a/b?old=1": "../c/d?new=1", "/c/d?new=1": "e#fragment", "/c/e": "?q", "/c/e?q": "//[bad"}
    server = start_web_server(lambda request: to(steps[request.target])(request))
    bridge = start_bridge(websocket(server) + "/a/b?old=1")
    assert "redirected to a URL that has an invalid IPv6 address" in failure(bridge)["error"]
    assert [request.target for request in server.requests[:4]] == list(steps)


def test_redirects_bounded(start_upstream, start_web_server, start_bridge) -> None:
    upstream = start_upstream()

    def answer(request: WebRequest) -> WebAnswer:
        number = int(request.target[1:])
        return to(f"/{number - 1}" if number > 1 else upstream.url)(request)

    server = start_web_server(answer)
    start_bridge(f"{websocket(server)}/5").await_ready()
    assert len(server.requests) == 5
    other = start_web_server(answer)
    bridge = start_bridge(f"{websocket(other)}/6")
    error = failure(bridge)
    assert (error["phase"], error["status"]) == ("handshake", 302)
    assert error["error"].startswith("the upstream redirected more than 5 times (HTTP status 302)")
    assert upstream.dials == 1


def test_a_loop_of_redirects_ends_the_attempt(start_web_server, serve_file) -> None:
    server = start_web_server(to("/"))
    bridge = serve_file(
        f"connections: {{ default: {{ url: '{websocket(server)}', reconnect: {{ maxRetries: 0 }} }} }}"
    )
    bridge.await_status(lambda status: status["state"] == "failed", "it gives up")
    assert len(server.requests) == 6  # the first one, and five redirects


def test_redirects_never_lead_from_wss_to_ws(
    start_upstream, start_web_server, start_bridge, authority
) -> None:
    upstream = start_upstream()
    server = start_web_server(to(upstream.url), tls=authority.server_context(*NAMES))
    bridge = start_bridge(websocket(server), environment={"SSL_CERT_FILE": str(authority.certificate)})
    assert failure(bridge)["error"].startswith(
        "the upstream redirected from wss to ws, which would give up TLS"
    )
    assert upstream.dials == 0


def test_a_redirect_leads_from_ws_to_wss(start_upstream, start_web_server, start_bridge, authority) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    server = start_web_server(to(upstream.url.replace("wss", "https")))
    bridge = start_bridge(websocket(server), environment={"SSL_CERT_FILE": str(authority.certificate)})
    bridge.await_ready()


def test_a_redirect_to_a_server_that_is_not_trusted_fails(
    start_upstream, start_web_server, start_bridge, authority
) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(websocket(start_web_server(to(upstream.url))))
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert f"(redirected to wss://127.0.0.1:{upstream.port}/)" in error["error"]


SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "session=s3cret", "X-Api-Key": "s3cret"}


def with_headers(url: str) -> str:
    fields = ", ".join(f"{name}: '{value}'" for name, value in {**SECRETS, "X-Trace": "kept"}.items())
    return f"connections: {{ default: {{ url: '{url}', {RECONNECT}, headers: {{ {fields} }} }} }}"


def test_credentials_dropped_across_origins(start_upstream, start_web_server, serve_file) -> None:
    upstream = start_upstream()
    # The port makes the origin another one. Secrets stay away even when a redirect leads back.
    back = start_web_server(lambda request: to(upstream.url)(request))
    other = start_web_server(lambda _: WebAnswer(302, headers={"Location": first.url + "/again"}))
    first = start_web_server(
        lambda request: to(
            "/same" if request.target == "/" else other.url if request.target == "/same" else back.url
        )(request)
    )
    serve_file(with_headers(websocket(first) + "/")).await_ready()
    start, same, again = first.requests
    assert (start.target, same.target, again.target) == ("/", "/same", "/again")
    for name, value in SECRETS.items():
        assert start.headers[name] == same.headers[name] == value
        for request in (again, *other.requests, *back.requests):
            assert request.headers[name] is None
        assert name not in upstream.peer().request.headers
    assert upstream.peer().request.headers["X-Trace"] == "kept"
    assert other.requests[0].headers["Host"] == f"127.0.0.1:{other.port}"
    assert "s3cret" not in str(other.requests[0].headers)


def test_userinfo_of_the_url_stays_within_its_origin(start_upstream, start_web_server, start_bridge) -> None:
    upstream = start_upstream()
    server = start_web_server(lambda request: to("/b" if request.target == "/a" else upstream.url)(request))
    start_bridge(websocket(server, "user:password@") + "/a").await_ready()
    basic = "Basic " + base64.b64encode(b"user:password").decode()
    assert [request.headers["Authorization"] for request in server.requests] == [basic, basic]
    assert "Authorization" not in upstream.peer().request.headers


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        (None, "without one `Location`"),
        ("ftp://127.0.0.1/", "to a URL that must start with ws://"),
        ("ws+unix:/tmp/socket:/", "to a unix socket"),
        ("http://user:s3cret@127.0.0.1:1/", "to a URL with a user name"),
        ("http://127.0.0.1:1/a b?s3cret", "to a URL that has a control character or a space"),
    ],
    ids=["no location", "another scheme", "unix socket", "user name", "space"],
)
def test_a_redirect_that_leads_nowhere_says_why(
    start_web_server, start_bridge, location: str | None, reason: str
) -> None:
    bridge = start_bridge(websocket(start_web_server(to(location))))
    error = failure(bridge)
    assert (error["phase"], error["status"]) == ("handshake", 302)
    assert reason in error["error"]
    bridge.stop()
    assert "s3cret" not in error["error"] + bridge.err.text


def test_the_status_shows_the_url_of_the_configuration(
    start_upstream, start_web_server, start_bridge
) -> None:
    upstream = start_upstream()
    server = start_web_server(to(upstream.url + "?s3cret"))
    bridge = start_bridge(websocket(server) + "/feed")
    assert bridge.await_ready()["url"] == websocket(server) + "/feed"
    bridge.stop()
    assert "s3cret" not in bridge.err.text


def test_redirects_and_what_follows_them_share_one_deadline(
    raw_upstream: RawUpstream, start_web_server, serve_file
) -> None:
    server = start_web_server(to(raw_upstream.url))
    bridge = serve_file(
        f"connections: {{ default: {{ url: '{websocket(server)}', connectTimeout: 300ms, {RECONNECT} }} }}"
    )
    error = failure(bridge)
    assert error["phase"] == "handshake"
    assert error["error"] == f"not connected within 300 ms; redirected to {raw_upstream.url}"


def test_a_status_to_stop_on_does_not_keep_a_redirect_from_being_followed(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    server = start_web_server(to(upstream.url))
    serve_file(
        f"connections: {{ default: {{ url: '{websocket(server)}', reconnect: {{ stopOnStatus: [302] }} }} }}"
    ).await_ready()
