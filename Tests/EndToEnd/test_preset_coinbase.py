"""The preset `coinbase` keeps to Coinbase's rules, and a worse one is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from presets import Change, both, leave_out, put, rewrite
from recipes import Recipe
from services.client import await_breach, finished
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
from stand_ins import QUICK, Serve, await_opens, end, serving, starting, unwelcoming

PARAMETERS = {"products": '["BTC-USD","ETH-USD"]'}
TICK = {"type": "update", "tickers": [{"product_id": "BTC-USD", "price": "90000.10"}]}


start = starting(Coinbase, channels=["ticker", "heartbeats"])
serve = serving("coinbase", parameters=PARAMETERS)


def test_channels_become_topics(start: Callable[..., Coinbase], serve: Serve) -> None:
    service = start(heartbeat_interval=0.1)
    bridge = serve(service)
    bridge.await_ready()
    assert [json.loads(each) for each in service.await_subscription("ticker").received] == [
        {"type": "subscribe", "channel": "heartbeats"},
        {"type": "subscribe", "channel": "ticker", "product_ids": ["BTC-USD", "ETH-USD"]},
    ]
    with bridge.stream("/events?since=start&format=json") as stream:
        service.publish("ticker", TICK)
        bridge.await_status(lambda status: status["heartbeat"]["lastAnswerAt"], "a heartbeat")
        service.publish("ticker", TICK)
        # Neither confirmations nor heartbeats are for readers.
        for _ in range(2):
            record = json.loads(stream.next().data)
            assert record["topic"] == "ticker"
            assert json.loads(record["data"])["events"] == [TICK]
    assert service.breaches == []


def test_messages_go_out(start: Callable[..., Coinbase], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    with bridge.stream("/events?topic=subscriptions") as stream:
        bridge.send('{"type":"subscribe","channel":"level2","product_ids":["BTC-USD"]}')
        service.await_subscription("level2")
        events = json.loads(stream.next().data)["events"]
        assert events[0]["subscriptions"]["level2"] == ["BTC-USD"]
    assert service.breaches == []


def test_a_burst_is_sent_below_the_limit(start: Callable[..., Coinbase], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    body = b'{"type":"subscribe","channel":"status"}\n' * 24
    assert bridge.post("/messages", body, "application/x-ndjson").status == 202
    service.await_truth(lambda: len(service.session().received) == 26, "all of the burst")
    assert service.breaches == []


@pytest.mark.parametrize("how", ["drop", 1000, 1001, 1008, "the user"])
def test_each_connection_subscribes(start: Callable[..., Coinbase], serve: Serve, how: str | int) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    with bridge.stream("/events?topic=ticker") as stream:
        for number in range(3):
            for channel in ("heartbeats", "ticker"):
                service.await_subscription(channel, number)
            await_opens(bridge, number + 1)
            service.publish("ticker", {"number": number})
            assert json.loads(stream.next().data)["events"] == [{"number": number}]
            end(service, bridge, how, number)
        service.await_subscription("ticker", 3)
    assert service.breaches == []


def test_heartbeats_keep_the_connection(start: Callable[..., Coinbase], serve: Serve) -> None:
    """They come ten times as often as intervals end; the bridge itself sends nothing."""
    service = start(heartbeat_interval=0.1, quiet_within=1)
    bridge = serve(service, heartbeat={"interval": "1s"})
    answers: set[str] = set()

    def is_answered(status: dict[str, Any]) -> bool:
        if (answer := status["heartbeat"]["lastAnswerAt"]) is not None:
            answers.add(answer)
        return len(answers) >= 20

    # For two intervals at least, since a heartbeat comes every tenth of one.
    status = bridge.await_status(is_answered, "twenty heartbeats")
    assert (status["heartbeat"]["misses"], status["counters"]["opens"]) == (0, 1)
    assert len(service.session().received) == 2
    # The channel is still open, though nothing was published.
    assert "ticker" in service.session().notes["subscriptions"]
    assert service.breaches == []


def test_a_silent_server_is_left(start: Callable[..., Coinbase], serve: Serve) -> None:
    service = start(silence_within=20)
    bridge = serve(service, reconnect=QUICK, heartbeat={"interval": "250ms"})
    service.await_subscription("ticker")
    bridge.await_ready()
    service.fall_silent()
    service.await_subscription("ticker", 1)
    assert not finished(service).closed_with
    assert service.breaches == []


Unwelcoming = unwelcoming(Coinbase, 1008)


def test_dials_become_rarer(start_service: Callable[..., Coinbase], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service)
    service.session(3)
    assert service.breaches == []


# Worse ones


def text(old: str, new: str) -> Change:
    return rewrite(old, new, "onOpen", 2, "send", "text")


#: A second connection takes itself for the first one.
ONCE = both(
    *(put({"notCaptured": "done"}, "onOpen", step, "when") for step in range(4)),
    put({"done": "/channel"}, "onOpen", 3, "capture"),
)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("onOpen"), SUBSCRIBING, id="no steps"),
        pytest.param(put([], "onOpen"), SUBSCRIBING, id="an empty list of steps"),
        pytest.param(leave_out("onOpen", 2), SUBSCRIBING, id="heartbeats alone"),
        pytest.param(both(leave_out("onOpen", 2), leave_out("onOpen", 2)), SUBSCRIBING, id="no channel"),
        pytest.param(ONCE, SUBSCRIBING, id="subscribes once"),
        pytest.param(text('"product_ids"', '"products"'), SUBSCRIBING, id="no products"),
        pytest.param(text('"channel"', '"channels"'), SUBSCRIBING, id="channels"),
        pytest.param(text("${parameter:products}", '"BTC-USD"'), SUBSCRIBING, id="a product without a list"),
        pytest.param(text("${parameter:products}", '["BTC/USD"]'), SUBSCRIBING, id="a product with a slash"),
        pytest.param(text('"type"', '"method"'), PROTOCOL, id="no type"),
        pytest.param(text('"subscribe"', '"sub"'), PROTOCOL, id="no such type"),
        pytest.param(text('"subscribe"', '"unsubscribe"'), UNSUBSCRIBING, id="unsubscribes"),
        pytest.param(text('"product_ids":${parameter:products}}', ""), PROTOCOL, id="half of a message"),
        pytest.param(text("${parameter:channel}", "tickers"), CHANNELS, id="no such channel"),
        pytest.param(text("${parameter:channel}", "user"), CHANNELS, id="a private channel"),
        pytest.param(
            text("products}}", 'products},"jwt":"made up"}'), AUTHENTICATION, id="a token of its own"
        ),
        pytest.param(
            both(leave_out("onOpen", 0), leave_out("onOpen", 0)), CHANNELS, id="no heartbeats are asked for"
        ),
        pytest.param(
            rewrite("heartbeats", "status", "onOpen", 0, "send", "text"),
            CHANNELS,
            id="something else instead",
        ),
    ],
)
def test_a_worse_beginning_is_found_out(
    start: Callable[..., Coinbase], serve: Serve, change: Change, clause: str
) -> None:
    wants = ["ticker"] if clause == SUBSCRIBING else []
    service = start(channels=wants, within=0.5, first_within=0.4, quiet_within=0.4)
    bridge = serve(service, change, reconnect=QUICK)
    if change is ONCE:
        service.await_subscription("ticker")
        bridge.await_ready()
        service.drop()
    await_breach(service, clause)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(put(0, "heartbeat", "interval"), id="no heartbeat"),
        pytest.param(put("60s", "heartbeat", "interval"), id="many times as late"),
        pytest.param(put(100, "heartbeat", "missLimit"), id="patience"),
        pytest.param(
            both(put("ping", "heartbeat", "send"), put(None, "heartbeat", "expect")), id="pings instead"
        ),
    ],
)
def test_who_waits_for_a_silent_server_is_found_out(
    start: Callable[..., Coinbase], serve: Serve, change: Change
) -> None:
    service = start(silence_within=2)
    bridge = serve(service, both(put("100ms", "heartbeat", "interval"), change))
    service.await_subscription("ticker")
    bridge.await_ready()
    service.fall_silent()
    await_breach(service, HEARTBEATS)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(leave_out("rate"), id="no rate"),
        pytest.param(put(80, "rate", "messages"), id="ten times the rate"),
        pytest.param(put("100ms", "rate", "per"), id="a tenth of the span"),
    ],
)
def test_who_sends_too_much_is_found_out(
    start: Callable[..., Coinbase], serve: Serve, change: Change
) -> None:
    service = start()
    bridge = serve(service, change)
    bridge.await_ready()
    body = b'{"type":"subscribe","channel":"status"}\n' * 24
    assert bridge.post("/messages", body, "application/x-ndjson").status == 202
    await_breach(service, RATES)


def test_who_dials_too_often_is_found_out(start_service: Callable[..., Coinbase], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service, put({"initialDelay": "10ms", "factor": 1}, "reconnect"))
    await_breach(service, RATES)


# The page


def test_the_recipe(start: Callable[..., Coinbase], run_bridge: Serve, tmp_path: Path) -> None:
    service = start()
    recipe = Recipe("coinbase", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    recipe.follow(bridge, *[lambda: service.publish("ticker", TICK)] * 2)
    assert service.breaches == []
