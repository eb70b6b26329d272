"""`POST /request`: a message is sent, and the answer is its reply."""

from __future__ import annotations

import json
import random
import threading
import uuid

import pytest

from assertions import assert_names_parameter, assert_problem
from harness import Bridge, Client, Peer, Upstream, curl


def ask(bridge: Bridge, body: bytes | str, query: str = "?correlate=/id") -> Client:
    """POST a request, and return the connection on which the answer will come."""
    client = bridge.client()
    content = body.encode() if isinstance(body, str) else body
    client.send_head("POST", f"/request{query}", {"Content-Length": str(len(content))})
    client.wire.send(content)
    return client


def test_the_answer_is_the_reply_as_it_came(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    client = ask(bridge, '{"id":"a","ask":1}')
    assert peer.received(1) == ['{"id":"a","ask":1}']
    peer.send('{"id":"b"}', "noise", '{ "id" : "\\u0061" , "answer":2}')
    response = client.response("POST")
    assert (response.status, response.body) == (200, b'{ "id" : "\\u0061" , "answer":2}')
    assert response.header("Content-Type") == "application/json"
    # Others get to see it as well, and this is where.
    events = [stream.next() for _ in range(3)]
    assert response.header("Wsbridge-Event-Id") == events[2].id


def test_a_request_without_an_id_gets_one(bridge: Bridge, peer: Peer) -> None:
    client = ask(bridge, '{"ask":1}')
    sent = json.loads(peer.received(1)[0])
    assert uuid.UUID(sent["id"]).version == 4
    peer.send(json.dumps({"id": sent["id"]}))
    assert client.response("POST").status == 200


def test_a_value_deep_in_the_message(bridge: Bridge, peer: Peer) -> None:
    client = ask(bridge, '{"op":6,"d":{"type":"x"}}', "?correlate=/d/requestId")
    sent = json.loads(peer.received(1)[0])
    assert (sent["op"], sent["d"]["type"]) == (6, "x")
    peer.send(json.dumps({"op": 7, "d": {"requestId": sent["d"]["requestId"]}}))
    assert client.response("POST").status == 200


def test_100_requests_at_once_are_answered_in_random_order(start_upstream, start_bridge) -> None:
    upstream: Upstream = start_upstream()
    bridge = start_bridge(upstream.url)
    bridge.await_ready()
    clients = [ask(bridge, json.dumps({"n": number})) for number in range(100)]
    peer = upstream.peer()
    questions = [json.loads(text) for text in peer.received(100)]
    assert len({question["id"] for question in questions}) == 100
    random.Random(1).shuffle(questions)
    peer.send(*(json.dumps({"id": question["id"], "answer": question["n"]}) for question in questions))
    assert [client.response("POST").json()["answer"] for client in clients] == list(range(100))


def test_the_next_message_is_a_reply_where_there_is_nothing_else_to_tell_it_by(
    bridge: Bridge, peer: Peer
) -> None:
    clients = []
    for number in range(3):
        clients.append(ask(bridge, f"question {number}", "?correlate=next"))
        peer.received(number + 1)
    peer.send("one", b"\x00two", "[3]")
    answers = [client.response("POST") for client in clients]
    assert [answer.body for answer in answers] == [b"one", b"\x00two", b"[3]"]
    kinds = ["text/plain; charset=utf-8", "application/octet-stream", "application/json"]
    assert [answer.header("Content-Type") for answer in answers] == kinds


@pytest.mark.parametrize("hidden", ["rules", "heartbeat"])
def test_a_reply_may_be_one_that_readers_do_not_get(upstream: Upstream, serve_file, hidden: str) -> None:
    """Because of a rule, or since it would answer a heartbeat as well."""
    pong = {"json": {"/type": "pong"}}
    settings: dict[str, object] = {"url": upstream.url}
    settings |= {
        "rules": {"rules": [{"when": pong, "forward": False}]},
        "heartbeat": {"heartbeat": {"send": {"text": '{"type":"ping"}'}, "expect": pong}},
    }[hidden]
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    peer = upstream.peer()
    with bridge.stream() as stream:
        client = ask(bridge, '{"type":"ping","id":1}')
        peer.received(1)
        peer.send('{"type":"pong","id":2}', '{"type":"pong","id":1}', "more")
        response = client.response("POST")
        assert (response.status, response.body) == (200, b'{"type":"pong","id":1}')
        assert "Wsbridge-Event-Id" not in dict(response.head.fields)
        assert stream.next().data == "more"


def test_an_answer_to_a_heartbeat_is_not_the_next_message(upstream: Upstream, serve_file) -> None:
    settings = {"url": upstream.url, "heartbeat": {"send": {"text": "ping"}}}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    peer = upstream.peer()
    client = ask(bridge, "question", "?correlate=next")
    peer.received(1)
    peer.send("pong", "answer")
    assert client.response("POST").body == b"answer"


def test_a_binary_request(bridge: Bridge, peer: Peer) -> None:
    client = ask(bridge, b"\x01\xff", "?correlate=next&type=binary")
    assert peer.received(1) == [b"\x01\xff"]
    peer.send(b"\x02")
    assert client.response("POST").body == b"\x02"


def test_messages_that_were_posted_before_go_first(bridge: Bridge, peer: Peer) -> None:
    for number in range(50):
        bridge.send(str(number))
        client = ask(bridge, '{"id":1}')
        peer.received(2 * number + 2)
        peer.send('{"id":1}')
        assert client.response("POST").status == 200
    expected = [text for number in range(50) for text in (str(number), '{"id":1}')]
    assert peer.received(100) == expected


def test_no_reply_in_time(bridge: Bridge, peer: Peer) -> None:
    response = bridge.post("/request?correlate=/id&timeout=50ms", b'{"id":1}')
    assert_problem(response, 504, "reply-timeout")
    # A late one is a message as any other.
    stream = bridge.stream()
    peer.send('{"id":1}')
    assert stream.next().data == '{"id":1}'
    client = ask(bridge, '{"id":1}')
    peer.received(2)
    peer.send('{"id":1}')
    assert client.response("POST").status == 200


@pytest.mark.parametrize("end", ["drop", "close", "reconnect", "disconnect", "pause"])
def test_the_connection_is_lost_meanwhile(bridge: Bridge, peer: Peer, end: str) -> None:
    client = ask(bridge, '{"id":1}')
    peer.received(1)
    if end == "drop":
        peer.drop()
    elif end == "close":
        peer.close()
    else:
        assert bridge.post(f"/{end}").status == 200
    assert_problem(client.response("POST"), 502, "connection-lost")


def test_a_request_is_never_sent_again(start_upstream, serve_file) -> None:
    upstream: Upstream = start_upstream()
    settings = {"url": upstream.url, "outbox": {"confirm": "pong"}, "reconnect": {"initialDelay": "10ms"}}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    client = ask(bridge, '{"id":1}')
    upstream.peer().received(1)
    upstream.peer().drop()
    assert_problem(client.response("POST"), 502, "connection-lost")
    bridge.await_status(lambda status: status["counters"]["opens"] == 2 and status["ready"], "it is back")
    bridge.send("after")
    assert upstream.peer(1).received(1) == ["after"]


def test_requests_are_not_for_later(away: Upstream, lonely: Bridge) -> None:
    response = lonely.post("/request?correlate=/id", b"{}")
    assert_problem(response, 503, "upstream-unavailable")
    assert response.header("Retry-After")
    away.come_back()
    lonely.post("/connect")
    lonely.send("after")
    assert away.peer().received(1) == ["after"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("", "correlate"),
        ("?correlate=id", "correlate"),
        ("?correlate=", "correlate"),
        ("?correlate=/a~2", "correlate"),
        ("?correlate=/id&timeout=0s", "timeout"),
        ("?correlate=/id&timeout=6m", "timeout"),
        ("?correlate=/id&timeout=soon", "timeout"),
        ("?correlate=/id&wait=5s", "wait"),
        ("?correlate=/id&type=json", "type"),
    ],
)
def test_wrong_parameters(bridge: Bridge, query: str, parameter: str) -> None:
    assert_names_parameter(bridge.post(f"/request{query}", b"{}"), parameter)


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"7", b'{"id":{}}', b'{"id":[1]}', b'{"id":1'])
def test_bodies_that_have_no_room_for_an_id(bridge: Bridge, body: bytes) -> None:
    assert_problem(bridge.post("/request?correlate=/id", body), 400, "invalid-body")


