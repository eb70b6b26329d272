"""The preset `slack-socket-mode` at the stand-in for Slack."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import both, leave_out, put, rewrite
from recipes import Recipe
from services.client import finished
from services.service import Ended
from services.slack_socket_mode import (
    ACKNOWLEDGE,
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
from trials import OFTEN, Mistake, Trial, Try, rule, trying

NAME = "slack-socket-mode"
ENVELOPE = rule(NAME, {"/envelope_id": None})
WARNING = rule(NAME, {"/type": "disconnect", "/reason": "warning"})
REFRESH = rule(NAME, {"/type": "disconnect", "/reason": "refresh_requested"})
DISABLED = rule(NAME, {"/type": "disconnect", "/reason": "link_disabled"})
REPLY = ("rules", ENVELOPE, "reply", "text")
ASK = ("url", "http")


trial = trying(
    SlackSocketMode,
    NAME,
    lambda slack: {"url": {"http": {"url": slack.open_url}}, "parameters": {"token": slack.TOKEN}},
)


def test_envelopes_are_acknowledged_and_passed_on_with_their_type(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    for kind, accepts in [("events_api", False), ("slash_commands", True), ("interactive", True)]:
        envelope_id = it.service.push({"text": 'a "quoted" \\ é'}, kind, accepts=accepts)
        assert it.service.await_acknowledged(envelope_id) == {"envelope_id": envelope_id}
        topic, envelope = feed.message()
        assert (topic, envelope["envelope_id"]) == (kind, envelope_id)
        assert envelope["payload"] == {"text": 'a "quoted" \\ é'}
    assert not it.service.breaches


def test_the_connection_is_kept_with_pings(trial: Try) -> None:
    it = trial(heartbeat=OFTEN)
    it.bridge.await_ready()
    it.await_beats(5)
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1006, 1011, 4000])
def test_every_connection_has_a_url_of_its_own(trial: Try, end: Any) -> None:
    it = trial()
    feed = it.feed()
    for number in range(3):
        feed.until_status("ready")
        envelope_id = it.service.push({"n": number})
        it.service.await_acknowledged(envelope_id)
        assert feed.message()[1]["payload"] == {"n": number}
        it.service.drop() if end in ("drop", 1006) else it.service.close(end)
        assert feed.until_status("closed")["by"] == "server"
    feed.until_status("ready")
    assert it.service.open_count == 4
    assert not it.service.breaches


def push(slack: SlackSocketMode, payload: Any, to: int) -> None:
    """Send an envelope, though the connection may have gone just now."""
    with contextlib.suppress(Ended):
        slack.push(payload, to=to)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
def test_a_refreshed_connection_loses_nothing(trial: Try, reason: str) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    count = 0
    again: list[str] = []
    for number in range(3):
        it.service.disconnect(reason)
        while ("left", number) not in it.service.order:
            # To both connections while there are two.
            for to in (0, -1):
                push(it.service, {"n": count}, to)
                count += 1
        it.service.push({"n": count})
        count += 1
        # One that came after the bridge's close frame could not be acknowledged.
        again += it.service.push_again()
        it.service.await_truth(lambda: not it.service.pending, "all acknowledgements")
    envelopes = [envelope for _, envelope in feed.messages(count)]
    while len({envelope["envelope_id"] for envelope in envelopes}) < count:
        envelopes.append(feed.message()[1])
    assert {envelope["payload"]["n"] for envelope in envelopes} == set(range(count))
    ids = [envelope["envelope_id"] for envelope in envelopes]
    assert {each for each in ids if ids.count(each) > 1} <= set(again)
    assert [envelope_id for envelope_id in ids if ids.count(envelope_id) > 2] == []
    order = [what for number in range(3) for what in (("hello", number + 1), ("left", number))]
    assert it.service.order == [("hello", 0), *order]
    assert [session.close_frame for session in it.service.sessions[:3]] == [(1000, "")] * 3
    counters = it.bridge.status()["counters"]
    assert (counters["opens"], counters["closes"]) == (1, 0)
    assert not it.service.breaches


def test_a_connection_stays_until_one_is_not_turned_away(trial: Try) -> None:
    it = trial()
    feed = it.feed()
    feed.until_status("ready")
    it.service.greet_with = "too_many_websockets"
    it.service.disconnect("warning")
    assert feed.until_status("failed")["phase"] == "onOpen"
    it.service.await_acknowledged(it.service.push({}, to=0))
    it.service.greet_with = None
    feed.until_status("rotated")
    assert finished(it.service).close_frame == (1000, "")
    last = len(it.service.sessions) - 1
    order = [each for each in it.service.order if each[1] in (0, last)]
    assert order == [("hello", 0), ("hello", last), ("left", 0)]
    assert not it.service.breaches


def test_one_connection_too_many_is_tried_again(trial: Try) -> None:
    it = trial(connect="manual")
    feed = it.feed()
    it.service.greet_with = "too_many_websockets"
    it.bridge.post("/connect")
    assert feed.until_status("failed")["phase"] == "onOpen"
    it.service.greet_with = None
    feed.until_status("ready")
    assert not it.service.breaches


def test_slack_may_fail_to_tell_a_url(trial: Try) -> None:
    it = trial(connect="manual")
    feed = it.feed()
    it.service.open_error = "internal_error"
    it.bridge.post("/connect")
    assert feed.until_status("failed")["phase"] == "url"
    it.service.open_error = None
    feed.until_status("ready")
    assert not it.service.breaches


def test_a_disabled_link_is_the_end(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    it.service.disconnect("link_disabled")
    it.await_state("closed")
    finished(it.service)
    assert it.service.open_count == 1
    assert not it.service.breaches


def test_mistakes_of_topics_and_order_show_as_well(trial: Try) -> None:
    """What no rule of Slack's speaks of."""
    it = trial(both(leave_out("rules", ENVELOPE, "topic"), put("reconnect", "rules", WARNING, "action")))
    it.bridge.await_ready()
    feed = it.feed()
    it.service.push({})
    assert feed.message()[0] == "messages"
    it.service.disconnect("warning")
    feed.until_status("closed")
    feed.until_status("ready")
    assert it.service.order == [("hello", 0), ("left", 0), ("hello", 1)]


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    slack = start_service(SlackSocketMode)
    recipe = Recipe("slack-socket-mode", tmp_path)
    bridge = recipe.serve(run_bridge, {"http": {"url": slack.open_url}}, SLACK_APP_TOKEN=slack.TOKEN)
    mention = {"type": "event_callback", "event": {"type": "app_mention", "text": "hello"}}
    command = {"token": "x", "command": "/weather", "text": "94070"}
    recipe.follow(bridge, lambda: slack.push(mention), lambda: slack.push(command, "slash_commands"))
    assert not slack.breaches


