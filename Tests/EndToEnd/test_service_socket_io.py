"""The stand-in for Socket.IO has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import json
import operator
import queue
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import socketio

from harness.patience import Deadline
from services.client import Client, await_breach, finished, refusal
from services.socket_io import (
    ACKNOWLEDGEMENT,
    CONNECT_TIMEOUT,
    CONNECTION,
    DATA,
    FORMAT,
    HEARTBEAT,
    PACKETS,
    RESERVED,
    TRANSPORT,
    SocketIO,
)

ADMIN = ("/", "/admin")
PLACEHOLDER = '{"_placeholder":true,"num":0}'


@pytest.fixture
def service(start_service: Callable[..., SocketIO]) -> SocketIO:
    return start_service(SocketIO)


@pytest.fixture
def client(service: SocketIO) -> Iterator[Client]:
    """A client that is connected to the main namespace."""
    with connected(service) as client:
        yield client


def opened(service: SocketIO) -> Client:
    client = Client(service.url)
    assert str(client.receive_text()).startswith('0{"sid":')
    return client


def connected(service: SocketIO, packet: str = "40") -> Client:
    client = opened(service)
    client.send(packet)
    assert str(client.receive_text()).startswith("40")
    return client


def test_right_client(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, namespaces=ADMIN, ping_interval=30)
    with Client(service.url) as client:
        opening = json.loads(str(client.receive_text())[1:])
        assert (opening["pingInterval"], opening["pingTimeout"]) == (30000, 20000)
        client.send("40")
        assert str(client.receive_text()).startswith('40{"sid":')
        service.emit("hey", "Jude")
        assert client.receive_text() == '42["hey","Jude"]'
        client.send('42["hello"]', '4212["echo",1]')
        assert client.receive_text() == "4312[1]"
        service.emit("tell", ack=True)
        packet = str(client.receive_text())
        client.send(packet.replace("42", "43", 1).replace('["tell"]', '["told"]'))
        client.send("40/admin,")
        assert str(client.receive_text()).startswith('40/admin,{"sid":')
        client.send('42/admin,7["echo","a"]')
        assert client.receive_text() == '43/admin,7["a"]'
        client.send("41/admin,", "1")
        assert client.closed() == 1000
    finished(service)
    assert service.events[:2] == [("/", ["hello"]), ("/", ["echo", 1])]
    assert not service.breaches


def test_binary_events(service: SocketIO, client: Client) -> None:
    service.emit("baz", b"\1\2", {"a": [b"\3"]})
    one = {"_placeholder": True, "num": 1}
    assert (
        client.receive_text()
        == f'452-["baz",{PLACEHOLDER},{json.dumps({"a": [one]}, separators=(",", ":"))}]'
    )
    assert [client.receive_text(), client.receive_text()] == [b"\1\2", b"\3"]
    client.send(f'451-5["baz",{PLACEHOLDER}]', b"\4")
    assert client.receive_text() == f"461-5[{PLACEHOLDER}]"
    assert client.receive_text() == b"\4"
    client.close()
    finished(service)
    assert service.events == [("/", ["baz", b"\4"])]
    assert not service.breaches


def test_auth(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, auth={"token": "123"})
    connected(service, '40{"token":"123"}').close()
    assert not service.breaches


@pytest.mark.parametrize("packet", ["40", '40{"token":"1234"}', '40{"token":"123","more":1}', '40["123"]'])
def test_wrong_auth(start_service: Callable[..., SocketIO], packet: str) -> None:
    service = start_service(SocketIO, auth={"token": "123"})
    with opened(service) as client:
        client.send(packet)
        assert str(client.receive_text()).startswith('44{"message":')
        await_breach(service, CONNECTION)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/engine.io/?EIO=4&transport=websocket",
        "/socket.io/",
        "/socket.io/?EIO=3&transport=websocket",
        "/socket.io/?EIO=4",
        "/socket.io/?EIO=4&transport=polling",
        "/socket.io/?EIO=4&transport=websocket&sid=lv_VI97HAXpY6yYWAAAC",
    ],
)
def test_wrong_urls(service: SocketIO, path: str) -> None:
    assert refusal(service.url.replace(service.path, path)) == 400
    await_breach(service, TRANSPORT)


@pytest.mark.parametrize("packet", ['42["hello"]', "41", "43[]"])
def test_a_first_packet_that_does_not_connect(service: SocketIO, packet: str) -> None:
    with opened(service) as client:
        client.send(packet)
        assert client.closed() == 1000
        await_breach(service, CONNECTION)


def test_no_packet_that_connects(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, connect_timeout=0.3)
    with opened(service) as client:
        assert client.closed() == 1000
        await_breach(service, CONNECT_TIMEOUT)


@pytest.mark.parametrize(
    ("messages", "clause"),
    [
        (["40/other,"], CONNECTION),
        (['42/admin,["hello"]'], CONNECTION),
        (['44{"message":"no"}'], CONNECTION),
        ([""], PACKETS),
        (["hello"], PACKETS),
        (["0{}"], PACKETS),
        (["5"], PACKETS),
        (["6"], PACKETS),
        (["2"], HEARTBEAT),
        (["2probe"], HEARTBEAT),
        (["3"], HEARTBEAT),
        (["3probe"], HEARTBEAT),
        (["4"], FORMAT),
        (["47"], FORMAT),
        (["42[hello]"], FORMAT),
        (['42/,["hello"]'], FORMAT),
        (['421-["hello"]'], FORMAT),
        (['45["hello"]'], FORMAT),
        (['450-["hello"]'], FORMAT),
        ([b"\1"], FORMAT),
        ([f'451-["baz",{PLACEHOLDER}]', '42["hello"]'], FORMAT),
        (['451-["baz"]', b"\1"], FORMAT),
        ([f'452-["baz",{PLACEHOLDER}]', b"\1", b"\2"], FORMAT),
        (["42"], DATA),
        (["42[]"], DATA),
        (['42{"a":1}'], DATA),
        (['42"hello"'], DATA),
        (["42[null]"], DATA),
        (['42["disconnect"]'], RESERVED),
        (["431[]"], ACKNOWLEDGEMENT),
        (["43[]"], ACKNOWLEDGEMENT),
    ],
)
def test_wrong_messages(service: SocketIO, client: Client, messages: list[Any], clause: str) -> None:
    client.send(*messages)
    await_breach(service, clause)


def test_a_namespace_that_was_left(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, namespaces=ADMIN)
    with connected(service) as client:
        client.send("40/admin,", "41/admin,", '42/admin,["hello"]')
        await_breach(service, CONNECTION)


def test_a_server_that_disconnects(service: SocketIO, client: Client) -> None:
    service.disconnect()
    assert client.receive_text() == "41"
    client.send("40")
    assert str(client.receive_text()).startswith("40{")
    client.close()
    finished(service)
    assert not service.breaches


# Heartbeats and acknowledgements


def test_pongs_keep_the_connection(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, ping_interval=0.05)
    with connected(service) as client:
        for _ in range(3):
            assert client.receive_text() == "2"
            client.send("3")
    finished(service)
    assert not service.breaches


@pytest.mark.parametrize("answer", [None, "2", "3x", '42["pong"]'])
def test_wrong_pongs(start_service: Callable[..., SocketIO], answer: str | None) -> None:
    service = start_service(SocketIO, ping_interval=0.05, ping_timeout=0.3)
    with connected(service) as client:
        assert client.receive_text() == "2"
        if answer is not None:
            client.send(answer)
        assert client.closed() == 1000
        await_breach(service, HEARTBEAT)


def test_two_pongs_for_a_ping(start_service: Callable[..., SocketIO]) -> None:
    service = start_service(SocketIO, ping_interval=0.3)
    with connected(service) as client:
        assert client.receive_text() == "2"
        client.send("3", "3")
        await_breach(service, HEARTBEAT)


@pytest.mark.parametrize("answer", [None, "43[]", "4399[]", "43{}"])
def test_wrong_acknowledgements(start_service: Callable[..., SocketIO], answer: str | None) -> None:
    service = start_service(SocketIO, ack_within=0.3)
    with connected(service) as client:
        service.emit("tell", ack=True)
        if answer is not None:
            client.send(answer)
        await_breach(service, ACKNOWLEDGEMENT)


def test_a_client_library(start_service: Callable[..., SocketIO]) -> None:
    """The library `python-socketio` emits, hears, acknowledges, and connects again after a loss."""
    service = start_service(SocketIO, namespaces=ADMIN, auth={"token": "123"}, ping_interval=0.1)
    events: queue.Queue[Any] = queue.Queue()
    client = socketio.Client(reconnection_delay=0.05, randomization_factor=0)

    def hear(*arguments: Any) -> str:
        events.put(arguments)
        return "heard"

    client.on("hey", hear, namespace="/admin")
    # The path and query are its own.
    base = service.url.removesuffix(service.path)
    client.connect(base, auth={"token": "123"}, namespaces=list(ADMIN), transports=["websocket"])
    try:
        assert client.call("echo", b"\1", namespace="/admin") == b"\1"
        for number in range(2):
            service.await_connection("/admin", number)
            service.emit("hey", number, b"\2", namespace="/admin", ack=True)
            assert events.get(timeout=Deadline("an event").left()) == (number, b"\2")
            session = service.session(number)
            service.await_truth(
                partial(operator.not_, session.notes["unacknowledged"]), "the acknowledgement"
            )
            service.await_truth(partial(operator.contains, session.received, "3"), "a pong")
            if number == 0:
                service.drop()
    finally:
        client.disconnect()
    finished(service, 1)
    assert not service.breaches
