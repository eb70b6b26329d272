"""The end of connections: who closes with what, how it is reported, how long it may take (RFC 6455 §7)."""

from __future__ import annotations

import json
import struct

import pytest

from harness import Bridge, RawPeer, RawUpstream
from harness.raw_upstream import frame

TEXT, CLOSE = 1, 8

#: What a close frame may carry: RFC 6455 §7.4 and the registry, with the ends of the ranges for others' use.
CODES = [*range(1000, 1004), *range(1007, 1015), 3000, 3001, 3999, 4000, 4001, 4999]
#: What it may not: reserved for use without a frame, unassigned, or not defined.
FORBIDDEN = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1999, 2000, 2999, 5000, 65535]


def close(code: int | None = None, reason: bytes = b"") -> bytes:
    return frame(CLOSE, reason if code is None else struct.pack("!H", code) + reason)


def last_close(bridge: Bridge) -> dict:
    status = bridge.await_status(lambda status: status["lastClose"], "the close is recorded")
    return {name: status["lastClose"][name] for name in ("code", "reason", "clean", "by")}


def closed(code: int, reason: str, *, clean: bool, by: str) -> dict:
    return {"code": code, "reason": reason, "clean": clean, "by": by}


@pytest.fixture
def serve(serve_file, raw_upstream: RawUpstream):
    """Serve a connection with these settings whose upstream is made of bytes."""

    def start(**settings: object) -> tuple[Bridge, RawPeer]:
        connection = {"url": raw_upstream.url, **settings}
        bridge = serve_file(json.dumps({"connections": {"default": connection}}))
        peer = raw_upstream.accept()
        peer.accept_handshake()
        bridge.await_ready()
        return bridge, peer

    return start


@pytest.fixture
def peer(bridge: Bridge, raw_upstream: RawUpstream) -> RawPeer:
    peer = raw_upstream.accept()
    peer.accept_handshake()
    return peer


@pytest.fixture
def bridge(start_bridge, raw_upstream: RawUpstream) -> Bridge:
    return start_bridge(raw_upstream.url)


def disconnect(bridge: Bridge, **body: object) -> None:
    response = bridge.post("/disconnect", json.dumps(body).encode(), "application/json")
    assert response.status == 200, response


# The upstream closes first


@pytest.mark.parametrize("code", CODES)
def test_1012_to_1014_3xxx_4xxx_are_exact(bridge: Bridge, peer: RawPeer, code: int) -> None:
    peer.send(close(code, b"because"))
    assert peer.close_frame() == (code, "")
    peer.close()
    assert last_close(bridge) == closed(code, "because", clean=True, by="server")


def test_no_close_frame_is_1006(bridge: Bridge, peer: RawPeer) -> None:
    peer.close()
    assert last_close(bridge) == closed(1006, "", clean=False, by="server")


def test_a_reset_is_1006(bridge: Bridge, peer: RawPeer) -> None:
    bridge.await_ready()
    peer.reset()
    assert last_close(bridge) == closed(1006, "", clean=False, by="server")


def test_an_empty_close_frame_is_1005_and_answered_by_one(bridge: Bridge, peer: RawPeer) -> None:
    peer.send(close())
    assert peer.close_frame() == (None, "")
    peer.close()
    assert last_close(bridge) == closed(1005, "", clean=True, by="server")


@pytest.mark.parametrize("reason", ["", "r" * 123, "ü" * 61, "🦉" * 30 + "abc", '\\"\n\0'])
def test_the_reason_is_exact(bridge: Bridge, peer: RawPeer, reason: str) -> None:
    peer.send(close(4000, reason.encode()))
    peer.close_frame()
    peer.close()
    assert last_close(bridge) == closed(4000, reason, clean=True, by="server")


def test_an_upstream_that_sends_a_close_frame_and_ends_at_once_has_closed(bridge, peer: RawPeer) -> None:
    peer.send(close(1012, b"restart"))
    peer.half_close()
    assert last_close(bridge) == closed(1012, "restart", clean=True, by="server")


# What may not be sent


@pytest.mark.parametrize("code", FORBIDDEN)
def test_a_code_that_may_never_be_sent_is_answered_with_1002(
    bridge: Bridge, peer: RawPeer, code: int
) -> None:
    peer.send(close(code, b"because"))
    assert peer.close_frame()[0] == 1002
    peer.close()
    assert last_close(bridge) == closed(1002, "invalid close code", clean=False, by="bridge")


@pytest.mark.parametrize("code", FORBIDDEN)
def test_never_sends_1004_to_1006_or_1015_nor_another_such_code(
    bridge: Bridge, peer: RawPeer, code: int
) -> None:
    bridge.await_ready()
    body = json.dumps({"code": code}).encode()
    assert bridge.post("/disconnect", body, "application/json").status == 400
    disconnect(bridge)
    assert peer.close_frame() == (1000, "")


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(3, b"reserved"), 1002),
        (frame(TEXT, b"\xff"), 1007),
        (close(1000, b"\xff"), 1007),
        (b"\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x01", 1009),
    ],
    ids=["opcode", "text", "reason", "length"],
)
def test_an_error_is_answered_and_what_follows_it_is_not_read(
    bridge: Bridge, peer: RawPeer, sent: bytes, code: int
) -> None:
    stream = bridge.stream("/events?types=text,status&since=start")
    peer.send(sent + frame(TEXT, b"late") + close(4000))
    answered, reason = peer.close_frame()
    assert answered == code
    peer.close()
    record = stream.until_status("closed")
    assert (record["code"], record["reason"]) == (code, reason)
    assert (record["clean"], record["by"]) == (False, "bridge")
    assert "late" not in bridge.get("/messages").body.decode()


