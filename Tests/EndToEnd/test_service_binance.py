"""The stand-in for Binance has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from typing import Any

import pytest
from binance.websocket.spot.websocket_stream import SpotWebsocketStreamClient

from harness.patience import Deadline
from services.binance import ERRORS, GENERAL, LIMITS, LIVE, STREAMS, Binance
from services.client import Client, await_breach, finished, refusal
from services.rate import Rate

#: For tests that are not about it.
ANY_RATE = Rate(1000)
TRADE = {"e": "aggTrade", "s": "BTCUSDT", "p": "0.001"}


@pytest.fixture
def service(start_service: Callable[..., Binance]) -> Binance:
    return start_service(Binance)


def request(method: str, params: Any = None, identifier: Any = 1) -> dict[str, Any]:
    return {"method": method, "id": identifier} | ({} if params is None else {"params": params})


SUBSCRIBE = request("SUBSCRIBE", ["btcusdt@aggTrade"])


def test_right_client(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, streams=["btcusdt@aggTrade"], rate=ANY_RATE)
    with Client(service.url) as client:
        client.send(SUBSCRIBE)
        assert client.receive() == {"result": None, "id": 1}
        service.publish("btcusdt@aggTrade", TRADE)
        assert client.receive() == {"stream": "btcusdt@aggTrade", "data": TRADE}
        client.send(request("GET_PROPERTY", ["combined"], "a1"))
        assert client.receive() == {"result": True, "id": "a1"}
        client.send(request("SET_PROPERTY", ["combined", False], None))
        assert client.receive() == {"result": None, "id": None}
        service.publish("btcusdt@aggTrade", TRADE)
        assert client.receive() == TRADE
        client.send(request("LIST_SUBSCRIPTIONS"), request("UNSUBSCRIBE", ["btcusdt@aggTrade"], 2))
        assert client.receive()["result"] == ["btcusdt@aggTrade"]
        assert client.receive() == {"result": None, "id": 2}
    finished(service)
    assert not service.breaches


@pytest.mark.parametrize(
    "path", ["/ws/btcusdt@aggTrade", "/stream?streams=bnbbtc@depth5@100ms/btcusdt@aggTrade"]
)
def test_streams_in_the_url(service: Binance, path: str) -> None:
    with Client(service.url.replace("/stream", path)) as client:
        service.publish("btcusdt@aggTrade", TRADE)
        assert client.receive() == (TRADE if "/ws" in path else {"stream": "btcusdt@aggTrade", "data": TRADE})
    assert not service.breaches


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("/", GENERAL),
        ("/streams", GENERAL),
        ("/ws/BTCUSDT@aggTrade", GENERAL),
        ("/stream?streams=btcusdt@nothing", STREAMS),
    ],
)
def test_wrong_urls(service: Binance, path: str, clause: str) -> None:
    assert refusal(service.url.replace("/stream", path)) in (400, 404)
    await_breach(service, clause)


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("{", ERRORS),
        ([], ERRORS),
        ({"id": 1}, ERRORS),
        ({"method": "SUBSCRIBE", "params": ["btcusdt@trade"]}, ERRORS),
        (request("subscribe", ["btcusdt@trade"]), ERRORS),
        (request("SUBSCRIBE"), ERRORS),
        (request("SUBSCRIBE", []), ERRORS),
        (request("SUBSCRIBE", "btcusdt@trade"), ERRORS),
        (request("SUBSCRIBE", [1]), ERRORS),
        (request("LIST_SUBSCRIPTIONS", ["btcusdt@trade"]), ERRORS),
        (request("SET_PROPERTY", ["combined", 1]), ERRORS),
        (request("GET_PROPERTY", ["other"]), ERRORS),
        (request("SUBSCRIBE", ["BTCUSDT@trade"]), GENERAL),
        (request("SUBSCRIBE", ["btcusdt@trades"]), STREAMS),
        (request("SUBSCRIBE", ["btcusdt@kline_7m"]), STREAMS),
        (request("SUBSCRIBE", ["btcusdt@trade"], 2**63), LIVE),
        (request("SUBSCRIBE", ["btcusdt@trade"], 1.5), LIVE),
        (request("SUBSCRIBE", ["btcusdt@trade"], "x" * 37), LIVE),
        (request("SUBSCRIBE", ["btcusdt@trade"], "a-b"), LIVE),
        (request("SUBSCRIBE", [f"a{number}@trade" for number in range(1025)]), LIMITS),
    ],
)
def test_wrong_messages(service: Binance, message: Any, clause: str) -> None:
    with Client(service.url) as client:
        client.send(message)
        await_breach(service, clause)


def test_a_connection_without_its_subscription(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, streams=["btcusdt@trade", "btcusdt@depth"], within=0.3)
    with Client(service.url) as client:
        client.send(request("SUBSCRIBE", ["btcusdt@trade"]))
        await_breach(service, LIVE)


# Pings


def test_pongs_keep_the_connection(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, ping_interval=0.05, rate=ANY_RATE)
    payloads: list[bytes] = []

    def pong(payload: bytes) -> bytes:
        payloads.append(payload)
        return payload

    with Client(service.url, pong=pong) as client:
        session = service.session()
        service.await_truth(lambda: len(session.frames) >= 3, "three pongs")
        client.pong()
        client.ping()
    finished(service)
    assert len(set(payloads)) >= 3
    assert not service.breaches


@pytest.mark.parametrize("answer", [None, b"", b"other"])
def test_wrong_pongs(start_service: Callable[..., Binance], answer: bytes | None) -> None:
    service = start_service(Binance, ping_interval=0.05, pong_within=0.3, rate=ANY_RATE)
    with Client(service.url, pong=lambda _: answer) as client:
        assert client.closed() == 1008
        await_breach(service, GENERAL)


def test_a_pong_with_a_payload_that_nobody_asked_for(service: Binance) -> None:
    with Client(service.url) as client:
        client.pong(b"hello")
        await_breach(service, GENERAL)


# Limits


@pytest.mark.parametrize("what", ["messages", "pings", "pongs", "together"])
def test_too_many_messages(service: Binance, what: str) -> None:
    with Client(service.url) as client:
        for number in range(6):
            match what if what != "together" else ("messages", "pings", "pongs")[number % 3]:
                case "messages":
                    client.send(request("LIST_SUBSCRIPTIONS"))
                case "pings":
                    client.ping(b"%d" % number)
                case "pongs":
                    client.pong()
        assert client.closed() == 1008
        await_breach(service, LIMITS)


def test_as_many_messages_as_allowed(service: Binance) -> None:
    with Client(service.url) as client:
        client.send(*[request("LIST_SUBSCRIPTIONS", identifier=number) for number in range(5)])
        assert [client.receive()["id"] for _ in range(5)] == [0, 1, 2, 3, 4]
    finished(service)
    assert not service.breaches


@pytest.mark.parametrize(
    ("gap", "exceeded"), [(0.2, False), (0.25, False), (0.19, False), (0.15, True), (0.05, True), (0, True)]
)
def test_the_rate_is_judged_with_slack(gap: float, exceeded: bool) -> None:
    times = [number * gap for number in range(51)]
    assert any(Rate(5).is_exceeded(times[: end + 1]) for end in range(len(times))) is exceeded


def test_too_many_connections(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, dials=Rate(3, 300))
    for _ in range(3):
        Client(service.url).close()
    assert refusal(service.url) == 429
    await_breach(service, LIMITS)


# The end of a server


def test_a_new_connection_before_the_old_one_ends(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, shutdown_within=2)
    with Client(service.url) as old:
        service.shut_down()
        assert old.receive()["e"] == "serverShutdown"
        with Client(service.url) as new:
            assert old.closed() == 1001
            new.send(SUBSCRIBE)
            assert new.receive()["result"] is None
    finished(service, 1)
    assert not service.breaches


def test_the_new_connection_has_to_have_the_streams(service: Binance) -> None:
    with Client(service.url) as old:
        old.send(SUBSCRIBE)
        old.receive()
        service.shut_down()
        with Client(service.url) as new:
            new.send({"method": "LIST_SUBSCRIPTIONS", "id": 1})
            assert new.receive()["result"] == []
            old.close()
            await_breach(service, GENERAL)


def test_no_new_connection(start_service: Callable[..., Binance]) -> None:
    service = start_service(Binance, shutdown_within=0.3)
    with Client(service.url) as client:
        service.shut_down()
        assert client.closed() == 1001
        await_breach(service, GENERAL)


def test_the_old_connection_left_first(service: Binance) -> None:
    with Client(service.url) as client:
        service.shut_down()
        client.receive()
        client.close()
        with Client(service.url):
            await_breach(service, GENERAL)


def test_a_client_library(service: Binance) -> None:
    """The library `binance-connector` subscribes, and answers a ping, to which it adds an empty pong."""
    messages: queue.Queue[str] = queue.Queue()
    client = SpotWebsocketStreamClient(
        stream_url=service.url.removesuffix("/stream"),
        is_combined=True,
        on_message=lambda _, message: messages.put(message),
    )
    try:
        client.agg_trade("BTCUSDT", id=7)
        assert json.loads(messages.get(timeout=Deadline("the confirmation").left())) == {
            "result": None,
            "id": 7,
        }
        service.publish("btcusdt@aggTrade", TRADE)
        assert json.loads(messages.get(timeout=Deadline("an event").left()))["data"] == TRADE
        service.ping()
    finally:
        client.stop()
        # It leaves this to the garbage collector.
        client.socket_manager.ws.shutdown()
    finished(service)
    assert not service.breaches
