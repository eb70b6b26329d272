"""From the upstream to event streams: `GET /events`."""

from __future__ import annotations

import base64
import json
import random
import re

import pytest

from harness import Bridge, Curl, Deadline, Event, Peer, Upstream, curl
from harness.http1 import parse_head

pytestmark = pytest.mark.usefixtures("stream_mode")


def test_a_text_message_arrives_at_curl_as_an_event_with_its_id(bridge: Bridge, peer: Peer) -> None:
    with Curl("curl", "-q", "-sSN", f"{bridge.base}/events") as stream:
        stream.out.until(lambda text: re.search("^retry:", text, re.MULTILINE), "`retry:`")
        peer.send("hello")
        event = stream.out.until(lambda text: re.search(r"id: (\S+)\ndata: hello\n\n", text), "the event")
        assert event[1] == bridge.status()["history"]["newest"]


def test_curl_ends_with_success_once_the_limit_is_reached(bridge: Bridge, peer: Peer) -> None:
    peer.send("one", "two", "three")
    done = curl("-N", f"{bridge.base}/events?since=start&limit=2")
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.findall(rb"^data: (.*)$", done.stdout, re.MULTILINE) == [b"one", b"two"]


@pytest.mark.parametrize("target", ["/events", "/v1/connections/default/events"])
def test_a_message_arrives_at_both_paths_of_the_only_connection(
    bridge: Bridge, peer: Peer, target: str
) -> None:
    stream = bridge.stream(target)
    peer.send("hello")
    assert stream.next().data == "hello"


TEXTS = [
    "hello",
    "",
    " leading space",
    "  two leading spaces",
    "\ttab",
    "one\ntwo",
    "one\n\nthree",
    "\n",
    "\n\n",
    "ends with a line feed\n",
    "\nbegins with one",
    ": looks like a comment",
    ":",
    "data: looks like data",
    "id: 7-7",
    "event: status",
    "retry: 1",
    "harmless\n\nevent: status\ndata: forged\n\n",
    "harmless\n\nid: 0-0\n\n",
    "\ufeffbyte order mark",
    "nul \0 inside",
    "control \x01\x1b\x7f characters",
    "no line ends for SSE: \x0b \x0c \x85 \u2028 \u2029",
    "äöü € 🦉 \U0010ffff",
    '{"json":"\\n"}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_message_is_seen_by_an_event_source_as_it_was_sent(
    bridge: Bridge, peer: Peer, text: str
) -> None:
    stream = bridge.stream()
    peer.send(text, "next")
    seen = [(event.type, event.data) for event in stream.take(2)]
    assert seen == [("message", text), ("message", "next")]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("one\r\ntwo", "one\ntwo"),
        ("one\rtwo", "one\ntwo"),
        ("one\r\r\ntwo", "one\n\ntwo"),
        ("\r", "\n"),
        ("ends with both\r\n", "ends with both\n"),
        ("\r\revent: status\rdata: forged\r\r", "\n\nevent: status\ndata: forged\n\n"),
    ],
)
def test_carriage_returns_end_lines_and_cannot_inject_fields(
    bridge: Bridge, peer: Peer, text: str, seen: str
) -> None:
    stream = bridge.stream()
    peer.send(text, "next")
    events = [(event.type, event.data) for event in stream.take(2)]
    assert events == [("message", seen), ("message", "next")]


