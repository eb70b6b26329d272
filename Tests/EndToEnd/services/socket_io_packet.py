"""Packets of Socket.IO, as its default parser writes them; section "Packet encoding" of the protocol."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

CONNECT, DISCONNECT, EVENT, ACK, ERROR, BINARY_EVENT, BINARY_ACK = range(7)

_FORM = re.compile(r"([0-6])(?:(\d+)-)?(?:(/[^,]*),)?(\d+)?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Packet:
    kind: int
    #: How many binary messages follow.
    attachments: int
    namespace: str
    identifier: int | None
    payload: Any


def decode(text: str) -> Packet | None:
    """Return the packet that a text is, less the 4 of Engine.IO; None if it is none."""
    if not (parts := _FORM.fullmatch(text)):
        return None
    kind, attachments, namespace, identifier, rest = parts.groups()
    is_binary = int(kind) in (BINARY_EVENT, BINARY_ACK)
    # The main namespace is not named.
    if (attachments is not None) is not is_binary or attachments == "0" or namespace == "/":
        return None
    try:
        payload = json.loads(rest) if rest else None
    except ValueError:
        return None
    number = None if identifier is None else int(identifier)
    return Packet(int(kind), int(attachments or 0), namespace or "/", number, payload)


def encode(kind: int, namespace: str, payload: Any, identifier: int | None) -> tuple[str, list[bytes]]:
    """Return the text of a packet, less the 4 of Engine.IO, and the binary messages that follow it."""
    attachments: list[bytes] = []
    payload = _emptied(payload, attachments)
    # BINARY_EVENT is EVENT + 3, as BINARY_ACK is ACK + 3.
    start = f"{kind + 3}{len(attachments)}-" if attachments else f"{kind}"
    name = "" if namespace == "/" else f"{namespace},"
    number = "" if identifier is None else str(identifier)
    text = "" if payload is None else json.dumps(payload, separators=(",", ":"))
    return start + name + number + text, attachments


def _emptied(value: Any, attachments: list[bytes]) -> Any:
    """Return the value with placeholders for what is bytes, which is moved to `attachments`."""
    if isinstance(value, bytes):
        attachments.append(value)
        return {"_placeholder": True, "num": len(attachments) - 1}
    if isinstance(value, list):
        return [_emptied(each, attachments) for each in value]
    if isinstance(value, dict):
        return {key: _emptied(each, attachments) for key, each in value.items()}
    return value


def filled(value: Any, attachments: list[bytes], used: list[int]) -> Any:
    """Return the value with attachments for its placeholders, whose numbers are added to `used`."""
    if isinstance(value, list):
        return [filled(each, attachments, used) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("_placeholder") is not True:
        return {key: filled(each, attachments, used) for key, each in value.items()}
    number = value.get("num")
    is_right = isinstance(number, int) and 0 <= number < len(attachments)
    used.append(number if is_right else -1)
    return attachments[number] if is_right else None
