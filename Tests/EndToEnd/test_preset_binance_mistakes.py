"""The stand-in for Binance notices what is wrong with a preset that is worse than `binance`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from presets import Change, both, leave_out, put, rewrite
from services.binance import ERRORS, GENERAL, LIMITS, LIVE, STREAMS, Binance
from services.client import await_breach
from services.rate import Rate
from services.service import Session
from stand_ins import QUICK, Serve, serving, starting, unwelcoming

TRADES, DEPTH = "btcusdt@aggTrade", "ethusdt@depth"
PARAMETERS = {"streams": json.dumps([TRADES, DEPTH])}


start = starting(Binance, streams=[TRADES, DEPTH])
serve = serving("binance", parameters=PARAMETERS)


def subscribed(service: Binance, number: int = 0) -> Session:
    service.await_subscription(TRADES, number)
    return service.await_subscription(DEPTH, number)


Unwelcoming = unwelcoming(Binance, 1008)


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
