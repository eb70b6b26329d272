"""The stand-in for Home Assistant has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hass_client import HomeAssistantClient

from services.client import Client, await_breach, finished, refusal
from services.home_assistant import (
    AUTHENTICATION,
    AUTHENTICATION_TIME,
    BAN,
    COMMANDS,
    FEATURES,
    FORMAT,
    IDENTIFIERS,
    PLACE,
    PONGS,
    UNSUBSCRIBING,
    HomeAssistant,
)

Start = Callable[..., HomeAssistant]

AUTH = {"type": "auth", "access_token": HomeAssistant.TOKEN}


@pytest.fixture
def home(start_service: Start) -> HomeAssistant:
    return start_service(HomeAssistant)


def authenticated(home: HomeAssistant) -> Client:
    client = Client(home.url)
    assert client.receive()["type"] == "auth_required"
    client.send(AUTH)
    assert client.receive()["type"] == "auth_ok"
    return client


def test_a_right_client(home: HomeAssistant) -> None:
    with authenticated(home) as client:

        def ask(number: int, kind: str, **fields: Any) -> Any:
            client.send({"id": number, "type": kind, **fields})
            return client.receive()

        def result(number: int, value: Any = None) -> dict[str, Any]:
            return {"id": number, "type": "result", "success": True, "result": value}

        assert ask(1, "supported_features", features={"coalesce_messages": 1}) == result(1)
        assert ask(2, "ping") == {"id": 2, "type": "pong"}
        assert ask(5, "subscribe_events", event_type="state_changed") == result(5)
        assert ask(6, "call_service", domain="light", service="turn_on", target={}, service_data={})[
            "success"
        ]
        home.fire(("state_changed", {"a": 1}), ("other", {}))
        first = {"id": 5, "type": "event", "event": {"event_type": "state_changed", "data": {"a": 1}}}
        assert client.receive() == first
        home.fire(("state_changed", {"a": 1}), ("state_changed", {"a": 1}), together=True)
        assert client.receive() == [first, first]
        assert ask(7, "unsubscribe_events", subscription=5) == result(7)
        home.fire(("state_changed", {}))
        assert ask(8, "get_states")["result"]
    finished(home)
    assert not home.breaches


def test_identifiers_begin_anew_with_a_connection(home: HomeAssistant) -> None:
    for _ in range(2):
        with authenticated(home) as client:
            client.send({"id": 1, "type": "ping"})
            assert client.receive()["type"] == "pong"
    assert not home.breaches


def test_a_revoked_token(home: HomeAssistant) -> None:
    home.revoked = True
    with Client(home.url) as client:
        client.send(AUTH)
        assert [client.receive()["type"] for _ in range(2)] == ["auth_required", "auth_invalid"]
        assert client.closed() == 1000
    assert not home.breaches


def test_a_revoked_token_tried_over_and_over(home: HomeAssistant) -> None:
    home.revoked = True
    for _ in range(home.login_attempts + 1):
        with Client(home.url) as client:
            client.send(AUTH)
            client.closed()
    assert not home.breaches
    assert refusal(home.url) == 403
    await_breach(home, BAN)


@pytest.mark.parametrize("path", ["/", "/websocket", "/api/websocket/"])
def test_wrong_paths(home: HomeAssistant, path: str) -> None:
    assert refusal(f"ws://127.0.0.1:{home.port}{path}") == 404
    await_breach(home, PLACE)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "auth", "access_token": "other"},
        {"type": "auth"},
        {"type": "auth", "access_token": HomeAssistant.TOKEN, "id": 1},
        {"id": 1, "type": "ping"},
        json.dumps(AUTH).encode(),
        "auth",
    ],
)
def test_wrong_ways_to_authenticate(home: HomeAssistant, message: Any) -> None:
    with Client(home.url) as client:
        client.send(message)
        assert client.closed() == 1000
    await_breach(home, AUTHENTICATION)


def test_a_client_that_does_not_authenticate(start_service: Start) -> None:
    home = start_service(HomeAssistant, authenticate_within=0.3)
    with Client(home.url) as client:
        assert client.closed() == 1000
    await_breach(home, AUTHENTICATION_TIME)


@pytest.mark.parametrize(
    ("messages", "clause"),
    [
        ([AUTH], FORMAT),
        ([{"type": "ping"}], FORMAT),
        ([{"id": "1", "type": "ping"}], FORMAT),
        ([{"id": True, "type": "ping"}], FORMAT),
        ([{"id": 1.5, "type": "ping"}], FORMAT),
        ([{"id": 1}], FORMAT),
        (["ping"], FORMAT),
        ([b'{"id":1,"type":"ping"}'], FORMAT),
        ([[{"id": 1, "type": "ping"}]], FORMAT),
        ([{"id": 0, "type": "ping"}], IDENTIFIERS),
        ([{"id": 1, "type": "ping"}, {"id": 1, "type": "ping"}], IDENTIFIERS),
        ([{"id": 5, "type": "ping"}, {"id": 4, "type": "get_states"}], IDENTIFIERS),
        ([{"id": 1, "type": "pong"}], COMMANDS),
        ([{"id": 1, "type": "ping", "payload": 1}], COMMANDS),
        ([{"id": 1, "type": "subscribe_events", "event_type": 1}], COMMANDS),
        ([{"id": 1, "type": "call_service", "domain": "light"}], COMMANDS),
        ([{"id": 1, "type": "fire_event"}], COMMANDS),
        ([{"id": 1, "type": "ping"}, {"id": 2, "type": "supported_features", "features": {}}], FEATURES),
        ([{"id": 1, "type": "unsubscribe_events", "subscription": 7}], UNSUBSCRIBING),
    ],
)
def test_wrong_messages(home: HomeAssistant, messages: list[Any], clause: str) -> None:
    with authenticated(home) as client:
        client.send(*messages)
        await_breach(home, clause)


def test_a_ping_frame_without_its_pong(start_service: Start) -> None:
    home = start_service(HomeAssistant, ping_every=0.2)
    with Client(home.url, pong=lambda _: None) as client:
        assert client.closed() == 1006
    await_breach(home, PONGS)


def test_ping_frames_that_are_answered(start_service: Start) -> None:
    home = start_service(HomeAssistant, ping_every=0.2)
    with authenticated(home):
        home.await_truth(lambda: len(home.sessions[0].frames) >= 3, "two pongs")
    assert not home.breaches


def test_a_client_library(home: HomeAssistant) -> None:
    """`hass-client` subscribes, gets an event and calls a service."""

    async def run() -> None:
        events: asyncio.Queue[Any] = asyncio.Queue()
        async with HomeAssistantClient(home.url, home.TOKEN) as client:
            unsubscribe = await client.subscribe_events(events.put_nowait, "state_changed")
            await asyncio.to_thread(home.fire, ("other", {}), ("state_changed", {"a": 1}))
            assert (await events.get())["data"] == {"a": 1}
            await client.call_service("light", "turn_on", {"brightness": 20}, {"entity_id": "light.kitchen"})
            assert await client.get_states()
            unsubscribe()
            await asyncio.to_thread(home.await_commands, "unsubscribe_events")

    asyncio.run(run())
    finished(home)
    assert not home.breaches
