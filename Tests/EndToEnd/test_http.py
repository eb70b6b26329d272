"""HTTP: paths, methods, problems, and what no decent client sends."""

from __future__ import annotations

import json
import random

import pytest

from assertions import assert_problem
from harness import Bridge, Peer, Upstream, curl


def assert_alive(bridge: Bridge) -> None:
    assert bridge.get("/healthz").status == 200


# Paths and methods


def test_healthz_answers_200(bridge: Bridge) -> None:
    assert bridge.get("/healthz").status == 200


def test_healthz_answers_200_while_the_upstream_is_away(start_upstream, start_bridge) -> None:
    assert start_bridge(start_upstream(away=True).url).get("/healthz").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/messages/",
        "/Messages",
        "//messages",
        "/v1",
        "/v1/connections/default/nothing",
        "/..%2fetc/passwd",
        "/" + "long" * 1000,
    ],
    ids=lambda path: path[:40],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found(bridge: Bridge, method: str, path: str) -> None:
    assert_problem(bridge.request(method, path), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/connections/other"),
        ("GET", "/v1/connections/other/status"),
        ("GET", "/v1/connections//status"),
        ("GET", "/v1/connections/other/events"),
        ("POST", "/v1/connections/other/messages"),
        ("POST", "/v1/connections/other/connect"),
    ],
)
def test_an_unknown_connection_is_not_found(bridge: Bridge, method: str, path: str) -> None:
    assert_problem(bridge.request(method, path), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/messages", "POST"),
        ("DELETE", "/messages", "POST"),
        ("PATCH", "/messages", "POST"),
        ("BREW", "/messages", "POST"),
        ("POST", "/events", "GET"),
        ("PUT", "/events", "GET"),
        ("POST", "/status", "GET"),
        ("DELETE", "/status", "GET"),
        ("GET", "/connect", "POST"),
        ("GET", "/disconnect", "POST"),
        ("POST", "/healthz", "GET"),
        ("PUT", "/v1/connections/default/messages", "POST"),
    ],
)
def test_a_wrong_method_is_refused_with_those_allowed(
    bridge: Bridge, method: str, path: str, allowed: str
) -> None:
    response = bridge.request(method, path, b"")
    assert_problem(response, 405, "method-not-allowed")
    methods = {name.strip() for name in response.header("Allow").split(",")}
    assert allowed in methods
    assert method not in methods


@pytest.mark.parametrize(
    ("path", "allowed"), [("/messages", "POST"), ("/events", "GET"), ("/status", "GET"), ("/connect", "POST")]
)
def test_options_tells_the_methods(bridge: Bridge, path: str, allowed: str) -> None:
    response = bridge.request("OPTIONS", path)
    assert response.status in (200, 204)
    assert allowed in response.header("Allow")


@pytest.mark.parametrize("path", ["/status", "/healthz"])
def test_head_gives_the_header_of_get_without_a_body(bridge: Bridge, path: str) -> None:
    with bridge.client() as client:
        client.send_head("HEAD", path, {"Connection": "close"})
        head = client.response("HEAD")
        assert (head.status, client.rest()) == (200, b"")
    assert head.header("Content-Type") == bridge.get(path).header("Content-Type")


