"""The stand-in for Twitch's EventSub has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
import http.client
import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from services.client import Client, await_breach, finished, refusal
from services.twitch_eventsub import (
    CARRIED_OVER,
    GRACE,
    INBOUND,
    KEEPALIVE,
    KEEPALIVE_QUERY,
    LIMITS,
    OLD_CONNECTION,
    PLACE,
    PONGS,
    RECONNECT_URL,
    UNUSED,
    TwitchEventSub,
)
from services.twitch_helix import AUTHORIZATION, BODY, HELIX

# It makes something of aiohttp's own application, which is discouraged.
with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    from twitchio.authentication.tokens import ManagedHTTPClient
    from twitchio.eventsub.enums import SubscriptionType
    from twitchio.eventsub.websockets import Websocket
    from twitchio.http import Route

Start = Callable[..., TwitchEventSub]

HEADERS = {
    "Authorization": f"Bearer {TwitchEventSub.TOKEN}",
    "Client-Id": TwitchEventSub.CLIENT_ID,
    "Content-Type": "application/json",
}


@pytest.fixture
def twitch(start_service: Start) -> TwitchEventSub:
    return start_service(TwitchEventSub)


def ask(twitch: TwitchEventSub, body: Any, method: str = "POST", path: str = "", **headers: str) -> int:
    """Ask Helix for a subscription, and return the status of the answer."""
    host, _, target = twitch.helix_url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    try:
        target = f"/{target}{path or 'eventsub/subscriptions'}"
        connection.request(method, target, json.dumps(body), {**HEADERS, **headers})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def wish(session_id: str, kind: str = "stream.online", **changes: Any) -> dict[str, Any]:
    transport = {"method": "websocket", "session_id": session_id}
    condition = {"broadcaster_user_id": "1234"}
    return {"type": kind, "version": "1", "condition": condition, "transport": transport} | changes


def welcomed(twitch: TwitchEventSub, url: str | None = None) -> tuple[Client, str]:
    """Connect, and return the session's ID, too."""
    client = Client(url or twitch.url)
    welcome = client.receive()
    assert welcome["metadata"]["message_type"] == "session_welcome"
    return client, welcome["payload"]["session"]["id"]


def asked_to_reconnect(twitch: TwitchEventSub, client: Client) -> str:
    twitch.reconnect()
    message = client.receive_until(lambda each: each["metadata"]["message_type"] == "session_reconnect")
    return message["payload"]["session"]["reconnect_url"]


def test_a_right_client(twitch: TwitchEventSub) -> None:
    old, session_id = welcomed(twitch, f"{twitch.url}?keepalive_timeout_seconds=30")
    with old:
        assert ask(twitch, wish(session_id)) == 202
        twitch.notify("stream.online", {"id": "1"}, twice=True)
        first, second = old.receive(), old.receive()
        assert first == second
        assert first["payload"]["event"] == {"id": "1"}
        assert first["metadata"]["subscription_type"] == "stream.online"
        new, _ = welcomed(twitch, asked_to_reconnect(twitch, old))
        with new:
            old.close()
            finished(twitch)
            twitch.notify("stream.online", {"id": "2"})
            assert new.receive()["payload"]["event"] == {"id": "2"}
            twitch.revoke("stream.online")
            assert new.receive()["payload"]["subscription"]["status"] == "authorization_revoked"
    finished(twitch, 1)
    assert twitch.order == [("welcome", 0), ("welcome", 1), ("left", 0), ("left", 1)]
    assert not twitch.breaches


def test_subscriptions_end_with_their_connection(twitch: TwitchEventSub) -> None:
    for number in range(2):
        client, session_id = welcomed(twitch)
        with client:
            assert ask(twitch, wish(session_id)) == 202
            twitch.drop()
            assert client.closed() == 1006
        finished(twitch, number)
    assert not twitch.breaches


def test_keepalives_and_pings(start_service: Start) -> None:
    twitch = start_service(TwitchEventSub, keepalive=0.1, ping_every=0.1)
    with welcomed(twitch)[0] as client:
        assert client.receive()["metadata"]["message_type"] == "session_keepalive"
        twitch.await_truth(lambda: len(twitch.sessions[0].frames) >= 2, "two pongs")
    assert not twitch.breaches


