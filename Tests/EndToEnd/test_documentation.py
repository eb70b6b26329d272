"""What the pages tell a reader to run is run here, as it stands there; what they show as output is compared.

Alone the addresses differ, so that tests can run side by side: ports, and the upstream of `example.org`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import Bridge, Upstream, await_truth, shell
from harness.browser import Browser, Visit, running_browser
from harness.environment import BINARY, ROOT, clean_environment
from harness.pages import Block, blocks_in, blocks_of, user_blocks, user_pages
from harness.patience import PATIENCE
from recipes import here, printed, strict_curl

#: The kinds of blocks, and the test that executes every block of that kind.
EXECUTED_BY = {
    "curl": "test_lines_of_curl_work_and_print_what_is_shown",
    "js": "test_lines_of_javascript_work_in_a_browser",
    "make": "test_make_run_starts_the_demo",
    "wsbridge": "test_lines_of_wsbridge_work",
    "yaml": "test_configurations_are_right",
    # Needs root, and takes minutes: `make image-test` runs it.
    "docker": "Tests/Image/test_documentation.py",
}

#: The upstream of the pages, which does not exist.
UPSTREAM = "wss://example.org/feed"


def every(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", blocks_of(kind), ids=str)


# Every block


def test_every_block_is_executed_or_says_why_not() -> None:
    blocks = user_blocks()
    assert blocks
    assert [f"{it}: {it.kind}" for it in blocks if it.reason is None and it.kind not in EXECUTED_BY] == []


def test_what_executes_them_is_there() -> None:
    for kind, test in EXECUTED_BY.items():
        place = ROOT / test
        if not test.endswith(".py"):
            assert any(mark.name == "parametrize" for mark in globals()[test].pytestmark), test
            place = Path(__file__)
        assert re.search(rf'(every|blocks_of)\("{kind}"\)', place.read_text()), test


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```sh\ncurl localhost\n```", ["curl"]),
        ("```sh\n# why\nprintf x | curl localhost\n\nexport A=$(date) B=c\n```", ["curl"]),
        ("```sh\nexport A=b\n```", ["sh of []"]),
        ("```sh\nA=b make run\n```\n```js\n1\n```", ["make", "js"]),
        ("```sh\ncurl localhost\nrm -r build\n```", ["sh of ['curl', 'rm']"]),
        ("```\nnobody knows\n```\n~~~yaml\na: 1\n~~~", ["unlabelled", "yaml"]),
        ("- item\n  ```sh\n  make test\n  ```\n", ["make"]),
        ("<!-- example: a picture -->\n```text\nA -> B\n```\n```text\n```", ["text", "text"]),
        ("````md\n```sh\n```\n````", ["md"]),
    ],
)
def test_blocks_are_found(text: str, kinds: list[str]) -> None:
    blocks = blocks_in("page.md", text)
    assert [block.kind for block in blocks] == kinds
    assert [block.reason for block in blocks] == ["a picture" if "picture" in text else None, None][
        : len(kinds)
    ]


@pytest.mark.parametrize("mark", ["<!-- example -->", "<!-- example:  -->", "example: no comment", ""])
def test_a_mark_needs_a_reason(mark: str) -> None:
    assert [it.reason for it in blocks_in("page.md", f"{mark}\n```text\n```\n")] == [None]


def test_a_block_without_an_end_is_noticed() -> None:
    with pytest.raises(ValueError, match="page.md:2"):
        blocks_in("page.md", "text\n```sh\nmake run\n")


@pytest.mark.parametrize(
    ("command", "shown", "output", "right"),
    [
        ("curl x", '{"id":"…","state":"sent"}', '{"id":"1-2","state":"sent"}\n', True),
        ("curl x", '{"id":"…","state":"sent"}', '{"id":"1-2","state":"queued"}', False),
        ("curl x", '{"id":"…"}', '{"id":"1"}\nmore', False),
        ("curl -N x", "id: …\n# data: a.c", "retry: 5\n\nid: 7\ndata: a.c\n\n", True),
        ("curl -N x", "id: …\n# data: a.c", "id: 7\ndata: abc\n", False),
        ("curl -N x", "id: …\n# data: a.c", "id: 7\ndata: a.c", False),
    ],
)
def test_output_is_compared(command: str, shown: str, output: str, right: bool) -> None:
    (block,) = blocks_in("page.md", f"```sh\n# Why.\n{command}\n# {shown}\n```")
    (example,) = block.examples()
    assert example.printed_in(output) == right


# curl


@pytest.fixture
def demo(run_bridge: Callable[..., Bridge]) -> Bridge:
    bridge = run_bridge("demo", "--listen", "127.0.0.1:0").listening()
    bridge.await_ready()
    return bridge


@every("curl")
def test_lines_of_curl_work_and_print_what_is_shown(block: Block, demo: Bridge, tmp_path: Path) -> None:
    for example in block.examples():
        output = printed(example, here(example.command, demo), strict_curl(tmp_path))
        assert example.output, f"{example}: the page does not show what comes back"
        assert example.printed_in(output), f"{example}\n{output}"
        demo.await_ready()


def test_the_readme_has_ten_lines_of_curl() -> None:
    (block,) = (it for it in blocks_of("curl") if it.page == "README.md")
    assert len(block.examples()) == 10


# JavaScript


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@every("js")
def test_lines_of_javascript_work_in_a_browser(
    block: Block, upstream: Upstream, start_bridge: Callable[..., Bridge], tmp_path: Path, browser: Browser
) -> None:
    assert len(block.text.splitlines()) == 5
    site = tmp_path / "site"
    site.mkdir()
    (site / "example.js").write_text(block.text)
    (site / "then.js").write_text('events.addEventListener("open", () => send("Hello from the page"));')
    scripts = "".join(f'<script src="{name}"></script>' for name in ("example.js", "then.js"))
    (site / "index.html").write_text(f'<!doctype html><link rel="icon" href="data:,">{scripts}')
    (tmp_path / "quick.yaml").write_text("http: { retry: 40ms }\n")
    flags = ["--config", str(tmp_path / "quick.yaml"), "--public", str(site)]

    bridge = start_bridge(upstream.url, *flags)
    visit = Visit(browser, bridge)
    # The bridge goes away for a while, and a gap is what the page warns of.
    visit.expected += ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "a gap"]
    said: list[str] = []
    visit.page.on("console", lambda message: said.append(message.text))

    def says(line: str) -> None:
        def question() -> bool:
            visit.page.wait_for_timeout(10)
            return any(re.fullmatch(line, text) for text in said)

        await_truth(question, f"{line} in {said}")

    visit.open()
    peer = upstream.peer()
    assert peer.received(1) == ["Hello from the page"]
    peer.send("héllo", b"\x00\x01\xff")
    says(r"[\w]+-\d+ héllo")
    says("3 bytes")
    bridge.stop()
    again = start_bridge(upstream.url, *flags, listen=f"127.0.0.1:{bridge.address[1]}")
    says("a gap .*")
    upstream.peer(1).send("after the gap")
    says(r"[\w]+-\d+ after the gap")
    visit.end()
    again.stop()


# Configurations, and the program


def secrets_of(configuration: str, folder: Path) -> dict[str, str]:
    """Make the files that a configuration refers to, and return the variables."""
    for name in re.findall(r"\$\{file:([^}]+)\}", configuration):
        (folder / name).write_text(f"secret-of-{name}\n")
    return {name: f"secret-of-{name}" for name in re.findall(r"\$\{(\w+)\}", configuration)}


@every("yaml")
def test_configurations_are_right(block: Block, run_bridge: Callable[..., Bridge], tmp_path: Path) -> None:
    (tmp_path / "wsbridge.yaml").write_text(block.text)
    environment = secrets_of(block.text, tmp_path)
    check = run_bridge("check", "--config", "wsbridge.yaml", environment=environment, folder=tmp_path)
    assert check.exit_code() == 0, check.err.text
    result = yaml.safe_load(check.out.text)
    for name in yaml.safe_load(block.text).get("connections", {}):
        assert result["connections"][name]["url"] == UPSTREAM
    assert "secret-of" not in check.out.text


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which `wsbridge` is the program under test, and listens on a free port."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/wsbridge").symlink_to(BINARY)
    return {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "WSBRIDGE_LISTEN": "127.0.0.1:0"}


@every("wsbridge")
def test_lines_of_wsbridge_work(
    block: Block,
    start_upstream: Callable[..., Upstream],
    demo: Bridge,
    program: dict[str, str],
    tmp_path: Path,
) -> None:
    (configuration,) = (it.text for it in blocks_of("yaml") if it.page == "README.md")
    for number, example in enumerate(block.examples()):
        if re.search(r"wsbridge (serve|check)\b", example.command):
            upstream, folder = start_upstream(), tmp_path / str(number)
            folder.mkdir()
            (folder / "wsbridge.yaml").write_text(configuration.replace(UPSTREAM, upstream.url))
            environment = program | secrets_of(configuration, folder)
            command = f"cd '{folder}' && exec {example.command.replace(UPSTREAM, upstream.url)}"
            with shell(command, environment) as running:
                if example.follows:
                    # The connection it was told of is made.
                    upstream.peer()
                    running.err.until(lambda text: True if "listening" in text else None, "it listens")
                    running.interrupt()
                assert running.exit_code() == 0, f"{example}\n{running.err.text}"
        else:
            environment = program | {"WSBRIDGE_LISTEN": f"127.0.0.1:{demo.address[1]}"}
            output = printed(example, example.command, environment)
            assert example.follows or output == "", example


# make


@every("make")
@pytest.mark.timeout(1800)
def test_make_run_starts_the_demo(block: Block) -> None:
    """Also where nothing is built yet, which takes minutes."""
    (example,) = block.examples()
    assert example.command == "make run"
    command = f"cd '{ROOT}' && exec {example.command}"
    with shell(command, {"WSBRIDGE_LISTEN": "127.0.0.1:0"}) as running:
        guide = running.out.until(
            lambda text: re.search(r"http://127\.0\.0\.1:\d+/status", text), "the demo's guide", seconds=1700
        )
        assert subprocess.run(["curl", "-qsSf", guide[0]], timeout=PATIENCE, check=False).returncode == 0
        running.interrupt()
        # What make itself makes of Ctrl-C is its own business.
        running.exit_code()
        assert "error" not in running.err.text


# What is said between the blocks


def spans(program: str) -> list[str]:
    """What the pages have in backticks in their text that begins with this program."""
    found = []
    for page, text in user_pages().items():
        for block in blocks_in(page, text):
            text = text.replace(block.text, "")
        found += re.findall(rf"`({program} [^`]+)`", text)
    return found


def test_commands_in_the_text_exist() -> None:
    commands = spans("wsbridge")
    assert commands
    for command in commands:
        _, name, *flags = command.split()
        done = subprocess.run(
            [BINARY, "help", name], capture_output=True, text=True, env=clean_environment(), check=False
        )
        assert done.returncode == 0, command
        assert [flag for flag in flags if flag.startswith("-") and flag not in done.stdout] == [], command


def test_make_targets_in_the_text_exist() -> None:
    commands = spans("make")
    assert commands
    for command in commands:
        done = subprocess.run(
            ["make", "--dry-run", *command.split()[1:]], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode == 0, command


def test_lines_of_curl_and_docker_stand_in_blocks() -> None:
    assert [
        command for program in ("curl", "docker") for command in spans(program) if " -F" not in command
    ] == []


# Tables


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    section = user_pages()[page].split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def help_of(command: str) -> str:
    done = subprocess.run(
        [BINARY, "help", command], capture_output=True, text=True, env=clean_environment(), check=True
    )
    return done.stdout


def test_the_settings_are_those_of_serve() -> None:
    text = help_of("serve")
    settings = rows("README.md", "Settings")
    flags = {cell[0].strip("`").split()[0] for cell in settings if cell[0]}
    variables = {cell[1].strip("`") for cell in settings}
    assert flags == set(re.findall(r"^ +(--[a-z-]+)", text, re.MULTILINE))
    assert variables == set(re.findall(r"\bWSBRIDGE_[A-Z_]+", text))


def test_the_defaults_of_the_settings_are_right(run_bridge: Callable[..., Bridge]) -> None:
    check = run_bridge("check", "--upstream", "ws://127.0.0.1:9/")
    assert check.exit_code() == 0
    http: dict[str, Any] = yaml.safe_load(check.out.text)["http"]
    settings = [[text.strip("`") for text in row] for row in rows("README.md", "Settings")]
    told = {flag.split()[0] if flag else variable: default for flag, variable, default, _ in settings}
    assert told["--listen"] == http["listen"]
    assert told["--public"] == http["publicDirectory"]
    assert told["WSBRIDGE_ALLOW_ANONYMOUS"] == str(http["allowAnonymous"]).lower()
    assert told["WSBRIDGE_ALLOWED_HOSTS"] == "none"
    assert http["allowedHosts"] == http["allowedOrigins"] == []


def test_the_reference_has_every_route() -> None:
    paths = yaml.safe_load((ROOT / "openapi.yaml").read_text())["paths"]
    told = " ".join(row[0] for row in rows("docs/reference.md", "HTTP"))
    for path, item in paths.items():
        short = path.replace("{message}", "ID").replace("{connection}", "NAME")
        for method in {"get", "post", "put", "delete"} & set(item):
            route = f"{method.upper()} {short}"
            assert re.search(rf"`{re.escape(route)}[`?]", told), route


def test_the_reference_has_every_exit_code() -> None:
    told = {row[0] for row in rows("docs/reference.md", "Exit codes")}
    source = (ROOT / "Sources/BridgeCore/Configuration/ExitCode.swift").read_text()
    codes = set(re.findall(r"case \w+ = (\d+)", source))
    assert told == codes
