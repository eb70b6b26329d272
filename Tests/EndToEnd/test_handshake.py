"""Answers to the handshake that are none: each fails in its phase, says why, and is followed by a retry."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable

import pytest

from harness import Bridge, RawPeer, RawUpstream
from harness.raw_upstream import accept_value

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\n"
UPGRADE = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
Serve = Callable[..., Bridge]


@pytest.fixture
def serve(serve_file, raw_upstream: RawUpstream) -> Serve:
    """Serve a connection with these settings whose upstream is made of bytes."""

    def start(*flags: str, query: str = "", **settings: object) -> Bridge:
        url = raw_upstream.url + query
        reconnect = {"initialDelay": "10ms", "maxDelay": "10ms"}
        connection = {"url": url, "reconnect": reconnect, **settings}
        return serve_file(json.dumps({"connections": {"default": connection}}), *flags)

    return start


def failure(bridge: Bridge) -> dict:
    failed = bridge.stream("/events?types=status&since=start").until_status("failed")
    return {name: failed[name] for name in ("phase", "status", "error")}


def answer(peer: RawPeer, *lines: bytes, accept: bytes | None = None) -> None:
    """Answer with status 101 and these lines."""
    accept = accept_value(peer.request()) if accept is None else accept
    peer.send(SWITCH + UPGRADE + b"Sec-WebSocket-Accept: %b\r\n" % accept + b"".join(lines) + b"\r\n")


def expect_retry(bridge: Bridge, raw_upstream: RawUpstream) -> None:
    """The next attempt comes, and may succeed."""
    raw_upstream.accept().accept_handshake()
    assert bridge.await_ready()["counters"]["failures"] == 1


@pytest.mark.parametrize(
    ("lines", "settings", "error"),
    [
        ([b"Sec-WebSocket-Protocol: c\r\n"], {}, "the upstream chose a subprotocol that was not offered"),
        (
            [b"Sec-WebSocket-Protocol: c\r\n"],
            {"subprotocols": ["a", "b"]},
            "the upstream chose a subprotocol that was not offered",
        ),
        (
            [b"Sec-WebSocket-Protocol: a\r\n", b"Sec-WebSocket-Protocol: b\r\n"],
            {"subprotocols": ["a", "b"]},
            "the upstream chose a subprotocol that was not offered",
        ),
        (
            [],
            {"subprotocols": ["a"], "requireSubprotocol": True},
            "the upstream chose none of the subprotocols",
        ),
        (
            [b"Sec-WebSocket-Extensions: x-unheard-of\r\n"],
            {},
            "the upstream chose an extension that was not offered",
        ),
        (
            [b"Sec-WebSocket-Extensions: permessage-deflate\r\n"],
            {"compression": False},
            "the upstream chose an extension that was not offered",
        ),
        (
            [b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=7\r\n"],
            {},
            "the upstream answered the offer of compression with invalid parameters",
        ),
    ],
    ids=[
        "subprotocol for none",
        "another subprotocol",
        "two subprotocols",
        "no subprotocol",
        "an extension",
        "compression",
        "a window",
    ],
)
def test_what_was_not_offered_is_refused(
    serve: Serve, raw_upstream: RawUpstream, lines: list[bytes], settings: dict, error: str
) -> None:
    bridge = serve(**settings)
    answer(raw_upstream.accept(), *lines)
    assert failure(bridge) == {"phase": "handshake", "status": None, "error": error}
    peer = raw_upstream.accept()
    agreed = [b"Sec-WebSocket-Protocol: a\r\n"] if "subprotocols" in settings else []
    answer(peer, *agreed)
    assert bridge.await_ready()["subprotocol"] == ("a" if agreed else None)


@pytest.mark.parametrize("accept", [b"", b"AAAAAAAAAAAAAAAAAAAAAAAAAAA=", b"a, b"])
def test_a_wrong_accept_is_refused(serve: Serve, raw_upstream: RawUpstream, accept: bytes) -> None:
    bridge = serve()
    answer(raw_upstream.accept(), accept=accept)
    error = "the answer has a wrong Sec-WebSocket-Accept"
    assert failure(bridge) == {"phase": "handshake", "status": None, "error": error}
    expect_retry(bridge, raw_upstream)


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (SWITCH + UPGRADE + b"\r\n", "the answer has a wrong Sec-WebSocket-Accept"),
        (SWITCH + b"\r\n", "the answer has status 101 but does not upgrade to WebSocket"),
        (b"220 mail.example ESMTP\r\n", "the answer to the handshake is not HTTP/1.1"),
        (b"\0\0\0\0\r\n\r\n", "the answer to the handshake is not HTTP/1.1"),
        (b"HTTP/1.0 101 Switching Protocols\r\n\r\n", "the answer to the handshake is not HTTP/1.1"),
        (b"HTTP/2 200\r\n\r\n", "the answer to the handshake is not HTTP/1.1"),
        (SWITCH + b"X: " + b"x" * (1 << 20), "the head of the handshake is longer than 32768 bytes"),
        (b"HTTP/1.1 100 Go on\r\n\r\n" * 5000, "the head of the handshake is longer than 32768 bytes"),
        (b"", "the upstream closed the connection without an answer to the handshake"),
        (SWITCH, "the upstream closed the connection without an answer to the handshake"),
    ],
    ids=[
        "no accept",
        "no upgrade",
        "mail",
        "zeros",
        "HTTP/1.0",
        "HTTP/2",
        "endless",
        "interim for ever",
        "nothing",
        "half",
    ],
)
def test_what_is_no_answer_is_refused(
    serve: Serve, raw_upstream: RawUpstream, sent: bytes, error: str
) -> None:
    bridge = serve()
    peer = raw_upstream.accept()
    peer.request()
    with contextlib.suppress(ConnectionError):  # it may refuse before it took all
        peer.send(sent)
    peer.close()
    assert failure(bridge) == {"phase": "handshake", "status": None, "error": error}
    expect_retry(bridge, raw_upstream)


@pytest.mark.parametrize("sent", [b"", SWITCH + UPGRADE + b"X: y"], ids=["silence", "half a head"])
def test_silence_is_refused_in_time(serve: Serve, raw_upstream: RawUpstream, sent: bytes) -> None:
    bridge = serve(connectTimeout="100ms")
    peer = raw_upstream.accept()
    peer.request()
    peer.send(sent)
    error = "not connected within 100 ms"
    assert failure(bridge) == {"phase": "handshake", "status": None, "error": error}
    peer.gone()


def test_silence_of_tls_is_a_failure_of_tls(serve_file, raw_upstream: RawUpstream) -> None:
    url = raw_upstream.url.replace("ws:", "wss:")
    bridge = serve_file(f"connections: {{ default: {{ url: '{url}', connectTimeout: 100ms }} }}")
    raw_upstream.accept()
    assert failure(bridge)["phase"] == "tls"


# What the upstream says to a refusal


def said(bridge: Bridge) -> str:
    """Wait for the log's record of what the upstream answered, and return it."""

    def find(text: str) -> str | None:
        lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
        bodies = [record["body"] for record in map(json.loads, lines) if "body" in record]
        return bodies[0] if bodies else None

    return bridge.err.until(find, "the record of the answer")


