"""SIGHUP again and again, under load: who is not meant notices nothing, and the last file wins."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import PATIENCE, Bridge, Client, Posters, Readers, Taker, await_truth

POSTERS = 20
STREAMS = 100
TOKEN = "kept"

Start = Callable[..., Bridge]


class Storm:
    """A bridge under load, its configuration file, and what comes over it.

    The connection `kept` is never changed, nor is the token of those who use it.
    """

    def __init__(self, run_bridge: Start, folder: Path, taker: Taker, other: Taker, *, crowd: int = 0):
        self.path = folder / "wsbridge.json"
        self.taker = taker
        self.other = other
        self._crowd = {f"idle{number}": {"url": other.url, "connect": "manual"} for number in range(crowd)}
        self.write(self.good())
        flags = ["--config", str(self.path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        self.bridge = run_bridge("serve", *flags).listening()
        self.fields = {"Authorization": f"Bearer {TOKEN}"}
        self.path_of = "/v1/connections/kept"
        await_truth(lambda: self.status()["ready"], "the connection is ready")

    def good(self, *, token: str = "other", retry: int = 2, **connections: Any) -> dict[str, Any]:
        tokens = [{"name": name, "token": name} for name in (TOKEN, token)]
        outbox = {"maxMessages": 100_000}
        kept = {"url": self.taker.url, "outbox": outbox}
        return {
            "http": {"tokens": tokens, "retry": retry},
            "connections": {"kept": kept, **self._crowd, **connections},
        }

    def write(self, content: object) -> None:
        """Write the file in place, as editors do."""
        self.path.write_text(content if isinstance(content, str) else json.dumps(content))

    def hang_up(self) -> None:
        self.bridge.signal(signal.SIGHUP)

    def status(self) -> dict[str, Any]:
        response = self.bridge.get(f"{self.path_of}/status", self.fields)
        assert response.status == 200, response
        return response.json()

    def is_allowed(self, token: str) -> bool:
        return self.bridge.get("/v1/connections", {"Authorization": f"Bearer {token}"}).status == 200

    def names(self) -> set[str]:
        return {
            each["name"] for each in self.bridge.get("/v1/connections", self.fields).json()["connections"]
        }

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.bridge.pid}/fd"))

    def resident(self) -> int:
        lines = Path(f"/proc/{self.bridge.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


class Load:
    """Clients of `kept` that must notice nothing."""

    def __init__(self, storm: Storm, readers: Readers):
        self._storm = storm
        self.readers = readers
        authorization = f"Authorization: Bearer {TOKEN}\r\n"
        readers.open(f"{storm.path_of}/events?types=text,status", STREAMS, fields=authorization)
        path = f"{storm.path_of}/messages"
        self.posters = Posters(storm.bridge.address, POSTERS, path, storm.fields).start()
        self._is_over = threading.Event()
        self.answers = 0
        self.wrong: list[object] = []
        self._asker = threading.Thread(target=self._ask, daemon=True)
        self._asker.start()

    def _ask(self) -> None:
        """Ask all the time, as who watches over the bridge would."""
        try:
            with Client(self._storm.bridge.address) as client:
                while not self._is_over.is_set():
                    response = client.request(
                        "GET", f"{self._storm.path_of}/status", None, self._storm.fields
                    )
                    if response.status != 200 or response.json()["state"] != "open":
                        self.wrong.append(response)
                    self.answers += 1
        except (AssertionError, OSError) as error:
            self.wrong.append(error)

    def assert_undisturbed(self) -> None:
        """End it; nobody has noticed anything, and everything that was accepted has come."""
        self._is_over.set()
        self._asker.join(PATIENCE)
        self.posters.finish()
        assert self.wrong == []
        assert self.posters.unexpected == []
        assert self.posters.unknown == set()
        assert self.posters.refused == set()
        taker = self._storm.taker
        taker.has(self.posters.accepted)
        texts = [text for text in taker.texts if text.startswith("p")]
        assert len(texts) == len(set(texts))
        for accepted in self.posters.in_order:
            # Each has gone out in the order in which it was sent.
            mine = set(accepted)
            assert [text for text in texts if text in mine] == accepted
        for reading in self.readers.readings:
            assert not reading.has_ended
            statuses = [
                json.loads(event.data)["type"] for event in reading.events() if event.type == "status"
            ]
            assert statuses == ["snapshot"]
            texts = [event.data for event in reading.events() if event.type == "message"]
            numbers = [int(text.removeprefix("tick ")) for text in texts]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        status = self._storm.status()
        assert (status["counters"]["opens"], status["counters"]["closes"]) == (1, 0)


@pytest.fixture
def start_storm(start_taker: Callable[..., Taker], run_bridge: Start, tmp_path: Path) -> Callable[..., Storm]:
    def start(*, ticks: bool = True, **options: Any) -> Storm:
        return Storm(run_bridge, tmp_path, start_taker(ticks=ticks), start_taker(ticks=False), **options)

    return start


@pytest.fixture
def start_load(read_from) -> Callable[[Storm], Load]:
    return lambda storm: Load(storm, read_from(storm.bridge))


def test_hundreds_of_reloads_as_fast_as_possible_disturb_nobody(start_storm, start_load) -> None:
    storm = start_storm()
    load = start_load(storm)
    before = storm.descriptors()
    for number in range(600):
        storm.write(storm.good(token=f"t{number}", added={"url": storm.other.url, "idleTimeout": number + 1}))
        storm.hang_up()
    await_truth(lambda: storm.is_allowed("t599"), "the last file is in force")
    assert not storm.is_allowed("t598")
    assert storm.names() == {"kept", "added"}
    storm.write(storm.good())
    storm.hang_up()
    await_truth(lambda: storm.names() == {"kept"}, "the file without it is in force")
    load.assert_undisturbed()
    # Clients of their own have left, and each of the others has its socket.
    await_truth(lambda: storm.descriptors() <= before, "no descriptor is left behind")


def files(storm: Storm) -> Iterator[object]:
    """What one may find in the place of the file, good ones in between; None: nothing."""
    half = json.dumps(storm.good(token="half", halved={"url": storm.other.url}))
    for number in itertools.count():
        other = {"url": storm.other.url, "heartbeat": {"interval": number % 7 + 1}}
        yield storm.good(token=f"good{number}", retry=number % 5 + 1, changed=other)
        yield half[: len(half) * (number % 9 + 1) // 10]
        yield storm.good(token="wrong", changed={"url": "not a URL"})
        yield None
        yield storm.good(token=f"more{number}", changed=other, **{f"new{number}": other})
        yield "\0\xff"
        yield storm.good(token="bad") | {"htpp": {}}
        yield ""


def test_good_and_bad_files_in_turn_disturb_nobody_and_the_last_good_one_wins(
    start_storm, start_load
) -> None:
    storm = start_storm()
    load = start_load(storm)
    before = storm.descriptors()
    for number, content in zip(range(400), files(storm), strict=False):
        if content is None:
            storm.path.unlink()
        else:
            storm.write(content)
        storm.hang_up()
        if number % 10 == 0:
            # Now and then it gets time to act on it.
            outcomes = sum("reload" in record["message"] for record in whole_records(storm.bridge))
            storm.hang_up()
            await_truth(
                lambda seen=outcomes: (
                    sum("reload" in it["message"] for it in whole_records(storm.bridge)) > seen
                ),
                "it has read a file",
            )
    storm.write(storm.good(token="last", final={"url": storm.other.url}))
    storm.hang_up()
    await_truth(lambda: storm.is_allowed("last"), "the last good one is in force")
    storm.write(storm.good(token="wrong", final={"url": 7}))
    storm.hang_up()
    storm.bridge.err.until(lambda text: "connections.final.url" in text or None, "the last one is refused")
    assert storm.names() == {"kept", "final"}
    for token in ("half", "wrong", "bad"):
        assert not storm.is_allowed(token)
        assert f'"{token}"' not in storm.bridge.err.text
    storm.write(storm.good())
    storm.hang_up()
    await_truth(lambda: storm.names() == {"kept"}, "the file with one connection is in force")
    load.assert_undisturbed()
    await_truth(lambda: storm.descriptors() <= before, "no descriptor is left behind")


def whole_records(bridge: Bridge) -> list[dict[str, Any]]:
    """The log so far, less a last line that has not come as a whole."""
    lines = bridge.err.text.splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


@contextlib.contextmanager
def flooding(storm: Storm) -> Iterator[None]:
    """Send signals without a pause meanwhile."""
    is_over = threading.Event()

    def flood() -> None:
        while not is_over.is_set():
            storm.hang_up()

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_flood_of_signals_keeps_nobody_waiting_however_long_a_reload_takes(start_storm) -> None:
    # To read such a file takes longer than a signal takes to come.
    storm = start_storm(crowd=300)
    with flooding(storm), Client(storm.bridge.address) as client:
        for _ in range(100):
            response = client.request("GET", f"{storm.path_of}/status", None, storm.fields)
            assert response.status == 200
        storm.write(storm.good(token="amid"))
        await_truth(lambda: storm.is_allowed("amid"), "the file is in force")
    assert storm.status()["counters"]["opens"] == 1


def test_a_stop_amid_a_flood_of_signals_is_clean(start_storm) -> None:
    storm = start_storm(crowd=300)
    stream = storm.bridge.stream(f"{storm.path_of}/events", storm.fields)
    with flooding(storm):
        storm.bridge.err.until(lambda text: "reloaded" in text or None, "it has read its file")
        storm.bridge.signal(signal.SIGTERM)
        storm.bridge.err.until(lambda text: "stopping" in text or None, "the end has begun")
    stream.rest()
    assert storm.bridge.exit_code() == 0


@pytest.mark.unsanitized("a sanitizer keeps what was freed, to see who still uses it")
def test_reloads_leave_no_memory_behind(start_storm) -> None:
    storm = start_storm(ticks=False)

    def reload(count: int) -> None:
        for number in range(count):
            other = {"url": storm.other.url, "connect": "manual", "idleTimeout": number + 1}
            storm.write(storm.good(token=f"t{number}", **{f"c{number % 40}": other}))
            storm.hang_up()
            await_truth(lambda number=number: storm.is_allowed(f"t{number}"), "it is in force")

    reload(100)
    before = storm.resident()
    reload(300)
    # 2 KiB for each would be 600 KiB; the allocator takes 128 KiB at once.
    assert storm.resident() - before < 512 * 1024
