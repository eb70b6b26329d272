"""What becomes of a store that cannot be opened, or not be written: a clear outcome, and recovery."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Upstream, await_truth
from harness.disks import SYNCS, stuck_disk
from harness.environment import BINARY
from harness.metrics import scrape

Durable = Callable[..., Bridge]
NOBODY = 65534


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(start_bridge: Callable[..., Bridge], data: Path) -> Durable:
    def start(upstream: Upstream, **options: Any) -> Bridge:
        return start_bridge(upstream.url, "--data-dir", str(data), **options)

    return start


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    bridge.exit_code()


def made(durable: Durable, upstream: Upstream, *, messages: int = 3) -> None:
    """Have a store made that holds some messages."""
    bridge = durable(upstream)
    for number in range(messages):
        bridge.send(f"message {number}")
    bridge.stop()


def await_storage(bridge: Bridge, *, is_well: bool) -> dict[str, Any]:
    return bridge.await_status(
        lambda status: (status["storage"]["error"] is None) == is_well,
        f"the store {'can' if is_well else 'cannot'} be written",
    )["storage"]


# At the start


def test_a_directory_is_made_with_its_parents(away: Upstream, durable: Durable, tmp_path: Path) -> None:
    bridge = durable(away)
    assert Path(bridge.status()["storage"]["path"]).exists()


def test_a_directory_is_for_one_process(
    away: Upstream, durable: Durable, data: Path, refusal: Callable[..., str]
) -> None:
    first = durable(away)
    first.send("hello")
    # It may be checked all the same.
    text = refusal(data, is_checkable=False)
    assert text.endswith(f"is in use by process {first.pid}\n")
    assert len(first.get("/outbox").json()["messages"]) == 1


def test_a_directory_that_may_not_be_written_is_refused(
    tmp_path: Path, refusal: Callable[..., str], binary_for_all: Path
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o755)
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    text = refusal(locked / "data", wrapper=as_nobody, binary=binary_for_all)
    assert "cannot be read and written" in text
    assert "permission denied" in text.lower()


@pytest.fixture
def binary_for_all(tmp_path: Path) -> Iterator[Path]:
    """A copy of the program that any user may run, whoever owns the folders above the real one."""
    folder = Path("/tmp") / f"wsbridge-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        for parent in [tmp_path, *tmp_path.parents]:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o055)
        yield Path(shutil.copy(BINARY, folder))
    finally:
        shutil.rmtree(folder)


def test_a_file_system_that_is_read_only_is_refused(small_disk: Path, refusal: Callable[..., str]) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    text = refusal(small_disk / "data")
    assert "cannot be read and written" in text
    assert "read-only file system" in text.lower()


def test_a_full_disk_is_refused(small_disk: Path, refusal: Callable[..., str]) -> None:
    fill(small_disk)
    assert "there is no room left for" in refusal(small_disk / "data", is_checkable=False)


def test_a_file_in_the_place_of_the_directory_is_refused(data: Path, refusal: Callable[..., str]) -> None:
    data.write_text("what is this")
    assert "cannot be read and written" in refusal(data)


def corrupt_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 100)


def truncate(path: Path) -> None:
    os.truncate(path, 5000)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def leave_a_byte(path: Path) -> None:
    os.truncate(path, 1)


@pytest.mark.parametrize("damage", [corrupt_head, truncate, empty, leave_a_byte])
def test_a_damaged_file_is_refused_and_left_as_it_is(
    away: Upstream,
    durable: Durable,
    data: Path,
    refusal: Callable[..., str],
    damage: Callable[[Path], None],
) -> None:
    made(durable, away)
    database = data / "wsbridge.db"
    damage(database)
    before = database.read_bytes()
    text = refusal(data)
    assert f"{database} is damaged" in text
    assert "move it" in text
    assert database.read_bytes() == before
    # As it says.
    for path in data.glob("wsbridge.db*"):
        path.rename(path.with_suffix(".old"))
    assert durable(away).send("a new start").status == 202


def test_a_file_of_another_program_is_refused(data: Path, refusal: Callable[..., str]) -> None:
    data.mkdir()
    with contextlib.closing(sqlite3.connect(data / "wsbridge.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
    assert "was not made by wsbridge" in refusal(data)


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(
    away: Upstream, durable: Durable, data: Path, refusal: Callable[..., str]
) -> None:
    made(durable, away)
    database = data / "wsbridge.db"
    with contextlib.closing(sqlite3.connect(database)) as newer:
        newer.execute("INSERT INTO migrations VALUES (99, 0)")
        newer.commit()
    before = database.read_bytes()
    assert "has version 99" in refusal(data)
    assert database.read_bytes() == before


def is_sqlite_loaded(bridge: Bridge) -> bool:
    return "libsqlite3" in Path(f"/proc/{bridge.pid}/maps").read_text()


def test_sqlite_is_loaded_only_for_those_who_store(
    away: Upstream, start_bridge: Callable[..., Bridge], durable: Durable
) -> None:
    assert not is_sqlite_loaded(start_bridge(away.url))
    assert is_sqlite_loaded(durable(away))


def no_library(path: Path) -> None:
    path.write_text("no library")


def another_library(path: Path) -> None:
    """Stands for a SQLite that is too old: the functions are not in it."""
    found = subprocess.run(["ldd", str(BINARY)], check=True, capture_output=True, text=True)
    path.symlink_to(next(line.split()[2] for line in found.stdout.splitlines() if "libz.so" in line))


@pytest.mark.parametrize(
    ("stand_in", "said"), [(no_library, "file too short"), (another_library, "has no sqlite3_")]
)
def test_without_sqlite_a_store_is_refused_and_memory_serves(
    away: Upstream,
    start_bridge: Callable[..., Bridge],
    refusal: Callable[..., str],
    data: Path,
    tmp_path: Path,
    stand_in: Callable[[Path], None],
    said: str,
) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    stand_in(libraries / "libsqlite3.so.0")
    environment = {"LD_LIBRARY_PATH": str(libraries)}
    text = refusal(data, environment=environment)
    assert "SQLite cannot be loaded" in text
    assert said in text
    assert "libsqlite3-0" in text
    assert not data.exists()
    assert start_bridge(away.url, environment=environment).send("hello").status == 202


def test_a_clock_that_was_set_back_changes_nothing(away: Upstream, durable: Durable, data: Path) -> None:
    """To the store it is all the same whether the clock was set back or the times in it forward."""
    made(durable, away)
    with contextlib.closing(sqlite3.connect(data / "wsbridge.db")) as database:
        database.execute("UPDATE outbox SET queued_at = queued_at + 86400000 * 365")
        database.commit()
    bridge = durable(away)
    assert bridge.status()["outbox"]["oldestAgeMs"] < 3_600_000
    bridge.send("now")
    away.come_back()
    bridge.post("/connect")
    assert away.peer().received(4) == ["message 0", "message 1", "message 2", "now"]


def test_check_tells_what_the_store_holds_and_changes_nothing(
    away: Upstream, durable: Durable, data: Path, run_bridge: Callable[..., Bridge]
) -> None:
    flags = ["--upstream", away.url, "--data-dir", str(data)]
    check = run_bridge("check", *flags)
    assert check.exit_code() == 0
    assert f"# storage: {data}/wsbridge.db: nothing yet\n" in check.out.text
    assert not data.exists()
    made(durable, away)
    check = run_bridge("check", *flags)
    assert check.exit_code() == 0
    assert "version 1, connections: 1, messages to be sent: 3" in check.out.text
    # Also while a bridge has it.
    bridge = durable(away)
    bridge.send("one more")
    check = run_bridge("check", *flags)
    assert check.exit_code() == 0
    assert "messages to be sent: 4" in check.out.text


# While it runs


def fill(disk: Path) -> Path:
    """Leave no room on it, and return what takes it."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return ballast


