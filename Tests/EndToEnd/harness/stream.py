"""A subscriber: an open event stream."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from .event_source import Event, EventSourceParser
from .http1 import Body, Client, Response, parse_head
from .patience import Deadline


class Stream:
    """`GET` of an event stream on a connection of its own, read only when asked to.

    Between the calls nothing is read, so that a test can be a slow subscriber by doing nothing.
    """

    def __init__(
        self,
        address: tuple[str, int],
        target: str = "/events",
        fields: dict[str, str] | None = None,
        *,
        version: str = "HTTP/1.1",
        receive_buffer: int | None = None,
        keep_raw: bool = False,
    ):
        self.client = Client(address, receive_buffer=receive_buffer)
        self.client.send_head("GET", target, fields, version)
        deadline = Deadline(f"the head of {target}")
        self.head = parse_head(self.client.wire.take_through(b"\r\n\r\n", deadline)[:-4])
        self.body = Body(self.client.wire, self.head, "GET")
        self.parser = EventSourceParser()
        #: The decoded body so far, if asked for.
        self.raw: bytearray | None = bytearray() if keep_raw else None
        self._events: deque[Event] = deque()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def opened(self) -> Stream:
        """Wait until the stream has begun, which it does at once by telling its `retry:`."""
        assert self.head.status == 200, self.refusal()
        deadline = Deadline("the stream's `retry:`")
        while self.parser.retry is None:
            assert self._read(deadline), "the stream ended before it began"
        return self

    def refusal(self) -> Response:
        """Return the answer as a whole, where it is not a stream."""
        return Response(self.head, self.body.rest(Deadline("the rest of the answer")))

    def next(self) -> Event:
        deadline = Deadline("the next event")
        while not self._events:
            assert self._read(deadline), "the stream ended while an event was awaited"
        return self._events.popleft()

    def take(self, count: int) -> list[Event]:
        return [self.next() for _ in range(count)]

    def until(self, type: str) -> tuple[list[Event], Event]:
        """Return the events before the first of this type, and that one."""
        before = []
        while (event := self.next()).type != type:
            before.append(event)
        return before, event

    def statuses(self) -> Iterator[dict[str, Any]]:
        """Give the status records one by one, passing over messages."""
        while True:
            _, event = self.until("status")
            yield json.loads(event.data)

    def until_status(self, type: str) -> dict[str, Any]:
        """Read up to the first status record of this type and return its data."""
        return next(status for status in self.statuses() if status["type"] == type)

    def until_cursor(self, id: str) -> None:
        """Read until the stream stands at this id, be it without an event."""
        deadline = Deadline(f"the id {id}")
        while self.parser.last_event_id != id:
            assert self._read(deadline), "the stream ended before it got there"

    def until_comments(self, count: int) -> None:
        """Read until there were so many comments since the stream began; it has to keep what is raw."""
        deadline = Deadline(f"comment {count}")
        assert self.raw is not None
        while len(re.findall(rb"^:", self.raw, re.MULTILINE)) < count:
            assert self._read(deadline), "the stream ended before"

    def rest(self) -> list[Event]:
        """Read to the end of the body, which must be a clean one, and return the events left."""
        deadline = Deadline("the end of the stream")
        while self._read(deadline):
            pass
        assert self.body.ended
        events = list(self._events)
        self._events.clear()
        return events

    def close(self) -> None:
        self.client.wire.close()

    def _read(self, deadline: Deadline) -> bool:
        piece = self.body.piece(deadline)
        if self.raw is not None:
            self.raw += piece
        self._events.extend(self.parser.feed(piece))
        return bool(piece)
