"""`POST /messages` that waits until its messages were written upstream."""

from __future__ import annotations

import os

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Peer, Upstream, await_truth, curl


def ask(bridge: Bridge, text: str, query: str = "?wait=1m", **fields: str) -> Client:
    """POST a message, and return the connection on which the answer will come."""
    client = bridge.client()
    body = text.encode()
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    client.send_head("POST", f"/messages{query}", {"Content-Length": str(len(body)), **named})
    client.wire.send(body)
    return client


def await_queued(bridge: Bridge, count: int) -> None:
    bridge.await_status(lambda status: status["outbox"]["messages"] == count, f"{count} messages are queued")


def come_back(upstream: Upstream, bridge: Bridge) -> None:
    """The upstream is there again, and the bridge need not wait for its next attempt."""
    upstream.come_back()
    bridge.post("/connect")


def test_a_post_that_waits_is_answered_when_its_message_was_written(bridge: Bridge, peer: Peer) -> None:
    response = bridge.post("/messages?wait=30s", b"hello")
    assert response.status == 200
    assert set(response.json()) == {"id", "state", "sentAt"}
    assert response.json()["state"] == "sent"
    assert peer.received(1) == ["hello"]


def test_curl_waits_with_prefer(bridge: Bridge, peer: Peer) -> None:
    done = curl("-f", "-d", "hello", "-H", "Prefer: wait=30", f"{bridge.base}/messages")
    assert b'"state":"sent"' in done.stdout
    assert peer.received(1) == ["hello"]


def test_a_post_without_a_wait_does_not_wait(lonely: Bridge) -> None:
    assert lonely.post("/messages?wait=0s", b"hello").status == 202


def test_at_the_limit_the_answer_is_that_the_message_is_queued(lonely: Bridge) -> None:
    response = lonely.post("/messages?wait=50ms", b"hello")
    assert (response.status, response.json()["state"]) == (202, "queued")
    await_queued(lonely, 1)


def test_the_wait_ends_when_the_upstream_is_there_again(away: Upstream, lonely: Bridge) -> None:
    client = ask(lonely, "hello")
    await_queued(lonely, 1)
    come_back(away, lonely)
    response = client.response("POST")
    assert (response.status, response.json()["state"]) == (200, "sent")
    assert away.peer().received(1) == ["hello"]


def test_200_clients_wait_at_once(away: Upstream, lonely: Bridge) -> None:
    clients = [ask(lonely, str(number)) for number in range(200)]
    await_queued(lonely, 200)
    come_back(away, lonely)
    assert [client.response("POST").status for client in clients] == [200] * 200
    assert sorted(away.peer().received(200)) == sorted(str(number) for number in range(200))


def test_the_bridge_serves_others_meanwhile(away: Upstream, lonely: Bridge) -> None:
    client = ask(lonely, "first")
    await_queued(lonely, 1)
    assert lonely.post("/messages", b"second").status == 202
    come_back(away, lonely)
    assert client.response("POST").status == 200
    assert away.peer().received(2) == ["first", "second"]


