"""`openapi.yaml`: it is valid, it is served, and it is true."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator, ValidationError
from openapi_spec_validator import validate

from assertions import assert_problem
from description import DESCRIPTION, FILE, operations, resolved
from harness import Bridge, EventSourceParser, Upstream
from harness.environment import ROOT
from harness.http1 import Response

ALL = [pytest.param(*operation, id=" ".join(operation[:2])) for operation in operations()]


def assert_described(response: Response, operation: dict[str, Any]) -> None:
    """The status and the JSON of an answer are as they are described."""
    described = operation["responses"].get(str(response.status), operation["responses"]["default"])
    if "content" not in resolved(described):
        assert response.body == b"", response
        return
    media = response.header("Content-Type").split(";")[0]
    content = resolved(described)["content"]
    assert media in content, response
    if media.endswith("json"):
        schema = {**content[media]["schema"], "components": DESCRIPTION["components"]}
        Draft202012Validator(schema).validate(response.json())


@pytest.fixture
def changeable(start_upstream, serve_file) -> Bridge:
    """A bridge with an open connection, whose upstream echoes, and whose connections clients may change."""
    upstream = start_upstream(answers=lambda message: message)
    settings = {"http": {"dynamicConnections": True}, "connections": {"default": {"url": upstream.url}}}
    bridge = serve_file(json.dumps(settings))
    bridge.await_ready()
    return bridge


def body_of(method: str) -> bytes | None:
    return {"POST": b"", "PUT": b'{"url":"ws://127.0.0.1:1"}'}.get(method)


def test_it_is_valid() -> None:
    validate(DESCRIPTION)


def test_it_is_served_to_everyone(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "secret"})
    response = bridge.get("/openapi.yaml")
    assert response.status == 200
    assert response.header("Content-Type") == "application/yaml"
    assert response.body == FILE.read_bytes()


def test_it_names_the_version(run_bridge) -> None:
    bridge = run_bridge("version")
    assert bridge.exit_code() == 0
    assert bridge.out.text.split() == [DESCRIPTION["info"]["title"], DESCRIPTION["info"]["version"]]


@pytest.mark.parametrize(("method", "target", "operation"), ALL)
def test_it_names_the_parameters_that_are_accepted(
    changeable: Bridge, method: str, target: str, operation: dict[str, Any]
) -> None:
    response = changeable.request(method, f"{target}?no-such-parameter=1", body_of(method))
    assert_problem(response, 400, "invalid-parameter")
    accepted = re.search(r"there are: (.*)$", response.json()["detail"])
    assert accepted, response
    named = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"]
    scheme = DESCRIPTION["components"]["securitySchemes"]["accessToken"]
    assert sorted(accepted[1].split(", ")) == sorted([*named, scheme["name"]])


@pytest.mark.parametrize(("method", "target", "operation"), ALL)
def test_answers_are_as_it_says(
    changeable: Bridge, method: str, target: str, operation: dict[str, Any]
) -> None:
    success = next(response for status, response in operation["responses"].items() if status < "3")
    if "text/event-stream" in resolved(success).get("content", {}):
        target += "?since=start&types=status&limit=1"
    if target.endswith("/request"):
        target += "?correlate=next"
    target = target.replace("{message}", changeable.send("Hello").json()["id"])
    response = changeable.request(method, target, body_of(method))
    assert response.status < 300
    assert_described(response, operation)


def test_what_is_made_is_as_it_says(changeable: Bridge) -> None:
    operation = next(it for verb, _, it in operations() if verb == "PUT")
    response = changeable.request("PUT", "/v1/connections/new", body_of("PUT"))
    assert response.status == 201
    assert_described(response, operation)


@pytest.mark.parametrize(
    ("method", "target", "query", "body"),
    [
        ("POST", "/messages", "", b"\xff"),
        ("POST", "/messages", "?wait=for%20ever", b""),
        ("POST", "/disconnect", "", b'{"code":1}'),
        ("GET", "/events", "?limit=0", None),
        ("PUT", "/v1/connections/default", "", b"{}"),
        ("DELETE", "/outbox/{message}", "", None),
    ],
)
def test_problems_are_as_it_says(
    bridge: Bridge, method: str, target: str, query: str, body: bytes | None
) -> None:
    operation = next(it for verb, path, it in operations() if (verb, path) == (method, target))
    response = bridge.request(method, target.replace("{message}", "none") + query, body)
    assert response.status >= 400
    assert_described(response, operation)


#: The sources that read requests and write answers.
HTTP_SOURCES = ("BridgeCore/HTTP", "BridgeIO/HTTPServer", "wsbridge")


def fields_in(pattern: str) -> set[str]:
    """Return the names of header fields that the sources mention in such a place."""
    files = [file for folder in HTTP_SOURCES for file in (ROOT / "Sources" / folder).rglob("*.swift")]
    return {name.lower() for file in files for name in re.findall(pattern, file.read_text())}


#: What HTTP itself or a browser settles; nobody who uses the API sets or reads them for it.
OF_HTTP = {
    *("content-length", "transfer-encoding", "content-encoding", "expect", "connection", "date", "vary"),
    *("access-control-request-method", "access-control-allow-methods", "access-control-allow-origin"),
    *("access-control-allow-headers", "access-control-expose-headers", "access-control-max-age"),
    *("sec-fetch-dest", "sec-fetch-mode", "referrer-policy", "content-security-policy"),
    *("x-content-type-options", "content-type", "authorization"),
}


def test_it_mentions_every_header_field() -> None:
    read = fields_in(r'values?\(of: "([A-Za-z-]+)"\)')
    written = fields_in(r'HTTPField\(\s*"([A-Za-z-]+)"')
    assert {"last-event-id", "host"} <= read
    assert {"retry-after", "etag"} <= written
    text = FILE.read_text().lower()
    assert [name for name in sorted((read | written) - OF_HTTP) if name not in text] == []


def test_it_describes_no_header_field_that_is_not_used() -> None:
    described = set()
    for _, _, operation in operations():
        described |= {it["name"].lower() for it in operation["parameters"] if it["in"] == "header"}
        for response in operation["responses"].values():
            described |= {name.lower() for name in resolved(response).get("headers", {})}
    used = fields_in(r'(?:of: |HTTPField\(\s*)"([A-Za-z-]+)"')
    # Media ranges are read by a type of their own.
    assert described - used - {"accept"} == set()


#: What browsers let pages read or send without being asked, or never (Fetch, sections 2.2.2, 2.2.6 and 4.10).
SAFELISTED = {"cache-control", "content-type", "set-cookie"}


def test_pages_of_allowed_origins_may_use_all_header_fields(upstream: Upstream, start_bridge) -> None:
    allowed = {"WSBRIDGE_ALLOWED_ORIGINS": "https://app.example"}
    bridge = start_bridge(upstream.url, environment=allowed)
    sent, read = {"authorization", "content-type", "cache-control"}, set()
    for _, _, operation in operations():
        sent |= {it["name"].lower() for it in operation["parameters"] if it["in"] == "header"}
        for response in operation["responses"].values():
            read |= {name.lower() for name in resolved(response).get("headers", {})}
    origin = {"Origin": "https://app.example"}
    preflight = bridge.request(
        "OPTIONS", "/messages", fields={**origin, "Access-Control-Request-Method": "POST"}
    )
    assert words(preflight.header("Access-Control-Allow-Headers")) == sent
    answer = bridge.get("/status", origin)
    assert words(answer.header("Access-Control-Expose-Headers")) == read - SAFELISTED


def words(field: str) -> set[str]:
    return {word.strip().lower() for word in field.split(",")}


# Records


def assert_schema(name: str, value: object) -> None:
    """The value is as the description's schema of this name says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": DESCRIPTION["components"]}
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