def test_a_wrong_path(twitch: TwitchEventSub) -> None:
    assert refusal(f"ws://127.0.0.1:{twitch.port}/") == 404
    await_breach(twitch, PLACE)


@pytest.mark.parametrize("value", ["9", "601", "30s", "10.5", ""])
def test_wrong_keepalives(twitch: TwitchEventSub, value: str) -> None:
    with Client(f"{twitch.url}?keepalive_timeout_seconds={value}"):
        await_breach(twitch, KEEPALIVE_QUERY)


@pytest.mark.parametrize("message", ["", "ping", b"\0", {"type": "LISTEN"}])
def test_messages_of_the_client(twitch: TwitchEventSub, message: Any) -> None:
    with welcomed(twitch)[0] as client:
        client.send(message)
        assert client.closed() == 4001
    await_breach(twitch, INBOUND)


def test_pings_of_the_client(twitch: TwitchEventSub) -> None:
    with welcomed(twitch)[0] as client:
        client.ping()
        assert client.closed() == 4001
    await_breach(twitch, INBOUND)


def test_pongs_of_the_client_are_right(twitch: TwitchEventSub) -> None:
    with welcomed(twitch)[0] as client:
        client.pong()
        twitch.await_truth(lambda: twitch.sessions[0].frames, "a pong")
    finished(twitch)
    assert not twitch.breaches


def test_a_ping_without_its_pong(start_service: Start) -> None:
    twitch = start_service(TwitchEventSub, ping_every=0.1, pong_within=0.3)
    with Client(twitch.url, pong=lambda _: None) as client:
        assert client.closed() == 4002
    await_breach(twitch, PONGS)


def test_a_connection_without_a_subscription(start_service: Start) -> None:
    twitch = start_service(TwitchEventSub, subscribe_within=0.3)
    with welcomed(twitch)[0] as client:
        assert client.closed() == 4003
    await_breach(twitch, UNUSED)


@pytest.mark.parametrize(
    ("changes", "options", "status", "clause"),
    [
        ({}, {"method": "PUT"}, 404, HELIX),
        ({}, {"path": "eventsub/subscription"}, 404, HELIX),
        ({}, {"Authorization": "Bearer other"}, 401, AUTHORIZATION),
        ({}, {"Authorization": TwitchEventSub.TOKEN}, 401, AUTHORIZATION),
        ({}, {"Client-Id": "other"}, 401, AUTHORIZATION),
        ({}, {"Content-Type": "application/x-www-form-urlencoded"}, 400, BODY),
        ({"version": 1}, {}, 400, BODY),
        ({"condition": None}, {}, 400, BODY),
        ({"transport": {"method": "webhook", "callback": "https://example.org"}}, {}, 400, BODY),
        ({"transport": {"method": "websocket", "session_id": "unknown"}}, {}, 400, BODY),
        ({"more": 1}, {}, 400, BODY),
    ],
)
def test_wrong_subscriptions(
    twitch: TwitchEventSub, changes: Any, options: dict[str, str], status: int, clause: str
) -> None:
    client, session_id = welcomed(twitch)
    with client:
        assert ask(twitch, wish(session_id, **changes), **options) == status
    await_breach(twitch, clause)


def test_a_subscription_for_a_connection_that_is_gone(twitch: TwitchEventSub) -> None:
    client, session_id = welcomed(twitch)
    client.close()
    finished(twitch)
    assert ask(twitch, wish(session_id)) == 400
    await_breach(twitch, BODY)


def test_a_subscription_made_twice(twitch: TwitchEventSub) -> None:
    client, session_id = welcomed(twitch)
    with client:
        assert [ask(twitch, wish(session_id)) for _ in range(2)] == [202, 409]
    await_breach(twitch, BODY)


def test_too_many_connections_with_subscriptions(start_service: Start) -> None:
    twitch = start_service(TwitchEventSub, most_connections=1)
    first, first_id = welcomed(twitch)
    second, second_id = welcomed(twitch)
    with first, second:
        ask(twitch, wish(first_id))
        assert not twitch.breaches
        ask(twitch, wish(second_id))
        await_breach(twitch, LIMITS)


# Reconnecting


def test_subscribing_again_to_what_was_taken_over(twitch: TwitchEventSub) -> None:
    old, session_id = welcomed(twitch)
    with old:
        ask(twitch, wish(session_id))
        new, session_id = welcomed(twitch, asked_to_reconnect(twitch, old))
        with new:
            assert ask(twitch, wish(session_id)) == 409
    await_breach(twitch, CARRIED_OVER)


