"""The stand-in for OBS Studio has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from typing import Any

import pytest
from obsws_python import EventClient, ReqClient

from harness import Deadline
from services.client import Client, await_breach, finished, refusal
from services.obs_websocket import (
    ALREADY,
    AUTHENTICATION,
    BASE,
    BATCH,
    BEFORE_IDENTIFIED,
    ENCODING,
    IDENTIFY,
    KICKED,
    OPCODES,
    REIDENTIFY,
    REQUEST,
    RPC_VERSION,
    OBSWebSocket,
    authentication,
)

Start = Callable[..., OBSWebSocket]


@pytest.fixture
def obs(start_service: Start) -> OBSWebSocket:
    return start_service(OBSWebSocket)


@pytest.fixture
def open_obs(start_service: Start) -> OBSWebSocket:
    """One without a password."""
    return start_service(OBSWebSocket, password="")


def greeted(obs: OBSWebSocket) -> tuple[Client, dict[str, Any]]:
    """Connect; return the data of Hello, too."""
    client = Client(obs.url, subprotocols=["obswebsocket.json"])
    hello = client.receive()
    assert hello["op"] == 0
    return client, hello["d"]


def identify(**changes: Any) -> dict[str, Any]:
    return {"op": 1, "d": {"rpcVersion": 1} | changes}


def identified(obs: OBSWebSocket, **changes: Any) -> Client:
    client, hello = greeted(obs)
    if "authentication" in hello:
        changes["authentication"] = authentication(obs.password, **hello["authentication"])
    client.send(identify(**changes))
    assert client.receive() == {"op": 2, "d": {"negotiatedRpcVersion": 1}}
    return client


def request(kind: Any = "GetVersion", number: Any = "1", **others: Any) -> dict[str, Any]:
    return {"op": 6, "d": {"requestType": kind, "requestId": number} | others}


def test_the_example_of_the_protocol() -> None:
    salt, challenge = (
        "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
        "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY=",
    )
    proof = "1Ct943GAT+6YQUUX47Ia/ncufilbe6+oD6lY+5kaCu4="
    assert authentication("supersecretpassword", salt, challenge) == proof


@pytest.mark.parametrize("password", ["", 'with "quotes" and ü'])
def test_a_right_client(start_service: Start, password: str) -> None:
    obs = start_service(OBSWebSocket, password=password)
    with identified(obs, eventSubscriptions=33) as client:
        assert client.subprotocol == "obswebsocket.json"
        obs.event("VendorEvent", 512)
        obs.event("StudioModeStateChanged", 1, {"studioModeEnabled": True})
        event = {"eventType": "StudioModeStateChanged", "eventIntent": 1}
        assert client.receive()["d"] == event | {"eventData": {"studioModeEnabled": True}}
        client.send({"op": 3, "d": {"eventSubscriptions": 512}})
        assert client.receive()["op"] == 2
        obs.event("VendorEvent", 512)
        assert client.receive()["d"]["eventType"] == "VendorEvent"
        client.send(request("SetCurrentProgramScene", "a", requestData={"sceneName": "Scene 12"}))
        status = {"requestStatus": {"result": True, "code": 100}}
        answer = {"requestType": "SetCurrentProgramScene", "requestId": "a"}
        assert client.receive() == {"op": 7, "d": answer | status}
        requests = [{"requestType": "GetStats"}, {"requestType": "Wrong"}, {"requestType": "GetStats"}]
        client.send({"op": 8, "d": {"requestId": "b", "requests": requests, "haltOnFailure": True}})
        results = client.receive()["d"]["results"]
        assert [each["requestStatus"]["code"] for each in results] == [100, 204]
    finished(obs)
    assert not obs.breaches


def test_a_client_that_offers_no_subprotocol(open_obs: OBSWebSocket) -> None:
    with Client(open_obs.url) as client:
        client.send(identify())
        assert [client.receive()["op"] for _ in range(2)] == [0, 2]
    assert not open_obs.breaches


@pytest.mark.parametrize("proof", [None, "supersecretpassword", "of another challenge"])
def test_wrong_passwords(obs: OBSWebSocket, proof: str | None) -> None:
    client, hello = greeted(obs)
    with client:
        if proof and " " in proof:
            hello["authentication"]["challenge"] = "other"
            proof = authentication(obs.password, **hello["authentication"])
        client.send(identify(authentication=proof) if proof else identify())
        assert client.closed() == 4009
    await_breach(obs, AUTHENTICATION)


def test_a_password_that_nobody_asked_for(open_obs: OBSWebSocket) -> None:
    client, _ = greeted(open_obs)
    with client:
        client.send(identify(authentication=authentication("", "", "")))
        assert client.closed() == 4009
    await_breach(open_obs, AUTHENTICATION)


@pytest.mark.parametrize(
    ("messages", "code", "clause"),
    [
        ([json.dumps(identify()).encode()], 4002, ENCODING),
        (["{"], 4002, ENCODING),
        ([[]], 4002, ENCODING),
        ([{"d": {}}], 4006, OPCODES),
        ([{"op": "1", "d": {}}], 4006, OPCODES),
        ([{"op": 2, "d": {}}], 4006, OPCODES),
        ([{"op": 1}], 4003, BASE),
        ([{"op": 1, "d": []}], 4004, BASE),
        ([{"op": 1, "d": {}}], 4003, IDENTIFY),
        ([identify(rpcVersion="1")], 4004, IDENTIFY),
        ([identify(rpcVersion=2)], 4010, RPC_VERSION),
        ([identify(eventSubscriptions="33")], 4004, IDENTIFY),
        ([identify(eventSubscriptions=-1)], 4004, IDENTIFY),
        ([request()], 4007, BEFORE_IDENTIFIED),
        ([{"op": 3, "d": {}}], 4007, BEFORE_IDENTIFIED),
        ([identify(), identify()], 4008, ALREADY),
        ([identify(), {"op": 3, "d": {"eventSubscriptions": None}}], 4004, REIDENTIFY),
        ([identify(), {"op": 6, "d": {"requestType": "GetVersion"}}], 4003, REQUEST),
        ([identify(), request(requestData=[])], 4004, REQUEST),
        ([identify(), {"op": 8, "d": {"requestId": "1"}}], 4003, BATCH),
        ([identify(), {"op": 8, "d": {"requestId": "1", "requests": {}}}], 4004, BATCH),
        ([identify(), {"op": 8, "d": {"requestId": "1", "requests": [1]}}], 4004, BATCH),
        # OBS takes these all the same.
        ([identify(rpc_version=1)], None, IDENTIFY),
        ([identify() | {"id": 1}], None, BASE),
        ([identify(), {"op": 3, "d": {"rpcVersion": 1}}], None, REIDENTIFY),
        ([identify(), request(number=1)], None, REQUEST),
        ([identify(), request(None)], None, REQUEST),
        ([identify(), request(data={})], None, REQUEST),
    ],
)
def test_wrong_messages(open_obs: OBSWebSocket, messages: list[Any], code: int | None, clause: str) -> None:
    client, _ = greeted(open_obs)
    with client:
        client.send(*messages)
        if code:
            assert client.closed() == code
        await_breach(open_obs, clause)


def test_coming_back_after_a_kick(obs: OBSWebSocket) -> None:
    with identified(obs) as client:
        obs.kick()
        assert client.closed() == 4011
    assert not obs.breaches
    assert refusal(obs.url) == 403
    await_breach(obs, KICKED)


@pytest.mark.parametrize("password", ["", OBSWebSocket.PASSWORD])
def test_a_client_library(start_service: Start, password: str) -> None:
    """`obsws-python` identifies itself, and gets an event."""
    obs = start_service(OBSWebSocket, password=password)
    got: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def on_studio_mode_state_changed(data: Any) -> None:
        got.put(data.studio_mode_enabled)

    with EventClient(host="127.0.0.1", port=obs.port, password=password) as client:
        client.callback.register(on_studio_mode_state_changed)
        obs.event("StudioModeStateChanged", 1, {"studioModeEnabled": True})
        assert got.get(timeout=Deadline("an event").left()) is True
    finished(obs)
    assert not obs.breaches


def test_requests_of_a_client_library(obs: OBSWebSocket) -> None:
    """`obsws-python` numbers its requests, where the protocol wants strings, and does nothing else wrong."""
    with ReqClient(host="127.0.0.1", port=obs.port, password=obs.password) as client:
        client.get_stats()
    finished(obs)
    await_breach(obs, REQUEST)
    assert [each.what for each in obs.breaches] == [f"requestId {each['requestId']}" for each in obs.requests]
