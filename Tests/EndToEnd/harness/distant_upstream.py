"""An upstream in a process, and perhaps in a network, of its own: one that can freeze or vanish."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .environment import clean_environment
from .network import JoinedNetwork
from .pump import Pump


class DistantUpstream:
    """A server that answers `ping` with `pong`, and every ping."""

    def __init__(self, *, network: bool = False):
        """Start it; with `network` in a namespace of its own, which needs root."""
        self._network = JoinedNetwork() if network else None
        self._process: subprocess.Popen[bytes] | None = None
        address = "127.0.0.1"
        wrapper: list[str] = []
        try:
            if self._network:
                address = self._network.inside
                wrapper = self._network.wrapper
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
        self._network.ip("route", "add", "blackhole", f"{self._network.outside}/32")

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._network:
            self._network.remove()
            self._network = None


def _line(text: str) -> str | None:
    return text.strip() if text.endswith("\n") else None
