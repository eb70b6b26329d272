"""A parser of event streams, written from the WHATWG HTML standard, §9.2.6."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Event:
    """What a script in a browser would see of one event."""

    type: str
    data: str
    id: str


class EventSourceParser:
    """Takes the body in pieces of any size and gives the events that became complete."""

    def __init__(self) -> None:
        #: The last `retry:` in milliseconds, as the standard accepts it.
        self.retry: int | None = None
        self.last_event_id = ""
        self._bytes = bytearray()
        self._searched = 0
        self._started = False
        self._type = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, piece: bytes) -> list[Event]:
        self._bytes += piece
        events = []
        at = 0
        while match := _LINE_END.search(self._bytes, max(at, self._searched)):
            if match[0] == b"\r" and match.end() == len(self._bytes):
                break  # whether an LF belongs to it shows with the next byte
            line = bytes(self._bytes[at : match.start()])
            at = match.end()
            event = self._line(line)
            if event:
                events.append(event)
        del self._bytes[:at]
        self._searched = max(0, len(self._bytes) - 1)
        return events

    def _line(self, raw: bytes) -> Event | None:
        # Strict, where the standard would replace: the bridge must never send what is not UTF-8.
        line = raw.decode("utf-8")
        if not self._started:
            self._started = True
            line = line.removeprefix("\ufeff")
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and re.fullmatch(r"[0-9]+", value):
            self.retry = int(value)
        return None

    def _dispatch(self) -> Event | None:
        self.last_event_id = self._id
        event = Event(self._type or "message", "\n".join(self._data), self._id) if self._data else None
        self._type, self._data = "", []
        return event
