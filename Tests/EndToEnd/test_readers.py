"""Readers of bridges that are configured for them: several connections, what was sent, limits, slowness."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from assertions import assert_problem
from harness import Bridge, Deadline, Event, Peer, Upstream, await_truth

pytestmark = pytest.mark.usefixtures("stream_mode")

Configure = Callable[..., Bridge]


def records(events: list[Event]) -> list[dict]:
    return [json.loads(event.data) for event in events]


# Several connections


@pytest.fixture
def two(start_upstream, serve_file: Configure) -> tuple[Bridge, list[Peer]]:
    """A bridge with the connections `feed.a` and `feed.b`, and the peers of both."""
    upstreams = [start_upstream(), start_upstream()]
    names = ("feed.a", "feed.b")
    urls = zip(names, upstreams, strict=True)
    bridge = serve_file(
        "connections: { "
        + ", ".join(f"{name}: {{ url: '{upstream.url}' }}" for name, upstream in urls)
        + " }"
    )
    for name in names:
        stream = bridge.stream(f"/v1/connections/{name}/events?types=status&since=start")
        stream.until_status("ready")
        stream.close()
    return bridge, [upstream.peer() for upstream in upstreams]


def test_the_merged_stream_is_in_order_of_arrival(two: tuple[Bridge, list[Peer]]) -> None:
    bridge, peers = two
    stream = bridge.stream("/v1/events")
    seen = []
    for number in range(20):
        peers[number % 2].send(str(number))
        seen.append(stream.next())
    assert [(record["data"], record["connection"]) for record in records(seen)] == [
        (str(number), ("feed.a", "feed.b")[number % 2]) for number in range(20)
    ]
    assert bridge.stream("/v1/events?since=start").take(20) == seen
    assert bridge.stream("/v1/events", {"Last-Event-ID": seen[4].id}).take(15) == seen[5:]
    # An id is a cursor in every stream, filtered or merged.
    only = bridge.stream(f"/v1/connections/feed.b/events?format=json&since={seen[4].id}").take(8)
    assert only == seen[5::2]


def test_globs_choose_the_connections(two: tuple[Bridge, list[Peer]]) -> None:
    bridge, peers = two
    one, both = bridge.stream("/v1/events?connection=*.b"), bridge.stream("/v1/events?connection=feed.*")
    peers[0].send("a")
    assert records([both.next()])[0]["data"] == "a"
    peers[1].send("b")
    assert records([one.next(), both.next()]) == [records(bridge.stream("/v1/events?last=1").take(1))[0]] * 2
    for name, count in (("feed.a", 1), ("feed.b", 2)):
        status = bridge.get(f"/v1/connections/{name}/status").json()
        assert status["subscribers"] >= count
    assert_problem(bridge.get("/v1/events?connection=feed.*&connection=feed.c"), 404, "not-found")


def test_the_merged_stream_begins_with_a_snapshot_of_each(two: tuple[Bridge, list[Peer]]) -> None:
    bridge, _ = two
    snapshots = records(bridge.stream("/v1/events?types=status").take(2))
    assert [record["connection"] for record in snapshots] == ["feed.a", "feed.b"]
    assert {record["data"]["type"] for record in snapshots} == {"snapshot"}
    assert {record["data"]["state"] for record in snapshots} == {"open"}


def test_the_merged_stream_shows_what_the_token_covers(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"""
        http:
          tokens:
            - {{ name: some, token: alpha, allow: [read], connections: ["feed.*"] }}
            - {{ name: none, token: beta, allow: [read], connections: ["nothing"] }}
        connections:
          feed.a: {{ url: '{upstream.url}', connect: manual }}
          other: {{ url: '{upstream.url}', connect: manual }}
        """
    )
    alpha, beta = ({"Authorization": f"Bearer {token}"} for token in ("alpha", "beta"))
    stream = bridge.ask_for_stream("/v1/events?types=status&format=ndjson&idle=50ms", alpha)
    *lines, end = stream.body.rest(Deadline("the end of the stream")).split(b"\n")
    assert end == b""
    assert [json.loads(line)["connection"] for line in lines] == ["feed.a"]
    assert_problem(bridge.get("/v1/events?connection=other", alpha), 404, "not-found")
    assert_problem(bridge.get("/v1/events", beta), 404, "not-found")
    assert bridge.get("/v1/events").status == 401


# What was sent


def test_what_was_sent_is_recorded_on_wish(serve_with) -> None:
    bridge, peer = serve_with("history: { includeSent: true }")
    sent, both = bridge.stream("/events?direction=out"), bridge.stream("/events?direction=both&format=json")
    plain = bridge.stream()
    bridge.send("to the upstream")
    assert sent.next().data == "to the upstream"
    assert peer.received(1) == ["to the upstream"]
    peer.send("from the upstream")
    assert plain.next().data == "from the upstream"
    assert [(record["direction"], record["data"]) for record in records(both.take(2))] == [
        ("out", "to the upstream"),
        ("in", "from the upstream"),
    ]
    page = bridge.get("/messages?direction=out").json()
    assert [record["data"] for record in page["messages"]] == ["to the upstream"]
    assert bridge.get("/messages").json()["messages"][0]["data"] == "from the upstream"


def test_what_was_queued_is_recorded_when_it_was_written(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"history: {{ includeSent: true }}\n"
        f"connections: {{ default: {{ url: '{upstream.url}', connect: manual }} }}"
    )
    bridge.post("/connect")
    bridge.await_ready()
    upstream.go_away()
    bridge.await_status(lambda status: not status["ready"], "the connection is lost")
    bridge.send("queued")
    assert bridge.get("/messages?direction=out").json()["messages"] == []
    upstream.come_back()
    assert bridge.stream("/events?direction=out&since=start").next().data == "queued"


# Limits


def test_over_the_limit_a_stream_is_refused(serve_with) -> None:
    bridge, _ = serve_with("http: { maxSubscribers: 1 }")
    first = bridge.stream()
    refusal = bridge.get("/events")
    assert_problem(refusal, 503, "too-many-subscribers")
    assert int(refusal.header("Retry-After")) >= 1
    assert_problem(bridge.get("/messages?wait=5m"), 503, "too-many-subscribers")
    assert bridge.get("/messages").status == 200
    assert_problem(
        bridge.get("/events?format=ndjson", {"Accept": "text/event-stream"}), 503, "too-many-subscribers"
    )

    browser = bridge.stream("/events", {"Accept": "text/event-stream"})
    assert browser.head.get("Content-Type") == "text/event-stream; charset=utf-8"
    (event,) = browser.rest()
    assert event.type == "refused"
    assert json.loads(event.data)["type"] == "urn:wsbridge:problem:too-many-subscribers"
    assert browser.parser.retry == 30_000

    first.close()
    bridge.await_status(lambda status: status["subscribers"] == 0, "the subscriber is forgotten")
    bridge.stream()


def test_distinct_filters_are_limited(serve_with) -> None:
    bridge, _ = serve_with("http: { maxFilters: 2 }")
    bridge.stream()
    bridge.stream(version="HTTP/1.0")
    other = bridge.stream("/events?format=json")
    bridge.stream("/events?format=json&since=start&limit=100&idle=5m&slow=disconnect")
    assert_problem(bridge.get("/events?types=text"), 503, "too-many-subscribers")
    assert bridge.stream("/events?types=text", {"Accept": "text/event-stream"}).next().type == "refused"
    other.close()


# Slow readers


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_a_slow_subscriber_is_disconnected_if_it_wishes(serve_with, version: str) -> None:
    bridge, peer = serve_with("history: { maxMessages: 10 }")
    stalled = bridge.stream("/events?slow=disconnect", receive_buffer=4096, version=version)
    assert bridge.status()["subscribers"] == 1
    # More than the sockets, the stream's buffer and the history hold.
    peer.start_sending(f"{number} " + "x" * 100_000 for number in range(300))
    bridge.await_status(lambda status: status["subscribers"] == 0, "the slow subscriber is disconnected")
    assert bridge.status()["counters"]["gaps"] == 0
    assert not stalled.body.ended


def test_gaps_are_counted_where_they_are(two: tuple[Bridge, list[Peer]]) -> None:
    bridge, peers = two
    bridge.stream("/v1/connections/feed.a/events?since=000000000000-1").until("gap")
    counts = [
        bridge.get(f"/v1/connections/{name}/status").json()["counters"]["gaps"]
        for name in ("feed.a", "feed.b")
    ]
    assert counts == [1, 0]
    (subscriber,) = bridge.get("/v1/connections/feed.a/subscribers").json()["subscribers"]
    assert subscriber["gaps"] == 1


def test_losses_in_a_merged_stream_stand_where_they_were_and_are_told_once(
    start_upstream, serve_file: Configure
) -> None:
    upstreams = {name: start_upstream() for name in "ab"}
    urls = ", ".join(f"{name}: {{ url: '{upstream.url}' }}" for name, upstream in upstreams.items())
    bridge = serve_file(f"history: {{ maxMessages: 10 }}\nconnections: {{ {urls} }}")
    peers = {name: upstream.peer() for name, upstream in upstreams.items()}
    for name in "ab":
        bridge.stream(f"/v1/connections/{name}/events?types=status&since=start").until_status("ready")
    stream = bridge.stream("/v1/events")
    texts = []
    for number in range(30):
        for name in "ab" if number % 10 == 0 else "a":
            peers[name].send(f"{name}{number}")
            texts.append(json.loads(stream.next().data))
    ids = [record["id"] for record in texts]

    def read(since: str) -> list[dict]:
        response = bridge.get(f"/v1/events?format=ndjson&idle=50ms&since={since}")
        return [json.loads(line) for line in response.body.splitlines()]

    # Ten of a are kept, and all of b.
    before = ids[0].split("-")[0] + f"-{int(ids[0].split('-')[1]) - 1}"
    story = read(before)
    assert [record.get("data") or record["missed"] for record in story] == [
        *(1, "b0", 10, "b10", 9, *(f"a{number}" for number in range(20, 21)), "b20"),
        *(f"a{number}" for number in range(21, 30)),
    ]
    gaps = [record for record in story if record["type"] == "gap"]
    assert [gap["id"] for gap in gaps] == [ids[0], ids[11], ids[21]]
    followers = {record["id"]: after["id"] for record, after in zip(story, story[1:], strict=False)}
    assert [gap["oldest"] for gap in gaps] == [followers[gap["id"]] for gap in gaps]
    for index, record in enumerate(story):
        assert read(record["id"]) == story[index + 1 :]


# Age


def test_what_is_too_old_goes_though_nothing_comes(serve_with) -> None:
    bridge, peer = serve_with("history: { maxAge: 300ms }")
    first = bridge.get("/messages?since=now").json()["next"]
    peer.send("1", "2", "3")
    await_truth(lambda: bridge.status()["counters"]["received"] == 3, "they are there")
    await_truth(lambda: bridge.status()["history"]["messages"] == 0, "the status shows none")
    assert bridge.status()["history"] == {"messages": 0, "bytes": 0, "oldest": None, "newest": None}
    assert bridge.get("/messages").json()["messages"] == []
    assert bridge.get("/events?since=start&idle=50ms&format=raw").body == b""
    page = bridge.get(f"/messages?since={first}").json()
    assert (page["messages"], page["gap"]) == ([], {"missed": 3, "oldest": None})
    # What comes then is kept as long.
    stream = bridge.stream()
    peer.send("4")
    assert stream.next().data == "4"
    assert bridge.get("/messages").json()["messages"][0]["data"] == "4"
