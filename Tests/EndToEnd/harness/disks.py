"""Disks that do not do what is asked of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .bridge import Bridge
from .pump import Pump

#: The calls that wait for a disk.
SYNCS = "fsync,fdatasync"


@contextlib.contextmanager
def stuck_disk(bridge: Bridge, tmp_path: Path) -> Iterator[None]:
    """Have no sync of the bridge's come back meanwhile."""
    command = ["strace", "-f", "-p", str(bridge.pid), "-o", str(tmp_path / "strace.log")]
    command += ["-e", f"trace={SYNCS}", "-e", f"inject={SYNCS}:delay_enter=3600000000"]
    strace = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        assert strace.stderr
        threads = len(os.listdir(f"/proc/{bridge.pid}/task"))
        Pump(strace.stderr).until(lambda text: " attached" in text or None, f"{threads} threads attached")
        yield
    finally:
        # The kernel lets go of the bridge then, whose sync goes on. strace may wait for one that has ended.
        strace.kill()
        strace.wait()
