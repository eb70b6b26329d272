"""The formats of event streams: what each shows, and that none loses anything it can show."""

from __future__ import annotations

import base64
import json
import random

import pytest

from assertions import assert_names_parameter, assert_problem
from harness import Bridge, Deadline, Peer, Stream, Upstream, curl

pytestmark = pytest.mark.usefixtures("stream_mode")

TEXTS = [
    "hello",
    "",
    "one\r\ntwo\rthree\n",
    "\r\r",
    "nul \0 inside",
    "control \x01\x1b\x7f characters\t",
    'quote " and backslash \\ and / slash',
    "no line ends: \x0b \x0c \x85 \u2028 \u2029",
    "äöü € 🦉 \U0010ffff \ufeff",
    '{"json":"\\n"}',
    'forged","type":"gap","missed":1}\n{"type":"gap"}',
]


def body(stream: Stream) -> bytes:
    """Read a stream to its end, which must be a clean one."""
    content = stream.body.rest(Deadline("the end of the stream"))
    assert stream.body.ended
    return content


def records(content: bytes) -> list[dict]:
    """Read newline-delimited JSON; only LF ends a line."""
    *lines, last = content.split(b"\n")
    assert last == b""
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_json_records_lose_nothing_of_a_text(bridge: Bridge, peer: Peer, version: str) -> None:
    live = bridge.stream("/events?format=json", version=version)
    peer.send(*TEXTS)
    events = live.take(len(TEXTS))
    seen = [json.loads(event.data) for event in events]
    assert [record["data"] for record in seen] == TEXTS
    assert [record["id"] for record in seen] == [event.id for event in events]
    assert {event.type for event in events} == {"message"}
    target = f"/events?format=ndjson&since=start&limit={len(TEXTS)}"
    assert records(body(bridge.ask_for_stream(target, version=version))) == seen


def test_a_json_record_has_all_its_members(bridge: Bridge, peer: Peer) -> None:
    peer.send("one", b"\0\xff")
    text, binary = records(body(bridge.ask_for_stream("/events?format=ndjson&since=start&limit=2")))
    time = text.pop("time")
    assert len(time) == len("2026-11-30T08:00:00.000Z")
    assert time.endswith("Z")
    assert text == {
        "id": text["id"],
        "connection": "default",
        "direction": "in",
        "type": "text",
        "topic": "messages",
        "data": "one",
    }
    assert binary["type"] == "binary"
    assert base64.b64decode(binary["data"], validate=True) == b"\0\xff"


def test_random_payloads_come_back_in_every_lossless_format(bridge: Bridge, peer: Peer) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    generator = random.Random(seed)
    sent: list[str | bytes] = []
    for _ in range(100):
        length = generator.choice([0, 1, 10, 1000, 100_000])
        if generator.random() < 0.5:
            sent.append(generator.randbytes(length))
        else:
            sent.append("".join(map(chr, generator.choices(range(0xD800), k=length))))
    events = bridge.stream("/events?format=json")
    lines = bridge.ask_for_stream("/events?format=ndjson&limit=100")
    bridge.await_status(lambda status: status["subscribers"] == 2, "both are there")
    peer.send(*sent)

    def payload(record: dict) -> str | bytes:
        return base64.b64decode(record["data"]) if record["type"] == "binary" else record["data"]

    assert [payload(json.loads(event.data)) for event in events.take(100)] == sent
    assert list(map(payload, records(body(lines)))) == sent


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_raw_is_the_payloads_each_with_a_line_feed(bridge: Bridge, peer: Peer, version: str) -> None:
    peer.send("one\r\ntwo", "", b"\1\2\3", "end\n")
    stream = bridge.ask_for_stream("/events?format=raw&since=start&limit=4", version=version)
    assert body(stream) == b"one\r\ntwo\n\nAQID\nend\n\n"


