"""The stand-in for Kraken has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from kraken.spot import SpotWSClient

from harness.patience import PATIENCE
from services.client import Client, await_breach, finished, refusal
from services.kraken import (
    AUTHENTICATION,
    BACKOFF,
    ENDPOINTS,
    HEARTBEAT,
    LIFECYCLE,
    PING,
    SILENCE,
    STATUS,
    SYMBOLS,
    TOKEN,
    Kraken,
    reference,
)
from services.rate import Rate


@pytest.fixture
def service(start_service: Callable[..., Kraken]) -> Kraken:
    return start_service(Kraken)


@pytest.fixture
def private(start_service: Callable[..., Kraken]) -> Kraken:
    return start_service(Kraken, private=True)


def subscribe(channel: str | None = "ticker", symbols: Any = ("BTC/USD",), **params: Any) -> dict[str, Any]:
    named = {} if symbols is None else {"symbol": list(symbols) if isinstance(symbols, tuple) else symbols}
    return {"method": "subscribe", "params": {"channel": channel, **named, **params}, "req_id": 1}


def is_confirmation(message: Any) -> bool:
    return message.get("method") == "subscribe"


def test_right_client(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, channels=["ticker"])
    with Client(service.url) as client:
        assert client.receive()["channel"] == "status"
        client.send(subscribe(symbols=("BTC/USD", "ETH/EUR"), event_trigger="bbo"))
        for symbol in ("BTC/USD", "ETH/EUR"):
            confirmation = client.receive()
            assert confirmation["success"] is True
            assert (confirmation["req_id"], confirmation["result"]["symbol"]) == (1, symbol)
            assert client.receive()["type"] == "snapshot"
        service.publish("ticker", {"symbol": "BTC/USD", "bid": 1.5})
        assert client.receive() == {
            "channel": "ticker",
            "type": "update",
            "data": [{"symbol": "BTC/USD", "bid": 1.5}],
        }
        client.send({"method": "ping", "req_id": 101}, {"method": "ping"})
        assert client.receive_until(lambda message: message.get("method") == "pong")["req_id"] == 101
        assert "req_id" not in client.receive_until(lambda message: message.get("method") == "pong")
        client.send(subscribe() | {"method": "unsubscribe"})
        assert client.receive_until(lambda message: message.get("method") == "unsubscribe")["success"] is True
    finished(service)
    assert not service.breaches


def test_heartbeats_come_once_there_is_a_subscription(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, heartbeat_interval=0.05)
    with Client(service.url) as client:
        client.send(subscribe(snapshot=False))
        client.receive_until(is_confirmation)
        assert [client.receive() for _ in range(3)] == [{"channel": "heartbeat"}] * 3
    assert not service.breaches


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("{", reference("subscribe")),
        ([], reference("subscribe")),
        ({"event": "subscribe"}, reference("subscribe")),
        ({"method": "hello"}, reference("subscribe")),
        (subscribe("tickers"), reference("subscribe")),
        (subscribe(None), reference("subscribe")),
        (subscribe("heartbeat", None), HEARTBEAT),
        (subscribe("status", None), STATUS),
        (subscribe(symbols=None), reference("ticker")),
        (subscribe(symbols=[]), reference("ticker")),
        (subscribe(symbols="BTC/USD"), reference("ticker")),
        (subscribe("instrument"), reference("instrument")),
        (subscribe(symbols=["XBT/USD"]), SYMBOLS),
        (subscribe(symbols=["BTCUSD"]), SYMBOLS),
        (subscribe(event_trigger="all"), reference("ticker")),
        (subscribe("book", depth=20), reference("book")),
        (subscribe("ohlc", interval=2), reference("ohlc")),
        (subscribe(snapshot="yes"), reference("ticker")),
        (subscribe() | {"req_id": "1"}, reference("ticker")),
        (subscribe() | {"method": "unsubscribe"}, reference("ticker")),
        ({"method": "ping", "req_id": "1"}, PING),
        ({"method": "ping", "req_id": 1.5}, PING),
        (subscribe("executions", None), ENDPOINTS),
    ],
)
def test_wrong_messages(service: Kraken, message: Any, clause: str) -> None:
    with Client(service.url) as client:
        client.send(message)
        await_breach(service, clause)


def test_wrong_path(service: Kraken) -> None:
    assert refusal(service.url.replace("/v2", "/")) == 404
    await_breach(service, ENDPOINTS)


def test_private_channels(private: Kraken) -> None:
    for _ in range(2):
        token = private.issue_token()
        with Client(private.url) as client:
            for channel in ("executions", "balances"):
                client.send(subscribe(channel, None, token=token))
                assert client.receive_until(is_confirmation)["success"] is True
    assert not private.breaches


@pytest.mark.parametrize("token", [None, "", "made up"])
def test_wrong_tokens(private: Kraken, token: str | None) -> None:
    with Client(private.url) as client:
        client.send(subscribe("executions", None, token=token))
        assert client.receive_until(lambda message: "error" in message)["success"] is False
        await_breach(private, AUTHENTICATION)


def test_a_token_of_an_earlier_connection(private: Kraken) -> None:
    token = private.issue_token()
    for _ in range(2):
        with Client(private.url) as client:
            client.send(subscribe("executions", None, token=token))
            client.receive_until(lambda message: "success" in message)
    await_breach(private, AUTHENTICATION)


def test_a_token_that_is_too_old(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, private=True, token_lifetime=-1)
    with Client(service.url) as client:
        client.send(subscribe("executions", None, token=service.issue_token()))
        await_breach(service, TOKEN)


def test_a_connection_without_its_subscription(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, channels=["ticker", "book"], within=0.3)
    with Client(service.url) as client:
        client.send(subscribe("book"))
        await_breach(service, LIFECYCLE)


def test_pings_that_do_not_come(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, ping_within=0.3)
    with Client(service.url) as client:
        client.send({"method": "ping"})
        await_breach(service, PING)


def test_a_client_that_leaves_a_silent_server(service: Kraken) -> None:
    with Client(service.url) as client:
        client.send(subscribe(snapshot=False))
        client.receive_until(is_confirmation)
        service.fall_silent()
    finished(service)
    assert not service.breaches


def test_a_client_that_waits_for_a_silent_server(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, silence_within=0.3)
    with Client(service.url) as client:
        service.fall_silent()
        assert client.closed() == 1006
        await_breach(service, SILENCE)


def test_too_many_dials(start_service: Callable[..., Kraken]) -> None:
    service = start_service(Kraken, dials=Rate(3, 600))
    for _ in range(3):
        Client(service.url).close()
    assert refusal(service.url) == 429
    await_breach(service, BACKOFF)


def test_a_client_library(start_service: Callable[..., Kraken]) -> None:
    """The library `python-kraken-sdk` subscribes, gets an update, and subscribes again after a loss."""
    # It stops at the next message.
    service = start_service(Kraken, heartbeat_interval=0.05)

    async def talk() -> None:
        updates: asyncio.Queue[Any] = asyncio.Queue()

        async def receive(message: Any) -> None:
            if message.get("type") == "update" and message["channel"] == "ticker":
                updates.put_nowait(message["data"])

        async with SpotWSClient(callback=receive, ws_url=service.url.removesuffix("/v2")) as client:
            await client.subscribe(params={"channel": "ticker", "symbol": ["BTC/USD"]})
            for number in range(2):
                await asyncio.to_thread(service.await_subscription, "ticker", number)
                await asyncio.to_thread(service.publish, "ticker", {"symbol": "BTC/USD", "bid": number})
                assert (await updates.get())[0]["bid"] == number
                if number == 0:
                    await asyncio.to_thread(service.drop)

    asyncio.run(asyncio.wait_for(talk(), PATIENCE))
    finished(service, 1)
    assert not service.breaches
