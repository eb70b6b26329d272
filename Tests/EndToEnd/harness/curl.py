"""The real curl, as people use it."""

from __future__ import annotations

import os
import signal
import subprocess

from .environment import clean_environment
from .patience import PATIENCE, Deadline
from .pump import Pump


def curl(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run curl to its end, quietly but for errors."""
    return subprocess.run(
        ["curl", "-q", "-sS", *arguments],
        input=stdin,
        capture_output=True,
        env=clean_environment(),
        timeout=PATIENCE,
        check=False,
    )


class Curl:
    """A command that may run on, such as a curl that follows a stream."""

    def __init__(self, *command: str, environment: dict[str, str] | None = None):
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(**(environment or {})),
            # A group of its own, to end what a shell started along with the shell.
            start_new_session=True,
        )
        assert self._process.stdout
        assert self._process.stderr
        self.out = Pump(self._process.stdout)
        self.err = Pump(self._process.stderr)

    def __enter__(self) -> Curl:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def exit_code(self) -> int:
        code = self._process.wait(Deadline("the command ends").left())
        self.out.join()
        self.err.join()
        return code

    def interrupt(self) -> None:
        """Press Ctrl-C, which all that the command has started get, too."""
        os.killpg(self._process.pid, signal.SIGINT)

    def running(self) -> bool:
        return self._process.poll() is None


def shell(line: str, environment: dict[str, str] | None = None) -> Curl:
    """Start a line of shell, as pasted from a page."""
    return Curl("sh", "-c", line, environment=environment)
