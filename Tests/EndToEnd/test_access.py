"""Who may do what: tokens, Host, Origin; and what never shows."""

from __future__ import annotations

import base64
import socket

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream, curl

TOKEN = "t0ken-of-the-test"
APP = "https://app.example"


@pytest.fixture
def guarded(upstream: Upstream, start_bridge) -> Bridge:
    """A bridge that wants a token."""
    return start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": TOKEN})


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# Tokens

GUARDED = [
    ("GET", "/status"),
    ("GET", "/events"),
    ("POST", "/messages"),
    ("POST", "/connect"),
    ("POST", "/disconnect"),
    ("GET", "/v1/connections/default/status"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_request_without_the_token_is_refused(guarded: Bridge, method: str, path: str) -> None:
    response = guarded.request(method, path)
    assert_problem(response, 401, "unauthorized")
    assert response.header("WWW-Authenticate").startswith("Bearer")


@pytest.mark.parametrize(
    "value",
    [
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        "Bearer ",
        "Bearer",
        TOKEN,
        f"Token {TOKEN}",
        "Basic " + base64.b64encode(f"user:{TOKEN}".encode()).decode(),
        "",
    ],
)
def test_a_wrong_authorization_is_refused(guarded: Bridge, value: str) -> None:
    response = guarded.get("/status", {"Authorization": value})
    assert_problem(response, 401, "unauthorized")
    assert response.header("WWW-Authenticate").startswith("Bearer")


@pytest.mark.parametrize("query", ["access_token=wrong", "access_token=", "access_token", f"token={TOKEN}"])
def test_a_wrong_token_in_the_query_is_refused(guarded: Bridge, query: str) -> None:
    assert guarded.get(f"/status?{query}").status in (400, 401)


def test_the_token_opens_everything(guarded: Bridge, upstream: Upstream) -> None:
    assert guarded.get("/status", bearer()).status == 200
    assert guarded.post("/messages", b"hello", **bearer()).status == 202
    assert upstream.peer().received(1) == ["hello"]
    stream = guarded.stream(fields=bearer())
    upstream.peer().send("world")
    assert stream.next().data == "world"
    assert guarded.post("/disconnect", **bearer()).status == 200


def test_the_scheme_of_the_authorization_is_compared_without_case(guarded: Bridge) -> None:
    assert guarded.get("/status", {"Authorization": f"bearer {TOKEN}"}).status == 200


def test_the_token_may_stand_in_the_query(guarded: Bridge, upstream: Upstream) -> None:
    assert guarded.get(f"/status?access_token={TOKEN}").status == 200
    stream = guarded.stream(f"/events?types=text&access_token={TOKEN}")
    upstream.peer().send("hello")
    assert stream.next().data == "hello"


def test_curl_sends_with_the_token(guarded: Bridge, upstream: Upstream) -> None:
    done = curl("-f", "-H", f"Authorization: Bearer {TOKEN}", "-d", "hello", f"{guarded.base}/messages")
    assert done.returncode == 0
    assert upstream.peer().received(1) == ["hello"]


def test_a_refused_message_is_not_sent(guarded: Bridge, upstream: Upstream) -> None:
    guarded.post("/messages", b"refused")
    guarded.post("/messages", b"sent", **bearer())
    assert upstream.peer().received(1) == ["sent"]


def test_a_message_over_the_limit_is_refused_for_want_of_a_token_first(guarded: Bridge) -> None:
    with guarded.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": str(1 << 30)})
        assert client.response("POST").status == 401


def test_healthz_needs_no_token(guarded: Bridge) -> None:
    assert guarded.get("/healthz").status == 200


# Host

HOSTS = [
    "127.0.0.1",
    "127.0.0.1:1",
    "127.1.2.3",
    "10.1.2.3:80",
    "192.0.2.1",
    "[::1]",
    "[::1]:8080",
    "[2001:db8::1]",
    "localhost",
    "localhost:9",
    "LocalHost",
    "app.localhost",
    "a.b.localhost:80",
]


@pytest.mark.parametrize("host", [*HOSTS, socket.gethostname()])
def test_this_host_is_accepted(bridge: Bridge, host: str) -> None:
    assert bridge.get("/status", {"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "evillocalhost",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io:8080",
        "1.2.3",
        "0x7f000001.example",
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/status"), ("GET", "/events"), ("POST", "/messages")])
def test_another_host_is_refused(bridge: Bridge, method: str, path: str, host: str) -> None:
    assert_problem(bridge.request(method, path, fields={"Host": host}), 421, "misdirected-host")


@pytest.mark.parametrize("host", ["bridge.example", "BRIDGE.example:8080", "other.example"])
def test_a_host_that_was_allowed_is_accepted(upstream: Upstream, start_bridge, host: str) -> None:
    allowed = {"WSBRIDGE_ALLOWED_HOSTS": "bridge.example, other.example"}
    bridge = start_bridge(upstream.url, environment=allowed)
    assert bridge.get("/status", {"Host": host}).status == 200


def test_a_request_with_the_right_token_may_name_any_host(guarded: Bridge) -> None:
    assert guarded.get("/status", {"Host": "bridge.example", **bearer()}).status == 200


def test_a_request_with_a_wrong_token_may_not_name_any_host(guarded: Bridge) -> None:
    answer = guarded.get("/status", {"Host": "bridge.example", **bearer("wrong")})
    assert_problem(answer, 421, "misdirected-host")


# Origin


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://localhost.evil.example", "null", "file://", "garbage", ""]
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/status"), ("GET", "/events"), ("POST", "/messages")])
def test_a_foreign_web_page_is_refused(bridge: Bridge, method: str, path: str, origin: str) -> None:
    response = bridge.request(method, path, fields={"Origin": origin})
    assert_problem(response, 403, "origin-not-allowed")
    assert "Access-Control-Allow-Origin" not in response.head


def test_a_message_of_a_foreign_web_page_is_not_sent(bridge: Bridge, upstream: Upstream) -> None:
    bridge.post("/messages", b"forged", "text/plain", Origin="http://evil.example")
    bridge.send("own")
    assert upstream.peer().received(1) == ["own"]


def test_a_web_page_of_the_same_host_at_another_port_is_refused(bridge: Bridge) -> None:
    host, port = bridge.address
    response = bridge.get("/status", {"Origin": f"http://{host}:{port % 65535 + 1}"})
    assert_problem(response, 403, "origin-not-allowed")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_web_page_of_the_bridge_itself_is_accepted(bridge: Bridge, host: str) -> None:
    own = f"{host}:{bridge.address[1]}"
    assert bridge.get("/status", {"Host": own, "Origin": f"http://{own}"}).status == 200


@pytest.mark.parametrize(
    ("origin", "host"), [("http://localhost", "localhost"), ("https://127.0.0.1", "127.0.0.1")]
)
def test_the_default_port_of_an_origin_may_be_left_out(bridge: Bridge, origin: str, host: str) -> None:
    assert bridge.get("/status", {"Host": host, "Origin": origin}).status == 200


def test_a_cross_site_request_without_origin_is_refused(bridge: Bridge) -> None:
    response = bridge.get("/status", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    assert_problem(response, 403, "origin-not-allowed")


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_request_without_origin_from_nearer_is_accepted(bridge: Bridge, site: str) -> None:
    assert bridge.get("/status", {"Sec-Fetch-Site": site}).status == 200


# CORS


@pytest.fixture
def shared(upstream: Upstream, start_bridge) -> Bridge:
    """A bridge that wants a token and lets web pages of one origin in."""
    environment = {"WSBRIDGE_ALLOWED_ORIGINS": f"https://one.example,{APP}", "WSBRIDGE_TOKEN": TOKEN}
    return start_bridge(upstream.url, environment=environment)


def test_a_preflight_of_an_allowed_origin_is_answered_without_a_token(shared: Bridge) -> None:
    asked = {
        "Origin": APP,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    response = shared.request("OPTIONS", "/messages", fields=asked)
    assert response.status in (200, 204)
    assert response.header("Access-Control-Allow-Origin") == APP
    assert "POST" in response.header("Access-Control-Allow-Methods")
    headers = response.header("Access-Control-Allow-Headers").lower()
    assert "authorization" in headers
    assert "content-type" in headers
    assert "origin" in response.header("Vary").lower()


def test_a_preflight_of_another_origin_is_refused(shared: Bridge) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    response = shared.request("OPTIONS", "/messages", fields=asked)
    assert response.status == 403
    assert "Access-Control-Allow-Origin" not in response.head


@pytest.mark.parametrize("path", ["/status", "/nothing"])
def test_an_answer_to_an_allowed_origin_may_be_read_by_it(shared: Bridge, path: str) -> None:
    response = shared.get(path, {"Origin": APP, **bearer()})
    assert response.header("Access-Control-Allow-Origin") == APP
    assert "origin" in response.header("Vary").lower()


def test_a_stream_to_an_allowed_origin_may_be_read_by_it(shared: Bridge, upstream: Upstream) -> None:
    stream = shared.stream(f"/events?access_token={TOKEN}", {"Origin": APP})
    assert stream.head.get("Access-Control-Allow-Origin") == APP
    upstream.peer().send("hello")
    assert stream.next().data == "hello"


def test_a_refusal_for_want_of_a_token_may_be_read_by_an_allowed_origin(shared: Bridge) -> None:
    response = shared.get("/status", {"Origin": APP})
    assert (response.status, response.header("Access-Control-Allow-Origin")) == (401, APP)


@pytest.mark.parametrize(
    "origin", ["https://app.example:8443", "http://app.example", "https://app.example.evil"]
)
def test_an_origin_must_match_exactly(shared: Bridge, origin: str) -> None:
    assert_problem(shared.get("/status", {"Origin": origin, **bearer()}), 403, "origin-not-allowed")


def test_a_star_allows_every_origin(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_ALLOWED_ORIGINS": "*"})
    response = bridge.get("/status", {"Origin": "https://any.example"})
    assert response.status == 200
    assert response.header("Access-Control-Allow-Origin") in ("*", "https://any.example")


# Secrets


def test_no_secret_shows_in_logs_status_or_problems(start_upstream, start_bridge) -> None:
    upstream = start_upstream()
    url = upstream.url.replace("ws://", "ws://secret-user:secret-pass@") + "feed?key=secret-key"
    bridge = start_bridge(url, "--log-level", "debug", environment={"WSBRIDGE_TOKEN": TOKEN})
    upstream.peer().send("secret-payload")
    answers = [
        bridge.get("/status", bearer()),
        bridge.get("/status", bearer("secret-wrong-token")),
        bridge.get("/status?access_token=secret-wrong-token"),
        bridge.get(f"/nothing?access_token={TOKEN}"),
        bridge.get(f"/status?access_token={TOKEN}&secret-parameter=1"),
        bridge.post("/messages", b"secret-payload", **bearer()),
        bridge.post("/messages", b"secret-payload\xff", **bearer()),
        bridge.post("/disconnect", b"secret-payload", **bearer()),
    ]
    upstream.go_away()
    events = bridge.stream("/events?types=status&since=start", bearer(), keep_raw=True)
    events.until_status("failed")
    upstream.refuse = 403
    upstream.come_back()
    while events.until_status("failed")["phase"] != "handshake":
        pass
    answers.append(bridge.get("/status", bearer()))
    bridge.stop()

    assert events.raw is not None
    shown = b"\n".join([*(answer.body for answer in answers), bytes(events.raw)]).decode()
    for secret in ("secret-user", "secret-pass", "secret-key", TOKEN, "secret-wrong-token", "secret-payload"):
        assert secret not in shown
        assert secret not in bridge.err.text
        assert secret not in bridge.out.text
    assert "/feed" in shown


# Blanks behind a value (RFC 9110, section 5.5)


@pytest.mark.parametrize("blanks", [" ", "\t", " \t  "])
def test_blanks_around_the_value_of_a_field_do_not_count(
    upstream: Upstream, start_bridge, blanks: str
) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": TOKEN})
    peer = upstream.peer()
    fields = {
        "Host": f"localhost{blanks}",
        "Authorization": f"Bearer {TOKEN}{blanks}",
        "Idempotency-Key": f"key{blanks}",
        "Content-Type": f"text/plain{blanks}",
        "Prefer": f"{blanks}wait=30{blanks}",
    }
    first = bridge.request("POST", "/messages", b"hello", fields)
    assert first.status == 200
    again = bridge.request("POST", "/messages", b"hello", {**fields, "Idempotency-Key": "key"})
    assert again.header("Idempotency-Replayed") == "true"
    assert peer.received(1) == ["hello"]
    refused = bridge.get("/events", {**bearer(), "Last-Event-ID": f"nonsense{blanks}"})
    assert_problem(refused, 400, "invalid-parameter")
    assert bridge.get("/healthz", {"Host": blanks}).status == 400
