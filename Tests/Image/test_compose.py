"""config/compose.yaml: a container with what it says, as options of podman's, which needs no engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from containers import ADDRESS, IMAGE, TOKEN, podman, run, start

from harness import Client, Upstream
from harness.environment import ROOT
from harness.patience import await_truth

NAME = "wsbridge-image-compose"
SERVICE: dict[str, Any] = yaml.safe_load((ROOT / "config/compose.yaml").read_text())["services"]["wsbridge"]


def options(service: dict[str, Any], environment: dict[str, str]) -> list[str]:
    """What podman is told for each key of the service; an unknown one is an error."""
    told: list[str] = []
    for key, value in service.items():
        match key:
            case "build" | "image" | "stop_grace_period" | "restart":
                pass  # What is built, and what the engine does around a container.
            case "ports":
                # In a network of the container's own; here it shares ours.
                assert value == ["127.0.0.1:8080:8080"]
            case "environment":
                for name, text in value.items():
                    told += ["--env", f"{name}={substituted(text, environment)}"]
            case "read_only":
                told.append(f"--read-only={str(value).lower()}")
            case "cap_drop":
                told += [word for each in value for word in ("--cap-drop", each)]
            case "security_opt":
                told += [word for each in value for word in ("--security-opt", each)]
            case "init":
                told.append(f"--init={str(value).lower()}")
            case "mem_limit":
                told += ["--memory", value]
            case "ulimits":
                told += [
                    word for name, most in value.items() for word in ("--ulimit", f"{name}={most}:{most}")
                ]
            case "healthcheck":
                told += ["--health-cmd", " ".join(value["test"][1:])]
                told += ["--health-interval", value["interval"], "--health-timeout", value["timeout"]]
                told += [
                    "--health-start-period",
                    value["start_period"],
                    "--health-retries",
                    str(value["retries"]),
                ]
            case _:
                pytest.fail(f"the test does not know `{key}`")
    return told


def substituted(text: str, environment: dict[str, str]) -> str:
    """Compose's `${NAME:?why}` and `${NAME:-default}`."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if environment.get(name):
            return environment[name]
        assert kind != "?", f"{name}: {rest}"
        return rest or ""

    return re.sub(r"\$\{(\w+)(?::([?-])([^}]*))?\}", value, text)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    upstream = Upstream()
    yield upstream
    upstream.stop()


@pytest.fixture
def container(upstream: Upstream) -> Iterator[str]:
    environment = {"WSBRIDGE_UPSTREAM": upstream.url, "WSBRIDGE_TOKEN": TOKEN}
    # The engine's own limit of processes is higher than some machines allow to set.
    place = ["--network", "host", "--ulimit", "nproc=4096:4096", "--log-driver", "none"]
    command = ["run", "--detach", "--name", NAME, *place, *options(SERVICE, environment), IMAGE]
    try:
        start(*command)
        yield NAME
    finally:
        podman("rm", "--force", "--ignore", "--time", "10", NAME)


def test_it_runs_and_serves_with_what_it_says(container: str, upstream: Upstream) -> None:
    upstream.peer()
    await_truth(
        lambda: run("--podman", "healthcheck", "run", container).returncode == 0, "the container is healthy"
    )
    with Client(ADDRESS) as client:
        assert client.request("GET", "/status").status == 401
        answer = client.request("POST", "/messages?wait=30s", b"hello", {"Authorization": f"Bearer {TOKEN}"})
        assert answer.json()["state"] == "sent"
    assert upstream.peer().received(1) == ["hello"]


@pytest.mark.parametrize("name", ["WSBRIDGE_UPSTREAM", "WSBRIDGE_TOKEN"])
def test_it_starts_with_an_upstream_and_a_token_only(name: str) -> None:
    environment = {"WSBRIDGE_UPSTREAM": "wss://example.org/feed", "WSBRIDGE_TOKEN": TOKEN} | {name: ""}
    with pytest.raises(AssertionError, match=f"{name}: set it"):
        options(SERVICE, environment)


def test_it_has_no_right_that_it_does_not_need() -> None:
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges"]
    assert {"privileged", "user", "cap_add", "network_mode", "pid", "ipc", "devices"} & set(SERVICE) == set()


def test_its_health_check_is_the_images() -> None:
    (line,) = re.findall(r"^HEALTHCHECK (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    check = SERVICE["healthcheck"]
    assert line == (
        f"--interval={check['interval']} --timeout={check['timeout']} --start-period={check['start_period']} "
        f"--retries={check['retries']} CMD {str(check['test'][1:]).replace(chr(39), chr(34))}"
    )
