"""A strict stand-in for Kraken's WebSocket API of the spot market, version 2."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit

from websockets.http11 import Request

from .rate import Dials, Rate
from .service import Ended, Session
from .silence import FallsSilent

DOCUMENTS = "https://docs.kraken.com/exchange"
REFERENCE = f"{DOCUMENTS}/api-reference/spot-websocket-v2"
ENDPOINTS = f"{DOCUMENTS}/api-reference/spot-websocket#endpoints"
AUTHENTICATION = f"{DOCUMENTS}/api-reference/spot-websocket#authentication"
TOKEN = "https://docs.kraken.com/api-reference/trading/get-websockets-token"
SYMBOLS = f"{DOCUMENTS}/api-reference/spot-websocket#v2-vs-v1"
HEARTBEAT = f"{REFERENCE}/heartbeat"
PING = f"{REFERENCE}/ping"
STATUS = f"{REFERENCE}/status"
LIFECYCLE = f"{DOCUMENTS}/guides/websockets/reconnection#connection-lifecycle"
SILENCE = f"{DOCUMENTS}/guides/websockets/reconnection#detecting-disconnects"
BACKOFF = f"{DOCUMENTS}/guides/websockets/reconnection#reconnection-with-backoff"

_WITH_SYMBOLS = {"ticker", "book", "ohlc", "trade"}
_PRIVATE = {"executions", "balances"}
_CHANNELS = _WITH_SYMBOLS | _PRIVATE | {"instrument"}
_SYMBOL = re.compile("[A-Z0-9.]{1,12}/[A-Z0-9.]{1,12}")
#: Values that an optional parameter of a public channel may have.
_CHOICES: dict[tuple[str, str], set[Any]] = {
    ("ticker", "event_trigger"): {"bbo", "trades"},
    ("book", "depth"): {10, 25, 100, 500, 1000},
    ("ohlc", "interval"): {1, 5, 15, 30, 60, 240, 1440, 10080, 21600},
}


def reference(channel: str) -> str:
    """Return where the documentation has the rules of a channel."""
    return f"{REFERENCE}/{channel}"


class Kraken(FallsSilent):
    """Takes subscriptions, publishes what tests say, and beats once it has a subscription; its rules:

    - the path is /v2 (ENDPOINTS);
    - a message is a JSON object with the method subscribe, unsubscribe or ping, and a `req_id`, if any, that
      is an integer (PING, or the channel's page);
    - subscriptions name a channel there is, which `heartbeat` (HEARTBEAT) and `status` (STATUS) are not, with
      a list of symbols where it has them, written as version 2 does, BTC/USD and not XBT/USD (SYMBOLS), and
      choices that exist (the channel's page); only what is subscribed to is unsubscribed;
    - private channels are had on the private endpoint (ENDPOINTS), with a token (AUTHENTICATION) that was
      given, `token_lifetime` seconds ago at most (TOKEN), and on no other connection (AUTHENTICATION);
    - every connection subscribes to what `channels` lists, within `within` seconds (LIFECYCLE);
    - after `fall_silent` the client leaves within `silence_within` seconds (SILENCE), and it does not dial
      more often than `dials` (BACKOFF);
    - with `ping_within`, there is never that much time without a ping (PING).
    """

    path: ClassVar[str] = "/v2"
    silence_clause: ClassVar[str] = SILENCE

    def __init__(
        self,
        *,
        channels: Sequence[str] = (),
        within: float = 10,
        private: bool = False,
        token_lifetime: float = 900,
        heartbeat_interval: float = 1,
        silence_within: float = 60,
        ping_within: float | None = None,
        dials: Rate = Rate(150, 600),  # noqa: B008  # it is frozen
    ):
        self._wanted = channels
        self._within = within
        self._private = private
        self._token_lifetime = token_lifetime
        self._heartbeat_interval = heartbeat_interval
        self._silence_within = silence_within
        self._ping_within = ping_within
        self._dials = Dials(dials)
        self._tokens: dict[str, float] = {}
        #: The connection that used a token.
        self._users: dict[str, Session] = {}
        self._numbers = itertools.count(1)
        super().__init__()

    # What tests do

    def publish(self, channel: str, data: dict[str, Any]) -> None:
        """Tell all who are subscribed to the channel with the symbol of `data`."""

        async def publish() -> None:
            for session in self.sessions:
                if session.is_open and (channel, data.get("symbol")) in session.notes.get(
                    "subscriptions", ()
                ):
                    with contextlib.suppress(Ended):
                        await self._tell(session, {"channel": channel, "type": "update", "data": [data]})

        self.run(publish())

    def await_subscription(self, channel: str, number: int = 0) -> Session:
        """Wait until connection `number` is subscribed."""
        session = self.session(number)
        self.await_truth(
            lambda: channel in _channels(session), f"connection {number} subscribes to {channel}"
        )
        return session

    def issue_token(self) -> str:
        """Give a token, as GetWebSocketsToken does."""
        token = f"WW91ciBhdXRoZW50aWNhdGlvbiB0b2tlbiBnb2VzIGhlcmUu{next(self._numbers)}"
        self._tokens[token] = time.monotonic()
        return token

    # The service

    def admit(self, request: Request) -> tuple[int, str] | None:
        if (what := self._dials.one_too_many()) is not None:
            self.breach(BACKOFF, what)
            return 429, "too many connections"
        if urlsplit(request.path).path != "/v2":
            self.breach(ENDPOINTS, f"no such path: {request.path}")
            return 404, "not found"
        return None

    async def converse(self, session: Session) -> None:
        session.notes |= {"subscriptions": set(), "told": time.monotonic(), "pinged": asyncio.Event()}
        state = {"system": "online", "api_version": "v2", "connection_id": session.number, "version": "2.0.0"}
        await self._tell(session, {"channel": "status", "type": "update", "data": [state]})
        session.alongside(self._beat(session))
        if self._wanted:
            session.alongside(self._expect_subscriptions(session))
        if self._ping_within is not None:
            session.alongside(self._expect_pings(session, self._ping_within))
        while True:
            for answer in self._answers(session, await session.receive()):
                await self._tell(session, answer)
            self.changed()

    async def _tell(self, session: Session, message: dict[str, Any]) -> None:
        if not self.is_silent(session):
            session.notes["told"] = time.monotonic()
            await session.send(message)

    async def _beat(self, session: Session) -> None:
        while True:
            quiet = time.monotonic() - session.notes["told"]
            await asyncio.sleep(max(self._heartbeat_interval - quiet, 0.01))
            quiet = time.monotonic() - session.notes["told"]
            if session.notes["subscriptions"] and quiet >= self._heartbeat_interval:
                await self._tell(session, {"channel": "heartbeat"})

    async def _expect_subscriptions(self, session: Session) -> None:
        await asyncio.sleep(self._within)
        for channel in set(self._wanted) - _channels(session):
            session.breach(LIFECYCLE, f"no subscription to {channel} on this connection")

    async def _expect_pings(self, session: Session, within: float) -> None:
        while True:
            try:
                async with asyncio.timeout(within):
                    await session.notes["pinged"].wait()
            except TimeoutError:
                session.breach(PING, f"no ping for {within} s")
                return
            session.notes["pinged"].clear()

    def _answers(self, session: Session, message: str | bytes) -> list[dict[str, Any]]:
        arrived = _now()
        try:
            request = json.loads(message)
            method, params = request["method"], request.get("params", {})
            channel = params.get("channel", "")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            session.breach(reference("subscribe"), f"not a request: {error!r}")
            return [{"error": "Malformed request", "success": False, "time_in": arrived, "time_out": _now()}]
        clause = PING if method == "ping" else reference(str(channel))
        identifier = request.get("req_id")
        named = {} if identifier is None else {"req_id": identifier}
        if isinstance(identifier, bool) or not isinstance(identifier, int | None):
            session.breach(clause, f"req_id is {identifier!r}")
        if method == "ping":
            session.notes["pinged"].set()
            return [{"method": "pong", **named, "time_in": arrived, "time_out": _now()}]
        if (fault := self._fault(session, method, channel, params)) is not None:
            session.breach(*fault)
            refusal = {"error": fault[1], "method": method, "success": False}
            return [refusal | named | {"time_in": arrived, "time_out": _now()}]
        answers: list[dict[str, Any]] = []
        for symbol in params.get("symbol", [None]):
            result = {"channel": channel} | ({} if symbol is None else {"symbol": symbol})
            done = {"method": method, "result": result, "success": True}
            answers.append(done | named | {"time_in": arrived, "time_out": _now()})
            if method == "subscribe":
                session.notes["subscriptions"].add((channel, symbol))
                if params.get("snapshot", True):
                    answers.append({"channel": channel, "type": "snapshot", "data": [result]})
            else:
                session.notes["subscriptions"].discard((channel, symbol))
        return answers

    def _fault(self, session: Session, method: Any, channel: Any, params: Any) -> tuple[str, str] | None:
        """Return clause and fault of a subscription, or of its end."""
        if method not in ("subscribe", "unsubscribe"):
            return reference("subscribe"), f"Unsupported method {method!r}"
        if channel in ("heartbeat", "status"):
            return reference(channel), f"{channel} cannot be subscribed to"
        if channel not in _CHANNELS:
            return reference("subscribe"), f"Unsupported channel {channel!r}"
        if channel in _PRIVATE and (fault := self._fault_of_token(session, params.get("token"))) is not None:
            return fault
        symbols = params.get("symbol")
        if (channel in _WITH_SYMBOLS) is not bool(symbols) or not isinstance(symbols, list | None):
            return reference(channel), f"symbol is {symbols!r}"
        for symbol in symbols or [None]:
            if symbol is not None and (not isinstance(symbol, str) or not _SYMBOL.fullmatch(symbol)):
                return SYMBOLS, f"Currency pair not in ISO 4217-A3 format {symbol}"
            if symbol is not None and {"XBT", "XDG"} & set(symbol.split("/")):
                return SYMBOLS, f"Currency pair not supported {symbol}"
            if method == "unsubscribe" and (channel, symbol) not in session.notes["subscriptions"]:
                return reference(channel), f"Subscription {channel} {symbol} not found"
        for (name, key), choices in _CHOICES.items():
            if name == channel and key in params and params[key] not in choices:
                return reference(channel), f"{key} is {params[key]!r}"
        if not isinstance(params.get("snapshot", True), bool):
            return reference(channel), f"snapshot is {params['snapshot']!r}"
        return None

    def _fault_of_token(self, session: Session, token: Any) -> tuple[str, str] | None:
        if not self._private:
            return ENDPOINTS, "Private data and trading are unavailable on this endpoint"
        if token not in self._tokens:
            return AUTHENTICATION, "EAuth:Invalid token"
        user = self._users.setdefault(token, session)
        if user is not session:
            return AUTHENTICATION, "a token of an earlier connection"
        is_in_use = any(channel in _PRIVATE for channel, _ in session.notes["subscriptions"])
        # It does not end while it is in use.
        if not is_in_use and time.monotonic() - self._tokens[token] > self._token_lifetime:
            return TOKEN, "ESession:Invalid session"
        return None


def _channels(session: Session) -> set[str]:
    return {channel for channel, _ in session.notes.get("subscriptions", ())}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
