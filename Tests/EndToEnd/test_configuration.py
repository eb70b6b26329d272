"""The configuration file: several connections, who may use them, and what is said about a wrong one."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import PATIENCE, Authority, Bridge, Upstream, await_truth
from harness.environment import BINARY, clean_environment

USAGE, UNREADABLE, CONFIGURATION = 64, 66, 78

Configure = Callable[..., Bridge]


@pytest.fixture
def run(run_bridge, tmp_path: Path):
    """Run a command with a configuration file to its end, in the file's folder."""

    def run(text: str, command: str = "check", **options: Any) -> tuple[int, str, str]:
        path = tmp_path / "wsbridge.yaml"
        path.write_text(text)
        bridge = run_bridge(command, "--config", str(path), **options)
        return bridge.exit_code(), bridge.out.text, bridge.err.text.replace(f"{tmp_path}/", "")

    return run


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def state(bridge: Bridge, name: str, **fields: str) -> str:
    response = bridge.get(f"/v1/connections/{name}/status", fields)
    assert response.status == 200, response
    return response.json()["state"]


# Several connections


def test_several_connections_are_kept_apart(start_upstream, serve_file: Configure) -> None:
    first, second = start_upstream(), start_upstream()
    bridge = serve_file(f"connections: {{ a.b: {{ url: '{first.url}' }}, c: {{ url: '{second.url}' }} }}")
    one, two = first.peer(), second.peer()
    stream = bridge.stream("/v1/connections/c/events?limit=1&since=start")
    assert bridge.post("/v1/connections/a.b/messages", b"to the first").status == 202
    assert bridge.post("/v1/connections/c/messages", b"to the second").status == 202
    assert one.received(1) == ["to the first"]
    assert two.received(1) == ["to the second"]
    one.send("from the first")
    two.send("from the second")
    assert stream.next().data == "from the second"
    listed = bridge.get("/v1/connections").json()["connections"]
    assert [connection["name"] for connection in listed] == ["a.b", "c"]


