"""`openapi.yaml`: it is valid, it is served, and it is true."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from assertions import assert_problem
from harness import Bridge, Upstream
from harness.environment import ROOT
from harness.http1 import Response

FILE = ROOT / "openapi.yaml"
DESCRIPTION = yaml.safe_load(FILE.read_bytes())
METHODS = ("get", "post", "put", "delete")


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every method and path, with what is described there; those of a connection at both their addresses."""
    for path, item in DESCRIPTION["paths"].items():
        for method, server in itertools.product(METHODS, item.get("servers", [{"url": "/"}])):
            if operation := item.get(method):
                target = (server["url"].rstrip("/") + path).replace("{connection}", "default")
                parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
                yield method.upper(), target, {**operation, "parameters": [resolved(p) for p in parameters]}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    found = DESCRIPTION
    for name in node["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return resolved(found)


ALL = [pytest.param(*operation, id=" ".join(operation[:2])) for operation in operations()]


def assert_described(response: Response, operation: dict[str, Any]) -> None:
    """The status and the JSON of an answer are as they are described."""
    described = operation["responses"].get(str(response.status), operation["responses"]["default"])
    media = response.header("Content-Type").split(";")[0]
    content = resolved(described)["content"]
    assert media in content, response
    if media.endswith("json"):
        schema = {**content[media]["schema"], "components": DESCRIPTION["components"]}
        Draft202012Validator(schema).validate(response.json())


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
    bridge: Bridge, method: str, target: str, operation: dict[str, Any]
) -> None:
    response = bridge.request(method, f"{target}?no-such-parameter=1", b"" if method == "POST" else None)
    assert_problem(response, 400, "invalid-parameter")
    accepted = re.search(r"there are: (.*)$", response.json()["detail"])
    assert accepted, response
    named = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"]
    scheme = DESCRIPTION["components"]["securitySchemes"]["accessToken"]
    assert sorted(accepted[1].split(", ")) == sorted([*named, scheme["name"]])


@pytest.mark.parametrize(("method", "target", "operation"), ALL)
def test_answers_are_as_it_says(bridge: Bridge, method: str, target: str, operation: dict[str, Any]) -> None:
    if "text/event-stream" in resolved(operation["responses"]["200"])["content"]:
        target += "?since=start&types=status&limit=1"
    target = target.replace("{message}", bridge.send("Hello").json()["id"])
    assert_described(bridge.request(method, target, b"" if method == "POST" else None), operation)


@pytest.mark.parametrize(
    ("method", "target", "query", "body"),
    [
        ("POST", "/messages", "", b"\xff"),
        ("POST", "/messages", "?wait=for%20ever", b""),
        ("POST", "/disconnect", "", b'{"code":1}'),
        ("GET", "/events", "?limit=0", None),
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
