"""The stand-in for Coinbase has nothing against right clients, and the rule against wrong ones.

No library talks to it: `coinbase-advanced-py` wants `websockets` below 14, and an environment holds only one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.client import Client, await_breach, finished, refusal
from services.coinbase import (
    AUTHENTICATION,
    CHANNELS,
    HEARTBEATS,
    PROTOCOL,
    RATES,
    SUBSCRIBING,
    UNSUBSCRIBING,
    Coinbase,
)
from services.rate import Rate


@pytest.fixture
def service(start_service: Callable[..., Coinbase]) -> Coinbase:
    return start_service(Coinbase)


def subscribe(channel: Any = "ticker", products: Any = ("BTC-USD",), **others: Any) -> dict[str, Any]:
    named = (
        {}
        if products is None
        else {"product_ids": list(products) if isinstance(products, tuple) else products}
    )
    return {"type": "subscribe", "channel": channel, **named, **others}


BEAT = subscribe("heartbeats", None)


def test_right_client(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, channels=["ticker", "heartbeats"])
    with Client(service.url) as client:
        client.send(BEAT, subscribe())
        confirmation = client.receive()
        assert (confirmation["channel"], confirmation["sequence_num"]) == ("subscriptions", 0)
        assert client.receive()["events"] == [
            {"subscriptions": {"heartbeats": ["heartbeats"], "ticker": ["BTC-USD"]}}
        ]
        service.publish("ticker", {"type": "update", "tickers": []})
        update = client.receive_until(lambda message: message["channel"] == "ticker")
        assert update["events"] == [{"type": "update", "tickers": []}]
        client.send(subscribe() | {"type": "unsubscribe"})
        left = client.receive_until(lambda message: message["channel"] == "subscriptions")
        assert left["events"] == [{"subscriptions": {"heartbeats": ["heartbeats"]}}]
    finished(service)
    assert not service.breaches


def test_heartbeats_and_numbers_count_up(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, heartbeat_interval=0.05)
    with Client(service.url) as client:
        client.send(BEAT)
        messages = [client.receive() for _ in range(4)]
        assert [message["sequence_num"] for message in messages] == [0, 1, 2, 3]
        counters = [message["events"][0]["heartbeat_counter"] for message in messages[1:]]
        assert counters == [counters[0], counters[0] + 1, counters[0] + 2]
    assert not service.breaches


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("{", PROTOCOL),
        ([], PROTOCOL),
        ({"channel": "ticker"}, PROTOCOL),
        (subscribe() | {"type": "hello"}, PROTOCOL),
        (subscribe(None), SUBSCRIBING),
        (subscribe(["ticker", "heartbeats"]), SUBSCRIBING),
        ({"type": "subscribe", "channels": ["ticker"], "product_ids": ["BTC-USD"]}, SUBSCRIBING),
        (subscribe("tickers"), CHANNELS),
        (subscribe("heartbeat"), CHANNELS),
        (subscribe(products=None), SUBSCRIBING),
        (subscribe(products=[]), SUBSCRIBING),
        (subscribe(products="BTC-USD"), SUBSCRIBING),
        (subscribe(products=["BTC/USD"]), SUBSCRIBING),
        (subscribe(products=["btc-usd"]), SUBSCRIBING),
        (subscribe() | {"type": "unsubscribe"}, UNSUBSCRIBING),
        (subscribe("user", None), CHANNELS),
        (subscribe("user", None, jwt="made up"), AUTHENTICATION),
        (subscribe(jwt="made up"), AUTHENTICATION),
    ],
)
def test_wrong_messages(service: Coinbase, message: Any, clause: str) -> None:
    with Client(service.url) as client:
        client.send(message)
        assert client.receive()["type"] == "error"
        await_breach(service, clause)


def test_no_subscription(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, first_within=0.3)
    with Client(service.url) as client:
        assert client.closed() == 1008
        await_breach(service, SUBSCRIBING)


def test_a_connection_without_its_subscription(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, channels=["ticker", "heartbeats"], within=0.3)
    with Client(service.url) as client:
        client.send(BEAT)
        await_breach(service, SUBSCRIBING)


def test_a_quiet_channel_without_heartbeats(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, quiet_within=0.2)
    with Client(service.url) as client:
        client.send(subscribe())
        await_breach(service, CHANNELS)


def test_tokens(service: Coinbase) -> None:
    with Client(service.url) as client:
        for message in (BEAT, subscribe(), subscribe("user", None)):
            client.send(message | {"jwt": service.issue_jwt()})
            assert client.receive()["channel"] == "subscriptions"
    assert not service.breaches


def test_a_token_of_another_message(service: Coinbase) -> None:
    jwt = service.issue_jwt()
    with Client(service.url) as client:
        client.send(BEAT | {"jwt": jwt}, subscribe("user", None, jwt=jwt))
        await_breach(service, SUBSCRIBING)


def test_a_token_that_is_too_old(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, jwt_lifetime=-1)
    with Client(service.url) as client:
        client.send(subscribe("user", None, jwt=service.issue_jwt()))
        await_breach(service, AUTHENTICATION)


def test_too_many_messages(service: Coinbase) -> None:
    # The limit is that of an address, not of a connection.
    with Client(service.url) as one, Client(service.url) as other:
        for _ in range(5):
            one.send(BEAT)
            other.send(BEAT)
        await_breach(service, RATES)


def test_as_many_messages_as_allowed(service: Coinbase) -> None:
    with Client(service.url) as client:
        client.send(*[BEAT] * 8)
        for _ in range(8):
            client.receive_until(lambda message: message["channel"] == "subscriptions")
    finished(service)
    assert not service.breaches


def test_too_many_dials(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, dials=Rate(3, 600))
    for _ in range(3):
        Client(service.url).close()
    assert refusal(service.url) == 429
    await_breach(service, RATES)


def test_a_client_that_leaves_a_silent_server(service: Coinbase) -> None:
    with Client(service.url) as client:
        client.send(BEAT)
        client.receive()
        service.fall_silent()
    finished(service)
    assert not service.breaches


def test_a_client_that_waits_for_a_silent_server(start_service: Callable[..., Coinbase]) -> None:
    service = start_service(Coinbase, silence_within=0.3)
    with Client(service.url) as client:
        client.send(BEAT)
        client.receive()
        service.fall_silent()
        assert client.closed() == 1006
        await_breach(service, HEARTBEATS)