def test_leaving_before_the_new_welcome(twitch: TwitchEventSub) -> None:
    old, _ = welcomed(twitch)
    with old:
        url = asked_to_reconnect(twitch, old)
        old.close()
        finished(twitch)
        with welcomed(twitch, url)[0]:
            await_breach(twitch, OLD_CONNECTION)


@pytest.mark.parametrize("comes", [False, True])
def test_not_leaving_in_time(start_service: Start, comes: bool) -> None:
    twitch = start_service(TwitchEventSub, grace=0.5)
    old, _ = welcomed(twitch)
    with old:
        url = asked_to_reconnect(twitch, old)
        # To another place than the reconnect URL, or to that but without closing the old connection.
        with welcomed(twitch, url if comes else None)[0]:
            assert old.closed() == 4004
            await_breach(twitch, GRACE)


@pytest.mark.parametrize("change", ["&keepalive_timeout_seconds=30", "&a", "used"])
def test_a_changed_reconnect_url(twitch: TwitchEventSub, change: str) -> None:
    old, _ = welcomed(twitch)
    with old:
        url = asked_to_reconnect(twitch, old)
        if change == "used":
            welcomed(twitch, url)[0].close()
        with Client(url if change == "used" else url + change) as new:
            assert new.closed() == 4007
        await_breach(twitch, RECONNECT_URL)


@pytest.mark.parametrize("leaves", [False, True])
def test_a_silent_connection(start_service: Start, leaves: bool) -> None:
    twitch = start_service(TwitchEventSub, keepalive=0.1, tolerance=0.3)
    client, _ = welcomed(twitch)
    with client:
        twitch.fall_silent()
        if leaves:
            client.close()
            finished(twitch)
            assert not twitch.breaches
        else:
            await_breach(twitch, KEEPALIVE)


class Events:
    """What `twitchio` has for the sockets and events of a bot, less the bot."""

    def __init__(self, twitch: TwitchEventSub):
        self._twitch = twitch
        self._websockets: dict[str, dict[str, Websocket]] = {"1": {}}
        self.names: list[str] = []

    def dispatch(self, event: str, payload: Any) -> None:
        self.names.append(event)
        self._twitch.changed()

    def await_event(self, name: str, count: int = 1) -> None:
        self._twitch.await_truth(lambda: self.names.count(name) >= count, f"{count} of {name}")


def test_a_client_library(twitch: TwitchEventSub, monkeypatch: pytest.MonkeyPatch) -> None:
    """`twitchio` subscribes, and takes over its subscription to another connection when it is asked to."""
    monkeypatch.setattr(Route, "BASE", twitch.helix_url)
    monkeypatch.setattr("twitchio.eventsub.websockets.WSS", twitch.url)

    async def run() -> None:
        helix = ManagedHTTPClient(client_id=twitch.CLIENT_ID)
        # What its login would leave behind.
        helix._app_token = "another"
        helix._tokens["1"] = {
            "user_id": "1",
            "token": twitch.TOKEN,
            "refresh": "none",
            "last_validated": "2026-12-01T00:00:00",
        }
        events = Events(twitch)
        socket = Websocket(http=helix, token_for="1", keep_alive_timeout=30, client=events)
        await socket.connect()
        answer = await helix.create_eventsub_subscription(
            type=SubscriptionType.StreamOnline,
            version="1",
            condition={"broadcaster_user_id": "1234"},
            transport={"method": "websocket", "session_id": socket.session_id},
            token_for="1",
        )
        assert answer["data"][0]["status"] == "enabled"
        await asyncio.to_thread(twitch.reconnect)
        await asyncio.to_thread(finished, twitch)
        assert twitch.order == [("welcome", 0), ("welcome", 1), ("left", 0)]
        user = {f"broadcaster_user_{each}": "1234" for each in ("id", "login", "name")}
        online = {"id": "1", "type": "live", "started_at": "2026-12-01T00:00:00Z"} | user
        await asyncio.to_thread(twitch.notify, "stream.online", online)
        await asyncio.to_thread(events.await_event, "stream_online")
        for each in list(events._websockets["1"].values()):
            await each.close()
        await helix.close()

    asyncio.run(run())
    finished(twitch, 1)
    assert not twitch.breaches
