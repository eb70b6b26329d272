"""The commands that talk to a running bridge: health, send, tail."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import PATIENCE, Bridge, Deadline, EventSourceParser, Relay, Upstream
from harness.environment import BINARY, clean_environment

REFUSED, USAGE, UNREADABLE, UNAVAILABLE, CONFIGURATION = 1, 64, 66, 69, 78


def command(
    *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a command to its end; return its code, output and errors."""
    done = subprocess.run(
        [str(BINARY), *arguments],
        input=stdin,
        capture_output=True,
        env=clean_environment(**(environment or {})),
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def address(bridge: Bridge) -> str:
    return f"{bridge.address[0]}:{bridge.address[1]}"


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which connections are made, and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def quick(upstream: Upstream, start_bridge, tmp_path: Path) -> Callable[..., Bridge]:
    """Start a bridge that tells its readers to come back soon; it is ready."""
    path = tmp_path / "quick.yaml"
    path.write_text("http: { retry: 40ms }\n")

    def start(**options: Any) -> Bridge:
        bridge = start_bridge(upstream.url, "--config", str(path), **options)
        bridge.await_ready()
        return bridge

    return start


# health


def test_health_says_that_a_bridge_is_alive(bridge: Bridge) -> None:
    assert command("health", "--listen", address(bridge)) == (0, "", "")
    assert command("health", environment={"WSBRIDGE_LISTEN": f":{bridge.address[1]}"}) == (0, "", "")
    assert command("health", "--listen", f"0.0.0.0:{bridge.address[1]}") == (0, "", "")


def test_health_finds_a_bridge_by_its_configuration(bridge: Bridge, tmp_path: Path) -> None:
    path = tmp_path / "wsbridge.yaml"
    # What else is in it is not its business: the secret is the bridge's.
    path.write_text(
        f"http: {{ listen: '{address(bridge)}' }}\nconnections: {{ a: {{ url: '${{GONE}}' }} }}\n"
    )
    assert command("health", "--config", str(path)) == (0, "", "")
    path.write_text("http: { listen: nowhere }\n")
    code, _, errors = command("health", "--config", str(path))
    assert code == CONFIGURATION
    assert errors.startswith(f"{path}:1: http.listen: ")
    assert command("health", "--config", str(tmp_path / "gone.yaml"))[0] == UNREADABLE


def test_health_finds_a_unix_socket(upstream: Upstream, run_bridge, tmp_path: Path) -> None:
    path = f"unix:{tmp_path}/bridge.sock"
    bridge = run_bridge("serve", "--upstream", upstream.url, "--listen", path)
    bridge.err.until(lambda text: True if "listening" in text else None, "the record `listening`")
    assert command("health", "--listen", path) == (0, "", "")
    assert command("send", "--listen", path, "through a file") == (0, "", "")
    assert upstream.peer().received(1) == ["through a file"]


def test_health_says_that_nobody_is_there(nobody: str) -> None:
    code, output, errors = command("health", "--listen", nobody)
    assert (code, output) == (REFUSED, "")
    assert errors == f"wsbridge: no bridge answers at {nobody}: connection refused\n"


def test_health_does_not_wait_for_the_silent(silent: str) -> None:
    code, _, errors = command("health", "--listen", silent)
    assert code == REFUSED
    assert errors == f"wsbridge: the bridge at {silent} did not answer: it does not answer in time\n"


# send


def test_send_sends_its_argument(upstream: Upstream, bridge: Bridge) -> None:
    assert command("send", "--listen", address(bridge), "héllo wörld") == (0, "", "")
    assert command("send", "--listen", address(bridge), "--", "--listen") == (0, "", "")
    assert command("send", "--listen", address(bridge), "") == (0, "", "")
    assert upstream.peer().received(3) == ["héllo wörld", "--listen", ""]


@pytest.mark.parametrize("operands", [[], ["-"]])
def test_send_sends_the_lines_of_its_input(upstream: Upstream, bridge: Bridge, operands: list[str]) -> None:
    lines = [f"line {number}" for number in range(200)]
    stdin = ("\n".join(lines[:100]) + "\n\n\r\n" + "\r\n".join(lines[100:])).encode()
    assert command("send", "--listen", address(bridge), *operands, stdin=stdin) == (0, "", "")
    assert upstream.peer().received(200) == lines


def test_send_sends_each_line_as_it_comes(upstream: Upstream, bridge: Bridge) -> None:
    with subprocess.Popen(
        [str(BINARY), "send", "--listen", address(bridge)], stdin=subprocess.PIPE, env=clean_environment()
    ) as sender:
        assert sender.stdin
        for count, line in enumerate(["first", "second", "third"], start=1):
            sender.stdin.write(f"{line}\n".encode())
            sender.stdin.flush()
            assert upstream.peer().received(count)[-1] == line
        sender.stdin.close()
        assert sender.wait(PATIENCE) == 0


def test_send_stops_at_the_first_line_that_is_refused(upstream: Upstream, bridge: Bridge) -> None:
    stdin = b"good\n\n\xff\xfe\nnever\n"
    code, output, errors = command("send", "--listen", address(bridge), stdin=stdin)
    assert (code, output) == (REFUSED, "")
    assert errors.startswith("wsbridge: line 3: refused: ")
    assert "invalid-utf8" in errors
    assert errors.count("\n") == 1
    bridge.send("after it")
    assert upstream.peer().received(2) == ["good", "after it"]


def test_send_names_a_connection_and_shows_its_token(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "t0ken"})
    upstream.peer()
    flags = ["send", "--listen", address(bridge)]
    code, _, errors = command(*flags, "without")
    assert code == REFUSED
    assert "unauthorized" in errors
    token = {"WSBRIDGE_TOKEN": "t0ken"}
    assert command(*flags, "--connection", "default", "with", environment=token) == (0, "", "")
    code, _, errors = command(*flags, "--connection", "other", "x", environment=token)
    assert code == REFUSED
    assert "not-found" in errors
    assert upstream.peer().received(1) == ["with"]


