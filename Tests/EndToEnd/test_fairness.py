"""One upstream cannot take the bridge from everyone else, however it spends its bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import pytest

from harness import Bridge, RawPeer, RawUpstream
from harness.patience import Deadline
from harness.raw_upstream import frame
from harness.wire import Wire

pytestmark = pytest.mark.usefixtures("stream_mode")


class Reader:
    """An open stream, read as fast as Python can."""

    def __init__(self, bridge: Bridge):
        self._socket = Wire(bridge.address).socket
        self._socket.settimeout(Deadline("the stream").seconds)
        self._socket.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._socket.recv(4096)
        #: What has come of a chunk that is not there whole.
        self._rest = b""
        self._text = bytearray()
        self._take(received.split(b"\r\n\r\n", 1)[1])
        while b"retry:" not in self._text:
            self._read()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _read(self) -> None:
        piece = self._socket.recv(1 << 20)
        assert piece, "the stream ended"
        self._take(piece)

    def _take(self, piece: bytes) -> None:
        """Take the next bytes out of their chunks, which may begin and end anywhere (RFC 9112 §7.1)."""
        received, begin = self._rest + piece, 0
        while (line := received.find(b"\r\n", begin)) >= 0:
            end = line + 2 + int(received[begin:line], 16)
            if len(received) < end + 2:
                break
            self._text += received[line + 2 : end]
            begin = end + 2
        self._rest = received[begin:]

    def drain(self, last: bytes) -> list[int]:
        """Read until the message `last` came, and return the numbers that all messages are."""
        while b"data: " + last + b"\n" not in self._text[-4096:]:
            self._read()
        assert b"event: gap" not in self._text
        return [int(number) for number in re.findall(rb"data: (\d+)\n", self._text)]


def open_peer(raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]) -> tuple[Bridge, RawPeer]:
    bridge = start_bridge(raw_upstream.url)
    peer = raw_upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    return bridge, peer


def test_a_burst_of_tiny_messages_reaches_a_reader_that_keeps_up_whole(
    raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]
) -> None:
    count = 200_000
    bridge, peer = open_peer(raw_upstream, start_bridge)
    with Reader(bridge) as reader:
        peer.send(b"".join(frame(1, b"%d" % number) for number in range(count)))
        assert reader.drain(b"%d" % (count - 1)) == list(range(count))


def test_a_peer_that_ends_while_its_messages_wait_is_heard_to_the_end(
    raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]
) -> None:
    count = 20_000
    bridge, peer = open_peer(raw_upstream, start_bridge)
    with Reader(bridge) as reader:
        messages = b"".join(frame(1, b"%d" % number) for number in range(count))
        peer.send(messages + frame(8, struct.pack("!H", 4321)))
        peer.close()
        assert reader.drain(b"%d" % (count - 1)) == list(range(count))
    status = bridge.await_status(lambda status: status["lastClose"], "the close is seen")
    assert status["lastClose"]["code"] == 4321


def test_what_a_peer_took_before_it_left_is_not_sent_again(
    raw_upstream: RawUpstream, start_bridge: Callable[..., Bridge]
) -> None:
    count = 900
    bridge, peer = open_peer(raw_upstream, start_bridge)
    # More than the sockets hold, so that the kernel takes only a part of what is written.
    messages = [b"%d " % number + b"x" * 15_000 for number in range(count)]
    with bridge.client() as client:
        for message in messages:
            assert client.request("POST", "/messages", message, {}).status == 202
    # It says that it is done, reads on, and is heard no more.
    peer.half_close()
    taken = [number(payload) for opcode, payload in peer.frames() if opcode == 1]
    second = raw_upstream.accept()
    second.accept_handshake()
    again = [number(second.frame()[1]) for _ in range(count - len(taken))]
    assert taken + again == list(range(count))


def number(payload: bytes) -> int:
    return int(payload.split()[0])