@pytest.mark.parametrize(
    ("target", "accept", "type"),
    [
        ("/events", None, "text/event-stream; charset=utf-8"),
        ("/events?format=json", "application/x-ndjson", "text/event-stream; charset=utf-8"),
        ("/events?format=ndjson", None, "application/x-ndjson"),
        ("/events", "application/x-ndjson", "application/x-ndjson"),
        ("/events?format=raw", None, "text/plain; charset=utf-8"),
        ("/v1/events", None, "text/event-stream; charset=utf-8"),
        ("/v1/events", "application/x-ndjson", "application/x-ndjson"),
    ],
)
def test_each_format_has_its_media_type(bridge: Bridge, target: str, accept: str | None, type: str) -> None:
    stream = bridge.ask_for_stream(target, {"Accept": accept} if accept else {})
    assert stream.head.status == 200
    assert stream.head.get("Content-Type") == type
    assert stream.head.get("Cache-Control") == "no-store, no-transform"
    assert stream.head.get("X-Content-Type-Options") == "nosniff"
    head = bridge.request("HEAD", target, fields={"Accept": accept} if accept else {})
    assert head.header("Content-Type") == type


def test_status_records_are_objects_and_begin_with_a_snapshot(
    bridge: Bridge, upstream: Upstream, peer: Peer
) -> None:
    bridge.await_ready()
    target = "/events?format=ndjson&types=text,status&limit=2"
    stream = bridge.ask_for_stream(target)
    bridge.await_status(lambda status: status["subscribers"] == 1, "the subscriber is there")
    peer.send("one")
    peer.close(4000, "bye")
    snapshot, text, closed = records(body(stream))
    assert snapshot["id"] is None
    assert snapshot["type"] == closed["type"] == "status"
    assert snapshot["data"]["type"] == "snapshot"
    assert snapshot["data"]["state"] == "open"
    assert text["data"] == "one"
    assert closed["data"]["type"] == "closed"
    assert (closed["data"]["code"], closed["data"]["reason"]) == (4000, "bye")
    assert closed["data"]["connection"] == "default"


def test_raw_leaves_status_out(bridge: Bridge, peer: Peer) -> None:
    bridge.await_ready()
    peer.send("one")
    target = "/events?format=raw&types=text,status&since=start&limit=1"
    assert body(bridge.ask_for_stream(target)) == b"one\n"
    refusal = bridge.get("/events?format=raw&types=status")
    assert_problem(refusal, 400, "invalid-parameter")


@pytest.mark.parametrize("format", ["json", "ndjson"])
def test_a_gap_is_a_record_and_a_cursor(bridge: Bridge, peer: Peer, format: str) -> None:
    peer.send("one", "two")
    bridge.await_status(lambda status: status["counters"]["received"] == 2, "both are there")
    # An id of the future: what it missed is not known, and all that is kept follows.
    newest = bridge.status()["history"]["newest"]
    epoch = newest.rsplit("-", 1)[0]
    target = f"/events?format={format}&since={epoch}-99999&limit=2"
    content = body(bridge.ask_for_stream(target))
    if format == "json":
        content = b"".join(
            line.removeprefix(b"data: ") + b"\n" for line in content.split(b"\n") if line[:5] == b"data:"
        )
    gap, one, two = records(content)
    oldest = gap.pop("oldest")
    assert gap == {"id": gap["id"], "type": "gap", "missed": None}
    assert one["data"] == "one"
    assert two["id"] == newest
    assert oldest == bridge.status()["history"]["oldest"]
    replayed = records(body(bridge.ask_for_stream(f"/events?format=ndjson&since={gap['id']}&limit=2")))
    assert replayed == [one, two]


