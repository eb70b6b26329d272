"""A disk that does not keep up: upstreams wait, messages are refused in the end, and nothing is lost."""

from __future__ import annotations

import concurrent.futures
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream, await_truth
from harness.disks import stuck_disk

#: Due twice before a disk that does not answer is called one, and slow enough for an upstream that gets tens
#: of megabytes at once when it answers again.
HEARTBEAT = {"interval": "2s", "missLimit": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_while_too_much_waits_for_the_disk_upstreams_wait_too_and_are_not_thought_dead(
    upstream: Upstream, run_bridge: Callable[..., Bridge], data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wsbridge.yaml"
    connection = {
        "url": upstream.url,
        "heartbeat": HEARTBEAT,
        "outbox": {"maxBytes": "64MiB"},
    }
    configuration = {"connections": {"default": connection}, "storage": {"directory": data.name}}
    path.write_text(json.dumps(configuration))
    flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
    bridge = run_bridge("serve", *flags).listening()
    bridge.await_ready()
    body = b"x" * (1 << 20)
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        with stuck_disk(bridge, tmp_path):
            senders = [pool.submit(bridge.post, "/messages", body) for _ in range(30)]
            bridge.await_status(lambda status: status["outbox"]["messages"] == 30, "all have come")
            upstream.peer().send("unread")
            # By then it would have come, and heartbeats were due.
            await_truth(lambda: bridge.get("/healthz").status == 503, "the disk does not answer")
            assert bridge.status()["counters"]["received"] == 0
        assert [sender.result().status for sender in senders] == [202] * 30
    bridge.await_status(lambda status: status["counters"]["received"] == 1, "the upstream is read again")
    assert len(upstream.peers) == 1


#: What the store counts for an offer beside its bytes, and for how much it takes offers that wait.
OVERHEAD = 96
MOST = 32 << 20
MIB = 1 << 20


def test_what_is_too_much_for_the_disk_is_refused_and_what_was_seen_is_kept(
    start_upstream: Callable[..., Upstream],
    serve_file: Callable[..., Bridge],
    data: Path,
    tmp_path: Path,
) -> None:
    busy, quiet = start_upstream(), start_upstream()
    common = {"heartbeat": HEARTBEAT, "outbox": {"maxBytes": "64MiB"}}
    connections = {
        "busy": {"url": busy.url, **common},
        # Its peer has nothing to say, so that it ends in no time.
        "quiet": {"url": quiet.url, **common, "closeTimeout": "10ms"},
    }
    settings = json.dumps({"storage": {"directory": str(data)}, "connections": connections})
    bridge = serve_file(settings)
    for name in connections:
        await_truth(
            lambda name=name: bridge.get(f"/v1/connections/{name}").json()["ready"], f"{name} is ready"
        )
    stream = bridge.stream("/v1/events?types=text,status&format=json&since=start")
    before = [event for event in stream.take(8) if json.loads(event.data)["data"]["type"] != "snapshot"]
    target = "/v1/connections/busy/messages"

    def waiting() -> int:
        return bridge.get("/v1/connections/busy").json()["outbox"]["messages"]

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        with stuck_disk(bridge, tmp_path):
            senders = [pool.submit(bridge.post, target, b"x" * MIB) for _ in range(31)]
            await_truth(lambda: waiting() == 31, "all have come")
            # Then there is room for less than a single byte takes.
            rest = MOST - 31 * (MIB + OVERHEAD)
            senders.append(pool.submit(bridge.post, target, b"x" * (rest - OVERHEAD - 50)))
            await_truth(lambda: waiting() == 32, "the last has come")
            assert_problem(bridge.post(target, b"x"), 503, "storage-unavailable")
            assert bridge.post("/v1/connections/quiet/pause").status == 200
            busy.peer().send("unread")
            # By then heartbeats were due.
            await_truth(lambda: bridge.get("/healthz").status == 503, "the disk does not answer")
            assert bridge.get("/v1/connections/busy").json()["counters"]["received"] == 0
            assert waiting() == 32
        assert [sender.result().status for sender in senders] == [202] * 32
    assert len(busy.peers) == 1
    assert bridge.post(target, b"again").status == 202
    # What happened while nobody could be told comes now, in its order.
    events = [stream.next()]
    while json.loads(events[-1].data)["data"] != "unread":
        events.append(stream.next())
    told = [json.loads(event.data) for event in events]
    assert [record["type"] for record in told[:-1]] == ["status"] * (len(told) - 1)
    assert {record["connection"] for record in told[:-1]} == {"quiet"}
    assert "paused" in [record["data"]["type"] for record in told[:-1]]
    sequences = [int(event.id.split("-")[1]) for event in [*before, *events]]
    assert sequences == list(range(1, len(sequences) + 1))
    assert busy.peer().received(33)[-1] == "again"
    bridge.signal(signal.SIGKILL)
    bridge.exit_code()
    stream = serve_file(settings).stream("/v1/events?types=text,status&format=json&since=start")
    kept = [event for event in stream.take(len(sequences) + 2) if event.id and "snapshot" not in event.data]
    assert kept[: len(sequences)] == [*before, *events]