def test_a_disk_that_fills_up_refuses_messages_until_there_is_room(
    away: Upstream, start_bridge: Callable[..., Bridge], small_disk: Path
) -> None:
    directory = small_disk / "data"
    bridge = start_bridge(away.url, "--data-dir", str(directory))
    ballast = fill(small_disk)
    accepted = []
    for number in range(3000):
        text = f"{number} " + "x" * 1000
        response = bridge.post("/messages", text.encode())
        if response.status != 202:
            assert_problem(response, 503, "storage-unavailable")
            assert response.header("Retry-After") == "1"
            break
        accepted.append(text)
    else:
        pytest.fail("the disk never filled up")
    storage = await_storage(bridge, is_well=False)
    assert "there is no room left" in storage["error"]
    # What was refused leaves nothing behind, and what was not is there.
    assert_problem(bridge.post("/messages", b"refused", Idempotency_Key="k"), 503, "storage-unavailable")
    assert len(bridge.get("/outbox").json()["messages"]) == len(accepted)
    # Everything else goes on, and what was accepted is sent.
    away.come_back()
    bridge.post("/connect")
    assert away.peer().received(len(accepted)) == accepted
    away.peer().send("received")
    ballast.unlink()
    await_storage(bridge, is_well=True)
    again = bridge.post("/messages?wait=10s", b"room", Idempotency_Key="k")
    assert (again.status, again.header("Idempotency-Replayed")) == (200, "")
    assert [record for record in bridge.records if "can be written again" in record["message"]]
    bridge.stop()
    # Nor is anything sent again.
    last = start_bridge(away.url, "--data-dir", str(directory))
    last.await_ready()
    assert last.post("/messages?wait=10s", b"last").status == 200
    assert away.peer(1).received(1) == ["last"]


