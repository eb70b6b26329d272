"""Recipes, the pages of docs/recipes: each is followed to the letter, with a stand-in as the service.

Alone the addresses differ, of the bridge and of the service.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness import Bridge, Curl, await_truth, shell
from harness.environment import BINARY, ROOT
from harness.pages import Block, Example, blocks_in, program_of

#: Where the pages have the bridge.
ADDRESS = re.compile(r"\b(?:localhost|127\.0\.0\.1):8080\b")
#: Where the pages have a service that is the reader's own.
SERVICE = re.compile(r"wss?://(?:[\w-]+\.)*example\.org|ws://localhost:\d+")


def here(text: str, bridge: Bridge) -> str:
    """Return the text with this bridge's address instead of the pages'."""
    replaced = ADDRESS.sub(f"127.0.0.1:{bridge.address[1]}", text)
    assert replaced != text, f"not the bridge's address: {text}"
    return replaced


def strict_curl(folder: Path) -> dict[str, str]:
    """The environment of a curl that takes an HTTP error for a failure, as a reader would."""
    (folder / ".curlrc").write_text("fail-with-body\n")
    return {"CURL_HOME": str(folder)}


def printed(
    example: Example, command: str, environment: dict[str, str], meanwhile: Callable[[], Any] | None = None
) -> str:
    """Run a command until it printed what is shown, if it follows something, else to its successful end."""
    with shell(command, environment) as running:
        if example.follows:
            if meanwhile:
                meanwhile()
            what = f"{example.output or 'a line'} of {command}"
            return running.out.until(lambda text: text if example.printed_in(text) else None, what)
        assert running.exit_code() == 0, f"{command}\n{running.out.text}\n{running.err.text}"
        return running.out.text


class Recipe:
    """A page: one configuration, then commands in the order in which a reader runs them."""

    def __init__(self, name: str, folder: Path):
        """`folder` is the one that the reader works in."""
        self.page = f"docs/recipes/{name}.md"
        self.blocks = blocks_in(self.page, (ROOT / self.page).read_text())
        self._folder = folder
        self._environment: dict[str, str] = {}

    def block(self, kind: str) -> Block:
        """Return the page's only block of this kind."""
        (block,) = (block for block in self.blocks if block.kind == kind)
        return block

    def serve(self, run_bridge: Callable[..., Bridge], url: Any, **environment: str) -> Bridge:
        """Check the configuration as it stands, run it with the service at `url`, and wait until it is ready.

        A URL of the page keeps its path and query; where it has none, `url` is all that stands there.
        """
        text = self.block("yaml").text
        asked = set(re.findall(r"\$\{(\w+)\}", text))
        assert asked == set(environment), f"{self.page} needs {asked}"
        self._environment = environment
        check = self._run(run_bridge, "check", text)
        assert check.exit_code() == 0, check.err.text
        assert not [value for value in environment.values() if value in check.out.text + check.err.text]
        tree = yaml.safe_load(text)
        (connection,) = tree["connections"].values()
        connection["url"] = _leading_to(url, connection.get("url"))
        bridge = self._run(run_bridge, "serve", yaml.safe_dump(tree), "--listen", "127.0.0.1:0").listening()
        await_truth(lambda: bridge.get("/readyz").status == 200, "the recipe's connection is ready")
        return bridge

    def follow(
        self,
        bridge: Bridge,
        *events: Callable[[], Any],
        places: Mapping[str, str] | None = None,
        **environment: str,
    ) -> None:
        """Run the commands one by one, and compare what they print.

        What follows a stream has an event each, which is called once that stream is open. `places` are
        addresses other than the bridge's, and what stands in for them.
        """
        variables = self.environment(bridge) | environment
        left = list(events)
        examples = [each for block in self.blocks if block.language == "sh" for each in block.examples()]
        assert examples, f"{self.page} runs nothing"
        for example in examples:
            assert example.output, f"{example}: the page does not show what comes back"
            meanwhile = self._once_read(bridge, left.pop(0)) if example.follows else None
            is_wsbridge = program_of(example.command) == "wsbridge"
            command = example.command if is_wsbridge else here(example.command, bridge)
            for place, substitute in (places or {}).items():
                command = command.replace(place, substitute)
            output = printed(example, command, variables, meanwhile)
            assert example.printed_in(output), f"{example}\n{output}"
        assert not left, f"{self.page} follows fewer streams"

    def start(self, command: str, bridge: Bridge) -> Curl:
        """Start a command in another terminal of the reader, such as a script of the page."""
        return shell(command, self.environment(bridge))

    def environment(self, bridge: Bridge) -> dict[str, str]:
        """The environment of the reader's other terminal."""
        address = {"WSBRIDGE_LISTEN": f"127.0.0.1:{bridge.address[1]}"}
        return strict_curl(self._folder) | self._programs() | self._environment | address

    def _run(self, run_bridge: Callable[..., Bridge], command: str, text: str, *flags: str) -> Bridge:
        (self._folder / "wsbridge.yaml").write_text(text)
        arguments: Sequence[str] = (command, "--config", "wsbridge.yaml", *flags)
        return run_bridge(*arguments, folder=self._folder, environment=self._environment)

    def _programs(self) -> dict[str, str]:
        """Have `wsbridge` be the program under test."""
        programs = self._folder / "bin"
        programs.mkdir(exist_ok=True)
        if not (programs / "wsbridge").exists():
            (programs / "wsbridge").symlink_to(BINARY)
        return {"PATH": f"{programs}:{os.environ['PATH']}"}

    def _once_read(self, bridge: Bridge, event: Callable[[], Any]) -> Callable[[], None]:
        def readers() -> int:
            return len(bridge.get("/subscribers").json()["subscribers"])

        # Those of earlier commands have gone.
        await_truth(lambda: readers() == 0, "no stream is open")

        def act() -> None:
            await_truth(lambda: readers() == 1, "the stream is open")
            event()

        return act


def _leading_to(url: Any, written: str | None) -> Any:
    """Return the URL of the service with the path and query that the page has, if it has any."""
    if written is None:
        return url
    base = re.match(r"ws://[^/]+", url)
    assert base, url
    assert SERVICE.match(written), f"nobody's own: {written}"
    return SERVICE.sub(base[0], written, count=1)