def test_short_paths_are_ambiguous_among_several(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(f"connections: {{ a: {{ url: '{upstream.url}' }}, b: {{ url: '{upstream.url}' }} }}")
    response = bridge.get("/status")
    assert response.status == 404
    assert response.json()["type"] == "urn:wsbridge:problem:ambiguous-connection"
    assert "a, b" in response.json()["detail"]
    assert bridge.get("/v1/connections/nothing/status").status == 404


def test_short_paths_mean_the_one_named_default(upstream: Upstream, serve_file: Configure) -> None:
    url = upstream.url
    bridge = serve_file(f"connections: {{ a: {{ url: '{url}' }}, default: {{ url: '{url}' }} }}")
    assert bridge.get("/status").json()["name"] == "default"


def test_the_flag_names_the_upstream_of_default(start_upstream, serve_file: Configure) -> None:
    wrong, right = start_upstream(), start_upstream()
    bridge = serve_file(f"connections: {{ default: {{ url: '{wrong.url}' }} }}", "--upstream", right.url)
    right.peer()
    assert bridge.status()["url"].startswith(right.url)


# Settings that reach the upstream


def test_headers_and_subprotocols_reach_the_upstream(
    start_upstream, serve_file: Configure, tmp_path: Path
) -> None:
    upstream = start_upstream(subprotocols=["v2"])
    (tmp_path / "secret").write_text("s3cret\n")
    bridge = serve_file(
        f"""
connections:
  default:
    url: {upstream.url}
    headers: {{ X-Key: "${{KEY}}", Authorization: "Bearer ${{file:secret}}" }}
    subprotocols: [v1, v2]
    requireSubprotocol: true
    compression: false
""",
        environment={"KEY": "from the environment"},
    )
    request = upstream.peer().request
    assert request.headers["X-Key"] == "from the environment"
    assert request.headers["Authorization"] == "Bearer s3cret"
    assert "Sec-WebSocket-Extensions" not in request.headers
    status = bridge.await_ready()
    assert status["subprotocol"] == "v2"
    assert "s3cret" not in bridge.err.text
    assert "s3cret" not in bridge.get("/status").body.decode()


def test_a_manual_connection_waits_to_be_connected(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(f"connections: {{ default: {{ url: '{upstream.url}', connect: manual }} }}")
    assert bridge.status()["state"] == "idle"
    assert bridge.post("/connect").status == 200
    upstream.peer()
    bridge.await_ready()


def test_an_own_authority_is_trusted(start_upstream, serve_file, authority, tmp_path: Path) -> None:
    upstream = start_upstream(tls=authority.server_context("IP:127.0.0.1"))
    (tmp_path / "ca.pem").write_bytes(Path(authority.certificate).read_bytes())
    bridge = serve_file(f"connections: {{ default: {{ url: '{upstream.url}', tls: {{ ca: ca.pem }} }} }}")
    bridge.await_ready()


# Settings that clients notice


def test_limits_on_subscribers_and_filters_are_kept(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"""
http: {{ maxSubscribers: 3, maxFilters: 1, retry: 7s }}
connections: {{ default: {{ url: '{upstream.url}' }} }}
"""
    )
    bridge.stream()
    bridge.stream()
    refused = bridge.ask_for_stream("/events?types=status").refusal()
    assert refused.status == 503
    assert refused.json()["type"] == "urn:wsbridge:problem:too-many-subscribers"
    assert "filters" in refused.json()["detail"]
    assert refused.header("Retry-After") == "7"
    bridge.stream()
    assert bridge.ask_for_stream("/events").head.status == 503


def test_one_client_has_so_many_connections_at_most(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"""
http: {{ maxConnectionsPerClient: 2 }}
connections: {{ default: {{ url: '{upstream.url}' }} }}
"""
    )
    streams = [bridge.stream(), bridge.stream()]
    with pytest.raises((ConnectionError, EOFError)):
        bridge.get("/healthz")
    streams[0].close()

    def is_served() -> bool:
        with contextlib.suppress(ConnectionError, EOFError):
            return bridge.get("/healthz").status == 200
        return False

    await_truth(is_served, "there is room for another one")


def test_the_history_is_bounded(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"""
history: {{ maxMessages: 2 }}
connections: {{ default: {{ url: '{upstream.url}' }} }}
"""
    )
    peer = upstream.peer()
    bridge.await_ready()
    for text in ("one", "two", "three"):
        peer.send(text)
    bridge.await_status(lambda status: status["counters"]["received"] == 3, "all have arrived")
    stream = bridge.stream("/events?since=start&limit=2")
    assert [event.data for event in stream.take(2)] == ["two", "three"]


# Tokens


def test_tokens_open_what_they_name(upstream: Upstream, serve_file: Configure) -> None:
    bridge = serve_file(
        f"""
http:
  tokens:
    - {{ name: reader, token: r, allow: [read] }}
    - {{ name: sender, token: s, allow: [send], connections: ["feed-*"] }}
    - {{ name: everything, token: "${{OPS}}" }}
connections:
  feed-1: {{ url: '{upstream.url}' }}
  other: {{ url: '{upstream.url}' }}
""",
        environment={"OPS": "o"},
    )

    def post(name: str, verb: str, token: str) -> int:
        return bridge.request("POST", f"/v1/connections/{name}/{verb}", b"x", bearer(token)).status

    assert bridge.get("/v1/connections").status == 401
    assert state(bridge, "other", **bearer("r"))
    assert post("feed-1", "messages", "r") == 403
    assert post("feed-1", "messages", "s") == 202
    assert post("other", "messages", "s") == 403
    assert bridge.get("/v1/connections/feed-1/status", bearer("s")).status == 403
    assert post("other", "messages", "o") == 202
    assert post("other", "connect", "o") == 200
    assert post("other", "connect", "r") == 403
    assert bridge.get("/v1/connections", bearer("wrong")).status == 401


def test_check_prints_what_results_without_secrets(run) -> None:
    code, out, err = run(
        """
http: { tokens: [{ name: ops, token: s3cret }], keepAlive: "${KEEP:-3}" }
connections:
  default: { url: "wss://s3cret:s3cret@example.org/feed?s3cret", headers: { A: "${S}" } }
""",
        environment={"S": "s3cret", "WSBRIDGE_LISTEN": "127.0.0.1:99"},
    )
    assert (code, err) == (0, "")
    assert "s3cret" not in out
    assert "\n  keepAlive: 3s\n" in out
    assert out.startswith("http:\n  listen: 127.0.0.1:99\n")
    # What it prints is a configuration.
    assert run(out) == (0, out, "")


def test_json_works(run) -> None:
    code, out, _ = run('{\n\t"connections": {"default": {"url": "ws:\\/\\/example.org"}}\n}\n')
    assert code == 0
    assert "url: ws://example.org/\n" in out


# What is wrong


@pytest.mark.parametrize("command", ["check", "serve"])
def test_every_error_is_reported_with_its_line(run, command: str) -> None:
    code, out, err = run(
        """\
http:
  lisen: :8080
  keepAlive: 3 parsecs
connections:
  default:
    url: ftp://s3cret@example.org
    recconnect: {}
    proxy: http://s3cret@/
    headers: { A: "${UNSET}" }
""",
        command,
    )
    assert (code, out) == (CONFIGURATION, "")
    lines = err.splitlines()
    assert lines[0] == "wsbridge.yaml:2: http.lisen: unknown key; did you mean listen?"
    assert lines[1].startswith("wsbridge.yaml:3: http.keepAlive: expected a duration")
    assert lines[2].startswith("wsbridge.yaml:6: connections.default.url: expected a URL")
    assert lines[3].endswith("7: connections.default.recconnect: unknown key; did you mean reconnect?")
    assert lines[4].startswith("wsbridge.yaml:8: connections.default.proxy: expected a proxy such as http://")
    assert lines[5].endswith("9: connections.default.headers.A: the environment variable UNSET is not set")
    assert len(lines) == 6
    assert "s3cret" not in err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [", "wsbridge.yaml:1: not valid YAML"),
        ("http:\n\tlisten: x", "wsbridge.yaml:2: not valid YAML: a tab indents this line; use spaces"),
        ("http: {}\nhttp: {}", "wsbridge.yaml:2: http: stands twice; the first is on line 1"),
        ("", "no upstream"),
        (
            "http: { listen: ':0' }\nconnections: { a: { url: ws://h } }",
            "wsbridge.yaml:1: http.listen: :0 can be",
        ),
    ],
)
def test_a_wrong_file_is_a_wrong_configuration(run, text: str, line: str) -> None:
    code, out, err = run(text)
    assert (code, out) == (CONFIGURATION, "")
    assert line in err


@pytest.mark.parametrize("command", ["check", "serve"])
def test_nothing_hides_another_error(run, command: str) -> None:
    code, out, err = run(
        """\
connections:
  a: { url: ws://h, bad: 1, compression: maybe }
  a: { url: ws://h, headers: { x-a: 1, X-A: 2 } }
  b: { <<: 5, bad: 1 }
  c: !foo { url: ws://h, bad: 1, tls: { ca: "wsbridge.yaml" } }
  d: { url: *gone }
http:
  listen: 0.0.0.0:80
  publicDirectory: nosuch
htpp: 1
""",
        command,
    )
    assert (code, out) == (CONFIGURATION, "")
    starts = [
        "2: connections.a.compression: expected true or false",
        "2: connections.a.bad: unknown key",
        "3: connections.a: stands twice",
        "3: connections.a.headers.X-A: is the same as x-a on line 3",
        "4: connections.b: << takes a mapping",
        "4: connections.b.bad: unknown key",
        "5: connections.c: tags such as !name have no meaning here",
        "5: connections.c.bad: unknown key",
        "5: connections.c.tls.ca: no authorities can be read from wsbridge.yaml: ",
        "6: connections.d.url: there is no anchor &gone",
        "8: http.listen: 0.0.0.0:80 can be reached from other machines",
        "9: http.publicDirectory: there is no page: nosuch does not exist",
        "10: htpp: unknown key; did you mean http?",
    ]
    found = {line.removeprefix("wsbridge.yaml:") for line in err.splitlines()}
    assert len(found) == len(starts), err
    for start in starts:
        assert any(line.startswith(start) for line in found), (start, err)


@pytest.mark.parametrize("command", ["check", "serve"])
def test_the_page_that_is_missing_is_told_where_it_was_asked_for(run_bridge, run, command: str) -> None:
    flags = ["--upstream", "ws://h", "--listen", "127.0.0.1:0"]
    by_flag = run_bridge(command, *flags, "--public", "nosuch")
    assert by_flag.exit_code() == UNREADABLE
    assert by_flag.err.text.startswith("wsbridge: --public: there is no page: nosuch does not exist")
    by_variable = run_bridge(command, *flags, environment={"WSBRIDGE_PUBLIC": "/nosuch"})
    assert by_variable.exit_code() == UNREADABLE
    told = "wsbridge: WSBRIDGE_PUBLIC: there is no page: /nosuch does not exist"
    assert by_variable.err.text.startswith(told)
    code, _, err = run("connections: { a: { url: ws://h } }\nhttp: { publicDirectory: nosuch }", command)
    assert code == UNREADABLE
    assert err.startswith("wsbridge.yaml:2: http.publicDirectory: there is no page: nosuch does not exist")


@pytest.mark.parametrize("command", ["check", "serve"])
def test_files_of_tls_that_can_never_be_of_use_are_told(
    run, command: str, authority: Authority, tmp_path: Path
) -> None:
    certificate, key = authority.issue("DNS:client")
    _, other = authority.issue("DNS:other")
    (tmp_path / "wrong.pem").write_text("not pem\n")
    code, _, err = run(
        f"""\
connections:
  right: {{ url: wss://h, tls: {{ ca: {authority.certificate}, certificate: {certificate}, key: {key} }} }}
  ca: {{ url: wss://h, tls: {{ ca: wrong.pem, certificate: wrong.pem }} }}
  nokey: {{ url: wss://h, tls: {{ certificate: {certificate} }} }}
  key: {{ url: wss://h, tls: {{ certificate: {certificate}, key: wrong.pem }} }}
  other: {{ url: wss://h, tls: {{ certificate: {certificate}, key: {other} }} }}
""",
        command,
    )
    assert code == CONFIGURATION
    lines = err.replace(f"{authority.certificate.parent}/", "").splitlines()
    assert len(lines) == 5, err
    assert lines[0].startswith(
        "wsbridge.yaml:3: connections.ca.tls.ca: no authorities can be read from wrong.pem: "
    )
    assert lines[1].startswith(
        "wsbridge.yaml:3: connections.ca.tls.certificate: no certificate can be read from "
    )
    assert lines[2].startswith("wsbridge.yaml:4: connections.nokey.tls.certificate: no key can be read from ")
    assert lines[3].startswith("wsbridge.yaml:5: connections.key.tls.key: no key for ")
    assert lines[4].endswith(": key values mismatch")


def test_a_file_that_cannot_be_read_is_named(run_bridge, run, tmp_path: Path) -> None:
    missing = run_bridge("serve", "--config", str(tmp_path / "none.yaml"))
    assert missing.exit_code() == UNREADABLE
    assert missing.err.text == f"wsbridge: {tmp_path}/none.yaml: cannot be read: no such file or directory\n"
    folder = run_bridge("check", environment={"WSBRIDGE_CONFIG": str(tmp_path)})
    assert folder.exit_code() == UNREADABLE
    assert "is a directory" in folder.err.text
    code, _, err = run("connections: { a: { url: 'wss://${file:none}' } }")
    assert code == UNREADABLE
    assert err == "wsbridge.yaml:1: connections.a.url: none cannot be read: no such file or directory\n"


def test_a_file_may_be_too_large(run) -> None:
    code, _, err = run("# " + "x" * (4 << 20))
    assert code == UNREADABLE
    assert "it has more than 4MiB" in err


def test_a_pipe_can_be_the_file(run_bridge, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    bridge = run_bridge("check", "--config", str(tmp_path / "pipe"))
    (tmp_path / "pipe").write_text("connections: { a: { url: ws://h } }")
    assert bridge.exit_code() == 0


def test_the_output_of_a_command_can_be_the_file(tmp_path: Path) -> None:
    (tmp_path / "wsbridge.yaml").write_text("connections: { a: { url: ws://h } }")
    script = f'"{BINARY}" check --config <(cat "{tmp_path}/wsbridge.yaml")'
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, env=clean_environment(), timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"ws://h" in done.stdout


def test_a_pipe_that_gives_nothing_is_told(run_bridge, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    bridge = run_bridge("serve", "--config", str(pipe))
    assert bridge.exit_code() == UNREADABLE
    assert bridge.err.text == f"wsbridge: {pipe}: cannot be read: it is a pipe that nobody writes to\n"
    # A command that failed is no reason to go on with the defaults.
    script = f'"{BINARY}" check --upstream ws://h --config <(false)'
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, env=clean_environment(), timeout=PATIENCE, check=False
    )
    assert done.returncode == UNREADABLE
    assert done.stderr.endswith(b": cannot be read: it is a pipe that nothing came through\n")


def test_demo_takes_no_file(run_bridge) -> None:
    demo = run_bridge("demo", "--config", "wsbridge.yaml")
    assert demo.exit_code() == USAGE
    assert "--config: demo has no configuration file" in demo.err.text
