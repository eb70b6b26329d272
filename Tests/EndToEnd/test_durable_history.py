"""With a data directory: records and their ids outlive the process, and the history is read from disk."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Event, RawPeer, RawUpstream, Stream, Upstream, await_truth
from harness.raw_upstream import frame

Serve = Callable[..., Bridge]
MIB = 1 << 20

pytestmark = pytest.mark.usefixtures("stream_mode")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(serve_file: Serve, data: Path) -> Serve:
    """Serve these upstreams with a store in `data`; a single one is named `default`."""

    def start(*upstreams: Upstream | RawUpstream, **sections: Any) -> Bridge:
        names = ["default"] if len(upstreams) == 1 else [f"c{number}" for number in range(len(upstreams))]
        connections = {
            name: {"url": upstream.url, "compression": False, "heartbeat": {"send": "none"}}
            for name, upstream in zip(names, upstreams, strict=True)
        }
        settings = {"storage": {"directory": str(data)}, "connections": connections, **sections}
        return serve_file(json.dumps(settings))

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    assert bridge.exit_code() == -signal.SIGKILL


ends = pytest.mark.parametrize("end", [Bridge.stop, kill])


def after(bridge: Bridge, event: Event, target: str = "/events") -> Stream:
    return bridge.stream(target, {"Last-Event-ID": event.id})


def texts(events: list[Event]) -> list[str]:
    return [event.data for event in events]


def numbers(*limits: int) -> list[str]:
    return [str(number) for number in range(*limits)]


# Restarts


@ends
def test_an_id_continues_over_a_restart_without_gap_or_duplicate(
    upstream: Upstream, durable: Serve, end: Callable[[Bridge], None]
) -> None:
    first = durable(upstream)
    stream = first.stream()
    upstream.peer(0).send(*numbers(100))
    seen = stream.take(100)
    end(first)
    second = durable(upstream)
    second.await_ready()
    upstream.peer(1).send("new")
    for place in (0, 42, 99):
        stream = after(second, seen[place])
        assert stream.take(99 - place) == seen[place + 1 :]
        assert stream.next().data == "new"
    assert second.stream("/events?since=start").take(100) == seen
    epochs = {event.id.split("-")[0] for event in [*seen, after(second, seen[99]).next()]}
    assert len(epochs) == 1


@ends
def test_ids_are_not_given_twice(upstream: Upstream, durable: Serve, end: Callable[[Bridge], None]) -> None:
    ids: list[int] = []
    for run in range(4):
        bridge = durable(upstream)
        stream = bridge.stream("/events?since=start")
        upstream.peer(run).send(f"of run {run}")
        events = stream.take(run + 1)
        assert texts(events) == [f"of run {number}" for number in range(run + 1)]
        assert [int(event.id.split("-")[1]) for event in events[:-1]] == ids
        ids.append(int(events[-1].id.split("-")[1]))
        end(bridge)
    assert ids == sorted(set(ids))


@ends
def test_lifecycle_events_and_binary_messages_are_there_as_they_were(
    upstream: Upstream, durable: Serve, end: Callable[[Bridge], None]
) -> None:
    target = "/events?types=text,binary,status&format=json&limit=6"
    first = durable(upstream)
    first.await_ready()
    upstream.peer(0).send("text\r\n\0", b"\0\xff", "x")
    before = texts(first.stream(f"{target}&since=start").rest())[1:]
    assert len(before) == 6
    end(first)
    assert texts(durable(upstream).stream(f"{target}&since=start").rest())[1:] == before


def test_what_was_trimmed_before_a_restart_is_counted(upstream: Upstream, durable: Serve) -> None:
    first = durable(upstream, history={"maxMessages": 50})
    stream = first.stream()
    upstream.peer(0).send(*numbers(200))
    seen = stream.take(200)
    first.stop()
    second = durable(upstream, history={"maxMessages": 50})
    second.await_ready()
    stream = after(second, seen[20])
    gap = stream.next()
    assert gap.type == "gap"
    rest = texts(stream.take(20))
    # With the lifecycle events that came between and at the end.
    lost = int(rest[0]) - 21
    assert json.loads(gap.data)["missed"] == lost
    assert gap.id == seen[20 + lost].id
    assert rest == numbers(21 + lost, 41 + lost)


def test_status_tells_what_is_on_disk(upstream: Upstream, durable: Serve) -> None:
    first = durable(upstream)
    first.await_ready()
    upstream.peer(0).send("12345", "67890")
    before = first.await_status(lambda status: status["history"]["messages"] == 5, "all is there")
    kill(first)
    second = durable(upstream)
    after = second.await_status(lambda status: status["history"]["messages"] == 5 + 3, "all is there")
    assert after["history"]["oldest"] == before["history"]["oldest"]


# Reading the disk


@pytest.fixture
def filled(start_raw_upstream: Callable[..., RawUpstream], durable: Serve) -> Any:
    """Have so many messages stored by a bridge, and start another one that has none of them in memory."""

    def fill(count: int, **sections: Any) -> tuple[Bridge, RawPeer]:
        upstream = start_raw_upstream()
        history = {"history": {"maxMessages": 1_000_000, "maxBytes": "1GiB"}, **sections}
        bridge = durable(upstream, **history)
        peer = upstream.accept()
        peer.accept_handshake()
        for start in range(0, count, 5000):
            peer.send(
                b"".join(frame(1, text(number).encode()) for number in range(start, min(count, start + 5000)))
            )
        bridge.await_status(lambda status: status["history"]["messages"] >= count + 3, "all is stored")
        bridge.stop()
        bridge = durable(upstream, **history)
        peer = upstream.accept()
        peer.accept_handshake()
        bridge.await_ready()
        return bridge, peer

    return fill


def text(number: int) -> str:
    return json.dumps({"n": number, "tenth": number % 10 == 0, "pad": "x" * 100})


def count_of(event: Event) -> int:
    return json.loads(event.data)["n"]


def anonymous(bridge: Bridge) -> int:
    for line in Path(f"/proc/{bridge.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not tell")


@pytest.mark.unsanitized("a sanitizer keeps what was freed, to see who still uses it")
def test_a_long_history_is_streamed_from_disk_and_joins_live_within_bounded_memory(filled: Any) -> None:
    bridge, peer = filled(100_000)
    before = anonymous(bridge)
    readers = [bridge.stream("/events?since=start") for _ in range(4)]
    most = before
    for number in range(100_000):
        for reader in readers:
            assert count_of(reader.next()) == number
        if number % 10_000 == 0:
            # While they read, more comes.
            peer.send(b"".join(frame(1, text(100_000 + number // 10 + i).encode()) for i in range(1000)))
            most = max(most, anonymous(bridge))
    for number in range(100_000, 110_000):
        for reader in readers:
            assert count_of(reader.next()) == number
    peer.send(frame(1, b"live"))
    assert [reader.next().data for reader in readers] == ["live"] * 4
    assert most - before < 16 * MIB


def test_the_newest_are_found_on_disk(filled: Any) -> None:
    bridge, peer = filled(20_000)
    assert [count_of(event) for event in bridge.stream("/events?last=3000").take(3000)] == list(
        range(17_000, 20_000)
    )
    found = bridge.stream("/events?last=100&match=/tenth:true&limit=100").rest()
    assert [count_of(event) for event in found] == list(range(19_000, 20_000, 10))
    live = bridge.stream()
    peer.send(frame(1, text(20_000).encode()))
    live.next()
    found = bridge.stream("/events?last=2000&match=/tenth:true&limit=2000")
    assert [count_of(event) for event in found.rest()] == list(range(10, 20_001, 10))
    found = bridge.stream("/events?last=1000000&limit=20001").rest()
    assert [count_of(event) for event in found] == list(range(20_001))


def test_filters_and_ids_and_times_select_on_disk(filled: Any) -> None:
    bridge, _ = filled(20_000)
    found = bridge.stream("/events?since=start&match=/tenth:true&limit=2000").rest()
    assert [count_of(event) for event in found] == list(range(0, 20_000, 10))
    places = [
        json.loads(event.data) for event in bridge.stream("/events?since=start&format=json").take(20_000)
    ]
    middle = places[9_000]
    stream = bridge.stream("/events", {"Last-Event-ID": middle["id"]})
    assert [count_of(event) for event in stream.take(11_000 - 1)] == list(range(9_001, 20_000))
    first = next(number for number, place in enumerate(places) if place["time"] >= middle["time"])
    stream = bridge.stream(f"/events?since={middle['time']}")
    assert [count_of(event) for event in stream.take(5000)] == list(range(first, first + 5000))
    assert count_of(bridge.stream("/events?since=1h").next()) == 0
    assert bridge.stream("/events?since=start&topic=elsewhere&idle=1s").rest() == []


def test_polls_go_through_what_is_on_disk(filled: Any) -> None:
    bridge, peer = filled(5_000)
    found: list[int] = []
    cursor = "start"
    while len(found) < 5_000:
        answer = bridge.get(f"/messages?since={cursor}&limit=700").json()
        assert answer["gap"] is None
        found += [json.loads(message["data"])["n"] for message in answer["messages"]]
        cursor = answer["next"]
    assert found == list(range(5_000))
    peer.send(frame(1, text(5_000).encode()))
    answer = bridge.get(f"/messages?since={cursor}&wait=30s").json()
    assert [json.loads(message["data"])["n"] for message in answer["messages"]] == [5_000]
    answer = bridge.get("/messages?since=1h&match=/n:4321").json()
    assert [json.loads(message["data"])["n"] for message in answer["messages"]] == [4321]


def test_merged_streams_read_the_disk_in_order(
    start_raw_upstream: Callable[..., RawUpstream], durable: Serve
) -> None:
    upstreams = [start_raw_upstream(), start_raw_upstream()]

    def connect(bridge: Bridge) -> list[RawPeer]:
        peers = [upstream.accept() for upstream in upstreams]
        for peer in peers:
            peer.accept_handshake()
        await_truth(lambda: bridge.get("/readyz").status == 200, "both are ready")
        return peers

    bridge = durable(*upstreams)
    peers = connect(bridge)
    live = bridge.stream("/v1/events")
    for number in range(500):
        for peer in peers if number % 5 == 0 else peers[:1]:
            peer.send(frame(1, str(number).encode()))
    seen = live.take(600)
    bridge.stop()
    bridge = durable(*upstreams)
    connect(bridge)
    assert bridge.stream("/v1/events?since=start").take(600) == seen
    assert after(bridge, seen[250], "/v1/events").take(349) == seen[251:]
    assert bridge.stream("/v1/events?last=333").take(333) == seen[-333:]
    one = [event for event in seen if json.loads(event.data)["connection"] == "c1"]
    assert texts(bridge.stream("/v1/connections/c1/events?since=start&format=json").take(100)) == texts(one)


def test_who_is_far_behind_holds_up_nobody(filled: Any) -> None:
    bridge, peer = filled(50_000)
    behind = [bridge.stream("/events?since=start", receive_buffer=4096) for _ in range(8)]
    fast = bridge.stream()
    for round in range(20):
        peer.send(b"".join(frame(1, text(round * 1000 + number).encode()) for number in range(1000)))
        assert [count_of(event) for event in fast.take(1000)] == list(
            range(round * 1000, round * 1000 + 1000)
        )
        assert bridge.send("and out").status == 202
    assert [count_of(event) for event in behind[3].take(50_000)] == list(range(50_000))


def test_who_is_outrun_is_told_how_much_was_lost(
    start_raw_upstream: Callable[..., RawUpstream], durable: Serve
) -> None:
    upstream = start_raw_upstream()
    bridge = durable(upstream, history={"maxMessages": 5000})
    peer = upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    reader = bridge.stream("/events", receive_buffer=4096)
    # More than all buffers and the history have room for.
    count = 60_000
    for start in range(0, count, 1000):
        peer.send(b"".join(frame(1, text(number).encode()) for number in range(start, start + 1000)))
    bridge.await_status(lambda status: status["counters"]["received"] == count, "all is received")
    found: list[int] = []
    missed = 0
    while not found or found[-1] != count - 1:
        event = reader.next()
        if event.type == "gap":
            lost = json.loads(event.data)["missed"]
            missed += lost
            assert count_of(following := reader.next()) == found[-1] + lost + 1
            found.append(count_of(following))
        else:
            assert not found or count_of(event) == found[-1] + 1
            found.append(count_of(event))
    assert missed > 0
    assert missed + len(found) == count


def test_tail_reads_the_disk(filled: Any, run_bridge: Serve) -> None:
    bridge, _ = filled(3_000)
    tail = run_bridge("tail", "--since", "start", *bridge.flags)
    lines = tail.out.until(
        lambda text: text.splitlines() if text.count("\n") >= 3_000 else None, "all of the history"
    )
    assert [json.loads(line)["n"] for line in lines[:3_000]] == list(range(3_000))
    tail.process.kill()
    tail.process.wait()


# A disk that cannot be written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def has_said(bridge: Bridge, words: str) -> bool:
    return any(words in record["message"] for record in bridge.records)


def stored_in(folder: Path, upstream: Upstream) -> str:
    """Return a configuration with one upstream and a store in the folder."""
    connections = {"default": {"url": upstream.url}}
    return json.dumps({"storage": {"directory": str(folder / "data")}, "connections": connections})


def resize(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def test_streams_go_on_while_the_disk_is_full_and_a_gap_tells_of_it_afterwards(
    upstream: Upstream, serve_file: Serve, small_disk: Path
) -> None:
    settings = stored_in(small_disk, upstream)
    bridge = serve_file(settings)
    bridge.await_ready()
    peer = upstream.peer(0)
    stream = bridge.stream()
    peer.send("before")
    before = stream.next()
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    # What is left of the log's pages may still take some.
    sent = 0
    while bridge.get("/healthz").status and not any(
        "cannot be written" in r["message"] for r in bridge.records
    ):
        peer.send("x" * 10_000)
        sent += 1
        stream.next()
    peer.send(*numbers(100))
    shown = stream.take(100)
    assert texts(shown) == numbers(100)
    # From memory all of it can be had again.
    assert after(bridge, shown[10]).take(89) == shown[11:]
    refused = bridge.post("/messages", b"not now")
    assert (refused.status, refused.json()["type"]) == (503, "urn:wsbridge:problem:storage-unavailable")
    filler.unlink()
    resize(small_disk, "32m")
    await_truth(lambda: has_said(bridge, "can be written again"), "it recovers")
    peer.send("after")
    last = stream.next()
    assert last.data == "after"
    assert last.id.split("-")[0] == before.id.split("-")[0]
    bridge.await_status(lambda status: status["history"]["newest"] == last.id, "it is stored")
    bridge.stop()
    bridge = serve_file(settings)
    stream = after(bridge, before)
    events = [stream.next()]
    while events[-1].data != "after":
        events.append(stream.next())
    gap = next(event for event in events if event.type == "gap")
    kept = [event for event in events if event.type != "gap"]
    assert json.loads(gap.data)["missed"] == sent + 100 - (len(kept) - 1)
    assert json.loads(gap.data)["oldest"] == last.id
    assert gap.id == shown[-1].id
    # Who has an id out of it has lost what came after that.
    gap = after(bridge, shown[10]).next()
    assert (gap.type, json.loads(gap.data)["missed"]) == ("gap", 89)


def test_what_was_shown_while_the_disk_was_full_is_not_shown_again_as_something_else(
    upstream: Upstream, serve_file: Serve, small_disk: Path
) -> None:
    settings = stored_in(small_disk, upstream)
    bridge = serve_file(settings)
    bridge.await_ready()
    stream = bridge.stream()
    upstream.peer(0).send("before")
    before = stream.next()
    data = small_disk / "data"
    (data / "wsbridge.db").rename(data / "aside")
    while not has_said(bridge, "cannot be written"):
        upstream.peer(0).send("probe")
        stream.next()
    upstream.peer(0).send("unstored", "unstored")
    shown = stream.take(2)
    kill(bridge)
    (data / "aside").rename(data / "wsbridge.db")
    bridge = serve_file(settings)
    bridge.await_ready()
    upstream.peer(1).send("new")
    gap = (stream := after(bridge, shown[0])).next()
    assert (gap.type, json.loads(gap.data)["missed"]) == ("gap", None)
    new = stream.next()
    assert new.data == "new"
    assert int(new.id.split("-")[1]) > int(shown[1].id.split("-")[1])
    # Nor is it passed over in silence for who has seen nothing of it.
    stream = after(bridge, before)
    gap = stream.next()
    assert (gap.type, json.loads(gap.data)["missed"]) == ("gap", None)
    assert stream.next().data == "new"


def test_a_kill_while_the_disk_is_full_shows_to_who_has_read_all_that_is_stored(
    upstream: Upstream, serve_file: Serve, small_disk: Path
) -> None:
    settings = stored_in(small_disk, upstream)
    bridge = serve_file(settings)
    bridge.await_ready()
    stream = bridge.stream()
    upstream.peer(0).send("before")
    stream.next()
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    while not has_said(bridge, "cannot be written"):
        upstream.peer(0).send("x" * 10_000)
        stream.next()
    upstream.peer(0).send("shown", "shown as well")
    stream.take(2)
    kill(bridge)
    filler.unlink()
    resize(small_disk, "32m")
    for run in (1, 2):
        # The second time it is not the last end that is told of.
        bridge = serve_file(settings)
        bridge.await_ready()
        upstream.peer(run).send("new")
        # What a gap tells as the oldest is what there is when it is told.
        bridge.await_status(lambda status: status["counters"]["received"] == 1, "it has come")
        stream = bridge.stream("/events?since=start")
        stored = []
        while (event := stream.next()).type != "gap":
            stored.append(event)
        assert json.loads(event.data)["missed"] is None
        assert stream.next().data == "new"
        again = after(bridge, stored[-1])
        assert again.next() == event
        assert again.next().data == "new"
        bridge.stop()
