"""What somebody else does to the files of a store while a bridge has it open."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream, await_truth

Durable = Callable[..., Bridge]
#: Input/output error, as `sysexits.h` has it.
STORE_UNUSABLE = 74


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def log(data: Path) -> Path:
    return data / "wsbridge.db-wal"


@pytest.fixture
def lock(data: Path) -> Path:
    return data / "wsbridge.lock"


@pytest.fixture
def durable(start_bridge: Callable[..., Bridge], data: Path) -> Durable:
    def start(upstream: Upstream, **options: Any) -> Bridge:
        return start_bridge(upstream.url, "--data-dir", str(data), **options)

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    bridge.exit_code()


def said(bridge: Bridge, words: str) -> list[dict[str, Any]]:
    return [record for record in bridge.records if words in record["message"]]


def replace(path: Path) -> None:
    """Have an older copy in its place, as a restore that goes wrong leaves it."""
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    copy.rename(path)


def move(path: Path) -> None:
    path.rename(path.with_suffix(".aside"))


deeds = pytest.mark.parametrize("deed", [Path.unlink, move, replace])


@deeds
@pytest.mark.parametrize("is_noticed_by", ["a message", "itself"])
def test_a_log_that_goes_away_takes_no_message_with_it(
    away: Upstream, durable: Durable, log: Path, deed: Callable[[Path], None], is_noticed_by: str
) -> None:
    bridge = durable(away)
    accepted = ["one", "two"]
    for text in accepted:
        assert bridge.send(text).status == 202
    deed(log)
    if is_noticed_by == "a message":
        accepted.append("three")
        assert bridge.send("three").status == 202
    await_truth(lambda: said(bridge, "somebody has changed the files"), "it is mended")
    assert bridge.status()["storage"]["error"] is None
    kill(bridge)
    durable(away)
    away.come_back()
    assert away.peer().received(len(accepted)) == accepted


def test_readers_go_on_with_a_new_log(upstream: Upstream, durable: Durable, log: Path) -> None:
    bridge = durable(upstream)
    bridge.await_ready()
    stream = bridge.stream()
    # More than is kept in memory, so that the disk has to be read.
    text = "x" * 1000
    upstream.peer().send(*[f"{number} {text}" for number in range(4000)])
    seen = stream.take(4000)
    assert bridge.stream("/events?since=start").take(4000) == seen
    log.unlink()
    upstream.peer().send("after")
    last = stream.next()
    assert bridge.stream("/events?since=start").take(4001) == [*seen, last]


@pytest.mark.parametrize("size", [0, 5000])
def test_after_a_log_was_cut_nothing_is_accepted_until_the_next_start(
    away: Upstream, durable: Durable, log: Path, size: int
) -> None:
    # One that has never been written into its file would be empty now, which a start refuses.
    durable(away).stop()
    bridge = durable(away)
    for number in range(20):
        assert bridge.send(f"message {number}").status == 202
    os.truncate(log, size)
    assert_problem(bridge.post("/messages", b"refused"), 503, "storage-unavailable")
    assert "wsbridge.db-wal was cut while it was in use" in bridge.status()["storage"]["error"]
    # What was accepted is sent all the same.
    away.come_back()
    bridge.post("/connect")
    assert away.peer().received(20) == [f"message {number}" for number in range(20)]
    await_truth(lambda: bridge.get("/healthz").status == 503, "the health says it")
    bridge.stop()
    assert durable(away).send("anew").status == 202


@deeds
def test_a_lock_that_goes_away_lets_nobody_in(
    away: Upstream,
    durable: Durable,
    run_bridge: Callable[..., Bridge],
    data: Path,
    lock: Path,
    deed: Callable[[Path], None],
) -> None:
    bridge = durable(away)
    bridge.send("one")
    deed(lock)
    await_truth(lambda: said(bridge, "somebody has changed the files"), "it is mended")
    second = run_bridge("serve", "--upstream", away.url, "--listen", "127.0.0.1:0", "--data-dir", str(data))
    assert second.exit_code() == STORE_UNUSABLE
    assert second.err.text.endswith(f"is in use by process {bridge.pid}\n")
    assert bridge.send("two").status == 202
    kill(bridge)
    durable(away)
    away.come_back()
    assert away.peer().received(2) == ["one", "two"]


def test_of_two_that_have_a_store_the_first_writes_nothing_any_more(
    away: Upstream, durable: Durable, lock: Path
) -> None:
    first = durable(away)
    assert first.send("one").status == 202
    # It cannot notice in time.
    first.signal(signal.SIGSTOP)
    lock.unlink()
    second = durable(away)
    first.signal(signal.SIGCONT)
    await_truth(lambda: first.status()["storage"]["error"], "the first one has noticed")
    assert f"is in use by process {second.pid}" in first.status()["storage"]["error"]
    assert_problem(first.post("/messages", b"refused"), 503, "storage-unavailable")
    await_truth(lambda: first.get("/healthz").status == 503, "the health says it")
    assert second.send("two").status == 202
    second.stop()
    # What was written meanwhile it does not know.
    assert_problem(first.post("/messages", b"refused"), 503, "storage-unavailable")
    first.stop()
    durable(away)
    away.come_back()
    assert away.peer().received(2) == ["one", "two"]