def test_head_of_an_unknown_path_has_no_body(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.send_head("HEAD", "/nothing", {"Connection": "close"})
        assert (client.response("HEAD").status, client.rest()) == (404, b"")


@pytest.mark.parametrize("path", ["/status?x=1", "/healthz?x", "/connect?x=1"])
def test_an_unknown_parameter_is_refused(bridge: Bridge, path: str) -> None:
    method = "POST" if "connect" in path else "GET"
    assert_problem(bridge.request(method, path), 400, "invalid-parameter")


def test_curl_shows_a_problem_as_json_that_says_what_is_wrong(bridge: Bridge) -> None:
    done = curl("-w", "%{http_code} %{content_type}", f"{bridge.base}/nothing")
    body, _, rest = done.stdout.rpartition(b"}")
    assert rest.strip() == b"404 application/problem+json"
    assert json.loads(body + b"}")["detail"]


def test_a_connection_is_kept_for_further_requests(bridge: Bridge) -> None:
    with bridge.client() as client:
        for _ in range(10):
            assert client.request("GET", "/status").status == 200
            assert client.request("GET", "/nothing").status == 404
            assert client.request("POST", "/messages", b"x").status == 202


def test_requests_sent_at_once_are_answered_in_order(bridge: Bridge) -> None:
    with bridge.client() as client:
        for path in ("/status", "/nothing", "/healthz"):
            client.send_head("GET", path)
        assert [client.response().status for _ in range(3)] == [200, 404, 200]


def test_a_client_of_http_1_0_needs_no_host(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.wire.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert client.response().status == 200


# What no decent client sends


def test_both_length_and_transfer_encoding_are_refused_and_the_connection_is_closed(
    bridge: Bridge, peer: Peer
) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "4", "Transfer-Encoding": "chunked"})
        client.wire.send(b"0\r\n\r\nGET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.response("POST").status == 400
        assert b"HTTP/1.1 200" not in client.rest()
    bridge.send("next")
    assert peer.received(1) == ["next"]


@pytest.mark.parametrize(
    "length", ["abc", "-1", "+5", "5, 5", "5;", "1.5", "0x10", "99999999999999999999999999", ""]
)
@pytest.mark.parametrize("is_split", [False, True], ids=["at once", "in parts"])
def test_a_length_that_is_no_number_is_refused_once(bridge: Bridge, length: str, is_split: bool) -> None:
    request = f"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\nhello".encode()
    with bridge.client() as client:
        for piece in (request[:40], request[40:-12], request[-12:]) if is_split else (request,):
            client.wire.send(piece)
        response = client.response("POST")
        assert_problem(response, 400, "invalid-framing")
        assert response.header("Connection") == "close"
        assert client.rest() == b""
    assert_alive(bridge)


def test_a_length_that_is_no_number_spares_others(bridge: Bridge) -> None:
    with bridge.client() as other, bridge.client() as wrong, bridge.client() as client:
        other.wire.send(b"GET /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n")
        wrong.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n")
        assert wrong.response().status == 400
        other.wire.send(b"\r\n")
        assert other.response().status == 200
        assert client.request("GET", "/status").status == 200
        # What was answered before on the same connection was answered.
        client.wire.send(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"
        )
        assert [client.response().status for _ in range(2)] == [200, 400]
        assert client.rest() == b""


@pytest.mark.parametrize(
    "target",
    [
        "/status%",
        "/status%2",
        "/status%zz",
        "/status%00",
        "/status%00.json",
        "/events?since=%",
        "/events?since=%g0",
        "/events?since=start%00",
        "/messages?type=bin%00ary",
    ],
)
def test_a_bad_escape_or_nul_in_the_target_is_refused(bridge: Bridge, target: str) -> None:
    method = "POST" if "messages" in target else "GET"
    assert bridge.request(method, target).status == 400


def test_an_escaped_path_means_the_same(bridge: Bridge) -> None:
    assert bridge.get("/%73tatus").status == 200


def test_a_request_of_http_1_1_without_host_is_refused(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.wire.send(b"GET /status HTTP/1.1\r\n\r\n")
        assert client.response().status == 400


def test_two_hosts_are_refused(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.wire.send(b"GET /status HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n")
        assert client.response().status == 400


def spread(count: int, size: int) -> dict[str, str]:
    """So many fields with so many bytes together, their lines' ends included."""
    names = [f"X-{number:03}" for number in range(count)]
    share, rest = divmod(size - count * len("X-000: \r\n"), count)
    return {name: "x" * (share + (rest if place == 0 else 0)) for place, name in enumerate(names)}


def cookies(count: int, size: int) -> str:
    share = size // count - len("0000=; ")
    return "; ".join(f"{number:04}={'x' * share}" for number in range(count))


#: As much as has to pass: 16 KiB, 200 fields, beside the request line, `Host` and the length of a body.
LARGE_HEADS = {
    "one field": {"X-Big": "x" * (16_384 - len("X-Big: \r\n"))},
    "200 fields": spread(198, 1998),
    "200 fields with all of it": spread(198, 16_384 - 100),
    "a few cookies": {"Cookie": cookies(4, 16_300)},
    "180 cookies": {"Cookie": cookies(180, 14_000)},
    "hundreds of cookies": {"Cookie": cookies(500, 16_300)},
    "thousands of cookies": {"Cookie": ";".join(["a=b"] * 4_090)},
    "a cookie in quotes": {"Cookie": 'a="' + "x" * 16_300 + '"'},
}


@pytest.mark.parametrize("fields", LARGE_HEADS.values(), ids=LARGE_HEADS.keys())
def test_a_large_header_passes(bridge: Bridge, upstream: Upstream, fields: dict[str, str]) -> None:
    with bridge.client() as client:
        for _ in range(3):
            assert client.request("GET", "/status", None, fields).status == 200
            assert client.request("POST", "/messages?wait=30s", b"x" * 50_000, fields).status == 200
    with bridge.client() as client:
        # However it comes.
        head = b"GET /status HTTP/1.1\r\nHost: localhost\r\n"
        head += b"".join(f"{name}: {value}\r\n".encode() for name, value in fields.items()) + b"\r\n"
        for start in range(0, len(head), 1000):
            client.wire.send(head[start : start + 1000])
        assert client.response().status == 200


def test_our_cookie_for_the_library_is_no_field_of_the_request(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "t0ken"})
    answer = bridge.get("/status", {"Cookie": "-"})
    assert_problem(answer, 401, "unauthorized")
    # Without a cookie it is asked for a token, not told of a session.
    assert answer.body == bridge.get("/status").body


@pytest.mark.parametrize(
    "fields",
    [{"X-Big": "x" * 100_000}, {f"X-{number}": "x" * 100 for number in range(5000)}],
    ids=["100 kB in a field", "5,000 fields"],
)
def test_a_huge_header_is_refused(bridge: Bridge, fields: dict[str, str]) -> None:
    with bridge.client() as client:
        client.send_head("GET", "/status", fields)
        assert client.response().status == 431
    assert_alive(bridge)


def test_a_huge_target_is_refused(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.send_head("GET", "/" + "x" * 100_000)
        assert client.response().status in (414, 431)
    assert_alive(bridge)


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)) + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /status\r\n\r\n",
        b"GET /status HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET  /status  HTTP/1.1 x\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0" * 1000 + b"\r\n\r\n",
        b"\r\n" * 1000,
        b": : :\r\n\r\n",
    ],
    ids=lambda garbage: repr(garbage[:24]),
)
def test_what_is_not_http_is_answered_with_an_error_or_a_close(bridge: Bridge, garbage: bytes) -> None:
    with bridge.client() as client:
        client.wire.send(garbage)
        client.wire.half_close()
        answer = client.rest()
        # A closed connection says enough; an answer must be an error, and must never be a stream or a status.
        assert answer == b"" or answer.split()[1][:1] in (b"4", b"5")
    assert_alive(bridge)


