"""The preset `json-rpc` keeps to JSON-RPC 2.0 and to its subscription, and a worse one is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from harness import Bridge
from presets import Change, both, leave_out, put, rewrite
from recipes import Recipe
from services.client import await_breach
from services.json_rpc import (
    CANCEL,
    CONSIDERATIONS,
    JSONRPC,
    PARAMETERS,
    PARSE_ERROR,
    REQUEST_OBJECT,
    SUPPORTED,
)
from stand_ins import QUICK, await_opens, end

HEADS = {"number": "0x1b4"}


@pytest.fixture
def service(start_service: Callable[..., JSONRPC]) -> JSONRPC:
    return start_service(JSONRPC, subscriptions=["newHeads"])


def call(bridge: Bridge, method: str, *params: Any, **more: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | more
    response = bridge.post("/request", json.dumps(message).encode())
    assert response.status == 200, response
    return response.json()


def test_a_subscription_brings_events(service: JSONRPC, serve_preset: Callable[..., Bridge]) -> None:
    bridge = serve_preset("json-rpc", service.url, reconnect=QUICK)
    bridge.await_ready()
    assert [json.loads(each) for each in service.session().received] == [
        {"jsonrpc": "2.0", "id": "subscribe", "method": "eth_subscribe", "params": ["newHeads"]}
    ]
    with bridge.stream("/events?since=start&format=json") as stream:
        # Who reads sees which subscription it is.
        confirmation = json.loads(stream.next().data)
        (identifier,) = service.session().notes["subscriptions"]
        assert json.loads(confirmation["data"])["result"] == identifier
        service.publish("newHeads", HEADS)
        event = json.loads(stream.next().data)
        assert event["topic"] == "eth_subscription"
        assert json.loads(event["data"])["params"] == {"subscription": identifier, "result": HEADS}
    assert service.breaches == []


def test_requests_have_their_replies_in_any_order(
    service: JSONRPC, serve_preset: Callable[..., Bridge]
) -> None:
    bridge = serve_preset("json-rpc", service.url)
    bridge.await_ready()
    assert call(bridge, "echo", 1, {"a": [None]})["result"] == [1, {"a": [None]}]
    assert call(bridge, "fail")["error"] == {"code": -32000, "message": "as you wished"}
    assert call(bridge, "echo", "x", id="mine") == {"jsonrpc": "2.0", "id": "mine", "result": ["x"]}
    with ThreadPoolExecutor() as pool:
        answers = [pool.submit(call, bridge, "hold") for _ in range(5)]
        service.await_held(5)
        service.release()
        assert [each.result()["result"] for each in answers] == ["released"] * 5
        assert len({each.result()["id"] for each in answers}) == 5
    assert service.breaches == []


@pytest.mark.parametrize("how", ["drop", 1000, 1001, 1011, 4000, "the user"])
def test_each_connection_subscribes(
    service: JSONRPC, serve_preset: Callable[..., Bridge], how: str | int
) -> None:
    bridge = serve_preset("json-rpc", service.url, reconnect=QUICK)
    with bridge.stream("/events?topic=eth_subscription") as stream:
        for number in range(3):
            service.await_subscription(number)
            await_opens(bridge, number + 1)
            service.publish("newHeads", {"number": number})
            assert json.loads(stream.next().data)["params"]["result"] == {"number": number}
            end(service, bridge, how, number)
    service.await_subscription(3)
    assert service.breaches == []


def test_heartbeats_are_pings(service: JSONRPC, serve_preset: Callable[..., Bridge]) -> None:
    bridge = serve_preset("json-rpc", service.url, heartbeat={"interval": "50ms"})
    session = service.session()
    service.await_truth(
        lambda: [opcode for _, opcode in session.frames].count(Opcode.PING) >= 4, "four pings"
    )
    bridge.await_ready()
    assert service.breaches == []


def text(old: str, new: str) -> Change:
    return rewrite(old, new, "onOpen", 0, "send", "text")


#: A second connection takes itself for the first one.
ONCE = both(
    put({"done": "/id"}, "onOpen", 1, "capture"),
    put({"notCaptured": "done"}, "onOpen", 0, "when"),
    put({"notCaptured": "done"}, "onOpen", 1, "when"),
)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("onOpen"), CONSIDERATIONS, id="no subscription"),
        pytest.param(put([], "onOpen"), CONSIDERATIONS, id="no steps"),
        pytest.param(leave_out("onOpen", 0), CONSIDERATIONS, id="waits without asking"),
        pytest.param(ONCE, CONSIDERATIONS, id="subscribes once"),
        pytest.param(text('"jsonrpc":"2.0",', ""), REQUEST_OBJECT, id="no version"),
        pytest.param(text('"2.0"', "2.0"), REQUEST_OBJECT, id="the version as a number"),
        pytest.param(text('"method":', '"methods":'), REQUEST_OBJECT, id="no method"),
        pytest.param(text("${parameter:method}", "rpc.subscribe"), REQUEST_OBJECT, id="a reserved method"),
        pytest.param(text('"subscribe"', "null"), REQUEST_OBJECT, id="no id to speak of"),
        pytest.param(text('"subscribe"', "1.5"), REQUEST_OBJECT, id="a fraction as id"),
        pytest.param(text("${parameter:subscribe}", '"newHeads"'), PARAMETERS, id="params without a list"),
        pytest.param(text("${parameter:subscribe}", '["newHats"]'), SUPPORTED, id="no such stream"),
        pytest.param(text("${parameter:subscribe}", "[]"), SUPPORTED, id="no stream"),
        pytest.param(text("${parameter:method}", "eth_unsubscribe"), CANCEL, id="cancels instead"),
        pytest.param(text(":${parameter:subscribe}}", ":"), PARSE_ERROR, id="half of a message"),
    ],
)
def test_a_worse_preset_is_found_out(
    start_service: Callable[..., JSONRPC], serve_preset: Callable[..., Bridge], change: Change, clause: str
) -> None:
    is_of_waiting = clause == CONSIDERATIONS
    service = start_service(JSONRPC, subscriptions=["newHeads"] if is_of_waiting else [], within=0.5)
    serve_preset("json-rpc", service.url, change, reconnect=QUICK)
    if change is ONCE:
        service.await_subscription()
        service.drop()
    await_breach(service, clause)
    assert service.breaches[0].session == (1 if change is ONCE else 0)


def test_the_recipe(service: JSONRPC, run_bridge: Callable[..., Bridge], tmp_path: Path) -> None:
    recipe = Recipe("json-rpc", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    recipe.follow(bridge, lambda: service.publish("newHeads", HEADS))
    assert service.breaches == []
