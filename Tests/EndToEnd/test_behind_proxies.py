"""The bridge behind nginx, Caddy and HAProxy, set up as `config/proxies` shows."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assertions import assert_problem
from harness import Bridge, Curl, Upstream, await_truth
from harness.browser import Browser, Visit, await_live, expect, payloads
from harness.environment import ROOT
from harness.front_servers import FRONTS, SITE, Front

TOKEN = "t0ken-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ORIGIN = {"Origin": f"https://{SITE}"}


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture(params=FRONTS)
def start_front(request: pytest.FixtureRequest, stack, authority) -> Callable[..., Front]:
    """Put one of the web servers in front of a port."""

    def start(place: int | Path, **options: str) -> Front:
        front = FRONTS[request.param](place, authority, **options)
        stack.callback(front.stop)
        return front

    return start


@pytest.fixture
def guarded(upstream: Upstream, serve_file) -> Bridge:
    """A bridge as the heads of the files want it, that speaks often."""
    http = {
        "tokens": [{"name": "all", "token": TOKEN}],
        "allowedHosts": [SITE],
        "keepAlive": "100ms",
        "retry": "10ms",
    }
    bridge = serve_file(json.dumps({"http": http, "connections": {"default": {"url": upstream.url}}}))
    upstream.peer()
    await_truth(lambda: bridge.get("/status", BEARER).json()["ready"], "the connection is ready")
    return bridge


@pytest.fixture
def front(guarded: Bridge, start_front) -> Front:
    return start_front(guarded.address[1])


def test_every_file_is_tried() -> None:
    assert {kind.file for kind in FRONTS.values()} == {
        path.name for path in (ROOT / "config/proxies").iterdir()
    }


# Streams


@pytest.mark.parametrize("prefix", ["", "/feeds"])
@pytest.mark.parametrize("format", ["sse", "json"])
def test_an_event_is_there_before_the_next_is_sent(
    front: Front, upstream: Upstream, prefix: str, format: str
) -> None:
    stream = front.stream(f"{prefix}/events?format={format}", BEARER)
    for number in range(20):
        upstream.peer().send(f"message {number}")
        assert f"message {number}" in stream.next().data


@pytest.mark.parametrize("format", ["ndjson", "raw"])
def test_so_is_a_line(front: Front, upstream: Upstream, format: str) -> None:
    command = [*secure(front), f"{front.base}/events?format={format}&since=start"]
    with Curl(*command) as lines:
        for number in range(20):
            upstream.peer().send(f"message {number}")
            lines.out.until(lambda text, n=number: f"message {n}" in text or None, f"line {number}")


def secure(front: Front, *, protocol: str = "--http1.1") -> list[str]:
    """A curl that finds the site here and knows its authority."""
    place = ["--resolve", f"{front.site}:{front.port}:{front.host}", "--cacert", front.authority_file]
    return ["curl", "-qsSN", protocol, *place, "-H", f"Authorization: Bearer {TOKEN}"]


def test_streams_share_one_connection_over_http_2(front: Front, upstream: Upstream) -> None:
    command = secure(front, protocol="--http2")
    urls = [f"{front.base}/events?limit=1&since=start" for _ in range(10)]
    with Curl(
        *command, "--parallel", "--parallel-max", "10", "-w", "HTTP/%{http_version}\n", *urls
    ) as streams:
        upstream.peer().send("hello")
        assert streams.exit_code() == 0, streams.err.text
    assert streams.out.text.count("data: hello\n") == 10
    assert streams.out.text.count("HTTP/2\n") == 10


def test_silence_is_no_end_while_the_bridge_keeps_streams_alive(
    guarded: Bridge, upstream: Upstream, start_front
) -> None:
    """A web server that waits for no longer than a second does not notice how long nothing has arrived."""
    front = start_front(guarded.address[1], hour="1s")
    stream = front.stream(fields=BEARER, keep_raw=True)
    # Each after 100 ms of silence, so together they take longer than the second.
    stream.until_comments(15)
    upstream.peer().send("after the silence")
    assert stream.next().data == "after the silence"


@pytest.mark.parametrize("start_front", ["nginx", "haproxy"], indirect=True)
def test_lines_are_silent_and_need_the_hour(guarded: Bridge, start_front) -> None:
    """Which shows that it is the hour in the files that decides, and why it is that long."""
    front = start_front(guarded.address[1], hour="1s")
    with Curl(*secure(front), f"{front.base}/events?format=ndjson") as lines:
        assert lines.exit_code() != 0
    assert lines.out.text == ""


@pytest.mark.parametrize("change", ["reload", "restart"])
def test_what_came_while_it_was_changed_is_replayed(front: Front, upstream: Upstream, change: str) -> None:
    """A reader that comes back by itself, as browsers do, sees each message once."""
    names = [f"message {number}" for number in range(70)]
    unsent, seen = iter(names), []
    stream = front.stream(fields=BEARER)
    for name in itertools.islice(unsent, 10):
        upstream.peer().send(name)
        seen.append(stream.next())
    getattr(front, change)()
    # Whether it lives on is up to the web server, and to when it gets to it.
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        for name in itertools.islice(unsent, 50):
            upstream.peer().send(name)
            seen.append(stream.next())
    stream.close()
    upstream.peer().send(*unsent)
    stream = front.stream(fields=BEARER | {"Last-Event-ID": seen[-1].id})
    seen += stream.take(len(names) - len(seen))
    assert [event.data for event in seen] == names


def test_the_bridge_knows_when_a_client_is_gone(front: Front, guarded: Bridge) -> None:
    def readers() -> int:
        return len(guarded.get("/subscribers", BEARER).json()["subscribers"])

    stream = front.stream(fields=BEARER)
    lines = Curl(*secure(front), f"{front.base}/events?format=ndjson")
    with lines:
        await_truth(lambda: readers() == 2, "both are known")
        stream.close()
        await_truth(lambda: readers() == 1, "the one that went is not known any more")
    await_truth(lambda: readers() == 0, "nor the other one")


def test_a_stream_of_a_stopped_bridge_ends_well(front: Front, guarded: Bridge) -> None:
    stream = front.stream(fields=BEARER)
    guarded.stop()
    assert stream.rest() == []
    assert stream.body.ended


# Requests


def test_messages_go_through_as_they_are(front: Front, upstream: Upstream) -> None:
    large = random.Random(7).randbytes(1 << 20)
    binary = BEARER | {"Content-Type": "application/octet-stream"}
    assert front.request("POST", "/messages", b"a text", BEARER).status == 202
    assert front.request("POST", "/messages", large, binary).status == 202
    assert front.request("POST", "/feeds/messages?wait=30s", b"", BEARER).json()["state"] == "sent"
    assert upstream.peer().received(3) == ["a text", large, ""]


def test_header_fields_reach_the_bridge_and_the_client(front: Front, upstream: Upstream) -> None:
    fields = BEARER | {"Idempotency-Key": "once", "Prefer": "wait=30"}
    first = front.request("POST", "/messages", b"once", fields)
    again = front.request("POST", "/messages", b"once", fields)
    assert first.json()["state"] == "sent"
    assert (again.header("Idempotency-Replayed"), again.body) == ("true", first.body)
    stream = front.stream(fields=BEARER)
    assert stream.head.get("Cache-Control") == "no-store, no-transform"
    assert stream.head.get("Content-Type") == "text/event-stream; charset=utf-8"


def test_refusals_reach_the_client_whole(front: Front, upstream: Upstream, guarded: Bridge) -> None:
    assert_problem(front.request("GET", "/status"), 401, "unauthorized")
    assert front.request("GET", "/status").header("WWW-Authenticate").startswith("Bearer")
    assert_problem(front.request("GET", "/nothing", None, BEARER), 404, "not-found")
    upstream.stop()
    await_truth(lambda: not guarded.get("/status", BEARER).json()["ready"], "the upstream is away")
    refused = front.request("POST", "/messages?queue=false", b"now or never", BEARER)
    assert_problem(refused, 503, "upstream-unavailable")
    assert int(refused.header("Retry-After")) > 0


@pytest.mark.parametrize("start_front", ["nginx"], indirect=True)
def test_what_is_too_large_is_refused_in_front(front: Front) -> None:
    """The bridge would close the connection while it is still being written, which is no answer to some."""
    assert front.request("POST", "/messages", bytes((1 << 20) + 1), BEARER).status == 413
    assert front.request("POST", "/feeds/messages", bytes((1 << 20) + 1), BEARER).status == 413


def test_pages_of_the_site_are_of_the_same_origin(front: Front) -> None:
    assert front.request("GET", "/status", None, BEARER | ORIGIN).status == 200
    other = front.request("GET", "/status", None, BEARER | {"Origin": "https://other.example.org"})
    assert_problem(other, 403, "origin-not-allowed")


def test_another_name_is_not_served(front: Front) -> None:
    """Whatever of web server and bridge refuses it; the token alone would do for the bridge."""
    answer = front.request("GET", "/status", None, {"Host": "other.example.org"})
    assert answer.status != 200 or not answer.body


def test_the_bridge_is_asked_as_it_was_meant(start_front) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        front = start_front(listener.getsockname()[1])
        with front.client() as client:
            fields = {"Host": f"{SITE}:{front.port}", "Last-Event-ID": "here", **BEARER}
            client.send_head("GET", "/feeds/events?match=/a%2Fb:%C3%A9+&topic=x.%3E", fields)
            listener.settimeout(30)
            connection, _ = listener.accept()
            with connection:
                head = connection.recv(65536).decode("latin-1").lower().splitlines()
    assert head[0] == "get /events?match=/a%2fb:%c3%a9+&topic=x.%3e http/1.1"
    assert f"host: {SITE}:{front.port}" in head
    assert f"authorization: bearer {TOKEN}" in head
    assert "last-event-id: here" in head
    assert not any(line.startswith("connection: close") for line in head)


def test_a_unix_socket_does_as_well(upstream: Upstream, run_bridge, start_front) -> None:
    # Not below pytest's folders, which are for their user alone: nginx becomes another one.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bridge.sock")
        path.parent.chmod(0o711)
        listen = ["--listen", f"unix:{path}", "--log-format", "json"]
        bridge = run_bridge("serve", "--upstream", upstream.url, *listen)
        bridge.err.until(lambda text: "listening" in text or None, "it listens")
        path.chmod(0o666)
        front = start_front(path)
        stream = front.stream()
        upstream.peer().send("through a socket")
        assert stream.next().data == "through a socket"
        stream.close()
        bridge.stop()


def test_tokens_in_queries_are_not_logged(front: Front) -> None:
    assert front.request("GET", f"/status?access_token={TOKEN}&").status in (200, 400)
    assert front.request("GET", f"/status?access_token={TOKEN}").status == 200
    assert front.request("GET", f"/healthz?access_token={TOKEN}").status == 200
    await_truth(lambda: "/healthz" in front.access_log, "the last request is logged")
    assert TOKEN not in front.access_log


# The page


@pytest.mark.parametrize("prefix", ["", "/feeds"])
def test_the_page_works(
    browser: Browser, guarded: Bridge, upstream: Upstream, start_front, prefix: str
) -> None:
    front = start_front(guarded.address[1], site="bridge.localhost")
    visit = Visit(browser, guarded, base=front.base + prefix, ignore_https_errors=True)
    visit.expected += ["401"]
    page = visit.open()
    page.get_by_label("Access token").fill(TOKEN)
    page.keyboard.press("Enter")
    await_live(page)
    upstream.peer().send("hello")
    expect(page.locator("#records .row.text")).to_have_count(1)
    assert payloads(page) == ["hello"]
    visit.end()
