"""A strict stand-in for Binance's WebSocket streams of the spot market."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Frame, Opcode
from websockets.http11 import Request

from .rate import Dials, Rate
from .service import Ended, Service, Session

DOCUMENT = "https://developers.binance.com/docs/binance-spot-api-docs/web-socket-streams"
GENERAL = f"{DOCUMENT}#general-wss-information"
LIMITS = f"{DOCUMENT}#websocket-limits"
LIVE = f"{DOCUMENT}#live-subscribingunsubscribing-to-streams"
ERRORS = f"{DOCUMENT}#error-messages"
STREAMS = f"{DOCUMENT}#detailed-stream-information"

_METHODS = {"SUBSCRIBE", "UNSUBSCRIBE", "LIST_SUBSCRIPTIONS", "SET_PROPERTY", "GET_PROPERTY"}
_INTERVAL = "1s|[135]m|15m|30m|[12468]h|12h|[13]d|1w|1M"
_STREAM = re.compile(
    rf"[a-z0-9]+@(aggTrade|trade|kline_({_INTERVAL})(@\+08:00)?|miniTicker|ticker(_(1h|4h|1d))?|bookTicker"
    r"|avgPrice|depth(5|10|20)?(@100ms)?)"
    r"|!miniTicker@arr|!ticker(_(1h|4h|1d))?@arr"
)
_COUNTED = {Opcode.TEXT, Opcode.BINARY, Opcode.PING, Opcode.PONG}


class Binance(Service):
    """Takes subscriptions and publishes what tests say; its rules:

    - the path is /ws or /stream, with streams or without (GENERAL), whose names exist (STREAMS), symbols in
      lower case (GENERAL); there are at most 1024 of them (LIMITS);
    - each ping is answered within `pong_within` seconds by a pong with a copy of its payload, and other pongs
      have none (GENERAL);
    - no more than `rate` messages, pings and pongs come, and no more connections than `dials` (LIMITS);
    - requests are JSON with a known method and the params it takes (ERRORS), and with an `id`: an integer of
      64 bits, up to 36 letters and digits, or null (LIVE);
    - after a `serverShutdown` there is a new connection with the old one's streams within `shutdown_within`
      seconds, before the client leaves the old one (GENERAL);
    - every connection subscribes to what `streams` lists, within `within` seconds (LIVE).
    """

    path: ClassVar[str] = "/stream"

    def __init__(
        self,
        *,
        streams: Sequence[str] = (),
        within: float = 10,
        ping_interval: float = 20,
        pong_within: float = 60,
        rate: Rate = Rate(5),  # noqa: B008  # it is frozen
        dials: Rate = Rate(300, 300),  # noqa: B008
        shutdown_within: float = 10,
    ):
        self._wanted = streams
        self._within = within
        self._ping_interval = ping_interval
        self._pong_within = pong_within
        self._rate = rate
        self._dials = Dials(dials)
        self._shutdown_within = shutdown_within
        super().__init__()

    # What tests do

    def publish(self, stream: str, data: Any) -> None:
        """Tell all who are subscribed, in the form that their connection wants."""

        async def publish() -> None:
            for session in self.sessions:
                if session.is_open and stream in session.notes.get("streams", {}):
                    combined = {"stream": stream, "data": data}
                    with contextlib.suppress(Ended):
                        await session.send(combined if session.notes["combined"] else data)

        self.run(publish())

    def await_subscription(self, stream: str, number: int = 0) -> Session:
        """Wait until connection `number` is subscribed."""
        session = self.session(number)
        self.await_truth(
            lambda: stream in session.notes.get("streams", {}), f"connection {number} subscribes to {stream}"
        )
        return session

    def ping(self, number: int = 0) -> None:
        """Ping a connection once, and wait for the pong."""
        self.run(self._ping(self.session(number)))

    def shut_down(self, number: int = 0) -> None:
        """Announce the end of a connection, which follows when its time is up."""
        session = self.session(number)

        async def shut_down() -> None:
            session.notes["is_succeeded"] = False
            with contextlib.suppress(Ended):
                await session.send({"e": "serverShutdown", "E": time.time_ns() // 1_000_000})
            session.alongside(self._end(session))

        self.run(shut_down())

    # The service

    def admit(self, request: Request) -> tuple[int, str] | None:
        if (what := self._dials.one_too_many()) is not None:
            self.breach(LIMITS, what)
            return 429, "too many connections"
        if (streams := _streams_of(request)) is None:
            self.breach(GENERAL, f"no such path: {request.path}")
            return 404, "not found"
        for stream in streams:
            if (fault := _fault_of_stream(stream)) is not None:
                self.breach(*fault)
                return 400, "no such stream"
        return None

    async def converse(self, session: Session) -> None:
        session.notes["combined"] = urlsplit(session.request.path).path == "/stream"
        session.notes["streams"] = dict.fromkeys(_streams_of(session.request) or [])
        self._succeed(session)
        session.alongside(self._keep_pinging(session))
        if self._wanted:
            session.alongside(self._expect_subscriptions(session))
        try:
            while True:
                message = await session.receive()
                self._count(session)
                await session.send(self._respond(session, message))
                self._succeed(session)
                self.changed()
        finally:
            # A client that leaves before it has another connection interrupts what it receives.
            if not session.notes.get("is_succeeded", True) and "ending" not in session.notes:
                session.breach(GENERAL, "after serverShutdown the client left without a new connection")

    def _succeed(self, session: Session) -> None:
        """Note which connections may end, since this one has their streams, too."""
        for earlier in self.sessions[: session.number]:
            if earlier.notes["streams"].keys() <= session.notes["streams"].keys():
                earlier.notes["is_succeeded"] = True

    def control_frame(self, session: Session, frame: Frame) -> None:
        if frame.opcode is Opcode.CLOSE:
            return
        self._count(session)
        pings: set[bytes] = session.notes.setdefault("pings", set())
        payload = bytes(frame.data)
        if frame.opcode is Opcode.PONG and payload and payload not in pings:
            session.breach(GENERAL, f"a pong with {payload!r}, which no ping had")
        pings.discard(payload)

    def _count(self, session: Session) -> None:
        times = [at for at, opcode in session.frames if opcode in _COUNTED]
        if self._rate.is_exceeded(times) and "ending" not in session.notes:
            session.breach(LIMITS, f"more than {self._rate.messages} messages in {self._rate.per} s")
            session.notes["ending"] = True
            session.alongside(session.close(1008, "Too many requests"))

    async def _keep_pinging(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self._ping_interval)
            await self._ping(session)

    async def _ping(self, session: Session) -> None:
        payload = str(time.time_ns() // 1_000_000).encode()
        session.notes.setdefault("pings", set()).add(payload)
        try:
            async with asyncio.timeout(self._pong_within):
                await session.ping(payload)
        except TimeoutError:
            session.notes["ending"] = True
            await session.refuse(1008, GENERAL, "Pong timeout")

    async def _expect_subscriptions(self, session: Session) -> None:
        await asyncio.sleep(self._within)
        for stream in set(self._wanted) - set(session.notes["streams"]):
            session.breach(LIVE, f"no subscription to {stream} on this connection")

    async def _end(self, session: Session) -> None:
        await asyncio.sleep(self._shutdown_within)
        if not session.notes["is_succeeded"]:
            session.breach(GENERAL, "no new connection after serverShutdown")
        session.notes["ending"] = True
        await session.close(1001)

    def _respond(self, session: Session, message: str | bytes) -> dict[str, Any]:
        try:
            request = json.loads(message)
            method, identifier = request["method"], request["id"]
        except (ValueError, TypeError, KeyError) as error:
            session.breach(ERRORS, f"not a request: {error!r}")
            return {"code": 2, "msg": "Invalid request"}
        if not _is_identifier(identifier):
            session.breach(LIVE, f"id is {identifier!r}")
            return {"code": 2, "msg": "Invalid request: request ID must be an unsigned integer"}
        if method not in _METHODS:
            session.breach(ERRORS, f"method is {method!r}")
            return {"code": 2, "msg": f"Invalid request: unknown variant {method}", "id": identifier}
        if (fault := _fault_of_params(method, request.get("params"))) is not None:
            session.breach(*fault)
            return {"code": 2, "msg": "Invalid request: params", "id": identifier}
        result = self._perform(session, method, request.get("params"))
        if len(session.notes["streams"]) > 1024:
            session.breach(LIMITS, "more than 1024 streams")
        return {"result": result, "id": identifier}

    def _perform(self, session: Session, method: str, params: Any) -> Any:
        streams: dict[str, None] = session.notes["streams"]
        match method:
            case "SUBSCRIBE":
                streams |= dict.fromkeys(params)
            case "UNSUBSCRIBE":
                for stream in params:
                    streams.pop(stream, None)
            case "LIST_SUBSCRIPTIONS":
                return list(streams)
            case "SET_PROPERTY":
                session.notes["combined"] = params[1]
            case "GET_PROPERTY":
                return session.notes["combined"]
        return None


def _streams_of(request: Request) -> list[str] | None:
    """Return the streams that a request's path and query name; None for a path that does not exist."""
    target = urlsplit(request.path)
    if target.path == "/stream":
        streams = parse_qs(target.query).get("streams", [""])[0]
    elif target.path == "/ws" or target.path.startswith("/ws/"):
        streams = target.path.removeprefix("/ws").removeprefix("/")
    else:
        return None
    return streams.split("/") if streams else []


