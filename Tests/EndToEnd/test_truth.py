"""What the records and the counters say is what happened: all of it, in order, once.

Each scenario compares the whole list of its connection's records, and all counters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from harness import Bridge, Cable, RawPeer, RawUpstream, Upstream, await_truth
from harness.environment import ROOT
from harness.raw_upstream import frame

#: Delays that are the same each time, and short; nothing else happens by itself.
STEADY = {
    "proxy": "none",
    "heartbeat": {"interval": "1h"},
    "reconnect": {"initialDelay": "10ms", "factor": 1, "jitter": 0},
}
WAITING = {"attempt": 1, "delayMs": 10, "type": "reconnecting"}


def opened(*, again: bool = False, subprotocol: str | None = None) -> list[dict[str, Any]]:
    """The records of an attempt that succeeds."""
    return [
        {"type": "connecting"},
        {"type": "open", "subprotocol": subprotocol, "reconnected": again},
        {"type": "ready"},
    ]


def closed(code: int, reason: str = "", *, clean: bool = True, by: str) -> dict[str, Any]:
    return {"type": "closed", "code": code, "reason": reason, "clean": clean, "by": by}


def refused(status: int | None) -> list[dict[str, Any]]:
    """The records of an attempt whose handshake is answered with this status, or not at all."""
    return [{"type": "connecting"}, {"type": "failed", "phase": "handshake", "status": status}]


def counted(**others: int) -> dict[str, int]:
    """All counters: zero, but for these."""
    names = yaml.safe_load((ROOT / "openapi.yaml").read_bytes())["components"]["schemas"]["Status"]
    return {**dict.fromkeys(names["properties"]["counters"]["required"], 0), **others}


class Story:
    """A bridge with one connection, what became of it so far, and what is expected."""

    def __init__(self, bridge: Bridge):
        self.bridge = bridge

    def records(self) -> list[dict[str, Any]]:
        """All records of the connection; of errors it is only known that they say something."""
        page = self.bridge.get("/messages?types=status&limit=1000").json()
        assert page["gap"] is None
        records = []
        for record in page["messages"]:
            assert record["type"] == "status"
            data = record["data"]
            assert data.pop("connection") == record["connection"]
            assert data.pop("time") == record["time"]
            if data["type"] == "failed":
                assert data.pop("error")
            records.append(data)
        return records

    def is_told(self, *expected: dict[str, Any] | list[dict[str, Any]], **counters: int) -> None:
        """These are all records, and these all counters that are not zero; also as a stream tells it."""
        wanted = [it for each in expected for it in (each if isinstance(each, list) else [each])]
        await_truth(lambda: len(self.records()) >= len(wanted), f"{len(wanted)} records")
        assert self.records() == wanted
        status = self.bridge.status()
        assert status["counters"] == counted(**counters)
        if status["state"] == "idle":
            # A reader would wake it.
            return
        response = self.bridge.get("/events?types=status&since=start&format=ndjson&idle=20ms")
        streamed = [json.loads(line)["data"]["type"] for line in response.body.splitlines() if line]
        assert streamed == ["snapshot", *(it["type"] for it in wanted)]

    def control(self, verb: str, body: object = None) -> None:
        sent = b"" if body is None else json.dumps(body).encode()
        assert self.bridge.post(f"/{verb}", sent).status == 200

    def state(self, state: str) -> None:
        self.bridge.await_status(lambda status: status["state"] == state, f"it is {state}")


Tell = Callable[..., Story]


@pytest.fixture
def tell(serve_file: Callable[..., Bridge]) -> Tell:
    """Serve one connection with these settings, on top of steady ones."""

    def start(url: str, **settings: Any) -> Story:
        merged = {**STEADY, "url": url}
        for key, value in settings.items():
            merged[key] = {**STEADY[key], **value} if key in STEADY and isinstance(value, dict) else value
        return Story(serve_file(json.dumps({"connections": {"default": merged}})))

    return start


@pytest.fixture
def raw(start_raw_upstream: Callable[..., RawUpstream]) -> RawUpstream:
    return start_raw_upstream()


def welcome(raw: RawUpstream) -> RawPeer:
    peer = raw.accept()
    peer.accept_handshake()
    return peer


def test_a_disconnect_and_a_connect(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url)
    story.state("open")
    story.control("disconnect", {"code": 4001, "reason": "enough"})
    story.state("closed")
    story.control("connect")
    story.state("open")
    story.is_told(opened(), closed(4001, "enough", by="user"), opened(again=True), opens=2, closes=1)


def test_a_reconnect(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url)
    story.state("open")
    story.control("reconnect")
    upstream.peer(1)
    story.state("open")
    story.is_told(opened(), closed(1006, clean=False, by="user"), opened(again=True), opens=2, closes=1)


def test_a_pause(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url)
    story.state("open")
    story.control("pause")
    story.state("paused")
    story.control("resume")
    story.state("open")
    story.is_told(
        opened(),
        closed(1000, by="bridge"),
        {"type": "paused"},
        {"type": "resumed"},
        opened(again=True),
        opens=2,
        closes=1,
    )


def test_the_upstreams_close_frame(start_upstream, tell: Tell) -> None:
    upstream = start_upstream(subprotocols=["v1"])
    story = tell(upstream.url, subprotocols=["v2", "v1"])
    story.state("open")
    upstream.peer().close(1012, "restart")
    upstream.peer(1)
    story.state("open")
    story.is_told(
        opened(subprotocol="v1"),
        closed(1012, "restart", by="server"),
        WAITING,
        opened(again=True, subprotocol="v1"),
        opens=2,
        closes=1,
    )


def test_a_final_close_code(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url, reconnect={"stopOnCloseCodes": ["4000-4099"]})
    story.state("open")
    upstream.peer().close(4004)
    story.state("closed")
    story.is_told(opened(), closed(4004, by="server"), opens=1, closes=1)


def test_a_drop(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url)
    story.state("open")
    upstream.peer().drop()
    upstream.peer(1)
    story.state("open")
    story.is_told(
        opened(), closed(1006, clean=False, by="server"), WAITING, opened(again=True), opens=2, closes=1
    )


def test_a_broken_protocol(raw: RawUpstream, tell: Tell) -> None:
    story = tell(raw.url, reconnect={"enabled": False})
    peer = welcome(raw)
    story.state("open")
    peer.send(frame(3))
    assert peer.close_code() == 1002
    peer.close()
    story.state("closed")
    close = story.bridge.status()["lastClose"]
    assert close["reason"]
    story.is_told(opened(), closed(1002, close["reason"], clean=False, by="bridge"), opens=1, closes=1)


def test_giving_up_and_connecting_again(start_upstream, tell: Tell) -> None:
    upstream = start_upstream(refuse=503)
    story = tell(upstream.url, reconnect={"maxRetries": 2})
    story.state("failed")
    failures = [
        *refused(503), WAITING, *refused(503), {**WAITING, "attempt": 2}, *refused(503),
        {"type": "gave-up", "attempts": 2},
    ]  # fmt: skip
    story.is_told(failures, failures=3)
    upstream.refuse = None
    story.control("connect")
    story.state("open")
    story.is_told(failures, opened(), failures=3, opens=1)


def test_a_final_status(start_upstream, tell: Tell) -> None:
    story = tell(start_upstream(refuse=403).url, reconnect={"stopOnStatus": [403]})
    story.state("failed")
    story.is_told(refused(403), {"type": "gave-up", "attempts": 0}, failures=1)


def test_an_attempt_that_is_called_off(raw: RawUpstream, tell: Tell) -> None:
    story = tell(raw.url)
    raw.accept().request()
    story.control("disconnect")
    story.is_told(refused(None), failures=1)


def test_a_lost_heartbeat(raw: RawUpstream, tell: Tell) -> None:
    story = tell(raw.url, heartbeat={"interval": "100ms", "missLimit": 2}, reconnect={"enabled": False})
    peer = welcome(raw)
    # It hears the pings and says nothing.
    pings = sum(opcode == 9 for opcode, _ in peer.frames())
    story.state("closed")
    story.is_told(
        opened(),
        {"type": "heartbeat-missed", "misses": 1},
        {"type": "heartbeat-missed", "misses": 2},
        {"type": "heartbeat-lost"},
        closed(1006, clean=False, by="bridge"),
        opens=1,
        closes=1,
        heartbeatsMissed=2,
        heartbeatsSent=pings,
    )
    assert pings >= 2


def test_messages_that_are_sent_and_received(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url)
    story.state("open")
    upstream.peer().send("four", b"\0\1\2", "", "ü")
    story.bridge.send("twelve bytes")
    story.bridge.post("/messages", b"\0\1", "application/octet-stream")
    story.bridge.post("/messages", b"a\nbc\n", "application/x-ndjson")
    upstream.peer().received(4)
    story.bridge.await_status(lambda status: status["counters"]["sent"] == 4, "all are sent")
    story.bridge.await_status(lambda status: status["counters"]["received"] == 4, "all are received")
    counters = {"sent": 4, "sentBytes": 17, "received": 4, "receivedBytes": 9}
    story.is_told(opened(), opens=1, **counters)
    history = story.bridge.status()["history"]
    assert history["messages"] == 7


def test_messages_that_are_lost(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url, outbox={"maxAge": "100ms"})
    story.state("open")
    story.control("pause")
    story.state("paused")
    first = story.bridge.send("to be dropped").json()["id"]
    assert story.bridge.request("DELETE", f"/outbox/{first}").json() == {"dropped": 1}
    second = story.bridge.send("to expire").json()["id"]
    story.bridge.await_status(lambda status: status["counters"]["expired"] == 1, "it has expired")
    story.is_told(
        opened(),
        closed(1000, by="bridge"),
        {"type": "paused"},
        {"type": "message-dropped", "id": first},
        {"type": "message-expired", "id": second},
        opens=1,
        closes=1,
        dropped=1,
        expired=1,
    )


def test_a_connection_that_nobody_needs_any_more(upstream: Upstream, tell: Tell) -> None:
    story = tell(upstream.url, connect="onDemand", idleTimeout="10ms")
    story.bridge.send("needed")
    upstream.peer().received(1)
    story.state("idle")
    story.is_told(opened(), closed(1000, by="bridge"), opens=1, closes=1, sent=1, sentBytes=6)


def test_other_settings_and_the_end(upstream: Upstream, run_bridge, tmp_path) -> None:
    path = tmp_path / "wsbridge.yaml"
    settings = {**STEADY, "url": upstream.url}
    path.write_text(json.dumps({"http": {"dynamicConnections": True}, "connections": {"default": settings}}))
    bridge = run_bridge("serve", "--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json")
    story = Story(bridge.listening())
    story.state("open")
    body = json.dumps({**settings, "compression": False}).encode()
    assert bridge.request("PUT", "/v1/connections/default", body).status == 200
    upstream.peer(1)
    story.state("open")
    told = [*opened(), closed(1001, by="bridge"), *opened(again=True)]
    story.is_told(told, opens=2, closes=1)
    stream = bridge.stream("/events?types=status&since=start")
    assert bridge.request("DELETE", "/v1/connections/default").status == 204
    types = [json.loads(event.data)["type"] for event in stream.rest()]
    assert types == ["snapshot", *(it["type"] for it in told), "closed"]


def test_a_rotation_and_a_script_that_fails(upstream: Upstream, serve_file) -> None:
    settings = {
        **STEADY,
        "url": upstream.url,
        "onOpen": [{"expect": {"equals": "welcome"}}],
        "rules": [{"when": {"equals": "rotate"}, "action": "rotate"}],
    }
    story = Story(serve_file(json.dumps({"connections": {"default": settings}})))
    upstream.peer().send("welcome")
    story.bridge.await_ready()
    upstream.peer().send("rotate")
    upstream.peer(1).send("welcome")
    upstream.peer().left()
    upstream.peer(1).close(4000)
    upstream.peer(2).close(4001)
    upstream.peer(3).send("welcome")
    failed = {"type": "failed", "phase": "onOpen", "status": None}
    story.is_told(
        opened(),
        {"type": "rotated"},
        closed(4000, by="server"),
        WAITING,
        opened(again=True)[:2],
        failed,
        closed(4001, by="server"),
        {**WAITING, "attempt": 2},
        opened(again=True),
        opens=3,
        closes=2,
        failures=1,
        received=1,
        receivedBytes=6,
    )


def test_gaps_are_counted(upstream: Upstream, serve_file) -> None:
    configuration = {
        "history": {"maxMessages": 2},
        "connections": {"default": {**STEADY, "url": upstream.url}},
    }
    bridge = serve_file(json.dumps(configuration))
    bridge.await_ready()
    first = bridge.stream("/events?types=status&since=start&limit=1").rest()[-1].id
    upstream.peer().send("1", "2", "3", "4")
    bridge.await_status(lambda status: status["counters"]["received"] == 4, "all are received")
    events = bridge.stream("/events?limit=2", {"Last-Event-ID": first}).rest()
    assert [event.type for event in events] == ["gap", "message", "message"]
    assert bridge.status()["counters"] == counted(opens=1, received=4, receivedBytes=4, gaps=1)


@pytest.fixture
def cable(start_upstream, run_bridge) -> Iterator[Cable]:
    """A cable that outlives neither the bridge nor its upstream."""
    cable = Cable()
    yield cable
    cable.remove()


def test_a_lost_network(cable: Cable, start_upstream, serve_file) -> None:
    upstream = start_upstream(namespace=cable.far, host=cable.FAR[4])
    settings = {**STEADY, "url": upstream.url}
    story = Story(serve_file(json.dumps({"connections": {"default": settings}}), namespace=cable.near))
    story.state("open")
    cable.unplug()
    story.state("offline")
    cable.plug_in()
    story.state("open")
    story.is_told(
        opened(),
        {"type": "network-lost"},
        closed(1006, clean=False, by="bridge"),
        {"type": "network-restored"},
        opened(again=True),
        opens=2,
        closes=1,
    )


def test_every_type_of_record_has_its_scenario() -> None:
    schemas = yaml.safe_load((ROOT / "openapi.yaml").read_bytes())["components"]["schemas"]
    types = schemas["StatusEvent"]["properties"]["type"]["enum"]
    source = (ROOT / "Tests/EndToEnd/test_truth.py").read_text()
    assert [type for type in types if f'"{type}"' not in source] == []
