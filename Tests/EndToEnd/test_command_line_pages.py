"""The manual page and the completions of shells: they know what `wsbridge help` knows, and nothing else."""

from __future__ import annotations

import functools
import re
import subprocess

import pytest

from harness.environment import BINARY, ROOT, clean_environment
from harness.patience import PATIENCE
from harness.shells import bash, fish, zsh

PAGE = (ROOT / "docs/wsbridge.1").read_text()
PRESETS = {path.stem for path in (ROOT / "config/presets").glob("*.yaml")}


def output_of(*command: str) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=clean_environment(), timeout=PATIENCE
    ).stdout


@functools.cache
def help_of(command: str = "") -> str:
    return output_of(str(BINARY), "help", *command.split())


@functools.cache
def commands() -> frozenset[str]:
    return frozenset(re.findall(r"^  ([a-z]+) ", help_of(), re.MULTILINE))


def flags_of(command: str) -> set[str]:
    flags = set(re.findall(r"^  (--[a-z-]+)", help_of(command), re.MULTILINE))
    return flags | flags_of("serve") if command == "check" else flags


def section(name: str) -> str:
    return PAGE.split(f"\n.Sh {name}\n")[1].split("\n.Sh ")[0]


def synopsis() -> dict[str, str]:
    """What the page shows of each command's flags and operands."""
    parts = [part.split("\n", 1) for part in section("SYNOPSIS").split(".Nm\n.Cm ")[1:]]
    return {name: text for name, text in ([*part, ""][:2] for part in parts)}


# The manual page


def test_the_page_has_the_commands() -> None:
    assert set(synopsis()) == commands()
    assert set(re.findall(r"^\.It Cm ([a-z]+)$", section("DESCRIPTION"), re.MULTILINE)) == commands()


def test_the_page_shows_the_flags_of_each_command() -> None:
    for command, text in synopsis().items():
        shown = {f"-{flag}" for flag in re.findall(r"\bFl (-[a-z-]+)", text)}
        if "flags of Cm serve" in text:
            shown |= flags_of("serve") - ({"--config", "--upstream"} if command == "demo" else set())
        assert shown == flags_of(command), command


def test_the_page_explains_every_flag_and_no_other() -> None:
    explained = {f"-{flag}" for flag in re.findall(r"^\.It Fl (-[a-z-]+)", section("OPTIONS"), re.MULTILINE)}
    assert explained == set().union(*map(flags_of, commands()))


def test_the_page_explains_every_variable_and_no_other() -> None:
    explained = set()
    for item in re.findall(r"^\.It Ev (.*)$", section("ENVIRONMENT").replace("\\\n", ""), re.MULTILINE):
        explained |= set(re.findall(r"[A-Z_]+", item))
    told = set()
    for command in commands():
        told |= set(re.findall(r"\b(?:WSBRIDGE_[A-Z_]+|[A-Z]+_PROXY)\b", help_of(command)))
    # OpenSSL's own, which the reference has.
    assert explained - {"SSL_CERT_FILE"} == told
    assert "SSL_CERT_FILE" in (ROOT / "docs/reference.md").read_text()


def test_the_page_explains_every_exit_code_and_no_other() -> None:
    source = (ROOT / "Sources/BridgeCore/Configuration/ExitCode.swift").read_text()
    explained = re.findall(r"^\.It (\d+)$", section("EXIT STATUS"), re.MULTILINE)
    assert explained == re.findall(r"case \w+ = (\d+)", source)


def test_the_defaults_on_the_page_are_those_of_the_help() -> None:
    text = re.sub(r"\s+", " ", output_of("mandoc", "-T", "ascii", str(ROOT / "docs/wsbridge.1")))
    text = re.sub(".\b", "", text)
    for flag, value in re.findall(r"(--[a-z-]+)[^-]*?; default ([\w.:]+)", help_of("serve")):
        told = text.split(f" {flag} ")[-1].split(" --")[0]
        assert value in told, flag


@pytest.mark.parametrize("command", [["man", "--warnings", "-E", "UTF-8", "-l"], ["mandoc", "-T", "utf8"]])
def test_the_page_can_be_read(command: list[str]) -> None:
    done = subprocess.run(
        [*command, ROOT / "docs/wsbridge.1"],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(MANWIDTH="80", MANROFFOPT="-Tutf8"),
        timeout=PATIENCE,
    )
    assert done.stderr == ""
    assert "keep a WebSocket alive" in done.stdout


# Completions

SHELLS = pytest.mark.parametrize("complete", [bash, zsh, fish], ids=lambda shell: shell.__name__)


@SHELLS
def test_commands_are_completed(complete) -> None:
    assert complete("wsbridge ") == commands()
    assert complete("wsbridge he") == {"health", "help"}
    assert complete("wsbridge help ") == commands()


@SHELLS
def test_flags_are_completed(complete) -> None:
    for command in commands():
        assert complete(f"wsbridge {command} --") == flags_of(command), command


@SHELLS
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("wsbridge serve --log-level ", {"debug", "info", "warning", "error"}),
        ("wsbridge demo --log-format ", {"text", "json"}),
        ("wsbridge tail --format ", {"raw", "sse", "json", "ndjson"}),
        ("wsbridge check --preset ", PRESETS),
        ("wsbridge serve --log-level info --log-format j", {"json"}),
    ],
)
def test_values_are_completed(complete, line: str, values: set[str]) -> None:
    assert complete(line) == values


@SHELLS
def test_what_is_offered_is_accepted(complete) -> None:
    """Values that are not exhausted by a list."""
    offered = complete("wsbridge tail --since ")
    assert {"start", "now"} <= offered
    for value in offered:
        done = subprocess.run(
            [BINARY, "tail", "--since", value, "--listen", "127.0.0.1:9"],
            capture_output=True,
            env=clean_environment(),
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 69, (value, done.stderr)


@SHELLS
def test_files_and_folders_are_completed(complete, tmp_path) -> None:
    (tmp_path / "bridge.yaml").touch()
    (tmp_path / "bridges").mkdir()
    assert complete("wsbridge serve --config b", tmp_path) == {"bridge.yaml", "bridges"}
    assert complete("wsbridge serve --data-dir b", tmp_path) == {"bridges"}