def test_send_waits_until_the_upstream_has_it(upstream: Upstream, bridge: Bridge) -> None:
    assert command("send", "--listen", address(bridge), "--wait", "30s", "waited for") == (0, "", "")
    assert bridge.status()["counters"]["sent"] == 1
    upstream.go_away()
    bridge.await_status(lambda status: not status["ready"], "the connection is lost")
    # Not written by then is queued, which is no failure.
    assert command("send", "--listen", address(bridge), "--wait", "10ms", "kept") == (0, "", "")
    assert bridge.status()["outbox"]["messages"] == 1


def test_send_says_that_nobody_is_there(nobody: str) -> None:
    code, _, errors = command("send", "--listen", nobody, stdin=b"a\nb\n")
    assert code == UNAVAILABLE
    assert errors == f"wsbridge: line 1: no bridge answers at {nobody}: connection refused\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["send", "two", "words"], "put quotes around it"),
        (["send", "--wait", "soon", "x"], "--wait: expected a duration"),
        (["send", "--connection", "a/b", "x"], "--connection: expected a connection's name"),
        (["send", "--upstream", "ws://a", "x"], "--upstream: `wsbridge send` does not take this flag"),
        (["tail", "--format", "xml"], "--format: expected sse, json, ndjson or raw"),
        (["tail", "--since", "soon"], "--since: expected start, now"),
        (["tail", "--types", "noise"], "--types: expected some of"),
        (["tail", "--types", "status"], "raw shows no status"),
        (["tail", "more"], "unexpected argument"),
        (["health", "--listen", "127.0.0.1:0"], "--listen: a bridge on port 0"),
        (["serve", "--wait", "1s"], "--wait: `wsbridge serve` does not take this flag"),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], complaint: str) -> None:
    code, output, errors = command(*arguments)
    assert (code, output) == (USAGE, "")
    assert complaint in errors


# tail


@pytest.fixture
def tailed(quick: Callable[..., Bridge]) -> Bridge:
    return quick()


