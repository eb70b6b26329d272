"""The stand-in for Kraken notices what is wrong with a preset that is worse than `kraken`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from presets import Change, both, leave_out, put, rewrite
from services.client import await_breach
from services.kraken import (
    BACKOFF,
    ENDPOINTS,
    HEARTBEAT,
    LIFECYCLE,
    PING,
    SILENCE,
    STATUS,
    SYMBOLS,
    Kraken,
    reference,
)
from services.rate import Rate
from stand_ins import QUICK, Serve, serving, starting, unwelcoming

PARAMETERS = {"symbols": '["BTC/USD","ETH/USD"]'}


start = starting(Kraken, channels=["ticker"], heartbeat_interval=0.1)
serve = serving("kraken", parameters=PARAMETERS)


Unwelcoming = unwelcoming(Kraken, 1013)


def text(old: str, new: str) -> Change:
    return rewrite(old, new, "onOpen", 1, "send", "text")


def channel(name: str) -> Change:
    return text("${parameter:channel}", name)


def symbols(new: str) -> Change:
    return text("${parameter:symbols}", new)


#: A second connection takes itself for the first one.
ONCE = both(
    put({"done": "/req_id"}, "onOpen", 2, "capture"),
    put({"notCaptured": "done"}, "onOpen", 1, "when"),
    put({"notCaptured": "done"}, "onOpen", 2, "when"),
)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("onOpen"), LIFECYCLE, id="no steps"),
        pytest.param(leave_out("onOpen", 1), LIFECYCLE, id="waits without asking"),
        pytest.param(
            put({"json": {"/channel": "hello"}}, "onOpen", 0, "expect"), LIFECYCLE, id="other greeting"
        ),
        pytest.param(ONCE, LIFECYCLE, id="subscribes once"),
        pytest.param(text("{{counter}}", '"{{counter}}"'), reference("ticker"), id="a text as req_id"),
        pytest.param(text("{{counter}}", "1.5"), reference("ticker"), id="a fraction as req_id"),
        pytest.param(text('"method"', '"event"'), reference("subscribe"), id="version 1"),
        pytest.param(text('"subscribe"', '"sub"'), reference("subscribe"), id="no such method"),
        pytest.param(text('"subscribe"', '"unsubscribe"'), reference("ticker"), id="unsubscribes"),
        pytest.param(
            text('"req_id":{{counter}}}', '"req_id":'), reference("subscribe"), id="half of a message"
        ),
        pytest.param(text('"symbol"', '"pair"'), reference("ticker"), id="no symbols"),
        pytest.param(symbols('"BTC/USD"'), reference("ticker"), id="a symbol without a list"),
        pytest.param(symbols('["BTC-USD"]'), SYMBOLS, id="a symbol with a hyphen"),
        pytest.param(symbols('["XBT/USD"]'), SYMBOLS, id="a symbol of version 1"),
        pytest.param(channel("heartbeat"), HEARTBEAT, id="subscribes to heartbeats"),
        pytest.param(channel("status"), STATUS, id="subscribes to the status"),
        pytest.param(channel("tickers"), reference("subscribe"), id="no such channel"),
        pytest.param(channel("balances"), ENDPOINTS, id="a private channel"),
        pytest.param(text("},", ',"event_trigger":"all"},'), reference("ticker"), id="no such choice"),
        pytest.param(rewrite("/v2", "/", "url"), ENDPOINTS, id="no such path"),
    ],
)
def test_a_worse_beginning_is_found_out(
    start: Callable[..., Kraken], serve: Serve, change: Change, clause: str
) -> None:
    wants = {"within": 0.5} if clause == LIFECYCLE else {"channels": []}
    service = start(**wants)
    bridge = serve(service, change, reconnect=QUICK)
    if change is ONCE:
        service.await_subscription("ticker")
        bridge.await_ready()
        service.drop()
    await_breach(service, clause)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(put("2500ms", "heartbeat", "interval"), id="ten times as late"),
        pytest.param(put(0, "heartbeat", "interval"), id="never"),
        pytest.param(put("none", "heartbeat", "send"), id="only listens"),
        pytest.param(rewrite("ping", "pong", "heartbeat", "send", "text"), id="another message"),
        pytest.param(both(put("ping", "heartbeat", "send"), put(None, "heartbeat", "expect")), id="frames"),
    ],
)
def test_who_pings_too_late_is_found_out(start: Callable[..., Kraken], serve: Serve, change: Change) -> None:
    """The interval is a twentieth of the preset's."""
    service = start(ping_within=1.5)
    serve(service, both(put("250ms", "heartbeat", "interval"), change))
    service.await_truth(lambda: service.breaches, "a complaint")
    # A message that is no ping is no request either.
    assert {breach.clause for breach in service.breaches} <= {PING, reference("subscribe"), reference("")}
    service.await_truth(lambda: PING in {breach.clause for breach in service.breaches}, "no ping")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(put(0, "heartbeat", "interval"), id="no heartbeat"),
        pytest.param(put("60s", "heartbeat", "interval"), id="many times as late"),
        pytest.param(put(100, "heartbeat", "missLimit"), id="patience"),
    ],
)
def test_who_waits_for_a_silent_server_is_found_out(
    start: Callable[..., Kraken], serve: Serve, change: Change
) -> None:
    service = start(silence_within=2)
    bridge = serve(service, both(put("100ms", "heartbeat", "interval"), change))
    bridge.await_ready()
    service.fall_silent()
    await_breach(service, SILENCE)


def test_who_dials_too_often_is_found_out(start_service: Callable[..., Kraken], serve: Serve) -> None:
    service = start_service(Unwelcoming, dials=Rate(3))
    serve(service, put({"initialDelay": "10ms", "factor": 1}, "reconnect"))
    await_breach(service, BACKOFF)
