"""Polling: `GET /messages`."""

from __future__ import annotations

import base64

import pytest

from assertions import assert_names_parameter
from harness import Bridge, Peer

NOT_FOR_THIS_POLL = "AAECAw=="


@pytest.fixture
def kept(bridge: Bridge, peer: Peer) -> list[str]:
    """The texts of 250 messages that the bridge has in its history."""
    texts = [f"message {number}" for number in range(250)]
    peer.send(*texts)
    bridge.await_status(lambda status: status["counters"]["received"] == 250, "all are there")
    return texts


def poll(bridge: Bridge, query: str = "") -> dict:
    response = bridge.get(f"/messages?{query}")
    assert response.status == 200, response
    assert response.header("Content-Type") == "application/json"
    page = response.json()
    assert set(page) == {"messages", "next", "gap"}
    return page


def data(page: dict) -> list[str]:
    return [message["data"] for message in page["messages"]]


def test_a_poll_begins_with_the_oldest_hundred(bridge: Bridge, kept: list[str]) -> None:
    page = poll(bridge)
    assert data(page) == kept[:100]
    assert page["gap"] is None
    assert page["next"] == page["messages"][-1]["id"]


def test_following_next_gives_everything_once_in_order(bridge: Bridge, kept: list[str]) -> None:
    seen, cursor = [], "start"
    for _ in range(4):
        page = poll(bridge, f"limit=70&since={cursor}")
        seen += data(page)
        cursor = page["next"]
    assert seen == kept
    page = poll(bridge, f"since={cursor}")
    assert (page["messages"], page["next"]) == ([], cursor)


def test_next_is_a_cursor_for_streams_too(bridge: Bridge, kept: list[str]) -> None:
    page = poll(bridge, "limit=1000")
    assert data(page) == kept
    assert [event.data for event in bridge.stream(f"/events?since={poll(bridge)['next']}").take(150)] == kept[
        100:
    ]


def test_messages_are_json_records(bridge: Bridge, peer: Peer) -> None:
    peer.send("a\r\0b", b"\1\2")
    bridge.await_status(lambda status: status["counters"]["received"] == 2, "both are there")
    text, binary = poll(bridge)["messages"]
    assert (text["type"], text["data"], text["direction"]) == ("text", "a\r\0b", "in")
    assert (binary["type"], base64.b64decode(binary["data"])) == ("binary", b"\1\2")
    assert list(text) == ["id", "connection", "time", "direction", "type", "topic", "data"]


def test_the_filters_are_those_of_streams(bridge: Bridge, peer: Peer) -> None:
    bridge.await_ready()
    peer.send("one", b"\1")
    bridge.await_status(lambda status: status["counters"]["received"] == 2, "both are there")
    assert data(poll(bridge, "types=binary")) == ["AQ=="]
    assert [record["data"]["type"] for record in poll(bridge, "types=status")["messages"]] == [
        "connecting",
        "open",
        "ready",
    ]
    assert poll(bridge, "direction=out")["messages"] == []


def test_what_is_filtered_out_is_passed_over(bridge: Bridge, kept: list[str]) -> None:
    page = poll(bridge, "types=binary&limit=1")
    assert page["messages"] == []
    assert page["next"] == bridge.status()["history"]["newest"]


def test_a_lost_cursor_gives_a_gap_and_all_that_is_kept(bridge: Bridge, peer: Peer) -> None:
    peer.send("one")
    status = bridge.await_status(lambda status: status["counters"]["received"] == 1, "it is there")
    page = poll(bridge, "since=000000000000-1")
    assert page["gap"] == {"missed": None, "oldest": status["history"]["oldest"]}
    assert data(page) == ["one"]


def test_wait_holds_the_answer_until_something_comes(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("GET", "/messages?wait=5m&types=text")
        peer.send(base64.b64decode(NOT_FOR_THIS_POLL))
        bridge.await_status(lambda status: status["counters"]["received"] == 1, "it is there")
        peer.send("one")
        assert data(client.response().json()) == ["one"]
        # The connection is as good as before.
        assert data(client.request("GET", "/messages?wait=5m&limit=1").json()) == [NOT_FOR_THIS_POLL]


def test_wait_answers_at_once_what_is_there(bridge: Bridge, kept: list[str]) -> None:
    assert data(poll(bridge, "wait=5m&limit=2")) == kept[:2]


def test_wait_ends_with_an_empty_answer(bridge: Bridge, peer: Peer) -> None:
    bridge.await_ready()
    page = poll(bridge, "wait=50ms")
    assert (page["messages"], page["gap"]) == ([], None)
    assert page["next"] == bridge.status()["history"]["newest"]


def test_waiting_polls_stop_nobody_and_are_forgotten(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as waiting, bridge.client() as leaving:
        waiting.send_head("GET", "/messages?wait=5m")
        leaving.send_head("GET", "/messages?wait=5m")
        leaving.wire.reset()
        assert bridge.status()["subscribers"] == 0
        bridge.send("still works")
        assert peer.received(1) == ["still works"]
        bridge.stop()
        assert waiting.response().json()["messages"] == []


def test_head_answers_like_get_and_does_not_wait(bridge: Bridge) -> None:
    response = bridge.request("HEAD", "/messages?wait=5m")
    assert response.status == 200
    assert response.header("Content-Type") == "application/json"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("wait=5m1s", "wait"),
        ("wait=x", "wait"),
        ("since=x", "since"),
        ("since=now&since=now", "since"),
        ("last=1", "last"),
        ("format=json", "format"),
        ("idle=1s", "idle"),
        ("types=x", "types"),
        ("direction=x", "direction"),
    ],
)
def test_parameters_that_mean_nothing_are_refused_by_name(bridge: Bridge, query: str, name: str) -> None:
    refusal = bridge.get(f"/messages?{query}")
    assert_names_parameter(refusal, name)
