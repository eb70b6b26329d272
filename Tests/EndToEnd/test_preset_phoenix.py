"""The preset `phoenix` keeps to the protocol of Phoenix's channels."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recipes import Recipe
from services.client import finished
from services.phoenix import Phoenix
from stand_ins import QUICK, Serve, await_opens, serving, starting

LOBBY = "room:lobby"
PARAMETERS = {"topic": LOBBY}


start = starting(Phoenix, joins=[LOBBY])
serve = serving("phoenix", parameters=PARAMETERS)


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
            await_opens(bridge, number + 1)
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


# The page


def test_the_recipe(start: Callable[..., Phoenix], run_bridge: Serve, tmp_path: Path) -> None:
    service = start(query={"token": "s3cret"})
    recipe = Recipe("phoenix", tmp_path)
    bridge = recipe.serve(run_bridge, service.url, CHAT_TOKEN="s3cret")
    recipe.follow(bridge, lambda: service.broadcast(LOBBY, "new_msg", {"body": "Hi"}))
    assert service.breaches == []
