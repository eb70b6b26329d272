"""systemd: sockets that are passed, what the bridge tells, and the units in `config`."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import Bridge, Deadline, Upstream, await_truth
from harness.environment import BINARY, ROOT
from harness.patience import PATIENCE

CANNOT_BIND, CONFIGURATION = 71, 78
ACTIVATION = ROOT / "Tests/EndToEnd/harness/activation.py"
Start = Callable[..., Bridge]


def passing(*sockets: str) -> list[str]:
    """The wrapper that passes these sockets."""
    return [sys.executable, str(ACTIVATION), *sockets, "--"]


def ask(path: str) -> bytes:
    """What a bridge on a unix socket, or with an abstract name, says about its health."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(path)
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return b"".join(iter(lambda: client.recv(4096), b""))


# Sockets that are passed


@pytest.fixture
def serve_passed(upstream: Upstream, run_bridge: Start) -> Callable[..., Bridge]:
    """Serve with passed sockets, and wait until it listens."""

    def serve(*sockets: str, flags: tuple[str, ...] = (), **options) -> Bridge:
        words = ["serve", "--upstream", upstream.url, "--log-format", "json", *flags]
        return run_bridge(*words, wrapper=passing(*sockets), **options)

    return serve


def test_a_passed_socket_is_listened_on_whatever_the_settings_say(serve_passed, upstream: Upstream) -> None:
    bridge = serve_passed("tcp:127.0.0.1", flags=("--listen", "192.0.2.1:1")).listening()
    assert bridge.get("/healthz").status == 200
    stream = bridge.stream()
    upstream.peer().send("through it")
    assert stream.next().data == "through it"
    assert not [record for record in bridge.records if record["level"] == "warning"]


def test_the_file_of_a_passed_unix_socket_stays(serve_passed, tmp_path: Path) -> None:
    path = tmp_path / "passed.sock"
    bridge = serve_passed(f"unix:{path}")
    bridge.err.until(lambda text: f"unix:{path}" in text or None, "the record `listening`")
    assert ask(str(path)).startswith(b"HTTP/1.1 200 ")
    bridge.stop()
    # It is systemd's, which still listens.
    assert path.is_socket()


