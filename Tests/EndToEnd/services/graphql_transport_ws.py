"""A strict stand-in for a GraphQL server that speaks `graphql-transport-ws`."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from .service import Service, Session

_PROTOCOL = "https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md"
_CODES = "https://github.com/enisdenjo/graphql-ws, CloseCode"

SUBPROTOCOL = f"{_PROTOCOL}, Communication: the sub-protocol, and {_CODES}.SubprotocolNotAcceptable (4406)"
CLOSING = f"{_PROTOCOL}, Communication: the client closes with 1000"
INIT_TIME = f"{_PROTOCOL}, ConnectionInit: connection initialisation timeout (4408)"
INIT_ONCE = f"{_PROTOCOL}, ConnectionInit: too many initialisation requests (4429)"
INIT_PAYLOAD = f"{_PROTOCOL}, ConnectionInit: a payload as agreed, and {_CODES}.Forbidden (4403)"
UNAUTHORIZED = f"{_PROTOCOL}, Subscribe: only after ConnectionAck (4401)"
SUBSCRIBER = f"{_PROTOCOL}, Subscribe: subscriber already exists (4409)"
SUBSCRIBE = f"{_PROTOCOL}, Subscribe, and Invalid message (4400)"
PONG = f"{_PROTOCOL}, Pong: must be sent as soon as the Ping is received"
INVALID = f"{_PROTOCOL}, Invalid message (4400)"
FATAL = "https://github.com/enisdenjo/graphql-ws, Client: fatal close codes are not retried"

#: After these the reference client does not come back.
FATAL_CODES = (4004, 4005, 4400, 4401, 4406, 4409, 4429, 4500)

#: Besides `type`: what a message must have, and what it may have.
_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "connection_init": (set(), {"payload"}),
    "ping": (set(), {"payload"}),
    "pong": (set(), {"payload"}),
    "subscribe": ({"id", "payload"}, set()),
    "complete": ({"id"}, set()),
}


class GraphQLTransportWS(Service):
    """A server whose subscriptions get what tests say, and whose queries and mutations get their variables.

    Checked are

    - the subprotocol;
    - that messages are JSON texts of the types and forms of the protocol;
    - that `connection_init` comes in time, once, with the payload that was agreed;
    - that operations come after `connection_ack`, with IDs that are free, and what they hold;
    - that each ping is answered in time;
    - that the client closes with 1000, and does not come back after a fatal close code.
    """

    subprotocols: ClassVar[list[str] | None] = ["graphql-transport-ws"]
    path: ClassVar[str] = "/graphql"

    def __init__(self, *, init_payload: Any = None, init_within: float = 3, pong_within: float = 5):
        """Times are in seconds; any payload will do where none is given."""
        self.init_payload = init_payload
        self.init_within = init_within
        self.pong_within = pong_within
        #: Whether the pings of clients are answered.
        self.answers_pings = True
        self.pings = 0
        self._fatal: int | None = None
        super().__init__()

    # What tests do

    def next(self, data: Any) -> None:
        """Send a result to every subscription."""
        self._publish([{"type": "next", "payload": {"data": data}}])

    def complete(self) -> None:
        """End every subscription."""
        self._publish([{"type": "complete"}], end=True)

    def fail(self, message: str) -> None:
        """End every subscription with an error."""
        self._publish([{"type": "error", "payload": [{"message": message}]}], end=True)

    def _publish(self, messages: list[dict[str, Any]], *, end: bool = False) -> None:
        async def publish() -> None:
            for session in self.sessions:
                for identifier in list(session.notes["operations"]) if session.is_open else []:
                    for message in messages:
                        await session.send({"id": identifier, **message})
                if end:
                    session.notes["operations"].clear()

        self.run(publish())

    def await_subscriptions(self, count: int = 1) -> None:
        """Wait until this many subscriptions are active, over all connections."""

        def active() -> int:
            return sum(len(each.notes.get("operations", ())) for each in self.sessions if each.is_open)

        self.await_truth(lambda: active() == count, f"{count} subscriptions")

    def ping(self, payload: Any = None) -> None:
        """Send a ping to every client, which has to answer each."""

        async def ping() -> None:
            for session in [each for each in self.sessions if each.is_open]:
                session.notes["pings"] += 1
                due = session.notes["pings"]
                await session.send({"type": "ping"} | ({"payload": payload} if payload else {}))
                self.after(self.pong_within, lambda session=session, due=due: judge(session, due))

        def judge(session: Session, due: int) -> None:
            if session.is_open and session.notes["pongs"] < due:
                session.breach(PONG, "a ping is not answered")

        self.run(ping())

    # What is judged

    async def converse(self, session: Session) -> None:
        session.notes.update(operations={}, pings=0, pongs=0)
        if self._fatal:
            session.breach(FATAL, f"a client is back after {self._fatal}")
        if session.subprotocol is None:
            offered = session.request.headers.get("Sec-WebSocket-Protocol")
            await session.refuse(4406, SUBPROTOCOL, f"offered: {offered}")
        deadline = asyncio.get_running_loop().time() + self.init_within
        while True:
            left = None
            if "acknowledged" not in session.notes:
                left = deadline - asyncio.get_running_loop().time()
            try:
                message = await session.receive_object(4400, INVALID, left)
            except TimeoutError:
                await session.refuse(4408, INIT_TIME, "no connection_init in time")
            await self._obey(session, message)
            self.changed()

    async def _obey(self, session: Session, message: dict[str, Any]) -> None:
        kind, notes = message.get("type"), session.notes
        if kind not in _FIELDS:
            await session.refuse(4400, INVALID, f"type {kind!r}")
        required, optional = _FIELDS[kind]
        fields = message.keys() - {"type"}
        if required - fields or fields - required - optional:
            await session.refuse(4400, INVALID, f"{kind} with {sorted(fields)}")
        if "id" in fields and (not isinstance(message["id"], str) or not message["id"]):
            await session.refuse(4400, INVALID, f"id {message['id']!r}")
        if not isinstance(message.get("payload"), dict | None):
            await session.refuse(4400, INVALID, f"payload {message['payload']!r}")
        if kind == "connection_init":
            if "acknowledged" in notes:
                await session.refuse(4429, INIT_ONCE, "connection_init again")
            if self.init_payload is not None and message.get("payload") != self.init_payload:
                await session.refuse(4403, INIT_PAYLOAD, f"payload {message.get('payload')!r}")
            notes["acknowledged"] = True
            await session.send({"type": "connection_ack"})
        elif kind == "ping":
            self.pings += 1
            if self.answers_pings:
                payload = {"payload": message["payload"]} if message.get("payload") else {}
                await session.send({"type": "pong"} | payload)
        elif kind == "pong":
            notes["pongs"] += 1
        elif kind == "subscribe":
            await self._subscribe(session, message["id"], message["payload"])
        else:
            # It may have crossed the end of the operation.
            notes["operations"].pop(message["id"], None)

    async def _subscribe(self, session: Session, identifier: str, payload: Any) -> None:
        if "acknowledged" not in session.notes:
            await session.refuse(4401, UNAUTHORIZED, "subscribe before connection_ack")
        kinds = {"operationName": str, "variables": dict, "extensions": dict}
        if (
            not isinstance(payload, dict)
            or not isinstance(payload.get("query"), str)
            or payload.keys() - {"query", *kinds}
            or not all(isinstance(payload.get(name), kind | None) for name, kind in kinds.items())
        ):
            await session.refuse(4400, SUBSCRIBE, f"payload {payload!r}")
        if identifier in session.notes["operations"]:
            await session.refuse(4409, SUBSCRIBER, f"id {identifier}")
        if payload["query"].lstrip().startswith("subscription"):
            session.notes["operations"][identifier] = payload
            return
        result = {"data": payload.get("variables") or {}}
        await session.send({"id": identifier, "type": "next", "payload": result})
        await session.send({"id": identifier, "type": "complete"})

    def left(self, session: Session) -> None:
        code = session.closed_with
        if code in FATAL_CODES:
            self._fatal = code
        if code is None and session.close_frame and session.close_frame[0] != 1000:
            session.breach(CLOSING, f"the client closes with {session.close_frame[0]}")
