"""Scripts (`onOpen`), rules, captures and resumed sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness import Bridge, Upstream

Serve = Callable[..., Bridge]

QUICK = {"initialDelay": "10ms", "maxDelay": "20ms"}


@pytest.fixture
def serve(
    start_upstream: Callable[..., Upstream], serve_file: Serve
) -> Callable[..., tuple[Upstream, Bridge]]:
    """Serve one connection with these settings, and an upstream that listens."""

    def start(**settings: Any) -> tuple[Upstream, Bridge]:
        upstream = start_upstream()
        everything = {"url": upstream.url, "reconnect": QUICK, **settings}
        return upstream, serve_file(json.dumps({"connections": {"default": everything}}))

    return start


def statuses(bridge: Bridge) -> list[dict[str, Any]]:
    """Return all status records so far."""
    page = bridge.get("/messages?since=start&types=status&limit=1000").json()
    return [record["data"] for record in page["messages"]]


def types(bridge: Bridge) -> list[str]:
    return [status["type"] for status in statuses(bridge)]


LOGIN = [
    {"expect": {"json": {"/type": "hello"}}, "capture": {"session": "/session"}},
    {"send": {"text": '{"login":"{{/nonce}}","n":{{counter}}}'}},
    {"expect": {"json": {"/type": "welcome"}}},
    {"send": {"text": '{"subscribe":"{{var:session}}"}'}},
]


def test_a_connection_is_ready_after_its_script(serve) -> None:
    upstream, bridge = serve(onOpen=LOGIN)
    peer = upstream.peer()
    bridge.await_status(lambda status: status["state"] == "open", "the handshake is done")
    assert not bridge.status()["ready"]
    assert bridge.get("/readyz").status == 503
    bridge.send("before")
    peer.send('{"type":"hello","session":{"id":1},"nonce":"a\\"b"}')
    assert peer.received(1) == ['{"login":"a\\"b","n":1}']
    assert bridge.get("/outbox").json()["messages"]
    peer.send('{"type":"noise"}', '{"type":"welcome"}')
    assert peer.received(3) == ['{"login":"a\\"b","n":1}', '{"subscribe":"{\\"id\\":1}"}', "before"]
    bridge.await_ready()
    assert bridge.get("/readyz").status == 200
    messages = bridge.get("/messages").json()["messages"]
    assert [message["data"] for message in messages] == ['{"type":"noise"}']
    assert types(bridge) == ["connecting", "open", "ready"]


def test_a_script_runs_again_after_each_open(serve) -> None:
    upstream, bridge = serve(onOpen=LOGIN)
    for number in range(3):
        peer = upstream.peer(number)
        peer.send(json.dumps({"type": "hello", "session": number, "nonce": str(number)}))
        peer.received(1)
        peer.send('{"type":"welcome"}')
        expected = [f'{{"login":"{number}","n":1}}', f'{{"subscribe":"{number}"}}']
        assert peer.received(2) == expected
        bridge.await_ready()
        peer.drop()
        upstream.dialled(number + 2)


def test_nothing_that_comes_fails_the_attempt(serve) -> None:
    upstream, bridge = serve(onOpen=[{"expect": {"equals": "hello"}, "timeout": "100ms"}])
    peer = upstream.peer()
    assert peer.left() == (1000, "")
    upstream.dialled(2)
    bridge.await_status(lambda status: status["counters"]["failures"] >= 1, "the attempt failed")
    error = bridge.status()["lastError"]
    assert error["phase"] == "onOpen"
    assert error["error"] == "step 1 of onOpen: no message came that it expects, within 100 ms"
    assert types(bridge)[:4] == ["connecting", "open", "failed", "closed"]


def test_a_script_that_never_ends_well_gives_up(serve) -> None:
    settings = {**QUICK, "maxRetries": 2}
    upstream, bridge = serve(onOpen=[{"expect": {"any": True}, "timeout": "50ms"}], reconnect=settings)
    bridge.await_status(lambda status: status["state"] == "failed", "it gave up")
    assert upstream.dials == 3
    assert types(bridge).count("reconnecting") == 2


@pytest.mark.parametrize(("action", "state"), [("reconnect", "waiting"), ("stop", "closed")])
def test_a_refusal_fails_the_attempt_at_once_where_a_rule_says_so(serve, action: str, state: str) -> None:
    upstream, bridge = serve(
        onOpen=[
            {"send": {"text": "subscribe"}},
            {"expect": {"json": {"/type": "subscribed"}}, "timeout": "1h"},
        ],
        rules=[{"when": {"json": {"/type": "error"}}, "action": action}],
        reconnect={"initialDelay": "1h", "maxDelay": "1h"},
    )
    peer = upstream.peer()
    assert peer.received(1) == ["subscribe"]
    peer.send('{"type":"error","reason":"no such channel"}')
    assert peer.left() == (1000, "")
    bridge.await_status(lambda status: status["state"] == state, f"it is {state}")
    assert bridge.status()["lastError"]["phase"] == "onOpen"
    assert types(bridge)[:4] == ["connecting", "open", "failed", "closed"]
    # Why it was refused is there to read.
    messages = bridge.get("/messages?since=start").json()["messages"]
    assert [each["data"] for each in messages] == ['{"type":"error","reason":"no such channel"}']


def test_an_upstream_that_closes_during_the_script_has_the_last_word(serve) -> None:
    settings = {**QUICK, "stopOnCloseCodes": [4004]}
    upstream, bridge = serve(onOpen=[{"expect": {"any": True}}], reconnect=settings)
    upstream.peer().close(4004, "wrong token")
    bridge.await_status(lambda status: status["state"] == "closed", "it is closed for good")
    records = statuses(bridge)
    assert [record["type"] for record in records] == ["connecting", "open", "failed", "closed"]
    assert (records[2]["phase"], records[3]["code"], records[3]["by"]) == ("onOpen", 4004, "server")


def test_messages_wait_in_order_until_the_script_is_over(serve) -> None:
    upstream, bridge = serve(onOpen=[{"expect": {"equals": "go"}}])
    peer = upstream.peer()
    for number in range(200):
        bridge.send(str(number))
    response = bridge.post("/messages?queue=false", b"now")
    assert response.status == 503
    assert peer.messages == []
    peer.send("go")
    assert peer.received(200) == [str(number) for number in range(200)]


def test_a_script_keeps_to_the_rate(serve) -> None:
    steps = [{"send": {"text": str(number)}} for number in range(3)]
    upstream, bridge = serve(
        onOpen=[*steps, {"expect": {"equals": "ok"}, "timeout": "10s"}], rate={"messages": 1, "per": "100ms"}
    )
    assert upstream.peer().received(3) == ["0", "1", "2"]
    upstream.peer().send("ok")
    bridge.await_ready()


def test_rules(serve) -> None:
    upstream, bridge = serve(
        rules=[
            {
                "when": {"json": {"/op": "ping"}},
                "reply": {"text": '{"op":"pong","n":{{/n}}}'},
                "forward": False,
            },
            {"when": {"json": {"/symbol": None}}, "topic": "prices.{{/symbol}}"},
            {"when": {"prefix": "note"}, "reply": {"text": "noted {{last:/symbol}}"}},
            {"when": {"base64": "AQI="}, "reply": {"base64": "AwQ="}},
        ]
    )
    peer = upstream.peer()
    bridge.await_ready()
    stream = bridge.stream("/events?format=json&topic=prices.*")
    peer.send('{"op":"ping","n":[1]}', '{"symbol":"BTC.USD"}', '{"symbol":7}', "note", b"\x01\x02")
    assert peer.received(3) == ['{"op":"pong","n":[1]}', "noted 7", b"\x03\x04"]
    records = [json.loads(stream.next().data) for _ in range(2)]
    assert [record["topic"] for record in records] == ["prices.BTC_USD", "prices.7"]
    every = bridge.get("/messages").json()["messages"]
    assert [record["topic"] for record in every] == ["prices.BTC_USD", "prices.7", "messages", "messages"]


def test_1000_acknowledgements_come_in_order_and_none_is_left_out(serve) -> None:
    upstream, bridge = serve(rules=[{"when": {"json": {"/id": None}}, "reply": {"text": '{"ack":{{/id}}}'}}])
    peer = upstream.peer()
    bridge.await_ready()
    peer.start_sending(json.dumps({"id": number}) for number in range(1000))
    assert peer.received(1000) == [f'{{"ack":{number}}}' for number in range(1000)]


@pytest.mark.parametrize(("action", "state"), [("reconnect", "open"), ("stop", "closed")])
def test_rules_that_end_the_connection(serve, action: str, state: str) -> None:
    upstream, bridge = serve(rules=[{"when": {"equals": "bye"}, "action": action, "closeCode": 4321}])
    bridge.await_ready()
    upstream.peer().send("bye")
    assert upstream.peer().left() == (4321, "")
    bridge.await_status(
        lambda status: status["state"] == state and status["counters"]["closes"] == 1, f"it is {state}"
    )
    assert bridge.status()["lastClose"]["by"] == "bridge"


def test_heartbeats_as_the_upstream_wants_them(serve) -> None:
    upstream, bridge = serve(
        heartbeat={"interval": 0, "send": {"text": "beat {{last:/s}}"}, "expect": {"equals": "ok"}},
        rules=[{"when": {"json": {"/every": None}}, "heartbeatInterval": "/every"}],
    )
    peer = upstream.peer()
    bridge.await_ready()
    peer.send('{"every":50,"s":41}')
    assert peer.received(1) == ["beat 41"]
    peer.send("ok")
    assert peer.received(2)[1] == "beat 41"
    assert bridge.status()["heartbeat"]["intervalMs"] == 50


def test_a_session_is_resumed_where_the_upstream_said_and_forgotten_when_that_fails(
    serve, start_upstream
) -> None:
    elsewhere: Upstream = start_upstream()
    upstream, bridge = serve(
        resumeUrl="{{var:where}}?resume",
        headers={"Authorization": "Bearer secret", "X-Plain": "yes"},
        onOpen=[
            {"when": {"captured": "where"}, "send": {"text": "resume"}},
            {"when": {"notCaptured": "where"}, "send": {"text": "begin"}},
            {"expect": {"prefix": "{"}, "capture": {"where": "/where"}},
        ],
    )
    assert upstream.peer().received(1) == ["begin"]
    upstream.peer().send(json.dumps({"where": elsewhere.url}))
    bridge.await_ready()
    upstream.peer().drop()
    peer = elsewhere.peer()
    assert peer.request.path == "/?resume"
    # Another origin gets nothing that was meant for the first one alone.
    assert "Authorization" not in peer.request.headers
    assert peer.request.headers["X-Plain"] == "yes"
    assert peer.received(1) == ["resume"]
    peer.send(json.dumps({"where": elsewhere.url}))
    bridge.await_ready()
    assert bridge.status()["url"] == elsewhere.url
    # The session cannot be resumed any more.
    peer.drop()
    elsewhere.peer(1).close(4009)
    assert upstream.peer(1).received(1) == ["begin"]


def test_a_message_cannot_lead_to_where_there_is_no_tls(authority, serve_file, start_upstream) -> None:
    plain: Upstream = start_upstream()
    secure: Upstream = start_upstream(tls=authority.server_context("DNS:localhost"))
    settings = {
        "url": f"wss://localhost:{secure.port}/",
        "tls": {"ca": str(authority.certificate)},
        "reconnect": QUICK,
        "rules": [{"when": {"prefix": "{"}, "action": "rotate", "urlPointer": "/url"}],
    }
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    secure.peer().send(json.dumps({"url": plain.url}))
    bridge.await_status(lambda status: status["lastError"], "it is refused")
    assert "give up TLS" in bridge.status()["lastError"]["error"]
    assert bridge.status()["ready"]
    assert plain.dials == 0
