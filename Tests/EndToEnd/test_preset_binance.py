"""The preset `binance` keeps to Binance's rules and loses nothing, and a worse one is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from harness import Bridge
from presets import Change, both, leave_out, put, rewrite
from recipes import Recipe
from services.binance import ERRORS, GENERAL, LIMITS, LIVE, STREAMS, Binance
from services.client import await_breach, finished
from services.rate import Rate
from services.service import Session

TRADES, DEPTH = "btcusdt@aggTrade", "ethusdt@depth"
PARAMETERS = {"streams": json.dumps([TRADES, DEPTH])}
QUICK = {"initialDelay": "20ms"}

Serve = Callable[..., Bridge]


@pytest.fixture
def start(start_service: Callable[..., Binance]) -> Callable[..., Binance]:
    def start(**options: Any) -> Binance:
        return start_service(Binance, **{"streams": [TRADES, DEPTH]} | options)

    return start


@pytest.fixture
def serve(serve_preset: Serve) -> Serve:
    def serve(service: Binance, change: Change | None = None, **settings: Any) -> Bridge:
        return serve_preset("binance", service.url, change, **{"parameters": PARAMETERS} | settings)

    return serve


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


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1006, 1008, "the user"])
def test_each_connection_subscribes(start: Callable[..., Binance], serve: Serve, end: str | int) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    for number in range(3):
        subscribed(service, number)
        bridge.await_status(
            lambda status, opens=number + 1: status["ready"] and status["counters"]["opens"] == opens,
            "it is ready again",
        )
        if end in ("drop", 1006):
            service.drop()
        elif isinstance(end, int):
            service.close(end)
        else:
            assert bridge.post("/reconnect").status == 200
        finished(service, number)
    subscribed(service, 3)
    assert service.breaches == []


def test_nothing_is_lost_or_doubled_where_the_server_shuts_down(
    start: Callable[..., Binance], serve: Serve
) -> None:
    service = start(rate=Rate(10_000))
    bridge = serve(service, reconnect={"resetAfter": "1ms"}, rate={"messages": 1000, "per": "1s"})
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
            assert finished(service, number).closed_with in (None, 1001)
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


class Unwelcoming(Binance):
    """Closes each connection at once."""

    async def converse(self, session: Session) -> None:
        await session.close(1008)


def test_dials_become_rarer(start_service: Callable[..., Binance], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service)
    service.session(3)
    assert service.breaches == []


# Worse ones


def text(old: str, new: str) -> Change:
    return rewrite(old, new, "onOpen", 0, "send", "text")


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("onOpen"), LIVE, id="no steps"),
        pytest.param(leave_out("onOpen", 0), LIVE, id="waits without asking"),
        pytest.param(text(',"id":"subscribe"', ""), ERRORS, id="no id"),
        pytest.param(text('"subscribe"', '"sub-scribe"'), LIVE, id="an id with a hyphen"),
        pytest.param(text('"subscribe"', "1.5"), LIVE, id="a fraction as id"),
        pytest.param(text('"subscribe"', f'"{"a" * 37}"'), LIVE, id="an id that is too long"),
        pytest.param(text("SUBSCRIBE", "subscribe"), ERRORS, id="no such method"),
        pytest.param(text('"params"', '"streams"'), ERRORS, id="no params"),
        pytest.param(text("${parameter:streams}", '"btcusdt@aggTrade"'), ERRORS, id="params without a list"),
        pytest.param(text("${parameter:streams}", '["BTCUSDT@aggTrade"]'), GENERAL, id="upper case"),
        pytest.param(text("${parameter:streams}", '["btcusdt@trades"]'), STREAMS, id="no such stream"),
        pytest.param(rewrite(":9443/stream", ":9443/streams", "url"), GENERAL, id="no such path"),
        pytest.param(
            rewrite(":9443/stream", ":9443/stream?streams=BTCUSDT@trade", "url"),
            GENERAL,
            id="a path in capitals",
        ),
        pytest.param(
            rewrite(":9443/stream", ":9443/ws/btcusdt@trades", "url"), STREAMS, id="a path to no stream"
        ),
    ],
)
def test_a_worse_beginning_is_found_out(
    start: Callable[..., Binance], serve: Serve, change: Change, clause: str
) -> None:
    wants = {"streams": [TRADES], "within": 0.5} if clause == LIVE else {"streams": []}
    service = start(**wants)
    serve(service, change)
    await_breach(service, clause)


#: A second connection takes itself for the first one.
ONCE = both(
    put({"done": "/id"}, "onOpen", 1, "capture"),
    put({"notCaptured": "done"}, "onOpen", 0, "when"),
    put({"notCaptured": "done"}, "onOpen", 1, "when"),
)


@pytest.mark.parametrize(("end", "clause"), [("drop", LIVE), ("shut_down", GENERAL)])
def test_who_subscribes_once_is_found_out(
    start: Callable[..., Binance], serve: Serve, end: str, clause: str
) -> None:
    service = start(within=0.5)
    bridge = serve(service, ONCE, reconnect=QUICK)
    subscribed(service)
    bridge.await_ready()
    getattr(service, end)()
    await_breach(service, clause)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(leave_out("rules"), id="no rules"),
        pytest.param(leave_out("rules", 0), id="no rule"),
        pytest.param(put("servershutdown", "rules", 0, "when", "json", "/e"), id="another name"),
        pytest.param(put("reconnect", "rules", 0, "action"), id="reconnects"),
        pytest.param(put("stop", "rules", 0, "action"), id="stops"),
        pytest.param(put("/url", "rules", 0, "urlPointer"), id="waits for a URL"),
    ],
)
def test_who_does_not_rotate_is_found_out(
    start: Callable[..., Binance], serve: Serve, change: Change
) -> None:
    service = start(streams=[], shutdown_within=0.5)
    serve(service, change).await_ready()
    service.shut_down()
    await_breach(service, GENERAL)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(leave_out("rate"), id="no rate"),
        pytest.param(put(40, "rate", "messages"), id="ten times the rate"),
        pytest.param(put("100ms", "rate", "per"), id="a tenth of the span"),
    ],
)
def test_who_sends_too_much_is_found_out(start: Callable[..., Binance], serve: Serve, change: Change) -> None:
    service = start()
    bridge = serve(service, change)
    bridge.await_ready()
    body = b'{"method":"LIST_SUBSCRIPTIONS","id":1}\n' * 12
    assert bridge.post("/messages", body, "application/x-ndjson").status == 202
    await_breach(service, LIMITS)


def test_who_pings_too_much_is_found_out(start: Callable[..., Binance], serve: Serve) -> None:
    service = start()
    serve(service, both(leave_out("rate"), put("20ms", "heartbeat", "interval")))
    await_breach(service, LIMITS)


def test_who_dials_too_often_is_found_out(start_service: Callable[..., Binance], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service, put({"initialDelay": "10ms", "factor": 1}, "reconnect"))
    await_breach(service, LIMITS)


# The page


def test_the_recipe(start: Callable[..., Binance], run_bridge: Serve, tmp_path: Path) -> None:
    service = start()
    recipe = Recipe("binance", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    trade = {"e": "aggTrade", "s": "BTCUSDT", "p": "90000.10", "q": "0.015"}
    recipe.follow(bridge, *[lambda: service.publish(TRADES, trade)] * 2)
    assert service.breaches == []
