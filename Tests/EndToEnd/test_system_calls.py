"""What a message costs the kernel: free of noise, so a fact like any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import Bridge
from harness.environment import STREAM_MODE

SUBSCRIBERS = 50
MESSAGES = 20


@pytest.mark.unsanitized("a sanitizer makes system calls of its own")
@pytest.mark.parametrize("mode", ["detached", "suspended"])
def test_a_message_to_n_subscribers_takes_at_most_n_plus_6_system_calls(
    start_upstream, start_bridge, tmp_path: Path, mode: str
) -> None:
    log = tmp_path / "strace.log"
    upstream = start_upstream(compression=None)
    bridge: Bridge = start_bridge(
        upstream.url,
        wrapper=["strace", "-f", "-s", "64", "-o", str(log)],
        environment={STREAM_MODE: mode},
    )
    bridge.pid = int(log.read_text().split(maxsplit=1)[0])  # strace would not pass the signals on
    peer = upstream.peer()
    bridge.await_ready()
    streams = [bridge.stream() for _ in range(SUBSCRIBERS)]
    # The next message is sent once everybody has this one: no two of them share a turn of the loop.
    for number in range(MESSAGES + 1):
        peer.send(f"message-{number}-of-the-measurement")
        for stream in streams:
            assert stream.next().data == f"message-{number}-of-the-measurement"
    bridge.stop()

    lines = log.read_text().splitlines()
    first, last = (arrival(lines, number) for number in (0, MESSAGES))
    calls = [line for line in lines[first:last] if is_call(line)]
    assert len(calls) / MESSAGES <= SUBSCRIBERS + 6, "\n".join(calls[: 2 * SUBSCRIBERS])


def is_call(line: str) -> bool:
    """Signals, exits and the second halves of calls that another thread interrupted are none of their own."""
    return not re.search(r"^\d+ +(---|\+\+\+|<\.\.\. )", line)


def arrival(lines: list[str], number: int) -> int:
    """Return where the bridge read this message from the upstream."""
    pattern = re.compile(rf"^\d+ +(<\.\.\. )?(read|recv).*message-{number}-of-the-measurement")
    return next(at for at, line in enumerate(lines) if pattern.search(line))
