"""A strict stand-in for Home Assistant's WebSocket API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import urlsplit

from websockets.http11 import Request

from .service import Ended, Service, Session

_API = "https://developers.home-assistant.io/docs/api/websocket"
_CORE = "https://github.com/home-assistant/core/blob/dev/homeassistant/components/websocket_api"

PLACE = f"{_API}: /api/websocket"
AUTHENTICATION = f"{_API}, Authentication phase"
AUTHENTICATION_TIME = f"{_CORE}/http.py: an auth message within 10 seconds"
BAN = "https://www.home-assistant.io/integrations/http/, login_attempts_threshold"
FORMAT = f"{_API}, Message format"
IDENTIFIERS = f"{_CORE}/connection.py: identifier values have to increase"
FEATURES = f"{_API}, Feature enablement phase: the first message"
COMMANDS = f"{_API}, Command phase"
UNSUBSCRIBING = f"{_API}, Unsubscribing from events"
PONGS = f"{_CORE}/http.py: WebSocketResponse(heartbeat=55)"

_Check = Callable[[Any], bool]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_anything(_: Any) -> bool:
    return True


#: What each command must and may have besides `id` and `type`.
_FIELDS: dict[str, tuple[dict[str, _Check], dict[str, _Check]]] = {
    "call_service": (
        {"domain": _is_text, "service": _is_text},
        {
            "service_data": _is_object,
            "target": _is_object,
            "return_response": lambda value: isinstance(value, bool),
        },
    ),
    "fire_event": ({"event_type": _is_text}, {"event_data": _is_object}),
    "get_config": ({}, {}),
    "get_panels": ({}, {}),
    "get_services": ({}, {}),
    "get_states": ({}, {}),
    "ping": ({}, {}),
    "subscribe_events": ({}, {"event_type": _is_text}),
    "subscribe_trigger": (
        {"trigger": lambda value: isinstance(value, dict | list)},
        {"variables": _is_object},
    ),
    "supported_features": ({"features": _is_object}, {}),
    "unsubscribe_events": ({"subscription": _is_integer}, {}),
    "validate_config": ({}, dict.fromkeys(("trigger", "condition", "action"), _is_anything)),
}


class HomeAssistant(Service):
    """An instance of Home Assistant at `url`.

    Checked are

    - the path;
    - that the first message is `auth` with the token, in time, and has nothing else; that a client whose
      token is refused does not try it over and over;
    - that every other message is a JSON object in text with a `type` and an integer `id` that is greater than
      each before it on its connection;
    - that commands exist and have what they must and may have; that `supported_features` is the first, and
      that what is unsubscribed is a subscription of its connection;
    - that ping frames are answered in time.
    """

    path: ClassVar[str] = "/api/websocket"
    TOKEN: ClassVar[str] = "ABCDEFGHIJKLMNOPQ"

    def __init__(self, *, authenticate_within: float = 10, ping_every: float = 55, login_attempts: int = 3):
        """Times are in seconds; a pong has the time of a ping's interval."""
        self.authenticate_within = authenticate_within
        self.ping_every = ping_every
        self.login_attempts = login_attempts
        #: Whether the token has been revoked, and is refused though it is right.
        self.revoked = False
        #: Whether the command `ping` is answered.
        self.answers_pings = True
        self.commands: list[dict[str, Any]] = []
        self._failures = 0
        super().__init__()

    # What tests do

    def fire(self, *events: tuple[str, Any], together: bool = False) -> None:
        """Send events, each a type and its data, to whoever is subscribed.

        Together they come as an array in one message, to clients that support it.
        """

        async def fire() -> None:
            for session in self.sessions:
                messages = [
                    {"id": number, "type": "event", "event": {"event_type": kind, "data": data}}
                    for kind, data in events
                    for number, wanted in session.notes.get("subscriptions", {}).items()
                    if session.is_open and wanted in (None, "*", kind)
                ]
                if together and session.notes["coalesces"] and len(messages) > 1:
                    await session.send(messages)
                else:
                    for message in messages:
                        await session.send(message)

        self.run(fire())

    def await_commands(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for so many commands of this type, over all connections."""
        self.await_truth(
            lambda: sum(each["type"] == kind for each in self.commands) >= count, f"{count} of {kind}"
        )
        return [each for each in self.commands if each["type"] == kind]

    # What is judged

    def admit(self, request: Request) -> tuple[int, str] | None:
        if urlsplit(request.path).path != self.path:
            self.breach(PLACE, f"there is nothing at {request.path}")
            return 404, "not found"
        if self._failures > self.login_attempts:
            self.breach(BAN, f"login attempt {self._failures + 1}")
            return 403, "banned"
        return None

    async def converse(self, session: Session) -> None:
        session.alongside(self._ping(session))
        await session.send({"type": "auth_required", "ha_version": "2026.11.1"})
        await self._authenticate(session)
        session.notes.update(subscriptions={}, coalesces=False, last=0)
        while True:
            message = await session.receive_object(1000, FORMAT)
            fault = self._fault(session, message)
            number = message.get("id")
            if fault:
                code, clause, what = fault
                session.breach(clause, what)
                error = {"code": code, "message": what}
                await session.send({"id": number, "type": "result", "success": False, "error": error})
                continue
            session.notes["last"] = number
            await self._obey(session, message)
            self.commands.append(message)
            self.changed()

    async def _ping(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self.ping_every)
            try:
                async with asyncio.timeout(self.ping_every):
                    await session.ping()
            except TimeoutError:
                session.breach(PONGS, "no pong")
                session.drop()

    async def _authenticate(self, session: Session) -> None:
        try:
            message = await session.receive_object(1000, AUTHENTICATION, self.authenticate_within)
        except TimeoutError:
            await session.refuse(1000, AUTHENTICATION_TIME, "no auth message in time")
        what = None
        if message.get("type") != "auth" or message.keys() != {"type", "access_token"}:
            what = f"no auth message: {message.get('type')!r} with {sorted(message)}"
        elif message["access_token"] != self.TOKEN:
            what = "another token"
        if what:
            session.breach(AUTHENTICATION, what)
        if what or self.revoked:
            self._failures += 1
            await session.send({"type": "auth_invalid", "message": "Invalid access token or password"})
            await session.close(1000)
            raise Ended
        await session.send({"type": "auth_ok", "ha_version": "2026.11.1"})

    def _fault(self, session: Session, message: dict[str, Any]) -> tuple[str, str, str] | None:
        """Return the error's code of a wrong message, the clause, and what is wrong."""
        number, kind = message.get("id"), message.get("type")
        if not _is_integer(number) or not isinstance(kind, str):
            return "invalid_format", FORMAT, f"the type {kind!r} and the id {number!r}"
        if number <= session.notes["last"]:
            return "id_reuse", IDENTIFIERS, f"{number} after {session.notes['last']}"
        if kind not in _FIELDS:
            return "unknown_command", COMMANDS, kind
        required, optional = _FIELDS[kind]
        fields = required | optional
        given = message.keys() - {"id", "type"}
        if wrong := [name for name in given if name not in fields or not fields[name](message[name])]:
            return "invalid_format", COMMANDS, f"{kind} with {wrong}"
        if missing := required.keys() - given:
            return "invalid_format", COMMANDS, f"{kind} without {sorted(missing)}"
        if kind == "supported_features" and session.notes["last"]:
            return "invalid_format", FEATURES, f"{kind} after {session.notes['last']}"
        if kind == "unsubscribe_events" and message["subscription"] not in session.notes["subscriptions"]:
            return "not_found", UNSUBSCRIBING, f"no subscription {message['subscription']}"
        return None

    async def _obey(self, session: Session, message: dict[str, Any]) -> None:
        number, kind = message["id"], message["type"]
        subscriptions = session.notes["subscriptions"]
        if kind == "ping":
            if self.answers_pings:
                await session.send({"id": number, "type": "pong"})
            return
        result: Any = None
        if kind == "subscribe_events":
            subscriptions[number] = message.get("event_type")
        elif kind == "subscribe_trigger":
            subscriptions[number] = "trigger"
        elif kind == "unsubscribe_events":
            del subscriptions[message["subscription"]]
        elif kind == "supported_features":
            session.notes["coalesces"] = bool(message["features"].get("coalesce_messages"))
        elif kind == "get_states":
            result = [{"entity_id": "light.bed_light", "state": "on"}]
        elif kind in ("call_service", "fire_event"):
            result = {"context": {"id": "326ef27d19415c60c492fe330945f954"}}
        elif kind.startswith("get_") or kind == "validate_config":
            result = {}
        await session.send({"id": number, "type": "result", "success": True, "result": result})
