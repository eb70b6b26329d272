"""The stand-in for Phoenix has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest
from phoenix_channels_python_client.client import PHXChannelsClient

from harness.patience import PATIENCE
from services.client import Client, await_breach, finished, refusal
from services.phoenix import BINARY, CONNECTING, FORMAT, REJOIN, TOKEN, Phoenix

LOBBY = "room:lobby"
JOIN = ["1", "1", LOBBY, "phx_join", {"some": "param"}]
BEAT = [None, "2", "phoenix", "heartbeat", {}]


@pytest.fixture
def service(start_service: Callable[..., Phoenix]) -> Phoenix:
    return start_service(Phoenix)


def reply(join_ref: Any, ref: str, topic: str, response: Any) -> list[Any]:
    return [join_ref, ref, topic, "phx_reply", {"status": "ok", "response": response}]


def push(join_ref: str, ref: str, topic: str, event: str, payload: bytes) -> bytes:
    parts = [part.encode() for part in (join_ref, ref, topic, event)]
    return bytes([0, *map(len, parts)]) + b"".join(parts) + payload


def test_right_client(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, joins=[LOBBY])
    with Client(service.url) as client:
        client.send(JOIN)
        assert client.receive() == reply("1", "1", LOBBY, {})
        client.send(BEAT)
        assert client.receive() == reply(None, "2", "phoenix", {})
        service.broadcast(LOBBY, "new_msg", {"body": "Hi"})
        assert client.receive() == [None, None, LOBBY, "new_msg", {"body": "Hi"}]
        service.push(LOBBY, "new_msg", {"body": "Hi"})
        assert client.receive() == ["1", None, LOBBY, "new_msg", {"body": "Hi"}]
        client.send([None, "3", LOBBY, "shout", {"a": 1}], ["1", "4", LOBBY, "shout", {"a": 2}])
        assert client.receive() == reply(None, "3", LOBBY, {"a": 1})
        assert client.receive() == reply("1", "4", LOBBY, {"a": 2})
        client.send(push("1", "5", LOBBY, "image", b"\xff\xd8"))
        assert client.receive() == reply("1", "5", LOBBY, {})
        client.send(["1", "6", LOBBY, "phx_leave", {}])
        assert client.receive() == reply("1", "6", LOBBY, {})
    finished(service)
    assert not service.breaches


def test_a_channel_that_crashes_is_joined_again(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix)
    with Client(service.url) as client:
        client.send(JOIN)
        client.receive()
        service.crash(LOBBY)
        assert client.receive() == ["1", "1", LOBBY, "phx_error", {}]
        client.send(["2", "2", LOBBY, "phx_join", {}], ["2", "3", LOBBY, "shout", {}])
        assert client.receive() == reply("2", "2", LOBBY, {})
        assert client.receive() == reply("2", "3", LOBBY, {})
        service.shut(LOBBY)
        assert client.receive() == ["2", "2", LOBBY, "phx_close", {}]
    finished(service)
    assert not service.breaches


def test_a_channel_that_crashes_and_is_not_joined_again(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, within=0.3)
    with Client(service.url) as client:
        client.send(JOIN)
        client.receive()
        service.crash(LOBBY)
        await_breach(service, REJOIN)


@pytest.mark.parametrize(
    "path",
    [
        "/socket?vsn=2.0.0",
        "/socket/websocket",
        "/socket/websocket?vsn=1.0.0",
        "/socket/websocket?vsn=2.0.0&vsn=1.0.0",
        "/socket/websocket?vsn=2.0.0&user=joe",
    ],
)
def test_wrong_urls(start_service: Callable[..., Phoenix], path: str) -> None:
    service = start_service(Phoenix, query={"user": "jane"})
    assert refusal(service.url.replace(service.path, path)) in (403, 404)
    await_breach(service, CONNECTING)


def test_a_token_in_the_subprotocol(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, token="a secret")
    with Client(service.url, subprotocols=["phoenix", "base64url.bearer.phx.YSBzZWNyZXQ"]) as client:
        assert client.subprotocol == "phoenix"
        client.send(JOIN)
        client.receive()
    assert not service.breaches


@pytest.mark.parametrize(
    "subprotocols",
    [
        None,
        ["phoenix"],
        ["base64url.bearer.phx.YSBzZWNyZXQ"],
        ["base64url.bearer.phx.YSBzZWNyZXQ", "phoenix"],
        ["phoenix", "base64url.bearer.phx.YSBzZWNyZXQx"],
    ],
)
def test_wrong_tokens(start_service: Callable[..., Phoenix], subprotocols: list[str] | None) -> None:
    service = start_service(Phoenix, token="a secret")
    assert refusal(service.url, subprotocols=subprotocols) == 403
    await_breach(service, TOKEN)


@pytest.mark.parametrize(
    "messages",
    [
        ["{"],
        [{"topic": LOBBY, "event": "phx_join", "payload": {}, "ref": "1"}],
        [JOIN[:4]],
        [[*JOIN, 6]],
        [["1", "1", LOBBY, "phx_join", []]],
        [["1", "1", LOBBY, "phx_join", None]],
        [["1", "1", 7, "phx_join", {}]],
        [["1", "1", LOBBY, None, {}]],
        [["1", "1", "room:other", "phx_join", {}]],
        [["1", 1, LOBBY, "phx_join", {}]],
        [["1", None, LOBBY, "phx_join", {}]],
        [["1", "", LOBBY, "phx_join", {}]],
        [[1, "1", LOBBY, "phx_join", {}]],
        [[None, "1", LOBBY, "phx_join", {}]],
        [JOIN, ["1", "2", LOBBY, "phx_join", {}]],
        [JOIN, [None, "1", LOBBY, "shout", {}]],
        [JOIN, ["2", "2", LOBBY, "shout", {}]],
        [[None, "1", LOBBY, "shout", {}]],
        [JOIN, [None, "2", LOBBY, "phx_leave", {}], [None, "3", LOBBY, "shout", {}]],
        [[None, "1", "phoenix", "beat", {}]],
        [[None, "1", "phoenix", "heartbeat", {"a": 1}]],
        [BEAT, BEAT],
    ],
)
def test_wrong_messages(service: Phoenix, messages: list[Any]) -> None:
    with Client(service.url) as client:
        client.send(*messages)
        await_breach(service, FORMAT)


@pytest.mark.parametrize(
    "message", [b"", b"\x00\x01", b"\x01" + push("1", "2", LOBBY, "a", b"")[1:], b"\x00\xff\xff\xff\xffabc"]
)
def test_wrong_binary_messages(service: Phoenix, message: bytes) -> None:
    with Client(service.url) as client:
        client.send(JOIN, message)
        await_breach(service, BINARY)


def test_heartbeats_keep_the_connection(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, timeout=1)
    end = time.monotonic() + 1.5
    with Client(service.url) as client:
        for number in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
            client.send([None, str(number), "phoenix", "heartbeat", {}])
            assert client.receive()[1] == str(number)
    finished(service)
    assert not service.breaches


def test_no_heartbeats(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, timeout=0.3)
    with Client(service.url) as client:
        client.send(JOIN)
        # A ping is no message.
        client.ping()
        assert client.closed() == 1000
        await_breach(service, FORMAT)


def test_a_connection_without_its_join(start_service: Callable[..., Phoenix]) -> None:
    service = start_service(Phoenix, topics=[LOBBY, "room:a"], joins=[LOBBY, "room:a"], within=0.3)
    with Client(service.url) as client:
        client.send(JOIN)
        await_breach(service, FORMAT)


def test_a_client_library(start_service: Callable[..., Phoenix]) -> None:
    """The library `phoenix-channels-python-client` joins, beats, hears, and joins again after a loss.

    It only hears what has its join_ref, though broadcasts have none.
    """
    service = start_service(Phoenix)

    async def talk() -> None:
        messages: asyncio.Queue[Any] = asyncio.Queue()
        beaten = asyncio.Event()

        async def receive(payload: Any) -> None:
            messages.put_nowait(payload)

        async with PHXChannelsClient(
            service.url, "key", heartbeat_interval_s=0.1, on_heartbeat_ack=beaten.set
        ) as client:
            await client.subscribe_to_topic(LOBBY, receive)
            for number in range(2):
                await asyncio.to_thread(service.await_join, LOBBY, number)
                await asyncio.to_thread(service.push, LOBBY, "new_msg", {"number": number})
                assert (await messages.get()).payload == {"number": number}
                if number == 0:
                    await asyncio.to_thread(service.drop)
            await beaten.wait()
            await client.unsubscribe_from_topic(LOBBY)

    asyncio.run(asyncio.wait_for(talk(), PATIENCE))
    finished(service, 1)
    assert not service.breaches
