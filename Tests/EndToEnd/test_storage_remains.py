"""A store of which a part is damaged or missing, or that is a copy: nothing is passed over in silence."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Event, RawUpstream, Upstream, await_truth
from harness.pump import Pump
from harness.raw_upstream import frame

Serve = Callable[..., Bridge]
PAGE = 4096


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(start_bridge: Callable[..., Bridge], data: Path) -> Serve:
    def start(upstream: Upstream | RawUpstream, **options: Any) -> Bridge:
        return start_bridge(upstream.url, "--data-dir", str(data), **options)

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    assert bridge.exit_code() == -signal.SIGKILL


def warnings(bridge: Bridge) -> list[str]:
    """Return what the log says is odd about the store."""
    return [record["finding"] for record in bridge.records if "finding" in record]


# Damaged pages


def fill(bridge: Bridge, upstream: RawUpstream, count: int) -> list[str]:
    """Have so many messages stored, and return their ids."""
    stream = bridge.stream("/events?since=start")
    peer = upstream.accept()
    peer.accept_handshake()
    peer.send(b"".join(frame(1, f"{number} {'x' * 500}".encode()) for number in range(count)))
    return [event.id for event in stream.take(count)]


def damage(database: Path, leaves: list[int]) -> set[int]:
    """Overwrite pages of the table of records, and return the sequences of what was in them."""
    with contextlib.closing(sqlite3.connect(database)) as found:
        pages = found.execute(
            "SELECT pageno, ncell FROM dbstat WHERE name = 'records' AND pagetype = 'leaf' ORDER BY path"
        ).fetchall()
        sequences = [row[0] for row in found.execute("SELECT sequence FROM records ORDER BY sequence")]
    hidden: set[int] = set()
    with database.open("r+b") as file:
        for leaf in leaves:
            before = sum(cells for _, cells in pages[:leaf])
            hidden |= set(sequences[before : before + pages[leaf][1]])
            file.seek((pages[leaf][0] - 1) * PAGE)
            file.write(os.urandom(1) * PAGE)
    return hidden


def sequence(id: str) -> int:
    return int(id.split("-")[1])


@pytest.fixture
def damaged(
    start_raw_upstream: Callable[..., RawUpstream], durable: Serve, data: Path
) -> tuple[Bridge, RawUpstream, list[str], set[int]]:
    """A bridge with 3000 messages, of which some are in damaged pages."""
    upstream = start_raw_upstream()
    first = durable(upstream)
    ids = fill(first, upstream, 3000)
    first.stop()
    hidden = damage(data / "wsbridge.db", [50, 51, 53, 200])
    return durable(upstream), upstream, ids, hidden


def missed(gaps: list[Any]) -> int:
    return sum(gap["missed"] for gap in gaps)


@pytest.mark.usefixtures("stream_mode")
def test_a_stream_gets_past_damaged_pages_with_gaps_that_count(
    damaged: tuple[Bridge, RawUpstream, list[str], set[int]],
) -> None:
    bridge, upstream, ids, hidden = damaged
    lost = [id for id in ids if sequence(id) in hidden]
    kept = [id for id in ids if sequence(id) not in hidden]
    assert len(hidden) == len(lost) > 20
    for first in (0, ids.index(lost[3])):
        stream = bridge.stream("/events", {"Last-Event-ID": ids[first]})
        events: list[Event] = []
        while not events or events[-1].id != ids[-1]:
            events.append(stream.next())
        gaps = [json.loads(event.data) for event in events if event.type == "gap"]
        assert [event.id for event in events if event.type == "message"] == [
            id for id in kept if sequence(id) > sequence(ids[first])
        ]
        assert missed(gaps) == len([id for id in lost if sequence(id) > sequence(ids[first])])
    # It says so, and all else goes on.
    assert "damaged" in bridge.status()["storage"]["damage"]
    assert bridge.status()["storage"]["error"] is None
    assert len([record for record in bridge.records if "is damaged" in record["message"]]) == 1
    upstream_peer = upstream.accept()
    upstream_peer.accept_handshake()
    bridge.await_ready()
    upstream_peer.send(frame(1, b"live"))
    assert stream.next().data == "live"
    assert bridge.send("and out").status == 202
    assert bridge.get("/healthz").status == 200


def test_polls_get_past_damaged_pages(damaged: tuple[Bridge, RawUpstream, list[str], set[int]]) -> None:
    bridge, _, ids, hidden = damaged
    found: list[str] = []
    gaps: list[Any] = []
    cursor = ids[0]
    while not found or found[-1] != ids[-1]:
        answer = bridge.get(f"/messages?since={cursor}&limit=100").json()
        assert answer["next"] != cursor
        cursor = answer["next"]
        found += [message["id"] for message in answer["messages"]]
        gaps += [answer["gap"]] if answer["gap"] else []
    assert found == [id for id in ids[1:] if sequence(id) not in hidden]
    assert missed(gaps) == len(hidden)


def test_check_names_damaged_pages(
    damaged: tuple[Bridge, RawUpstream, list[str], set[int]], data: Path, run_bridge: Callable[..., Bridge]
) -> None:
    bridge, upstream, *_ = damaged
    flags = ["--upstream", upstream.url, "--data-dir", str(data)]
    # While a bridge has it, and afterwards.
    for end in (bridge.stop, lambda: None):
        check = run_bridge("check", *flags)
        assert check.exit_code() == 74
        assert f"{data}/wsbridge.db is damaged (" in check.err.text
        assert len(check.err.text) < 1000
        end()


def test_what_cannot_be_trimmed_is_said_and_messages_are_refused(
    start_raw_upstream: Callable[..., RawUpstream], serve_file: Serve, data: Path
) -> None:
    def serve(most: int) -> Bridge:
        settings = {
            "history": {"maxMessages": most},
            "connections": {"default": {"url": upstream.url}},
            "storage": {"directory": str(data)},
        }
        return serve_file(json.dumps(settings))

    upstream = start_raw_upstream()
    first = serve(10_000)
    fill(first, upstream, 3000)
    first.stop()
    damage(data / "wsbridge.db", [50])
    bridge = serve(1000)
    status = bridge.await_status(lambda status: status["storage"]["error"], "it cannot be written")
    assert "damaged" in status["storage"]["error"]
    assert_problem(bridge.post("/messages", b"refused"), 503, "storage-unavailable")
    await_truth(lambda: bridge.get("/healthz").status == 503, "the health says it")


@contextlib.contextmanager
def unreadable_disk(bridge: Bridge, tmp_path: Path) -> Iterator[None]:
    """Have no read of the bridge's succeed meanwhile."""
    command = ["strace", "-f", "-p", str(bridge.pid), "-o", str(tmp_path / "strace.log")]
    command += ["-e", "trace=pread64", "-e", "inject=pread64:error=EIO"]
    strace = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        assert strace.stderr
        Pump(strace.stderr).until(lambda text: " attached" in text or None, "the threads are attached")
        yield
    finally:
        strace.terminate()
        strace.wait()


