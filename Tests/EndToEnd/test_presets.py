"""Presets: where they are found, what becomes of them, what `check` tells, and that secrets stay secret."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from assertions import assert_problem
from harness import Bridge, Upstream
from harness.environment import BINARY, ROOT

USAGE, UNREADABLE, CONFIGURATION = 64, 66, 78

Run = Callable[..., tuple[int, str, str]]

PRESETS = sorted((ROOT / "config/presets").glob("*.yaml"))
SECRET = 's3"cret{{'

#: Nobody could guess what of it is secret but for its references.
CHAT = """\
parameters:
  token: { variable: CHAT_TOKEN, description: What opens the chat }
  room: { default: lobby }
headers: { Authorization: "Bearer ${parameter:token}" }
onOpen:
  - send: { text: '{"room":"${parameter:room}","token":"${parameter:token}"}' }
  - expect: { json: { /welcome: true } }
rules:
  - when: { json: { /ping: null } }
    reply: { text: '{"pong":{{/ping}}}' }
"""


@pytest.fixture
def run(run_bridge: Callable[..., Bridge], tmp_path: Path) -> Run:
    """Run `wsbridge check` to its end in the test's folder; the file is given by its text."""

    def run(*arguments: str, file: str | None = None, **options: Any) -> tuple[int, str, str]:
        if file is not None:
            (tmp_path / "wsbridge.yaml").write_text(file)
            arguments = ("--config", "wsbridge.yaml", *arguments)
        bridge = run_bridge("check", *arguments, folder=tmp_path, **options)
        return bridge.exit_code(), bridge.out.text, bridge.err.text

    return run


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "presets/chat.yaml"
    path.parent.mkdir()
    path.write_text(CHAT)
    return path


# What a connection makes of them


def test_a_connection_speaks_as_its_preset_says(
    upstream: Upstream, serve_file: Callable[..., Bridge], chat: Path
) -> None:
    bridge = serve_file(
        f"connections: {{ a: {{ preset: chat, url: '{upstream.url}', parameters: {{ room: hall }} }} }}",
        environment={"CHAT_TOKEN": SECRET},
    )
    peer = upstream.peer()
    assert peer.request.headers["Authorization"] == f"Bearer {SECRET}"
    assert json.loads(peer.received(1)[0]) == {"room": "hall", "token": SECRET}
    peer.send('{"welcome":true}')
    bridge.await_ready()
    peer.send('{"ping":[1]}')
    assert peer.received(2)[1] == '{"pong":[1]}'
    assert SECRET not in bridge.err.text
    assert "s3" not in bridge.get("/status").body.decode()


@pytest.mark.parametrize("place", ["beside the file", "beside the program", "inside of the program", "path"])
def test_a_preset_is_found(run_bridge: Callable[..., Bridge], tmp_path: Path, place: str) -> None:
    program = tmp_path / "prefix/bin/wsbridge"
    program.parent.mkdir(parents=True)
    shutil.copy(BINARY, program)
    shared = tmp_path / "prefix/share/wsbridge/presets/binance.yaml"
    beside = tmp_path / "conf/presets/binance.yaml"
    elsewhere = tmp_path / "conf/my/binance.yaml"
    for path in (shared, beside, elsewhere):
        path.parent.mkdir(parents=True)
        path.write_text(f"url: wss://{path.parts[-3]}.example/\n")
    if place == "inside of the program":
        shared.unlink()
    if place != "beside the file":
        beside.unlink()
    preset = "my/binance.yaml" if place == "path" else "binance"
    (tmp_path / "conf/wsbridge.yaml").write_text(f"connections: {{ a: {{ preset: {preset} }} }}")
    flags = ["--config", "conf/wsbridge.yaml"]
    environment = {"BINANCE_STREAMS": "[]"}
    check = run_bridge("check", *flags, binary=program, folder=tmp_path, environment=environment)
    assert check.exit_code() == 0, check.err.text
    expected = {
        "beside the file": "wss://conf.example/",
        "beside the program": "wss://wsbridge.example/",
        "inside of the program": "wss://stream.binance.com:9443/stream",
        "path": "wss://conf.example/",
    }
    assert yaml.safe_load(check.out.text)["connections"]["a"]["url"] == expected[place]


def test_clients_may_name_what_is_inside_the_program(
    upstream: Upstream, serve_file: Callable[..., Bridge], chat: Path
) -> None:
    bridge = serve_file(
        "http: { dynamicConnections: true }", environment={"DISCORD_TOKEN": "s3cret", "CHAT_TOKEN": "s3cret"}
    )

    def put(name: str, **settings: Any) -> Any:
        return bridge.request("PUT", f"/v1/connections/{name}", json.dumps(settings).encode())

    graph = {"preset": "graphql-transport-ws", "url": upstream.url, "requireSubprotocol": False}
    assert put("graph", **graph).status == 201
    assert json.loads(upstream.peer().received(1)[0]) == {"type": "connection_init", "payload": {}}
    for settings, error in [
        ({"preset": str(chat)}, "preset: names a file of the bridge's machine, which only the configuration"),
        ({"preset": "chat", "url": "ws://h"}, "preset: there is no preset chat"),
        # The process has the token, and does not give it away.
        ({"preset": "discord", "url": "ws://h"}, "parameters: the preset needs the parameter token"),
        ({"preset": "json-rpc"}, "needs url"),
    ]:
        response = put("b", **settings)
        assert_problem(response, 400, "invalid-body")
        assert [text[: len(error)] for text in response.json()["errors"]] == [error], response
    assert "s3cret" not in bridge.err.text


