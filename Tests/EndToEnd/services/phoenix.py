"""A strict stand-in for the channels of a Phoenix application, with the serializer of version 2."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

from .service import Ended, Service, Session

GUIDE = "https://hexdocs.pm/phoenix/writing_a_channels_client.html"
CONNECTING = f"{GUIDE}#connecting"
FORMAT = f"{GUIDE}#message-format"
SOURCES = "https://github.com/phoenixframework/phoenix/blob/main/assets/js/phoenix"
TOKEN = f"{SOURCES}/socket.js transportConnect"
BINARY = f"{SOURCES}/serializer.js binaryEncode"
REJOIN = f"{SOURCES}/channel.js onError"

_PREFIX = "base64url.bearer.phx."


class Phoenix(Service):
    """Serves channels that answer each message, and push what tests say; its rules:

    - the path ends with /websocket, and the query has vsn=2.0.0 and what `query` lists (CONNECTING);
    - with a `token` the subprotocols are `phoenix` and the token in base64 without padding (TOKEN);
    - a message is a list of join_ref, ref, topic, event and payload, an object (FORMAT), or has the binary
      form of that (BINARY);
    - a ref is a string that no earlier message of the connection had; so is the join_ref of a `phx_join`; of
      other messages it is null or that of the topic's join (FORMAT);
    - topics are those of `topics`, or `phoenix` for a heartbeat, and are joined before anything else is sent
      to them (FORMAT), and again after they crashed, within `within` seconds, on this connection or a later
      one (REJOIN);
    - there are never more than `timeout` seconds without a message, for which heartbeats are (FORMAT);
    - every connection joins what `joins` lists, within `within` seconds (FORMAT).
    """

    path: ClassVar[str] = "/socket/websocket?vsn=2.0.0"

    def __init__(
        self,
        *,
        topics: Sequence[str] = ("room:lobby",),
        joins: Sequence[str] = (),
        within: float = 10,
        timeout: float = 60,
        token: str | None = None,
        query: Mapping[str, str] | None = None,
    ):
        self._topics = topics
        self._joins = joins
        self._within = within
        self._timeout = timeout
        self._token = token
        self._query = {"vsn": "2.0.0"} | dict(query or {})
        if token is not None:
            # Without a token nobody need offer one.
            self.subprotocols = ["phoenix"]  # type: ignore[misc]
        super().__init__()

    # What tests do

    def await_join(self, topic: str, number: int = 0) -> Session:
        """Wait until connection `number` has joined."""
        session = self.session(number)
        self.await_truth(
            lambda: topic in session.notes.get("joined", {}), f"connection {number} joins {topic}"
        )
        return session

    def broadcast(self, topic: str, event: str, payload: Any) -> None:
        """Tell all who joined, at once, as `broadcast` does, without a join_ref."""
        self._tell_all(topic, lambda _: [None, None, topic, event, payload])

    def push(self, topic: str, event: str, payload: Any) -> None:
        """Tell each who joined, as `push` does, with the join_ref."""
        self._tell_all(topic, lambda session: [session.notes["joined"][topic], None, topic, event, payload])

    def crash(self, topic: str) -> None:
        """Let the channel die of an error on every connection, which has to join it again."""

        def dies(session: Session) -> list[Any]:
            reference = session.notes["joined"].pop(topic)
            self.after(self._within, partial(self._judge_rejoin, session, topic))
            return [reference, reference, topic, "phx_error", {}]

        self._tell_all(topic, dies)

    def shut(self, topic: str) -> None:
        """Close the channel on every connection."""

        def closes(session: Session) -> list[Any]:
            reference = session.notes["joined"].pop(topic)
            return [reference, reference, topic, "phx_close", {}]

        self._tell_all(topic, closes)

    def _tell_all(self, topic: str, message: Callable[[Session], list[Any]]) -> None:
        async def tell_all() -> None:
            for session in self.sessions:
                if session.is_open and topic in session.notes.get("joined", {}):
                    with contextlib.suppress(Ended):
                        await session.send(message(session))

        self.run(tell_all())

    # The service

    def admit(self, request: Request) -> tuple[int, str] | None:
        target = urlsplit(request.path)
        if not target.path.endswith("/websocket"):
            self.breach(CONNECTING, f"the path does not end with /websocket: {target.path}")
            return 404, "not found"
        query = parse_qs(target.query)
        for name, value in self._query.items():
            if query.get(name) != [value]:
                self.breach(CONNECTING, f"{name} is {query.get(name)}")
                return 403, "forbidden"
        if self._token is not None:
            offered = [name.strip() for name in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
            encoded = base64.b64encode(self._token.encode()).decode().rstrip("=")
            if offered != ["phoenix", _PREFIX + encoded]:
                self.breach(TOKEN, f"the subprotocols are {offered}")
                return 403, "forbidden"
        return None

    async def converse(self, session: Session) -> None:
        session.notes |= {"joined": {}, "refs": set(), "join_refs": set()}
        if self._joins:
            session.alongside(self._expect_joins(session))
        while True:
            try:
                message = await session.receive(self._timeout)
            except TimeoutError:
                await session.refuse(1000, FORMAT, f"no message for {self._timeout} s, nor a heartbeat")
            else:
                await self._take(session, message)
                self.changed()

    async def _expect_joins(self, session: Session) -> None:
        await asyncio.sleep(self._within)
        for topic in set(self._joins) - set(session.notes["joined"]):
            session.breach(FORMAT, f"{topic} is not joined")

    def _judge_rejoin(self, session: Session, topic: str) -> None:
        if not any(topic in each.notes.get("joined", {}) for each in self.sessions[session.number :]):
            session.breach(REJOIN, f"{topic} crashed, and is not joined again")

    async def _take(self, session: Session, message: str | bytes) -> None:
        parsed = _unpack(message) if isinstance(message, bytes) else _parse(message)
        if parsed is None:
            session.breach(BINARY if isinstance(message, bytes) else FORMAT, f"not a message: {message!r}")
            return
        join_ref, ref, topic, event, payload = parsed
        self._judge_refs(session, join_ref, ref, topic, event)
        joined: dict[str, str] = session.notes["joined"]
        answer: tuple[str, Any] = ("ok", {})
        if topic == "phoenix":
            if (event, payload) != ("heartbeat", {}):
                session.breach(FORMAT, f"no heartbeat, but {event}: {payload}")
        elif event == "phx_join":
            answer = self._join(session, topic, join_ref)
        elif topic not in joined:
            session.breach(FORMAT, f"{event} to {topic}, which is not joined")
            answer = ("error", {"reason": "unmatched topic"})
        elif event == "phx_leave":
            join_ref = joined.pop(topic)
        elif not isinstance(payload, bytes):
            answer = ("ok", payload)
        status, response = answer
        await session.send([join_ref, ref, topic, "phx_reply", {"status": status, "response": response}])

    def _judge_refs(self, session: Session, join_ref: Any, ref: Any, topic: str, event: str) -> None:
        if not isinstance(ref, str) or not ref:
            session.breach(FORMAT, f"ref is {ref!r}")
        elif ref in session.notes["refs"]:
            session.breach(FORMAT, f"ref {ref} is that of an earlier message")
        session.notes["refs"].add(str(ref))
        if event == "phx_join":
            if not isinstance(join_ref, str) or not join_ref or join_ref in session.notes["join_refs"]:
                session.breach(FORMAT, f"join_ref is {join_ref!r}")
            session.notes["join_refs"].add(str(join_ref))
        elif join_ref is not None and join_ref != session.notes["joined"].get(topic, join_ref):
            session.breach(FORMAT, f"join_ref {join_ref!r} is not that of the join")

    def _join(self, session: Session, topic: str, join_ref: Any) -> tuple[str, Any]:
        if topic not in self._topics:
            session.breach(FORMAT, f"no such topic: {topic}")
            return "error", {"reason": "unmatched topic"}
        session.notes["joined"][topic] = join_ref
        return "ok", {}


def _parse(message: str) -> list[Any] | None:
    try:
        parsed = json.loads(message)
    except ValueError:
        return None
    if not isinstance(parsed, list) or len(parsed) != 5:
        return None
    _, _, topic, event, payload = parsed
    is_right = isinstance(topic, str) and isinstance(event, str) and isinstance(payload, dict)
    return parsed if is_right else None


def _unpack(message: bytes) -> list[Any] | None:
    """Return the parts of a binary push: its kind, four sizes, then what they measure, and the payload."""
    sizes = message[1:5]
    if len(sizes) < 4 or message[0] != 0 or len(message) < 5 + sum(sizes):
        return None
    parts: list[Any] = []
    offset = 5
    for size in sizes:
        parts.append(message[offset : offset + size].decode(errors="replace"))
        offset += size
    return [parts[0] or None, parts[1], parts[2], parts[3], message[offset:]]
