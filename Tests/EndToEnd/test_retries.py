"""How often, how late and how long a connection is dialled again: `reconnect` in the configuration."""

from __future__ import annotations

import json
from email.utils import formatdate
from typing import Any

import pytest

from harness import Bridge, Upstream, WebAnswer


def connection(url: str, reconnect: str, more: str = "") -> str:
    return f"connections: {{ default: {{ url: '{url}', reconnect: {{ {reconnect} }} {more} }} }}"


def await_state(bridge: Bridge, state: str) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["state"] == state, f"the state {state}")


def types(bridge: Bridge) -> list[str]:
    """All that has happened so far."""
    stream = bridge.stream("/events?types=status&since=start&idle=100ms")
    return [json.loads(event.data)["type"] for event in stream.rest()[1:]]


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_an_accept_then_close_server_sees_no_more_dials_than_the_policy_allows(
    start_upstream, serve_file, limit: int
) -> None:
    upstream = start_upstream(close_at_once=1000)
    bridge = serve_file(connection(upstream.url, f"initialDelay: 20ms, maxRetries: {limit}"))
    status = await_state(bridge, "failed")
    assert upstream.dials == limit + 1
    assert status["counters"]["opens"] == limit + 1
    seen = types(bridge)
    assert (seen.count("connecting"), seen.count("reconnecting")) == (limit + 1, limit)
    assert seen[-1] == "gave-up"


@pytest.mark.parametrize("limit", [0, 2])
def test_a_connection_gives_up_once_after_its_retries(start_upstream, serve_file, limit: int) -> None:
    upstream = start_upstream(refuse=503)
    bridge = serve_file(connection(upstream.url, f"initialDelay: 10ms, maxRetries: {limit}"))
    record = bridge.stream("/events?types=status&since=start").until_status("gave-up")
    assert record["attempts"] == limit
    await_state(bridge, "failed")
    assert upstream.dials == limit + 1
    assert types(bridge).count("gave-up") == 1


def test_delays_grow_up_to_the_cap_and_jitter_only_shortens_them(start_upstream, serve_file) -> None:
    upstream = start_upstream(refuse=503)
    reconnect = "initialDelay: 10ms, factor: 3, maxDelay: 40ms, jitter: 0.5, maxRetries: 12"
    bridge = serve_file(connection(upstream.url, reconnect))
    stream = bridge.stream("/events?types=status&since=start")
    delays = [stream.until_status("reconnecting")["delayMs"] for _ in range(12)]
    for delay, full in zip(delays, [10, 30, *[40] * 10], strict=True):
        assert full // 2 <= delay <= full
    # Drawn for each attempt: ten equal ones out of twenty would be a wonder.
    assert len(set(delays[2:])) > 1


@pytest.mark.parametrize(
    ("code", "state"), [(4000, "closed"), (4050, "closed"), (1000, "closed"), (4100, "open")]
)
def test_close_codes_to_stop_on_may_be_ranges(start_upstream, serve_file, code: int, state: str) -> None:
    upstream = start_upstream()
    bridge = serve_file(connection(upstream.url, "initialDelay: 10ms, stopOnCloseCodes: [1000, 4000-4099]"))
    bridge.await_ready()
    upstream.peer().close(code)
    if state == "open":
        upstream.peer(1)
    await_state(bridge, state)
    assert upstream.dials == (2 if state == "open" else 1)


def test_a_drop_counts_as_1006(start_upstream, serve_file) -> None:
    upstream = start_upstream()
    bridge = serve_file(connection(upstream.url, "stopOnCloseCodes: [1006]"))
    bridge.await_ready()
    upstream.peer().drop()
    await_state(bridge, "closed")


def test_a_status_to_stop_on_ends_in_failed(start_upstream, serve_file) -> None:
    upstream = start_upstream(refuse=403)
    bridge = serve_file(connection(upstream.url, "initialDelay: 10ms, stopOnStatus: [401, 403]"))
    await_state(bridge, "failed")
    assert upstream.dials == 1
    assert types(bridge) == ["connecting", "failed", "gave-up"]


def test_without_reconnecting_a_loss_ends_in_closed(start_upstream, serve_file) -> None:
    upstream = start_upstream()
    bridge = serve_file(connection(upstream.url, "enabled: false"))
    bridge.await_ready()
    upstream.peer().drop()
    await_state(bridge, "closed")
    assert types(bridge)[-1] == "closed"


def refused(bridge: Bridge, upstream: Upstream) -> None:
    await_state(bridge, "failed")
    upstream.refuse = None


def disconnected(bridge: Bridge, upstream: Upstream) -> None:
    upstream.refuse = None
    bridge.post("/disconnect")
    await_state(bridge, "closed")


def paused(bridge: Bridge, upstream: Upstream) -> None:
    upstream.refuse = None
    bridge.post("/pause")
    await_state(bridge, "paused")


def waiting(bridge: Bridge, upstream: Upstream) -> None:
    await_state(bridge, "waiting")
    upstream.refuse = None


@pytest.mark.parametrize(
    ("reconnect", "come_there"),
    [
        ("maxRetries: 0", refused),
        ("initialDelay: 60s", disconnected),
        ("initialDelay: 60s", paused),
        ("initialDelay: 60s", waiting),
    ],
    ids=["failed", "closed", "paused", "waiting"],
)
def test_a_manual_connect_dials_at_once(start_upstream, serve_file, reconnect: str, come_there) -> None:
    upstream = start_upstream(refuse=503)
    bridge = serve_file(connection(upstream.url, reconnect))
    upstream.dialled(1)
    come_there(bridge, upstream)
    assert bridge.post("/connect").status == 200
    bridge.await_ready()


def test_a_manual_connect_leaves_idle_and_changes_nothing_when_open(start_upstream, serve_file) -> None:
    upstream = start_upstream()
    bridge = serve_file(connection(upstream.url, "", ", connect: manual"))
    assert (bridge.status()["state"], upstream.dials) == ("idle", 0)
    bridge.post("/connect")
    bridge.await_ready()
    bridge.post("/connect")
    assert (bridge.status()["state"], upstream.dials) == ("open", 1)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_a_lower_bound(start_web_server, serve_file, form: str) -> None:
    # The clock of the server is years behind ours, which must not matter.
    headers = (
        {"Retry-After": "3600"} if form == "seconds" else {"Retry-After": formatdate(1e9 + 3600, usegmt=True)}
    )
    server = start_web_server(lambda _: WebAnswer(503, b"", headers, date=formatdate(1e9, usegmt=True)))
    bridge = serve_file(connection(server.url, "initialDelay: 10ms"))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 3_600_000


def test_retry_after_does_not_shorten_a_delay(start_web_server, serve_file) -> None:
    server = start_web_server(lambda _: WebAnswer(503, b"", {"Retry-After": "1"}))
    bridge = serve_file(connection(server.url, "initialDelay: 60s, jitter: 0"))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 60_000


def test_more_than_a_day_of_retry_after_is_a_day(start_web_server, serve_file) -> None:
    server = start_web_server(lambda _: WebAnswer(503, b"", {"Retry-After": "99999999999999999999"}))
    bridge = serve_file(connection(server.url, "initialDelay: 10ms"))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 86_400_000
