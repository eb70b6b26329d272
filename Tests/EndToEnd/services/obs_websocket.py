"""A strict stand-in for OBS Studio's obs-websocket 5."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any, ClassVar, NoReturn

from websockets.http11 import Request

from .service import Ended, Service, Session

_PROTOCOL = "https://github.com/obsproject/obs-websocket/blob/master/docs/generated/protocol.md"

ENCODING = f"{_PROTOCOL}, Connection Notes: text with obswebsocket.json (4002)"
BASE = f"{_PROTOCOL}, Message Types: the base object"
OPCODES = f"{_PROTOCOL}, WebSocketCloseCode::UnknownOpCode (4006)"
BEFORE_IDENTIFIED = f"{_PROTOCOL}, Connection Notes: a single Identify before Identified (4007)"
IDENTIFY = f"{_PROTOCOL}, Identify (OpCode 1)"
AUTHENTICATION = f"{_PROTOCOL}, Creating an authentication string (4009)"
RPC_VERSION = f"{_PROTOCOL}, Connection steps: rpcVersion (4010)"
ALREADY = f"{_PROTOCOL}, WebSocketCloseCode::AlreadyIdentified (4008)"
REIDENTIFY = f"{_PROTOCOL}, Reidentify (OpCode 3)"
REQUEST = f"{_PROTOCOL}, Request (OpCode 6)"
BATCH = f"{_PROTOCOL}, RequestBatch (OpCode 8)"
KICKED = f"{_PROTOCOL}, WebSocketCloseCode::SessionInvalidated (4011): you must not automatically reconnect"

#: EventSubscription::All: every event but those of high volume.
ALL_EVENTS = 2047


def authentication(password: str, salt: str, challenge: str) -> str:
    """Return the string that proves a password."""

    def hashed(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return hashed(hashed(password + salt) + challenge)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class OBSWebSocket(Service):
    """OBS Studio with `obswebsocket.json` alone; it needs a password unless that is empty.

    Checked are

    - that all is text, and a JSON object of a known `op` and an object `d`;
    - that nothing but one Identify comes before Identified, and no other after;
    - Identify: the version, the string that proves the password for this connection's challenge, the mask of
      events, and nothing else;
    - Reidentify, requests and batches: what they hold, of the right types;
    - that a client that was kicked does not come back.
    """

    subprotocols: ClassVar[list[str] | None] = ["obswebsocket.json"]
    PASSWORD: ClassVar[str] = "supersecretpassword"

    def __init__(self, *, password: str = PASSWORD):
        self.password = password
        self.requests: list[dict[str, Any]] = []
        self._kicked = False
        super().__init__()

    # What tests do

    def event(self, kind: str, intent: int, data: Any = None) -> None:
        """Send an event to the clients that have subscribed to its intent."""

        async def send() -> None:
            event = {"eventType": kind, "eventIntent": intent}
            if data is not None:
                event["eventData"] = data
            for session in self.sessions:
                if session.is_open and session.notes.get("events", 0) & intent:
                    await session.send({"op": 5, "d": event})

        self.run(send())

    def kick(self) -> None:
        """Invalidate all sessions, as the button `Kick` does."""
        self._kicked = True
        self.close(4011, "Your session has been invalidated.")

    # What is judged

    def admit(self, request: Request) -> tuple[int, str] | None:
        if self._kicked:
            self.breach(KICKED, "a client is back")
            return 403, "kicked"
        return None

    async def converse(self, session: Session) -> None:
        hello: dict[str, Any] = {"obsWebSocketVersion": "5.6.3", "rpcVersion": 1}
        if self.password:
            salt, challenge = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
            session.notes["proof"] = authentication(self.password, salt, challenge)
            hello["authentication"] = {"challenge": challenge, "salt": salt}
        await session.send({"op": 0, "d": hello})
        while True:
            message = await session.receive_object(4002, ENCODING)
            op, data = message.get("op"), message.get("d")
            if not _is_number(op) or op not in (1, 3, 6, 8):
                await session.refuse(4006, OPCODES, f"op {op!r}")
            if not isinstance(data, dict):
                await session.refuse(4004 if "d" in message else 4003, BASE, f"d {data!r}")
            if message.keys() != {"op", "d"}:
                session.breach(BASE, f"{sorted(message)}")
            if op == 1:
                await self._identify(session, data)
            elif "events" not in session.notes:
                await session.refuse(4007, BEFORE_IDENTIFIED, f"op {op} before Identified")
            elif op == 3:
                await self._reidentify(session, data)
            elif op == 6:
                response = await self._respond(session, data, REQUEST)
                await session.send({"op": 7, "d": response})
            else:
                await self._batch(session, data)

    async def _identify(self, session: Session, data: dict[str, Any]) -> None:
        if "events" in session.notes:
            await session.refuse(4008, ALREADY, "Identify again")
        if "rpcVersion" not in data:
            await session.refuse(4003, IDENTIFY, "no rpcVersion")
        if not _is_number(data["rpcVersion"]):
            await session.refuse(4004, IDENTIFY, f"rpcVersion {data['rpcVersion']!r}")
        if data["rpcVersion"] != 1:
            await session.refuse(4010, RPC_VERSION, f"rpcVersion {data['rpcVersion']}")
        if data.keys() - {"rpcVersion", "authentication", "eventSubscriptions"}:
            session.breach(IDENTIFY, f"{sorted(data)}")
        if data.get("authentication") != session.notes.get("proof"):
            await session.refuse(4009, AUTHENTICATION, f"{data.get('authentication')!r}")
        await self._subscribe(session, data, IDENTIFY)

    async def _reidentify(self, session: Session, data: dict[str, Any]) -> None:
        if data.keys() - {"eventSubscriptions"}:
            session.breach(REIDENTIFY, f"{sorted(data)}")
        await self._subscribe(session, data, REIDENTIFY)

    async def _subscribe(self, session: Session, data: dict[str, Any], clause: str) -> None:
        events = data.get("eventSubscriptions", ALL_EVENTS)
        if not _is_number(events):
            await session.refuse(4004, clause, f"eventSubscriptions {events!r}")
        session.notes["events"] = events
        await session.send({"op": 2, "d": {"negotiatedRpcVersion": 1}})
        self.changed()

    async def _respond(self, session: Session, data: Any, clause: str) -> dict[str, Any]:
        """Return the response to a request; one with `GetVersion` and others that begin with Get succeeds."""
        if not isinstance(data, dict):
            await self._refuse_type(session, clause, data)
        if clause == REQUEST and "requestId" not in data:
            await session.refuse(4003, clause, "no requestId")
        if not isinstance(data.get("requestId", ""), str):
            # OBS itself takes a number, and sends it back.
            session.breach(clause, f"requestId {data['requestId']!r}")
        if not isinstance(data.get("requestData", {}), dict):
            await self._refuse_type(session, clause, data["requestData"])
        known = {"requestType", "requestId", "requestData"}
        if clause == BATCH:
            known |= {"inputVariables", "outputVariables"}
        if data.keys() - known:
            session.breach(clause, f"{sorted(data)}")
        kind = data.get("requestType")
        response: dict[str, Any] = {"requestType": kind, "requestId": data.get("requestId")}
        if not isinstance(kind, str):
            session.breach(clause, f"requestType {kind!r}")
            return response | {"requestStatus": {"result": False, "code": 203}}
        self.requests.append(data)
        self.changed()
        if not kind.startswith(("Get", "Set")):
            return response | {"requestStatus": {"result": False, "code": 204, "comment": "unknown"}}
        result = {"responseData": data.get("requestData", {})} if kind.startswith("Get") else {}
        return response | {"requestStatus": {"result": True, "code": 100}} | result

    async def _batch(self, session: Session, data: dict[str, Any]) -> None:
        if "requestId" not in data or "requests" not in data:
            await session.refuse(4003, BATCH, f"{sorted(data)}")
        if not isinstance(data["requestId"], str) or not isinstance(data["requests"], list):
            await self._refuse_type(session, BATCH, data)
        if data.keys() - {"requestId", "requests", "haltOnFailure", "executionType", "variables"}:
            session.breach(BATCH, f"{sorted(data)}")
        results = []
        for each in data["requests"]:
            results.append(await self._respond(session, each, BATCH))
            if data.get("haltOnFailure") and not results[-1]["requestStatus"]["result"]:
                break
        await session.send({"op": 9, "d": {"requestId": data["requestId"], "results": results}})

    async def _refuse_type(self, session: Session, clause: str, value: Any) -> NoReturn:
        await session.refuse(4004, clause, f"the type of {value!r}")
        raise Ended
