"""The image, built from the Dockerfile and run: `make image-test`.

The tests have a network of their own (`unshare --net`), so that the image's port is free and the upstream can
stand on the loopback interface that both sides share.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from containers import ADDRESS, IMAGE, TOKEN, Container, podman, run, script, start, variables

from harness import RawUpstream, Stream, Upstream
from harness.environment import ROOT
from harness.patience import await_truth


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
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert labels["org.opencontainers.image.revision"] == (revision.stdout.strip() or "unknown")
    assert labels["org.opencontainers.image.description"]


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
    done = run("--once", *variables(WSBRIDGE_UPSTREAM="ws://127.0.0.1:9/"), IMAGE)
    assert done.returncode == 78, done
    assert "WSBRIDGE_TOKEN" in done.stderr
    assert "WSBRIDGE_ALLOW_ANONYMOUS" in done.stderr


def test_it_stands_open_when_it_is_told_to() -> None:
    explicit = variables(WSBRIDGE_UPSTREAM="ws://127.0.0.1:9/", WSBRIDGE_ALLOW_ANONYMOUS="true")
    assert "allowAnonymous: true" in script("--once", *explicit, IMAGE, "check")


def test_the_environment_alone_configures_it() -> None:
    """Each variable that the program knows, but for the one that names a file."""
    told = {
        "WSBRIDGE_UPSTREAM": "wss://example.org/feed",
        "WSBRIDGE_LISTEN": "0.0.0.0:9000",
        "WSBRIDGE_DATA_DIR": "/var/lib/wsbridge",
        "WSBRIDGE_LOG_LEVEL": "warning",
        "WSBRIDGE_LOG_FORMAT": "json",
        "WSBRIDGE_TOKEN": TOKEN,
        "WSBRIDGE_ALLOW_ANONYMOUS": "false",
        "WSBRIDGE_ALLOWED_HOSTS": "bridge.example.org",
        "WSBRIDGE_ALLOWED_ORIGINS": "https://app.example.org",
    }
    known = set(re.findall(r"\bWSBRIDGE_[A-Z_]+", script("--once", IMAGE, "help", "serve")))
    # A folder and a file that are not there, which they show by being missed.
    assert known == set(told) | {"WSBRIDGE_CONFIG", "WSBRIDGE_PUBLIC"}
    for name in known - set(told):
        missed = run("--once", *variables(**told | {name: "/missing"}), IMAGE, "check")
        assert (missed.returncode, "/missing" in missed.stderr) == (66, True), missed
    volume = "wsbridge-image-environment"
    try:
        place = ["--volume", f"{volume}:/var/lib/wsbridge"]
        said = script("--once", *place, *variables(**told), IMAGE, "check")
    finally:
        podman("volume", "rm", "--force", volume)
    for value in ("wss://example.org/feed", "0.0.0.0:9000", "bridge.example.org", "https://app.example.org"):
        assert value in said
    assert "/var/lib/wsbridge" in said
    assert "environment" in said
    assert TOKEN not in said


def test_its_health_check_fails_when_it_stands_still(container: Container) -> None:
    os.kill(container.pid, signal.SIGSTOP)
    try:
        assert run("--podman", "healthcheck", "run", container.name).returncode == 1
    finally:
        os.kill(container.pid, signal.SIGCONT)
    await_truth(
        lambda: run("--podman", "healthcheck", "run", container.name).returncode == 0, "it is healthy again"
    )


def test_a_stop_ends_it_cleanly_and_says_goodbye(container: Container, upstream: Upstream) -> None:
    """Within the two seconds after which it would be killed."""
    peer = upstream.peer()
    podman("stop", "--time", "2", container.name)
    assert peer.left() == (1001, "")
    assert container.exit_code() == 0


def test_a_stop_ends_it_cleanly_where_the_upstream_says_nothing() -> None:
    """Within its own limit, which is less than what Docker and compose.yaml give it."""
    upstream = RawUpstream()
    container = Container("wsbridge-image-silence", upstream.url)
    try:
        upstream.accept().accept_handshake()
        await_truth(lambda: container.request("GET", "/status").json()["ready"], "the connection is ready")
        podman("stop", "--time", "10", container.name)
        assert container.exit_code() == 0
    finally:
        container.remove()
        upstream.stop()


def test_a_container_that_was_killed_goes_on_when_it_is_started_again() -> None:
    upstream = Upstream(away=True)
    volume = "wsbridge-image-data"
    more = ["--volume", f"{volume}:/var/lib/wsbridge", "--env", "WSBRIDGE_DATA_DIR=/var/lib/wsbridge"]
    container = Container("wsbridge-image-killed", upstream.url, *more)
    try:
        accepted = container.request("POST", "/messages", b"before the kill").json()
        os.kill(container.pid, signal.SIGKILL)
        assert container.exit_code() == 137
        start("start", container.name)
        upstream.come_back()
        assert upstream.peer().received(1) == ["before the kill"]
        states = f"/outbox/{accepted['id']}"
        await_truth(lambda: container.request("GET", states).json()["state"] == "sent", "it is sent")
    finally:
        container.remove()
        podman("volume", "rm", "--force", volume)
        upstream.stop()


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


@pytest.fixture(scope="module")
def inventory() -> dict[str, Any]:
    """The image's bill of materials, as the pages say how to get it."""
    place = "/usr/share/doc/wsbridge/wsbridge.cdx.json"
    return json.loads(script("--once", "--entrypoint", "cat", IMAGE, place))


def test_its_inventory_has_every_package(inventory: dict[str, Any]) -> None:
    assert (inventory["bomFormat"], inventory["specVersion"]) == ("CycloneDX", "1.5")
    listed = script("--once", "--entrypoint", "dpkg-query", IMAGE, "-W", "-f", "${Package} ${Version}\\n")
    there = {tuple(line.split(" ")) for line in listed.replace("\\n", "\n").splitlines() if line}
    told = {(it["name"], it["version"]) for it in inventory["components"] if "debian:source" in str(it)}
    assert {name for name, _ in there} >= {"libcurl4", "libmicrohttpd12", "libssl3", "libuv1"}
    assert told == there


def test_its_inventory_has_the_program_and_what_is_linked_into_it(inventory: dict[str, Any]) -> None:
    by_name = {it["name"]: it for it in inventory["components"]}
    version = script("--once", IMAGE, "version").split()[1]
    assert by_name["wsbridge"]["version"] == inventory["metadata"]["component"]["version"] == version
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", by_name["swift"]["version"])
    assert by_name["libstdc++-12-dev"]["version"].startswith("12.")


def test_its_inventory_is_well_formed(inventory: dict[str, Any]) -> None:
    references = [it["bom-ref"] for it in inventory["components"]]
    assert len(set(references)) == len(references)
    for component in inventory["components"]:
        assert component["type"] in ("application", "library")
        assert re.fullmatch(
            r"pkg:(generic|deb/debian)/[a-z0-9.%B-]+@[A-Za-z0-9.%_-]+(\?[a-z0-9=&-]+)?", component["purl"]
        ), component["purl"]


def test_it_is_small(recipe: dict[str, Any]) -> None:
    assert recipe["Size"] < 120_000_000, "the target, of which Debian itself takes 77 MB"
    size = int(
        script("--once", "--entrypoint", "/usr/bin/stat", IMAGE, "-c", "%s", "/usr/local/bin/wsbridge")
    )
    assert size < 25_000_000, "the target for a program with Swift's libraries inside"
