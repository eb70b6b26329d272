"""The preset `twitch-eventsub` at the stand-in for Twitch's EventSub."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge
from presets import both, leave_out, put, rewrite
from recipes import Recipe
from services.twitch_eventsub import (
    GRACE,
    INBOUND,
    KEEPALIVE,
    KEEPALIVE_QUERY,
    OLD_CONNECTION,
    PLACE,
    RECONNECT_URL,
    UNUSED,
    TwitchEventSub,
)
from trials import Feed, Mistake, Trial, Try, rule, trying

NAME = "twitch-eventsub"
ROTATE = rule(NAME, {"/metadata/message_type": "session_reconnect"})
TOPIC = rule(NAME, {"/metadata/subscription_type": None})
FOLLOW, ONLINE = "channel.follow", "stream.online"


trial = trying(TwitchEventSub, NAME)


def subscribe(twitch: TwitchEventSub, kind: str, session_id: str) -> int:
    """Subscribe by HTTP, as the preset's user does; return the status."""
    host, _, target = twitch.helix_url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    body = {
        "type": kind,
        "version": "1",
        "condition": {"broadcaster_user_id": "1234"},
        "transport": {"method": "websocket", "session_id": session_id},
    }
    headers = {
        "Authorization": f"Bearer {twitch.TOKEN}",
        "Client-Id": twitch.CLIENT_ID,
        "Content-Type": "application/json",
    }
    try:
        connection.request("POST", f"/{target}eventsub/subscriptions", json.dumps(body), headers)
        return connection.getresponse().status
    finally:
        connection.close()


def welcomed(it: Trial, feed: Feed, *kinds: str) -> None:
    """Wait for the welcome among what the bridge tells, and subscribe with its ID."""
    topic, welcome = feed.message()
    assert (topic, welcome["metadata"]["message_type"]) == ("messages", "session_welcome")
    for kind in kinds:
        assert subscribe(it.service, kind, welcome["payload"]["session"]["id"]) == 202


def test_notifications_have_their_type_as_topic(trial: Try) -> None:
    it = trial()
    feed = it.feed()
    welcomed(it, feed, FOLLOW, ONLINE)
    it.service.notify(FOLLOW, {"user_id": "1"})
    it.service.notify(ONLINE, {"id": "2"}, twice=True)
    it.service.revoke(FOLLOW)
    messages = feed.messages(4)
    assert [topic for topic, _ in messages] == [
        "twitch.channel_follow",
        *["twitch.stream_online"] * 2,
        "twitch.channel_follow",
    ]
    assert messages[0][1]["payload"]["event"] == {"user_id": "1"}
    assert messages[1][1]["metadata"]["message_id"] == messages[2][1]["metadata"]["message_id"]
    assert messages[3][1]["metadata"]["message_type"] == "revocation"
    assert not it.service.breaches


