"""The presets in config/presets say what they need: each parameter is described, used and named in time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

FILES = sorted((Path(__file__).parents[2] / "config/presets").glob("*.yaml"))
SETTINGS = {
    "parameters",
    "url",
    "resumeUrl",
    "headers",
    "subprotocols",
    "requireSubprotocol",
    "heartbeat",
} | {
    "reconnect",
    "receiveOnly",
    "rate",
    "onOpen",
    "rules",
    "request",
}


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def text(request: pytest.FixtureRequest) -> str:
    return request.param.read_text()


@pytest.fixture
def preset(text: str) -> dict[str, Any]:
    return yaml.safe_load(text)


def test_there_are_presets() -> None:
    assert FILES


def test_a_comment_comes_first_and_says_how_to_use_it(text: str) -> None:
    header = text[: text.index("\n\n")]
    assert all(line.startswith("#") for line in header.splitlines())
    assert "preset: " in header


def test_only_settings_that_presets_are_for(preset: dict[str, Any]) -> None:
    assert set(preset) <= SETTINGS


def test_parameters_are_described(preset: dict[str, Any]) -> None:
    for name, parameter in preset.get("parameters", {}).items():
        assert re.fullmatch("[a-z][A-Za-z]*", name)
        assert re.fullmatch("[A-Z][A-Z_]*", parameter["variable"])
        assert parameter["description"]
        assert set(parameter) <= {"variable", "description", "default"}
        assert isinstance(parameter.get("default", ""), str)


def test_parameters_are_those_that_are_used(preset: dict[str, Any]) -> None:
    values = yaml.safe_dump({key: value for key, value in preset.items() if key != "parameters"})
    assert set(re.findall(r"\$\{parameter:([^}]*)\}", values)) == set(preset.get("parameters", {}))


def test_parameters_stand_in_values_only(preset: dict[str, Any]) -> None:
    """No key is replaced."""

    def keys(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [*value, *(key for each in value.values() for key in keys(each))]
        return [key for each in value for key in keys(each)] if isinstance(value, list) else []

    assert not [key for key in keys(preset) if "${" in str(key)]
