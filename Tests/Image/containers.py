"""The image's containers, and `scripts/run-image`, which runs them."""

from __future__ import annotations

import os
import subprocess
import tempfile

from harness import Client
from harness.environment import ROOT
from harness.http1 import Response
from harness.patience import PATIENCE, Deadline

IMAGE = os.environ.get("WSBRIDGE_IMAGE", "localhost/wsbridge:test")
ADDRESS = ("127.0.0.1", 8080)
TOKEN = "the-token-of-the-image-test"


def podman(*arguments: str) -> str:
    return script("--podman", *arguments)


def start(*arguments: str) -> None:
    """Have podman start a container that goes on: its keeper keeps what it inherits open, so no pipes."""
    with tempfile.TemporaryFile() as said:
        command = [ROOT / "scripts/run-image", "--podman", *arguments]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=PATIENCE, check=False
        )
        said.seek(0)
        assert done.returncode == 0, said.read().decode()


def script(*arguments: str) -> str:
    done = run(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts/run-image", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def variables(**values: str) -> list[str]:
    return [word for name, value in values.items() for word in ("--env", f"{name}={value}")]


class Container:
    """A running container of the image."""

    def __init__(self, name: str, upstream: str, *more: str):
        """Run it, with more options of podman's, until its health check passes."""
        self.name = name
        options = variables(WSBRIDGE_UPSTREAM=upstream, WSBRIDGE_TOKEN=TOKEN)
        script(IMAGE, name, *options, *more, "--")
        self.pid = int(self.inspect("{{.State.Pid}}"))

    def inspect(self, template: str) -> str:
        return podman("inspect", "--format", template, self.name)

    def kernel_status(self) -> dict[str, str]:
        """Return what the kernel says about the container's process."""
        with open(f"/proc/{self.pid}/status") as lines:
            return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)

    def exit_code(self) -> int:
        """Wait until it is seen to have ended."""
        deadline = Deadline("the container is seen to have ended")
        while self.inspect("{{.State.Status}}") != "exited":
            deadline.left()
        return int(self.inspect("{{.State.ExitCode}}"))

    def remove(self) -> None:
        podman("rm", "--force", "--time", "10", self.name)

    @staticmethod
    def request(
        method: str, target: str, body: bytes | None = None, fields: dict[str, str] | None = None
    ) -> Response:
        with Client(ADDRESS) as client:
            fields = {"Connection": "close", "Authorization": f"Bearer {TOKEN}", **(fields or {})}
            return client.request(method, target, body, fields)