@pytest.fixture
def tail(run_bridge) -> Callable[..., Bridge]:
    """Follow a stream; without `--since start` it is awaited that the bridge knows of it."""

    def start(bridge: Bridge, *arguments: str, at: str | None = None, **options: Any) -> Bridge:
        process = run_bridge("tail", "--listen", at or address(bridge), *arguments, **options)
        await_subscribers(bridge, 1)
        return process

    return start


def await_subscribers(bridge: Bridge, count: int) -> None:
    bridge.await_status(lambda status: status["subscribers"] == count, f"{count} subscribers")


def lines(process: Bridge, count: int) -> list[str]:
    """Wait for this many lines of output, and return all of it."""

    def find(text: str) -> list[str] | None:
        return text.splitlines() if text.count("\n") >= count else None

    return process.out.until(find, f"{count} lines")


#: What a line of output must not change, and what an event stream would.
PAYLOADS: list[str | bytes] = [
    "one",
    b"\x00\x01\xff",
    "two\nlines",
    "",
    "cr\rcrlf\r\nlf\n",
    "nul \0 inside",
    "  leading spaces",
    "\ufeffbyte order mark",
    'quote " and backslash \\ and \x1b and \x7f',
    "äöü € 🦉 \u2028",
    b"",
    "\r",
    '{"type":"gap","missed":1}',
]


def printed(payloads: list[str | bytes]) -> bytes:
    """What the format `raw` makes of messages."""
    return b"".join(
        (base64.b64encode(one) if isinstance(one, bytes) else one.encode()) + b"\n" for one in payloads
    )


