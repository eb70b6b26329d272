"""From POST to the upstream: `POST /messages`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assertions import assert_problem
from harness import Bridge, Peer, await_truth, curl
from harness.http1 import chunks

BODY_LIMIT = 1 << 20


def test_a_text_posted_by_curl_arrives_as_a_text_message(bridge: Bridge, peer: Peer) -> None:
    done = curl("-f", "-d", "hello", f"{bridge.base}/messages")
    assert done.returncode == 0, done
    assert peer.received(1) == ["hello"]


def test_the_default_content_type_of_curl_is_taken_verbatim(bridge: Bridge, peer: Peer) -> None:
    curl("-f", "-d", "a=b&c=%20+d", f"{bridge.base}/messages")
    assert peer.received(1) == ["a=b&c=%20+d"]


def test_a_file_posted_by_curl_as_octets_arrives_as_a_binary_message(
    bridge: Bridge, peer: Peer, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)))
    octets = ["-H", "Content-Type: application/octet-stream", "--data-binary", f"@{file}"]
    curl("-f", *octets, f"{bridge.base}/messages")
    assert peer.received(1) == [bytes(range(256))]


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "text/plain; charset=utf-8",
        "application/json",
        "application/x-www-form-urlencoded",
        "application/octet-stream-not",
        "imaginary/png",
    ],
)
def test_a_body_of_this_type_is_a_text_message(bridge: Bridge, peer: Peer, content_type: str | None) -> None:
    bridge.post("/messages", b"body", content_type)
    assert peer.received(1) == ["body"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/octet-stream",
        "Application/Octet-Stream",
        "application/octet-stream; x=y",
        "image/png",
        "audio/ogg",
        "video/mp4",
    ],
)
def test_a_body_of_this_type_is_a_binary_message(bridge: Bridge, peer: Peer, content_type: str) -> None:
    bridge.post("/messages", b"body", content_type)
    assert peer.received(1) == [b"body"]


def test_type_binary_makes_any_body_a_binary_message(bridge: Bridge, peer: Peer) -> None:
    bridge.post("/messages?type=binary", b"body", "text/plain")
    assert peer.received(1) == [b"body"]


@pytest.mark.parametrize("text", ["a\0b", "line\nline\r\n", "\ufeffmark", "äöü 🦉 \U0010ffff", " "])
def test_a_text_is_sent_byte_for_byte(bridge: Bridge, peer: Peer, text: str) -> None:
    bridge.post("/messages", text.encode())
    assert peer.received(1) == [text]


def test_an_empty_body_is_an_empty_text_message(bridge: Bridge, peer: Peer) -> None:
    bridge.post("/messages", b"")
    assert peer.received(1) == [""]


def test_an_empty_body_of_octets_is_an_empty_binary_message(bridge: Bridge, peer: Peer) -> None:
    bridge.post("/messages", b"", "application/octet-stream")
    assert peer.received(1) == [b""]


def test_a_post_with_neither_length_nor_body_is_an_empty_message(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "0"})
        assert client.response("POST").status == 202
    assert peer.received(1) == [""]


def test_a_chunked_body_is_one_message(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Transfer-Encoding": "chunked"})
        client.wire.send(chunks(b"one ", b"mess", b"age"))
        assert client.response("POST").status == 202
    assert peer.received(1) == ["one message"]


def test_the_canonical_path_sends_as_well(bridge: Bridge, peer: Peer) -> None:
    assert bridge.post("/v1/connections/default/messages", b"hello").status == 202
    assert peer.received(1) == ["hello"]


# Answers


def test_an_accepted_message_is_answered_with_its_id_and_state(bridge: Bridge) -> None:
    response = bridge.post("/messages", b"hello")
    assert response.status == 202
    assert response.header("Content-Type").split(";")[0] == "application/json"
    answer = response.json()
    assert answer["state"] == "queued"
    assert isinstance(answer["id"], str)
    assert answer["id"]


def test_every_accepted_message_has_an_id_of_its_own(bridge: Bridge) -> None:
    ids = [bridge.send("same").json()["id"] for _ in range(20)]
    assert len(set(ids)) == 20


def test_the_messages_of_1000_posts_keep_their_order(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        for number in range(1000):
            assert client.request("POST", "/messages", str(number).encode()).status == 202
    assert peer.received(1000) == [str(number) for number in range(1000)]


def test_posts_over_many_connections_keep_their_order(bridge: Bridge, peer: Peer) -> None:
    for number in range(200):
        bridge.send(str(number))
    assert peer.received(200) == [str(number) for number in range(200)]


# Refusals


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b"\x80",
        b"ends early \xe2\x82",
        b"overlong \xc0\x80",
        b"overlong \xe0\x80\xaf",
        b"surrogate \xed\xa0\x80",
        b"beyond \xf4\x90\x80\x80",
    ],
)
def test_a_text_that_is_not_utf_8_is_refused_and_not_sent(bridge: Bridge, peer: Peer, body: bytes) -> None:
    assert_problem(bridge.post("/messages", body), 400, "invalid-utf8")
    bridge.send("next")
    assert peer.received(1) == ["next"]


def test_octets_need_not_be_utf_8(bridge: Bridge, peer: Peer) -> None:
    bridge.post("/messages", b"\xff", "application/octet-stream")
    assert peer.received(1) == [b"\xff"]


def test_a_body_of_the_limit_is_sent(bridge: Bridge, peer: Peer) -> None:
    body = random.Random(3).randbytes(BODY_LIMIT)
    assert bridge.post("/messages", body, "application/octet-stream").status == 202
    assert peer.received(1) == [body]


def test_an_announced_length_over_the_limit_is_refused_before_the_body_is_sent(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": str(BODY_LIMIT + 1)})
        assert_problem(client.response("POST"), 413, "message-too-large")


@pytest.mark.parametrize("length", ["4294967297", "18446744073709551615"])
def test_an_absurd_length_is_refused_before_the_body_is_sent(bridge: Bridge, length: str) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": length})
        assert client.response("POST").status in (400, 413)


def test_curl_learns_that_a_file_is_too_large(bridge: Bridge, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a" * (2 * BODY_LIMIT))
    done = curl(
        "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", f"@{file}", f"{bridge.base}/messages"
    )
    assert done.stdout == b"413"


def test_a_chunked_body_over_the_limit_is_refused_and_not_sent(bridge: Bridge, peer: Peer) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Transfer-Encoding": "chunked"})
        client.wire.send(chunks(*[b"a" * 65536] * 17))
        assert_problem(client.response("POST"), 413, "message-too-large")
    bridge.send("next")
    assert peer.received(1) == ["next"]


def test_a_chunked_body_beyond_four_times_the_limit_is_answered_and_cut_off(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Transfer-Encoding": "chunked"})
        # 5 MiB: the answer does not wait for the end of it.
        chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
        client.wire.send(chunk * 80)
        assert_problem(client.response("POST"), 413, "message-too-large")
        assert client.rest() == b""
        # More than what is thrown away, and than the buffers of two kernels hold.
        with pytest.raises(ConnectionError):
            client.wire.send(chunk * 2048)


def test_a_form_with_a_file_is_refused_with_a_hint_by_status(bridge: Bridge, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("content")
    done = curl("-w", "%{http_code}", "-F", f"file=@{file}", f"{bridge.base}/messages")
    assert done.stdout.endswith(b"415")
    assert b"urn:wsbridge:problem:unsupported-media-type" in done.stdout


@pytest.mark.parametrize("query", ["type=video", "type=", "unknown=1", "type=binary&type=text&x"])
def test_a_parameter_that_is_unknown_or_malformed_is_refused(bridge: Bridge, peer: Peer, query: str) -> None:
    assert_problem(bridge.post(f"/messages?{query}", b"no"), 400, "invalid-parameter")
    bridge.send("next")
    assert peer.received(1) == ["next"]


# The outbox


def test_a_message_posted_before_the_first_connection_is_sent_once_it_is_open(
    start_upstream, start_bridge
) -> None:
    upstream = start_upstream(away=True)
    bridge = start_bridge(upstream.url)
    bridge.send("early")
    upstream.come_back()
    assert upstream.peer().received(1) == ["early"]


def test_the_status_counts_what_waits_in_the_outbox(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(away=True).url)
    for text in ("one", "three", "five!"):
        bridge.send(text)
    outbox = bridge.status()["outbox"]
    assert (outbox["messages"], outbox["maxMessages"]) == (3, 1000)
    assert outbox["bytes"] >= len("one" + "three" + "five!")
    assert outbox["oldestAgeMs"] >= 0


def test_a_full_outbox_refuses_the_next_message_and_keeps_the_others(start_upstream, start_bridge) -> None:
    upstream = start_upstream(away=True)
    bridge = start_bridge(upstream.url)
    with bridge.client() as client:
        for number in range(1000):
            assert client.request("POST", "/messages", str(number).encode()).status == 202
        assert_problem(client.request("POST", "/messages", b"too many"), 503, "outbox-full")
    upstream.come_back()
    assert upstream.peer().received(1000) == [str(number) for number in range(1000)]


def test_the_outbox_is_empty_once_its_messages_were_written(bridge: Bridge, peer: Peer) -> None:
    bridge.send("hello")
    peer.received(1)
    await_truth(lambda: bridge.status()["outbox"]["messages"] == 0, "the outbox is empty")
    assert bridge.status()["outbox"]["oldestAgeMs"] is None
