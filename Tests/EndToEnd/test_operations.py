"""docs/operations.md: each symptom is brought about, seen as the page says, and cured as it says."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, RawUpstream, Upstream, WebAnswer, await_truth
from harness.certificates import self_signed_context
from harness.environment import ROOT

PAGE = (ROOT / "docs/operations.md").read_text()
SYMPTOMS = dict(
    re.findall(r"^### (.*)\n((?:(?!^#).*\n?)*)", PAGE.split("\n## Troubleshooting\n")[1], re.MULTILINE)
)

#: What proves a symptom that is another page's or another test's.
PROVEN_ELSEWHERE = {
    "Streams end after a minute": "test_behind_proxies.py::test_lines_are_silent_and_need_the_hour",
    "Events come late, several at once": (
        "test_behind_proxies.py::test_an_event_is_there_before_the_next_is_sent"
    ),
    "Messages are answered 503 `storage-unavailable`": (
        "test_storage_faults.py::test_a_disk_that_fills_up_refuses_messages_until_there_is_room"
    ),
}


def symptom(heading: str) -> pytest.MarkDecorator:
    """Mark the test of a symptom."""
    return pytest.mark.parametrize("told", [pytest.param(SYMPTOMS[heading], id=heading)])


def test_every_symptom_is_tried() -> None:
    tried = set(PROVEN_ELSEWHERE)
    for value in list(globals().values()):
        for mark in getattr(value, "pytestmark", []):
            tried |= {case.id for case in mark.args[1]} if mark.args[0] == "told" else set()
    assert tried == set(SYMPTOMS)
    for place in PROVEN_ELSEWHERE.values():
        file, test = place.split("::")
        assert f"def {test}(" in (ROOT / "Tests/EndToEnd" / file).read_text()


def test_every_symptom_has_what_to_look_at_a_cause_and_a_cure() -> None:
    for heading, told in SYMPTOMS.items():
        assert re.findall(r"^- \*(\w+)", told, re.MULTILINE) == ["Look", "Cause", "Cure"], heading


def assert_told(told: str, shown: str, *literals: str) -> None:
    """What the page quotes is what is shown."""
    for literal in literals:
        assert f"`{literal}`" in told
        assert literal in shown


# Starts


@symptom("It ends at once, with exit code 78")
def test_open_to_everyone(told: str, upstream: Upstream, run_bridge: Callable[..., Bridge]) -> None:
    flags = ["--upstream", upstream.url, "--listen", "0.0.0.0:0"]
    for command in ("serve", "check"):
        refused = run_bridge(command, *flags)
        assert refused.exit_code() == 78
        assert_told(told, refused.err.text, "can be reached from other machines and no token is set")
    run_bridge("serve", *flags, environment={"WSBRIDGE_TOKEN": "secret"}).listening()


@symptom("It ends at once, with exit code 71")
def test_an_address_that_is_taken(told: str, bridge: Bridge, run_bridge: Callable[..., Bridge]) -> None:
    address = f"127.0.0.1:{bridge.address[1]}"
    second = run_bridge("serve", "--upstream", "ws://127.0.0.1:9/", "--listen", address)
    assert second.exit_code() == 71
    assert_told(told, second.err.text, "cannot listen", "Address already in use")
    bridge.stop()
    run_bridge("serve", "--upstream", "ws://127.0.0.1:9/", "--listen", address).listening()


@symptom("It ends at once, with exit code 74")
def test_a_directory_that_is_in_use(
    told: str, start_bridge: Callable[..., Bridge], run_bridge: Callable[..., Bridge], tmp_path
) -> None:
    first = start_bridge("ws://127.0.0.1:9/", "--data-dir", str(tmp_path))
    flags = ["--upstream", "ws://127.0.0.1:9/", "--listen", "127.0.0.1:0", "--data-dir", str(tmp_path)]
    second = run_bridge("serve", *flags)
    assert second.exit_code() == 74
    assert str(first.pid) in second.err.text
    assert "in use" in told
    first.stop()
    run_bridge("serve", *flags).listening()


# Refusals


@symptom("Everything is answered 401")
def test_a_token_that_is_missing(told: str, serve_file, run_bridge: Callable[..., Bridge]) -> None:
    tokens = "[{ name: ops, token: right, allow: [send] }]"
    connections = "{ default: { url: 'ws://127.0.0.1:9/' } }"
    bridge = serve_file(f"http: {{ tokens: {tokens} }}\nconnections: {connections}")
    assert_problem(bridge.get("/status"), 401, "unauthorized")
    unknown = bridge.get("/status", {"Authorization": "Bearer wrong"})
    assert_problem(unknown, 401, "unauthorized")
    assert_told(told, unknown.json()["detail"], "the access token is not known here")
    forbidden = bridge.get("/status", {"Authorization": "Bearer right"})
    assert_problem(forbidden, 403, "forbidden")
    assert_told(told, forbidden.json()["type"], "forbidden")
    assert run_bridge("send", *bridge.flags, "Hello").exit_code() == 1
    assert (
        run_bridge("send", *bridge.flags, "Hello", environment={"WSBRIDGE_TOKEN": "right"}).exit_code() == 0
    )


@symptom("Everything is answered 421")
def test_a_name_that_is_not_known(told: str, serve_with: Callable[..., Any]) -> None:
    host = {"Host": "bridge.example.org"}
    refused = serve_with("")[0].get("/status", host)
    assert_problem(refused, 421, "misdirected-host")
    assert_told(told, refused.json()["detail"], "is not a name of this bridge")
    assert serve_with("http: { allowedHosts: [bridge.example.org] }")[0].get("/status", host).status == 200


@symptom("A page is answered 403")
def test_a_page_of_elsewhere(told: str, serve_with: Callable[..., Any]) -> None:
    origin = {"Origin": "https://bridge.example.org"}
    bridge, _ = serve_with("http: { allowedHosts: [bridge.example.org] }")
    refused = bridge.get("/status", origin)
    assert_problem(refused, 403, "origin-not-allowed")
    assert_told(told, refused.json()["type"], "origin-not-allowed")
    assert origin["Origin"] in refused.json()["detail"]
    # As a proxy has it that passes the name on; and the other cure.
    assert bridge.get("/status", origin | {"Host": "bridge.example.org"}).status == 200
    allowed, _ = serve_with("http: { allowedOrigins: ['https://bridge.example.org'] }")
    assert allowed.get("/status", origin).status == 200


# Sending


@symptom("Messages stay queued")
def test_an_upstream_that_is_away(told: str, away: Upstream, lonely: Bridge) -> None:
    lonely.send("patient")
    status = lonely.await_status(lambda status: status["lastError"], "an attempt failed")
    assert (status["state"], status["lastError"]["phase"]) == ("waiting", "tcp")
    away.come_back()
    assert away.peer().received(1) == ["patient"]


@pytest.mark.parametrize("phase", ["url", "dns", "tcp", "proxy", "tls", "handshake", "onOpen"])
def test_the_phases_are_those_of_an_attempt(
    phase: str, serve_file, start_upstream, start_web_server, tmp_path
) -> None:
    """As the table of that symptom has them, each by one of the causes that it names."""
    assert f"`{phase}`" in SYMPTOMS["Messages stay queued"]
    upstream = start_upstream()
    silent = start_upstream(tls=self_signed_context(tmp_path, "DNS:localhost"))
    settings: dict[str, Any] = {
        "url": {"url": {"command": ["false"]}},
        "dns": {"url": "ws://nobody.invalid/"},
        "tcp": {"url": "ws://127.0.0.1:9/"},
        # A server that knows nothing of CONNECT.
        "proxy": {"url": upstream.url, "proxy": start_web_server(lambda _: WebAnswer()).url},
        "tls": {"url": f"wss://localhost:{silent.port}/"},
        "handshake": {"url": upstream.url, "subprotocols": ["nobody's"], "requireSubprotocol": True},
        "onOpen": {"url": upstream.url, "onOpen": [{"expect": {"equals": "welcome"}, "timeout": "50ms"}]},
    }[phase]
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    status = bridge.await_status(lambda status: status["lastError"], "an attempt failed")
    assert status["lastError"]["phase"] == phase


@symptom("Messages are answered 503 `outbox-full`")
def test_an_outbox_that_is_full(told: str, away: Upstream, serve_file) -> None:
    def serve(outbox: str) -> Bridge:
        return serve_file(f"connections: {{ default: {{ url: '{away.url}', outbox: {{ {outbox} }} }} }}")

    bridge = serve("maxMessages: 1")
    bridge.send("the first")
    assert_problem(bridge.post("/messages", b"one too many"), 503, "outbox-full")
    outbox = bridge.status()["outbox"]
    assert outbox["messages"] == outbox["maxMessages"] == 1
    assert bridge.request("DELETE", "/outbox").json() == {"dropped": 1}
    bridge.send("now there is room")
    assert "`overflow: dropOldest`" in told
    other = serve("maxMessages: 1, overflow: dropOldest")
    other.send("the first")
    other.send("takes its place")


@symptom("Messages are answered 409 `connection-closed`")
def test_a_connection_that_was_closed(told: str, upstream: Upstream, serve_file) -> None:
    settings = "reconnect: { stopOnCloseCodes: [4001] }, outbox: { wakes: true }"
    bridge = serve_file(f"connections: {{ default: {{ url: '{upstream.url}', {settings} }} }}")
    bridge.await_ready()
    upstream.peer().close(4001, "go away")
    status = bridge.await_status(lambda status: status["state"] == "closed", "it is closed")
    assert_told(told, status["state"], "closed")
    assert status["lastClose"]["code"] == 4001
    assert_problem(bridge.post("/messages", b"x"), 409, "connection-closed")
    assert bridge.post("/connect").status == 200
    bridge.await_ready()
    bridge.send("through")


@symptom("Large messages are answered 413")
def test_a_message_that_is_too_large(told: str, serve_with: Callable[..., Any]) -> None:
    bridge, _ = serve_with("http: { maxBodyBytes: 10 }")
    with bridge.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "11"})
        refused = client.response("POST")
    assert_problem(refused, 413, "message-too-large")
    assert_told(told, refused.json()["type"], "message-too-large")
    assert " 10 bytes" in refused.json()["detail"]
    larger, _ = serve_with("http: { maxBodyBytes: 11 }")
    assert larger.post("/messages", b"eleven byte").status == 202


@symptom("It reconnects again and again")
def test_an_upstream_that_does_not_answer_pings(told: str, start_raw_upstream, serve_file) -> None:
    upstream: RawUpstream = start_raw_upstream()

    def serve(heartbeat: str) -> Bridge:
        settings = f"heartbeat: {{ {heartbeat} }}, closeTimeout: 50ms"
        return serve_file(f"connections: {{ default: {{ url: '{upstream.url}', {settings} }} }}")

    bridge = serve("interval: 100ms, missLimit: 1")
    upstream.accept().accept_handshake()
    close = bridge.await_status(lambda status: status["lastClose"], "it is closed")["lastClose"]
    assert_told(told, close["by"], "bridge")
    assert_told(told, bridge.get("/messages?types=status").body.decode(), "heartbeat-lost")
    cured = serve("interval: 100ms, missLimit: 1, send: none, alive: any")
    assert "`heartbeat: { send: none }`" in told
    assert cured.status()["heartbeat"]["missLimit"] == 1


# Reading


@symptom("Readers get gaps")
def test_a_history_that_is_too_short(told: str, upstream: Upstream, serve_with: Callable[..., Any]) -> None:
    def first_event_after(history: str, number: int) -> str:
        bridge, _ = serve_with(history)
        peer = upstream.peer(number)
        peer.send("seen")
        seen = bridge.get("/messages?wait=30s").json()["next"]
        peer.send(*(f"{number}" for number in range(20)))
        bridge.await_status(lambda status: status["counters"]["received"] == 21, "all has come")
        with bridge.stream(fields={"Last-Event-ID": seen}) as stream:
            return stream.next().type

    assert first_event_after("history: { maxMessages: 5 }", 0) == "gap"
    assert first_event_after("history: { maxMessages: 50 }", 1) == "message"
    assert "`gap`" in told


@symptom("New readers are refused")
def test_more_readers_than_there_may_be(told: str, serve_with: Callable[..., Any]) -> None:
    bridge, _ = serve_with("http: { maxSubscribers: 1 }")
    with bridge.stream():
        refused = bridge.get("/events")
        assert_problem(refused, 503, "too-many-subscribers")
        assert_told(told, refused.json()["type"], "too-many-subscribers")
        browser = bridge.get("/events", {"Accept": "text/event-stream"}).body.decode()
        assert "retry: 30000" in browser
        assert_told(told, browser, "refused")
        assert len(bridge.get("/subscribers").json()["subscribers"]) == 1
    await_truth(lambda: bridge.get("/events?limit=1&since=start&types=status").status == 200, "there is room")


# Reloading


@symptom("A reload changes nothing")
def test_a_reload_of_a_wrong_file(told: str, upstream: Upstream, serve_file, tmp_path) -> None:
    right = f"connections: {{ default: {{ url: '{upstream.url}' }} }}"
    bridge = serve_file(right)
    (tmp_path / "wsbridge.yaml").write_text(f"{right}\nhttp: {{ kepAlive: 5s }}\n")
    bridge.signal(signal.SIGHUP)
    bridge.err.until(lambda text: "not reloaded" in text or None, "it is told")
    assert_told(told, bridge.err.text, "not reloaded")
    assert "keepAlive" in bridge.err.text
    (tmp_path / "wsbridge.yaml").write_text(f"{right}\nhttp: {{ keepAlive: 5s }}\n")
    bridge.signal(signal.SIGHUP)
    bridge.err.until(lambda text: '"message":"reloaded"' in text or None, "it is reloaded")