def test_the_connection_is_kept_after_a_wait(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        for number in range(50):
            assert client.request("POST", "/messages?wait=30s", str(number).encode()).status == 200
            assert client.request("GET", "/status").status == 200
    assert peer.received(50) == [str(number) for number in range(50)]


def test_requests_sent_behind_one_that_waits_are_answered_after_it(away: Upstream, lonely: Bridge) -> None:
    client = ask(lonely, "first")
    client.send_head("POST", "/messages?wait=1m", {"Content-Length": "6"})
    client.wire.send(b"second")
    client.send_head("GET", "/healthz")
    await_queued(lonely, 1)
    come_back(away, lonely)
    answers = [client.response(method) for method in ("POST", "POST", "GET")]
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert away.peer().received(2) == ["first", "second"]


def test_clients_of_http_1_0_may_wait(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.wire.send(b"POST /messages?wait=30s HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
        assert client.response("POST").status == 200
    assert peer.received(1) == ["hello"]


def test_a_client_that_closes_its_sending_side_is_told_what_is_known(lonely: Bridge) -> None:
    client = ask(lonely, "hello")
    await_queued(lonely, 1)
    client.wire.half_close()
    response = client.response("POST")
    assert (response.status, response.json()["state"]) == (202, "queued")


@pytest.mark.parametrize("end", ["close", "reset"])
def test_clients_that_leave_leave_nothing_behind_and_their_messages_are_sent(
    away: Upstream, lonely: Bridge, end: str
) -> None:
    descriptors = f"/proc/{lonely.pid}/fd"
    before = len(os.listdir(descriptors))
    clients = [ask(lonely, str(number)) for number in range(50)]
    await_queued(lonely, 50)
    for client in clients:
        getattr(client.wire, end)()
    await_truth(lambda: len(os.listdir(descriptors)) <= before + 2, "the connections are closed")
    come_back(away, lonely)
    assert len(away.peer().received(50)) == 50


def test_clients_that_wait_when_the_bridge_stops_are_told_so(lonely: Bridge) -> None:
    clients = [ask(lonely, str(number)) for number in range(20)]
    await_queued(lonely, 20)
    lonely.stop()
    for client in clients:
        assert_problem(client.response("POST"), 503, "upstream-unavailable")
    assert not any("timeout" in record["message"] for record in lonely.records)


def test_a_message_that_is_dropped_ends_the_wait(lonely: Bridge) -> None:
    client = ask(lonely, "hello")
    await_queued(lonely, 1)
    assert lonely.request("DELETE", "/outbox").json() == {"dropped": 1}
    assert_problem(client.response("POST"), 409, "message-dropped")


@pytest.mark.parametrize("query", ["wait=", "wait=soon", "wait=-1s", "wait=301s", "queue=maybe", "queue="])
def test_a_malformed_parameter_is_refused_and_nothing_sent(bridge: Bridge, peer: Peer, query: str) -> None:
    assert_problem(bridge.post(f"/messages?{query}", b"no"), 400, "invalid-parameter")
    bridge.send("next")
    assert peer.received(1) == ["next"]


# Without a queue


def test_a_message_that_must_not_be_queued_is_sent_while_the_connection_is_ready(
    bridge: Bridge, peer: Peer
) -> None:
    assert bridge.post("/messages?queue=false&wait=30s", b"hello").status == 200
    assert peer.received(1) == ["hello"]


def test_a_message_that_must_not_be_queued_is_refused_while_it_is_not(lonely: Bridge) -> None:
    response = lonely.post("/messages?queue=false", b"hello")
    assert_problem(response, 503, "upstream-unavailable")
    assert int(response.header("Retry-After")) >= 1
    assert lonely.status()["outbox"]["messages"] == 0


# Several messages in one body


def test_each_line_of_ndjson_is_a_message(bridge: Bridge, peer: Peer) -> None:
    response = bridge.post("/messages?wait=30s", b'{"a":1}\r\n\n{"b":2}\nlast', "application/x-ndjson")
    assert response.status == 200
    answers = response.json()["messages"]
    assert [set(answer) for answer in answers] == [{"id", "state", "sentAt"}] * 3
    assert len({answer["id"] for answer in answers}) == 3
    assert peer.received(3) == ['{"a":1}', '{"b":2}', "last"]


def test_lines_without_a_wait_are_queued(lonely: Bridge) -> None:
    response = lonely.post("/messages", b"1\n2\n", "application/x-ndjson")
    assert response.status == 202
    assert [answer["state"] for answer in response.json()["messages"]] == ["queued", "queued"]


def test_lines_are_accepted_all_or_none(lonely: Bridge) -> None:
    for _ in range(2):
        lines = b"line\n" * 499
        assert lonely.post("/messages", lines, "application/x-ndjson").status == 202
    assert_problem(lonely.post("/messages", b"1\n2\n3\n", "application/x-ndjson"), 503, "outbox-full")
    assert lonely.status()["outbox"]["messages"] == 998
    assert lonely.post("/messages", b"1\n2\n", "application/x-ndjson").status == 202


def test_more_lines_than_the_outbox_may_ever_hold_are_too_large(lonely: Bridge) -> None:
    response = lonely.post("/messages", b"line\n" * 1001, "application/x-ndjson")
    assert_problem(response, 413, "message-too-large")


def test_one_line_that_is_not_utf_8_refuses_all(lonely: Bridge) -> None:
    response = lonely.post("/messages", b"good\n\xff\n", "application/x-ndjson")
    assert_problem(response, 400, "invalid-utf8")
    assert "line 2 " in response.json()["detail"]
    assert lonely.status()["outbox"]["messages"] == 0


def test_no_line_at_all_is_no_message(bridge: Bridge, peer: Peer) -> None:
    assert bridge.post("/messages", b"\r\n\n", "application/x-ndjson").json() == {"messages": []}
    bridge.send("next")
    assert peer.received(1) == ["next"]


# Repeats


def test_a_repeat_gets_the_first_answer_and_sends_nothing(bridge: Bridge, peer: Peer) -> None:
    first = bridge.post("/messages?wait=30s", b"hello", Idempotency_Key="key-1")
    again = bridge.post("/messages?wait=30s", b"hello", Idempotency_Key="key-1")
    assert first.header("Idempotency-Replayed") == ""
    assert (again.status, again.body) == (first.status, first.body) == (200, first.body)
    assert again.header("Idempotency-Replayed") == "true"
    bridge.send("next")
    assert peer.received(2) == ["hello", "next"]


def test_a_repeat_after_the_message_was_sent_gets_the_answer_of_before(
    away: Upstream, lonely: Bridge
) -> None:
    first = lonely.post("/messages", b"hello", Idempotency_Key="key")
    come_back(away, lonely)
    away.peer().received(1)
    again = lonely.post("/messages?wait=30s", b"hello", Idempotency_Key="key")
    assert (again.status, again.body) == (202, first.body)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"other", "text/plain"), (b"hello", "application/octet-stream"), (b"hello", "application/x-ndjson")],
)
def test_a_key_for_another_message_is_a_mismatch(
    bridge: Bridge, peer: Peer, body: bytes, content_type: str
) -> None:
    assert bridge.post("/messages", b"hello", Idempotency_Key="key").status == 202
    response = bridge.post("/messages", body, content_type, Idempotency_Key="key")
    assert_problem(response, 422, "idempotency-mismatch")
    bridge.send("next")
    assert peer.received(2) == ["hello", "next"]


