"""`memory.maxBytes`: what histories, outboxes and streams hold together, and what gives for it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, RawPeer, RawUpstream, Stream, Upstream, await_truth
from harness.environment import STREAM_MODE
from harness.raw_upstream import frame

MIB = 1 << 20
#: What the allocator and the figures, which are rounded, may be off by.
TOLERANCE = 3 * MIB
#: What a stream costs at most that the library writes: the 32 KiB in which it reads and writes.
IN_THE_LIBRARY = 36_000
#: The same over TLS: a session (18 KB), and the record that waits for room (16 KiB and what is around them).
OVER_TLS = 18_000 + 17_000

Serve = Callable[..., Bridge]
measures = pytest.mark.unsanitized("a sanitizer keeps what was freed, to see who still uses it")


def anonymous(bridge: Bridge) -> int:
    """The memory of the process that is backed by nothing else, in bytes."""
    for line in Path(f"/proc/{bridge.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not tell")


def settings(bound: str | None, connections: dict[str, dict[str, Any]], **sections: Any) -> str:
    return json.dumps(
        {
            "memory": {"maxBytes": bound},
            "history": {"maxMessages": 1_000_000},
            "connections": connections,
            **sections,
        }
    )


def status(bridge: Bridge, name: str) -> dict[str, Any]:
    return bridge.get(f"/v1/connections/{name}/status").json()


def await_received(bridge: Bridge, name: str, count: int) -> None:
    await_truth(lambda: status(bridge, name)["counters"]["received"] == count, f"{name} has {count} messages")


def texts(count: int, size: int, start: int = 0) -> list[str]:
    return [f"{number}:".ljust(size, "x") for number in range(start, start + count)]


def send(peer: RawPeer, messages: list[str]) -> None:
    peer.send(b"".join(frame(1, message.encode()) for message in messages))


@pytest.fixture
def connect(start_raw_upstream, serve_file: Serve) -> Callable[..., tuple[Bridge, dict[str, RawPeer]]]:
    """Serve connections of these names under a bound."""

    def connect(bound: str, *names: str, **options: Any) -> tuple[Bridge, dict[str, RawPeer]]:
        upstreams: dict[str, RawUpstream] = {name: start_raw_upstream() for name in names}
        connections = {
            name: {"url": upstream.url, "compression": False, "heartbeat": {"send": "none"}}
            for name, upstream in upstreams.items()
        }
        bridge = serve_file(settings(bound, connections, **options))
        peers = {}
        for name, upstream in upstreams.items():
            peers[name] = upstream.accept()
            peers[name].accept_handshake()
        for name in names:
            await_truth(lambda name=name: status(bridge, name)["ready"], f"{name} is ready")
        return bridge, peers

    return connect


# Histories


@measures
def test_histories_together_stay_within_the_bound_and_gaps_are_exact(connect) -> None:
    busy = ["a", "b", "c", "d"]
    bridge, peers = connect("8MiB", *busy, "quiet")
    send(peers["quiet"], texts(10, 100))
    await_received(bridge, "quiet", 10)
    first = {}
    for name in busy:
        send(peers[name], texts(1, 1000))
        await_received(bridge, name, 1)
        page = bridge.get(f"/v1/connections/{name}/messages").json()
        first[name] = page["messages"][0]["id"]
    before = anonymous(bridge)
    sent = 10_000
    for start in range(1, sent, 1111):
        for name in busy:
            send(peers[name], texts(1111, 1000, start))
    for name in busy:
        await_received(bridge, name, sent)
    assert anonymous(bridge) - before < 8 * MIB + TOLERANCE
    held = 0
    for name in busy:
        kept = status(bridge, name)["history"]
        held += kept["bytes"]
        with bridge.stream(f"/v1/connections/{name}/events?since={first[name]}") as stream:
            gap = stream.next()
            assert gap.type == "gap"
            missed = json.loads(gap.data)["missed"]
            assert missed + kept["messages"] == sent - 1
            assert json.loads(gap.data)["oldest"] == kept["oldest"]
            rest = stream.take(kept["messages"])
        assert [event.data.split(":")[0] for event in rest] == [str(n) for n in range(1 + missed, sent)]
    assert held > 5 * MIB
    # Those that have much gave, and of one that has little nothing is lost.
    assert len(bridge.get("/v1/connections/quiet/messages").json()["messages"]) == 10
    assert bridge.get("/v1/connections/quiet/messages").json()["gap"] is None
    short = [record for record in bridge.records if "histories keep less" in record["message"]]
    assert [record["bytes"] for record in short] == [8 * MIB]


@measures
def test_records_that_are_next_to_nothing_count_for_what_they_take(connect) -> None:
    bridge, peers = connect("4MiB", "default")
    before = anonymous(bridge)
    for _ in range(10):
        peers["default"].send(frame(1, b"") * 20_000)
    await_received(bridge, "default", 200_000)
    assert anonymous(bridge) - before < 4 * MIB + TOLERANCE
    assert status(bridge, "default")["history"]["messages"] < 200_000


def test_a_message_that_is_larger_than_the_bound_reaches_who_is_there(connect) -> None:
    bridge, peers = connect("1MiB", "default")
    live = bridge.stream()
    large = "x" * (3 * MIB)
    send(peers["default"], ["before", large, "after"])
    assert [event.data for event in live.take(3)] == ["before", large, "after"]
    page = bridge.get("/messages").json()
    assert [message["data"] for message in page["messages"]] == ["after"]


# Outboxes


@measures
def test_an_outbox_that_finds_no_memory_refuses_and_recovers(
    start_upstream: Callable[..., Upstream], serve_file: Serve
) -> None:
    upstreams = [start_upstream(away=True) for _ in range(2)]
    hasty = {"initialDelay": "10ms", "factor": 1}
    connections = {
        name: {"url": upstream.url, "reconnect": hasty}
        for name, upstream in zip(("one", "other"), upstreams, strict=True)
    }
    bridge = serve_file(settings("8MiB", connections))
    target = "/v1/connections/one/messages"
    before = anonymous(bridge)
    accepted = []
    while (response := bridge.post(target, f"{len(accepted)}:".ljust(100_000, "x").encode())).status == 202:
        accepted.append(len(accepted))
    assert_problem(response, 503, "outbox-full")
    assert int(response.header("Retry-After")) >= 1
    # Half of the bound, and not the 16 MiB of one outbox.
    assert 4 * MIB - 100_000 < status(bridge, "one")["outbox"]["bytes"] <= 4 * MIB
    assert anonymous(bridge) - before < 8 * MIB + TOLERANCE
    assert_problem(bridge.post("/v1/connections/other/messages", b"x" * 100_000), 503, "outbox-full")
    upstreams[0].come_back()
    received = upstreams[0].peer().received(len(accepted))
    assert [int(text.split(":")[0]) for text in received] == accepted
    # What one has sent, another may have.
    await_truth(lambda: status(bridge, "one")["outbox"]["messages"] == 0, "all is sent")
    assert bridge.post("/v1/connections/other/messages", b"x" * 100_000).status == 202
    upstreams[1].come_back()
    upstreams[1].peer().received(1)


def test_the_outbox_of_a_removed_connection_is_room_for_others(away: Upstream, serve_file: Serve) -> None:
    connection = {"url": away.url, "connect": "manual"}
    bridge = serve_file(
        settings("2MiB", {"one": connection, "other": connection}, http={"dynamicConnections": True})
    )
    assert bridge.post("/v1/connections/one/connect").status == 200
    assert bridge.post("/v1/connections/other/connect").status == 200
    assert bridge.post("/v1/connections/one/messages", b"x" * 900_000).status == 202
    assert_problem(bridge.post("/v1/connections/other/messages", b"x" * 900_000), 503, "outbox-full")
    assert bridge.request("DELETE", "/v1/connections/one").status == 204
    await_truth(
        lambda: bridge.post("/v1/connections/other/messages", b"x" * 900_000).status == 202,
        "there is room again",
    )


def test_the_oldest_that_wait_make_room_where_they_are_to(away: Upstream, serve_file: Serve) -> None:
    connection = {
        "url": away.url,
        "outbox": {"overflow": "dropOldest"},
        "reconnect": {"initialDelay": "10ms", "factor": 1},
    }
    bridge = serve_file(settings("2MiB", {"default": connection}))
    identifiers = [bridge.send(f"{number}:".ljust(300_000, "x")).json()["id"] for number in range(6)]
    states = [bridge.get(f"/outbox/{identifier}").json()["state"] for identifier in identifiers]
    assert states == ["dropped"] * 3 + ["queued"] * 3
    away.come_back()
    assert [text.split(":")[0] for text in away.peer().received(3)] == ["3", "4", "5"]


def test_a_message_that_never_fits_is_too_large(away: Upstream, serve_file: Serve) -> None:
    bridge = serve_file(settings("2MiB", {"default": {"url": away.url}}, http={"maxBodyBytes": "8MiB"}))
    assert_problem(bridge.post("/messages", b"x" * MIB), 413, "message-too-large")
    assert bridge.post("/messages", b"x" * (MIB - 1000)).status == 202


# Streams


def stalled(bridge: Bridge, count: int) -> list[Stream]:
    """Streams with a filter each, whose clients read nothing after the beginning."""
    return [bridge.stream(f"/events?match=/f{number}:1") for number in range(count)]


def document(number: int, filters: int, size: int) -> str:
    members = {f"f{one}": 1 for one in range(filters)}
    return json.dumps({"n": number, **members, "fill": "x" * size})


def follow(bridge: Bridge, stream: Stream, start: str, count: int) -> int:
    """Read on to the last of `count` records, over interruptions; return how many of these there were.

    Records come in order, and once, and each that does not is announced.
    """
    due = interruptions = 0
    while due < count:
        try:
            event = stream.next()
        except ConnectionError:
            interruptions += 1
            cursor = stream.parser.last_event_id or start
            stream = bridge.stream(f"/events?since={cursor}")
            continue
        if event.type == "gap":
            due += json.loads(event.data)["missed"]
        else:
            assert json.loads(event.data)["n"] == due
            due += 1
    assert due == count
    return interruptions


@measures
# What many readers are filled with is encoded for each of them, which takes a debug build minutes on a busy
# machine; whatever is waited for has a deadline of its own.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("bound", "readers", "records", "size", "allowance"),
    # A large record is in several places while it passes through.
    [(4, 100, 1008, 2000, 0), (8, 40, 12, 900_000, 6 * MIB)],
    ids=["many small records", "few large records"],
)
def test_readers_that_stand_still_stay_within_the_bound(
    connect, stream_mode: str, bound: int, readers: int, records: int, size: int, allowance: int
) -> None:
    bridge, peers = connect(f"{bound}MiB", "default", http={"keepAlive": "1h"})
    start = bridge.get("/messages").json()["next"]
    before = anonymous(bridge)
    streams = stalled(bridge, readers)
    healthy = bridge.stream()
    burst = records // 12
    for first in range(0, records, burst):
        batch = range(first, first + burst)
        send(peers["default"], [document(number, readers, size) for number in batch])
        for number in batch:
            event = healthy.next()
            assert (event.type, json.loads(event.data).get("n")) == ("message", number), event
    # Each costs what any stream does besides.
    each = OVER_TLS if stream_mode == "tls" else IN_THE_LIBRARY
    assert anonymous(bridge) - before < bound * MIB + allowance + (readers + 1) * each + TOLERANCE
    # So many have to make room for others that there is room for what they hold.
    assert (bridge.status()["subscribers"] == readers + 1) == (size < 100_000)
    words = "readers that stand still are disconnected"
    if size > 100_000:
        bridge.err.until(lambda text: words in text and text.endswith("\n") or None, "word of that")
    assert sum(words in record["message"] for record in bridge.records) == (size > 100_000)
    # The first one stood still for longest.
    interruptions = [follow(bridge, stream, start, records) for stream in streams[:: readers // 3]]
    assert (interruptions[0] > 0) == (size > 100_000)


@pytest.mark.parametrize("mode", ["detached", "suspended"])
def test_a_burst_of_more_than_streams_may_hold_reaches_a_prompt_reader(
    connect, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv(STREAM_MODE, mode)
    bridge, peers = connect("1MiB", "default", history={"maxMessages": 3})
    # They share what streams may hold: 256 KiB.
    others = [bridge.stream(f"/events?match=/f{number}:1") for number in range(7)]
    prompt = bridge.stream()
    sent = texts(250, 1000)
    send(peers["default"], sent)
    assert [event.data for event in prompt.take(len(sent))] == sent
    assert bridge.status()["subscribers"] == len(others) + 1


# Where the bound comes from


def test_the_start_and_check_tell_the_bound(
    away: Upstream, serve_file: Serve, run_bridge, tmp_path: Path
) -> None:
    bridge = serve_file(settings(None, {"default": {"url": away.url}}))
    (record,) = [record for record in bridge.records if record["message"] == "memory is bounded"]
    assert record["by"].startswith("half of the ")
    total = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemTotal:")
    )
    if record["by"] == "half of the memory of the machine":
        assert record["bytes"] == total // 2
    else:
        assert record["bytes"] < total // 2
    check = run_bridge("check", "--config", str(tmp_path / "wsbridge.yaml"))
    assert check.exit_code() == 0
    assert check.out.text.splitlines()[-1].endswith(f"({record['by']})")


def test_a_reload_changes_the_bound(connect, tmp_path: Path) -> None:
    bridge, peers = connect("16MiB", "default")
    send(peers["default"], texts(6000, 1000))
    await_received(bridge, "default", 6000)
    assert bridge.status()["history"]["messages"] >= 6000
    path = tmp_path / "wsbridge.yaml"
    path.write_text(path.read_text().replace("16MiB", "2MiB"))
    bridge.signal(signal.SIGHUP)
    kept = bridge.await_status(lambda status: status["history"]["messages"] < 6000, "the history gives")
    assert MIB < kept["history"]["bytes"] < 2 * MIB
    bridge.err.until(lambda text: '"reloaded"' in text and text.endswith("\n") or None, "word of the reload")
    (record,) = [record for record in bridge.records if record["message"] == "reloaded"]
    assert record["settings"] == "memory"
    bounds = [record["bytes"] for record in bridge.records if record["message"] == "memory is bounded"]
    assert bounds == [16 * MIB, 2 * MIB]
