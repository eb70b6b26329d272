"""CORS, to the letter: what each page's browser is told, for all that a bridge may be set to."""

from __future__ import annotations

import pytest

from harness import Bridge, Upstream

APP = "https://app.example"
TOKEN = "t0ken"
SETTINGS = ["", APP, f"https://one.example,{APP}", "*"]
ORIGINS = [None, "own", APP, "https://other.example", "http://app.example", "null"]

METHODS = {
    "/messages": "GET, HEAD, POST, OPTIONS",
    "/events": "GET, HEAD, OPTIONS",
    "/connect": "POST, OPTIONS",
    "/v1/session": "GET, HEAD, POST, DELETE, OPTIONS",
    "/healthz": "GET, HEAD, OPTIONS",
    "/nothing": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
}
SENT = (
    "Accept, Authorization, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, "
    "Last-Event-ID, Prefer"
)
READ = (
    "Allow, ETag, Idempotency-Replayed, Location, Retry-After, Wsbridge-Event-Id, "
    "WWW-Authenticate, X-Accel-Buffering"
)


def cors(bridge: Bridge, method: str, target: str, fields: dict[str, str]) -> tuple[int, dict[str, str], str]:
    """The status of an answer, its fields of CORS, and its `Vary`."""
    response = bridge.request(method, target, fields=fields)
    prefix = "access-control-"
    found = {name.lower(): value for name, value in response.head.fields if name.lower().startswith(prefix)}
    return response.status, found, response.header("Vary")


def allowed(setting: str, origin: str | None) -> str | None:
    """The value of `Access-Control-Allow-Origin`; nothing where the answer has none."""
    if origin is None:
        return None
    if setting == "*":
        return "*"
    return origin if origin in setting.split(",") else None


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("origin", ORIGINS, ids=str)
def test_the_answers_to_each_origin_are_exact(
    upstream: Upstream, start_bridge, setting: str, origin: str | None
) -> None:
    environment = {"WSBRIDGE_TOKEN": TOKEN, "WSBRIDGE_ALLOWED_ORIGINS": setting}
    bridge = start_bridge(
        upstream.url, environment={key: value for key, value in environment.items() if value}
    )
    is_own = origin in (None, "own")
    if origin == "own":
        origin = bridge.base
    told = allowed(setting, origin)
    is_refused = not is_own and told is None
    fields = {"Origin": origin} if origin else {}
    shown = {"access-control-allow-origin": told, "access-control-expose-headers": READ} if told else {}

    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for method, target, more, status in (
        ("GET", "/status", bearer, 200),
        ("HEAD", "/status", bearer, 200),
        ("GET", "/healthz", {}, 200),
        ("GET", "/status", {}, 401),
        ("GET", "/nothing", bearer, 404),
        ("DELETE", "/status", bearer, 405),
        ("GET", "/status?x=1", bearer, 400),
        ("OPTIONS", "/status", {}, 204),
        ("OPTIONS", "*", {}, 204),
    ):
        answer = cors(bridge, method, target, {**fields, **more})
        assert answer == (403 if is_refused else status, shown, "Origin"), (method, target)

    # A preflight is one only with an origin; without one it is a question for the methods.
    for target, methods in METHODS.items():
        preflight = {
            **fields,
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "x-any",
        }
        given = {
            "access-control-allow-methods": methods,
            "access-control-allow-headers": SENT,
            "access-control-max-age": "600",
        }
        status = 403 if is_refused else 404 if origin is None and target == "/nothing" else 204
        expected = {**shown, **(given if told else {})}
        assert cors(bridge, "OPTIONS", target, preflight) == (status, expected, "Origin"), target


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_streams_and_refusals_of_streams_tell_it_too(upstream: Upstream, serve_file, accept: str) -> None:
    bridge = serve_file(
        f"http: {{ maxSubscribers: 1, allowedOrigins: ['{APP}'] }}\n"
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}\n"
    )
    fields = {"Origin": APP, "Accept": accept}
    streams = [bridge.ask_for_stream(fields=fields) for _ in range(2)]
    for stream in streams:
        assert stream.head.get("Access-Control-Allow-Origin") == APP
        assert stream.head.get("Access-Control-Expose-Headers") == READ
        assert stream.head.get("Vary") == "Origin"
        assert "Access-Control-Allow-Credentials" not in stream.head
