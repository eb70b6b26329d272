"""A strict stand-in for Twitch's EventSub over WebSockets."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Frame, Opcode
from websockets.http11 import Request

from harness.web_server import WebAnswer, WebRequest, WebServer

from .service import Service, Session
from .twitch_helix import BODY, Fault, json_answer, read_subscription

_GUIDE = "https://dev.twitch.tv/docs/eventsub/handling-websocket-events"

PLACE = f"{_GUIDE}: wss://eventsub.wss.twitch.tv/ws"
KEEPALIVE_QUERY = f"{_GUIDE}: keepalive_timeout_seconds, whole integers between 10 and 600"
INBOUND = f"{_GUIDE}, Close message: 4001, client sent inbound traffic"
PONGS = f"{_GUIDE}, Close message: 4002, client failed ping-pong"
UNUSED = f"{_GUIDE}, Close message: 4003, connection unused"
GRACE = f"{_GUIDE}, Close message: 4004, reconnect grace time expired"
RECONNECT_URL = f"{_GUIDE}, Reconnect message: use the reconnect URL as is (4007)"
OLD_CONNECTION = f"{_GUIDE}, Reconnect message: close the old connection after the welcome on the new one"
CARRIED_OVER = f"{_GUIDE}, Reconnect message: the same subscriptions"
KEEPALIVE = f"{_GUIDE}, Keepalive message: assume that the connection is lost"
LIMITS = f"{_GUIDE}, Subscription limits"


class TwitchEventSub(Service):
    """EventSub's WebSocket server at `url`, and Helix at `helix_url`, where subscriptions are made.

    Checked are

    - path and query of the URL, and that a reconnect URL is used as it is, once;
    - that the client sends nothing but pongs and close frames;
    - that pings are answered in time;
    - that each connection gets a subscription in time, by POST with token, client ID and a right body that
      has the ID of an open session; that none is made twice, nor where a connection took over another's;
    - that a connection is replaced in time after `session_reconnect`, and closed by the client, but not
      before the welcome on the new one;
    - that a connection on which nothing comes any more, pings excepted, is given up;
    - that no more connections have subscriptions than allowed.
    """

    path: ClassVar[str] = "/ws"
    TOKEN: ClassVar[str] = "cfabdegwdoklmawdzdo98xt2fo512y"
    CLIENT_ID: ClassVar[str] = "uo6dggojyb8d6soh92zknwmi5ej1q2"

    def __init__(
        self,
        *,
        keepalive: float = 10,
        tolerance: float = 5,
        subscribe_within: float = 10,
        grace: float = 30,
        ping_every: float = 5,
        pong_within: float = 10,
        most_connections: int = 3,
    ):
        """Times are in seconds; `keepalive` is what the welcome tells, and how often keepalives come."""
        self.keepalive = keepalive
        self.tolerance = tolerance
        self.subscribe_within = subscribe_within
        self.grace = grace
        self.ping_every = ping_every
        self.pong_within = pong_within
        self.most_connections = most_connections
        #: What happened: `welcome` and `left` with the number of the connection.
        self.order: list[tuple[str, int]] = []
        self._silent = False
        self._numbers = itertools.count(1)
        #: The connections that are to be replaced, by the target of their reconnect URLs.
        self._replaced: dict[str, Session] = {}
        super().__init__()
        self._web = WebServer(self._answer)

    @property
    def helix_url(self) -> str:
        return f"{self._web.url}/helix/"

    def stop(self) -> None:
        self._web.stop()
        super().stop()

    # What tests do

    def session_id(self, number: int = 0) -> str:
        """Wait for the welcome on a connection, and return its session's ID."""
        self.await_truth(lambda: ("welcome", number) in self.order, f"the welcome on connection {number}")
        return self.sessions[number].notes["id"]

    def notify(self, kind: str, event: Any, *, twice: bool = False) -> None:
        """Send an event to the connections with subscriptions of this type."""

        async def notify() -> None:
            for session in self._open():
                for each in [s for s in session.notes["subscriptions"] if s["type"] == kind]:
                    message = self._message("notification", {"subscription": each, "event": event}, each)
                    for _ in range(1 + twice):
                        await session.send(message)

        self.run(notify())

    def revoke(self, kind: str, status: str = "authorization_revoked") -> None:
        """Revoke the subscriptions of this type."""

        async def revoke() -> None:
            for session in self._open():
                for each in [s for s in session.notes["subscriptions"] if s["type"] == kind]:
                    session.notes["subscriptions"].remove(each)
                    payload = {"subscription": each | {"status": status}}
                    await session.send(self._message("revocation", payload, each))

        self.run(revoke())

    def reconnect(self) -> None:
        """Ask the newest connection to reconnect at a URL of its own."""

        async def ask() -> None:
            session = self._open()[-1]
            target = f"/ws?challenge={next(self._numbers)}&id={session.notes['id']}%3D"
            self._replaced[target] = session
            session.notes["replaced by"] = None
            url = f"ws://127.0.0.1:{self.port}{target}"
            await session.send(
                self._message("session_reconnect", self._session(session, "reconnecting", url))
            )
            self.after(self.grace, lambda: self._judge_replacement(session))

        self.run(ask())

    def fall_silent(self) -> None:
        """Send nothing but pings any more on the connections there are, which have to be given up then."""

        async def fall_silent() -> None:
            for session in self._open():
                session.notes["silent"] = True
                self.after(self.keepalive + self.tolerance, lambda session=session: judge(session))

        def judge(session: Session) -> None:
            if session.is_open:
                session.breach(KEEPALIVE, "a silent connection is not given up")

        self.run(fall_silent())

    def drop(self) -> None:
        for session in self._open():
            session.notes["dropped"] = True
        super().drop()

    # What is judged

    def admit(self, request: Request) -> tuple[int, str] | None:
        if urlsplit(request.path).path != "/ws":
            self.breach(PLACE, f"there is nothing at {request.path}")
            return 404, "not found"
        return None

    async def converse(self, session: Session) -> None:
        query = parse_qs(urlsplit(session.request.path).query, keep_blank_values=True)
        old = self._replaced.pop(session.request.path, None)
        if old is None and query.keys() - {"keepalive_timeout_seconds"}:
            await session.refuse(4007, RECONNECT_URL, session.request.path)
        for value in query.get("keepalive_timeout_seconds", []):
            if not value.isdecimal() or not 10 <= int(value) <= 600:
                session.breach(KEEPALIVE_QUERY, value)
        session.notes.update(id=f"AQoQILE98gtqShGmLD7AM6yJ{next(self._numbers)}", subscriptions=[])
        await session.send(self._message("session_welcome", self._session(session, "connected", None)))
        if old is None:
            self.after(self.subscribe_within, lambda: self._judge_use(session))
        else:
            session.notes["subscriptions"], old.notes["subscriptions"] = old.notes["subscriptions"], []
            session.notes["took over"] = True
            old.notes["replaced by"] = session
        self.order.append(("welcome", session.number))
        self.changed()
        session.alongside(self._keep_alive(session))
        session.alongside(self._ping(session))
        message = await session.receive()
        await session.refuse(4001, INBOUND, f"a message: {message!r}")

    def control_frame(self, session: Session, frame: Frame) -> None:
        if frame.opcode is Opcode.PING:
            session.alongside(session.refuse(4001, INBOUND, "a ping"))

    async def _keep_alive(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self.keepalive)
            if not session.notes.get("silent"):
                await session.send(self._message("session_keepalive", {}))

    async def _ping(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self.ping_every)
            try:
                async with asyncio.timeout(self.pong_within):
                    await session.ping()
            except TimeoutError:
                await session.refuse(4002, PONGS, "no pong in time")

    def _judge_use(self, session: Session) -> None:
        if session.is_open and not session.notes["subscriptions"] and "used" not in session.notes:
            session.alongside(session.refuse(4003, UNUSED, "no subscription in time"))

    def _judge_replacement(self, session: Session) -> None:
        if session.is_open:
            what = "the old connection is still open" if session.notes["replaced by"] else "no new connection"
            session.alongside(session.refuse(4004, GRACE, what))

    def left(self, session: Session) -> None:
        self.order.append(("left", session.number))
        by_client = session.closed_with is None and "dropped" not in session.notes
        if by_client and "replaced by" in session.notes and not session.notes["replaced by"]:
            session.breach(OLD_CONNECTION, "the old connection is closed before the welcome on the new one")

    # Helix

    def _answer(self, request: WebRequest) -> WebAnswer:
        wanted = read_subscription(request, self.TOKEN, self.CLIENT_ID)
        if isinstance(wanted, Fault):
            self.breach(wanted.clause, wanted.what)
            return wanted.answer()
        transport = wanted["transport"]
        session = next((s for s in self._open() if s.notes["id"] == transport["session_id"]), None)
        if session is None:
            self.breach(BODY, f"there is no session {transport['session_id']}")
            return Fault(400, BODY, "no such session").answer()
        wish = (wanted["type"], wanted["condition"])
        if wish in [(each["type"], each["condition"]) for each in session.notes["subscriptions"]]:
            clause = CARRIED_OVER if "took over" in session.notes else BODY
            session.breach(clause, f"{wanted['type']} again")
            return Fault(409, clause, "subscription already exists").answer()
        created = {
            **wanted,
            "id": f"f1c2a387-161a-49f9-a165-{next(self._numbers):012}",
            "status": "enabled",
            "created_at": _now(),
            "transport": transport | {"connected_at": _now()},
            "cost": 0,
        }
        session.notes["used"] = True
        session.notes["subscriptions"].append(created)
        if sum(bool(each.notes["subscriptions"]) for each in self._open()) > self.most_connections:
            session.breach(LIMITS, f"more than {self.most_connections} connections with subscriptions")
        self.changed()
        return json_answer({"data": [created], "total": 1, "total_cost": 0, "max_total_cost": 10}, 202)

    def _open(self) -> list[Session]:
        return [each for each in self.sessions if each.is_open and "id" in each.notes]

    def _session(self, session: Session, status: str, url: str | None) -> dict[str, Any]:
        seconds = self.keepalive if status == "connected" else None
        return {
            "session": {
                "id": session.notes["id"],
                "status": status,
                "connected_at": _now(),
                "keepalive_timeout_seconds": seconds,
                "reconnect_url": url,
            }
        }

    def _message(self, kind: str, payload: Any, subscription: dict[str, Any] | None = None) -> dict[str, Any]:
        metadata = {
            "message_id": f"96a3f3b5-5dec-4eed-908e-{next(self._numbers):012}",
            "message_type": kind,
            "message_timestamp": _now(),
        }
        if subscription:
            metadata["subscription_type"] = subscription["type"]
            metadata["subscription_version"] = subscription["version"]
        return {"metadata": metadata, "payload": payload}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
