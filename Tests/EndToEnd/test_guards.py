"""What stands before every route: each guard is tried on each operation that `openapi.yaml` describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from assertions import assert_problem
from description import operations
from harness import Bridge, Client, Upstream
from harness.http1 import Response

APP = "https://app.example"
#: What is answered without a token, though one is asked for.
ANONYMOUS = {
    *(("GET", path) for path in ("/", "/healthz", "/readyz", "/openapi.yaml")),
    ("DELETE", "/v1/session"),
}
#: What a token is told of itself, whatever it allows.
ANY_TOKEN = {("GET", "/v1/session"), ("POST", "/v1/session")}
#: What sends messages.
SENDING = ("/messages", "/request")

Ask = Callable[[str, str, dict[str, str]], Response]


def needs(method: str, target: str) -> str | None:
    """The scope that an operation needs, by the contract's own rule."""
    if (method, target) in ANONYMOUS | ANY_TOKEN:
        return None
    if method == "GET":
        return "read"
    return "send" if method == "POST" and target.endswith(SENDING) else "admin"


def walk() -> Iterator[tuple[str, str]]:
    """Every method and target, with `HEAD` where there is `GET`, and `OPTIONS`."""
    targets = set()
    for method, target, _ in operations():
        target = target.replace("{message}", "none")
        yield method, target
        if method == "GET":
            yield "HEAD", target
        targets.add(target)
    for target in sorted(targets):
        yield "OPTIONS", target


@pytest.fixture
def bridge(upstream: Upstream, serve_file) -> Bridge:
    tokens = [
        {"name": "all", "token": "all"},
        *({"name": scope, "token": scope, "allow": [scope]} for scope in ("read", "send", "admin")),
        {"name": "elsewhere", "token": "elsewhere", "connections": ["other"]},
    ]
    http = {"tokens": tokens, "allowedOrigins": [APP], "dynamicConnections": True}
    connections = {name: {"url": upstream.url} for name in ("default", "other")}
    return serve_file(json.dumps({"http": http, "connections": connections}))


@pytest.fixture
def ask(bridge: Bridge) -> Ask:
    def ask(method: str, target: str, fields: dict[str, str]) -> Response:
        body = b"" if method in ("POST", "PUT") else None
        return bridge.request(method, target, body, fields)

    return ask


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def slug(response: Response) -> tuple[int, str | None]:
    kind = (
        response.json()["type"]
        if response.header("Content-Type").endswith("problem+json") and response.body
        else ""
    )
    return response.status, kind.rpartition(":")[2] or None


def test_the_walk_goes_everywhere() -> None:
    steps = list(walk())
    assert len(steps) == len(set(steps))
    for step in (("GET", "/v1/events"), ("PUT", "/v1/connections/default"), ("DELETE", "/outbox/none")):
        assert step in steps
    assert {needs(method, target) for method, target, _ in operations()} == {None, "read", "send", "admin"}


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Origin": "http://evil.example", "Access-Control-Request-Method": "GET"},
]


@pytest.mark.parametrize("fields", FOREIGN, ids=lambda fields: "-".join(fields.values()))
def test_no_page_of_others_gets_anywhere(ask: Ask, fields: dict[str, str]) -> None:
    for method, target in walk():
        for credentials in ({}, bearer("all")):
            response = ask(method, target, {**fields, **credentials})
            assert response.status == 403, (method, target)
            assert "Access-Control-Allow-Origin" not in response.head, (method, target)
            if method != "HEAD":
                assert_problem(response, 403, "origin-not-allowed")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80"])
def test_no_other_host_gets_anywhere(ask: Ask, host: str) -> None:
    for method, target in walk():
        for credentials in ({}, bearer("wrong")):
            response = ask(method, target, {"Host": host, **credentials})
            assert response.status == 421, (method, target)


def test_nothing_is_answered_without_a_host_or_with_several(bridge: Bridge) -> None:
    for method, target in walk():
        for fields in ("", "Host: localhost\r\nHost: localhost\r\n", "Host: a b\r\n"):
            with Client(bridge.address) as client:
                head = f"{method} {target} HTTP/1.1\r\n{fields}Content-Length: 0\r\n\r\n"
                client.wire.send(head.encode())
                assert client.response(method).status == 400, (method, target, fields)


@pytest.mark.parametrize("credentials", [{}, bearer("wrong"), {"Cookie": "wsbridge-session-x=y"}], ids=str)
def test_only_what_is_open_to_all_is_answered_without_a_right_token(
    ask: Ask, credentials: dict[str, str]
) -> None:
    answered = set()
    for method, target, _ in operations():
        response = ask(method, target.replace("{message}", "none"), credentials)
        if response.status != 401:
            answered.add((method, target))
            continue
        assert slug(response) == (401, "unauthorized")
        assert response.header("WWW-Authenticate").startswith('Bearer realm="wsbridge"')
        assert response.json()["detail"]
    assert answered == ANONYMOUS


@pytest.mark.parametrize("scope", ["read", "send", "admin"])
def test_a_token_may_only_what_its_scope_says(bridge: Bridge, ask: Ask, scope: str) -> None:
    for method, target, operation in operations():
        if "text/event-stream" in str(operation["responses"]) and needs(method, target) == scope:
            # It may, and would go on for ever.
            continue
        response = ask(method, target.replace("{message}", "none"), bearer(scope))
        is_allowed = needs(method, target) in (None, scope)
        assert (slug(response) != (403, "forbidden")) == is_allowed, (method, target, response)
        if target.endswith("/disconnect") and is_allowed:
            ask("POST", "/connect", bearer("admin"))


def test_a_token_for_other_connections_may_nothing_here(ask: Ask) -> None:
    for method, target, _ in operations():
        if target in ("/v1/connections", "/v1/events", "/metrics") or needs(method, target) is None:
            continue
        response = ask(method, target.replace("{message}", "none"), bearer("elsewhere"))
        assert slug(response) == (403, "forbidden"), (method, target)
    names = ask("GET", "/v1/connections", bearer("elsewhere")).json()["connections"]
    assert [each["name"] for each in names] == ["other"]


def test_a_page_of_an_allowed_origin_may_read_every_answer(ask: Ask) -> None:
    for method, target in walk():
        for credentials in ({}, bearer("send")):
            if (method, target) == ("GET", "/v1/session") and credentials:
                continue
            response = ask(method, target, {"Origin": APP, **credentials})
            assert response.header("Access-Control-Allow-Origin") == APP, (method, target)
            assert response.header("Vary") == "Origin", (method, target)
