"""The preset `obs-websocket` at the stand-in for OBS Studio."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import Change, both, leave_out, put, rewrite
from recipes import Recipe
from services.client import finished
from services.obs_websocket import (
    ALREADY,
    AUTHENTICATION,
    BASE,
    BEFORE_IDENTIFIED,
    ENCODING,
    IDENTIFY,
    KICKED,
    OPCODES,
    REQUEST,
    RPC_VERSION,
    OBSWebSocket,
)
from trials import OFTEN, Mistake, Trial, Try, trying

NAME = "obs-websocket"
SCENES, INPUTS, OUTPUTS = 4, 8, 64


trial = trying(OBSWebSocket, NAME, lambda obs: {"parameters": {"password": obs.password}})


def request(kind: str, **data: Any) -> Any:
    return {"op": 6, "d": {"requestType": kind} | ({"requestData": data} if data else {})}


@pytest.mark.parametrize("password", [OBSWebSocket.PASSWORD, "", 'ü"\\{{}} $'])
def test_requests_have_responses(trial: Try, password: str) -> None:
    it = trial(options={"password": password})
    it.bridge.await_ready()
    response = it.request(request("GetSceneItemList", sceneName="One"))
    assert response["op"] == 7
    assert response["d"]["responseData"] == {"sceneName": "One"}
    assert response["d"]["requestStatus"] == {"result": True, "code": 100}
    refused = it.request(request("Dance"))
    assert refused["d"]["requestStatus"]["code"] == 204
    assert it.bridge.status()["subprotocol"] == "obswebsocket.json"
    assert not it.service.breaches


def test_many_requests_at_once(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    with ThreadPoolExecutor(8) as clients:
        responses = list(clients.map(lambda n: it.request(request("GetN", n=n)), range(100)))
    assert [each["d"]["responseData"]["n"] for each in responses] == list(range(100))
    assert len({each["requestId"] for each in it.service.requests}) == 100
    assert not it.service.breaches


def test_events_have_their_name_as_topic(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    it.service.event("SceneCreated", SCENES, {"sceneName": "One"})
    it.service.event("InputVolumeMeters", 1 << 16)
    it.service.event("InputCreated", INPUTS)
    events = feed.messages(2)
    assert [topic for topic, _ in events] == ["obs.SceneCreated", "obs.InputCreated"]
    assert events[0][1]["d"]["eventData"] == {"sceneName": "One"}
    it.send({"op": 3, "d": {"eventSubscriptions": 1 << 16}})
    assert feed.message()[1]["op"] == 2
    it.service.event("InputVolumeMeters", 1 << 16)
    assert feed.message()[0] == "obs.InputVolumeMeters"
    assert not it.service.breaches


def test_it_is_kept_with_pings(trial: Try) -> None:
    it = trial(heartbeat=OFTEN)
    it.bridge.await_ready()
    it.await_beats(5)
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 4005, 4012])
def test_each_connection_answers_its_own_challenge(trial: Try, end: Any) -> None:
    it = trial()
    feed = it.feed()
    for number in range(3):
        feed.until_status("ready")
        it.service.event("SceneCreated", SCENES, {"n": number})
        assert feed.message()[1]["d"]["eventData"] == {"n": number}
        it.service.drop() if end == "drop" else it.service.close(end)
    feed.until_status("ready")
    assert len({json.loads(each.received[0])["d"]["authentication"] for each in it.service.sessions}) == 4
    assert not it.service.breaches


def test_obs_may_need_a_password_no_more_or_again(trial: Try) -> None:
    it = trial()
    feed = it.feed()
    for password in ("", OBSWebSocket.PASSWORD, ""):
        feed.until_status("ready")
        it.service.password = password
        it.service.drop()
    feed.until_status("ready")
    has_proof = ["authentication" in json.loads(each.received[0])["d"] for each in it.service.sessions]
    assert has_proof == [True, False, True, False]
    assert not it.service.breaches


def test_who_is_kicked_stays_away(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    it.service.kick()
    assert it.await_state("closed")["lastClose"]["code"] == 4011
    assert len(it.service.sessions) == 1
    assert not it.service.breaches


@pytest.mark.parametrize(
    ("change", "parameters", "code"),
    [
        (None, {"password": "wrong"}, 4009),
        (None, {}, 4009),
        (rewrite('"rpcVersion":1', '"rpcVersion":2', "onOpen", 1, "send", "text"), None, 4010),
    ],
)
def test_what_obs_refuses_is_not_tried_again(
    trial: Try, change: Change | None, parameters: Any, code: int
) -> None:
    it = trial(change) if parameters is None else trial(change, parameters=parameters)
    assert it.await_state("closed")["lastClose"]["code"] == code
    finished(it.service)
    assert [breach.session for breach in it.service.breaches] == [0]


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    obs = start_service(OBSWebSocket)
    recipe = Recipe("obs-websocket", tmp_path)
    bridge = recipe.serve(run_bridge, obs.url, OBS_PASSWORD=obs.PASSWORD)
    recipe.follow(
        bridge,
        lambda: obs.event("CurrentProgramSceneChanged", SCENES, {"sceneName": "Break", "sceneUuid": "1"}),
        lambda: obs.event("RecordStateChanged", OUTPUTS, {"outputActive": True}),
    )
    assert not obs.breaches


# Mistakes


def ask(it: Trial) -> None:
    it.bridge.await_ready()
    it.bridge.post("/request?timeout=1s", json.dumps(request("GetVersion")).encode())


def kick(it: Trial) -> None:
    it.bridge.await_ready()
    it.service.kick()


def say(message: Any) -> Callable[[Trial], None]:
    def act(it: Trial) -> None:
        it.bridge.await_ready()
        it.send(message)

    return act


PROVE, PLAINLY = ("onOpen", 1, "send", "text"), ("onOpen", 2, "send", "text")
ONE_HASH = "{{sha256base64:${parameter:password}{{var:salt}}}}"
OPEN = {"password": ""}


def keep_the_first_challenge(tree: Any) -> None:
    """Capture what the first connection is asked, and answer that on all others."""
    hello = tree["onOpen"][0]
    first = hello | {"when": {"notCaptured": "challenge"}}
    del hello["capture"]
    tree["onOpen"][0:1] = [first, hello | {"when": {"captured": "kept"}}]
    tree["rules"].append({"when": {"json": {"/op": 2}}, "capture": {"kept": "/op"}})


MISTAKES = [
    Mistake("no proof", both(leave_out("onOpen", 1), leave_out("onOpen", 1, "when")), AUTHENTICATION),
    Mistake(
        "the password itself",
        put('{"op":1,"d":{"rpcVersion":1,"authentication":"${parameter:password}"}}', *PROVE),
        AUTHENTICATION,
    ),
    Mistake(
        "salt and challenge exchanged",
        both(
            rewrite("{{var:challenge}}", "{{var:x}}", *PROVE),
            rewrite("{{var:salt}}", "{{var:challenge}}", *PROVE),
            rewrite("{{var:x}}", "{{var:salt}}", *PROVE),
        ),
        AUTHENTICATION,
    ),
    Mistake(
        "one hash", rewrite(ONE_HASH, ONE_HASH[len("{{sha256base64:") : -len("}}")], *PROVE), AUTHENTICATION
    ),
    Mistake("no salt", rewrite("{{var:salt}}", "", *PROVE), AUTHENTICATION),
    Mistake(
        "the first challenge for ever",
        keep_the_first_challenge,
        AUTHENTICATION,
        lambda it: (it.bridge.await_ready(), it.service.drop()),
    ),
    Mistake(
        "another version", rewrite('"rpcVersion":1', '"rpcVersion":2', *PLAINLY), RPC_VERSION, options=OPEN
    ),
    Mistake("no version", rewrite('"rpcVersion":1', "", *PLAINLY), IDENTIFY, options=OPEN),
    Mistake(
        "a version in quotes", rewrite('"rpcVersion":1', '"rpcVersion":"1"', *PLAINLY), IDENTIFY, options=OPEN
    ),
    Mistake(
        "more than there is",
        rewrite('"rpcVersion":1', '"rpcVersion":1,"events":1', *PLAINLY),
        IDENTIFY,
        options=OPEN,
    ),
    Mistake(
        "a mask in quotes",
        rewrite('"rpcVersion":1', '"rpcVersion":1,"eventSubscriptions":"1"', *PLAINLY),
        IDENTIFY,
        options=OPEN,
    ),
    Mistake("twice", leave_out("onOpen", 2, "when"), ALREADY),
    Mistake("nothing but requests", put([], "onOpen"), BEFORE_IDENTIFIED, ask),
    Mistake("Reidentify", rewrite('"op":1', '"op":3', *PROVE), BEFORE_IDENTIFIED),
    Mistake("no such op", rewrite('"op":1', '"op":11', *PROVE), OPCODES),
    Mistake("no JSON", rewrite('{"op":1', "{op:1", *PROVE), ENCODING),
    Mistake("bytes", put({"base64": "e30="}, "onOpen", 1, "send"), ENCODING),
    Mistake("data elsewhere", rewrite('"d":', '"data":', *PROVE), BASE),
    Mistake(
        "heartbeats",
        put(
            {"send": {"text": '{"op":1,"d":{"rpcVersion":1}}'}, "expect": {"any": True}, "interval": "50ms"},
            "heartbeat",
        ),
        ALREADY,
        options=OPEN,
    ),
    Mistake("ids elsewhere", put("/id", "request", "correlate"), BASE, ask),
    Mistake("ids that are numbers", put("counter", "request", "id"), REQUEST, ask),
    Mistake("no ids", leave_out("request"), REQUEST, say(request("GetVersion"))),
    Mistake("kicked and back", leave_out("reconnect", "stopOnCloseCodes"), KICKED, kick),
    Mistake(
        "kicked and back, in spite of others",
        put(["4009-4010"], "reconnect", "stopOnCloseCodes"),
        KICKED,
        kick,
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))
