"""`GET /metrics`: what it shows, to whom, and that it is well-formed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Deadline, Peer, Upstream, await_truth
from harness.disks import stuck_disk
from harness.environment import ROOT
from harness.metrics import Metrics, promtool, scrape

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def await_metrics(bridge: Bridge, holds: Callable[[Metrics], Any], what: str) -> Metrics:
    """Scrape until the figures are as wanted."""
    metrics: list[Metrics] = []

    def question() -> Any:
        metrics[:] = [scrape(bridge)]
        return holds(metrics[0])

    await_truth(question, what)
    return metrics[0]


@pytest.fixture
def busy(upstream: Upstream, start_bridge: Callable[..., Bridge], tmp_path: Path) -> Bridge:
    """A bridge with a store to which everything has happened that makes series."""
    flags = ["--data-dir", str(tmp_path / "data")]
    (tmp_path / "c.yaml").write_text("connections: { default: { heartbeat: { interval: 100ms } } }")
    bridge = start_bridge(upstream.url, "--config", str(tmp_path / "c.yaml"), *flags)
    bridge.await_ready()
    bridge.stream()
    bridge.get("/nothing")
    bridge.send("out")
    upstream.peer().send("in")
    upstream.peer().close(4001)
    upstream.peer(1)
    bridge.await_status(lambda status: status["heartbeat"]["rttMs"], "a heartbeat is answered")
    return bridge


# Form


def test_promtool_finds_nothing_to_complain_of(busy: Bridge) -> None:
    assert promtool("check", "metrics", stdin=scrape(busy).text) == ""


def test_the_answer_says_what_it_is_and_head_the_same(bridge: Bridge) -> None:
    with bridge.client() as client:
        answer = client.request("GET", "/metrics")
        # The connection is kept.
        head = client.request("HEAD", "/metrics")
    assert answer.status == head.status == 200
    for response in (answer, head):
        assert response.header("Content-Type") == MEDIA_TYPE
        assert response.header("Cache-Control") == "no-store"
    assert head.body == b""


def test_a_client_of_http_1_0_gets_it_too(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.send_head("GET", "/metrics", version="HTTP/1.0")
        response = client.response()
    assert "Transfer-Encoding" not in response.head
    assert "wsbridge_build_info" in Metrics(response.body.decode()).families


def told() -> dict[str, tuple[str, set[str]]]:
    """Type and labels of each family in the reference."""
    section = (ROOT / "docs/reference.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
    found = {}
    for line in section.splitlines():
        if line.startswith("| `"):
            name, type, labels, _ = (cell.strip() for cell in line.strip("|").split("|"))
            assert name not in found, name
            found[name.strip("`")] = (type, set(re.findall(r"`(\w+)`", labels)))
    return found


def test_the_reference_lists_every_series(busy: Bridge) -> None:
    shown = {name: (it.type, it.label_names()) for name, it in scrape(busy).families.items()}
    assert shown == told()


def test_what_is_about_the_store_is_not_there_without_one(bridge: Bridge) -> None:
    shown = set(scrape(bridge).families)
    assert set(told()) - shown == {name for name in told() if name.startswith("wsbridge_storage_")}


# Who sees what


@pytest.fixture
def guarded(start_upstream: Callable[..., Upstream], serve_file: Callable[..., Bridge]) -> Bridge:
    tokens = [
        {"name": "all", "token": "all-of-them", "allow": ["read"]},
        {"name": "some", "token": "some-of-them", "allow": ["read"], "connections": ["a*"]},
        {"name": "sender", "token": "only-sends", "allow": ["send"]},
    ]
    connections = {name: {"url": start_upstream().url} for name in ("aa", "ab", "b")}
    return serve_file(json.dumps({"http": {"tokens": tokens}, "connections": connections}))


def connections_in(metrics: Metrics) -> set[str]:
    samples = [labels for it in metrics.families.values() for _, labels in it.samples]
    return {value for labels in samples for name, value in labels if name == "connection"}


def test_where_there_are_tokens_it_needs_one_that_may_read(guarded: Bridge) -> None:
    assert_problem(guarded.get("/metrics"), 401, "unauthorized")
    sender = {"Authorization": "Bearer only-sends"}
    assert_problem(guarded.get("/metrics", sender), 403, "forbidden")
    assert connections_in(scrape(guarded, "all-of-them")) == {"aa", "ab", "b"}


def test_a_token_sees_the_series_of_its_connections_alone(guarded: Bridge) -> None:
    metrics = scrape(guarded, "some-of-them")
    assert connections_in(metrics) == {"aa", "ab"}
    assert set(metrics.families) == set(scrape(guarded, "all-of-them").families)


def test_no_label_has_anything_that_a_client_or_an_upstream_made_up(
    upstream: Upstream, start_bridge: Callable[..., Bridge]
) -> None:
    bridge = start_bridge(
        upstream.url.replace("ws://", "ws://user:Pass1word@") + "feed?key=Secr3t",
        environment={"WSBRIDGE_TOKEN": "T0ken"},
    )
    peer = upstream.peer()
    own = {"Authorization": "Bearer T0ken"}
    marks = ["Pass1word", "Secr3t", "T0ken", "Path1", "Query1", "Agent1", "Payload1", "Key1", "Reason1"]
    bridge.get("/Path1", own)
    bridge.get("/v1/connections/Path1/status", own)
    bridge.get("/status?Query1=Query1", own)
    bridge.get("/status", {**own, "User-Agent": "Agent1", "Origin": "http://Agent1"})
    bridge.request("Path1", "/status", fields=own)
    bridge.post("/messages?access_token=T0ken", b"Payload1", **{"Idempotency-Key": "Key1"})
    peer.received(1)
    peer.close(4000, "Reason1")
    upstream.peer(1)
    metrics = scrape(bridge, "T0ken")
    assert [mark for mark in marks if mark.lower() in metrics.text.lower()] == []
    assert metrics.get("wsbridge_connection_closes_total", connection="default", code="4000") == 1


# Cardinality


def test_an_upstream_cannot_make_up_series_by_its_close_codes(
    upstream: Upstream, serve_file: Callable[..., Bridge]
) -> None:
    settings = {"url": upstream.url, "reconnect": {"initialDelay": "10ms", "maxDelay": "10ms"}}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    codes = [*range(3000, 3030), 1000, 1001, 3000]
    for index, code in enumerate(codes):
        upstream.peer(index).close(code)
    upstream.peer(len(codes))
    rows = scrape(bridge).families["wsbridge_connection_closes_total"].samples
    counts = {dict(labels)["code"]: value for (_, labels), value in rows.items()}
    assert counts == {
        "1000": 1,
        "1001": 1,
        "3000": 2,
        **{str(code): 1 for code in range(3001, 3016)},
        "other": 14,
    }


def test_odd_methods_and_paths_make_no_series(bridge: Bridge) -> None:
    for number in range(30):
        bridge.request(f"M{number}", f"/path{number}")
        bridge.get(f"/path{number}")
    metrics = await_metrics(
        bridge,
        lambda it: it.get("wsbridge_http_refusals_total", problem="not-found") >= 60,
        "all are counted",
    )
    name = "wsbridge_http_requests_total"
    assert metrics.value(name, method="other", route="other", code="404") == 60
    routes = {dict(labels)["route"] for _, labels in metrics.families[name].samples}
    assert routes == {"other", "/metrics", "/v1/connections/{connection}/status"}


# What is counted


def test_the_state_is_one_of_all(upstream: Upstream, bridge: Bridge) -> None:
    def states() -> tuple[list[str], float]:
        metrics = scrape(bridge)
        samples = metrics.families["wsbridge_connection_state"].samples
        assert len(samples) == 9
        now = [dict(labels)["state"] for (_, labels), value in samples.items() if value == 1]
        assert len(now) == 1
        return now, metrics.value("wsbridge_connection_ready", connection="default")

    assert states() == (["open"], 1)
    bridge.post("/pause")
    bridge.await_status(lambda status: status["state"] == "paused", "it is paused")
    assert states() == (["paused"], 0)


def test_messages_are_counted_as_the_status_does(bridge: Bridge, peer: Peer) -> None:
    stream = bridge.stream()
    peer.send("1234", b"567", "")
    stream.take(3)
    for text in ("a", "bc"):
        assert bridge.post("/messages?wait=10s", text.encode()).status == 200
    metrics = scrape(bridge)
    own = {"connection": "default"}
    assert metrics.value("wsbridge_messages_total", direction="in", **own) == 3
    assert metrics.value("wsbridge_message_bytes_total", direction="in", **own) == 7
    assert metrics.value("wsbridge_messages_total", direction="out", **own) == 2
    assert metrics.value("wsbridge_message_bytes_total", direction="out", **own) == 3
    assert metrics.value("wsbridge_outbox_wait_seconds", "_count", **own) == 2
    status = bridge.status()
    assert metrics.value("wsbridge_history_messages", **own) == status["history"]["messages"]
    assert metrics.value("wsbridge_history_bytes", **own) == status["history"]["bytes"]
    assert metrics.value("wsbridge_subscribers", **own) == metrics.value("wsbridge_streams") == 1


def test_the_outbox_shows_what_waits(upstream: Upstream, serve_with: Callable[..., Any]) -> None:
    bridge, _ = serve_with("")
    own = {"connection": "default"}
    assert scrape(bridge).value("wsbridge_outbox_oldest_age_seconds", **own) == 0
    bridge.post("/pause")
    for text in ("one", "two"):
        bridge.send(text)
    metrics = await_metrics(
        bridge, lambda it: it.value("wsbridge_outbox_oldest_age_seconds", **own) > 0.02, "it gets older"
    )
    assert metrics.value("wsbridge_outbox_messages", **own) == 2
    assert metrics.value("wsbridge_outbox_bytes", **own) == 6
    assert metrics.value("wsbridge_outbox_limit_messages", **own) == 1000
    assert metrics.value("wsbridge_memory_used_bytes", holder="outboxes") > 6
    bridge.request("DELETE", "/outbox")
    metrics = scrape(bridge)
    assert metrics.value("wsbridge_outbox_dropped_total", **own) == 2
    assert metrics.value("wsbridge_outbox_messages", **own) == 0


def test_losses_attempts_and_heartbeats_are_counted(
    upstream: Upstream, serve_file: Callable[..., Bridge]
) -> None:
    settings = {
        "url": upstream.url,
        "heartbeat": {"interval": "50ms"},
        "reconnect": {"initialDelay": "10ms", "factor": 1, "jitter": 0},
    }
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    own = {"connection": "default"}
    metrics = await_metrics(
        bridge,
        lambda it: it.value("wsbridge_heartbeat_rtt_seconds", "_count", **own) >= 3,
        "heartbeats are answered",
    )
    sent = metrics.value("wsbridge_heartbeats_sent_total", **own)
    assert metrics.value("wsbridge_heartbeat_rtt_seconds", "_count", **own) <= sent
    assert metrics.value("wsbridge_heartbeats_missed_total", **own) == 0
    upstream.go_away()
    metrics = await_metrics(
        bridge,
        lambda it: it.value("wsbridge_connection_failures_total", phase="tcp", **own) >= 2,
        "attempts fail",
    )
    assert metrics.value("wsbridge_connection_closes_total", code="1006", **own) == 1
    assert metrics.value("wsbridge_connection_opens_total", **own) == 1
    failures = metrics.families["wsbridge_connection_failures_total"].samples
    # One after the loss, and one after each attempt that failed.
    assert metrics.value("wsbridge_connection_retries_total", **own) == 1 + sum(failures.values())
    assert metrics.value("wsbridge_connection_failures_total", phase="dns", **own) == 0


def test_a_heartbeat_that_is_a_message_has_a_round_trip(
    start_upstream: Callable[..., Upstream], serve_file: Callable[..., Bridge]
) -> None:
    upstream = start_upstream(answers=lambda message: "pong" if message == "ping" else None)
    heartbeat = {"interval": "50ms", "send": {"text": "ping"}, "expect": {"equals": "pong"}}
    connection = {"url": upstream.url, "heartbeat": heartbeat}
    bridge = serve_file(json.dumps({"connections": {"default": connection}}))
    own = {"connection": "default"}
    await_metrics(
        bridge,
        lambda it: it.value("wsbridge_heartbeat_rtt_seconds", "_count", **own) >= 2,
        "heartbeats are answered",
    )
    # What answers none of them has no round trip.
    upstream.peer().send(*["pong"] * 200, "after all")
    bridge.get("/messages?wait=20s")
    bridge.post("/disconnect")
    before = scrape(bridge)
    count = before.value("wsbridge_heartbeat_rtt_seconds", "_count", **own)
    assert count <= before.value("wsbridge_heartbeats_sent_total", **own)


def test_gaps_and_ends_of_streams_are_counted_by_what_led_to_them(serve_with: Callable[..., Any]) -> None:
    bridge, peer = serve_with("history: { maxMessages: 5 }")
    live = bridge.stream()
    own = {"connection": "default"}
    peer.send("first")
    first = live.next().id
    peer.send(*map(str, range(20)))
    live.take(20)
    # Two that came too late, one from another time, and one that was there and did not keep up.
    late = bridge.stream(f"/events?since={first}&limit=1")
    assert late.until("gap")
    late.rest()
    bridge.stream(f"/events?since={first}&limit=1").rest()
    epoch, sequence = first.split("-")
    elsewhere = f"{'1' if epoch[0] == '0' else '0'}{epoch[1:]}-{sequence}"
    other = bridge.stream(f"/events?since={elsewhere}&limit=1")
    other.rest()
    slow = bridge.stream(receive_buffer=4096)
    impatient = bridge.stream("/events?slow=disconnect", receive_buffer=4096)
    # More than the feed and the kernel hold.
    for _ in range(4):
        peer.send(*["x" * 1_000_000] * 5)
    slow.until("gap")
    metrics = await_metrics(
        bridge,
        lambda it: it.get("wsbridge_streams_ended_total", reason="slow") == 1,
        "the impatient one is disconnected",
    )
    name = "wsbridge_gaps_total"
    assert metrics.value(name, reason="evicted", **own) == 2
    assert metrics.value(name, reason="unknown", **own) == 1
    assert metrics.value(name, reason="slow", **own) >= 1
    total = sum(value for value in metrics.families[name].samples.values())
    assert bridge.status()["counters"]["gaps"] == total
    assert metrics.value("wsbridge_streams_ended_total", reason="done") == 3
    # The last messages are held for those that stand still.
    assert metrics.value("wsbridge_memory_used_bytes", holder="streams") > 1_000_000
    live.close()
    impatient.close()
    await_metrics(
        bridge, lambda it: it.get("wsbridge_streams_ended_total", reason="left") == 1, "one has left"
    )


def test_the_lag_of_the_slowest_shows(bridge: Bridge, peer: Peer) -> None:
    bridge.stream(receive_buffer=4096)
    own = {"connection": "default"}
    assert scrape(bridge).value("wsbridge_subscriber_lag_max_records", **own) == 0
    peer.send(*["x" * 1_000_000] * 20)
    await_metrics(bridge, lambda it: it.value("wsbridge_subscriber_lag_max_records", **own) > 5, "it lags")


def test_requests_are_counted_by_route_and_status(bridge: Bridge) -> None:
    for target in ("/status", "/v1/connections/default/status", "/v1/connections/default"):
        assert bridge.get(target).status == 200
    bridge.send("x")
    bridge.post("/messages?wait=10s", b"x")
    bridge.get("/outbox/nothing")
    bridge.request("HEAD", "/healthz")
    bridge.stream().close()
    bridge.get("/messages?limit=0")
    metrics = scrape(bridge)
    name = "wsbridge_http_requests_total"
    messages = "/v1/connections/{connection}/messages"
    expected = {
        ("POST", messages, "202"): 1,
        ("POST", messages, "200"): 1,
        ("GET", "/v1/connections/{connection}/outbox/{message}", "404"): 1,
        ("HEAD", "/healthz", "200"): 1,
        ("GET", "/v1/connections/{connection}/events", "200"): 1,
        ("other", "other", "400"): 1,
    }
    shown = {key: metrics.get(name, method=key[0], route=key[1], code=key[2]) for key in expected}
    assert shown == expected
    # Those of the fixtures that wait for the bridge to be ready came before.
    own = metrics.get(name, method="GET", route="/v1/connections/{connection}/status", code="200")
    assert own >= 3
    assert metrics.value("wsbridge_http_refusals_total", problem="not-found") == 1
    assert metrics.value("wsbridge_http_refusals_total", problem="invalid-parameter") == 1
    assert metrics.value("wsbridge_http_refusals_total", problem="forbidden") == 0


def test_what_is_answered_in_the_place_of_the_library_is_counted(bridge: Bridge) -> None:
    with bridge.client() as client:
        client.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: one\r\n\r\n")
        assert client.rest().startswith(b"HTTP/1.1 400 ")
    metrics = scrape(bridge)
    assert metrics.value("wsbridge_http_refusals_total", problem="invalid-framing") == 1
    assert metrics.get("wsbridge_http_requests_total", method="other", route="other", code="400") == 1


def test_requests_under_way_are_counted_and_streams_are_not(bridge: Bridge, stream_mode: str) -> None:
    bridge.stream()
    name = "wsbridge_http_requests_in_flight"
    # The scrape itself is one.
    assert scrape(bridge).value(name) == 1
    waiting = [bridge.client() for _ in range(3)]
    for client in waiting:
        client.send_head("GET", "/messages?since=now&wait=5m")
    await_metrics(bridge, lambda it: it.value(name) == 4, "three wait")
    for client in waiting:
        client.wire.close()
    await_metrics(bridge, lambda it: it.value(name) == 1, "they have left")


def test_clients_that_found_no_room_are_counted(serve_with: Callable[..., Any]) -> None:
    bridge, _ = serve_with("http: { maxConnectionsPerClient: 3 }")
    clients = [bridge.client() for _ in range(2)]
    for client in clients:
        assert client.request("GET", "/healthz").status == 200
    with bridge.client() as one:
        assert one.request("GET", "/metrics").status == 200
        for _ in range(2):
            with bridge.client() as refused:
                assert refused.rest() == b""
        metrics = Metrics(one.request("GET", "/metrics").body.decode())
    assert metrics.value("wsbridge_http_connections_refused_total") == 2
    assert metrics.value("wsbridge_http_connections") == 3


def test_the_process_is_as_the_system_says(bridge: Bridge) -> None:
    place = Path(f"/proc/{bridge.pid}")
    with bridge.client() as client:
        assert client.request("GET", "/healthz").status == 200
        metrics = Metrics(client.request("GET", "/metrics").body.decode())
        descriptors = len(list(place.joinpath("fd").iterdir()))
    stat = place.joinpath("stat").read_text().rpartition(")")[2].split()
    seconds = os.sysconf("SC_CLK_TCK")
    boot = next(
        int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if "btime" in line
    )
    assert abs(metrics.value("process_start_time_seconds") - (boot + int(stat[19]) / seconds)) < 2
    assert 0 < metrics.value("process_cpu_seconds_total") <= (int(stat[11]) + int(stat[12]) + 2) / seconds
    assert metrics.value("process_resident_memory_bytes") > 1 << 20
    assert metrics.value("process_virtual_memory_bytes") >= metrics.value("process_resident_memory_bytes")
    assert metrics.value("process_open_fds") == descriptors
    limits = place.joinpath("limits").read_text()
    assert metrics.value("process_max_fds") == int(re.findall(r"Max open files +(\d+)", limits)[0])


def test_turns_of_the_loop_are_counted(bridge: Bridge) -> None:
    first = scrape(bridge)
    second = scrape(bridge)
    count, total = (("wsbridge_loop_turn_seconds", part) for part in ("_count", "_sum"))
    assert second.value(*count) > first.value(*count)
    assert second.value(*total) > first.value(*total)


# The store


def test_groups_that_are_stored_are_counted(busy: Bridge) -> None:
    before = scrape(busy)
    for _ in range(5):
        busy.send("x")
    metrics = scrape(busy)
    for name in ("wsbridge_storage_group_seconds", "wsbridge_storage_group_entries"):
        assert metrics.value(name, "_count") >= before.value(name, "_count") + 5
    assert metrics.value("wsbridge_storage_up") == 1
    assert metrics.value("wsbridge_storage_failures_total") == 0


def test_a_disk_that_does_not_answer_shows_for_how_long(busy: Bridge, tmp_path: Path) -> None:
    with stuck_disk(busy, tmp_path), busy.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": "0"})
        await_metrics(busy, lambda it: it.value("wsbridge_storage_stalled_seconds") > 1, "it stands still")
    await_metrics(busy, lambda it: it.value("wsbridge_storage_stalled_seconds") < 1, "it goes on")


# Many connections


#: So many that not all of what is said of them fits into the kernel.
MANY = 2000


@pytest.fixture
def crowded(serve_file: Callable[..., Bridge]) -> Bridge:
    """A bridge with many connections that nobody needs."""
    one = {"url": "ws://127.0.0.1:9", "connect": "manual"}
    connections = {f"c{number:04}": one for number in range(MANY)}
    return serve_file(json.dumps({"http": {"dynamicConnections": True}, "connections": connections}))


def test_the_metrics_of_many_connections_are_whole(crowded: Bridge) -> None:
    metrics = scrape(crowded)
    assert connections_in(metrics) == {f"c{number:04}" for number in range(MANY)}
    assert len(metrics.families["wsbridge_connection_state"].samples) == 9 * MANY


def test_a_client_that_reads_slowly_keeps_nobody_waiting_while_connections_come_and_go(
    crowded: Bridge,
) -> None:
    with Client(crowded.address, receive_buffer=4096) as slow:
        slow.send_head("GET", "/metrics")
        slow.wire.take_through(b"# TYPE wsbridge_connection_state gauge\n", Deadline("its first lines"))
        with crowded.client() as other:
            for number in range(0, MANY, 2):
                assert other.request("DELETE", f"/v1/connections/c{number:04}").status == 204
        assert len(connections_in(scrape(crowded))) == MANY / 2
        # What is read from now on is whole all the same.
        text = slow.wire.take_through(b"process_start_time_seconds", Deadline("its last family"))
    assert b'wsbridge_gaps_total{connection="c1999"' in text
    assert b'wsbridge_gaps_total{connection="c1998"' not in text


def test_clients_that_leave_in_the_middle_leave_nothing_behind(crowded: Bridge) -> None:
    for _ in range(20):
        with Client(crowded.address, receive_buffer=4096) as client:
            client.send_head("GET", "/metrics")
            client.wire.take_through(b"wsbridge_connection_state", Deadline("its first lines"))
    await_metrics(
        crowded, lambda it: it.value("wsbridge_http_requests_in_flight") == 1, "all have been noticed"
    )