def test_a_repeat_while_the_first_waits_joins_it(away: Upstream, lonely: Bridge) -> None:
    clients = [ask(lonely, "hello", Idempotency_Key="key") for _ in range(5)]
    await_queued(lonely, 1)
    come_back(away, lonely)
    answers = [client.response("POST") for client in clients]
    assert [answer.status for answer in answers] == [200] * 5
    assert len({answer.body for answer in answers}) == 1
    replayed = sorted(answer.header("Idempotency-Replayed") for answer in answers)
    assert replayed == ["", "true", "true", "true", "true"]
    lonely.send("next")
    assert away.peer().received(2) == ["hello", "next"]


def test_a_repeat_joins_though_the_first_client_left(away: Upstream, lonely: Bridge) -> None:
    first = ask(lonely, "hello", Idempotency_Key="key")
    await_queued(lonely, 1)
    first.wire.half_close()
    assert first.response("POST").status == 202
    second = ask(lonely, "hello", Idempotency_Key="key")
    assert lonely.get("/healthz").status == 200
    come_back(away, lonely)
    response = second.response("POST")
    assert (response.status, response.header("Idempotency-Replayed")) == (200, "true")
    lonely.send("next")
    assert away.peer().received(2) == ["hello", "next"]


def test_a_repeat_waits_for_as_long_as_it_asks_itself(away: Upstream, lonely: Bridge) -> None:
    first = ask(lonely, "hello", Idempotency_Key="key")
    await_queued(lonely, 1)
    for query in ("", "?wait=0s", "?wait=50ms"):
        response = lonely.post(f"/messages{query}", b"hello", Idempotency_Key="key")
        assert (response.status, response.json()["state"]) == (202, "queued")
        assert response.header("Idempotency-Replayed") == "true"
    come_back(away, lonely)
    assert first.response("POST").status == 200
    # That was the first answer.
    assert lonely.post("/messages", b"hello", Idempotency_Key="key").json()["state"] == "sent"


@pytest.mark.parametrize("end", ["close", "reset", "half_close", None])
def test_a_repeat_waits_on_though_the_first_gave_up(away: Upstream, lonely: Bridge, end: str | None) -> None:
    first = ask(lonely, "hello", "?wait=200ms", Idempotency_Key="key")
    await_queued(lonely, 1)
    second = ask(lonely, "hello", Idempotency_Key="key")
    third = ask(lonely, "hello", "?wait=400ms", Idempotency_Key="key")
    if end:
        getattr(first.wire, end)()
    else:
        assert first.response("POST").status == 202
    assert third.response("POST").status == 202
    # The first answer is known by now, and stays.
    for query in ("", "?wait=1m"):
        again = lonely.post(f"/messages{query}", b"hello", Idempotency_Key="key")
        assert (again.status, again.header("Idempotency-Replayed")) == (202, "true")
    come_back(away, lonely)
    response = second.response("POST")
    assert (response.status, response.header("Idempotency-Replayed")) == (200, "true")
    lonely.send("next")
    assert away.peer().received(2) == ["hello", "next"]


def test_a_repeat_of_many_lines_gets_the_state_of_each(bridge: Bridge, peer: Peer) -> None:
    lines = b"line\n" * 1000
    first = bridge.post("/messages?wait=30s", lines, "application/x-ndjson", Idempotency_Key="key")
    again = bridge.post("/messages?wait=30s", lines, "application/x-ndjson", Idempotency_Key="key")
    assert (first.status, len(first.json()["messages"])) == (200, 1000)
    assert (again.status, again.body) == (200, first.body)


def test_a_refused_message_may_be_tried_again_with_its_key(away: Upstream, lonely: Bridge) -> None:
    target = "/messages?queue=false&wait=30s"
    assert lonely.post(target, b"hello", Idempotency_Key="key").status == 503
    come_back(away, lonely)
    lonely.await_ready()
    response = lonely.post(target, b"hello", Idempotency_Key="key")
    assert (response.status, response.header("Idempotency-Replayed")) == (200, "")
    assert away.peer().received(1) == ["hello"]


@pytest.mark.parametrize("key", ["", "with space", "k" * 256, "\x7f"])
def test_a_malformed_key_is_refused(bridge: Bridge, key: str) -> None:
    assert_problem(bridge.post("/messages", b"no", Idempotency_Key=key), 400, "invalid-parameter")