# Mistakes


def push_one(it: Trial) -> None:
    it.service.await_truth(lambda: ("hello", 0) in it.service.order, "the connection")
    it.service.push({})


def disconnect(reason: str) -> Callable[[Trial], None]:
    def act(it: Trial) -> None:
        it.service.await_truth(lambda: ("hello", 0) in it.service.order, "the connection")
        with contextlib.suppress(Ended):
            it.service.disconnect(reason)

    return act


SOON = {"acknowledge_within": 0.3, "renew_within": 0.3}
MISTAKES = [
    Mistake("no acknowledgement", leave_out("rules", ENVELOPE, "reply"), PROMPTLY, push_one, SOON),
    Mistake("no such rule", leave_out("rules", ENVELOPE), PROMPTLY, push_one, SOON),
    Mistake("another key", put('{"id":"{{/envelope_id}}"}', *REPLY), ACKNOWLEDGE, push_one),
    Mistake("another id", put('{"envelope_id":"{{uuid}}"}', *REPLY), ACKNOWLEDGE, push_one),
    Mistake("no string", put('{"envelope_id":{{nowMillis}}}', *REPLY), ACKNOWLEDGE, push_one),
    Mistake("no JSON", put("{{/envelope_id}}", *REPLY), ACKNOWLEDGE, push_one),
    Mistake("a payload", rewrite('"}', '","payload":{}}', *REPLY), ENVELOPES, push_one),
    Mistake("a type", rewrite('"}', '","type":"{{/type}}"}', *REPLY), ACKNOWLEDGE, push_one),
    Mistake("bytes", put({"base64": "e30="}, "rules", ENVELOPE, "reply"), ACKNOWLEDGE, push_one),
    Mistake(
        "twice",
        lambda tree: tree["rules"].append(tree["rules"][ENVELOPE]),
        ACKNOWLEDGE,
        push_one,
    ),
    Mistake("everything acknowledged", put({"any": True}, "rules", ENVELOPE, "when"), ACKNOWLEDGE),
    Mistake(
        "heartbeats in text", put({"send": {"text": "ping"}, "interval": "20ms"}, "heartbeat"), ACKNOWLEDGE
    ),
    Mistake("a greeting", lambda tree: tree["onOpen"].append({"send": {"text": "{}"}}), ACKNOWLEDGE),
    Mistake("warnings pass", leave_out("rules", WARNING), DISCONNECTS, disconnect("warning"), SOON),
    Mistake(
        "refreshes pass", leave_out("rules", REFRESH), DISCONNECTS, disconnect("refresh_requested"), SOON
    ),
    Mistake(
        "warnings end all", put("stop", "rules", WARNING, "action"), DISCONNECTS, disconnect("warning"), SOON
    ),
    Mistake(
        "rotation to a URL of the message",
        put("/debug_info/host", "rules", WARNING, "urlPointer"),
        DISCONNECTS,
        disconnect("warning"),
        SOON,
    ),
    Mistake(
        "no end",
        leave_out("rules", DISABLED),
        OPEN_RATE,
        disconnect("link_disabled"),
        {"most_opens": (3, 3600)},
    ),
    Mistake("GET", put("GET", *ASK, "method"), OPEN_METHOD),
    Mistake("no token", leave_out(*ASK, "headers", "Authorization"), OPEN_TOKEN),
    Mistake("a bare token", rewrite("Bearer ", "", *ASK, "headers", "Authorization"), OPEN_TOKEN),
    Mistake("the token in the body", put("token=${parameter:token}", *ASK, "body"), OPEN_TOKEN),
    Mistake(
        "another type of content",
        both(put("a=b", *ASK, "body"), put("text/plain", *ASK, "headers", "Content-Type")),
        OPEN_TYPE,
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))


def test_a_url_that_was_not_asked_for_is_found(
    start_service: Callable[..., Any], serve_file: Callable[..., Bridge]
) -> None:
    slack = start_service(SlackSocketMode)
    it = Trial(
        slack,
        serve_file(
            f"connections: {{ default: {{ preset: {NAME}, url: '{slack.url}' }} }}",
            environment={"SLACK_APP_TOKEN": slack.TOKEN},
        ),
    )
    Mistake("", put("", ""), TICKET).is_found_in(it)


@pytest.mark.parametrize("act", [push_one, disconnect("warning"), disconnect("link_disabled")])
def test_without_a_mistake_nothing_is_found(trial: Try, act: Callable[[Trial], None]) -> None:
    it = trial()
    act(it)
    it.service.await_truth(lambda: not it.service.pending, "all acknowledgements")
    it.bridge.await_status(lambda status: status["ready"] or status["state"] == "closed", "a good end")
    assert not it.service.breaches
