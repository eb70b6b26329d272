"""The stand-in for Slack's Socket Mode has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web import WebClient

from services.client import Client, await_breach, finished, refusal
from services.slack_socket_mode import (
    ACKNOWLEDGE,
    CONNECTIONS,
    DISCONNECTS,
    ENVELOPES,
    OPEN_METHOD,
    OPEN_RATE,
    OPEN_TOKEN,
    OPEN_TYPE,
    PROMPTLY,
    TICKET,
    SlackSocketMode,
)

Start = Callable[..., SlackSocketMode]

HEADERS = {
    "Authorization": f"Bearer {SlackSocketMode.TOKEN}",
    "Content-Type": "application/x-www-form-urlencoded",
}


@pytest.fixture
def slack(start_service: Start) -> SlackSocketMode:
    return start_service(SlackSocketMode)


def ask(slack: SlackSocketMode, method: str = "POST", body: str = "", **headers: str) -> Any:
    """Call `apps.connections.open`, and return what it answers."""
    host, _, target = slack.open_url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    try:
        connection.request(method, f"/{target}", body, {**HEADERS, **headers})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def greeted(slack: SlackSocketMode) -> Client:
    """Connect, and wait for `hello`."""
    client = Client(ask(slack)["url"])
    assert client.receive()["type"] == "hello"
    return client


def test_a_right_client(slack: SlackSocketMode) -> None:
    with greeted(slack) as old:
        first = slack.push({"event": {"type": "message"}})
        envelope = old.receive()
        assert envelope["payload"] == {"event": {"type": "message"}}
        old.send({"envelope_id": envelope["envelope_id"]})
        slack.await_acknowledged(first)
        slack.disconnect("warning")
        assert old.receive()["reason"] == "warning"
        with greeted(slack) as new:
            second = slack.push({"command": "/x"}, "slash_commands", accepts=True, to=0)
            old.send({"envelope_id": old.receive()["envelope_id"], "payload": {"text": "done"}})
            assert slack.await_acknowledged(second)["payload"] == {"text": "done"}
            old.close()
            finished(slack, 0)
            slack.disconnect("link_disabled")
            assert new.receive()["reason"] == "link_disabled"
            assert new.closed() == 1000
    finished(slack, 1)
    assert ask(slack) == {"ok": False, "error": "link_disabled"}
    assert slack.order == [("hello", 0), ("hello", 1), ("left", 0), ("left", 1)]
    assert not slack.breaches


def test_a_client_that_comes_too_early_is_sent_away(slack: SlackSocketMode) -> None:
    slack.greet_with = "too_many_websockets"
    with Client(ask(slack)["url"]) as client:
        assert client.receive()["reason"] == "too_many_websockets"
        assert client.closed() == 1000
    assert not slack.breaches


@pytest.mark.parametrize(
    ("options", "clause"),
    [
        ({"method": "GET"}, OPEN_METHOD),
        ({"Authorization": "Bearer xapp-other"}, OPEN_TOKEN),
        ({"Authorization": SlackSocketMode.TOKEN}, OPEN_TOKEN),
        ({"body": f"token={SlackSocketMode.TOKEN}"}, OPEN_TOKEN),
        ({"body": "a=b", "Content-Type": "text/plain"}, OPEN_TYPE),
    ],
)
def test_wrong_ways_to_ask_for_a_url(slack: SlackSocketMode, options: dict[str, str], clause: str) -> None:
    assert ask(slack, **options)["ok"] is False
    await_breach(slack, clause)


def test_urls_asked_for_too_often(start_service: Start) -> None:
    slack = start_service(SlackSocketMode, most_opens=(3, 3600))
    assert [ask(slack)["ok"] for _ in range(3)] == [True] * 3
    assert not slack.breaches
    assert ask(slack) == {"ok": False, "error": "ratelimited"}
    await_breach(slack, OPEN_RATE)


def test_a_url_used_twice(slack: SlackSocketMode) -> None:
    url = ask(slack)["url"]
    with Client(url):
        assert refusal(url) == 401
    await_breach(slack, TICKET)


@pytest.mark.parametrize("target", ["/link/?ticket=1", "/link/", "/?ticket=1234-1"])
def test_a_url_that_nobody_was_told(slack: SlackSocketMode, target: str) -> None:
    ask(slack)
    assert refusal(f"ws://127.0.0.1:{slack.port}{target}") == 404
    await_breach(slack, TICKET)


def test_one_connection_too_many(start_service: Start) -> None:
    slack = start_service(SlackSocketMode, most_connections=2)
    with greeted(slack), greeted(slack), Client(ask(slack)["url"]) as third:
        assert third.receive()["reason"] == "too_many_websockets"
        third.closed()
    await_breach(slack, CONNECTIONS)


@pytest.mark.parametrize(
    ("answers", "clause"),
    [
        ([{}], ACKNOWLEDGE),
        ([{"envelope_id": 1}], ACKNOWLEDGE),
        ([{"envelope_id": "unknown"}], ACKNOWLEDGE),
        ([{"envelope_id": "ID", "type": "events_api"}], ACKNOWLEDGE),
        ([{"envelope_id": "ID"}, {"envelope_id": "ID"}], ACKNOWLEDGE),
        ([{"envelope_id": "ID", "payload": {}}], ENVELOPES),
        (["hello"], ACKNOWLEDGE),
        ([[]], ACKNOWLEDGE),
        ([b'{"envelope_id":"ID"}'], ACKNOWLEDGE),
    ],
)
def test_wrong_acknowledgements(slack: SlackSocketMode, answers: list[Any], clause: str) -> None:
    with greeted(slack) as client:
        envelope_id = slack.push({})
        for answer in answers:
            raw = answer if isinstance(answer, bytes | str) else json.dumps(answer)
            client.send(
                raw.replace(b"ID", envelope_id.encode())
                if isinstance(raw, bytes)
                else raw.replace("ID", envelope_id)
            )
        await_breach(slack, clause)


def test_an_acknowledgement_that_never_comes(start_service: Start) -> None:
    slack = start_service(SlackSocketMode, acknowledge_within=0.3)
    with greeted(slack):
        slack.push({})
        await_breach(slack, PROMPTLY)


def test_a_late_acknowledgement(start_service: Start) -> None:
    slack = start_service(SlackSocketMode, acknowledge_within=0.3)
    with greeted(slack) as client:
        envelope_id = slack.push({})
        await_breach(slack, PROMPTLY)
        client.send({"envelope_id": envelope_id})
        slack.await_acknowledged(envelope_id)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
@pytest.mark.parametrize("leaves", [False, True])
def test_a_connection_that_is_not_renewed(start_service: Start, reason: str, leaves: bool) -> None:
    slack = start_service(SlackSocketMode, renew_within=0.3)
    with greeted(slack) as client:
        slack.disconnect(reason)
        if leaves:
            client.close()
        await_breach(slack, DISCONNECTS)


def test_slack_s_own_library(slack: SlackSocketMode) -> None:
    """`slack-sdk`, with the client that it has built in, acknowledges and renews."""
    got = threading.Semaphore(0)

    def acknowledge(client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        client.send_socket_mode_response({"envelope_id": request.envelope_id})
        got.release()

    base = slack.open_url.removesuffix("apps.connections.open")
    client = SocketModeClient(app_token=slack.TOKEN, web_client=WebClient(base_url=base))
    client.socket_mode_request_listeners.append(acknowledge)
    client.connect()
    try:
        slack.await_truth(lambda: ("hello", 0) in slack.order, "the first connection")
        slack.await_acknowledged(slack.push({"event": {"type": "message"}}))
        slack.disconnect("refresh_requested")
        slack.await_truth(lambda: ("left", 0) in slack.order, "the second connection in place of the first")
        slack.await_acknowledged(slack.push({"command": "/x"}, "slash_commands", accepts=True))
    finally:
        client.close()
    assert got.acquire(timeout=0)
    assert got.acquire(timeout=0)
    finished(slack, 1)
    assert slack.order == [("hello", 0), ("hello", 1), ("left", 0), ("left", 1)]
    assert not slack.breaches
