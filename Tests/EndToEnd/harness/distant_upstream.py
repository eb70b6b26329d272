"""An upstream in a process, and perhaps in a network, of its own: one that can freeze or vanish."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

from .environment import clean_environment
from .network import IsolatedNetwork, ip
from .pump import Pump

_numbers = count()

#: Both ends of the cable, in the block for benchmarks (RFC 2544), which no real network uses.
_HERE, _THERE = "198.18.0.1", "198.18.0.2"


class DistantUpstream:
    """A server that answers `ping` with `pong`, and every ping."""

    def __init__(self, *, network: bool = False):
        """Start it; with `network` in a namespace of its own, which needs root."""
        self._network = IsolatedNetwork() if network else None
        #: Of our end of the cable; it may have 15 letters.
        self._cable = f"wsb{os.getpid()}-{next(_numbers)}"
        self._process: subprocess.Popen[bytes] | None = None
        address = "127.0.0.1"
        wrapper: list[str] = []
        try:
            if self._network:
                address = _THERE
                wrapper = self._network.wrapper
                self._lay_cable(self._network)
            self._process = subprocess.Popen(
                [*wrapper, sys.executable, str(Path(__file__).with_name("distant_process.py")), address],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=clean_environment(),
            )
            assert self._process.stdout
            port = Pump(self._process.stdout).until(_line, "the port")
        except BaseException:
            self.stop()
            raise
        self.url = f"ws://{address}:{port}/"

    def freeze(self) -> None:
        """Let it do nothing more; its kernel still takes what is sent to it."""
        assert self._process
        os.kill(self._process.pid, signal.SIGSTOP)

    def vanish(self) -> None:
        """Let nothing that it sends leave its network any more: no data, no acknowledgement, no reset."""
        assert self._network
        self._network.ip("route", "add", "blackhole", f"{_HERE}/32")

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._network:
            # It would go with the namespace, but only some time later.
            with contextlib.suppress(AssertionError):
                ip("link", "del", self._cable)
            self._network.remove()
            self._network = None

    def _lay_cable(self, network: IsolatedNetwork) -> None:
        """Join the namespace to this one."""
        ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", network.name)
        ip("address", "add", f"{_HERE}/30", "dev", self._cable)
        ip("link", "set", self._cable, "up")
        network.ip("address", "add", f"{_THERE}/30", "dev", "eth0")
        network.ip("link", "set", "eth0", "up")


def _line(text: str) -> str | None:
    return text.strip() if text.endswith("\n") else None