def test_a_text_event_is_an_id_and_its_data_lines_and_nothing_else(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?limit=1", keep_raw=True)
    peer.send("one\ntwo")
    stream.rest()
    assert stream.raw is not None
    assert re.search(rb"(?:^|\n\n)id: [^\n]+\ndata: one\ndata: two\n\n$", bytes(stream.raw))


def test_a_text_of_16_mib_arrives_whole(bridge: Bridge, peer: Peer) -> None:
    text = "0123456789abcdef" * (1 << 20)
    stream = bridge.stream()
    peer.send(text)
    assert stream.next().data == text


def test_a_message_larger_than_16_mib_closes_the_upstream_with_1009(bridge: Bridge, peer: Peer) -> None:
    # Random, so that it is larger than the limit in its compressed form as well.
    peer.start_sending([random.Random(1).randbytes((16 << 20) + 1)])
    close_frame = peer.left()
    assert close_frame
    assert close_frame[0] == 1009


def test_a_message_that_inflates_beyond_16_mib_closes_the_upstream_with_1009(
    bridge: Bridge, peer: Peer
) -> None:
    peer.start_sending(["a" * ((16 << 20) + 1)])
    close_frame = peer.left()
    assert close_frame
    assert close_frame[0] == 1009


@pytest.mark.parametrize(
    "message", [b"", b"\0", bytes(range(256)), b"data: no\n\n", random.Random(2).randbytes(1 << 20)], ids=len
)
def test_a_binary_message_arrives_in_base64_under_its_event_name(
    bridge: Bridge, peer: Peer, message: bytes
) -> None:
    stream = bridge.stream()
    peer.send(message)
    event = stream.next()
    assert (event.type, base64.b64decode(event.data, validate=True)) == ("binary", message)


def test_a_message_in_fragments_arrives_as_one(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    peer.send_fragments("one ", "", "mess", "age")
    assert stream.next().data == "one message"


@pytest.mark.parametrize("compression", ["deflate", None])
def test_messages_arrive_with_and_without_compression(start_upstream, start_bridge, compression) -> None:
    upstream = start_upstream(compression=compression)
    bridge = start_bridge(upstream.url)
    peer = upstream.peer()
    status = bridge.await_ready()
    stream = bridge.stream()
    texts = [f"{number} " * number for number in range(200)]
    peer.send(*texts)
    assert [event.data for event in stream.take(200)] == texts
    assert status["compression"] == (compression is not None)


def test_ids_increase_within_one_epoch(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    peer.send(*map(str, range(100)))
    ids = [event.id.rsplit("-", 1) for event in stream.take(100)]
    assert len({epoch for epoch, _ in ids}) == 1
    numbers = [int(number) for _, number in ids]
    assert numbers == sorted(set(numbers))


def test_two_subscribers_see_the_same_ids(bridge: Bridge, peer: Peer) -> None:
    first, second = bridge.stream(), bridge.stream()
    peer.send("one", b"two", "three")
    assert first.take(3) == second.take(3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-store, no-transform"),
        ("X-Accel-Buffering", "no"),
    ],
)
def test_a_stream_has_the_header(bridge: Bridge, name: str, value: str) -> None:
    assert bridge.stream().head.get(name) == value


def test_a_stream_begins_with_retry_before_there_is_any_message(bridge: Bridge) -> None:
    stream = bridge.stream(keep_raw=True)
    assert stream.raw is not None
    assert stream.raw.startswith(b"retry: ")


def test_the_retry_of_a_stream_is_two_seconds_give_or_take_a_quarter(bridge: Bridge) -> None:
    retry = bridge.stream().parser.retry
    assert retry is not None
    assert 1500 <= retry <= 2500


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_a_head_request_is_answered_with_the_header_of_the_stream_alone(bridge: Bridge, version: str) -> None:
    heads = []
    for method in ("HEAD", "GET"):
        with bridge.client() as client:
            client.send_head(method, "/events?since=start&types=status&limit=1", version=version)
            deadline = Deadline("the head")
            heads.append(parse_head(client.wire.take_through(b"\r\n\r\n", deadline)[:-4]))
            rest = client.rest()
            assert (rest == b"") == (method == "HEAD")
    # What is generated with the content need not be there (RFC 9110, section 9.3.2).
    for head in heads:
        head.fields = [
            (name, value) for name, value in head.fields if name not in ("Date", "Transfer-Encoding")
        ]
    assert heads[0] == heads[1]
    assert heads[0].get("Content-Type") == "text/event-stream; charset=utf-8"


@pytest.mark.parametrize("target", ["/events", "/v1/events?format=raw", "/events?limit=1", "/events?idle=1s"])
def test_a_stream_says_that_its_connection_closes_after_it(bridge: Bridge, target: str) -> None:
    assert bridge.ask_for_stream(target).head.get("Connection") == "close"


# What a stream holds


def test_a_stream_has_no_status_events_unless_asked_for(
    upstream: Upstream, bridge: Bridge, peer: Peer
) -> None:
    stream = bridge.stream()
    peer.close(1000)
    upstream.peer(1).send("after the reconnect")
    assert stream.next().data == "after the reconnect"


@pytest.mark.parametrize(
    ("types", "seen"),
    [
        ("text", ["one", "two"]),
        ("binary", ["AQ==", "Ag=="]),
        ("text,binary", ["one", "AQ==", "two", "Ag=="]),
    ],
)
def test_types_select_what_a_stream_holds(bridge: Bridge, peer: Peer, types: str, seen: list[str]) -> None:
    stream = bridge.stream(f"/events?types={types}&limit={len(seen)}")
    peer.send("one", b"\1", "two", b"\2")
    assert [event.data for event in stream.rest()] == seen


@pytest.mark.parametrize(
    "query", ["types=video", "types=", "types=text,,binary", "limit=-1", "limit=x", "x=1"]
)
def test_a_parameter_that_is_unknown_or_malformed_is_refused(bridge: Bridge, query: str) -> None:
    refusal = bridge.ask_for_stream(f"/events?{query}").refusal()
    assert (refusal.status, refusal.json()["type"]) == (400, "urn:wsbridge:problem:invalid-parameter")


def test_limit_ends_the_body_cleanly(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?limit=3")
    peer.send("one", "two", "three", "four")
    assert [event.data for event in stream.rest()] == ["one", "two", "three"]
    assert stream.body.chunked


def test_a_connection_serves_the_next_request_after_a_stream_that_ended_or_is_closed(
    bridge: Bridge, peer: Peer
) -> None:
    stream = bridge.stream("/events?limit=1")
    peer.send("one")
    stream.rest()
    if "close" in stream.head.get("Connection").lower():
        assert stream.client.rest() == b""
    else:
        try:
            assert stream.client.request("GET", "/status").status == 200
        except ConnectionError:
            # A server may close a kept connection at any time (RFC 9112 §9.3): gone, not corrupted.
            assert stream.client.rest() == b""


# Status records


def lifecycle(events: list[Event]) -> list[str]:
    return [json.loads(event.data)["type"] for event in events]


def test_a_stream_with_status_begins_with_a_snapshot_of_the_state(bridge: Bridge) -> None:
    event = bridge.stream("/events?types=status").next()
    snapshot = json.loads(event.data)
    assert (event.type, snapshot["type"], snapshot["state"]) == ("status", "snapshot", "open")


def test_the_lifecycle_of_a_start_is_recorded_in_order(bridge: Bridge) -> None:
    events = bridge.stream("/events?types=status&since=start&limit=3").rest()
    assert lifecycle(events) == ["snapshot", "connecting", "open", "ready"]


def test_the_lifecycle_of_a_reconnect_is_recorded_in_order(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=status&limit=5")
    upstream.peer().close(1000)
    seen = lifecycle(stream.rest())
    assert seen == ["snapshot", "closed", "reconnecting", "connecting", "open", "ready"]


def test_status_records_stand_in_order_with_the_messages(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=text,status")
    upstream.peer().send("before")
    upstream.peer().close(1000)
    upstream.peer(1).send("after")
    seen = []
    while not seen or seen[-1] != "after":
        event = stream.next()
        seen.append(json.loads(event.data)["type"] if event.type == "status" else event.data)
    assert seen == ["snapshot", "before", "closed", "reconnecting", "connecting", "open", "ready", "after"]


def test_every_status_record_names_its_connection_and_time(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=status&limit=5")
    upstream.peer().close(1000)
    for event in stream.rest():
        record = json.loads(event.data)
        assert record["connection"] == "default"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])


def test_open_tells_whether_it_is_a_reconnect(upstream: Upstream, bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=status&since=start")
    first = stream.until_status("open")
    upstream.peer().close(1000)
    second = stream.until_status("open")
    assert (first["reconnected"], second["reconnected"]) == (False, True)


# HTTP/1.0


def test_a_client_of_http_1_0_gets_an_unchunked_stream_that_ends_by_close(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?limit=3", version="HTTP/1.0", keep_raw=True)
    texts = ["one", "two\nlines", "three" * 10_000]
    peer.send(*texts)
    assert [event.data for event in stream.rest()] == texts
    assert not stream.body.chunked
    assert stream.raw is not None
    assert re.fullmatch(rb"(retry: \d+\n+|id: \S+\n|data: [^\n]*\n|\n)+", bytes(stream.raw))


def test_streams_of_both_http_versions_get_the_same_events(bridge: Bridge, peer: Peer) -> None:
    old, new = bridge.stream(version="HTTP/1.0"), bridge.stream()
    peer.send(*map(str, range(300)))
    assert old.take(300) == new.take(300)