def test_a_request_in_slow_pieces_stalls_nobody_and_is_answered(bridge: Bridge, peer: Peer) -> None:
    request = b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nslow"
    with bridge.client() as slow:
        for at in range(len(request)):
            slow.wire.send(request[at : at + 1])
            if at % 10 == 0:
                bridge.send("quick")
        assert slow.response("POST").status == 202
    quick = (len(request) + 9) // 10
    assert sorted(peer.received(quick + 1)) == ["quick"] * quick + ["slow"]


def test_many_idle_connections_stall_nobody(bridge: Bridge) -> None:
    clients = [bridge.client() for _ in range(200)]
    clients[0].wire.send(b"GET /sta")
    assert_alive(bridge)


def test_clients_that_reset_at_once_do_no_harm(bridge: Bridge) -> None:
    for number in range(200):
        client = bridge.client()
        if number % 2:
            client.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npart")
        client.wire.reset()
    assert_alive(bridge)


def test_a_body_that_ends_early_is_not_sent(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "100"})
        client.wire.send(b"only a part")
        client.wire.half_close()
        client.rest()
    bridge.send("next")
    assert peer.received(1) == ["next"]


def test_bytes_changed_at_random_never_end_the_bridge(bridge: Bridge) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    generator = random.Random(seed)
    local = b" HTTP/1.1\r\nHost: localhost\r\n"
    requests = [
        b"GET /events?since=start&limit=1" + local + b"Last-Event-ID: abc-1\r\n\r\n",
        b"POST /messages?type=binary" + local + b"Content-Length: 5\r\n\r\nhello",
        b"POST /messages" + local + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"GET /status" + local + b"Origin: http://localhost\r\nAuthorization: Bearer x\r\n\r\n",
    ]
    for _ in range(300):
        request = bytearray(generator.choice(requests))
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(request))
            request[at : at + generator.randint(0, 2)] = generator.randbytes(generator.randint(0, 3))
        client = bridge.client()
        client.wire.send(bytes(request))
        client.wire.half_close()
    assert_alive(bridge)