def test_a_pointer_that_is_deeper_than_any_document(bridge: Bridge, peer: Peer) -> None:
    """As deep as a target may be long; it must not keep everyone waiting either."""
    response = bridge.post(f"/request?correlate={'/a' * 7000}", b"{}")
    assert_problem(response, 400, "invalid-body")
    assert peer.messages == []


def test_other_mistakes(bridge: Bridge, serve_file) -> None:
    assert_problem(bridge.post("/request?correlate=next", b"\xff"), 400, "invalid-utf8")
    lines = bridge.post("/request?correlate=next", b"{}", "application/x-ndjson")
    assert_problem(lines, 415, "unsupported-media-type")
    assert_problem(bridge.get("/request"), 405, "method-not-allowed")
    assert_problem(bridge.post("/v1/connections/other/request?correlate=next"), 404, "not-found")


def test_a_connection_that_only_receives(start_upstream, serve_file) -> None:
    settings = {"url": start_upstream().url, "receiveOnly": True}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    assert_problem(bridge.post("/request?correlate=next", b"x"), 409, "receive-only")


def test_who_waits_when_the_bridge_stops_is_told_so(bridge: Bridge, peer: Peer) -> None:
    client = ask(bridge, '{"id":1}', "?correlate=/id&timeout=5m")
    peer.received(1)
    stopping = threading.Thread(target=bridge.stop)
    stopping.start()
    response = client.response("POST")
    stopping.join()
    assert response.status in (502, 503), response


