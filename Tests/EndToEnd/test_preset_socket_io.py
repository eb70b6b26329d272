"""The preset `socket.io` keeps to the protocols of Socket.IO and Engine.IO."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recipes import Recipe
from services.client import await_breach, finished
from services.socket_io import (
    CONNECTION,
    SocketIO,
)
from stand_ins import QUICK, Serve, await_opens, end, serving, starting

start = starting(SocketIO)
serve = serving("socket.io")


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


@pytest.mark.parametrize("how", ["drop", 1000, 1001, "the user"])
def test_each_connection_connects(start: Callable[..., SocketIO], serve: Serve, how: str | int) -> None:
    service = start(auth={"token": "1"})
    bridge = serve(service, reconnect=QUICK, parameters={"auth": '{"token":"1"}'})
    with bridge.stream() as stream:
        for number in range(3):
            service.await_connection(number=number)
            await_opens(bridge, number + 1)
            service.emit("number", number)
            assert stream.next().data == f'42["number",{number}]'
            end(service, bridge, how, number)
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
