"""Streams and polls that choose messages by topic and content."""

from __future__ import annotations

import json

import pytest

from assertions import assert_names_parameter, assert_problem
from harness import Bridge, Peer, Upstream

pytestmark = pytest.mark.usefixtures("stream_mode")

TRADES = [
    '{"type":"trade","symbol":"BTC","price":10}',
    '{"type":"trade","symbol":"ETH","price":10.0}',
    '{"type":"hello"}',
    '{"type": "trade", "symbol": "B\\u0054C", "nested": {"list": [1, "two"]}}',
    "no JSON",
    '{"type":"end","symbol":"BTC"}',
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("match=/symbol:BTC", [0, 3, 5]),
        ("match=/symbol:BTC&match=/type:trade", [0, 3]),
        ("match=/price:10", [0]),
        ("match=/price:10.0", [1]),
        ("match=/nested/list/1:two", [3]),
        ("match=/symbol:BTC&topic=messages", [0, 3, 5]),
        ("topic=messages", range(6)),
        ("topic=*", range(6)),
        ("topic=%3E", range(6)),
        ("topic=orders.%3E&topic=messages", range(6)),
    ],
)
def test_messages_are_chosen_live_replayed_and_polled(
    bridge: Bridge, peer: Peer, query: str, expected: list[int]
) -> None:
    texts = [TRADES[index] for index in expected]
    live = bridge.stream(f"/events?{query}")
    merged = bridge.stream(f"/v1/events?{query}")
    peer.send(*TRADES)
    assert [event.data for event in live.take(len(texts))] == texts
    assert [json.loads(event.data)["data"] for event in merged.take(len(texts))] == texts
    replay = bridge.stream(f"/events?{query}&since=start&limit={len(texts)}")
    assert [event.data for event in replay.rest()] == texts
    polled = bridge.get(f"/messages?{query}").json()["messages"]
    assert [message["data"] for message in polled] == texts
    newest = bridge.stream(f"/events?{query}&last=1&limit=1")
    assert [event.data for event in newest.rest()] == texts[-1:]


@pytest.mark.parametrize(
    "query", ["topic=orders", "topic=messages.*", "match=/symbol:DOGE", "match=/symbol:DOGE&limit=1"]
)
def test_what_nobody_asked_for_moves_the_cursor_alone(serve_with, query: str) -> None:
    bridge, peer = serve_with("http: { keepAlive: 100ms }")
    stream = bridge.stream(f"/events?{query}")
    peer.send(*TRADES)
    bridge.await_status(lambda status: status["counters"]["received"] == len(TRADES), "all have come")
    newest = bridge.get("/messages?limit=1000").json()["next"]
    stream.until_cursor(newest)
    assert bridge.get(f"/messages?{query}").json()["messages"] == []


@pytest.mark.parametrize("slow", ["gap", "disconnect"])
@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_what_passes_a_reader_that_counts_is_no_loss(serve_with, slow: str, version: str) -> None:
    bridge, peer = serve_with("history: { maxMessages: 10 }")
    stream = bridge.stream(f"/events?match=/symbol:BTC&limit=2&slow={slow}", version=version)
    for count, wanted in ((100, "first"), (200, "second")):
        peer.send(*["no JSON"] * 99)
        bridge.await_status(
            lambda status, most=count - 1: status["counters"]["received"] == most, "history forgets"
        )
        (subscriber,) = bridge.get("/subscribers").json()["subscribers"]
        assert (subscriber["lag"], subscriber["gaps"]) == (0, 0)
        peer.send(f'{{"symbol":"BTC","is":"{wanted}"}}')
        assert json.loads(stream.next().data)["is"] == wanted
    assert stream.rest() == []
    assert bridge.status()["counters"]["gaps"] == 0


def test_what_passes_a_reader_that_counts_while_it_moves_is_no_loss(serve_file, upstream: Upstream) -> None:
    """A merged stream that takes in another connection goes on from where it is."""
    settings = f"""
        http: {{ dynamicConnections: true }}
        history: {{ maxMessages: 10 }}
        connections: {{ default: {{ url: '{upstream.url}' }} }}
    """
    bridge = serve_file(settings)
    peer = upstream.peer()
    stream = bridge.stream("/v1/events?match=/symbol:BTC&limit=1")
    peer.send(*["no JSON"] * 50)
    bridge.await_status(lambda status: status["counters"]["received"] == 50, "history forgets")
    other = json.dumps({"url": upstream.url, "connect": "manual"}).encode()
    assert bridge.request("PUT", "/v1/connections/other", other).status == 201
    peer.send(*["no JSON"] * 50, '{"symbol":"BTC"}')
    assert [json.loads(event.data)["data"] for event in stream.rest()] == ['{"symbol":"BTC"}']


