"""Thousands of requests that are none: each is answered by the contract, or its connection is closed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import struct
from collections.abc import Callable

import pytest

from assertions import assert_problem
from harness import Bridge, Deadline, Peer, Upstream, await_truth
from harness.garbage import SMUGGLED, Case, Garbage

CASES = int(os.environ.get("GARBAGE_CASES", "3000"))
AT_ONCE = 50
#: What a request can come to; the last ones are libmicrohttpd's own.
STATUSES = {200, 202, 204, 400, 403, 404, 405, 408, 409, 413, 414, 415, 417, 421, 422, 431, 501, 503, 505}


def answers(received: bytes, case: Case) -> list[int]:
    """Return the statuses of what was answered, in whole responses but for the last one's body."""
    statuses = []
    while received:
        head, end, rest = received.partition(b"\r\n\r\n")
        assert end, f"{case}: no answer: {received[:300]!r}"
        lines = head.split(b"\r\n")
        version, status = lines[0].split(b" ")[:2]
        assert version in (b"HTTP/1.1", b"HTTP/1.0"), f"{case}: {lines[0]!r}"
        statuses.append(int(status))
        fields = {
            name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])
        }
        if fields.get(b"transfer-encoding") == b"chunked" or b"content-length" not in fields:
            # A stream, or an interim answer.
            received = b"" if b"transfer-encoding" in fields or statuses[-1] >= 200 else rest
            continue
        length = int(fields[b"content-length"])
        # To HEAD there is a length and no body.
        received = rest if rest.startswith(b"HTTP/1.") or not rest else rest[length:]
    return statuses


def send_all(bridge: Bridge, cases: list[Case], dice: random.Random) -> list[bytes]:
    """Send each on a connection of its own, all at once, and return what came back on each."""
    with contextlib.ExitStack() as stack:
        sockets = []
        for case in cases:
            one = stack.enter_context(socket.create_connection(bridge.address, Deadline("connect").left()))
            sockets.append(one)
            # It may have closed already.
            with contextlib.suppress(OSError):
                half = dice.randrange(len(case.data) + 1)
                one.sendall(case.data[:half])
                one.sendall(case.data[half:])
        # When that is answered, all that was sent before has been read: an end that comes together with what
        # is before it shows to libmicrohttpd only when the time for a request is over.
        assert bridge.get("/healthz").status == 200, cases
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_WR)
        return [read_all(one, case) for case, one in zip(cases, sockets, strict=True)]


def read_all(one: socket.socket, case: Case) -> bytes:
    pieces = bytearray()
    deadline = Deadline(f"an answer or a close: {case}")
    with contextlib.suppress(ConnectionError):
        one.settimeout(deadline.left())
        while piece := one.recv(1 << 16):
            pieces += piece
    return bytes(pieces)


@pytest.fixture
def served(upstream: Upstream, serve_file: Callable[..., Bridge]) -> tuple[Bridge, Peer]:
    """A bridge that waits shortly for the rest of a request, and that falls over what it has freed."""
    settings = {"http": {"requestTimeout": "2s"}, "connections": {"default": {"url": upstream.url}}}
    bridge = serve_file(json.dumps(settings), environment={"MALLOC_PERTURB_": "165"})
    bridge.await_ready()
    return bridge, upstream.peer()


def test_thousands_of_requests_that_are_none_do_no_harm(served: tuple[Bridge, Peer]) -> None:
    bridge, peer = served
    seed = int(os.environ.get("GARBAGE_SEED", "1"))
    garbage, dice = Garbage(seed), random.Random(seed)
    # The first requests make what all others use.
    bridge.send("before")
    before = len(os.listdir(f"/proc/{bridge.pid}/fd"))
    seen: set[int] = set()
    for start in range(0, CASES, AT_ONCE):
        cases = garbage.take(min(AT_ONCE, CASES - start))
        for case, received in zip(cases, send_all(bridge, cases, dice), strict=True):
            statuses = [status for status in answers(received, case) if status >= 200]
            assert set(statuses) <= STATUSES, (seed, case, received[:500])
            seen.update(statuses)
        assert bridge.get("/healthz").status == 200, (seed, cases)
    # It was garbage, and some of it was good.
    assert {200, 202, 400, 404, 405, 413, 431} <= seen
    bridge.send("after")
    await_truth(lambda: "after" in peer.messages, "what is posted afterwards arrives")
    assert SMUGGLED.decode() not in peer.messages
    await_truth(lambda: len(os.listdir(f"/proc/{bridge.pid}/fd")) <= before, "no descriptor is left behind")
    assert not [record for record in bridge.records if record["level"] == "error"]


def test_what_could_be_read_in_two_ways_is_refused_and_the_connection_is_closed(
    served: tuple[Bridge, Peer],
) -> None:
    bridge, peer = served
    garbage, dice = Garbage(1), random.Random(1)
    cases = [case for case in garbage.take(CASES) if case.smuggles]
    assert len(cases) > CASES // 20
    for start in range(0, len(cases), AT_ONCE):
        batch = cases[start : start + AT_ONCE]
        for case, received in zip(batch, send_all(bridge, batch, dice), strict=True):
            # One answer at most: nothing of it was taken for a second request.
            assert len(answers(received, case)) <= 1, (case, received)
    bridge.send("after")
    await_truth(lambda: "after" in peer.messages, "what is posted afterwards arrives")
    assert SMUGGLED.decode() not in peer.messages


def test_requests_that_end_beside_malformed_ones_are_let_go_of(served: tuple[Bridge, Peer]) -> None:
    bridge, _ = served
    ending = Case("ends", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    wrong = Case("wrong", b"\x16\x03\x01 \0\r\n\r\n")
    dice = random.Random(1)
    for _ in range(40):
        for case, received in zip(
            [ending, wrong] * 20, send_all(bridge, [ending, wrong] * 20, dice), strict=True
        ):
            assert answers(received, case) in ([200], [400], []), (case, received)


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_requests_cut_off_anywhere_leave_nothing_behind(served: tuple[Bridge, Peer], is_reset: bool) -> None:
    bridge, peer = served
    head = b"POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    request = head + b"4\r\npart\r\n0\r\n\r\n"
    bridge.send("before")
    before = len(os.listdir(f"/proc/{bridge.pid}/fd"))
    for end in range(len(request)):
        one = socket.create_connection(bridge.address, Deadline("connect").left())
        one.sendall(request[:end])
        if is_reset:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
    await_truth(lambda: len(os.listdir(f"/proc/{bridge.pid}/fd")) <= before, "no descriptor is left behind")
    assert_problem(bridge.get("/nothing"), 404, "not-found")
    bridge.send("after")
    assert peer.received(2) == ["before", "after"]