def refuse(raw_upstream: RawUpstream, *pieces: bytes, fields: bytes = b"") -> RawPeer:
    peer = raw_upstream.accept()
    peer.request()
    for piece in (b"HTTP/1.1 403 Forbidden\r\n" + fields + b"\r\n", *pieces):
        peer.send(piece)
    return peer


def test_the_answer_to_a_refused_handshake_is_logged_at_debug(
    serve: Serve, raw_upstream: RawUpstream
) -> None:
    bridge = serve("--log-level", "debug")
    body = b'{"error":"no\r\n\x1b[31m \xff"}'
    refuse(raw_upstream, body, fields=b"Content-Length: %d\r\n" % len(body))
    assert failure(bridge)["status"] == 403
    assert said(bridge) == '{"error":"no\r\n\x1b[31m \ufffd"}'
    # One record a line, whatever it holds.
    assert "\x1b" not in bridge.err.text
    assert "no" not in json.dumps(failure(bridge)["error"]).split()
    expect_retry(bridge, raw_upstream)


def test_512_bytes_of_it_are_logged_whenever_they_come(serve: Serve, raw_upstream: RawUpstream) -> None:
    bridge = serve("--log-level", "debug")
    refuse(raw_upstream, b"a" * 500, b"b" * 500, b"c" * 5000)
    assert said(bridge) == "a" * 500 + "b" * 12


def test_an_answer_that_goes_on_for_ever_delays_nothing(serve: Serve, raw_upstream: RawUpstream) -> None:
    bridge = serve("--log-level", "debug")
    peer = refuse(raw_upstream, b"so much", fields=b"Content-Length: 100\r\n")
    assert failure(bridge)["status"] == 403
    assert said(bridge) == "so much"
    peer.gone()


def test_it_is_not_logged_above_debug(serve: Serve, raw_upstream: RawUpstream) -> None:
    bridge = serve()
    refuse(raw_upstream, b"chatter").close()
    assert failure(bridge)["status"] == 403
    assert "chatter" not in bridge.err.text


def test_our_secrets_are_not_logged_when_the_upstream_repeats_them(
    serve: Serve, raw_upstream: RawUpstream
) -> None:
    headers = {"X-Api-Key": "k3y-of-mine", "Cookie": "id=s3ssion; b=c00kie"}
    bridge = serve("--log-level", "debug", query="feed?token=qu3ry%2Fvalue&x=1", headers=headers)
    peer = raw_upstream.accept()
    request = peer.request()
    assert b"k3y-of-mine" in request
    body = b"you sent: " + request + b" that is c00kie, s3ssion and qu3ry/value"
    peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    text = said(bridge)
    assert text.startswith("you sent: GET /feed?***")
    for secret in ("k3y-of-mine", "s3ssion", "c00kie", "qu3ry"):
        assert secret not in bridge.err.text


def test_the_password_of_the_url_is_not_logged_either(serve_file, raw_upstream: RawUpstream) -> None:
    url = raw_upstream.url.replace("//", "//us3r:p4ssword@")
    bridge = serve_file(f"connections: {{ default: {{ url: '{url}' }} }}", "--log-level", "debug")
    basic = base64.b64encode(b"us3r:p4ssword")
    refuse(raw_upstream, b"no to us3r with p4ssword, " + basic).close()
    assert said(bridge) == "no to *** with ***, ***"