def test_a_passed_socket_may_have_an_abstract_name(serve_passed) -> None:
    name = f"wsbridge-test-{os.getpid()}"
    bridge = serve_passed(f"abstract:{name}")
    bridge.err.until(lambda text: f"unix:@{name}" in text or None, "the record `listening`")
    assert ask(f"\0{name}").startswith(b"HTTP/1.1 200 ")
    assert not [record for record in bridge.records if record["level"] == "warning"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_who_may_come_is_asked_of_a_passed_socket_as_well(serve_passed, host: str) -> None:
    bridge = serve_passed(f"tcp:{host}")
    assert bridge.exit_code() == CONFIGURATION
    assert re.search(
        r"wsbridge: the socket that was passed: \S+ can be reached from other machines", bridge.err.text
    )
    bridge = serve_passed(f"tcp:{host}", environment={"WSBRIDGE_TOKEN": "t"})
    bridge.err.until(lambda text: "listening" in text or None, "the record `listening`")


def test_settings_for_other_machines_are_no_reason_against_a_local_socket(serve_passed) -> None:
    bridge = serve_passed("tcp:127.0.0.1", flags=("--listen", ":8080")).listening()
    assert bridge.get("/healthz").status == 200


@pytest.mark.parametrize(
    ("sockets", "complaint"),
    [
        (
            ["tcp:127.0.0.1", "tcp:127.0.0.1"],
            "2 sockets were passed (socket0:socket1), and the bridge listens on one",
        ),
        (["udp"], "descriptor 3 is not a stream socket (ListenStream=)"),
        (["idle"], "descriptor 3 does not listen (Accept=no)"),
        (["connected"], "descriptor 3 does not listen (Accept=no)"),
        (["file"], "descriptor 3 is not a socket"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_listened_on_is_told(serve_passed, sockets: list[str], complaint: str) -> None:
    bridge = serve_passed(*sockets)
    assert bridge.exit_code() == CANNOT_BIND
    assert bridge.err.text.startswith(f"wsbridge: LISTEN_FDS: {complaint}")


def test_sockets_for_another_process_are_not_looked_at(serve_passed) -> None:
    bridge = serve_passed("--to", "1", "udp", flags=("--listen", "127.0.0.1:0")).listening()
    assert bridge.get("/healthz").status == 200


def test_programs_that_are_started_get_nothing_of_it(
    run_bridge: Start, upstream: Upstream, tmp_path: Path, watcher: Watcher
) -> None:
    found = tmp_path / "found"
    script = tmp_path / "url"
    script.write_text(
        f"#!/bin/sh\n(env; ls -l /proc/self/fd) > {found}.new\nmv {found}.new {found}\necho {upstream.url}\n"
    )
    script.chmod(0o755)
    path = tmp_path / "wsbridge.yaml"
    path.write_text(json.dumps({"connections": {"default": {"url": {"command": [str(script)]}}}}))
    environment = {"NOTIFY_SOCKET": watcher.path, "WATCHDOG_USEC": "30000000"}
    bridge = run_bridge(
        "serve",
        *["--config", str(path), "--log-format", "json"],
        wrapper=passing("tcp:127.0.0.1"),
        environment=environment,
    ).listening()
    bridge.await_ready()
    text = found.read_text()
    assert "PATH=" in text
    assert not re.search(r"LISTEN_|NOTIFY_SOCKET|WATCHDOG_", text)
    assert "socket:" not in text


# What the bridge tells


class Watcher:
    """Whoever watches over the bridge: a datagram socket."""

    def __init__(self, path: str):
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + path[1:] if path.startswith("@") else path)

    def next(self) -> dict[str, str]:
        self._socket.settimeout(Deadline("the bridge says something").left())
        lines = self._socket.recv(4096).decode().split("\n")
        return dict(line.split("=", 1) for line in lines)

    def until(self, key: str, value: str | None = None) -> dict[str, str]:
        deadline = Deadline(f"{key}={value}")
        while True:
            notice = self.next()
            if key in notice and value in (None, notice[key]):
                return notice
            deadline.left()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def watcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watcher]:
    abstract = f"@wsbridge-watcher-{os.getpid()}"
    watcher = Watcher(str(tmp_path / "notify") if request.param == "path" else abstract)
    yield watcher
    watcher.close()


def test_the_bridge_tells_that_it_listens_and_how_it_is(
    watcher: Watcher, away: Upstream, upstream: Upstream, serve_file
) -> None:
    connections = {
        "here": {"url": upstream.url},
        "there": {"url": away.url, "reconnect": {"initialDelay": "10ms", "factor": 1}},
        "unasked": {"url": upstream.url, "connect": "manual"},
    }
    bridge = serve_file(json.dumps({"connections": connections}), environment={"NOTIFY_SOCKET": watcher.path})
    assert watcher.next() == {"READY": "1", "STATUS": "0 of 2 connections ready"}
    assert watcher.next() == {"STATUS": "1 of 2 connections ready"}
    away.come_back()
    assert watcher.next() == {"STATUS": "2 of 2 connections ready"}
    upstream.peer().close(1000)
    assert watcher.next() == {"STATUS": "1 of 2 connections ready"}
    bridge.signal(signal.SIGTERM)
    assert watcher.until("STOPPING") == {"STOPPING": "1", "STATUS": "stopping"}
    assert bridge.exit_code() == 0


def test_a_reload_is_told_and_its_end_whatever_came_of_it(
    watcher: Watcher, upstream: Upstream, serve_file, tmp_path: Path
) -> None:
    bridge = serve_file(
        json.dumps({"connections": {"default": {"url": upstream.url}}}),
        environment={"NOTIFY_SOCKET": watcher.path},
    )
    watcher.until("STATUS", "1 of 1 connections ready")
    for text in [json.dumps({"connections": {"default": {"url": upstream.url}}}), "nonsense"]:
        (tmp_path / "wsbridge.yaml").write_text(text)
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        bridge.signal(signal.SIGHUP)
        notice = watcher.next()
        assert notice["RELOADING"] == "1"
        assert before <= int(notice["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        assert watcher.next() == {"READY": "1", "STATUS": "1 of 1 connections ready"}


def test_a_loop_that_turns_is_told_of_and_one_that_stands_still_is_not(
    watcher: Watcher, upstream: Upstream, start_bridge: Start
) -> None:
    environment = {"NOTIFY_SOCKET": watcher.path, "WATCHDOG_USEC": "200000"}
    bridge = start_bridge(upstream.url, environment=environment)
    for _ in range(3):
        watcher.until("WATCHDOG", "1")
    bridge.signal(signal.SIGSTOP)
    try:
        await_truth(lambda: is_stopped(bridge), "it stands still")
        while True:
            watcher._socket.settimeout(1)
            try:
                watcher._socket.recv(4096)
            except TimeoutError:
                break
    finally:
        bridge.signal(signal.SIGCONT)
    watcher.until("WATCHDOG", "1")


def is_stopped(bridge: Bridge) -> bool:
    return Path(f"/proc/{bridge.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def test_a_watchdog_for_another_process_is_not_fed(
    watcher: Watcher, upstream: Upstream, start_bridge: Start
) -> None:
    environment = {"NOTIFY_SOCKET": watcher.path, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "1"}
    bridge = start_bridge(upstream.url, environment=environment)
    watcher.until("STATUS", "1 of 1 connections ready")
    for _ in range(50):
        assert bridge.get("/healthz").status == 200
    bridge.signal(signal.SIGTERM)
    # What comes next is the end, and there is nothing in between.
    assert "STOPPING" in watcher.next()
    assert bridge.exit_code() == 0


@pytest.mark.parametrize("path", ["/nowhere/at/all", "vsock:2:1", ""])
def test_a_watcher_that_cannot_be_told_is_no_harm(upstream: Upstream, start_bridge: Start, path: str) -> None:
    bridge = start_bridge(upstream.url, environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "nonsense"})
    bridge.await_ready()


# The units


@pytest.fixture
def units(tmp_path: Path) -> list[str]:
    """Copies of the units in `config`, for the program that is tested."""
    for name in ["wsbridge.service", "wsbridge.socket"]:
        shutil.copy(ROOT / "config" / name, tmp_path / name)
    service = tmp_path / "wsbridge.service"
    service.write_text(service.read_text().replace("/usr/local/bin/wsbridge", str(BINARY)))
    return [str(tmp_path / "wsbridge.service"), str(tmp_path / "wsbridge.socket")]


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_systemd_finds_nothing_wrong_with_the_units(units: list[str]) -> None:
    done = analyze("verify", *units)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_service_has_few_rights(units: list[str]) -> None:
    # In tenths, of 100; systemd calls up to 20 safe.
    done = analyze("security", "--offline=true", "--threshold=15", units[0])
    assert done.returncode == 0, done.stdout


def test_codes_that_trying_again_does_not_mend_do_not_restart_it(units: list[str]) -> None:
    text = Path(units[0]).read_text()
    assert "\nRestartPreventExitStatus=64 66 78\n" in text
    for key in ["Type=notify", "Restart=on-failure", "DynamicUser=yes", "ExecReload=/bin/kill -HUP $MAINPID"]:
        assert f"\n{key}\n" in text
