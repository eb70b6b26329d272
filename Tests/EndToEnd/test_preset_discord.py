"""The preset `discord` at the stand-in for Discord's gateway."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from recipes import Recipe
from services.client import finished
from services.discord import Discord
from trials import Feed, Trial, Try, trying

NAME = "discord"


trial = trying(Discord, NAME, lambda discord: {"parameters": {"token": discord.TOKEN, "intents": 33281}})


def began(it: Trial) -> Feed:
    """Wait for a new session, and return what follows its READY."""
    feed = it.feed()
    topic, ready = feed.message()
    assert (topic, ready["t"]) == ("discord.READY", "READY")
    it.bridge.await_ready()
    return feed


def events(feed: Feed, count: int) -> list[tuple[str, int]]:
    """Wait for so many events; return their topics and numbers."""
    return [(topic, event["s"]) for topic, event in feed.messages(count)]


def test_events_have_their_name_as_topic(trial: Try) -> None:
    it = trial()
    feed = began(it)
    it.service.dispatch("MESSAGE_CREATE", {"content": "hello"})
    it.service.dispatch("GUILD_CREATE", {"id": "1"})
    assert events(feed, 2) == [("discord.MESSAGE_CREATE", 2), ("discord.GUILD_CREATE", 3)]
    identify = json.loads(it.service.sessions[0].received[0])
    assert identify["d"]["intents"] == 33281
    assert not it.service.breaches


def test_messages_reach_discord(trial: Try) -> None:
    it = trial()
    presence = {"op": 3, "d": {"since": None, "activities": [], "status": "online", "afk": False}}
    it.send(presence)
    session = it.service.session()
    it.service.await_truth(lambda: len(session.received) == 2, "the message after Identify")
    assert json.loads(session.received[1]) == presence
    assert not it.service.breaches


def test_heartbeats_follow_hello(trial: Try) -> None:
    it = trial(options={"heartbeat_interval": 0.1}, heartbeat={"missLimit": 1000})
    feed = began(it)
    session = it.service.session()
    for number in range(5):
        it.service.dispatch("TYPING_START", {})
        beats = session.notes["beats"]
        it.service.await_truth(lambda beats=beats: session.notes["beats"] > beats + 1, f"heartbeats {number}")
    # Nobody sees their acknowledgements.
    assert events(feed, 5) == [("discord.TYPING_START", number) for number in range(2, 7)]
    status = it.bridge.status()
    assert (status["heartbeat"]["intervalMs"], status["counters"]["opens"]) == (100, 1)
    assert not it.service.breaches


def test_a_heartbeat_that_is_asked_for(trial: Try) -> None:
    it = trial(options={"tolerance": 5})
    feed = began(it)
    session = it.service.session()
    for count in range(1, 4):
        it.service.ask_for_heartbeat()
        it.service.await_truth(lambda count=count: session.notes["beats"] == count, "a heartbeat")
    it.service.dispatch("RESUMED", {})
    assert events(feed, 1) == [("discord.RESUMED", 2)]
    assert not it.service.breaches


def test_a_zombie_is_left_and_resumed(trial: Try) -> None:
    it = trial(options={"heartbeat_interval": 0.2})
    feed = began(it)
    it.service.acknowledges = False
    lost = finished(it.service, 0)
    it.service.acknowledges = True
    assert lost.close_frame == (4000, "heartbeat lost")
    it.service.dispatch("MESSAGE_CREATE", {})
    # Further connections may have been left, too, while acknowledgements were off.
    names = [feed.message()[0]]
    while names[-1] != "discord.MESSAGE_CREATE":
        names.append(feed.message()[0])
    assert set(names[:-1]) <= {"discord.RESUMED"}
    assert it.service.order[:2] == ["identify", "resume"]
    assert set(it.service.order[1:]) == {"resume"}
    assert not it.service.breaches


ENDS: dict[str, Callable[[Discord], None]] = {
    "drop": lambda discord: discord.drop(),
    "reconnect": lambda discord: discord.reconnect(),
    "invalid, but resumable": lambda discord: discord.invalidate(True),
    **{
        f"{code}": lambda discord, code=code: discord.close(code)
        for code in (1000, 1001, 1011, 4000, 4001, 4002, 4008)
    },
}


@pytest.mark.parametrize("end", ENDS)
def test_a_session_is_resumed_without_loss(trial: Try, end: str) -> None:
    it = trial()
    feed = began(it)
    expected = []
    for number in range(3):
        it.service.dispatch("MESSAGE_CREATE", {"n": number})
        expected.append(("discord.MESSAGE_CREATE", it.service.gateways[0].sequence))
        assert events(feed, 1) == expected[-1:]
        ENDS[end](it.service)
        # What happens while nobody is there; it may also come before the bridge has left.
        it.service.dispatch("GUILD_UPDATE", {})
        it.service.session(number + 1)
        it.service.await_truth(
            lambda number=number: it.service.order.count("resume") == number + 1, "the session is resumed"
        )
        it.service.await_truth(
            lambda: it.service.gateways[0].events[-1]["t"] == "RESUMED", "the answer to Resume"
        )
        expected += [
            (f"discord.{event['t']}", event["s"])
            for event in it.service.gateways[0].events
            if event["s"] > expected[-1][1]
        ]
        # Discord may also tell that the session is invalid; what has a number comes once, in order.
        got = [feed.message() for _ in range(2 + (end == "invalid, but resumable"))]
        numbered = [(topic, event["s"]) for topic, event in got if event["op"] == 0]
        assert numbered == expected[-len(numbered) :]
    assert it.service.order == ["identify"] + ["resume"] * 3
    assert not it.service.breaches


def test_an_invalid_session_is_followed_by_a_new_one(trial: Try) -> None:
    it = trial()
    feed = began(it)
    it.service.invalidate()
    assert feed.message()[1]["op"] == 9
    topic, ready = feed.message()
    assert (topic, ready["d"]["session_id"]) == ("discord.READY", "session-1")
    it.service.drop()
    assert events(feed, 1) == [("discord.RESUMED", 2)]
    assert it.service.order == ["identify", "identify", "resume"]
    assert not it.service.breaches


@pytest.mark.parametrize("code", [4007, 4009])
def test_a_code_that_ends_the_session_is_followed_by_a_new_one(trial: Try, code: int) -> None:
    it = trial()
    feed = began(it)
    it.service.close(code)
    assert feed.message()[0] == "discord.READY"
    assert it.service.order == ["identify", "identify"]
    assert not it.service.breaches


@pytest.mark.parametrize("code", [4004, 4010, 4011, 4012, 4013, 4014])
def test_a_final_code_is_the_end(trial: Try, code: int) -> None:
    it = trial()
    began(it)
    it.service.close(code)
    assert it.await_state("closed")["lastClose"]["code"] == code
    assert len(it.service.sessions) == 1
    assert not it.service.breaches


@pytest.mark.parametrize(
    ("parameters", "options", "code"),
    [
        ({"token": "wrong"}, {}, 4004),
        ({"token": Discord.TOKEN, "intents": 1 << 30}, {}, 4013),
        ({"token": Discord.TOKEN, "intents": 32768}, {"disallowed_intents": 32768}, 4014),
    ],
)
def test_what_discord_refuses_for_good_is_not_tried_again(
    trial: Try, parameters: Any, options: Any, code: int
) -> None:
    it = trial(options=options, parameters=parameters)
    assert it.await_state("closed")["lastClose"]["code"] == code
    assert [breach.session for breach in it.service.breaches] == [0]


def test_intents_have_a_default(trial: Try) -> None:
    it = trial(parameters={"token": Discord.TOKEN})
    began(it)
    assert json.loads(it.service.sessions[0].received[0])["d"]["intents"] == 513


def test_the_rate_is_kept(trial: Try) -> None:
    # The stand-in's span is shorter, since on a busy machine messages come nearer to one another.
    it = trial(options={"most_messages": (5, 0.5)}, rate={"messages": 5, "per": "2s"})
    began(it)
    session = it.service.session()
    for _ in range(12):
        it.send({"op": 3, "d": {}})
    it.service.await_truth(lambda: len(session.received) == 13, "all messages")
    assert not it.service.breaches


@pytest.mark.parametrize("action", ["reconnect", "pause", "disconnect"])
def test_a_session_that_a_user_ends_is_not_resumed_but_that_of_another_socket_is(
    trial: Try, action: str
) -> None:
    """Closing with 1000 is the end of a session."""
    it = trial()
    began(it)
    it.bridge.post(f"/{action}")
    finished(it.service)
    if action != "reconnect":
        it.bridge.post("/resume" if action == "pause" else "/connect")
    it.bridge.await_status(lambda status: status["counters"]["opens"] == 2 and status["ready"], "another")
    assert it.service.order == ["identify", "resume" if action == "reconnect" else "identify"]
    assert not it.service.breaches


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    discord = start_service(Discord)
    recipe = Recipe("discord", tmp_path)
    bridge = recipe.serve(run_bridge, discord.url, DISCORD_TOKEN=discord.TOKEN)
    recipe.follow(
        bridge,
        lambda: discord.dispatch("MESSAGE_CREATE", {"id": "1", "content": "hello", "tts": False}),
        lambda: discord.dispatch("TYPING_START", {"channel_id": "42", "user_id": "2"}),
    )
    assert not discord.breaches


def test_other_intents_are_for_a_new_session(trial: Try, tmp_path: Path) -> None:
    it = trial()
    feed = began(it)
    file = tmp_path / "wsbridge.yaml"
    file.write_text(file.read_text().replace("33281", "1"))
    it.bridge.signal(signal.SIGHUP)
    assert feed.message()[1]["d"]["session_id"] == "session-1"
    assert json.loads(it.service.sessions[1].received[0])["d"]["intents"] == 1
    assert not it.service.breaches
