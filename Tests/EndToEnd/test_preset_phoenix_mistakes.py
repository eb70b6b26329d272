"""The stand-in for Phoenix notices what is wrong with a preset that is worse than `phoenix`."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from presets import Change, both, leave_out, put, rewrite
from services.client import await_breach
from services.phoenix import CONNECTING, FORMAT, REJOIN, TOKEN, Phoenix
from stand_ins import QUICK, Serve, serving, starting

LOBBY = "room:lobby"
PARAMETERS = {"topic": LOBBY}


start = starting(Phoenix, joins=[LOBBY])
serve = serving("phoenix", parameters=PARAMETERS)


def subprotocols(token: str) -> list[str]:
    return ["phoenix", "base64url.bearer.phx." + base64.b64encode(token.encode()).decode().rstrip("=")]


def text(old: str, new: str) -> Change:
    return rewrite(old, new, "onOpen", 0, "send", "text")


def beat(old: str, new: str) -> Change:
    return both(put("100ms", "heartbeat", "interval"), rewrite(old, new, "heartbeat", "send", "text"))


#: A second connection takes itself for the first one.
ONCE = both(
    put({"notCaptured": "done"}, "onOpen", 0, "when"),
    put({"notCaptured": "done"}, "onOpen", 1, "when"),
    put({"done": "/1"}, "onOpen", 1, "capture"),
)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param(leave_out("onOpen"), "is not joined", id="no steps"),
        pytest.param(leave_out("onOpen", 0), "is not joined", id="waits without asking"),
        pytest.param(ONCE, "is not joined", id="joins once"),
        pytest.param(text('["join"', "[null"), "join_ref is None", id="no join_ref"),
        pytest.param(text('"join","join"', '"join",1'), "ref is 1", id="a number as ref"),
        pytest.param(text('"join","join"', '"join",null'), "ref is None", id="no ref"),
        pytest.param(text('["join","join",', "["), "not a message", id="three parts"),
        pytest.param(text("${parameter:topic}", "room:hall"), "no such topic", id="another topic"),
        pytest.param(text("phx_join", "phx_joins"), "which is not joined", id="no such event"),
        pytest.param(text("phx_join", "phx_leave"), "which is not joined", id="leaves"),
        pytest.param(text("${parameter:payload}", "[]"), "not a message", id="a payload that is no object"),
        pytest.param(text(",${parameter:payload}]", ","), "not a message", id="half of a message"),
        pytest.param(beat('"{{counter}}"', '"1"'), "ref 1 is that of", id="one ref for all"),
        pytest.param(beat('"{{counter}}"', '"join"'), "ref join is that of", id="the ref of the join"),
        pytest.param(beat('"{{counter}}"', "{{counter}}"), "ref is 1", id="a number as a heartbeat's ref"),
        pytest.param(beat('"heartbeat"', '"ping"'), "no heartbeat, but ping", id="another event"),
        pytest.param(
            beat("{}", '{"at":1}'), "no heartbeat, but heartbeat", id="a heartbeat that says something"
        ),
        pytest.param(beat('"phoenix"', '"phx"'), "heartbeat to phx", id="a heartbeat to another topic"),
        pytest.param(beat("[null,", "["), "not a message", id="a heartbeat of four parts"),
    ],
)
def test_a_worse_one_is_found_out(
    start: Callable[..., Phoenix], serve: Serve, change: Change, what: str
) -> None:
    service = start(within=1)
    bridge = serve(service, change, reconnect=QUICK)
    if change is ONCE:
        service.await_join(LOBBY)
        bridge.await_ready()
        service.drop()
    await_breach(service, FORMAT)
    assert what in service.breaches[0].what


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(put("2s", "heartbeat", "interval"), id="ten times as late"),
        pytest.param(put(0, "heartbeat", "interval"), id="never"),
        pytest.param(
            both(put("none", "heartbeat", "send"), put(100, "heartbeat", "missLimit")), id="only listens"
        ),
        pytest.param(put({"interval": "200ms"}, "heartbeat"), id="pings, which are no messages"),
    ],
)
def test_who_beats_too_late_is_found_out(start: Callable[..., Phoenix], serve: Serve, change: Change) -> None:
    service = start(timeout=1.5)
    serve(service, both(put("200ms", "heartbeat", "interval"), change))
    service.await_truth(lambda: service.breaches, "a complaint")
    assert {breach.what for breach in service.breaches} == {"no message for 1.5 s, nor a heartbeat"}


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        pytest.param(leave_out("rules", 0), REJOIN, id="no rule"),
        pytest.param(put("stop", "rules", 0, "action"), REJOIN, id="stops"),
        pytest.param(put("phx_crash", "rules", 0, "when", "json", "/3"), REJOIN, id="another name"),
        pytest.param(
            put(
                {
                    "when": {"json": {"/3": "phx_error"}},
                    "reply": {"text": f'["join","join","{LOBBY}","phx_join",{{}}]'},
                },
                "rules",
                0,
            ),
            FORMAT,
            id="joins with the same ref",
        ),
    ],
)
def test_who_does_not_join_again_is_found_out(
    start: Callable[..., Phoenix], serve: Serve, change: Change, clause: str
) -> None:
    service = start(joins=[], within=1)
    bridge = serve(service, change)
    service.await_join(LOBBY)
    bridge.await_ready()
    service.crash(LOBBY)
    await_breach(service, clause)


@pytest.mark.parametrize(
    "target",
    ["/socket/websocket", "/socket/websocket?vsn=1.0.0", "/socket?vsn=2.0.0", "/socket/longpoll?vsn=2.0.0"],
)
def test_another_url_is_found_out(start: Callable[..., Phoenix], serve: Serve, target: str) -> None:
    service = start()
    serve(service, url=service.url.replace(Phoenix.path, target))
    await_breach(service, CONNECTING)


@pytest.mark.parametrize("offered", [[], ["phoenix"], subprotocols("wrong"), subprotocols("s3cret")[1:]])
def test_another_token_is_found_out(start: Callable[..., Phoenix], serve: Serve, offered: list[str]) -> None:
    service = start(token="s3cret")
    serve(service, subprotocols=offered)
    await_breach(service, TOKEN)
