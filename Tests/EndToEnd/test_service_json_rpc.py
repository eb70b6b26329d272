"""The stand-in for JSON-RPC 2.0 has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from jsonrpc_base import ProtocolError
from jsonrpc_websocket import Server

from harness.patience import PATIENCE
from services.client import Client, await_breach, finished
from services.json_rpc import (
    BATCH,
    CANCEL,
    CONSIDERATIONS,
    JSONRPC,
    PARAMETERS,
    PARSE_ERROR,
    REQUEST_OBJECT,
    SUPPORTED,
)


@pytest.fixture
def service(start_service: Callable[..., JSONRPC]) -> JSONRPC:
    return start_service(JSONRPC)


def request(method: str, params: Any = None, identifier: Any = 1, **others: Any) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "method": method, "id": identifier} | others
    return call if params is None else call | {"params": params}


SUBSCRIBE = request("eth_subscribe", ["newHeads"])


def test_right_client(start_service: Callable[..., JSONRPC]) -> None:
    service = start_service(JSONRPC, subscriptions=["newHeads"])
    with Client(service.url) as client:
        client.send(SUBSCRIBE)
        subscription = client.receive()["result"]
        service.publish("newHeads", {"number": "0x1"})
        assert client.receive() == {
            "jsonrpc": "2.0",
            "method": "eth_subscription",
            "params": {"subscription": subscription, "result": {"number": "0x1"}},
        }
        client.send(request("echo", {"a": 1}, "x"), {"jsonrpc": "2.0", "method": "echo"})
        assert client.receive() == {"jsonrpc": "2.0", "id": "x", "result": {"a": 1}}
        client.send([request("echo", [1], 2), request("fail", identifier=3), request("absent", identifier=4)])
        assert [each.get("error", {}).get("code") for each in client.receive()] == [None, -32000, -32601]
        client.send(request("eth_unsubscribe", [subscription]))
        assert client.receive()["result"] is True
    finished(service)
    assert not service.breaches


def test_replies_come_in_any_order(service: JSONRPC) -> None:
    with Client(service.url) as client:
        client.send(
            request("hold", identifier=1), request("hold", identifier="1"), request("hold", identifier=2)
        )
        service.await_held(3)
        service.release()
        assert [client.receive()["id"] for _ in range(3)] == [2, "1", 1]
    finished(service)
    assert not service.breaches


def test_subscriptions_end_with_their_connection(service: JSONRPC) -> None:
    with Client(service.url) as client:
        client.send(SUBSCRIBE)
        first = client.receive()["result"]
        service.drop()
        assert client.closed() == 1006
    with Client(service.url) as client:
        client.send(SUBSCRIBE)
        assert client.receive()["result"] != first
    assert not service.breaches


@pytest.mark.parametrize(
    ("messages", "clause"),
    [
        (["{"], PARSE_ERROR),
        ([b"\xff"], PARSE_ERROR),
        ([[]], BATCH),
        ([[request("echo"), 1]], REQUEST_OBJECT),
        (["1"], REQUEST_OBJECT),
        ([{"method": "echo", "id": 1}], REQUEST_OBJECT),
        ([request("echo", jsonrpc="1.0")], REQUEST_OBJECT),
        ([request("echo", jsonrpc=2.0)], REQUEST_OBJECT),
        ([{"jsonrpc": "2.0", "id": 1, "result": 1}], REQUEST_OBJECT),
        ([request("rpc.echo")], REQUEST_OBJECT),
        ([request("echo", identifier=None)], REQUEST_OBJECT),
        ([request("echo", identifier=1.5)], REQUEST_OBJECT),
        ([request("echo", identifier=True)], REQUEST_OBJECT),
        ([request("echo", identifier=[1])], REQUEST_OBJECT),
        ([request("hold", identifier=7), request("echo", identifier=7)], REQUEST_OBJECT),
        ([request("echo", "text")], PARAMETERS),
        ([request("eth_subscribe", ["newTails"])], SUPPORTED),
        ([request("eth_subscribe", [])], SUPPORTED),
        ([request("eth_subscribe", {"stream": "newHeads"})], SUPPORTED),
        ([request("eth_unsubscribe", [])], CANCEL),
        ([request("eth_unsubscribe", ["0xabc"])], CANCEL),
    ],
)
def test_wrong_messages(service: JSONRPC, messages: list[Any], clause: str) -> None:
    with Client(service.url) as client:
        client.send(*messages)
        await_breach(service, clause)


def test_an_id_of_another_connection(service: JSONRPC) -> None:
    with Client(service.url) as client:
        client.send(SUBSCRIBE)
        subscription = client.receive()["result"]
    with Client(service.url) as client:
        client.send(request("eth_unsubscribe", [subscription]))
        await_breach(service, CONSIDERATIONS)


def test_a_connection_without_its_subscription(start_service: Callable[..., JSONRPC]) -> None:
    service = start_service(JSONRPC, subscriptions=["newHeads", "logs"], within=0.3)
    with Client(service.url) as client:
        client.send(request("eth_subscribe", ["logs"]))
        await_breach(service, CONSIDERATIONS)


def test_a_client_library(service: JSONRPC) -> None:
    """The library `jsonrpc-websocket` subscribes, gets an event, an error and a result."""

    async def talk() -> None:
        server = Server(service.url)
        event: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        server.eth_subscription = lambda subscription, result: event.set_result((subscription, result))
        await server.ws_connect()
        try:
            subscription = await server.eth_subscribe("newHeads")
            await asyncio.to_thread(service.publish, "newHeads", {"number": "0x2"})
            assert await event == (subscription, {"number": "0x2"})
            assert await server.echo(1, 2) == [1, 2]
            with pytest.raises(ProtocolError):
                await server.fail()
            await server.echo("unanswered", _notification=True)
            assert await server.eth_unsubscribe(subscription) is True
        finally:
            await server.close()

    asyncio.run(asyncio.wait_for(talk(), PATIENCE))
    assert not finished(service).notes["subscriptions"]
    assert not service.breaches
