"""schemathesis asks what `openapi.yaml` allows, and what it does not: each answer must be one it describes.

`make fuzz` asks for more, and something else each time (`CONTRACT_CASES`, `CONTRACT_SEED`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import Bridge, Upstream
from harness.environment import ROOT

HERE = Path(__file__).parent
#: Cases of each operation besides those that follow from its description alone.
CASES = int(os.environ.get("CONTRACT_CASES", "10"))
#: The same in each run, so that a build does not fail for what another one did not look at.
SEED = os.environ.get("CONTRACT_SEED", "1")


@pytest.fixture
def changeable(start_upstream, serve_file) -> Bridge:
    """A bridge with two connections to an echo, which clients may change."""
    upstream: Upstream = start_upstream(answers=lambda message: message)
    connections = {name: {"url": upstream.url} for name in ("default", "other")}
    # What clients make of it may never come to an end by itself.
    http = {"dynamicConnections": True, "shutdownTimeout": "2s"}
    return serve_file(json.dumps({"http": http, "connections": connections}))


# A test for each so that they run beside each other.
@pytest.mark.parametrize("base", ["", "/v1/connections/default"], ids=["at the root", "canonical"])
def test_every_answer_is_one_that_is_described(changeable: Bridge, tmp_path: Path, base: str) -> None:
    descriptors = len(os.listdir(f"/proc/{changeable.pid}/fd"))
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "contract_hooks",
        "PYTHONPATH": str(HERE),
        "NO_COLOR": "1",
    }
    command = [Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml"]
    command += ["run", ROOT / "openapi.yaml", "--url", changeable.base + base, "--seed", SEED]
    command += [
        "--phases",
        "coverage,fuzzing",
        "--max-examples",
        str(CASES),
        "--request-timeout",
        "30",
    ]
    command += ["--continue-on-failure", "--generation-database", "none"]
    if base:
        # What belongs to a connection, and only that, is there.
        command += ["--exclude-path-regex", "^/(v1/.*|healthz|readyz|metrics|openapi.yaml|)$"]
    done = subprocess.run(
        [str(word) for word in command],
        # It leaves notes where it runs.
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    assert "Test cases:" in done.stdout
    assert changeable.get("/healthz").status == 200
    assert not [record for record in changeable.records if record["level"] == "error"]
    # Its connections are there for what clients have made; each of theirs is closed.
    made = changeable.get("/v1/connections").json()["connections"]
    assert len(os.listdir(f"/proc/{changeable.pid}/fd")) <= descriptors + 2 * len(made) + 4