# The bridge closes first


@pytest.mark.parametrize("code", CODES)
def test_the_code_given_is_sent_and_recorded(bridge: Bridge, peer: RawPeer, code: int) -> None:
    bridge.await_ready()
    disconnect(bridge, code=code, reason="enough")
    assert peer.close_frame() == (code, "enough")
    peer.send(close(code))
    peer.close()
    assert last_close(bridge) == closed(code, "", clean=True, by="user")


@pytest.mark.parametrize("code", CODES)
def test_closes_that_cross_are_clean_and_have_the_code_of_the_upstream(
    bridge: Bridge, peer: RawPeer, code: int
) -> None:
    bridge.await_ready()
    disconnect(bridge, code=1000, reason="ours")
    peer.send(close(code, b"theirs"))  # before it has seen the bridge's
    assert peer.close_frame() == (1000, "ours")
    peer.close()
    assert last_close(bridge) == closed(code, "theirs", clean=True, by="user")
    # One close frame was all (RFC 6455 §5.5.1).
    assert bridge.status()["state"] == "closed"


def test_an_upstream_that_answers_a_close_without_a_code_gives_1005(bridge: Bridge, peer: RawPeer) -> None:
    bridge.await_ready()
    disconnect(bridge)
    peer.close_frame()
    peer.send(close())
    peer.close()
    assert last_close(bridge) == closed(1005, "", clean=True, by="user")


def test_an_upstream_that_ends_instead_of_answering_gives_1006(bridge: Bridge, peer: RawPeer) -> None:
    bridge.await_ready()
    disconnect(bridge)
    peer.close_frame()
    peer.close()
    assert last_close(bridge) == closed(1006, "", clean=False, by="user")


def test_a_forbidden_code_as_the_answer_is_no_answer(bridge: Bridge, peer: RawPeer) -> None:
    bridge.await_ready()
    disconnect(bridge)
    peer.close_frame()
    peer.send(close(1006))
    peer.gone()
    assert last_close(bridge) == closed(1006, "", clean=False, by="user")


def test_nothing_follows_the_close_frame_of_the_bridge(bridge: Bridge, peer: RawPeer) -> None:
    bridge.await_ready()
    disconnect(bridge)
    peer.close_frame()
    peer.send(close(1000) + frame(9, b"ping"))
    peer.half_close()
    assert list(peer.frames()) == []


# Bounded


def test_close_handshake_bounded_when_the_upstream_never_answers(serve) -> None:
    bridge, peer = serve(closeTimeout="50ms")
    disconnect(bridge)
    peer.close_frame()
    peer.gone()
    assert last_close(bridge) == closed(1006, "", clean=False, by="user")


@pytest.mark.parametrize("first", ["server", "user"])
def test_close_handshake_bounded_when_the_upstream_never_ends_the_connection(serve, first: str) -> None:
    bridge, peer = serve(closeTimeout="50ms")
    if first == "user":
        disconnect(bridge, code=4001)
        peer.close_frame()
        peer.send(close(4001, b"bye"))
    else:
        peer.send(close(4001, b"bye"))
        peer.close_frame()
    peer.gone()
    assert last_close(bridge) == closed(4001, "bye", clean=True, by=first)


def test_close_handshake_bounded_after_an_error(serve) -> None:
    bridge, peer = serve(closeTimeout="50ms")
    peer.send(frame(3))
    assert peer.close_frame()[0] == 1002
    peer.gone()
    assert last_close(bridge)["by"] == "bridge"


def test_an_upstream_that_only_talks_on_gets_no_more_time(serve) -> None:
    bridge, peer = serve(closeTimeout="50ms")
    disconnect(bridge)
    peer.close_frame()
    peer.send(frame(TEXT, b"not yet") + frame(9, b"are you there"))
    peer.gone()
    assert last_close(bridge) == closed(1006, "", clean=False, by="user")
    assert "not yet" in bridge.get("/messages").body.decode()


# Over TLS


@pytest.fixture
def secure(start_raw_upstream, start_bridge, authority) -> tuple[Bridge, RawPeer]:
    upstream = start_raw_upstream(tls=authority.server_context("IP:127.0.0.1"))
    bridge = start_bridge(upstream.url, environment={"SSL_CERT_FILE": str(authority.certificate)})
    peer = upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    return bridge, peer


def test_tls_may_end_without_close_notify_after_close_frames(secure) -> None:
    bridge, peer = secure
    peer.send(close(4001, b"bye"))
    assert peer.close_frame() == (4001, "")
    peer.close()
    assert last_close(bridge) == closed(4001, "bye", clean=True, by="server")


def test_tls_may_end_with_close_notify_after_close_frames(secure) -> None:
    bridge, peer = secure
    disconnect(bridge, code=1001)
    assert peer.close_frame() == (1001, "")
    peer.send(close(1001))
    peer.close_notify()  # which the bridge answers
    peer.close()
    assert last_close(bridge) == closed(1001, "", clean=True, by="user")


@pytest.mark.parametrize("end", [RawPeer.close_notify, RawPeer.close], ids=["close_notify", "cut off"])
def test_tls_that_ends_without_a_close_frame_is_1006(secure, end) -> None:
    bridge, peer = secure
    end(peer)
    assert last_close(bridge) == closed(1006, "", clean=False, by="server")
