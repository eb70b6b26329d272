"""The preset `kraken` keeps to Kraken's rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recipes import Recipe
from services.client import await_breach, finished
from services.kraken import (
    SYMBOLS,
    Kraken,
)
from services.rate import Rate
from stand_ins import QUICK, Serve, await_opens, end, serving, starting, unwelcoming

PARAMETERS = {"symbols": '["BTC/USD","ETH/USD"]'}


start = starting(Kraken, channels=["ticker"], heartbeat_interval=0.1)
serve = serving("kraken", parameters=PARAMETERS)


def test_channels_become_topics(start: Callable[..., Kraken], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    assert [json.loads(each) for each in service.await_subscription("ticker").received] == [
        {
            "method": "subscribe",
            "params": {"channel": "ticker", "symbol": ["BTC/USD", "ETH/USD"]},
            "req_id": 1,
        }
    ]
    with bridge.stream("/events?since=start&format=json") as stream:
        told = [stream.next() for _ in range(4)]
        # The first confirmation is the preset's own; the second one, of the other symbol, has no channel.
        records = [(each["topic"], json.loads(each["data"])) for each in map(_record, told)]
        assert [topic for topic, _ in records] == ["status", "ticker", "messages", "ticker"]
        assert records[2][1]["result"] == {"channel": "ticker", "symbol": "ETH/USD"}
        service.publish("ticker", {"symbol": "BTC/USD", "bid": 1})
        assert json.loads(_record(stream.next())["data"])["data"] == [{"symbol": "BTC/USD", "bid": 1}]
        # Heartbeats are kept from readers.
        service.run(service.session().send({"channel": "heartbeat"}))
        service.publish("ticker", {"symbol": "ETH/USD", "bid": 2})
        assert json.loads(_record(stream.next())["data"])["data"] == [{"symbol": "ETH/USD", "bid": 2}]
    assert service.breaches == []


def _record(event: Any) -> dict[str, Any]:
    return json.loads(event.data)


def test_requests_have_their_replies(start: Callable[..., Kraken], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    params = {"channel": "trade", "symbol": ["BTC/USD"]}
    reply = bridge.post("/request", json.dumps({"method": "subscribe", "params": params}).encode())
    assert reply.json()["success"] is True
    assert isinstance(reply.json()["req_id"], int)
    service.await_subscription("trade")
    reply = bridge.post("/request", b'{"method":"subscribe","params":{"channel":"instrument"},"req_id":77}')
    assert (reply.json()["req_id"], reply.json()["result"]) == (77, {"channel": "instrument"})
    # Its pong looks as those that answer heartbeats.
    reply = bridge.post("/request", b'{"method":"ping","req_id":78}')
    assert (reply.json()["req_id"], reply.json()["method"]) == (78, "pong")
    assert service.breaches == []


def test_a_refusal_fails_the_attempt(start: Callable[..., Kraken], serve: Serve) -> None:
    service = start(channels=[])
    bridge = serve(service, parameters={"symbols": '["XBT/USD"]'})
    with bridge.stream("/events?types=status&since=start") as stream:
        failed = stream.until_status("failed")
    assert failed["phase"] == "onOpen"
    assert bridge.status()["ready"] is False
    await_breach(service, SYMBOLS)


@pytest.mark.parametrize("how", ["drop", 1000, 1001, 1012, "the user"])
def test_each_connection_subscribes(start: Callable[..., Kraken], serve: Serve, how: str | int) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    with bridge.stream("/events?topic=ticker&match=/type:update") as stream:
        for number in range(3):
            service.await_subscription("ticker", number)
            await_opens(bridge, number + 1)
            service.publish("ticker", {"symbol": "BTC/USD", "bid": number})
            assert json.loads(stream.next().data)["data"][0]["bid"] == number
            end(service, bridge, how, number)
        service.await_subscription("ticker", 3)
    assert service.breaches == []


def test_pings_come_in_time(start: Callable[..., Kraken], serve: Serve) -> None:
    """At a twentieth of the preset's interval."""
    service = start(ping_within=2)
    bridge = serve(service, heartbeat={"interval": "250ms"})
    with bridge.stream("/events?since=start") as stream:
        service.await_truth(lambda: len(_pings(service)) >= 5, "five pings")
        bridge.await_status(lambda status: status["counters"]["heartbeatsSent"] >= 5, "they count")
        service.publish("ticker", {"symbol": "BTC/USD", "bid": 1})
        events = []
        while '"update","data":[{"symbol":"BTC/USD","bid":1}]' not in (data := stream.next().data):
            events.append(data)
    assert [data for data in events if "pong" in data] == []
    assert len(service.sessions) == 1
    numbers = [each["req_id"] for each in _pings(service)]
    assert numbers == sorted(set(numbers))
    assert bridge.status()["heartbeat"]["misses"] == 0
    assert service.breaches == []


def _pings(service: Kraken) -> list[dict[str, Any]]:
    messages = [json.loads(each) for session in service.sessions for each in session.received]
    return [each for each in messages if each["method"] == "ping"]


def test_a_silent_server_is_left(start: Callable[..., Kraken], serve: Serve) -> None:
    service = start(silence_within=20)
    bridge = serve(service, reconnect=QUICK, heartbeat={"interval": "250ms"})
    service.await_subscription("ticker")
    bridge.await_ready()
    service.fall_silent()
    service.await_subscription("ticker", 1)
    assert not finished(service).closed_with
    assert service.breaches == []


Unwelcoming = unwelcoming(Kraken, 1013)


def test_dials_become_rarer(start_service: Callable[..., Kraken], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service)
    service.session(3)
    assert service.breaches == []


# The page


def test_the_recipe(start: Callable[..., Kraken], run_bridge: Serve, tmp_path: Path) -> None:
    service = start()
    recipe = Recipe("kraken", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    tick = {"symbol": "BTC/USD", "bid": 90000.1, "ask": 90000.2, "last": 90000.1}
    recipe.follow(bridge, *[lambda: service.publish("ticker", tick)] * 2)
    assert service.breaches == []
