"""A strict stand-in for Discord's gateway."""

from __future__ import annotations

import contextlib
import json
import time
import zlib
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

from . import discord_rules as rules
from .discord_rules import Gateway
from .service import Ended, Service, Session


class Discord(Service):
    """The gateway at `url`; sessions are resumed at another host name, which READY tells.

    Checked are

    - version and encoding in the URL's query, on resuming those of the first connection at the host for it;
    - that each message is JSON text of at most 4096 bytes with a known opcode and its data, and their rate;
    - heartbeats: the first within the interval, each other within one of the one before, and when asked for;
      their data, the number of the newest event that has come; that a connection without acknowledgements
      is left, and not with 1000 or 1001;
    - Identify: token, intents, properties; once, before anything else, and not where the session can be
      resumed; how many there are in a day;
    - Resume: token, session and a number that agrees with what was sent; and not after the session was
      declared invalid, or closed with a code that asks for a new one;
    - that a client that is told to reconnect is back in time and has not ended the session with 1000 or 1001;
    - that nobody comes back after a final close code.
    """

    path: ClassVar[str] = "/?v=10&encoding=json"
    TOKEN: ClassVar[str] = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"

    def __init__(
        self,
        *,
        heartbeat_interval: float = 45,
        tolerance: float = 5,
        return_within: float = 10,
        most_messages: tuple[int, float] = (120, 60),
        most_identifies: tuple[int, float] = (1000, 86400),
        disallowed_intents: int = 0,
    ):
        """Times are in seconds; a heartbeat is late after the interval and the tolerance."""
        self.heartbeat_interval = heartbeat_interval
        self.tolerance = tolerance
        self.return_within = return_within
        self.most_messages = most_messages
        self.most_identifies = most_identifies
        self.disallowed_intents = disallowed_intents
        #: Whether heartbeats are acknowledged.
        self.acknowledges = True
        self.gateways: list[Gateway] = []
        #: What clients did: `identify`, `resume`.
        self.order: list[str] = []
        self._identifies: list[float] = []
        self._final: int | None = None
        super().__init__()

    @property
    def resume_url(self) -> str:
        return f"ws://localhost:{self.port}"

    # What tests do

    def dispatch(self, name: str, data: Any) -> int:
        """Send an event to the newest session, or keep it until that is resumed; return its number."""

        async def dispatch() -> int:
            gateway = self.gateways[-1]
            event = gateway.event(name, data)
            if session := self._connected():
                with contextlib.suppress(Ended):
                    await self._tell(session, event)
            return event["s"]

        return self.run(dispatch())

    def ask_for_heartbeat(self) -> None:
        async def ask() -> None:
            session = self._connected()
            assert session
            count = session.notes["beats"]
            await self._tell(session, {"op": 1, "d": None})
            self.after(self.tolerance, lambda: judge(session, count))

        def judge(session: Session, count: int) -> None:
            if session.is_open and session.notes["beats"] == count:
                session.breach(rules.HEARTBEAT_REQUESTS, "no heartbeat follows the one that asks for it")

        self.run(ask())

    def reconnect(self) -> None:
        """Ask the client to reconnect and resume."""
        self._expel({"op": 7, "d": None}, True)

    def invalidate(self, resumable: bool = False) -> None:
        """Tell the client that its session is invalid, and whether it can be resumed all the same."""
        self._expel({"op": 9, "d": resumable}, resumable)

    def _expel(self, message: dict[str, Any], resumable: bool) -> None:
        async def expel() -> None:
            session = self._connected()
            assert session
            gateway = session.notes["gateway"]
            gateway.resumable = gateway.must_resume = resumable
            session.notes["expelled"] = True
            await self._tell(session, message)
            self.after(self.return_within, lambda: judge(session))

        def judge(session: Session) -> None:
            later = self.sessions[session.number + 1 :]
            if session.is_open or not any("gateway" in each.notes for each in later):
                clause = rules.INVALID_SESSION if message["op"] == 9 else rules.RECONNECT
                session.breach(clause, "the client is not back with another connection")

        self.run(expel())

    # What is judged

    def admit(self, request: Request) -> tuple[int, str] | None:
        if self._final:
            self.breach(rules.CODES, f"the client is back after {self._final}")
            return 403, "do not reconnect"
        if urlsplit(request.path).path != "/":
            self.breach(rules.CONNECTING, f"there is nothing at {request.path}")
            return 404, "no gateway"
        return None

    async def converse(self, session: Session) -> None:
        query = parse_qs(urlsplit(session.request.path).query)
        if query.get("compress") == ["zlib-stream"]:
            session.notes["deflate"] = zlib.compressobj()
        session.notes.update(query=query, beats=0, unanswered=0, times=[])
        if query.get("v") != ["10"]:
            await session.refuse(4012, rules.VERSION, f"version {query.get('v')}")
        if query.get("encoding") != ["json"]:
            await session.refuse(4002, rules.CONNECTING, f"encoding {query.get('encoding')}")
        await self._tell(
            session, {"op": 10, "d": {"heartbeat_interval": int(self.heartbeat_interval * 1000)}}
        )
        session.notes["beat"] = time.monotonic()
        while True:
            due = session.notes["beat"] + self.heartbeat_interval + self.tolerance
            try:
                message = await session.receive_object(4002, rules.DECODE, due - time.monotonic())
            except TimeoutError:
                await session.refuse(4000, rules.HEARTBEAT_INTERVAL, "no heartbeat in time")
            await self._judge_size_and_rate(session)
            await self._obey(session, message.get("op"), message.get("d"))
            self.changed()

    async def _judge_size_and_rate(self, session: Session) -> None:
        message = session.received[-1]
        if len(message.encode() if isinstance(message, str) else message) > 4096:
            await session.refuse(4002, rules.SENDING, "a message of more than 4096 bytes")
        most, span = self.most_messages
        times = session.notes["times"]
        times.append(time.monotonic())
        if sum(times[-1] - then < span for then in times) > most:
            await session.refuse(4008, rules.RATE, f"more than {most} messages in {span} s")

    async def _obey(self, session: Session, op: Any, data: Any) -> None:
        if op == 1:
            await self._heartbeat(session, data)
        elif op == 2:
            await self._identify(session, data)
        elif op == 6:
            await self._resume(session, data)
        elif op not in (3, 4, 8, 31, 43) or isinstance(op, bool) or not isinstance(data, dict):
            await session.refuse(4001, rules.OPCODES, f"opcode {op!r} with {data!r}")
        elif "gateway" not in session.notes:
            await session.refuse(4003, rules.NOT_AUTHENTICATED, f"opcode {op} before Identify")

    async def _heartbeat(self, session: Session, number: Any) -> None:
        notes = session.notes
        notes["beat"] = time.monotonic()
        notes["beats"] += 1
        gateway: Gateway | None = notes.get("gateway")
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            await session.refuse(4002, rules.HEARTBEAT_DATA, f"a heartbeat with {number!r}")
        if gateway is None:
            # Nothing has come yet, but for what came over connections before.
            right = number is None or bool(self.gateways)
        else:
            right = gateway.got <= (number or 0) <= gateway.sequence
        if not right:
            session.breach(rules.HEARTBEAT_DATA, f"a heartbeat with {number}, {gateway}")
        if not self.acknowledges:
            notes["unanswered"] += 1
            if gateway:
                gateway.must_resume = True
            if notes["unanswered"] > 2:
                session.breach(rules.ZOMBIE, "heartbeats go on without acknowledgements")
            return
        await self._tell(session, {"op": 11})
        if gateway:
            # A heartbeat may have crossed this answer, so only the answer after it proves what has come.
            gateway.got = max(gateway.got, notes.get("answered", 0))
            notes["answered"] = gateway.sequence

    async def _identify(self, session: Session, data: Any) -> None:
        if "gateway" in session.notes:
            clause = rules.INVALID_SESSION if session.notes.get("expelled") else rules.ALREADY
            await session.refuse(4005, clause, "Identify again on the same connection")
        if fault := rules.identify_fault(data, self.TOKEN, self.disallowed_intents):
            await session.refuse(*fault)
        self._identifies.append(time.monotonic())
        most, span = self.most_identifies
        if sum(self._identifies[-1] - then < span for then in self._identifies) > most:
            session.breach(rules.IDENTIFIES, f"more than {most} in {span} s")
        if self.gateways and self.gateways[-1].resumable:
            session.breach(rules.RESUMING, "Identify in place of Resume")
        if self._is_at_resume_url(session):
            session.breach(rules.CONNECTING, "Identify at the URL for resuming")
        gateway = session.notes["gateway"] = Gateway(f"session-{len(self.gateways)}", session.notes["query"])
        self.gateways.append(gateway)
        self.order.append("identify")
        await self._tell(session, gateway.ready(self.resume_url))

    async def _resume(self, session: Session, data: Any) -> None:
        if "gateway" in session.notes:
            await session.refuse(4005, rules.ALREADY, "Resume on a connection that has its session")
        if fault := rules.resume_fault(data, self.TOKEN):
            await session.refuse(*fault)
        gateway = next((each for each in self.gateways if each.id == data["session_id"]), None)
        if gateway is None or gateway.resumable is False:
            session.breach(rules.INVALID_SESSION, f"Resume of {data['session_id']}, which is over")
            await self._tell(session, {"op": 9, "d": False})
            return
        if not gateway.got <= data["seq"] <= gateway.sequence:
            await session.refuse(4007, rules.RESUME_SEQUENCE, f"{data['seq']}, {gateway}")
        if not self._is_at_resume_url(session):
            session.breach(rules.RESUME_URL, f"Resume at {session.request.headers['Host']}")
        if session.notes["query"] != gateway.query:
            session.breach(rules.RESUME_URL, f"Resume with another query: {session.request.path}")
        gateway.got, gateway.resumable, gateway.must_resume = data["seq"], True, False
        session.notes["gateway"] = gateway
        self.order.append("resume")
        for event in [each for each in gateway.events if each["s"] > data["seq"]]:
            await self._tell(session, event)
        await self._tell(session, gateway.event("RESUMED", {}))

    def left(self, session: Session) -> None:
        gateway: Gateway | None = session.notes.get("gateway")
        code = session.closed_with
        if code in rules.FINAL_CODES:
            self._final = code
        elif gateway and code in rules.NEW_SESSION_CODES:
            gateway.resumable = False
        elif gateway and code is None and session.close_frame and session.close_frame[0] in (1000, 1001):
            if gateway.must_resume:
                session.breach(rules.ZOMBIE, f"the client ends its session with {session.close_frame[0]}")
            gateway.resumable = False

    def _is_at_resume_url(self, session: Session) -> bool:
        return session.request.headers["Host"].partition(":")[0] == "localhost"

    def _connected(self) -> Session | None:
        """The connection of the newest session, if it has one."""
        gateway = self.gateways[-1]
        return next((s for s in self.sessions if s.is_open and s.notes.get("gateway") is gateway), None)

    async def _tell(self, session: Session, message: dict[str, Any]) -> None:
        text = json.dumps({"t": None, "s": None, **message}, separators=(",", ":"))
        if deflate := session.notes.get("deflate"):
            await session.send(deflate.compress(text.encode()) + deflate.flush(zlib.Z_SYNC_FLUSH))
        else:
            await session.send(text)