def test_what_cannot_be_read_for_a_moment_is_refused_and_read_afterwards(
    start_raw_upstream: Callable[..., RawUpstream], durable: Serve, tmp_path: Path
) -> None:
    upstream = start_raw_upstream()
    first = durable(upstream)
    ids = fill(first, upstream, 100)
    first.stop()
    bridge = durable(upstream)
    with unreadable_disk(bridge, tmp_path):
        for _ in range(5):
            answer = bridge.get("/messages?since=start")
            assert_problem(answer, 503, "storage-unavailable")
            assert answer.header("Retry-After") == "1"
        stream = bridge.stream("/events?since=start")
        with pytest.raises((AssertionError, OSError)):
            stream.next()
    answer = bridge.get("/messages?since=start&limit=1000").json()
    assert [message["id"] for message in answer["messages"]] == ids
    assert answer["gap"] is None
    assert [event.id for event in bridge.stream("/events?since=start").take(100)] == ids
    assert bridge.status()["storage"]["damage"] is None


# Less than was left


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize("spoil", [delete, empty])
def test_a_young_store_without_its_log_is_refused(
    away: Upstream, durable: Serve, data: Path, refusal: Callable[..., str], spoil: Callable[[Path], None]
) -> None:
    bridge = durable(away)
    bridge.send("hello")
    kill(bridge)
    spoil(data / "wsbridge.db-wal")
    text = refusal(data)
    assert f"{data}/wsbridge.db is damaged (it is empty and was not before)" in text
    assert "restore a backup" in text
    # As it says.
    for path in data.glob("wsbridge.db*"):
        path.rename(path.with_suffix(".old"))
    assert durable(away).send("a new start").status == 202