@pytest.mark.parametrize("wanted", [True, False])
def test_what_passes_a_poll_that_waits_is_no_loss(serve_with, wanted: bool) -> None:
    bridge, peer = serve_with("history: { maxMessages: 10 }")
    with bridge.client() as client:
        client.send_head("GET", "/messages?match=/symbol:BTC&wait=5m")
        # Once a poll that came later is answered, this one waits.
        assert bridge.get("/messages?match=/symbol:BTC").json()["messages"] == []
        peer.send(*["no JSON"] * 50)
        bridge.await_status(lambda status: status["counters"]["received"] == 50, "history forgets")
        texts = ['{"symbol":"BTC"}'] if wanted else []
        peer.send(*texts)
        if not wanted:
            # Who sends no more is answered with what there is.
            client.wire.half_close()
        page = client.response().json()
    assert [message["data"] for message in page["messages"]] == texts
    assert page["gap"] is None
    assert bridge.get(f"/messages?since={page['next']}").json()["messages"] == []


def test_lifecycle_events_pass(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?types=text,status&topic=orders.*&match=/symbol:BTC")
    peer.send(*TRADES)
    peer.close(4000)
    shown = []
    while not shown or json.loads(shown[-1].data)["type"] != "closed":
        shown.append(stream.next())
        assert shown[-1].type == "status"


def test_lifecycle_events_have_the_direction_in(bridge: Bridge) -> None:
    def shown(direction: str) -> list[str]:
        target = f"/events?types=status&direction={direction}&since=start&format=ndjson&idle=50ms"
        return [json.loads(line)["data"]["type"] for line in bridge.get(target).body.splitlines()]

    # The snapshot is no record: it says where a stream begins.
    assert shown("out") == ["snapshot"]
    assert shown("in") == shown("both") == ["snapshot", "connecting", "open", "ready"]


def test_a_poll_waits_for_what_it_chose(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("GET", "/messages?match=/symbol:BTC&wait=5m")
        peer.send("no JSON", '{"symbol":"ETH"}')
        bridge.await_status(lambda status: status["counters"]["received"] == 2, "they are there")
        peer.send('{"symbol":"BTC"}')
        page = client.response().json()
    assert [message["data"] for message in page["messages"]] == ['{"symbol":"BTC"}']


@pytest.mark.parametrize("target", ["/events", "/v1/events", "/messages"])
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("topic", ""),
        ("topic", "a..b"),
        ("topic", "a*"),
        ("topic", "%3E.a"),
        ("match", ""),
        ("match", "symbol:BTC"),
        ("match", "/symbol"),
        ("match", "/a~2:b"),
    ],
)
def test_what_cannot_be_understood_is_refused(
    bridge: Bridge, target: str, parameter: str, value: str
) -> None:
    assert_names_parameter(bridge.get(f"{target}?{parameter}={value}"), parameter)


@pytest.mark.parametrize("parameter", ["topic=a", "match=/a:1"])
def test_filters_are_bounded(bridge: Bridge, parameter: str) -> None:
    assert_names_parameter(bridge.get("/messages?" + "&".join([parameter] * 65)), parameter.partition("=")[0])
    assert bridge.get("/messages?" + "&".join([parameter] * 64)).status == 200


def test_filters_that_say_the_same_count_once(serve_with) -> None:
    bridge, _ = serve_with("http: { maxFilters: 1 }")
    bridge.stream("/events?topic=a&topic=b&match=/x:1&match=/y:2")
    bridge.stream("/events?match=/y:2&match=/x:1&topic=b&topic=a&topic=b")
    assert_problem(bridge.get("/events?topic=a"), 503, "too-many-subscribers")
    listed = bridge.get("/subscribers").json()["subscribers"]
    assert [one["filters"] for one in listed] == [
        {
            "types": ["text", "binary"],
            "direction": "in",
            "topics": ["a", "b"],
            "matches": ["/x:1", "/y:2"],
        }
    ] * 2


def test_polls_that_wait_have_filters_as_well(serve_with) -> None:
    bridge, _ = serve_with("http: { maxFilters: 1 }")
    bridge.stream("/events?match=/x:1")
    assert_problem(bridge.get("/messages?match=/x:1&wait=1s"), 503, "too-many-subscribers")
    assert bridge.get("/messages?match=/x:1").status == 200