def test_clients_cannot_send(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    assert_problem(it.bridge.post("/messages", b"hello"), 409, "receive-only")
    assert not it.service.breaches


def test_keepalives_keep_it_and_nobody_sees_them(trial: Try) -> None:
    it = trial(options={"keepalive": 0.1, "ping_every": 0.05}, heartbeat={"interval": "5s"})
    feed = it.feed()
    welcomed(it, feed, FOLLOW)
    it.bridge.await_ready()
    session = it.service.session()
    # A keepalive comes with every second pong or so.
    it.service.await_truth(lambda: len(session.frames) >= 30, "pongs")
    it.service.notify(FOLLOW, {})
    assert feed.message()[0] == "twitch.channel_follow"
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


def test_a_silent_connection_is_given_up_though_pings_come(trial: Try) -> None:
    it = trial(
        options={"keepalive": 0.1, "tolerance": 20, "ping_every": 0.05}, heartbeat={"interval": "1500ms"}
    )
    feed = it.feed()
    welcomed(it, feed, FOLLOW)
    it.service.fall_silent()
    assert feed.until_status("closed")["by"] == "bridge"
    welcomed(it, feed, FOLLOW)
    it.service.notify(FOLLOW, {})
    assert feed.message()[0] == "twitch.channel_follow"
    assert not it.service.breaches


@pytest.mark.parametrize("end", ["drop", 4000, 4004, 4005, 4006, 4007])
def test_after_a_loss_there_is_another_welcome(trial: Try, end: Any) -> None:
    it = trial()
    feed = it.feed()
    for number in range(3):
        welcomed(it, feed, FOLLOW)
        it.service.notify(FOLLOW, {"n": number})
        assert feed.message()[1]["payload"]["event"] == {"n": number}
        it.service.drop() if end == "drop" else it.service.close(end)
    welcomed(it, feed)
    assert not it.service.breaches


def test_another_connection_takes_over_without_loss(trial: Try) -> None:
    it = trial()
    feed = it.feed()
    welcomed(it, feed, FOLLOW)
    count = 0
    for number in range(3):
        it.service.notify(FOLLOW, {"n": count})
        it.service.reconnect()
        count += 1
        while ("left", number) not in it.service.order:
            it.service.notify(FOLLOW, {"n": count})
            count += 1
    it.service.notify(FOLLOW, {"n": count})
    messages = feed.messages(count + 1 + 3)
    events = [each["payload"]["event"]["n"] for topic, each in messages if topic == "twitch.channel_follow"]
    assert sorted(events) == list(range(count + 1))
    assert sum(each["metadata"]["message_type"] == "session_welcome" for _, each in messages) == 3
    order = [what for number in range(3) for what in (("welcome", number + 1), ("left", number))]
    assert it.service.order == [("welcome", 0), *order]
    assert [session.close_frame for session in it.service.sessions[:3]] == [(1000, "")] * 3
    counters = it.bridge.status()["counters"]
    assert (counters["opens"], counters["closes"]) == (1, 0)
    assert not it.service.breaches


def test_an_unused_connection_is_dialled_again(trial: Try) -> None:
    it = trial(options={"subscribe_within": 0.3})
    feed = it.feed()
    welcomed(it, feed)
    assert feed.until_status("closed")["code"] == 4003
    welcomed(it, feed)


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    twitch = start_service(TwitchEventSub)
    recipe = Recipe("twitch-eventsub", tmp_path)
    bridge = recipe.serve(run_bridge, f"{twitch.url}?keepalive_timeout_seconds=30")
    recipe.follow(
        bridge,
        lambda: twitch.notify("stream.online", {"id": "9001", "type": "live"}),
        twitch.drop,
        places={"https://api.twitch.tv/helix/": twitch.helix_url},
        TWITCH_TOKEN=twitch.TOKEN,
        TWITCH_CLIENT=twitch.CLIENT_ID,
    )
    assert not twitch.breaches


# Mistakes


def used(it: Trial) -> None:
    assert subscribe(it.service, FOLLOW, it.service.session_id()) == 202
    it.bridge.await_ready()


def reconnect(it: Trial) -> None:
    used(it)
    it.service.reconnect()


def fall_silent(it: Trial) -> None:
    used(it)
    it.service.fall_silent()


def speak(it: Trial) -> None:
    used(it)
    it.send({"type": "hello"})


SILENT = {"keepalive": 0.1, "tolerance": 0.9, "ping_every": 0.05}
SOON = {"heartbeat": {"interval": "300ms"}}
HEARTBEATS = {"heartbeat": {"interval": "50ms"}}

MISTAKES = [
    Mistake("another path", rewrite("/ws", "/", "url"), PLACE),
    Mistake("a time out of range", rewrite("=30", "=5", "url"), KEEPALIVE_QUERY),
    Mistake("a time that is no integer", rewrite("=30", "=30.5", "url"), KEEPALIVE_QUERY),
    Mistake("another parameter", rewrite("?", "?id=1&", "url"), RECONNECT_URL),
    Mistake("a message", put(False, "receiveOnly"), INBOUND, speak),
    Mistake(
        "a message on opening",
        both(leave_out("receiveOnly"), lambda tree: tree["onOpen"].append({"send": {"text": "hello"}})),
        INBOUND,
    ),
    Mistake(
        "an answer",
        both(
            leave_out("receiveOnly"),
            lambda tree: tree["rules"].append({"when": {"any": True}, "reply": {"text": "ok"}}),
        ),
        INBOUND,
    ),
    Mistake("pings", put("ping", "heartbeat", "send"), INBOUND, used, settings=HEARTBEATS),
    Mistake(
        "heartbeats",
        both(leave_out("receiveOnly"), put({"text": "ping"}, "heartbeat", "send")),
        INBOUND,
        used,
        settings=HEARTBEATS,
    ),
    Mistake("pings for life", put("any", "heartbeat", "alive"), KEEPALIVE, fall_silent, SILENT, SOON),
    Mistake("many misses", put(10, "heartbeat", "missLimit"), KEEPALIVE, fall_silent, SILENT, SOON),
    Mistake("never lost", leave_out("heartbeat"), KEEPALIVE, fall_silent, SILENT),
    Mistake("late", put("100s", "heartbeat", "interval"), KEEPALIVE, fall_silent, SILENT),
    Mistake("session_reconnect passes", leave_out("rules", ROTATE), GRACE, reconnect, {"grace": 0.5}),
    *(
        Mistake(
            f"{action} in place of rotation",
            both(put(action, "rules", ROTATE, "action"), leave_out("rules", ROTATE, "urlPointer")),
            OLD_CONNECTION,
            reconnect,
        )
        for action in ("reconnect", "stop")
    ),
    Mistake("the same URL", leave_out("rules", ROTATE, "urlPointer"), OLD_CONNECTION, reconnect),
    Mistake(
        "no URL there",
        put("/payload/session/url", "rules", ROTATE, "urlPointer"),
        GRACE,
        reconnect,
        {"grace": 0.5},
    ),
    Mistake(
        "a welcome that nobody sees, and so no subscription",
        leave_out("onOpen", 0, "forward"),
        UNUSED,
        options={"subscribe_within": 0.3},
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))