# What `check` tells


def test_check_shows_what_results_without_values_of_parameters(run: Run, chat: Path) -> None:
    parameters = f"{{ token: '{SECRET}', room: s3cret }}"
    file = f"connections: {{ a: {{ preset: chat, url: 'ws://h', parameters: {parameters} }} }}"
    code, out, err = run(file=file)
    assert (code, err) == (0, "")
    assert "s3" not in out
    assert "# connections.a: begins with the preset presets/chat.yaml\n" in out
    connection = yaml.safe_load(out)["connections"]["a"]
    assert connection["headers"] == {"Authorization": "***"}
    assert connection["onOpen"][0] == {"send": {"text": "***"}}
    # What it prints is a configuration, which needs neither the preset nor its parameters.
    chat.unlink()
    code, again, err = run(file=out)
    assert (code, err) == (0, "")
    assert yaml.safe_load(again) == yaml.safe_load(out)
    assert run("--explain", file=out)[0] == 0


def test_check_explains_in_words(run: Run, chat: Path) -> None:
    file = f"connections: {{ a: {{ preset: chat, url: 'ws://h', parameters: {{ token: '{SECRET}' }} }} }}"
    code, out, err = run("--explain", file=file)
    assert (code, err) == (0, "")
    assert out.startswith("connection a (preset presets/chat.yaml)\n")
    assert "    1. sends a text\n    2. waits for JSON with true at /welcome, at most 5s\n" in out
    assert "JSON with /ping: answers with a text with /ping of the message\n" in out
    assert "s3" not in out


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_check_shows_a_preset_alone(run: Run, path: Path, tmp_path: Path) -> None:
    parameters = yaml.safe_load(path.read_text()).get("parameters", {})
    # Whether they are set makes no difference.
    variables = {each["variable"]: "s3cret" for each in parameters.values()}
    code, out, err = run("--preset", path.stem, environment=variables)
    assert (code, err) == (0, "")
    assert out.startswith(f"# The preset {path.stem}: built-in presets/{path.stem}.yaml\n")
    assert run("--preset", path.stem) == (0, out, "")
    shown = yaml.safe_load(out)
    assert shown.get("parameters", {}) == parameters
    own = yaml.safe_load(path.read_text())
    assert shown["reconnect"] | own.get("reconnect", {}) == shown["reconnect"]
    assert {key: shown[key] for key in ("onOpen", "rules", "url") if key in own} == {
        key: own[key] for key in ("onOpen", "rules", "url") if key in own
    }
    (tmp_path / "shown.yaml").write_text(out)
    code, again, _ = run("--preset", "./shown.yaml")
    assert (code, again.splitlines()[1:]) == (0, out.splitlines()[1:])
    code, words, err = run("--preset", path.stem, "--explain")
    assert (code, err) == (0, "")
    for name, parameter in parameters.items():
        assert f"    - {name}, or the environment variable {parameter['variable']}" in words


# What is wrong


def test_what_is_wrong_is_told_with_the_file_where_it_stands(run: Run, chat: Path) -> None:
    chat.write_text(CHAT + "hearbeat: {}\nnetwork: 5\n")
    code, out, err = run(
        file="""\
connections:
  a:
    preset: chat
    parameters: { tokn: s3cret }
    compressions: true
  b: { preset: caht, url: ws://h }
  c: { preset: none/such, url: ws://h }
  d: { preset: discrod }
"""
    )
    assert (code, out) == (CONFIGURATION, "")
    lines = CHAT.count("\n")
    missing = "the preset needs the parameter token (What opens the chat): put token under `parameters`"
    unknown = "the preset has no such parameter; did you mean token?"
    assert err.splitlines() == [
        "wsbridge.yaml:3: connections.a: needs url",
        f"wsbridge.yaml:4: connections.a.parameters.tokn: {unknown}",
        f"wsbridge.yaml:4: connections.a.parameters: {missing}, or set the environment variable CHAT_TOKEN",
        "wsbridge.yaml:5: connections.a.compressions: unknown key; did you mean compression?",
        "wsbridge.yaml:6: connections.b.preset: there is no preset caht; there are: "
        + ", ".join(path.stem for path in PRESETS),
        "wsbridge.yaml:7: connections.c.preset: none/such cannot be read: no such file or directory",
        "wsbridge.yaml:8: connections.d.preset: there is no preset discrod; did you mean discord?",
        f"presets/chat.yaml:{lines + 1}: connections.a.hearbeat: unknown key; did you mean heartbeat?",
        f"presets/chat.yaml:{lines + 2}: connections.a.network: expected auto or ignore, not `5`",
    ]


def test_a_preset_that_is_not_there_is_a_wrong_flag(run: Run) -> None:
    code, out, err = run("--preset", "discrod")
    assert (code, out) == (USAGE, "")
    assert err.startswith("wsbridge: --preset: there is no preset discrod; did you mean discord?\n")
    code, _, err = run("--preset", "./none.yaml")
    assert (code, err) == (
        UNREADABLE,
        "wsbridge: --preset: ./none.yaml cannot be read: no such file or directory\n",
    )
