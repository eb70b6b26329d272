"""The preset `socket.io` keeps to the protocols of Socket.IO and Engine.IO, and a worse one is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import Change, both, leave_out, put
from recipes import Recipe
from services.client import await_breach, finished
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

QUICK = {"initialDelay": "20ms"}

Serve = Callable[..., Bridge]


@pytest.fixture
def start(start_service: Callable[..., SocketIO]) -> Callable[..., SocketIO]:
    def start(**options: Any) -> SocketIO:
        return start_service(SocketIO, **options)

    return start


@pytest.fixture
def serve(serve_preset: Serve) -> Serve:
    def serve(service: SocketIO, change: Change | None = None, **settings: Any) -> Bridge:
        url = settings.pop("url", service.url)
        return serve_preset("socket.io", url, change, **settings)

    return serve


@pytest.mark.parametrize("namespace", ["/", "/admin"])
@pytest.mark.parametrize("auth", [None, {"token": "s3cret"}])
def test_events_go_both_ways(
    start: Callable[..., SocketIO], serve: Serve, namespace: str, auth: dict[str, str] | None
) -> None:
    name = "" if namespace == "/" else f"{namespace},"
    service = start(namespaces=[namespace], auth=auth)
    parameters = {"namespace": name} | ({"auth": json.dumps(auth)} if auth else {})
    bridge = serve(service, parameters=parameters)
    bridge.await_ready()
    service.await_connection(namespace)
    with bridge.stream("/events?since=start") as stream:
        service.emit("hey", "Jude", namespace=namespace)
        # Nothing of the opening comes before it.
        assert stream.next().data == f'42{name}["hey","Jude"]'
        bridge.send(f'42{name}["hello",1]')
        assert service.await_events(1) == [(namespace, ["hello", 1])]
        bridge.send(f'42{name}7["ask",[2]]')
        assert stream.next().data == f"43{name}7[[2]]"
    assert service.breaches == []
    assert "s3cret" not in bridge.err.text + bridge.get("/status").body.decode()


def test_acknowledgements_are_posted(start: Callable[..., SocketIO], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    with bridge.stream() as stream:
        for _ in range(3):
            service.emit("tell", ack=True)
            asked = stream.next().data
            assert asked.endswith('["tell"]')
            bridge.send(asked.replace("42", "43", 1).replace('["tell"]', '["told"]'))
    session = service.session()
    service.await_truth(lambda: not session.notes["unacknowledged"], "all are acknowledged")
    assert service.breaches == []


def test_attachments_follow_their_packets(start: Callable[..., SocketIO], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    with bridge.stream() as stream:
        service.emit("image", b"\1\2")
        text, binary = stream.take(2)
        assert text.data == '451-["image",{"_placeholder":true,"num":0}]'
        assert (binary.type, binary.data) == ("binary", "AQI=")
    bridge.send('451-["image",{"_placeholder":true,"num":0}]')
    assert bridge.post("/messages", b"\3\4", "application/octet-stream").status == 202
    assert service.await_events(1) == [("/", ["image", b"\3\4"])]
    assert service.breaches == []


def test_pings_are_answered(start: Callable[..., SocketIO], serve: Serve) -> None:
    service = start(ping_interval=0.05)
    bridge = serve(service)
    session = service.session()
    with bridge.stream("/events?since=start") as stream:
        service.await_truth(lambda: session.received.count("3") >= 10, "ten pongs")
        service.emit("hey")
        assert stream.next().data == '42["hey"]'
    assert session.is_open
    assert bridge.status()["counters"]["opens"] == 1
    assert service.breaches == []


def test_a_server_without_pings_is_left(start: Callable[..., SocketIO], serve: Serve) -> None:
    service = start(ping_interval=1000)
    serve(service, heartbeat={"interval": "300ms"}, reconnect=QUICK)
    service.await_connection(number=1)
    assert finished(service).closed_with is None
    assert service.breaches == []


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1006, "the user"])
def test_each_connection_connects(start: Callable[..., SocketIO], serve: Serve, end: str | int) -> None:
    service = start(auth={"token": "1"})
    bridge = serve(service, reconnect=QUICK, parameters={"auth": '{"token":"1"}'})
    with bridge.stream() as stream:
        for number in range(3):
            service.await_connection(number=number)
            bridge.await_status(
                lambda status, opens=number + 1: status["ready"] and status["counters"]["opens"] == opens,
                "it is ready again",
            )
            service.emit("number", number)
            assert stream.next().data == f'42["number",{number}]'
            if end in ("drop", 1006):
                service.drop()
            elif isinstance(end, int):
                service.close(end)
            else:
                assert bridge.post("/reconnect").status == 200
            finished(service, number)
        service.await_connection(number=3)
    assert service.breaches == []


def test_who_is_disconnected_stays_away(start: Callable[..., SocketIO], serve: Serve) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    bridge.await_ready()
    with bridge.stream("/events?types=text,status") as stream:
        service.disconnect()
        closed = stream.until_status("closed")
    assert (closed["by"], closed["clean"]) == ("bridge", True)
    assert finished(service).close_frame == (1000, "")
    bridge.await_status(lambda status: status["state"] == "closed", "it is closed for good")
    assert len(service.sessions) == 1
    assert service.breaches == []


@pytest.mark.parametrize(
    "parameters", [{"namespace": "/other,"}, {"auth": '{"token":"wrong"}'}, {}], ids=lambda it: " ".join(it)
)
def test_who_is_refused_stays_away(
    start: Callable[..., SocketIO], serve: Serve, parameters: dict[str, str]
) -> None:
    service = start(auth={"token": "right"})
    bridge = serve(service, reconnect=QUICK, parameters=parameters)
    bridge.await_status(lambda status: status["state"] == "closed", "it is closed for good")
    assert finished(service).close_frame == (1000, "")
    with bridge.stream("/events?since=start") as stream:
        # The reader can see why.
        assert stream.next().data.startswith("44")
    assert len(service.sessions) == 1
    # Who gave the parameters is at fault.
    await_breach(service, CONNECTION)


# Worse ones


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


# The page


def test_the_recipe(start: Callable[..., SocketIO], run_bridge: Serve, tmp_path: Path) -> None:
    service = start(auth={"token": "s3cret"})
    recipe = Recipe("socket.io", tmp_path)
    bridge = recipe.serve(run_bridge, service.url, CHAT_TOKEN="s3cret")
    recipe.follow(
        bridge,
        lambda: service.emit("hey", "Jude"),
        lambda: bridge.send('427["ask","How are you?"]'),
    )
    assert service.await_events(1) == [("/", ["hello", "from the shell"])]
    assert service.breaches == []
