"""What a newcomer sees first: the demo, and the lines that it prints to be pasted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import Bridge, shell


@pytest.fixture
def demo(run_bridge) -> Bridge:
    bridge = run_bridge("demo", "--listen", "127.0.0.1:0").listening()
    bridge.await_ready()
    return bridge


@pytest.fixture
def curl_home(tmp_path: Path) -> dict[str, str]:
    """The environment of a curl that takes an HTTP error for a failure, as a reader would."""
    (tmp_path / ".curlrc").write_text("fail-with-body\n")
    return {"CURL_HOME": str(tmp_path)}


def works(example: str, environment: dict[str, str]) -> str:
    """Run it to its end, or, if it follows a stream, up to the first event; return what it printed."""
    with shell(example, environment) as command:

        def find(text: str) -> str | None:
            return text if re.search(r"^data:", text, re.MULTILINE) else None

        try:
            return command.out.until(find, f"an event or the end of {example}")
        except EOFError:
            assert command.exit_code() == 0, f"{example}\n{command.out.text}\n{command.err.text}"
            return command.out.text


def test_the_demo_ticks(demo: Bridge) -> None:
    assert len(demo.stream().take(2)) == 2


def test_the_demo_echoes(demo: Bridge) -> None:
    stream = demo.stream()
    demo.send("an echo, please")
    while stream.next().data != "an echo, please":
        pass


def test_the_demo_stops_cleanly(demo: Bridge) -> None:
    demo.stop()


def test_the_demo_prints_three_curl_lines_that_work(demo: Bridge, curl_home: dict[str, str]) -> None:
    def find(text: str) -> list[str] | None:
        lines = re.findall(r"^\W*(curl .*)$", text, re.MULTILINE)
        return lines if len(lines) >= 3 else None

    lines = demo.out.until(find, "three curl lines")
    assert len(lines) == 3
    for line in lines:
        assert f":{demo.address[1]}" in line
        assert works(line, curl_home) != ""