class Tail:
    """`wsbridge tail` with its output as it is, byte by byte."""

    def __init__(self, at: str):
        self._process = subprocess.Popen(
            [str(BINARY), "tail", "--listen", at],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        assert self._process.stdout
        os.set_blocking(self._process.stdout.fileno(), False)
        self.output = b""

    def take(self, count: int) -> bytes:
        """Wait until it has printed so many bytes in all, and return what it printed."""
        deadline = Deadline(f"{count} bytes of output")
        stdout = self._process.stdout
        assert stdout
        while len(self.output) < count:
            assert select.select([stdout], [], [], deadline.left())[0], (self.output, count)
            piece = stdout.read()
            assert piece, (self.output, self.end())
            self.output += piece
        return self.output

    def kill(self) -> None:
        """Leave nothing behind."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()

    def end(self) -> tuple[bytes, str]:
        """Interrupt it; it must end well. Return all of its output, and its errors."""
        self._process.send_signal(signal.SIGINT)
        stdout, stderr = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 0
        self.output += stdout or b""
        return self.output, stderr.decode()


@pytest.fixture
def follow() -> Iterator[Callable[[str], Tail]]:
    """Run `wsbridge tail`, and end with the test."""
    with contextlib.ExitStack() as stack:

        def start(at: str) -> Tail:
            process = Tail(at)
            stack.callback(process.kill)
            return process

        yield start


def test_tail_prints_payloads_as_they_are(upstream: Upstream, tailed: Bridge, follow) -> None:
    process = follow(address(tailed))
    await_subscribers(tailed, 1)
    upstream.peer().send(*PAYLOADS)
    expected = printed(PAYLOADS)
    process.take(len(expected))
    assert process.end() == (expected, "")


def test_tail_prints_payloads_as_they_are_over_dropped_streams(
    upstream: Upstream, tailed: Bridge, follow
) -> None:
    with contextlib.closing(Relay(tailed.address)) as relay:
        process = follow(relay.address)
        await_subscribers(tailed, 1)
        for turn in range(1, 6):
            sending = upstream.peer().start_sending(PAYLOADS * 20, between=lambda: asyncio.sleep(0))
            relay.drop()
            sending.result(PATIENCE)
            process.take(len(printed(PAYLOADS * 20)) * turn)
        output, errors = process.end()
    assert output == printed(PAYLOADS * 100)
    assert "a gap" not in errors


def test_tail_prints_payloads_as_they_are_over_a_restart(upstream: Upstream, quick, follow) -> None:
    first = quick()
    process = follow(address(first))
    await_subscribers(first, 1)
    upstream.peer().send(*PAYLOADS)
    process.take(len(printed(PAYLOADS)))
    first.stop()
    second = quick(listen=address(first))
    upstream.peer(1).send(*PAYLOADS)
    process.take(2 * len(printed(PAYLOADS)))
    output, errors = process.end()
    second.stop()
    assert output == printed(PAYLOADS * 2)
    # The bridge that was is gone, and with it nobody knows what.
    assert errors.count("a gap: messages were lost, it is not known how many\n") == 1


def records_in(output: str, format: str) -> list[dict[str, Any]]:
    """The JSON records that `tail` printed."""
    if format == "ndjson":
        return [json.loads(line) for line in output.split("\n") if line]
    return [json.loads(event.data) for event in EventSourceParser().feed(output.encode())]


@pytest.mark.parametrize("format", ["json", "ndjson"])
def test_tail_prints_records(upstream: Upstream, tailed: Bridge, tail, format: str) -> None:
    process = tail(tailed, "--format", format, "--types", "text,binary,status")
    upstream.peer().send(*PAYLOADS, "last")
    text = process.out.until(lambda text: text if '"last"}\n' in text else None, "records")
    snapshot, *records = records_in(text, format)
    assert (snapshot["type"], snapshot["data"]["type"]) == ("status", "snapshot")
    assert [record["type"] for record in records] == [
        "text" if isinstance(payload, str) else "binary" for payload in [*PAYLOADS, "last"]
    ]
    assert [record["data"] for record in records] == [
        base64.b64encode(payload).decode() if isinstance(payload, bytes) else payload
        for payload in [*PAYLOADS, "last"]
    ]
    assert process.err.text == ""


def test_tail_begins_where_it_is_told_to(upstream: Upstream, tailed: Bridge, tail) -> None:
    stream = tailed.stream("/events")
    upstream.peer().send("a", "b", "c")
    ids = [event.id for event in stream.take(3)]
    stream.close()
    unknown = "a gap: messages were lost, it is not known how many\n"
    hour = datetime.timedelta(hours=1)
    hour_ago = datetime.datetime.now(datetime.timezone(-3 * hour)) - hour
    for since, expected, loss in [
        ("start", "abc", ""),
        (ids[0], "bc", ""),
        ("0" * 12 + "-7", "abc", unknown),
        (ids[0].split("-")[0] + "-999999", "abc", unknown),
        ("10m", "abc", ""),
        ("1h30m", "abc", ""),
        ("3600", "abc", ""),
        ("2020-01-01T00:00:00Z", "abc", ""),
        (hour_ago.isoformat(timespec="milliseconds"), "abc", ""),
        ("now", "d", ""),
        (ids[2], "d", ""),
    ]:
        await_subscribers(tailed, 0)
        process = tail(tailed, "--since", since)
        if since == "now":
            upstream.peer().send("d")
        assert lines(process, len(expected)) == list(expected), since
        process.signal(signal.SIGTERM)
        assert process.exit_code() == 0
        assert process.err.text.removeprefix("wsbridge: ") == loss


@pytest.mark.parametrize("format", ["raw", "sse", "json", "ndjson"])
def test_tail_tells_of_a_gap_in_every_format(
    upstream: Upstream, start_bridge, tail, tmp_path, format: str
) -> None:
    path = tmp_path / "short.yaml"
    path.write_text("history: { maxMessages: 2 }\n")
    bridge = start_bridge(upstream.url, "--config", str(path))
    stream = bridge.stream()
    upstream.peer().send("a", "b", "c", "d")
    first = stream.take(4)[0]
    stream.close()
    await_subscribers(bridge, 0)
    process = tail(bridge, "--since", first.id, "--format", format)
    process.err.until(lambda text: text if "a gap: 1 record was lost\n" in text else None, "the gap")
    last = {"raw": "d\n", "sse": "data: d\n\n"}.get(format, '"data":"d"}\n' + "\n" * (format == "json"))
    text = process.out.until(lambda text: text if last in text else None, "the last message")
    assert process.err.text == "wsbridge: a gap: 1 record was lost\n"
    match format:
        case "raw":
            assert text == "c\nd\n"
        case "sse":
            events = EventSourceParser().feed(text.encode())
            assert [event.type for event in events] == ["gap", "message", "message"]
            assert json.loads(events[0].data)["missed"] == 1
        case _:
            gap, *records = records_in(text, format)
            assert (gap["type"], gap["missed"]) == ("gap", 1)
            assert [record["data"] for record in records] == ["c", "d"]


def test_tail_prints_event_streams(upstream: Upstream, tailed: Bridge, tail) -> None:
    process = tail(tailed, "--format", "sse", "--types", "text,binary")
    stream = tailed.stream()
    upstream.peer().send("two\nlines", b"x")
    ids = [event.id for event in stream.take(2)]
    expected = f"id: {ids[0]}\ndata: two\ndata: lines\n\nid: {ids[1]}\nevent: binary\ndata: eA==\n\n"
    assert process.out.until(lambda text: text if len(text) >= len(expected) else None, "events") == expected


def test_tail_shows_what_happens_to_the_connection(upstream: Upstream, tailed: Bridge, tail) -> None:
    process = tail(tailed, "--format", "sse", "--types", "status")
    upstream.peer().close(1001)
    process.out.until(lambda text: True if '"type":"closed"' in text else None, "the closing")


def test_tail_comes_back_without_gap_or_duplicate(upstream: Upstream, tailed: Bridge, tail) -> None:
    relay = Relay(tailed.address)
    process = tail(tailed, at=relay.address)
    peer = upstream.peer()
    for round in range(5):
        # The first round is lost before the stream has an id.
        relay.await_answer()
        relay.drop()
        if round == 0:
            await_subscribers(tailed, 0)
        peer.send(*[f"{round}.{number}" for number in range(20)])
        lines(process, 20 * (round + 1))
    relay.close()
    expected = [f"{round}.{number}" for round in range(5) for number in range(20)]
    assert lines(process, 100) == expected
    assert "a gap" not in process.err.text
    assert "trying again" in process.err.text


def test_tail_survives_a_restart_of_the_bridge(upstream: Upstream, quick, tail) -> None:
    first = quick()
    process = tail(first)
    upstream.peer().send("before")
    lines(process, 1)
    first.stop()
    second = quick(listen=address(first))
    upstream.peer(1).send("after")
    assert lines(process, 2) == ["before", "after"]
    process.err.until(lambda text: True if "trying again" in text else None, "the interruption")
    second.stop()
    process.signal(signal.SIGTERM)
    assert process.exit_code() == 0


def test_tail_ends_when_nobody_reads(upstream: Upstream, tailed: Bridge) -> None:
    tail = subprocess.Popen(
        [str(BINARY), "tail", "--listen", address(tailed)],
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    await_subscribers(tailed, 1)
    assert tail.stdout
    # Without a further message: it notices by itself.
    tail.stdout.close()
    assert tail.wait(Deadline("tail ends").left()) == 0


def test_tail_shows_its_token(upstream: Upstream, start_bridge, tail) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "t0ken"})
    code, output, errors = command("tail", "--listen", address(bridge))
    assert (code, output) == (REFUSED, "")
    assert "unauthorized" in errors
    code, _, errors = command(
        "tail", "--listen", address(bridge), "--connection", "gone", environment={"WSBRIDGE_TOKEN": "t0ken"}
    )
    assert code == REFUSED
    assert "not-found" in errors


def test_tail_says_that_nobody_is_there(nobody: str) -> None:
    code, output, errors = command("tail", "--listen", nobody)
    assert (code, output) == (UNAVAILABLE, "")
    assert errors == f"wsbridge: no bridge answers at {nobody}: connection refused\n"


def test_tail_does_not_take_anything_for_a_bridge() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"220 mail.example.org ESMTP\r\n")
                client.recv(65536)

        threading.Thread(target=greet, daemon=True).start()
        code, _, errors = command("tail", "--listen", f"127.0.0.1:{server.getsockname()[1]}")
    assert code == UNAVAILABLE
    assert "what answers is not a bridge" in errors
