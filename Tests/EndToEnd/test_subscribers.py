"""Several subscribers: none slows another, and one that left is noticed."""

from __future__ import annotations

import json

import pytest

from harness import PATIENCE, Bridge, Peer, Stream

pytestmark = pytest.mark.usefixtures("stream_mode")


def test_every_subscriber_gets_everything_in_order(bridge: Bridge, peer: Peer) -> None:
    streams = [bridge.stream() for _ in range(30)]
    texts = [f"message {number}" for number in range(300)]
    peer.send(*texts)
    for stream in streams:
        assert [event.data for event in stream.take(300)] == texts


def test_the_status_counts_the_subscribers(bridge: Bridge) -> None:
    for _ in range(3):
        bridge.stream()
    assert bridge.status()["subscribers"] == 3


def test_a_subscriber_that_stops_reading_stalls_nobody(bridge: Bridge, peer: Peer) -> None:
    stalled = bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    texts = [f"{number} " + "x" * 10_000 for number in range(2000)]
    sending = peer.start_sending(texts)
    assert [event.data for event in reader.take(2000)] == texts
    sending.result(PATIENCE)
    bridge.send("and the other direction works")
    assert peer.received(1) == ["and the other direction works"]
    assert not stalled.body.ended


def test_a_subscriber_that_read_too_slowly_is_told_exactly_what_it_lost(bridge: Bridge, peer: Peer) -> None:
    count = 22_000
    stalled = bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    # In step with the reader, which would else be too slow itself.
    for start in range(0, count, 1000):
        peer.send(*(f"{number} " + "x" * 1000 for number in range(start, start + 1000)))
        assert reader.take(1000)[-1].data.startswith(f"{start + 999} ")

    before, gap = stalled.until("gap")
    missed = json.loads(gap.data)["missed"]
    after = stalled.take(count - len(before) - missed)
    numbers = [int(event.data.split()[0]) for event in before + after]
    lost = range(len(before), len(before) + missed)
    assert numbers == [number for number in range(count) if number not in lost]


def test_a_slow_subscriber_gets_a_message_larger_than_all_buffers_whole(bridge: Bridge, peer: Peer) -> None:
    stalled = bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    text = "0123456789abcdef" * (1 << 19)
    peer.send(text, "next")
    assert reader.take(2)[1].data == "next"
    assert [event.data for event in stalled.take(2)] == [text, "next"]


def close(stream: Stream) -> None:
    stream.close()


def reset(stream: Stream) -> None:
    stream.client.wire.reset()


def half_close(stream: Stream) -> None:
    stream.client.wire.half_close()


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
@pytest.mark.parametrize("leave", [close, reset, half_close])
def test_a_subscriber_that_left_is_noticed_without_a_further_message(
    bridge: Bridge, leave, version: str
) -> None:
    stream = bridge.stream(version=version)
    assert bridge.status()["subscribers"] == 1
    leave(stream)
    bridge.await_status(lambda status: status["subscribers"] == 0, "the subscriber is forgotten")


def test_a_hundred_subscribers_that_left_at_once_are_noticed(bridge: Bridge) -> None:
    streams = [bridge.stream() for _ in range(100)]
    assert bridge.status()["subscribers"] == 100
    for number, stream in enumerate(streams):
        (close, reset, half_close)[number % 3](stream)
    bridge.await_status(lambda status: status["subscribers"] == 0, "the subscribers are forgotten")


def test_a_stalled_subscriber_that_left_is_noticed(bridge: Bridge, peer: Peer) -> None:
    stalled = bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    peer.start_sending("x" * 10_000 for _ in range(1000))
    reader.take(1000)
    reset(stalled)
    reader.close()
    bridge.await_status(lambda status: status["subscribers"] == 0, "the subscribers are forgotten")


def test_those_who_stay_get_what_comes_while_others_leave(bridge: Bridge, peer: Peer) -> None:
    stays = bridge.stream()
    leaving = [bridge.stream() for _ in range(20)]
    for number, stream in enumerate(leaving):
        peer.send(f"{number}")
        (close, reset, half_close)[number % 3](stream)
    assert [event.data for event in stays.take(20)] == [str(number) for number in range(20)]


def test_what_a_client_sends_on_an_open_stream_is_discarded(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream(keep_raw=True)
    stream.client.wire.send(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"garbage" * 10_000)
    peer.send("one", "two")
    assert [event.data for event in stream.take(2)] == ["one", "two"]
    assert stream.raw is not None
    assert b"HTTP/1.1" not in stream.raw


def test_what_a_client_sent_right_behind_its_request_is_discarded(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.wire.send(
            b"GET /events?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nnot"
        )
        bridge.await_status(lambda status: status["subscribers"] == 1, "the subscriber is there")
        bridge.send("sent")
        assert peer.received(1) == ["sent"]
        peer.send("one")
        bridge.await_status(lambda status: status["subscribers"] == 0, "the stream has ended")
        bridge.send("next")
        assert peer.received(2) == ["sent", "next"]