def test_a_log_that_is_missing_is_told_of(away: Upstream, durable: Serve, data: Path) -> None:
    bridge = durable(away)
    bridge.send("hello")
    kill(bridge)
    # What the shell does when it closes, by itself.
    with contextlib.closing(sqlite3.connect(data / "wsbridge.db")) as shell:
        assert shell.execute("SELECT count(*) FROM outbox").fetchone() == (1,)
    assert not (data / "wsbridge.db-wal").exists()
    bridge = durable(away)
    assert "-wal file" in warnings(bridge)[0]
    assert len(bridge.get("/outbox").json()["messages"]) == 1


def test_a_database_without_its_name_is_not_begun_anew_over_its_log(
    away: Upstream, durable: Serve, data: Path, refusal: Callable[..., str]
) -> None:
    bridge = durable(away)
    bridge.send("hello")
    kill(bridge)
    (data / "wsbridge.db").rename(data / "aside")
    assert "it is not there, and its -wal file is" in refusal(data)
    (data / "aside").rename(data / "wsbridge.db")
    assert len(durable(away).get("/outbox").json()["messages"]) == 1


def test_check_finds_what_is_in_the_way(tmp_path: Path, data: Path, refusal: Callable[..., str]) -> None:
    data.symlink_to(tmp_path / "nowhere")
    assert "cannot be read and written (No such file" in refusal(data)
    data.unlink()
    (data / "wsbridge.lock").mkdir(parents=True)
    assert "cannot be read and written (Is a directory)" in refusal(data)


# A copy


def test_a_copy_is_put_back_as_the_documentation_says(
    upstream: Upstream, durable: Serve, data: Path, tmp_path: Path
) -> None:
    database, backup = data / "wsbridge.db", tmp_path / "backup.db"
    first = durable(upstream)
    stream = first.stream()
    upstream.peer(0).send("one", "two")
    before = stream.take(2)
    with contextlib.closing(sqlite3.connect(database)) as running:
        running.execute(f"VACUUM INTO '{backup}'")
    upstream.peer(0).send("three")
    before.append(stream.next())
    first.stop()
    # Stopped well it leaves neither; after a kill both have to go.
    for name in ("wsbridge.db-wal", "wsbridge.db-shm"):
        (data / name).unlink(missing_ok=True)
    database.write_bytes(backup.read_bytes())
    database.chmod(0o600)
    second = durable(upstream)
    second.await_ready()
    assert "another database" in warnings(second)[0]
    stream = second.stream("/events", {"Last-Event-ID": before[1].id})
    gap = stream.next()
    assert (gap.type, json.loads(gap.data)["missed"]) == ("gap", None)
    after = stream.take(2)
    assert [event.data for event in after] == ["one", "two"]
    epochs = {event.id.split("-")[0] for event in [*before, *after]}
    assert len(epochs) == 2
    upstream.peer(1).send("four")
    assert stream.next().data == "four"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    # From then on it is the store, and its ids go on.
    second.stop()
    third = durable(upstream)
    assert warnings(third) == []
    assert third.stream("/events", {"Last-Event-ID": after[0].id}).next() == after[1]