def injected(fault: str) -> list[str]:
    """Return the command that has the kernel fail in this way."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={fault}"]


def below(bridge: Bridge) -> Bridge:
    """Let signals reach the bridge, which strace would keep from it."""
    children = Path(f"/proc/{bridge.process.pid}/task/{bridge.process.pid}/children")
    bridge.pid = int(children.read_text().split()[0])
    return bridge


@pytest.mark.parametrize("error", ["EIO", "EROFS", "ENOSPC", "EACCES"])
@pytest.mark.parametrize("call", ["pwrite64", SYNCS])
def test_a_disk_that_fails_for_a_while_refuses_messages_and_recovers(
    away: Upstream, durable: Durable, error: str, call: str
) -> None:
    bridge = below(durable(away, wrapper=injected(f"{call}:error={error}:when=60..62")))
    accepted: list[str] = []
    post_until(503, bridge, accepted)
    assert bridge.status()["storage"]["error"]
    assert len(bridge.get("/outbox").json()["messages"]) == len(accepted)
    post_until(202, bridge, accepted)
    assert bridge.status()["storage"]["error"] is None
    kill(bridge)
    durable(away)
    away.come_back()
    assert away.peer().received(len(accepted)) == accepted


def post_until(status: int, bridge: Bridge, accepted: list[str]) -> None:
    """Send messages until one is answered with this status; remember those that are accepted."""
    with bridge.client() as client:
        for number in range(100_000):
            text = f"message {len(accepted)} {number}"
            response = client.request("POST", "/messages", text.encode())
            if response.status == 202:
                accepted.append(text)
            else:
                assert_problem(response, 503, "storage-unavailable")
            if response.status == status:
                return
    pytest.fail(f"no message was answered with {status}")


def ask_for_answers_later(bridge: Bridge, stack: contextlib.ExitStack, count: int) -> list[Client]:
    """Send so many messages, whose answers are not awaited."""
    clients = []
    for _ in range(count):
        clients.append(stack.enter_context(bridge.client()))
        clients[-1].send_head("POST", "/messages", {"Content-Length": "1"})
        clients[-1].wire.send(b"x")
    bridge.await_status(lambda status: status["outbox"]["messages"] >= count, f"{count} messages are there")
    return clients


def test_a_disk_that_does_not_answer_shows_in_the_health_and_holds_up_no_one_else(
    away: Upstream, durable: Durable, tmp_path: Path
) -> None:
    bridge = durable(away)
    assert bridge.get("/healthz").status == 200
    with contextlib.ExitStack() as stack:
        with stuck_disk(bridge, tmp_path):
            clients = ask_for_answers_later(bridge, stack, 5)
            await_truth(lambda: bridge.get("/healthz").status == 503, "the health says it")
            assert_problem(bridge.get("/healthz"), 503, "storage-unavailable")
            # So does everything else that speaks of the store, and nobody has to wait to find out.
            await_truth(lambda: bridge.status()["storage"]["error"], "the status says it")
            assert bridge.status()["storage"]["error"].endswith("does not answer")
            bridge.err.until(lambda text: "disk does not answer" in text or None, "the log says it")
            figures = scrape(bridge)
            assert figures.value("wsbridge_storage_up") == 0
            assert figures.value("wsbridge_storage_failures_total") == 1
            assert_problem(bridge.post("/messages", b"y"), 503, "storage-unavailable")
            away.come_back()
            bridge.post("/connect")
            bridge.await_ready()
            # What is not on disk does not go out.
            assert bridge.status()["outbox"]["messages"] == 5
            assert away.peer().messages == []
        assert [client.response("POST").status for client in clients] == [202] * 5
    assert away.peer().received(5) == ["x"] * 5
    assert bridge.get("/healthz").status == 200
    bridge.err.until(lambda text: "disk answers again" in text or None, "the log says it")
    assert bridge.status()["storage"]["error"] is None
    assert scrape(bridge).value("wsbridge_storage_up") == 1
    assert bridge.send("z").status == 202


@pytest.mark.unsanitized(
    "the thread that waits for the disk is left behind, which the sanitizer would call a leak"
)
def test_a_disk_that_does_not_answer_does_not_keep_the_bridge_from_stopping(
    away: Upstream, run_bridge: Callable[..., Bridge], data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wsbridge.yaml"
    configuration = {
        "http": {"shutdownTimeout": "1s"},
        "connections": {"default": {"url": away.url}},
        "storage": {"directory": data.name},
    }
    path.write_text(json.dumps(configuration))
    flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
    bridge = run_bridge("serve", *flags).listening()
    bridge.send("safe")
    with contextlib.ExitStack() as stack, stuck_disk(bridge, tmp_path):
        ask_for_answers_later(bridge, stack, 3)
        bridge.signal(signal.SIGTERM)
        bridge.err.until(lambda text: "stopped before the store was closed" in text or None, "the warning")
    assert bridge.exit_code() == 0
    last = run_bridge("serve", *flags).listening()
    assert last.status()["outbox"]["messages"] >= 1


def test_a_file_that_is_moved_away_refuses_messages_until_it_is_back(
    away: Upstream, durable: Durable, data: Path, tmp_path: Path
) -> None:
    bridge = durable(away)
    bridge.send("before")
    aside = tmp_path / "aside"
    data.rename(aside)
    assert_problem(bridge.post("/messages", b"meanwhile"), 503, "storage-unavailable")
    assert "moved or deleted" in await_storage(bridge, is_well=False)["error"]
    aside.rename(data)
    await_storage(bridge, is_well=True)
    bridge.send("after")
    kill(bridge)
    durable(away)
    away.come_back()
    assert away.peer().received(2) == ["before", "after"]


def test_nothing_is_dropped_to_make_room_for_what_cannot_be_stored(
    away: Upstream, serve_file: Callable[..., Bridge], data: Path, tmp_path: Path
) -> None:
    connection = {"url": away.url, "outbox": {"maxMessages": 2, "overflow": "dropOldest"}}
    settings = {"storage": {"directory": str(data)}, "connections": {"default": connection}}
    bridge = serve_file(json.dumps(settings))
    ids = [bridge.send(text).json()["id"] for text in ("one", "two")]
    aside = tmp_path / "aside"
    data.rename(aside)
    assert_problem(bridge.post("/messages", b"refused"), 503, "storage-unavailable")
    assert [message["id"] for message in bridge.get("/outbox").json()["messages"]] == ids
    aside.rename(data)
    await_storage(bridge, is_well=True)
    bridge.send("three")
    assert bridge.get(f"/outbox/{ids[0]}").json()["state"] == "dropped"
    # Whoever deletes is answered when all that happened before is on disk as well.
    assert bridge.request("DELETE", f"/outbox/{ids[0]}").json() == {"dropped": 0}
    kill(bridge)
    serve_file(json.dumps(settings))
    away.come_back()
    assert away.peer().received(2) == ["two", "three"]
