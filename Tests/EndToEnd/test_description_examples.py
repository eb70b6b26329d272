"""The examples of `openapi.yaml`: everything has one, and they are what the bridge says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from harness import Bridge, EventSourceParser, Upstream
from harness.environment import ROOT

DESCRIPTION = yaml.safe_load((ROOT / "openapi.yaml").read_bytes())
EXAMPLES = DESCRIPTION["components"]["examples"]

#: Bytes have no text that could stand for them.
WITHOUT_EXAMPLES = {"application/octet-stream"}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        found = DESCRIPTION
        for name in node["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        node = found
    return node


def contents() -> Iterator[Any]:
    """Each body that is described: where, its media type, and what is said of it."""
    for path, item in DESCRIPTION["paths"].items():
        for method in ("get", "post", "put", "delete"):
            if operation := item.get(method):
                name = f"{method.upper()} {path}"
                for media, content in operation.get("requestBody", {}).get("content", {}).items():
                    yield pytest.param(media, content, id=f"{name} takes {media}")
                for status, response in operation["responses"].items():
                    for media, content in resolved(response).get("content", {}).items():
                        yield pytest.param(media, content, id=f"{name} answers {status} {media}")


def examples_of(content: dict[str, Any]) -> dict[str, Any]:
    """The examples' values, by name."""
    several = {name: resolved(example)["value"] for name, example in content.get("examples", {}).items()}
    return several | ({"example": content["example"]} if "example" in content else {})


def assert_fits(value: Any, schema: Any) -> None:
    whole = {"allOf": [schema], "components": DESCRIPTION["components"]}
    Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


@pytest.mark.parametrize(("media", "content"), list(contents()))
def test_every_body_has_examples_that_fit(media: str, content: dict[str, Any]) -> None:
    examples = examples_of(content)
    assert bool(examples) != (media in WITHOUT_EXAMPLES)
    for value in examples.values():
        assert_fits(value, content["schema"])


