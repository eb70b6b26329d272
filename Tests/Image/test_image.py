"""The image, built from the Dockerfile and run: `make image-test`.

The tests have a network of their own (`unshare --net`), so that the image's port is free and the upstream can
stand on the loopback interface that both sides share.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from harness import Client, Stream, Upstream
from harness.environment import ROOT
from harness.http1 import Response
from harness.patience import PATIENCE, Deadline, await_truth

IMAGE = os.environ.get("WSBRIDGE_IMAGE", "localhost/wsbridge:test")
ADDRESS = ("127.0.0.1", 8080)
TOKEN = "the-token-of-the-image-test"


def podman(*arguments: str) -> str:
    return script("--podman", *arguments)


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


class Container:
    """A running container of the image."""

    def __init__(self, name: str, upstream: str):
        self.name = name
        variables = {"WSBRIDGE_UPSTREAM": upstream, "WSBRIDGE_TOKEN": TOKEN}
        options = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        script(IMAGE, name, *options, "--")
        self.pid = int(self.inspect("{{.State.Pid}}"))

    def inspect(self, template: str) -> str:
        return podman("inspect", "--format", template, self.name)

    def kernel_status(self) -> dict[str, str]:
        """Return what the kernel says about the container's process."""
        with open(f"/proc/{self.pid}/status") as lines:
            return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)

    def remove(self) -> None:
        podman("rm", "--force", "--time", "10", self.name)

    @staticmethod
    def request(
        method: str, target: str, body: bytes | None = None, fields: dict[str, str] | None = None
    ) -> Response:
        with Client(ADDRESS) as client:
            fields = {"Connection": "close", "Authorization": f"Bearer {TOKEN}", **(fields or {})}
            return client.request(method, target, body, fields)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    upstream = Upstream()
    yield upstream
    upstream.stop()


@pytest.fixture(scope="module")
def container(upstream: Upstream) -> Iterator[Container]:
    container = Container("wsbridge-image-test", upstream.url)
    yield container
    container.remove()


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    """What the image says about itself."""
    return json.loads(podman("image", "inspect", IMAGE))[0]


def test_it_starts_and_its_health_check_passes(container: Container) -> None:
    podman("healthcheck", "run", container.name)


def test_a_message_goes_through_it_both_ways(container: Container, upstream: Upstream) -> None:
    peer = upstream.peer()
    await_truth(lambda: container.request("GET", "/status").json()["ready"], "the connection is ready")
    with Stream(ADDRESS, fields={"Authorization": f"Bearer {TOKEN}"}).opened() as stream:
        peer.send("out of the upstream")
        assert stream.next().data == "out of the upstream"
    assert container.request("POST", "/messages", b"into the upstream").status == 202
    assert peer.received(1) == ["into the upstream"]


def test_nobody_gets_in_without_the_token(container: Container) -> None:
    assert container.request("GET", "/status", fields={"Authorization": "Bearer other"}).status == 401


def test_its_process_has_no_rights(container: Container) -> None:
    status = container.kernel_status()
    assert set(status["Uid"].split()) == {"10001"}
    assert set(status["Gid"].split()) == {"10001"}
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"


def test_its_root_is_read_only(container: Container) -> None:
    assert container.inspect("{{.HostConfig.ReadonlyRootfs}}") == "true"
    with open(f"/proc/{container.pid}/mounts") as mounts:
        options = next(line.split()[3] for line in mounts if line.split()[1] == "/")
    assert "ro" in options.split(",")


def test_the_program_is_the_first_process_and_gets_the_signal_that_ends_it(recipe: dict[str, Any]) -> None:
    config = recipe["Config"]
    assert (config["User"], config["Entrypoint"], config["Cmd"]) == ("10001:10001", ["wsbridge"], ["serve"])
    assert config["StopSignal"] == "SIGTERM"


def test_its_labels_name_the_version_that_the_program_has(recipe: dict[str, Any]) -> None:
    labels = recipe["Config"]["Labels"]
    version = script("--once", IMAGE, "version")
    assert (
        version == f"{labels['org.opencontainers.image.title']} {labels['org.opencontainers.image.version']}"
    )
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"


def test_no_setting_of_the_machine_that_built_it_is_inside(recipe: dict[str, Any]) -> None:
    places = "/etc/apt/sources.list.d /etc/apt/apt.conf.d /mnt /opt /srv /build"
    there = f"ls -A {places} 2>/dev/null; cat /etc/apt/sources.list"
    seen = script("--once", "--entrypoint", "/bin/sh", IMAGE, "-c", there)
    assert "roots" not in seen
    assert ".sources" not in seen
    assert "swift" not in seen
    assert "usr" not in seen
    assert all(not name.upper().endswith("PROXY") for name in recipe["Config"]["Env"])


def test_it_refuses_to_stand_open() -> None:
    done = run("--once", "--env", "WSBRIDGE_UPSTREAM=ws://127.0.0.1:9/", IMAGE)
    assert done.returncode == 78, done
    assert "WSBRIDGE_TOKEN" in done.stderr


def test_a_stop_ends_it_cleanly_and_says_goodbye(container: Container, upstream: Upstream) -> None:
    peer = upstream.peer()
    podman("stop", "--time", "10", container.name)
    assert peer.left() == (1001, "")
    deadline = Deadline("the container is seen to have ended")
    while container.inspect("{{.State.Status}}") != "exited":
        deadline.left()
    assert container.inspect("{{.State.ExitCode}}") == "0"


def test_the_library_that_is_loaded_when_a_server_is_asked_is_inside() -> None:
    seen = script("--once", "--entrypoint", "/bin/sh", IMAGE, "-c", "ldd /usr/lib/*/libcurl.so.4")
    assert "libssl.so.3 =>" in seen  # the flavour that shares OpenSSL with the program
    assert "not found" not in seen


def test_a_new_volume_is_there_for_its_user_to_write() -> None:
    volume = "wsbridge-image-test"
    settings = {
        "WSBRIDGE_DATA_DIR": "/var/lib/wsbridge",
        "WSBRIDGE_UPSTREAM": "ws://127.0.0.1:1/",
        "WSBRIDGE_TOKEN": TOKEN,
    }
    options = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
    try:
        said = script("--once", "--volume", f"{volume}:/var/lib/wsbridge", *options, IMAGE, "check")
    finally:
        podman("volume", "rm", "--force", volume)
    assert "# storage: /var/lib/wsbridge/wsbridge.db: nothing yet" in said


def test_it_is_small(recipe: dict[str, Any]) -> None:
    assert recipe["Size"] < 250_000_000
    size = int(
        script("--once", "--entrypoint", "/usr/bin/stat", IMAGE, "-c", "%s", "/usr/local/bin/wsbridge")
    )
    assert size < 25_000_000, "the target for a program with Swift's libraries inside"