def _fault_of_stream(stream: Any) -> tuple[str, str] | None:
    if not isinstance(stream, str):
        return ERRORS, f"not the name of a stream: {stream!r}"
    if _STREAM.fullmatch(stream):
        return None
    symbol, at, kind = stream.partition("@")
    if _STREAM.fullmatch(symbol.lower() + at + kind):
        return GENERAL, f"the symbol is not in lower case: {stream}"
    return STREAMS, f"no such stream: {stream}"


def _fault_of_params(method: str, params: Any) -> tuple[str, str] | None:
    if method == "LIST_SUBSCRIPTIONS":
        return None if not params else (ERRORS, "too many parameters")
    if not isinstance(params, list) or not params:
        return ERRORS, f"params is {params!r}"
    if method in ("SUBSCRIBE", "UNSUBSCRIBE"):
        return next((fault for each in params if (fault := _fault_of_stream(each))), None)
    if params[0] != "combined" or len(params) != (2 if method == "SET_PROPERTY" else 1):
        return ERRORS, f"no such property: {params}"
    if method == "SET_PROPERTY" and not isinstance(params[1], bool):
        return ERRORS, f"not true or false: {params[1]!r}"
    return None


def _is_identifier(identifier: Any) -> bool:
    match identifier:
        case bool():
            return False
        case int():
            return -(2**63) <= identifier < 2**63
        case str():
            return re.fullmatch("[A-Za-z0-9]{1,36}", identifier) is not None
    return identifier is None
