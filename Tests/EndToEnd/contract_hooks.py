"""What schemathesis is told, which loads this by itself (`SCHEMATHESIS_HOOKS`).

How to ask for nothing that takes long, what to make of bodies that are no JSON, and which errors of the
server are none of its own.
"""

from __future__ import annotations

import re
from typing import Any

import schemathesis

#: Parameters that let an answer take its time.
PATIENT = ("wait", "timeout", "idle")
STREAMS = ("/events", "/v1/events")
SHORT = "5ms"


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    query = case.query if isinstance(case.query, dict) else {}
    if case.operation.path in STREAMS:
        query.setdefault("idle", SHORT)
        # One or the other, which a schema cannot say.
        if "since" in query:
            query.pop("last", None)
    for name in PATIENT:
        if re.fullmatch(r"([0-9.]+(ms|s|m|h)?)+", str(query.get(name, ""))):
            query[name] = SHORT
    headers = case.headers or {}
    if "wait" in str(headers.get("Prefer", "")):
        headers["Prefer"] = "wait=0"
    # What it takes for the least that there is, whatever the pattern is.
    if headers.get("Last-Event-ID") == "0":
        del headers["Last-Event-ID"]


@schemathesis.deserializer("text/event-stream", "application/octet-stream")
def as_text(context: Any, response: Any) -> str:
    """Take the body as a whole, as its schema does; `test_description.py` looks into records."""
    return response.content.decode("utf-8", "replace")


@schemathesis.check
def server_errors_are_described(context: Any, response: Any, case: Any) -> None:
    """No answer is 500, and another one of the server's errors stands in the description by its number."""
    if response.status_code < 500:
        return
    described = case.operation.definition.raw["responses"]
    assert response.status_code != 500, "an internal error"
    assert str(response.status_code) in described, f"{response.status_code} is not described"
