"""docs/security.md: every answer to a threat has its test, and names settings that there are."""

from __future__ import annotations

import re

import yaml

from harness.environment import ROOT

PAGE = (ROOT / "docs/security.md").read_text()
CONFIGURATION = (ROOT / "config/wsbridge.yaml").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.endswith("| Test |")
]


def test_every_answer_has_a_test_that_is_there() -> None:
    assert len(ROWS) > 25
    for threat, *_, tests in ROWS:
        named = re.findall(r"`(\w+\.py)::(\w+)`", tests)
        assert named, threat
        for file, test in named:
            text = (ROOT / "Tests/EndToEnd" / file).read_text()
            assert re.search(rf"^def {test}\(", text, re.MULTILINE), f"{file}::{test}"


def keys(node: object, path: str = "") -> set[str]:
    """The keys of the configuration by their full names, those of a connection by the names within one."""
    found = set()
    if isinstance(node, dict):
        for name, value in node.items():
            inner = (
                ""
                if path in ("", "connections.") and name in ("connections", "default")
                else f"{path}{name}."
            )
            found |= {f"{path}{name}"} | keys(value, inner)
    return found


def test_every_setting_is_one() -> None:
    # Examples of what has no default stand in comments.
    there = keys(yaml.safe_load(re.sub(r"^#[+~]", "  ", CONFIGURATION, flags=re.MULTILINE)))
    named = {name for row in ROWS for name in re.findall(r"`([a-zA-Z.]+)`", row[2])}
    assert named
    assert named - there == set()


def test_every_kind_of_adversary_is_there() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert {
        "A web page in the user's browser",
        "Another user of the machine",
        "The network",
        "A hostile upstream",
        "A stolen token",
        "A client that may make connections",
        "Exhaustion",
    } <= set(headings)