@pytest.fixture
def eventful(start_upstream, serve_file) -> Bridge:
    """A bridge whose history has records of every type, some of them lost."""
    upstream = start_upstream()
    settings = "history: { maxMessages: 12, includeSent: true }"
    outbox = "outbox: { maxMessages: 2 }"
    bridge = serve_file(f"{settings}\nconnections: {{ a: {{ url: '{upstream.url}', {outbox} }} }}")
    bridge.await_ready()
    peer = upstream.peer()
    peer.send(*(f"lost {number}" for number in range(12)))
    peer.send("text\r\n\0 \U0001f600", b"\x00\xff", "")
    bridge.post("/messages", b"sent")
    bridge.post("/messages", b"\xff\x00", "application/octet-stream")
    peer.received(2)
    upstream.stop()
    bridge.await_status(lambda status: status["lastError"], "a dial failed")
    bridge.post("/messages", b"dropped")
    bridge.request("DELETE", "/outbox")
    bridge.post("/disconnect")
    return bridge


EVERYTHING = "types=text,binary,status&direction=both"


@pytest.mark.parametrize("format", ["sse", "json", "ndjson"])
@pytest.mark.parametrize("target", ["/events", "/v1/events"])
def test_streams_hold_what_it_says(eventful: Bridge, target: str, format: str) -> None:
    first = f"{eventful.get('/messages').json()['next'].split('-')[0]}-0"
    since = f"{target}?format={format}&since={first}&idle=50ms&{EVERYTHING}"
    response = eventful.get(since)
    types = set()
    if format == "ndjson":
        records = [json.loads(line) for line in response.body.decode().split("\n")[:-1]]
    else:
        parser = EventSourceParser()
        events = parser.feed(response.body)
        for event in events:
            assert_schema("EventID", event.id) if event.id else None
        records = [json.loads(event.data) for event in events if format == "json"]
        for event in events if format == "sse" else []:
            types.add(event.type)
            if event.type == "status":
                assert_schema("StatusEvent", json.loads(event.data))
            elif event.type == "gap":
                assert_schema("Gap", json.loads(event.data))
    for record in records:
        assert_schema("Record", record)
        types.add(record["type"])
        if record["type"] == "status":
            assert_schema("StatusEvent", record["data"])
    assert types == ({"message"} if format == "sse" else {"text"}) | {"binary", "status", "gap"}