def parameters() -> Iterator[dict[str, Any]]:
    for item in DESCRIPTION["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict):
                yield from map(resolved, operation.get("parameters", []))


def test_examples_of_parameters_fit() -> None:
    tried = 0
    for parameter in parameters():
        for value in examples_of(parameter).values():
            assert_fits(value, parameter["schema"])
            tried += 1
    assert tried


def test_every_example_is_used() -> None:
    text = (ROOT / "openapi.yaml").read_text()
    assert [name for name in EXAMPLES if f'"#/components/examples/{name}"' not in text] == []


# Problems

PROBLEMS = re.findall(
    r"^\| `([a-z0-9-]+)` \| (\d+) \| (.*) \|$",
    DESCRIPTION["components"]["schemas"]["Problem"]["description"],
    re.MULTILINE,
)


def test_every_problem_has_its_example() -> None:
    assert PROBLEMS
    for slug, status, title in PROBLEMS:
        problem = EXAMPLES[slug]["value"]
        assert problem["type"] == f"urn:wsbridge:problem:{slug}"
        assert (str(problem["status"]), problem["title"]) == (status, title)


def test_problems_stand_where_they_can_come() -> None:
    """An answer with a status of its own shows problems of that status."""
    for item in DESCRIPTION["paths"].values():
        for operation in item.values():
            responses = operation.get("responses", {}) if isinstance(operation, dict) else {}
            for status in ("502", "503", "504"):
                content = resolved(responses.get(status, {})).get("content", {})
                examples = examples_of(content.get("application/problem+json", {}))
                assert {str(it["status"]) for it in examples.values()} <= {status}


OTHER = "https://other.example.org"
TWICE = {"Idempotency-Key": "twice"}


@pytest.mark.parametrize(
    ("slug", "method", "target", "body", "fields"),
    [
        ("invalid-target", "GET", "/a/../status", None, {}),
        ("invalid-host", "GET", "/status", None, {"Host": ""}),
        ("invalid-framing", "POST", "/messages", None, {"Content-Length": "many"}),
        ("invalid-parameter", "GET", "/messages?limit=0", None, {}),
        ("invalid-utf8", "POST", "/messages", b"\xff", {}),
        ("invalid-body", "POST", "/disconnect", b'{"code":1}', {}),
        ("origin-not-allowed", "GET", "/status", None, {"Origin": OTHER}),
        ("not-found", "GET", "/outbox/none", None, {}),
        ("method-not-allowed", "PUT", "/status", b"", {}),
        ("message-too-large", "POST", "/messages", None, {"Content-Length": str((1 << 20) + 1)}),
        ("unsupported-media-type", "POST", "/messages", b"", {"Content-Type": "multipart/form-data"}),
        ("misdirected-host", "GET", "/status", None, {"Host": "bridge.example.org"}),
        ("idempotency-mismatch", "POST", "/messages", b"another", TWICE),
        ("reply-timeout", "POST", "/request?correlate=next&timeout=100ms", b"", {}),
    ],
)
def test_problems_are_told_as_the_example_has_it(
    bridge: Bridge, slug: str, method: str, target: str, body: bytes | None, fields: dict[str, str]
) -> None:
    bridge.request("POST", "/messages", b"one", TWICE)
    problem = bridge.request(method, target, body, fields).json()
    example = EXAMPLES[slug]["value"]
    assert problem == example | {"detail": example["detail"].replace("10s", "100ms")}


@pytest.mark.parametrize(
    ("slug", "settings", "target"),
    [
        ("unauthorized", {"http": {"tokens": [{"name": "a", "token": "secret"}]}}, "/messages"),
        ("connection-closed", {"connections": {"default": {"connect": "manual"}}}, "/messages"),
        ("receive-only", {"connections": {"default": {"receiveOnly": True}}}, "/messages"),
        ("upstream-unavailable", {}, "/messages?queue=false"),
        ("outbox-full", {"connections": {"default": {"outbox": {"maxMessages": 1}}}}, "/messages"),
        ("ambiguous-connection", {"connections": {"prices-eu": {}, "prices-us": {}}}, "/messages"),
    ],
)
def test_so_are_those_of_other_settings(
    serve_file, away: Upstream, slug: str, settings: dict[str, Any], target: str
) -> None:
    connections = settings.get("connections", {"default": {}})
    named = {name: {"url": away.url} | more for name, more in connections.items()}
    bridge = serve_file(json.dumps(settings | {"connections": named}))
    if slug == "outbox-full":
        bridge.send("the first")
    if slug == "connection-closed":
        bridge.post("/disconnect")
    assert bridge.post(target, b"x").json() == EXAMPLES[slug]["value"]


# Streams


def records_of(stream: str) -> list[Any]:
    return [json.loads(event.data) for event in EventSourceParser().feed(stream.encode())]


def test_examples_of_streams_are_streams() -> None:
    schemas = DESCRIPTION["components"]["schemas"]
    for event in EventSourceParser().feed(EXAMPLES["stream"]["value"].encode()):
        assert_fits(event.id, schemas["EventID"])
        if event.type == "gap":
            assert_fits(json.loads(event.data), schemas["Gap"])
    (record,) = records_of(EXAMPLES["streamOfRecords"]["value"])
    assert record == EXAMPLES["textRecord"]["value"]
    (problem,) = records_of(EXAMPLES["refused"]["value"])
    assert problem == EXAMPLES["too-many-subscribers"]["value"]


def test_a_refused_browser_is_told_as_the_example_has_it(upstream: Upstream, serve_with) -> None:
    bridge, _ = serve_with("http: { maxSubscribers: 1 }")
    with bridge.stream():
        refused = bridge.get("/events", {"Accept": "text/event-stream"}).body.decode()
    assert refused == EXAMPLES["refused"]["value"].replace("at most 10000", "at most 1")
