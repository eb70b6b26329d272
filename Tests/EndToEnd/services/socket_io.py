"""A strict stand-in for a Socket.IO server: revision 5 of its protocol, on Engine.IO 4 over WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

from .service import Ended, Service, Session
from .socket_io_packet import (
    ACK,
    BINARY_ACK,
    CONNECT,
    DISCONNECT,
    ERROR,
    EVENT,
    Packet,
    decode,
    encode,
    filled,
)

ENGINE = "https://socket.io/docs/v4/engine-io-protocol/"
TRANSPORT = f"{ENGINE}#websocket"
PACKETS = f"{ENGINE}#protocol"
HEARTBEAT = f"{ENGINE}#heartbeat"
PROTOCOL = "https://socket.io/docs/v4/socket-io-protocol/"
CONNECTION = f"{PROTOCOL}#connection-to-a-namespace"
DATA = f"{PROTOCOL}#sending-and-receiving-data"
ACKNOWLEDGEMENT = f"{PROTOCOL}#acknowledgement"
FORMAT = f"{PROTOCOL}#format"
CONNECT_TIMEOUT = "https://socket.io/docs/v4/server-options/#connecttimeout"
RESERVED = "https://socket.io/docs/v4/emit-cheatsheet/#reserved-events"

_RESERVED = {"connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"}


class SocketIO(Service):
    """Acknowledges events, and emits what tests say; its rules:

    - the path is /socket.io/, EIO is 4, transport websocket, and there is no sid (TRANSPORT);
    - what comes are packets of the types message, pong and close (PACKETS); a pong, without payload, answers
      a ping, and does so within `ping_timeout` seconds (HEARTBEAT);
    - the first message connects to a namespace of `namespaces`, with `auth` (CONNECTION), within
      `connect_timeout` seconds (CONNECT_TIMEOUT); nothing else goes to a namespace before (CONNECTION);
    - messages have the form of the default parser, and as many binary ones follow as they announce (FORMAT);
    - an event is a list that begins with its name (DATA), which is not a reserved one (RESERVED);
    - an event with an id is acknowledged, by a list, within `ack_within` seconds, and nothing else is
      (ACKNOWLEDGEMENT).
    """

    path: ClassVar[str] = "/socket.io/?EIO=4&transport=websocket"

    def __init__(
        self,
        *,
        namespaces: Sequence[str] = ("/",),
        auth: Mapping[str, Any] | None = None,
        ping_interval: float = 25,
        ping_timeout: float = 20,
        connect_timeout: float = 45,
        ack_within: float = 10,
    ):
        self._namespaces = namespaces
        self._auth = auth
        self._ping_interval = ping_interval
        self._ping_timeout = ping_timeout
        self._connect_timeout = connect_timeout
        self._ack_within = ack_within
        self._numbers = itertools.count()
        #: What clients emitted: namespace, and the list of name and arguments, bytes among them.
        self.events: list[tuple[str, list[Any]]] = []
        super().__init__()

    # What tests do

    def await_connection(self, namespace: str = "/", number: int = 0) -> Session:
        """Wait until connection `number` is connected to the namespace."""
        session = self.session(number)
        self.await_truth(
            lambda: namespace in session.notes.get("connected", ()),
            f"connection {number} connects to {namespace}",
        )
        return session

    def await_events(self, count: int) -> list[tuple[str, list[Any]]]:
        self.await_truth(lambda: len(self.events) >= count, f"{count} events")
        return self.events[:count]

    def emit(self, *event: Any, namespace: str = "/", ack: bool = False) -> None:
        """Emit an event, its name first, to all who are connected; arguments may be bytes."""

        async def emit() -> None:
            for session in self._connected(namespace):
                identifier = next(self._numbers) if ack else None
                if identifier is not None:
                    session.notes["unacknowledged"].add(identifier)
                    session.alongside(self._expect_acknowledgement(session, identifier))
                with contextlib.suppress(Ended):
                    await _send(session, EVENT, namespace, list(event), identifier)

        self.run(emit())

    def disconnect(self, namespace: str = "/") -> None:
        """Disconnect all from the namespace; the connections stay."""

        async def disconnect() -> None:
            for session in self._connected(namespace):
                session.notes["connected"].discard(namespace)
                with contextlib.suppress(Ended):
                    await _send(session, DISCONNECT, namespace)

        self.run(disconnect())

    def _connected(self, namespace: str) -> list[Session]:
        return [
            each for each in self.sessions if each.is_open and namespace in each.notes.get("connected", ())
        ]

    # The service

    def admit(self, request: Request) -> tuple[int, str] | None:
        target = urlsplit(request.path)
        query = parse_qs(target.query)
        if target.path != "/socket.io/":
            self.breach(TRANSPORT, f"the path is {target.path}")
        elif query.get("EIO") != ["4"] or query.get("transport") != ["websocket"] or "sid" in query:
            self.breach(TRANSPORT, f"the query is {target.query}")
        else:
            return None
        return 400, "bad request"

    async def converse(self, session: Session) -> None:
        session.notes |= {"connected": set(), "unacknowledged": set(), "pinged": None, "binary": None}
        opening = {
            "sid": f"lv_VI97HAXpY6yYW{next(self._numbers):04}",
            "upgrades": [],
            "pingInterval": round(self._ping_interval * 1000),
            "pingTimeout": round(self._ping_timeout * 1000),
            "maxPayload": 1_000_000,
        }
        await session.send(f"0{json.dumps(opening, separators=(',', ':'))}")
        session.alongside(self._keep_pinging(session))
        deadline = time.monotonic() + self._connect_timeout
        while True:
            limit = None if session.notes["connected"] else max(deadline - time.monotonic(), 0)
            try:
                message = await session.receive(limit)
            except TimeoutError:
                await session.refuse(1000, CONNECT_TIMEOUT, f"no connection for {self._connect_timeout} s")
            else:
                await self._take(session, message)
                self.changed()

    async def _keep_pinging(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self._ping_interval)
            pong = session.notes["pinged"] = asyncio.Event()
            await session.send("2")
            try:
                async with asyncio.timeout(self._ping_timeout):
                    await pong.wait()
            except TimeoutError:
                await session.refuse(1000, HEARTBEAT, "ping timeout")

    async def _expect_acknowledgement(self, session: Session, identifier: int) -> None:
        await asyncio.sleep(self._ack_within)
        if identifier in session.notes["unacknowledged"]:
            session.breach(ACKNOWLEDGEMENT, f"the event with the id {identifier} is not acknowledged")

    async def _take(self, session: Session, message: str | bytes) -> None:
        binary: tuple[Packet, list[bytes]] | None = session.notes["binary"]
        if isinstance(message, bytes):
            if binary is None:
                return await session.refuse(1000, FORMAT, "bytes that no packet announced")
            binary[1].append(message)
            return await self._take_attached(session, *binary)
        match message[:1], message[1:]:
            case "4", rest:
                if binary is not None:
                    return await session.refuse(1000, FORMAT, "a packet between another and its attachments")
                return await self._take_packet(session, rest)
            case "3", "":
                pong, session.notes["pinged"] = session.notes["pinged"], None
                if pong is None:
                    return await session.refuse(1000, HEARTBEAT, "a pong that nobody asked for")
                return pong.set()
            case "1", "":
                await session.close(1000)
                raise Ended
            case (("2" | "3"), _):
                return await session.refuse(
                    1000, HEARTBEAT, f"clients send pongs without payload: {message!r}"
                )
        return await session.refuse(1000, PACKETS, f"clients send no such packet: {message!r}")

    async def _take_packet(self, session: Session, encoded: str) -> None:
        packet = decode(encoded)
        if packet is None:
            return await session.refuse(1000, FORMAT, f"not a packet: {encoded!r}")
        connected: set[str] = session.notes["connected"]
        if packet.kind == CONNECT:
            return await self._connect(session, packet)
        if packet.namespace not in connected:
            if not connected:
                return await session.refuse(1000, CONNECTION, "the first packet does not connect")
            return session.breach(CONNECTION, f"a packet to {packet.namespace} before the connection to it")
        if packet.kind == DISCONNECT:
            return connected.discard(packet.namespace)
        if packet.attachments:
            session.notes["binary"] = (packet, [])
            return None
        return await self._take_data(session, packet)

    async def _connect(self, session: Session, packet: Packet) -> None:
        fault = None
        if packet.namespace not in self._namespaces:
            fault = "Invalid namespace"
        elif packet.identifier is not None or not isinstance(packet.payload, dict | None):
            fault = "Invalid payload"
        elif (packet.payload or {}) != dict(self._auth or {}):
            fault = "Not authorized"
        if fault is not None:
            session.breach(CONNECTION, f"{fault}: {packet}")
            return await _send(session, ERROR, packet.namespace, {"message": fault})
        session.notes["connected"].add(packet.namespace)
        return await _send(
            session, CONNECT, packet.namespace, {"sid": f"wZX3oN0bSVIh{next(self._numbers):04}"}
        )

    async def _take_attached(self, session: Session, packet: Packet, attachments: list[bytes]) -> None:
        if len(attachments) < packet.attachments:
            return
        session.notes["binary"] = None
        used: list[int] = []
        payload = filled(packet.payload, attachments, used)
        if sorted(used) != list(range(packet.attachments)):
            await session.refuse(1000, FORMAT, f"placeholders {used} for {packet.attachments} attachments")
        await self._take_data(session, replace(packet, payload=payload))

    async def _take_data(self, session: Session, packet: Packet) -> None:
        if packet.kind in (ACK, BINARY_ACK):
            if (
                not isinstance(packet.payload, list)
                or packet.identifier not in session.notes["unacknowledged"]
            ):
                session.breach(ACKNOWLEDGEMENT, f"not an acknowledgement that was asked for: {packet}")
            return session.notes["unacknowledged"].discard(packet.identifier)
        if packet.kind == ERROR:
            return await session.refuse(1000, CONNECTION, "clients do not refuse connections")
        if (
            not isinstance(packet.payload, list)
            or not packet.payload
            or not isinstance(packet.payload[0], str)
        ):
            return await session.refuse(1000, DATA, f"not an event: {packet.payload!r}")
        if packet.payload[0] in _RESERVED:
            return await session.refuse(1000, RESERVED, f"a reserved name: {packet.payload[0]}")
        self.events.append((packet.namespace, packet.payload))
        if packet.identifier is not None:
            await _send(session, ACK, packet.namespace, packet.payload[1:], packet.identifier)
        return None


async def _send(
    session: Session, kind: int, namespace: str, payload: Any = None, identifier: int | None = None
) -> None:
    text, attachments = encode(kind, namespace, payload, identifier)
    await session.send(f"4{text}")
    for each in attachments:
        await session.send(each)
