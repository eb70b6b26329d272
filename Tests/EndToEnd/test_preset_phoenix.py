"""The preset `phoenix` keeps to the protocol of Phoenix's channels, and a worse one is found out."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import Change, both, leave_out, put, rewrite
from recipes import Recipe
from services.client import await_breach, finished
from services.phoenix import CONNECTING, FORMAT, REJOIN, TOKEN, Phoenix

LOBBY = "room:lobby"
PARAMETERS = {"topic": LOBBY}
QUICK = {"initialDelay": "20ms"}

Serve = Callable[..., Bridge]


@pytest.fixture
def start(start_service: Callable[..., Phoenix]) -> Callable[..., Phoenix]:
    def start(**options: Any) -> Phoenix:
        return start_service(Phoenix, **{"joins": [LOBBY]} | options)

    return start


@pytest.fixture
def serve(serve_preset: Serve) -> Serve:
    def serve(service: Phoenix, change: Change | None = None, **settings: Any) -> Bridge:
        url = settings.pop("url", service.url)
        return serve_preset("phoenix", url, change, **{"parameters": PARAMETERS} | settings)

    return serve


def test_events_become_topics(start: Callable[..., Phoenix], serve: Serve) -> None:
    service = start()
    bridge = serve(service, parameters=PARAMETERS | {"payload": '{"name":"\\"Jo\\""}'})
    bridge.await_ready()
    assert [json.loads(each) for each in service.await_join(LOBBY).received] == [
        ["join", "join", LOBBY, "phx_join", {"name": '"Jo"'}]
    ]
    with bridge.stream("/events?since=start&format=json") as stream:
        service.broadcast(LOBBY, "new_msg", {"body": "Hi"})
        service.push(LOBBY, "joined", {"n": 1})
        records = [json.loads(event.data) for event in stream.take(3)]
    assert [record["topic"] for record in records] == [
        f"{LOBBY}.{x}" for x in ("phx_reply", "new_msg", "joined")
    ]
    assert [json.loads(record["data"]) for record in records[1:]] == [
        [None, None, LOBBY, "new_msg", {"body": "Hi"}],
        ["join", None, LOBBY, "joined", {"n": 1}],
    ]
    assert service.breaches == []


def test_requests_have_their_replies(start: Callable[..., Phoenix], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    for join_ref, ref in [(None, "a1"), ("join", "a2")]:
        message = [join_ref, ref, LOBBY, "shout", {"body": ref}]
        reply = bridge.post("/request", json.dumps(message).encode())
        answer = {"status": "ok", "response": {"body": ref}}
        assert reply.json() == [join_ref, ref, LOBBY, "phx_reply", answer]
    assert service.breaches == []


def test_binary_messages_go_out(start: Callable[..., Phoenix], serve: Serve) -> None:
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    parts = [part.encode() for part in ("join", "b1", LOBBY, "image")]
    message = bytes([0, *map(len, parts)]) + b"".join(parts) + b"\xff\xd8"
    with bridge.stream("/events?match=/1:b1") as stream:
        assert bridge.post("/messages", message, "application/octet-stream").status == 202
        reply = json.loads(stream.next().data)
    assert reply == ["join", "b1", LOBBY, "phx_reply", {"status": "ok", "response": {}}]
    assert service.breaches == []


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1012, "crash", "the user"])
def test_each_connection_joins(start: Callable[..., Phoenix], serve: Serve, end: str | int) -> None:
    service = start()
    bridge = serve(service, reconnect=QUICK)
    with bridge.stream(f"/events?topic={LOBBY}.new_msg") as stream:
        for number in range(3):
            service.await_join(LOBBY, number)
            bridge.await_status(
                lambda status, opens=number + 1: status["ready"] and status["counters"]["opens"] == opens,
                "it is ready again",
            )
            service.broadcast(LOBBY, "new_msg", {"number": number})
            assert json.loads(stream.next().data)[4] == {"number": number}
            if end == "drop":
                service.drop()
            elif end == "crash":
                service.crash(LOBBY)
            elif isinstance(end, int):
                service.close(end)
            else:
                assert bridge.post("/reconnect").status == 200
            finished(service, number)
        service.await_join(LOBBY, 3)
    assert service.breaches == []


def test_a_channel_that_is_closed_stays_closed(start: Callable[..., Phoenix], serve: Serve) -> None:
    """As with Phoenix's own client: the server wants it so."""
    service = start()
    bridge = serve(service)
    bridge.await_ready()
    with bridge.stream(f"/events?topic={LOBBY}.phx_close") as stream:
        service.shut(LOBBY)
        stream.next()
    assert bridge.status()["ready"]
    assert len(service.sessions) == 1
    assert service.breaches == []


def test_heartbeats_come_in_time(start: Callable[..., Phoenix], serve: Serve) -> None:
    """At a hundredth of the preset's interval."""
    service = start(timeout=5)
    bridge = serve(service, heartbeat={"interval": "300ms"})
    bridge.await_ready()
    with bridge.stream() as stream:
        service.await_truth(lambda: len(service.session().received) >= 6, "five heartbeats")
        bridge.await_status(lambda status: status["heartbeat"]["lastAnswerAt"], "an answer")
        service.broadcast(LOBBY, "new_msg", {})
        # Their replies are for nobody else.
        assert json.loads(stream.next().data)[3] == "new_msg"
    beats = [json.loads(each) for each in service.session().received[1:]]
    assert [each[0] for each in beats] == [None] * len(beats)
    assert [each[1] for each in beats] == [str(number) for number in range(1, len(beats) + 1)]
    assert [each[2:] for each in beats] == [["phoenix", "heartbeat", {}]] * len(beats)
    assert bridge.status()["counters"]["opens"] == 1
    assert service.breaches == []


class Deaf(Phoenix):
    """Hears nothing after the join."""

    async def _take(self, session: Any, message: Any) -> None:
        if not session.notes["joined"]:
            await super()._take(session, message)


def test_a_server_that_does_not_answer_is_left(start_service: Callable[..., Phoenix], serve: Serve) -> None:
    service = start_service(Deaf)
    serve(service, heartbeat={"interval": "200ms"}, reconnect=QUICK)
    service.await_join(LOBBY, 1)
    assert finished(service).closed_with is None
    assert service.breaches == []


def test_a_token_in_the_url(start: Callable[..., Phoenix], serve: Serve) -> None:
    service = start(query={"token": "s3cret"})
    bridge = serve(service, url=f"{service.url}&token=s3cret")
    bridge.await_ready()
    assert "s3cret" not in bridge.get("/status").body.decode() + bridge.err.text
    assert service.breaches == []


def subprotocols(token: str) -> list[str]:
    return ["phoenix", "base64url.bearer.phx." + base64.b64encode(token.encode()).decode().rstrip("=")]


def test_a_token_in_the_subprotocol(start: Callable[..., Phoenix], serve: Serve) -> None:
    service = start(token="s3cret")
    bridge = serve(service, subprotocols=subprotocols("s3cret"))
    assert bridge.await_ready()["subprotocol"] == "phoenix"
    assert service.breaches == []


# Worse ones


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


# The page


def test_the_recipe(start: Callable[..., Phoenix], run_bridge: Serve, tmp_path: Path) -> None:
    service = start(query={"token": "s3cret"})
    recipe = Recipe("phoenix", tmp_path)
    bridge = recipe.serve(run_bridge, service.url, CHAT_TOKEN="s3cret")
    recipe.follow(bridge, lambda: service.broadcast(LOBBY, "new_msg", {"body": "Hi"}))
    assert service.breaches == []
