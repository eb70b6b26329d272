"""The lines of Docker that the pages show, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Client, shell
from harness.environment import ROOT
from harness.http1 import Response
from harness.pages import Block, blocks_of
from harness.patience import PATIENCE

#: Where the folder with our `docker` is, which needs no engine.
HERE = Path(__file__).parent
CONTAINER = "wsbridge-image-test"
ADDRESS = ("127.0.0.1", 8080)


def podman(*arguments: str) -> None:
    command = [ROOT / "scripts/run-image", "--podman", *arguments]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=True)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Remove the container that our `docker` makes, should a test leave it."""
    yield
    podman("rm", "--force", "--ignore", "--time", "1", CONTAINER)


def answer(target: str, **fields: str) -> Response:
    """Ask the bridge on the port that the page publishes."""
    with Client(ADDRESS) as client:
        return client.request("GET", target, None, {"Connection": "close", **fields})


#: Those that build the image and start a bridge, and those that ask something of the image.
STARTS, QUESTIONS = (
    [block for block in blocks_of("docker") if ("docker build" in block.text) == builds]
    for builds in (True, False)
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("block", STARTS, ids=str)
def test_lines_of_docker_start_a_bridge(block: Block) -> None:
    """The image is built already, by the same recipe: building it again finds that."""
    *before, run = block.commands
    assert len(before) == 2
    assert run.startswith("docker run ")
    # Whoever types the lines can look at the token that they make.
    lines = ["set -e", f"cd {ROOT}", *before, 'echo "token=$WSBRIDGE_TOKEN"', f"exec {run}"]
    with shell("\n".join(lines), {"PATH": f"{HERE}:{os.environ['PATH']}"}) as running:

        def complete_line(text: str) -> re.Match[str] | None:
            return re.search(r"^token=(.*)\n", text, re.MULTILINE)

        token = running.out.until(complete_line, "the image is built", seconds=800)[1]
        assert re.fullmatch("[0-9a-f]{48}", token)

        running.err.until(lambda text: True if "listening" in text else None, "the bridge listens")
        assert answer("/healthz").status == 200
        assert answer("/status").status == 401
        assert answer("/status", Authorization=f"Bearer {token}").json()["url"] == "wss://example.org/feed"
        podman("stop", "--time", "10", CONTAINER)
        assert running.exit_code() == 0, running.err.text


@pytest.mark.timeout(900)
@pytest.mark.parametrize("block", QUESTIONS, ids=str)
def test_lines_of_docker_print_the_inventory(block: Block) -> None:
    (command,) = block.commands
    # The name that the lines above give it.
    lines = ["set -e", f"cd {ROOT}", "docker build --tag wsbridge . >&2", f"exec {command}"]
    with shell("\n".join(lines), {"PATH": f"{HERE}:{os.environ['PATH']}"}) as running:
        running.out.until(
            lambda text: True if text.rstrip().endswith("}") else None, "all of it", seconds=800
        )
        assert running.exit_code() == 0, running.err.text
    assert json.loads(running.out.text)["bomFormat"] == "CycloneDX"
