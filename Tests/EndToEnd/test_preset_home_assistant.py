"""The preset `home-assistant` at the stand-in for Home Assistant."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import leave_out, preset, put, rewrite
from recipes import Recipe
from services.client import finished
from services.home_assistant import (
    AUTHENTICATION,
    AUTHENTICATION_TIME,
    BAN,
    COMMANDS,
    FORMAT,
    IDENTIFIERS,
    PLACE,
    HomeAssistant,
)
from trials import OFTEN, Mistake, Trial, Try, rule, trying

NAME = "home-assistant"
REFUSED = rule(NAME, {"/type": "auth_invalid"})


trial = trying(HomeAssistant, NAME, lambda home: {"parameters": {"token": home.TOKEN}})


def test_commands_have_results_and_events_their_type_as_topic(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    states = it.request({"type": "get_states"})
    assert states["result"] == [{"entity_id": "light.bed_light", "state": "on"}]
    subscription = it.request({"type": "subscribe_events", "event_type": "state_changed"})
    assert feed.messages(2) == [("messages", states), ("messages", subscription)]
    it.service.fire(("state_changed", {"entity_id": "light.bed_light"}), ("other", {}))
    topic, event = feed.message()
    assert (topic, event["id"]) == ("home.state_changed", subscription["id"])
    assert it.request({"type": "unsubscribe_events", "subscription": subscription["id"]})["success"]
    assert it.request({"type": "no_such_command"})["error"]["code"] == "unknown_command"
    assert [breach.clause for breach in it.service.breaches] == [COMMANDS]


def test_ids_grow_whoever_sends(trial: Try) -> None:
    """Requests of many clients at once, heartbeats, and what clients number themselves with `{{counter}}`."""
    it = trial(heartbeat=OFTEN | {"interval": "10ms"})
    it.bridge.await_ready()

    def ask(number: int) -> Any:
        return it.request({"type": "fire_event", "event_type": "n", "event_data": {"n": number}})

    with ThreadPoolExecutor(8) as clients:
        replies = list(clients.map(ask, range(200)))
    assert len({reply["id"] for reply in replies}) == 200
    it.await_beats(5)
    assert len(it.service.await_commands("ping", 5)) >= 5
    sent = {each["event_data"]["n"] for each in it.service.commands if each["type"] == "fire_event"}
    assert sent == set(range(200))
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


def test_heartbeats_keep_it_and_nobody_sees_them(trial: Try) -> None:
    it = trial(options={"ping_every": 0.1}, heartbeat=OFTEN)
    it.bridge.await_ready()
    feed = it.feed()
    it.await_beats(5)
    last = it.request({"type": "get_config"})
    assert feed.message()[1] == last
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


def test_silence_is_a_loss(trial: Try) -> None:
    it = trial(heartbeat={"interval": "500ms"})
    it.bridge.await_ready()
    feed = it.feed()
    it.service.answers_pings = False
    feed.until_status("heartbeat-lost")
    it.service.answers_pings = True
    feed.until_status("ready")
    assert it.request({"type": "get_config"})["success"]
    assert not it.service.breaches


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1011])
def test_each_connection_authenticates_and_counts_anew(trial: Try, end: Any) -> None:
    it = trial()
    feed = it.feed()
    for number in range(3):
        feed.until_status("ready")
        assert [it.request({"type": "get_config"})["id"] for _ in range(2)] == [1, 2]
        it.service.drop() if end == "drop" else it.service.close(end)
        finished(it.service, number)
    feed.until_status("ready")
    assert len(it.service.sessions) == 4
    assert not it.service.breaches


def test_a_subscription_may_come_back_by_itself(trial: Try) -> None:
    """As the head of the preset has it."""
    steps = [
        {"send": {"text": '{"id":{{counter}},"type":"subscribe_events","event_type":"state_changed"}'}},
        {"expect": {"json": {"/type": "result", "/success": True}}},
    ]
    own = json.loads(json.dumps(preset(NAME)["onOpen"]).replace("${parameter:token}", HomeAssistant.TOKEN))
    it = trial(onOpen=own + steps)
    feed = it.feed()
    for number in range(3):
        feed.until_status("ready")
        it.service.fire(("state_changed", {"n": number}))
        topic, event = feed.message()
        assert (topic, event["event"]["data"]) == ("home.state_changed", {"n": number})
        it.service.drop()
    assert not it.service.breaches


def test_a_token_that_is_refused_is_tried_once(trial: Try) -> None:
    it = trial(options={"login_attempts": 1})
    it.bridge.await_ready()
    it.service.revoked = True
    it.service.drop()
    it.await_state("closed")
    finished(it.service, 1)
    assert len(it.service.sessions) == 2
    assert not it.service.breaches


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    home = start_service(HomeAssistant)
    recipe = Recipe("home-assistant", tmp_path)
    bridge = recipe.serve(run_bridge, home.url, HOME_ASSISTANT_TOKEN=home.TOKEN)
    change = ("state_changed", {"entity_id": "light.bed_light", "new_state": {"state": "off"}})
    recipe.follow(bridge, lambda: home.fire(change), lambda: home.fire(change))
    assert not home.breaches


# Mistakes


def ask(it: Trial) -> None:
    it.bridge.await_ready()
    it.bridge.post("/request", json.dumps({"type": "get_states"}).encode())


def ask_twice(it: Trial) -> None:
    ask(it)
    ask(it)


def revoke(it: Trial) -> None:
    it.bridge.await_ready()
    it.service.revoked = True
    it.service.drop()


AUTH = ("onOpen", 1)
BEAT = ("heartbeat", "send", "text")
LIVELY = {"heartbeat": {"interval": "50ms"}}
IMPATIENT = {"authenticate_within": 0.3}

MISTAKES = [
    Mistake("another path", rewrite("/api/websocket", "/", "url"), PLACE),
    Mistake("no authentication", leave_out(*AUTH), AUTHENTICATION_TIME, options=IMPATIENT),
    Mistake(
        "authentication after what it brings",
        lambda tree: tree["onOpen"].append(tree["onOpen"].pop(1)),
        AUTHENTICATION_TIME,
        options=IMPATIENT,
    ),
    Mistake(
        "authentication when asked again",
        put({"json": {"/type": "auth"}}, "onOpen", 0, "expect"),
        AUTHENTICATION_TIME,
        options=IMPATIENT,
    ),
    Mistake(
        "another name of the token", rewrite("access_token", "token", *AUTH, "send", "text"), AUTHENTICATION
    ),
    Mistake("another token", rewrite('"${', '"Bearer ${', *AUTH, "send", "text"), AUTHENTICATION),
    Mistake("an id", rewrite('"type"', '"id":1,"type"', *AUTH, "send", "text"), AUTHENTICATION),
    Mistake("no JSON", rewrite('{"type"', "{type", *AUTH, "send", "text"), AUTHENTICATION),
    Mistake("twice", lambda tree: tree["onOpen"].append(tree["onOpen"][1]), FORMAT),
    Mistake(
        "heartbeats at once",
        lambda tree: tree["onOpen"].insert(1, {"send": tree["heartbeat"]["send"]}),
        AUTHENTICATION,
    ),
    Mistake("refused and back", leave_out("rules", REFUSED), BAN, revoke, {"login_attempts": 1}),
    Mistake(
        "refused, and begun anew",
        put("reconnect", "rules", REFUSED, "action"),
        BAN,
        revoke,
        {"login_attempts": 1},
    ),
    Mistake("heartbeats without id", rewrite('"id":{{counter}},', "", *BEAT), FORMAT, settings=LIVELY),
    Mistake("heartbeats with one id", rewrite("{{counter}}", "1", *BEAT), IDENTIFIERS, settings=LIVELY),
    Mistake(
        "heartbeats with the time",
        rewrite("{{counter}}", "{{nowMillis}}", *BEAT),
        IDENTIFIERS,
        lambda it: (it.bridge.await_ready(), it.await_beats(1), ask(it)),
        settings=LIVELY,
    ),
    Mistake("ids in quotes", rewrite("{{counter}}", '"{{counter}}"', *BEAT), FORMAT, settings=LIVELY),
    Mistake("another heartbeat", rewrite("ping", "pong", *BEAT), COMMANDS, settings=LIVELY),
    Mistake("plain text", put("ping", *BEAT), FORMAT, settings=LIVELY),
    Mistake("random ids of requests", put("uuid", "request", "id"), FORMAT, ask),
    Mistake("ids elsewhere", put("/number", "request", "correlate"), FORMAT, ask),
    Mistake(
        "no ids of requests",
        leave_out("request"),
        FORMAT,
        lambda it: (it.bridge.await_ready(), it.send({"type": "get_states"})),
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))