def test_the_json_stream_continues_after_last_event_id(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/events?format=json")
    peer.send("one", "two")
    first, second = stream.take(2)
    again = bridge.stream("/events?format=json", {"Last-Event-ID": first.id})
    assert again.next() == second


# Selecting and ending


def test_last_gives_the_newest_that_pass_the_filters(bridge: Bridge, peer: Peer) -> None:
    peer.send("one", b"1", "two", b"2", "three", b"3")
    bridge.await_status(lambda status: status["counters"]["received"] == 6, "all are there")
    target = "/events?format=raw&types=text&last=2&limit=2"
    assert body(bridge.ask_for_stream(target)) == b"two\nthree\n"
    live = bridge.stream("/events?last=1")
    assert live.next().data == base64.b64encode(b"3").decode()
    peer.send("next")
    assert live.next().data == "next"


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_idle_ends_a_stream_cleanly(bridge: Bridge, peer: Peer, version: str) -> None:
    peer.send("one", "two")
    bridge.await_status(lambda status: status["counters"]["received"] == 2, "both are there")
    stream = bridge.stream("/events?since=start&idle=200ms", version=version)
    assert [event.data for event in stream.rest()] == ["one", "two"]
    bridge.await_status(lambda status: status["subscribers"] == 0, "the subscriber is forgotten")


def test_curl_ends_with_success_when_idle(bridge: Bridge, peer: Peer) -> None:
    peer.send("one")
    bridge.await_status(lambda status: status["counters"]["received"] == 1, "it is there")
    done = curl("-N", f"{bridge.base}/events?format=raw&since=start&idle=100ms")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"one\n", b"")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("format=xml", "format"),
        ("format=json&format=json", "format"),
        ("direction=up", "direction"),
        ("last=-1", "last"),
        ("last=1&since=start", "last"),
        ("idle=0", "idle"),
        ("idle=soon", "idle"),
        ("slow=maybe", "slow"),
        ("wait=1s", "wait"),
        ("connection=default", "connection"),
    ],
)
def test_parameters_that_mean_nothing_are_refused_by_name(bridge: Bridge, query: str, name: str) -> None:
    refusal = bridge.get(f"/events?{query}")
    assert_names_parameter(refusal, name)


# Several connections


def test_the_merged_stream_shows_every_connection_with_its_name(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/v1/events")
    named = bridge.stream("/v1/events?connection=def*&connection=default")
    peer.send("one")
    for event in (stream.next(), named.next()):
        record = json.loads(event.data)
        assert (record["connection"], record["data"], record["id"]) == ("default", "one", event.id)


@pytest.mark.parametrize(
    "query", ["connection=nope", "connection=default&connection=nope", "connection=nope*&connection=none?"]
)
def test_a_name_of_no_connection_is_not_found(bridge: Bridge, query: str) -> None:
    refusal = bridge.get(f"/v1/events?{query}")
    assert_problem(refusal, 404, "not-found")
    assert "nope" in refusal.json()["detail"]


def test_a_glob_may_wait_for_connections_beside_others(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream("/v1/events?connection=later-*&connection=default")
    peer.send("one")
    assert json.loads(stream.next().data)["data"] == "one"


# Who reads


def test_the_subscribers_are_listed(bridge: Bridge, peer: Peer) -> None:
    assert bridge.get("/subscribers").json() == {"subscribers": []}
    bridge.stream("/events")
    bridge.ask_for_stream("/v1/events?format=ndjson&types=text,status&direction=both")
    bridge.await_status(lambda status: status["subscribers"] == 2, "both are there")
    for target in ("/subscribers", "/v1/connections/default/subscribers"):
        plain, lines = bridge.get(target).json()["subscribers"]
        assert plain.pop("since") <= lines.pop("since")
        assert plain == {
            "client": "127.0.0.1",
            "format": "sse",
            "filters": {"types": ["text", "binary"], "direction": "in", "topics": [], "matches": []},
            "lag": 0,
            "gaps": 0,
        }
        assert lines["format"] == "ndjson"
        assert lines["filters"] == {
            "types": ["text", "status"],
            "direction": "both",
            "topics": [],
            "matches": [],
        }


def test_a_stalled_subscriber_lags(bridge: Bridge, peer: Peer) -> None:
    bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    peer.start_sending("x" * 10_000 for _ in range(1000))
    reader.take(1000)
    lags = sorted(entry["lag"] for entry in bridge.get("/subscribers").json()["subscribers"])
    assert lags[0] == 0
    assert 0 < lags[1] <= 1000


# Large messages


@pytest.mark.parametrize("size", [1 << 20, 16 << 20])
@pytest.mark.parametrize("format", ["sse", "json", "ndjson", "raw"])
def test_large_messages_arrive_whole(bridge: Bridge, peer: Peer, format: str, size: int) -> None:
    text = "0123456789abcde\n" * (size // 16)
    live = bridge.stream(f"/events?format={format}") if format in ("sse", "json") else None
    peer.send(text)
    replayed = bridge.ask_for_stream(f"/events?format={format}&since=start&limit=1")
    if live is None:
        content = body(replayed)
        assert (content == text.encode() + b"\n") if format == "raw" else records(content)[0]["data"] == text
        return
    event = live.next()
    assert (event.data if format == "sse" else json.loads(event.data)["data"]) == text
    assert replayed.rest() == [event]
