"""The stand-in for Discord's gateway has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import yarl

from harness import WebServer
from harness.web_server import WebAnswer, WebRequest
from services import discord_rules as rules
from services.client import Client, await_breach, finished, refusal
from services.discord import Discord

# It imports a module of the standard library that goes with Python 3.13.
with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    import discord as library
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

Start = Callable[..., Discord]

#: Longer than any test, so that no heartbeat is due.
SLOW = {"heartbeat_interval": 600}
#: A heartbeat that does not come is found soon, and one that comes late found late.
QUICK = {"heartbeat_interval": 0.1, "tolerance": 0.4}


@pytest.fixture
def discord(start_service: Start) -> Discord:
    return start_service(Discord, **SLOW)


def identify(**changes: Any) -> dict[str, Any]:
    properties = {"os": "linux", "browser": "by hand", "device": "by hand"}
    return {"op": 2, "d": {"token": Discord.TOKEN, "intents": 513, "properties": properties} | changes}


def resume(ready: dict[str, Any], number: int, **changes: Any) -> dict[str, Any]:
    return {
        "op": 6,
        "d": {"token": Discord.TOKEN, "session_id": ready["session_id"], "seq": number} | changes,
    }


def beat(number: Any) -> dict[str, Any]:
    return {"op": 1, "d": number}


def opened(discord: Discord, url: str | None = None) -> Client:
    """Connect, and wait for Hello."""
    client = Client(url or discord.url)
    assert client.receive()["op"] == 10
    return client


def begun(discord: Discord) -> tuple[Client, dict[str, Any]]:
    """Connect and identify; return what READY tells, too."""
    client = opened(discord)
    client.send(identify())
    ready = client.receive()
    assert (ready["op"], ready["s"], ready["t"]) == (0, 1, "READY")
    return client, ready["d"]


def back(discord: Discord) -> Client:
    """Connect where sessions are resumed."""
    return opened(discord, discord.resume_url + Discord.path)


def test_a_right_client(discord: Discord) -> None:
    client, ready = begun(discord)
    with client:
        client.send(beat(1))
        assert client.receive()["op"] == 11
        discord.ask_for_heartbeat()
        assert client.receive()["op"] == 1
        client.send(beat(1))
        assert client.receive()["op"] == 11
        discord.dispatch("MESSAGE_CREATE", {"content": "one"})
        assert client.receive() == {"op": 0, "d": {"content": "one"}, "s": 2, "t": "MESSAGE_CREATE"}
        client.send({"op": 3, "d": {"since": None, "activities": [], "status": "online", "afk": False}})
        discord.reconnect()
        assert client.receive()["op"] == 7
        client.close(4000)
    finished(discord)
    assert discord.dispatch("MESSAGE_CREATE", {"content": "two"}) == 3
    assert ready["resume_gateway_url"] == discord.resume_url
    with back(discord) as client:
        client.send(resume(ready, 2))
        assert client.receive()["d"] == {"content": "two"}
        assert client.receive()["t"] == "RESUMED"
        discord.invalidate()
        assert client.receive() == {"op": 9, "d": False, "s": None, "t": None}
    finished(discord, 1)
    begun(discord)[0].close()
    finished(discord, 2)
    assert discord.order == ["identify", "resume", "identify"]
    assert not discord.breaches


def test_heartbeats_of_a_right_client(start_service: Start) -> None:
    discord = start_service(Discord, heartbeat_interval=0.1)
    client, _ = begun(discord)
    with client:
        for number in range(2, 7):
            client.send(beat(number - 1))
            assert client.receive()["op"] == 11
            discord.dispatch("TYPING_START", {})
            assert client.receive()["s"] == number
    finished(discord)
    assert not discord.breaches


@pytest.mark.parametrize("end", ["drop", 4000, 4009, 1000])
def test_a_session_after_an_end_by_discord(discord: Discord, end: str | int) -> None:
    client, ready = begun(discord)
    with client:
        if isinstance(end, int):
            discord.close(end)
        else:
            discord.drop()
        client.closed()
    finished(discord)
    if end == 4009:
        begun(discord)[0].close()
    else:
        with back(discord) as client:
            client.send(resume(ready, 1))
            assert client.receive()["t"] == "RESUMED"
    finished(discord, 1)
    assert not discord.breaches


def test_a_wrong_path(discord: Discord) -> None:
    assert refusal(f"ws://127.0.0.1:{discord.port}/gateway?v=10&encoding=json") == 404
    await_breach(discord, rules.CONNECTING)


@pytest.mark.parametrize(
    ("query", "code", "clause"),
    [
        ("", 4012, rules.VERSION),
        ("v=9&encoding=json", 4012, rules.VERSION),
        ("v=10&encoding=etf", 4002, rules.CONNECTING),
        ("v=10", 4002, rules.CONNECTING),
    ],
)
def test_wrong_queries(discord: Discord, query: str, code: int, clause: str) -> None:
    with Client(f"ws://127.0.0.1:{discord.port}/?{query}") as client:
        assert client.closed() == code
    await_breach(discord, clause)


@pytest.mark.parametrize(
    ("messages", "code", "clause"),
    [
        ([identify(token="other")], 4004, rules.AUTHENTICATION),
        ([identify(token=f"Bot {Discord.TOKEN}")], 4004, rules.AUTHENTICATION),
        ([identify(intents="513")], 4001, rules.IDENTIFY),
        ([identify(intents=None)], 4001, rules.IDENTIFY),
        ([identify(intents=1 << 30)], 4013, rules.INVALID_INTENTS),
        ([identify(intents=1 << 15)], 4014, rules.DISALLOWED_INTENTS),
        ([identify(properties={"$os": "linux"})], 4001, rules.IDENTIFY),
        ([identify(properties=None)], 4001, rules.IDENTIFY),
        ([identify(compress="yes")], 4001, rules.IDENTIFY),
        ([identify(large_threshold=10)], 4001, rules.IDENTIFY),
        ([identify(shard=[1])], 4001, rules.IDENTIFY),
        ([identify(others=1)], 4001, rules.IDENTIFY),
        ([{"op": 2, "d": None}], 4001, rules.IDENTIFY),
        ([identify(), identify()], 4005, rules.ALREADY),
        ([identify(), resume({"session_id": "session-0"}, 1)], 4005, rules.ALREADY),
        ([{"op": 3, "d": {"status": "online"}}], 4003, rules.NOT_AUTHENTICATED),
        ([identify(), {"op": 5, "d": {}}], 4001, rules.OPCODES),
        ([identify(), {"op": 3, "d": None}], 4001, rules.OPCODES),
        ([{"d": {}}], 4001, rules.OPCODES),
        ([resume({"session_id": "session-0"}, 1, token="other")], 4004, rules.AUTHENTICATION),
        ([resume({"session_id": "session-0"}, 1, seq="1")], 4001, rules.RESUME),
        ([{"op": 6, "d": {"token": Discord.TOKEN}}], 4001, rules.RESUME),
        (["{"], 4002, rules.DECODE),
        ([json.dumps(identify()).encode()], 4002, rules.DECODE),
        ([identify(properties=dict.fromkeys(("os", "browser", "device"), "x" * 1400))], 4002, rules.SENDING),
        ([beat("1")], 4002, rules.HEARTBEAT_DATA),
    ],
)
def test_wrong_messages(start_service: Start, messages: list[Any], code: int, clause: str) -> None:
    discord = start_service(Discord, **SLOW, disallowed_intents=1 << 15)
    with opened(discord) as client:
        client.send(*messages)
        assert client.closed() == code
    await_breach(discord, clause)


def test_too_many_messages(start_service: Start) -> None:
    discord = start_service(Discord, **SLOW, most_messages=(4, 3600))
    client, _ = begun(discord)
    with client:
        client.send(*[beat(1)] * 3)
        assert [client.receive()["op"] for _ in range(3)] == [11] * 3
        assert not discord.breaches
        client.send(beat(1))
        assert client.closed() == 4008
    await_breach(discord, rules.RATE)


def test_too_many_identifies(start_service: Start) -> None:
    discord = start_service(Discord, **SLOW, most_identifies=(2, 3600))
    for _ in range(3):
        assert not discord.breaches
        begun(discord)[0].close()
        finished(discord, len(discord.sessions) - 1)
    await_breach(discord, rules.IDENTIFIES)


# Heartbeats


@pytest.mark.parametrize("count", [0, 2])
def test_a_heartbeat_that_does_not_come(start_service: Start, count: int) -> None:
    discord = start_service(Discord, **QUICK)
    client, _ = begun(discord)
    with client:
        for _ in range(count):
            client.send(beat(1))
            assert client.receive()["op"] == 11
        assert client.closed() == 4000
    await_breach(discord, rules.HEARTBEAT_INTERVAL)


def test_a_heartbeat_that_ignores_what_came(discord: Discord) -> None:
    client, _ = begun(discord)
    with client:
        for _ in range(3):
            client.send(beat(None))
            assert client.receive()["op"] == 11
        await_breach(discord, rules.HEARTBEAT_DATA)


def test_a_heartbeat_with_an_old_number(discord: Discord) -> None:
    client, _ = begun(discord)
    with client:
        for _ in range(4):
            discord.dispatch("TYPING_START", {})
            client.receive()
            client.send(beat(1))
            assert client.receive()["op"] == 11
        await_breach(discord, rules.HEARTBEAT_DATA)


def test_a_heartbeat_with_a_number_of_the_future(discord: Discord) -> None:
    client, _ = begun(discord)
    with client:
        client.send(beat(2))
        await_breach(discord, rules.HEARTBEAT_DATA)


def test_a_first_heartbeat_with_a_number(discord: Discord) -> None:
    with opened(discord) as client:
        client.send(beat(1))
        await_breach(discord, rules.HEARTBEAT_DATA)


def test_a_request_for_a_heartbeat_without_one(start_service: Start) -> None:
    discord = start_service(Discord, heartbeat_interval=600, tolerance=0.3)
    with begun(discord)[0]:
        discord.ask_for_heartbeat()
        await_breach(discord, rules.HEARTBEAT_REQUESTS)


def test_heartbeats_that_go_on_without_acknowledgements(discord: Discord) -> None:
    client, _ = begun(discord)
    with client:
        discord.acknowledges = False
        client.send(beat(1), beat(1))
        discord.await_truth(lambda: discord.sessions[0].notes["beats"] == 2, "two heartbeats")
        assert not discord.breaches
        client.send(beat(1))
        await_breach(discord, rules.ZOMBIE)
        client.close(4000)


@pytest.mark.parametrize("code", [1000, 1001, 4000])
def test_how_a_connection_without_acknowledgements_is_left(discord: Discord, code: int) -> None:
    client, ready = begun(discord)
    with client:
        discord.acknowledges = False
        client.send(beat(1))
        discord.await_truth(lambda: discord.sessions[0].notes["beats"] == 1, "a heartbeat")
        client.close(code)
    finished(discord)
    if code != 4000:
        await_breach(discord, rules.ZOMBIE)
        return
    discord.acknowledges = True
    with back(discord) as client:
        client.send(resume(ready, 1))
        assert client.receive()["t"] == "RESUMED"
    assert not discord.breaches


# Coming back


@pytest.mark.parametrize("resumable", [None, True, False])
@pytest.mark.parametrize("leaves", [False, True])
def test_a_client_that_does_not_come_back(start_service: Start, resumable: bool | None, leaves: bool) -> None:
    discord = start_service(Discord, **SLOW, return_within=0.3)
    client, _ = begun(discord)
    with client:
        if resumable is None:
            discord.reconnect()
        else:
            discord.invalidate(resumable)
        if leaves:
            client.close(4000)
        await_breach(discord, rules.RECONNECT if resumable is None else rules.INVALID_SESSION)
        client.close(4000)


def test_a_client_that_ends_a_session_that_it_should_resume(discord: Discord) -> None:
    client, _ = begun(discord)
    discord.reconnect()
    client.close(1000)
    await_breach(discord, rules.ZOMBIE)


def test_identifying_again_in_place_of_resuming(discord: Discord) -> None:
    client, _ = begun(discord)
    discord.drop()
    client.closed()
    finished(discord)
    begun(discord)[0].close()
    await_breach(discord, rules.RESUMING)


def test_identifying_on_a_connection_whose_session_is_invalid(discord: Discord) -> None:
    client, _ = begun(discord)
    with client:
        discord.invalidate()
        client.send(identify())
        assert client.closed() == 4005
    await_breach(discord, rules.INVALID_SESSION)


def test_identifying_where_sessions_are_resumed(discord: Discord) -> None:
    with back(discord) as client:
        client.send(identify())
        await_breach(discord, rules.CONNECTING)


@pytest.mark.parametrize("end", ["invalid", 4007, 4009, "by the client"])
def test_resuming_a_session_that_is_over(discord: Discord, end: str | int) -> None:
    client, ready = begun(discord)
    with client:
        if end == "invalid":
            discord.invalidate()
        elif isinstance(end, int):
            discord.close(end)
        client.close(1000)
    finished(discord)
    with back(discord) as client:
        client.send(resume(ready, 1))
        assert client.receive()["op"] == 9
    await_breach(discord, rules.INVALID_SESSION)


@pytest.mark.parametrize(
    ("target", "number", "session", "clause"),
    [
        ("RESUME/?v=10&encoding=json", 3, "session-0", rules.RESUME_SEQUENCE),
        ("RESUME/?v=10&encoding=json", 1, "session-0", rules.RESUME_SEQUENCE),
        ("RESUME/?v=10&encoding=json", 2, "session-1", rules.INVALID_SESSION),
        ("RESUME/?v=10&encoding=json&compress=zlib-stream", 2, "session-0", rules.RESUME_URL),
        ("FIRST/?v=10&encoding=json", 2, "session-0", rules.RESUME_URL),
    ],
)
def test_wrong_ways_to_resume(discord: Discord, target: str, number: int, session: str, clause: str) -> None:
    client, _ = begun(discord)
    discord.dispatch("TYPING_START", {})
    client.receive()
    for _ in range(2):
        client.send(beat(2))
        assert client.receive()["op"] == 11
    discord.drop()
    client.closed()
    first = f"ws://127.0.0.1:{discord.port}"
    with Client(target.replace("RESUME", discord.resume_url).replace("FIRST", first)) as client:
        client.receive_text()
        client.send(resume({"session_id": session}, number))
        await_breach(discord, clause)


@pytest.mark.parametrize("code", sorted(rules.FINAL_CODES))
def test_coming_back_after_a_final_code(discord: Discord, code: int) -> None:
    client, _ = begun(discord)
    discord.close(code)
    assert client.closed() == code
    finished(discord)
    assert refusal(discord.url) == 403
    await_breach(discord, rules.CODES)


def test_a_client_library(
    discord: Discord,
    start_web_server: Callable[..., WebServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`discord.py` identifies, gets events, reconnects, resumes, and begins anew."""

    def answer(request: WebRequest) -> WebAnswer:
        user = {"id": "1", "username": "fake", "discriminator": "0000", "avatar": None, "bot": True}
        app = {"id": "1", "name": "fake", "description": "", "icon": None, "verify_key": "", "owner": user}
        bot = {"bot_public": True, "bot_require_code_grant": False, "flags": 0}
        body = user if request.target == "/users/@me" else app | bot
        return WebAnswer(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    monkeypatch.setattr(Route, "BASE", start_web_server(answer).url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(f"ws://127.0.0.1:{discord.port}/"))
    got: list[str] = []

    class Bot(library.Client):
        async def on_socket_event_type(self, name: str) -> None:
            got.append(name)
            discord.changed()

    def lead() -> None:
        discord.await_truth(lambda: "READY" in got, "READY")
        discord.dispatch("TYPING_START", {"channel_id": "2", "user_id": "1", "timestamp": 0})
        discord.await_truth(lambda: "TYPING_START" in got, "an event")
        discord.ask_for_heartbeat()
        discord.await_truth(lambda: discord.sessions[0].notes["beats"] == 2, "a heartbeat")
        discord.reconnect()
        discord.await_truth(lambda: "RESUMED" in got, "RESUMED")
        discord.drop()
        discord.await_truth(lambda: got.count("RESUMED") == 2, "RESUMED again")

    async def run() -> None:
        async with Bot(intents=library.Intents(guilds=True)) as bot:
            await bot.login(discord.TOKEN)
            running = asyncio.create_task(bot.connect())
            await asyncio.to_thread(lead)
            await bot.close()
            await running

    asyncio.run(run())
    finished(discord, len(discord.sessions) - 1)
    assert discord.order == ["identify", "resume", "resume"]
    assert not discord.breaches
