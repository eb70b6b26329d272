"""A strict stand-in for Slack's Socket Mode."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

from harness.web_server import WebAnswer, WebRequest, WebServer

from .service import Service, Session

_METHOD = "https://docs.slack.dev/reference/methods/apps.connections.open"
_GUIDE = "https://docs.slack.dev/apis/events-api/using-socket-mode"

OPEN_METHOD = f"{_METHOD}, Facts: POST https://slack.com/api/apps.connections.open"
OPEN_TYPE = f"{_METHOD}, Facts: content types"
OPEN_TOKEN = f"{_METHOD}, Usage info: the token in the Authorization header"
OPEN_RATE = f"{_METHOD}, Facts: rate limit, and https://docs.slack.dev/apis/web-api/rate-limits"
TICKET = f"{_METHOD}, Usage info: a dynamic, temporary WebSocket URL"
CONNECTIONS = f"{_GUIDE}, Using multiple connections: up to 10"
DISCONNECTS = f"{_GUIDE}, Handle disconnects gracefully"
ENVELOPES = f"{_GUIDE}, Receive events: acknowledge each event"
ACKNOWLEDGE = f"{_GUIDE}, Acknowledge events"
PROMPTLY = "https://docs.slack.dev/apis/events-api, Responding to events: within three seconds"


class SlackSocketMode(Service):
    """Slack's `apps.connections.open` at `open_url`, and the connections that it tells.

    Checked are

    - the method, the token in its header and nowhere else, the content type and the rate of calls that open;
    - that each URL is used once, and none is made up;
    - that no more connections are open than allowed; one too many is told `too_many_websockets` and closed;
    - that the client sends nothing but acknowledgements, each a JSON object with the `envelope_id` of an
      envelope that it got, once, and a `payload` only where the envelope accepts one;
    - that each envelope is acknowledged in time while its connection is open;
    - that a connection asked to refresh is followed by another one in time.

    `order` tells what happened: `("hello", number)` and `("left", number)` of each connection.
    """

    TOKEN: ClassVar[str] = "xapp-1-A111-222-xyz"

    def __init__(
        self,
        *,
        acknowledge_within: float = 3,
        renew_within: float = 10,
        most_connections: int = 10,
        most_opens: tuple[int, float] = (50, 60),
    ):
        """Times are in seconds; `most_opens` is a number of calls and the span for which it holds."""
        self.acknowledge_within = acknowledge_within
        self.renew_within = renew_within
        self.most_connections = most_connections
        self.most_opens = most_opens
        #: The error with which `apps.connections.open` answers in place of a URL, such as `internal_error`.
        self.open_error: str | None = None
        #: Whether connections are told to `disconnect` for this reason where they wait for `hello`.
        self.greet_with: str | None = None
        self.order: list[tuple[str, int]] = []
        #: The envelopes that are not acknowledged yet, by id.
        self.pending: dict[str, dict[str, Any]] = {}
        self.acknowledged: list[dict[str, Any]] = []
        #: Where each envelope was sent last.
        self._sent: dict[str, Session] = {}
        self._opens: list[float] = []
        self._tickets: dict[str, bool] = {}
        self._numbers = itertools.count(1)
        super().__init__()
        self._web = WebServer(self._answer)

    @property
    def open_url(self) -> str:
        return f"{self._web.url}/api/apps.connections.open"

    @property
    def open_count(self) -> int:
        """How often a URL was asked for."""
        return len(self._opens)

    def stop(self) -> None:
        self._web.stop()
        super().stop()

    # What tests do

    def push(self, payload: Any, kind: str = "events_api", *, accepts: bool = False, to: int = -1) -> str:
        """Send an envelope to a connection that said hello, the newest one by default; return its id."""

        async def push() -> str:
            session = [each for each in self.sessions if each.is_open and each.notes.get("hello")][to]
            envelope_id = f"dbdd0ef3-1543-4f94-bfb4-{next(self._numbers):012}"
            envelope = {
                "envelope_id": envelope_id,
                "type": kind,
                "accepts_response_payload": accepts,
                "payload": payload,
            }
            self.pending[envelope_id] = envelope
            self._sent[envelope_id] = session
            await session.send(envelope)
            self.after(self.acknowledge_within, lambda: self._judge_acknowledgement(session, envelope_id))
            return envelope_id

        return self.run(push())

    def await_acknowledged(self, envelope_id: str) -> dict[str, Any]:
        """Wait for the acknowledgement of an envelope, and return it."""
        self.await_truth(lambda: envelope_id not in self.pending, f"{envelope_id} is acknowledged")
        return next(each for each in self.acknowledged if each["envelope_id"] == envelope_id)

    def push_again(self) -> list[str]:
        """Send once more what went to connections that are over, unacknowledged; return the ids."""

        async def push_again() -> list[str]:
            session = [each for each in self.sessions if each.is_open and each.notes.get("hello")][-1]
            lost = {each: it for each, it in self.pending.items() if not self._sent[each].is_open}
            for envelope_id, envelope in lost.items():
                self._sent[envelope_id] = session
                await session.send(envelope | {"retry_attempt": 1, "retry_reason": "timeout"})
            return list(lost)

        return self.run(push_again())

    def disconnect(self, reason: str, to: int = -1) -> None:
        """Tell an open connection, the newest one by default, to `disconnect` for this reason.

        After `warning` and `refresh_requested` another connection must come; `link_disabled` closes it.
        """

        async def tell() -> None:
            session = [each for each in self.sessions if each.is_open][to]
            await session.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-111"}})
            if reason == "link_disabled":
                self.open_error = "link_disabled"
                await session.close(1000)
            else:
                self.after(self.renew_within, lambda: self._judge_renewal(session))

        self.run(tell())

    # What is judged

    def _judge_acknowledgement(self, session: Session, envelope_id: str) -> None:
        if envelope_id in self.pending and session.is_open:
            session.breach(PROMPTLY, f"{envelope_id} is not acknowledged")

    def _judge_renewal(self, session: Session) -> None:
        if not any(each.notes.get("hello") for each in self.sessions[session.number + 1 :]):
            session.breach(DISCONNECTS, "no connection follows one that was told to refresh")

    def admit(self, request: Request) -> tuple[int, str] | None:
        url = urlsplit(request.path)
        ticket = parse_qs(url.query).get("ticket", [""])[0]
        if url.path != "/link/" or ticket not in self._tickets:
            self.breach(TICKET, f"nobody was told the URL {request.path}")
            return 404, "no such link"
        if self._tickets[ticket]:
            self.breach(TICKET, f"{request.path} is used again")
            return 401, "the ticket has been used"
        self._tickets[ticket] = True
        return None

    async def converse(self, session: Session) -> None:
        count = sum(each.is_open for each in self.sessions)
        if count > self.most_connections:
            session.breach(CONNECTIONS, f"{count} connections are open")
        reason = "too_many_websockets" if count > self.most_connections else self.greet_with
        if reason:
            await session.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-111"}})
            return
        self.order.append(("hello", session.number))
        session.notes["hello"] = True
        await session.send(
            {
                "type": "hello",
                "connection_info": {"app_id": "A1234"},
                "num_connections": count,
                "debug_info": {"host": "applink-1", "build_number": 54, "approximate_connection_time": 3600},
            }
        )
        while True:
            message = await session.receive()
            if (what := self._acknowledge(message)) is not None:
                session.breach(*what)
            self.changed()

    def left(self, session: Session) -> None:
        self.order.append(("left", session.number))

    def _acknowledge(self, message: str | bytes) -> tuple[str, str] | None:
        """Take an acknowledgement; return the rule that another message breaks, and how."""
        try:
            answer = json.loads(message) if isinstance(message, str) else None
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("envelope_id"), str):
            return ACKNOWLEDGE, f"no acknowledgement: {message!r}"
        if others := answer.keys() - {"envelope_id", "payload"}:
            return ACKNOWLEDGE, f"an acknowledgement has nothing like {sorted(others)}"
        envelope_id = answer["envelope_id"]
        if envelope_id not in self._sent:
            return ACKNOWLEDGE, f"there is no envelope {envelope_id}"
        if envelope_id not in self.pending:
            return ACKNOWLEDGE, f"{envelope_id} is acknowledged again"
        envelope = self.pending.pop(envelope_id)
        self.acknowledged.append(answer)
        if "payload" in answer and not envelope["accepts_response_payload"]:
            return ENVELOPES, f"{envelope_id} accepts no payload"
        return None

    def _answer(self, request: WebRequest) -> WebAnswer:
        """Answer `apps.connections.open`."""
        now = time.monotonic()
        self._opens.append(now)
        most, span = self.most_opens
        if sum(now - then < span for then in self._opens) > most:
            self.breach(OPEN_RATE, f"more than {most} calls in {span} s")
            answer = _json({"ok": False, "error": "ratelimited"}, 429)
            answer.headers["Retry-After"] = "30"
            return answer
        if request.method != "POST" or request.target != "/api/apps.connections.open":
            self.breach(OPEN_METHOD, f"{request.method} {request.target}")
            return _json({"ok": False, "error": "insecure_request"})
        kind = request.headers.get_content_type() if "Content-Type" in request.headers else None
        if request.body and kind not in ("application/x-www-form-urlencoded", "application/json"):
            self.breach(OPEN_TYPE, f"a body of the type {kind}")
            return _json({"ok": False, "error": "invalid_post_type"})
        if b"token" in request.body:
            self.breach(OPEN_TOKEN, "a token in the body")
            return _json({"ok": False, "error": "invalid_auth"})
        if request.headers.get("Authorization") != f"Bearer {self.TOKEN}":
            self.breach(OPEN_TOKEN, "another token than the app's in the header, or none")
            return _json({"ok": False, "error": "invalid_auth"})
        if self.open_error:
            return _json({"ok": False, "error": self.open_error})
        ticket = f"1234-{next(self._numbers)}"
        self._tickets[ticket] = False
        return _json({"ok": True, "url": f"ws://127.0.0.1:{self.port}/link/?ticket={ticket}&app_id=5678"})


def _json(value: Any, status: int = 200) -> WebAnswer:
    # As Slack does, with slashes escaped, which a client must not take for a part of the URL.
    body = json.dumps(value).replace("/", "\\/").encode()
    return WebAnswer(status, body, {"Content-Type": "application/json; charset=utf-8"})
