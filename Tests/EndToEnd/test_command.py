"""The command: arguments, environment, logs, signals and exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from harness import PATIENCE, Bridge, Upstream
from harness.environment import BINARY, clean_environment

USAGE, CANNOT_BIND, CONFIGURATION = 64, 71, 78


@pytest.fixture
def run(run_bridge):
    """Run the command to its end; returns its exit code, output and errors."""

    def run(*arguments: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
        bridge = run_bridge(*arguments, environment=environment)
        return bridge.exit_code(), bridge.out.text, bridge.err.text

    return run


# Version and help


def test_version_prints_the_version(run) -> None:
    code, out, err = run("version")
    assert (code, err) == (0, "")
    assert re.search(r"\d+\.\d+\.\d+", out)


def test_help_names_the_commands(run) -> None:
    code, out, err = run("help")
    assert (code, err) == (0, "")
    for command in ("serve", "demo", "version", "help"):
        assert re.search(rf"\b{command}\b", out), command


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("serve", ["--upstream", "--listen", "--log-level", "--log-format"]),
        ("demo", ["--listen", "--log-level", "--log-format"]),
    ],
)
def test_help_of_a_command_names_its_flags(run, command: str, flags: list[str]) -> None:
    code, out, _ = run("help", command)
    assert code == 0
    for flag in flags:
        assert flag in out


# Wrong usage


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["serve", "--upstrem", "ws://127.0.0.1:1/"], "--upstream"),
        (["serve", "--listn", "127.0.0.1:0"], "--listen"),
        (["serve", "--log-fromat=json"], "--log-format"),
        (["demo", "--lisen", "127.0.0.1:0"], "--listen"),
        (["srve"], "serve"),
        (["verzion"], "version"),
        (["help", "serv"], "serve"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_misspelt_word_is_a_usage_error_with_a_suggestion(
    run, arguments: list[str], suggestion: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (USAGE, "")
    assert re.search(rf"{suggestion}\b", err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--upstream"],
        ["serve", "--listen"],
        ["serve", "--log-level", "loud"],
        ["serve", "--log-format", "xml"],
        ["version", "--listen", "127.0.0.1:0"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_a_usage_error_that_says_so(run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (USAGE, "")
    assert arguments[-1] in err or arguments[-2] in err


def test_a_surplus_word_is_refused_without_being_repeated(run) -> None:
    code, out, err = run("serve", "wss://user:secret@example.org/feed")
    assert (code, out) == (USAGE, "")
    assert "unexpected argument" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "::1:80",
        "[::1]",
    ],
)
def test_a_bad_listen_address_is_an_error_that_names_it(run, address: str) -> None:
    code, out, err = run("serve", "--upstream", "ws://127.0.0.1:1/", "--listen", address)
    assert code in (USAGE, CONFIGURATION)
    assert out == ""
    assert address in err
    assert "listen" in err


@pytest.mark.parametrize(
    "url", ["nonsense", "ftp://x/", "ws://", "ws://127.0.0.1:99999/", "ws://x/#fragment", "ws://[::1/", ""]
)
def test_a_bad_upstream_url_is_an_error(run, url: str) -> None:
    code, out, err = run("serve", "--upstream", url, "--listen", "127.0.0.1:0")
    assert code in (USAGE, CONFIGURATION)
    assert out == ""
    assert re.search("upstream|url", err, re.IGNORECASE)


def test_serve_without_an_upstream_is_an_error_that_names_the_flag(run) -> None:
    code, _, err = run("serve", "--listen", "127.0.0.1:0")
    assert code in (USAGE, CONFIGURATION)
    assert "--upstream" in err


def test_a_port_in_use_is_an_error_that_names_the_address(run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, _, err = run("serve", "--upstream", "ws://127.0.0.1:1/", "--listen", address)
    assert code == CANNOT_BIND
    assert address in err


def test_an_address_of_another_machine_is_an_error_that_names_it(run) -> None:
    # 192.0.2.0/24 is for documentation (RFC 5737): no machine has it.
    environment = {"WSBRIDGE_TOKEN": "secret"}
    arguments = ["serve", "--upstream", "ws://127.0.0.1:1/", "--listen", "192.0.2.1:8080"]
    code, _, err = run(*arguments, environment=environment)
    assert code == CANNOT_BIND
    assert "192.0.2.1" in err


# Open access


@pytest.mark.parametrize("address", ["0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"])
def test_open_access_to_all_interfaces_is_refused_with_the_setting_that_mends_it(run, address: str) -> None:
    code, _, err = run("serve", "--upstream", "ws://127.0.0.1:1/", "--listen", address)
    assert code == CONFIGURATION
    assert "WSBRIDGE_TOKEN" in err or "tokens" in err
    assert "WSBRIDGE_ALLOW_ANONYMOUS" in err or "allowAnonymous" in err


@pytest.mark.parametrize(
    "environment",
    [{"WSBRIDGE_TOKEN": "secret"}, {"WSBRIDGE_ALLOW_ANONYMOUS": "true"}, {"WSBRIDGE_ALLOW_ANONYMOUS": "1"}],
    ids=str,
)
def test_access_to_all_interfaces_is_possible_with(start_bridge, environment: dict[str, str]) -> None:
    bridge = start_bridge("ws://127.0.0.1:1/", listen="0.0.0.0:0", environment=environment)
    assert bridge.get("/healthz").status == 200


# Environment


def test_the_environment_configures_serve(upstream: Upstream, run_bridge) -> None:
    environment = {
        "WSBRIDGE_UPSTREAM": upstream.url,
        "WSBRIDGE_LISTEN": "127.0.0.1:0",
        "WSBRIDGE_LOG_FORMAT": "json",
    }
    bridge: Bridge = run_bridge("serve", environment=environment).listening()
    bridge.await_ready()
    assert all("message" in record for record in bridge.records)


def test_a_flag_wins_over_the_environment(upstream: Upstream, start_bridge) -> None:
    environment = {
        "WSBRIDGE_UPSTREAM": "ws://127.0.0.1:1/",
        "WSBRIDGE_LISTEN": "nonsense",
        "WSBRIDGE_LOG_FORMAT": "text",
    }
    bridge = start_bridge(upstream.url, environment=environment)
    bridge.await_ready()


def test_flags_may_hold_their_value_after_an_equals_sign(upstream: Upstream, run_bridge) -> None:
    flags = [f"--upstream={upstream.url}", "--listen=127.0.0.1:0", "--log-format=json"]
    run_bridge("serve", *flags).listening().await_ready()


# Logs


def test_every_line_of_a_json_log_is_a_record(upstream: Upstream, bridge: Bridge) -> None:
    upstream.peer().close(1011, "two\nlines")
    upstream.peer(1)
    bridge.get("/nothing")
    bridge.stop()
    for record in bridge.records:
        assert isinstance(record["message"], str)
        assert record["message"]


def test_the_listening_record_has_the_real_address(bridge: Bridge) -> None:
    addresses = [record["address"] for record in bridge.records if record["message"] == "listening"]
    assert addresses == [f"127.0.0.1:{bridge.address[1]}"]


def test_a_text_log_has_a_record_a_line(upstream: Upstream, run_bridge) -> None:
    bridge = run_bridge("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0").listening()
    upstream.peer().close(1011, "two\nlines")
    upstream.peer(1)
    bridge.stop()
    lines = bridge.err.text.splitlines()
    assert any(f"127.0.0.1:{bridge.address[1]}" in line and "listening" in line for line in lines)
    assert all(re.match(r"\d{4}-\d\d-\d\dT", line) for line in lines), lines


def test_a_log_of_errors_alone_is_silent_when_all_is_well(upstream: Upstream, run_bridge) -> None:
    flags = ["--upstream", upstream.url, "--listen", "127.0.0.1:0", "--log-level", "error"]
    bridge = run_bridge("serve", *flags)
    upstream.peer()
    bridge.stop()
    assert [line for line in bridge.err.text.splitlines() if "listening" not in line] == []


def test_nothing_is_written_to_standard_output_by_serve(upstream: Upstream, bridge: Bridge) -> None:
    bridge.send("hello")
    upstream.peer().received(1)
    bridge.stop()
    assert bridge.out.text == ""


# Arguments and streams as the system has them


@pytest.mark.parametrize(
    ("command", "variables", "complaint"),
    [
        ([b"send", b"x\xffy"], {}, "argument 2 is not UTF-8"),
        ([b"send", b"--connection", b"\xed\xa0\x80", b"\xc0\xaf"], {}, "argument 4 is not UTF-8"),
        ([b"serve", b"--upstream", b"ws://127.0.0.1:1/\xff"], {}, "argument 3 is not UTF-8"),
        ([b"serve"], {b"WSBRIDGE_UPSTREAM": b"ws://127.0.0.1:1/\xff"}, "WSBRIDGE_UPSTREAM: is not UTF-8"),
        ([b"health"], {b"WSBRIDGE_TOKEN": b"\xff"}, "WSBRIDGE_TOKEN: is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_refused_and_not_mended(
    command: list[bytes], variables: dict[bytes, bytes], complaint: str
) -> None:
    environment = {name.encode(): value.encode() for name, value in clean_environment().items()}
    done = subprocess.run(
        [bytes(BINARY), *command],
        env={**environment, **variables},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == (78 if variables else 64)
    assert complaint in done.stderr.decode()
    assert done.stdout == b""


@pytest.mark.parametrize(
    "command", [["version"], ["help"], ["serve", "--help"], ["check", "--upstream", "ws://127.0.0.1:1"]]
)
def test_what_cannot_be_written_is_no_success(command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(BINARY), *command],
            env=clean_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (
        74,
        "wsbridge: the output cannot be written: no space left on device\n",
    )


def test_nobody_needs_to_read_the_output() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(BINARY), "help"],
        env=clean_environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_tail_says_that_its_output_cannot_be_written(upstream: Upstream, bridge: Bridge) -> None:
    upstream.peer().send("hello")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(BINARY), "tail", "--since", "start", "--listen", f"127.0.0.1:{bridge.address[1]}"],
            env=clean_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 74
    assert "the output cannot be written: no space left on device" in done.stderr.decode()


def test_send_says_that_its_input_cannot_be_read(bridge: Bridge, tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run(
        [str(BINARY), "send", "--listen", f"127.0.0.1:{bridge.address[1]}"],
        env=clean_environment(),
        stdin=folder,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(folder)
    assert (done.returncode, done.stderr.decode()) == (
        74,
        "wsbridge: the input cannot be read: is a directory\n",
    )


# Signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_cleanly(upstream: Upstream, bridge: Bridge, number: signal.Signals) -> None:
    streams = [bridge.stream(version=version) for version in ("HTTP/1.1", "HTTP/1.0")]
    upstream.peer().send("last")
    bridge.signal(number)
    for stream in streams:
        assert [event.data for event in stream.rest()] == ["last"]
    assert upstream.peer().left() == (1001, "")
    assert bridge.exit_code() == 0


def test_streams_end_with_a_last_retry(bridge: Bridge) -> None:
    stream = bridge.stream(keep_raw=True)
    bridge.signal(signal.SIGTERM)
    stream.rest()
    assert stream.raw is not None
    assert len(re.findall(rb"^retry: ?\d+$", bytes(stream.raw), re.MULTILINE)) == 2
    assert bridge.exit_code() == 0


def test_the_close_of_a_stop_is_the_bridges_own(bridge: Bridge) -> None:
    stream = bridge.stream("/events?types=status")
    bridge.signal(signal.SIGTERM)
    closed = [json.loads(event.data) for event in stream.rest() if "closed" in event.data]
    assert [(record["code"], record["by"]) for record in closed] in ([], [(1001, "bridge")])
    assert bridge.exit_code() == 0


def test_messages_accepted_before_a_stop_reach_the_upstream(upstream: Upstream, bridge: Bridge) -> None:
    texts = [str(number) for number in range(200)]
    for text in texts:
        bridge.send(text)
    bridge.signal(signal.SIGTERM)
    assert upstream.peer().received(200) == texts
    assert upstream.peer().left() == (1001, "")
    assert bridge.exit_code() == 0


def test_a_stop_does_not_wait_for_a_subscriber_that_does_not_read(upstream: Upstream, bridge: Bridge) -> None:
    bridge.stream(receive_buffer=4096)
    reader = bridge.stream()
    upstream.peer().send(*["x" * 10_000] * 500)
    reader.take(500)
    bridge.stop()


def test_a_stop_does_not_wait_for_an_upstream_that_is_away(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream(away=True).url)
    bridge.send("never sent")
    bridge.stop()


def test_a_stop_does_not_wait_for_idle_and_unfinished_requests(bridge: Bridge) -> None:
    idle, unfinished = bridge.client(), bridge.client()
    idle.request("GET", "/status")
    unfinished.send_head("POST", "/messages", {"Content-Length": "10"})
    bridge.stop()


def test_a_second_signal_ends_the_process_at_once(start_bridge, raw_upstream) -> None:
    # Both wait for the answer to their close frame, which this upstream never gives.
    signalled_twice, signalled_once = (start_bridge(raw_upstream.url) for _ in range(2))
    peers = [raw_upstream.accept() for _ in range(2)]
    for peer in peers:
        peer.accept_handshake()
    for bridge in (signalled_twice, signalled_once):
        bridge.await_ready()
        bridge.signal(signal.SIGTERM)
    for peer in peers:
        assert peer.close_code() == 1001
    signalled_twice.signal(signal.SIGTERM)
    signalled_twice.exit_code()
    assert signalled_once.process.poll() is None
    for peer in peers:
        peer.close()
    assert signalled_once.exit_code() == 0


def test_a_client_that_is_gone_does_not_end_the_bridge_by_sigpipe(upstream: Upstream, bridge: Bridge) -> None:
    for _ in range(20):
        stream = bridge.stream()
        stream.client.wire.reset()
        upstream.peer().send("x" * 100_000)
    assert bridge.get("/healthz").status == 200
