"""A strict stand-in for the WebSocket feed of Coinbase's Advanced Trade."""

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

from websockets.http11 import Request

from .rate import Dials, Rate
from .service import Ended, Session
from .silence import FallsSilent

DOCUMENTS = "https://docs.cdp.coinbase.com/coinbase-app/advanced-trade-apis/websocket"
PROTOCOL = f"{DOCUMENTS}/websocket-overview#protocol"
SUBSCRIBING = f"{DOCUMENTS}/websocket-overview#subscribing"
UNSUBSCRIBING = f"{DOCUMENTS}/websocket-overview#unsubscribing"
AUTHENTICATION = f"{DOCUMENTS}/websocket-authentication"
CHANNELS = f"{DOCUMENTS}/websocket-channels"
HEARTBEATS = f"{DOCUMENTS}/websocket-channels#heartbeats-channel"
RATES = f"{DOCUMENTS}/websocket-rate-limits"

_WITH_PRODUCTS = {"candles", "ticker", "ticker_batch", "level2", "market_trades"}
_PRIVATE = {"user", "futures_balance_summary"}
_CHANNELS = _WITH_PRODUCTS | _PRIVATE | {"heartbeats", "status"}
_PRODUCT = re.compile("[A-Z0-9]+(-[A-Z0-9]+)+")