def test_a_client_that_leaves_harms_nobody(bridge: Bridge, peer: Peer) -> None:
    for number in range(20):
        client = ask(bridge, '{"id":1}', "?correlate=/id&timeout=5m")
        peer.received(number + 1)
        client.wire.close()
    peer.send(*['{"id":1}'] * 20)
    client = ask(bridge, '{"id":2}')
    peer.received(21)
    peer.send('{"id":2}')
    assert client.response("POST").json() == {"id": 2}


def test_requests_are_no_messages_of_the_outbox(start_upstream, serve_file) -> None:
    upstream: Upstream = start_upstream()
    settings = {"url": upstream.url, "rate": {"messages": 1, "per": "1h"}}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    bridge.await_ready()
    bridge.send("uses the rate up")
    upstream.peer().received(1)
    client = ask(bridge, '{"id":1}', "?correlate=/id&timeout=1s")
    message = bridge.send("waits").json()["id"]
    assert [each["id"] for each in bridge.get("/outbox").json()["messages"]] == [message]
    assert bridge.request("DELETE", "/outbox").json() == {"dropped": 1}
    assert_problem(client.response("POST"), 504, "reply-timeout")


def test_curl_asks(bridge: Bridge, peer: Peer) -> None:
    def answer() -> None:
        question = json.loads(peer.received(1)[0])
        peer.send(json.dumps({"id": question["id"], "result": question["a"] + 1}))

    answering = threading.Thread(target=answer)
    answering.start()
    done = curl("-f", "-d", '{"a":41}', f"{bridge.base}/request?correlate=/id")
    answering.join()
    assert json.loads(done.stdout)["result"] == 42


def test_a_store_does_not_keep_requests(start_upstream, serve_file, tmp_path) -> None:
    upstream: Upstream = start_upstream()
    text = json.dumps({"connections": {"default": {"url": upstream.url}}})
    bridge = serve_file(text, "--data-dir", str(tmp_path / "data"))
    bridge.await_ready()
    for number in range(20):
        bridge.send(f"before {number}")
        client = ask(bridge, '{"id":1}')
        upstream.peer().received(2 * number + 2)
        upstream.peer().send('{"id":1}')
        response = client.response("POST")
        assert response.status == 200
        # Whoever is told its id can read it.
        last = bridge.get("/messages?since=start&limit=1000").json()["messages"][-1]
        assert last["id"] == response.header("Wsbridge-Event-Id")
    assert bridge.get("/status").json()["outbox"]["messages"] == 0
