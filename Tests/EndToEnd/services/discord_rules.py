"""The sessions of Discord's gateway, the clauses that its stand-in judges by, and what payloads hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_GATEWAY = "https://discord.com/developers/docs/events/gateway"
_EVENTS = "https://discord.com/developers/docs/events/gateway-events"
_STATUS = "https://discord.com/developers/docs/topics/opcodes-and-status-codes"
CODES = f"{_STATUS}, Gateway Close Event Codes: Reconnect"

CONNECTING = f"{_GATEWAY}, Connecting"
VERSION = f"{CODES}, 4012"
SENDING = f"{_GATEWAY}, Sending Events"
DECODE = f"{CODES}, 4002"
OPCODES = f"{CODES}, 4001"
NOT_AUTHENTICATED = f"{CODES}, 4003"
AUTHENTICATION = f"{CODES}, 4004"
ALREADY = f"{CODES}, 4005"
INVALID_INTENTS = f"{CODES}, 4013"
DISALLOWED_INTENTS = f"{CODES}, 4014"
RATE = f"{_GATEWAY}, Rate Limiting"
HEARTBEAT_INTERVAL = f"{_GATEWAY}, Heartbeat Interval"
HEARTBEAT_DATA = f"{_EVENTS}, Heartbeat"
HEARTBEAT_REQUESTS = f"{_GATEWAY}, Heartbeat Requests"
ZOMBIE = f"{_GATEWAY}, Heartbeat Interval: zombied connections, and Initiating a Disconnect"
IDENTIFY = f"{_EVENTS}, Identify Structure"
IDENTIFIES = f"{_GATEWAY}, Identifying: 1000 calls in 24 hours"
RESUME = f"{_EVENTS}, Resume Structure"
RESUMING = f"{_GATEWAY}, Resuming"
RESUME_URL = f"{_GATEWAY}, Preparing to Resume: resume_gateway_url and the same query parameters"
RESUME_SEQUENCE = f"{CODES}, 4007"
RECONNECT = f"{_EVENTS}, Reconnect"
INVALID_SESSION = f"{_EVENTS}, Invalid Session"

FINAL_CODES = {4004, 4010, 4011, 4012, 4013, 4014}
NEW_SESSION_CODES = {4007, 4009}

#: The bits from "List of Intents".
_INTENTS = sum(1 << bit for bit in (*range(17), 20, 21, 24, 25))

#: A close code, the clause and what is wrong.
Fault = tuple[int, str, str]


@dataclass
class Gateway:
    """What Discord calls a session, which outlives its connections."""

    id: str
    query: dict[str, list[str]]
    #: The number of the newest event, and all of them.
    sequence: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    #: The number up to which the client has got them for sure.
    got: int = 0
    #: Whether a client that comes back has to resume it, or must not; None where either will do.
    resumable: bool | None = True
    #: Whether the client knows that it has to resume, and so must not end the session with its connection.
    must_resume: bool = False

    def event(self, name: str, data: Any) -> dict[str, Any]:
        """Make the next event of the session."""
        self.sequence += 1
        event = {"op": 0, "d": data, "s": self.sequence, "t": name}
        self.events.append(event)
        return event

    def ready(self, resume_url: str) -> dict[str, Any]:
        """Make the event that begins the session."""
        return self.event(
            "READY",
            {
                "v": 10,
                "user": {"id": "1", "username": "fake", "discriminator": "0000", "avatar": None, "bot": True},
                "guilds": [],
                "session_id": self.id,
                "resume_gateway_url": resume_url,
                "application": {"id": "1", "flags": 0},
            },
        )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def identify_fault(data: Any, token: str, disallowed_intents: int) -> Fault | None:
    """Return what is wrong with the data of an Identify."""
    if not isinstance(data, dict):
        return 4001, IDENTIFY, f"no object: {data!r}"
    if data.get("token") != token:
        return 4004, AUTHENTICATION, "another token"
    optional = {
        "compress": lambda value: isinstance(value, bool),
        "large_threshold": lambda value: _is_integer(value) and 50 <= value <= 250,
        "shard": lambda value: (
            isinstance(value, list) and len(value) == 2 and all(_is_integer(each) for each in value)
        ),
        "presence": lambda value: isinstance(value, dict),
    }
    for name, value in data.items():
        if name not in {"token", "properties", "intents", *optional}:
            return 4001, IDENTIFY, f"there is no {name}"
        if name in optional and not optional[name](value):
            return 4001, IDENTIFY, f"{name} cannot be {value!r}"
    properties = data.get("properties")
    if not isinstance(properties, dict) or any(
        not isinstance(properties.get(name), str) for name in ("os", "browser", "device")
    ):
        return 4001, IDENTIFY, f"properties cannot be {properties!r}"
    intents = data.get("intents")
    if not _is_integer(intents):
        return 4001, IDENTIFY, f"intents cannot be {intents!r}"
    if intents & ~_INTENTS:
        return 4013, INVALID_INTENTS, f"{intents}"
    if intents & disallowed_intents:
        return 4014, DISALLOWED_INTENTS, f"{intents & disallowed_intents}"
    return None


def resume_fault(data: Any, token: str) -> Fault | None:
    """Return what is wrong with the form of a Resume."""
    if not isinstance(data, dict) or data.keys() != {"token", "session_id", "seq"}:
        return 4001, RESUME, f"a Resume with {data!r}"
    if data["token"] != token:
        return 4004, AUTHENTICATION, "another token"
    if not isinstance(data["session_id"], str) or not _is_integer(data["seq"]):
        return 4001, RESUME, f"a Resume with {data!r}"
    return None
