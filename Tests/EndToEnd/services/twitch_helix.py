"""What Twitch's Helix demands of a request that subscribes to events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.web_server import WebAnswer, WebRequest

_CREATE = "https://dev.twitch.tv/docs/api/reference/, Create EventSub Subscription"

HELIX = f"{_CREATE}: POST https://api.twitch.tv/helix/eventsub/subscriptions"
AUTHORIZATION = f"{_CREATE}, Authorization: a user access token"
BODY = f"{_CREATE}, Request Body"


@dataclass(frozen=True)
class Fault:
    """What is wrong with a request, and the status that answers it."""

    status: int
    clause: str
    what: str

    def answer(self) -> WebAnswer:
        return json_answer({"error": "Error", "status": self.status, "message": self.what}, self.status)


def json_answer(value: Any, status: int) -> WebAnswer:
    return WebAnswer(
        status, json.dumps(value, separators=(",", ":")).encode(), {"Content-Type": "application/json"}
    )


def read_subscription(request: WebRequest, token: str, client_id: str) -> dict[str, Any] | Fault:
    """Return the subscription that a request asks for, which is one for WebSockets."""
    if request.method != "POST" or request.target != "/helix/eventsub/subscriptions":
        return Fault(404, HELIX, f"{request.method} {request.target}")
    if request.headers["Authorization"] != f"Bearer {token}":
        return Fault(401, AUTHORIZATION, "another token")
    if request.headers["Client-Id"] != client_id:
        return Fault(401, AUTHORIZATION, "another client ID")
    kind = request.headers.get_content_type()
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    fields = {"type": str, "version": str, "condition": dict, "transport": dict}
    if (
        kind != "application/json"
        or not isinstance(body, dict)
        or body.keys() != fields.keys()
        or not all(isinstance(body[name], wanted) for name, wanted in fields.items())
        or body["transport"].keys() != {"method", "session_id"}
        or body["transport"]["method"] != "websocket"
    ):
        return Fault(400, BODY, f"{kind}: {request.body!r}")
    return body
