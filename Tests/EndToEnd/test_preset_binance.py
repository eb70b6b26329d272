"""The preset `binance` keeps to Binance's rules and loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from recipes import Recipe
from services.binance import Binance
from services.client import finished
from services.rate import Rate
from services.service import Session
from stand_ins import QUICK, Serve, await_opens, end, serving, starting, unwelcoming

TRADES, DEPTH = "btcusdt@aggTrade", "ethusdt@depth"
PARAMETERS = {"streams": json.dumps([TRADES, DEPTH])}


start = starting(Binance, streams=[TRADES, DEPTH])
serve = serving("binance", parameters=PARAMETERS)


def subscribed(service: Binance, number: int = 0) -> Session:
    service.await_subscription(TRADES, number)
    return service.await_subscription(DEPTH, number)


def test_streams_become_topics(start: Callable[..., Binance], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    assert [json.loads(each) for each in subscribed(service).received] == [
        {"method": "SUBSCRIBE", "params": [TRADES, DEPTH], "id": "subscribe"}
    ]
    # Nothing came before but the confirmation, which is the preset's own.
    with (
        bridge.stream("/events?since=start&format=json") as stream,
        bridge.stream(f"/events?topic={DEPTH}") as depth,
    ):
        service.publish(TRADES, {"e": "aggTrade", "p": "1"})
        service.publish(DEPTH, {"e": "depthUpdate", "u": 2})
        records = [json.loads(event.data) for event in stream.take(2)]
        assert [record["topic"] for record in records] == [TRADES, DEPTH]
        assert json.loads(records[0]["data"]) == {"stream": TRADES, "data": {"e": "aggTrade", "p": "1"}}
        assert json.loads(depth.next().data)["data"]["u"] == 2
    assert service.breaches == []


def test_requests_have_their_replies(start: Callable[..., Binance], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    reply = bridge.post("/request", b'{"method":"LIST_SUBSCRIPTIONS"}')
    assert reply.json() == {"result": [TRADES, DEPTH], "id": 1}
    reply = bridge.post("/request", b'{"method":"SUBSCRIBE","params":["bnbbtc@trade"],"id":"more"}')
    assert reply.json() == {"result": None, "id": "more"}
    service.await_subscription("bnbbtc@trade")
    assert service.breaches == []


def test_a_burst_is_sent_below_the_limit(start: Callable[..., Binance], serve: Serve) -> None:
    """Pongs to the server's pings count as well."""
    service = start(ping_interval=1.1)
    bridge = serve(service)
    bridge.await_ready()
    lines = [{"method": "GET_PROPERTY", "params": ["combined"], "id": number} for number in range(12)]
    body = "\n".join(map(json.dumps, lines))
    assert bridge.post("/messages", body.encode(), "application/x-ndjson").status == 202
    service.await_truth(lambda: len(service.session().received) == 13, "all of the burst")
    assert [json.loads(each)["id"] for each in service.session().received[1:]] == list(range(12))
    assert service.breaches == []


def test_pings_go_both_ways(start: Callable[..., Binance], serve: Serve) -> None:
    service = start(ping_interval=0.05, rate=Rate(10_000))
    bridge = serve(service, heartbeat={"interval": "50ms"}, rate={"messages": 1000, "per": "1s"})
    session = service.session()
    for opcode in (Opcode.PING, Opcode.PONG):
        service.await_truth(
            lambda opcode=opcode: [each for _, each in session.frames].count(opcode) >= 5, f"five {opcode}"
        )
    bridge.await_ready()
    assert len(service.sessions) == 1
    assert service.breaches == []


@pytest.mark.parametrize("how", ["drop", 1000, 1001, 1008, "the user"])
def test_each_connection_subscribes(start: Callable[..., Binance], serve: Serve, how: str | int) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    for number in range(3):
        subscribed(service, number)
        await_opens(bridge, number + 1)
        end(service, bridge, how, number)
    subscribed(service, 3)
    assert service.breaches == []


def test_nothing_is_lost_or_doubled_where_the_server_shuts_down(
    start: Callable[..., Binance], serve: Serve
) -> None:
    service = start(rate=Rate(10_000))
    bridge = serve(service, reconnect={"resetAfter": 0}, rate={"messages": 1000, "per": "1s"})
    with bridge.stream(f"/events?topic={TRADES}") as stream, bridge.stream("/events?types=status") as status:
        subscribed(service)
        bridge.await_ready()
        published, sent = 0, []

        async def tell() -> None:
            # The newest connection that is subscribed, at this moment.
            session = [each for each in service.sessions if TRADES in each.notes.get("streams", {})][-1]
            await session.send({"stream": TRADES, "data": {"a": published}})

        def publish() -> None:
            """Publish a trade on one connection only."""
            nonlocal published
            service.run(tell())
            published += 1

        for number in range(3):
            publish()
            service.shut_down(number)
            while service.sessions[number].is_open:
                publish()
                message = {"method": "GET_PROPERTY", "params": ["combined"], "id": len(sent)}
                sent.append(bridge.send(json.dumps(message)))
            assert finished(service, number).close_frame == (1000, "")
        publish()
        trades = [json.loads(event.data)["data"]["a"] for event in stream.take(published)]
        assert sorted(trades) == list(range(published))
        states = [each["type"] for each in _until_rotated(status, 3)]
        assert [each for each in states if each in ("closed", "failed", "reconnecting")] == []
        service.await_truth(lambda: len(_ids(service)) >= len(sent), "all that was posted")
        assert sorted(_ids(service)) == list(range(len(sent)))
    assert len(service.sessions) == 4
    assert service.breaches == []


def _until_rotated(stream: Any, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while [each["type"] for each in found].count("rotated") < count:
        found.append(next(stream.statuses()))
    return found


def _ids(service: Binance) -> list[int]:
    """Ids of what was posted, of all connections."""
    messages = [json.loads(each) for session in service.sessions for each in session.received]
    return [each["id"] for each in messages if each["method"] == "GET_PROPERTY"]


def test_the_announcement_may_come_as_a_stream_does(start: Callable[..., Binance], serve: Serve) -> None:
    service = start()
    serve(service).await_ready()
    event = {"stream": TRADES, "data": {"e": "serverShutdown", "E": 1}}
    service.run(service.session().send(event))
    subscribed(service, 1)
    assert finished(service).close_frame == (1000, "")
    assert service.breaches == []


Unwelcoming = unwelcoming(Binance, 1008)


def test_dials_become_rarer(start_service: Callable[..., Binance], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service)
    service.session(3)
    assert service.breaches == []


# The page


def test_the_recipe(start: Callable[..., Binance], run_bridge: Serve, tmp_path: Path) -> None:
    service = start()
    recipe = Recipe("binance", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    trade = {"e": "aggTrade", "s": "BTCUSDT", "p": "90000.10", "q": "0.015"}
    recipe.follow(bridge, *[lambda: service.publish(TRADES, trade)] * 2)
    assert service.breaches == []