class Coinbase(FallsSilent):
    """Takes subscriptions, publishes what tests say, and beats for those who ask; its rules:

    - a message is a JSON object with a `type`, subscribe or unsubscribe (PROTOCOL);
    - a subscription comes within `first_within` seconds, else the connection is cut (SUBSCRIBING);
    - it names one channel, a string (SUBSCRIBING), which exists (CHANNELS), with a list of products where it
      has them, such as BTC-USD (SUBSCRIBING); only what is subscribed to is unsubscribed (UNSUBSCRIBING);
    - private channels need a JWT (CHANNELS); one that is sent was given, at most `jwt_lifetime` seconds ago
      (AUTHENTICATION), and in no other message (SUBSCRIBING);
    - no more than `rate` messages without a JWT come, of all connections, and `dials` of these (RATES);
    - a channel without updates for `quiet_within` seconds is closed but for heartbeats, so that every
      connection subscribes to these (CHANNELS);
    - every connection subscribes to what `channels` lists, within `within` seconds (SUBSCRIBING);
    - after `fall_silent` a client with heartbeats leaves within `silence_within` seconds (HEARTBEATS).
    """

    silence_clause: ClassVar[str] = HEARTBEATS

    def __init__(
        self,
        *,
        channels: Sequence[str] = (),
        within: float = 10,
        first_within: float = 5,
        jwt_lifetime: float = 120,
        heartbeat_interval: float = 1,
        quiet_within: float = 90,
        silence_within: float = 60,
        rate: Rate = Rate(8),  # noqa: B008  # it is frozen
        dials: Rate = Rate(8),  # noqa: B008
    ):
        self._wanted = channels
        self._within = within
        self._first_within = first_within
        self._jwt_lifetime = jwt_lifetime
        self._heartbeat_interval = heartbeat_interval
        self._quiet_within = quiet_within
        self._silence_within = silence_within
        self._rate = rate
        self._dials = Dials(dials)
        self._unauthenticated: list[float] = []
        self._jwts: dict[str, float] = {}
        self._used: set[str] = set()
        self._numbers = itertools.count(1)
        super().__init__()

    # What tests do

    def publish(self, channel: str, event: dict[str, Any]) -> None:
        """Tell all who are subscribed to the channel."""

        async def publish() -> None:
            for session in self.sessions:
                if session.is_open and channel in session.notes.get("subscriptions", {}):
                    session.notes["updated"][channel] = time.monotonic()
                    with contextlib.suppress(Ended):
                        await self._tell(session, channel, event)

        self.run(publish())

    def await_subscription(self, channel: str, number: int = 0) -> Session:
        """Wait until connection `number` is subscribed."""
        session = self.session(number)
        self.await_truth(
            lambda: channel in session.notes.get("subscriptions", {}),
            f"connection {number} subscribes to {channel}",
        )
        return session

    def issue_jwt(self) -> str:
        """Give a token that is good for one message."""
        token = f"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJjZHAifQ.{next(self._numbers)}"
        self._jwts[token] = time.monotonic()
        return token

    # The service

    def admit(self, request: Request) -> tuple[int, str] | None:
        if (what := self._dials.one_too_many()) is not None:
            self.breach(RATES, what)
            return 429, "too many connections"
        return None

    async def converse(self, session: Session) -> None:
        session.notes |= {"subscriptions": {}, "updated": {}, "sequence": itertools.count()}
        session.alongside(self._beat(session))
        session.alongside(self._close_quiet_channels(session))
        if self._wanted:
            session.alongside(self._expect_subscriptions(session))
        deadline = time.monotonic() + self._first_within
        while True:
            limit = None if session.notes["updated"] else max(deadline - time.monotonic(), 0)
            try:
                message = await session.receive(limit)
            except TimeoutError:
                await session.refuse(1008, SUBSCRIBING, f"no subscription for {self._first_within} s")
            else:
                await self._take(session, message)
                self.changed()

    async def _take(self, session: Session, message: str | bytes) -> None:
        try:
            request = json.loads(message)
            kind, channel, jwt = request["type"], request.get("channel"), request.get("jwt")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            session.breach(PROTOCOL, f"not a message with a type: {error!r}")
            return await self._complain(session, "failure to parse message")
        if jwt is None:
            self._unauthenticated.append(time.monotonic())
            if self._rate.is_exceeded(self._unauthenticated):
                session.breach(RATES, f"more than {self._rate.messages} messages in {self._rate.per} s")
                return await self._complain(session, "rate limit exceeded")
        if (fault := self._fault(session, kind, channel, request)) is not None:
            session.breach(*fault)
            return await self._complain(session, fault[1])
        subscriptions: dict[str, list[str]] = session.notes["subscriptions"]
        products = request.get("product_ids") or []
        if kind == "subscribe":
            session.notes["updated"][channel] = time.monotonic()
            subscriptions[channel] = sorted({*subscriptions.get(channel, []), *(products or [channel])})
        else:
            left = sorted(set(subscriptions.pop(channel)) - set(products)) if products else []
            if left:
                subscriptions[channel] = left
        return await self._tell(session, "subscriptions", {"subscriptions": subscriptions})

    async def _tell(self, session: Session, channel: str, event: dict[str, Any]) -> None:
        if not self.is_silent(session):
            message = {
                "channel": channel,
                "timestamp": _now(),
                "sequence_num": next(session.notes["sequence"]),
            }
            await session.send(message | {"events": [event]})

    async def _complain(self, session: Session, what: str) -> None:
        await session.send({"type": "error", "message": what})

    async def _beat(self, session: Session) -> None:
        for number in itertools.count():
            await asyncio.sleep(self._heartbeat_interval)
            if "heartbeats" in session.notes["subscriptions"]:
                await self._tell(session, "heartbeats", {"current_time": _now(), "heartbeat_counter": number})

    async def _close_quiet_channels(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self._quiet_within / 4)
            subscriptions = session.notes["subscriptions"]
            for channel in [] if "heartbeats" in subscriptions else list(subscriptions):
                if time.monotonic() - session.notes["updated"][channel] > self._quiet_within:
                    session.breach(
                        CHANNELS, f"{channel} is quiet, and there is no subscription to heartbeats"
                    )
                    del subscriptions[channel]

    async def _expect_subscriptions(self, session: Session) -> None:
        await asyncio.sleep(self._within)
        for channel in set(self._wanted) - set(session.notes["subscriptions"]):
            session.breach(SUBSCRIBING, f"no subscription to {channel} on this connection")

    def _fault(self, session: Session, kind: Any, channel: Any, request: Any) -> tuple[str, str] | None:
        """Return clause and fault of a subscription, or of its end."""
        if kind not in ("subscribe", "unsubscribe"):
            return PROTOCOL, f"type is {kind!r}"
        clause = SUBSCRIBING if kind == "subscribe" else UNSUBSCRIBING
        if not isinstance(channel, str) or "channels" in request:
            return clause, "not one channel"
        if channel not in _CHANNELS:
            return CHANNELS, f"no such channel: {channel}"
        products = request.get("product_ids")
        if not isinstance(products, list | None) or (
            kind == "subscribe" and channel in _WITH_PRODUCTS and not products
        ):
            return clause, f"product_ids is {products!r}"
        for product in products or []:
            if not isinstance(product, str) or not _PRODUCT.fullmatch(product):
                return clause, f"no such product: {product!r}"
        if kind == "unsubscribe" and channel not in session.notes["subscriptions"]:
            return UNSUBSCRIBING, f"no subscription to {channel}"
        return self._fault_of_jwt(channel, request.get("jwt"))

    def _fault_of_jwt(self, channel: str, jwt: Any) -> tuple[str, str] | None:
        if jwt is None:
            return (CHANNELS, "authentication failure: no jwt") if channel in _PRIVATE else None
        if jwt not in self._jwts:
            return AUTHENTICATION, "authentication failure"
        if time.monotonic() - self._jwts[jwt] > self._jwt_lifetime:
            return AUTHENTICATION, "authentication failure: the jwt expired"
        if jwt in self._used:
            return SUBSCRIBING, "authentication failure: the jwt of another message"
        self._used.add(jwt)
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