def test_polls_and_states_hold_what_it_says(eventful: Bridge) -> None:
    first = f"{eventful.get('/messages').json()['next'].split('-')[0]}-0"
    page = eventful.get(f"/messages?since={first}&{EVERYTHING}").json()
    assert page["gap"]
    assert {record["type"] for record in page["messages"]} == {"text", "binary", "status"}
    assert_schema("Page", page)
    status = eventful.status()
    assert status["lastClose"]
    assert status["lastError"]
    assert_schema("Status", status)
    assert_schema("Readiness", eventful.get("/readyz").json())


def test_a_record_that_is_none_does_not_pass(eventful: Bridge) -> None:
    record = eventful.get("/messages?types=text").json()["messages"][0]
    assert_schema("Record", record)
    for member in record:
        with pytest.raises(ValidationError):
            assert_schema("Record", {name: value for name, value in record.items() if name != member})
    for wrong in ({"id": "1"}, {"topic": 1}, {"type": "gap"}, {"more": 1}, {"time": "yesterday"}):
        with pytest.raises(ValidationError):
            assert_schema("Record", {**record, **wrong})


@pytest.mark.parametrize(
    "text",
    [
        *("m8nxbg8fdqe2-0", "m8nxbg8fdqe2-21", "000000000000-9999999999999999999", "zzzzzzzzzzzz-1"),
        *("m8nxbg8fdqe2-", "m8nxbg8fdqe2-01", "m8nxbg8fdqe2-00", "m8nxbg8fdqe2-18446744073709551616"),
        *("m8nxbg8fdqe-1", "m8nxbg8fdqe22-1", "M8nxbg8fdqe2-1", "m8nxbg8fdqei-1", "m8nxbg8fdqel-1", "a-1"),
        *("m8nxbg8fdqeo-1", "m8nxbg8fdqeu-1", "m8nxbg8fdqe2-1-1", "m8nxbg8fdqe2-1 ", "-1"),
        "m8nxbg8fdqe2-m1.1",
    ],
)
def test_what_looks_like_an_id_to_it_is_one_to_the_bridge(bridge: Bridge, text: str) -> None:
    is_one = re.search(DESCRIPTION["components"]["schemas"]["EventID"]["pattern"], text)
    response = bridge.get(f"/events?limit=1&types=status&since={quote(text)}")
    assert response.status == (200 if is_one else 400)
