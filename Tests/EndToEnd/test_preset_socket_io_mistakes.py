"""The stand-in for Socket.IO notices what is wrong with a preset that is worse than `socket.io`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from presets import Change, both, leave_out, put
from services.client import await_breach
from services.socket_io import (
    ACKNOWLEDGEMENT,
    CONNECT_TIMEOUT,
    CONNECTION,
    DATA,
    FORMAT,
    HEARTBEAT,
    PACKETS,
    TRANSPORT,
    SocketIO,
)
from stand_ins import QUICK, Serve, serving, starting

start = starting(SocketIO)
serve = serving("socket.io")


def text(new: str) -> Change:
    return put(new, "onOpen", 1, "send", "text")


#: A second connection takes itself for the first one.
ONCE = both(
    *(put({"notCaptured": "done"}, "onOpen", step, "when") for step in range(3)),
    put({"prefix": "40{"}, "onOpen", 2, "expect"),
    # What follows the packet's type is no JSON, so that the ping is what is remembered.
    put({"when": {"equals": "2"}, "capture": {"done": ""}}, "rules", 0),
)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("onOpen"), CONNECT_TIMEOUT, id="no steps"),
        pytest.param(leave_out("onOpen", 1), CONNECT_TIMEOUT, id="waits without asking"),
        pytest.param(put({"prefix": "0["}, "onOpen", 0, "expect"), CONNECT_TIMEOUT, id="another opening"),
        pytest.param(ONCE, CONNECT_TIMEOUT, id="connects once"),
        pytest.param(text('42["connect"]'), CONNECTION, id="an event first"),
        pytest.param(text("41"), CONNECTION, id="disconnects first"),
        pytest.param(text("40/other,"), CONNECTION, id="another namespace"),
        pytest.param(text('40["token"]'), CONNECTION, id="a list as auth"),
        pytest.param(text('40{"token":"1"}'), CONNECTION, id="auth that nobody asked for"),
        pytest.param(text("407"), CONNECTION, id="an id"),
        pytest.param(text("40/"), FORMAT, id="no comma"),
        pytest.param(text("40/,"), FORMAT, id="the main namespace by name"),
        pytest.param(text("40{"), FORMAT, id="half of a packet"),
        pytest.param(text("49"), FORMAT, id="no such packet"),
        pytest.param(text("5"), PACKETS, id="an upgrade"),
        pytest.param(text("0"), PACKETS, id="opens"),
        pytest.param(text("6"), PACKETS, id="a noop"),
        pytest.param(text("2"), HEARTBEAT, id="pings, as clients once did"),
        pytest.param(text("3"), HEARTBEAT, id="a pong first"),
    ],
)
def test_a_worse_beginning_is_found_out(
    start: Callable[..., SocketIO], serve: Serve, change: Change, clause: str
) -> None:
    service = start(connect_timeout=0.5, ping_interval=0.2 if change is ONCE else 25)
    bridge = serve(service, change, reconnect=QUICK)
    if change is ONCE:
        bridge.await_ready()
        session = service.await_connection()
        service.await_truth(lambda: "3" in session.received, "a pong")
        service.drop()
    await_breach(service, clause)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("heartbeat", "reply"), HEARTBEAT, id="no reply"),
        pytest.param(leave_out("heartbeat"), HEARTBEAT, id="no heartbeat"),
        pytest.param(put({"text": "2"}, "heartbeat", "reply"), HEARTBEAT, id="a ping in return"),
        pytest.param(
            put({"text": "3probe"}, "heartbeat", "reply"), HEARTBEAT, id="a pong with something in it"
        ),
        pytest.param(
            put({"equals": "ping"}, "heartbeat", "expect"), HEARTBEAT, id="waits for something else"
        ),
        pytest.param(
            both(put({"text": "3"}, "heartbeat", "send"), put("50ms", "heartbeat", "interval")),
            HEARTBEAT,
            id="pongs by itself",
        ),
        pytest.param(put({"text": "pong"}, "heartbeat", "reply"), PACKETS, id="no packet"),
        pytest.param(put({"base64": "Mw=="}, "heartbeat", "reply"), FORMAT, id="bytes"),
    ],
)
def test_who_answers_pings_wrongly_is_found_out(
    start: Callable[..., SocketIO], serve: Serve, change: Change, clause: str
) -> None:
    service = start(ping_interval=0.3, ping_timeout=0.7)
    serve(service, change)
    await_breach(service, clause)


def answering(reply: str) -> Change:
    """Answer events by itself, with this."""
    return put({"when": {"prefix": "42"}, "reply": {"text": reply}}, "rules", 0)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(answering("437[]"), ACKNOWLEDGEMENT, id="acknowledges what did not ask for it"),
        pytest.param(answering("43{}"), ACKNOWLEDGEMENT, id="acknowledges by an object"),
        pytest.param(answering("42{}"), DATA, id="an event that is an object"),
        pytest.param(answering("42/other,[]"), CONNECTION, id="a namespace that is not connected"),
    ],
)
def test_who_answers_events_wrongly_is_found_out(
    start: Callable[..., SocketIO], serve: Serve, change: Change, clause: str
) -> None:
    service = start()
    serve(service, change).await_ready()
    service.emit("hey")
    await_breach(service, clause)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(leave_out("rules"), id="no rules"),
        pytest.param(leave_out("rules", 1), id="no rule"),
        pytest.param(put({"prefix": "45"}, "rules", 1, "when"), id="a rule for something else"),
    ],
)
def test_who_overhears_the_end_is_found_out(
    start: Callable[..., SocketIO], serve: Serve, change: Change
) -> None:
    service = start()
    bridge = serve(service, change)
    bridge.await_ready()
    with bridge.stream() as stream:
        service.disconnect()
        assert stream.next().data == "41"
    bridge.send('42["hey"]')
    await_breach(service, CONNECTION)


@pytest.mark.parametrize(
    "target",
    [
        "/socket.io/?EIO=3&transport=websocket",
        "/socket.io/?EIO=4&transport=polling",
        "/socket.io/?EIO=4",
        "/socket.io/?EIO=4&transport=websocket&sid=lv_VI97HAXpY6yYWAAAC",
        "/socket.io?EIO=4&transport=websocket",
        "/engine.io/?EIO=4&transport=websocket",
    ],
)
def test_another_url_is_found_out(start: Callable[..., SocketIO], serve: Serve, target: str) -> None:
    service = start()
    serve(service, url=service.url.replace(SocketIO.path, target))
    await_breach(service, TRANSPORT)
