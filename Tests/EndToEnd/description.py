"""`openapi.yaml`, for tests that walk over all that it describes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import yaml

from harness.environment import ROOT

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
