"""Which URL is dialled: lists of them, and providers that are asked for each attempt."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, WebAnswer, WebRequest, WebServer, await_truth

NAMES = ("DNS:localhost", "IP:127.0.0.1")
QUICK = "reconnect: { initialDelay: 20ms, factor: 1 }"


def connection(url: str, more: str = QUICK) -> str:
    return f"connections: {{ default: {{ url: {url}, {more} }} }}"


def failure(bridge: Bridge) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


def dialled_urls(bridge: Bridge) -> list[str]:
    return [record["url"] for record in bridge.records if record["message"] == "connecting"]


# Lists


def test_a_list_of_urls_is_tried_in_turn_wrapping(start_upstream, serve_file) -> None:
    away = [start_upstream(away=True) for _ in range(2)]
    last = start_upstream(refuse=503)
    urls = [upstream.url for upstream in (*away, last)]
    bridge = serve_file(connection(f"['{urls[0]}', '{urls[1]}', '{urls[2]}']"))
    last.dialled(2)
    assert dialled_urls(bridge)[:6] == urls * 2


def test_each_url_of_a_list_is_an_attempt_of_its_own(start_upstream, serve_file) -> None:
    urls = [start_upstream(refuse=503).url for _ in range(2)]
    bridge = serve_file(
        connection(f"['{urls[0]}', '{urls[1]}']", "reconnect: { initialDelay: 10ms, maxRetries: 2 }")
    )
    status = bridge.await_status(lambda status: status["state"] == "failed", "it gives up")
    assert status["counters"]["failures"] == 3
    assert dialled_urls(bridge) == [urls[0], urls[1], urls[0]]


def test_the_status_shows_the_url_that_is_dialled(start_upstream, serve_file) -> None:
    away, there = start_upstream(away=True), start_upstream()
    secret = there.url.replace("ws://", "ws://user:s3cret@") + "feed?s3cret"
    bridge = serve_file(connection(f"['{away.url}', '{secret}']"))
    assert bridge.await_ready()["url"] == there.url + "feed"
    assert "s3cret" not in bridge.err.text


def test_a_server_of_a_list_that_accepts_and_closes_at_once_hands_over(start_upstream, serve_file) -> None:
    closing, good = start_upstream(close_at_once=1000), start_upstream()
    bridge = serve_file(connection(f"['{closing.url}', '{good.url}']"))
    good.peer()
    bridge.await_ready()
    assert closing.dials == 1


def test_a_server_that_lasted_is_dialled_first_after_its_loss(start_upstream, serve_file) -> None:
    first, second = start_upstream(), start_upstream()
    more = "reconnect: { initialDelay: 20ms, resetAfter: 0 }"
    bridge = serve_file(connection(f"['{first.url}', '{second.url}']", more))
    bridge.await_ready()
    # Its timer, of no time, has fired once the loop has taken another turn or two.
    for _ in range(3):
        bridge.status()
    first.peer(0).drop()
    first.peer(1)
    assert second.dials == 0


# Asking an HTTP server


def asked(server: WebServer, more: str = "", timeout: str = "10s") -> str:
    return connection(f"{{ http: {{ url: '{server.url}/where', {more} }}, timeout: {timeout} }}")


def says(body: str, status: int = 200, **headers: str) -> Callable[[WebRequest], WebAnswer]:
    return lambda _: WebAnswer(status, body.encode(), headers)


def test_the_url_is_what_a_server_answers(start_upstream, start_web_server, serve_file) -> None:
    upstream = start_upstream()
    server = start_web_server(says(f"\r\n {upstream.url}feed?ticket=1\n"))
    serve_file(asked(server)).await_ready()
    assert upstream.peer().request.path == "/feed?ticket=1"
    request = server.requests[0]
    assert (request.method, request.target, request.body) == ("GET", "/where", b"")
    assert request.headers["Host"] == f"127.0.0.1:{server.port}"


def test_the_url_is_where_a_pointer_says_in_a_json_answer(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    server = start_web_server(says(json.dumps({"ok": True, "servers": [{"a/b": upstream.url}]})))
    serve_file(asked(server, "pointer: /servers/0/a~1b")).await_ready()


def test_a_provider_gets_the_method_headers_and_body_it_wants(
    start_upstream, start_web_server, serve_file
) -> None:
    server = start_web_server(says(start_upstream().url))
    more = (
        "method: PUT, headers: { Authorization: Bearer t, Content-Type: text/x, X-Empty: '' }, body: 'grüß'"
    )
    serve_file(asked(server, more)).await_ready()
    request = server.requests[0]
    assert (request.method, request.body) == ("PUT", "grüß".encode())
    assert request.headers["Authorization"] == "Bearer t"
    assert request.headers.get_all("Content-Type") == ["text/x"]
    assert request.headers["X-Empty"] == ""
    assert request.headers["Expect"] is None


def test_a_body_alone_makes_a_post(start_upstream, start_web_server, serve_file) -> None:
    server = start_web_server(says(start_upstream().url))
    serve_file(asked(server, "body: a=b")).await_ready()
    assert (server.requests[0].method, server.requests[0].body) == ("POST", b"a=b")


def test_a_post_without_a_body_says_so(start_upstream, start_web_server, serve_file) -> None:
    server = start_web_server(says(start_upstream().url))
    serve_file(asked(server, "method: POST")).await_ready()
    request = server.requests[0]
    assert (request.method, request.headers["Content-Length"], request.headers["Content-Type"]) == (
        "POST",
        "0",
        None,
    )


def test_userinfo_of_a_provider_becomes_basic_authorization(
    start_upstream, start_web_server, serve_file
) -> None:
    server = start_web_server(says(start_upstream().url))
    url = server.url.replace("://", "://us%20er:p%40ss@")
    serve_file(connection(f"{{ http: {{ url: '{url}' }} }}")).await_ready()
    assert server.requests[0].headers["Authorization"] == "Basic dXMgZXI6cEBzcw=="


def test_a_provider_is_asked_anew_for_every_attempt(start_upstream, start_web_server, serve_file) -> None:
    upstreams = [start_upstream(), start_upstream()]
    server = start_web_server(lambda _: WebAnswer(body=upstreams[len(server.requests) - 1].url.encode()))
    bridge = serve_file(asked(server))
    assert bridge.await_ready()["url"] == upstreams[0].url
    upstreams[0].peer().drop()
    upstreams[1].peer()
    assert bridge.await_ready()["url"] == upstreams[1].url
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "more", "error"),
    [
        (says("s3cret", 500), "", " answered with HTTP status 500"),
        (says("", 404), "", " answered with HTTP status 404"),
        (says("", 302, Location="http://127.0.0.1:1/s3cret"), "", " answered with HTTP status 302"),
        (says(""), "", ": its answer is empty"),
        (says("<html>s3cret</html>"), "", ": its answer is no URL to dial: it must start with ws://"),
        (says("ws://127.0.0.1/#s3cret"), "", ": its answer is no URL to dial: it has a fragment"),
        (says("{"), "pointer: /url", ": its answer is not JSON"),
        (says('{"error":"s3cret"}'), "pointer: /url", ": there is nothing at /url in its answer"),
        (says('{"url":{"s3cret":1}}'), "pointer: /url", ": there is no text at /url in its answer"),
        (says("x" * (1 << 20)), "", ": its answer is longer than 65536 bytes"),
    ],
    ids=["500", "404", "redirect", "empty", "HTML", "fragment", "broken JSON", "nothing", "no text", "huge"],
)
def test_an_answer_without_a_url_is_a_failure_of_the_phase_url(
    start_web_server, serve_file, answer: Callable[[WebRequest], WebAnswer], more: str, error: str
) -> None:
    server = start_web_server(answer)
    bridge = serve_file(asked(server, more))
    found = failure(bridge)
    assert (found["phase"], found["status"]) == ("url", None)
    assert found["error"].startswith(f"the URL's provider {server.url}/where{error}")
    server.asked(3)  # it is retried
    assert "s3cret" not in bridge.err.text


def test_a_provider_that_cannot_be_reached_is_a_failure_of_the_phase_url(serve_file) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/?s3cret"
        bridge = serve_file(connection(f"{{ http: {{ url: '{url}' }} }}"))
        found = failure(bridge)
    assert found["phase"] == "url"
    assert "connect" in found["error"].lower()
    assert "s3cret" not in bridge.err.text


def test_a_provider_whose_name_does_not_resolve_is_a_failure_of_the_phase_url(serve_file) -> None:
    bridge = serve_file(connection("{ http: { url: http://does-not-exist.invalid/ } }"))
    found = failure(bridge)
    assert found["phase"] == "url"
    assert "resolve" in found["error"]


def test_a_provider_must_be_trusted_over_tls(start_web_server, serve_file, authority) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"), tls=authority.server_context(*NAMES))
    found = failure(serve_file(asked(server)))
    assert found["phase"] == "url"
    assert "certificate" in found["error"]
    assert server.requests == []


def test_a_provider_of_a_trusted_authority_is_asked_over_tls(
    start_upstream, start_web_server, serve_file, authority
) -> None:
    server = start_web_server(says(start_upstream().url), tls=authority.server_context(*NAMES))
    serve_file(asked(server), environment={"SSL_CERT_FILE": str(authority.certificate)}).await_ready()


def test_that_an_upstream_is_not_verified_does_not_concern_its_provider(
    start_web_server, serve_file, authority
) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"), tls=authority.server_context(*NAMES))
    bridge = serve_file(
        connection(f"{{ http: {{ url: '{server.url}' }} }}", f"{QUICK}, tls: {{ verify: false }}")
    )
    assert "certificate" in failure(bridge)["error"]


def test_a_slow_provider_has_its_own_time_and_delays_nobody(start_web_server, serve_file) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    more = f"{QUICK}, connectTimeout: 10ms"
    bridge = serve_file(connection(f"{{ http: {{ url: '{server.url}' }}, timeout: 300ms }}", more))
    server.asked()
    assert bridge.status()["state"] == "connecting"
    found = failure(bridge)
    assert (found["phase"], found["error"]) == ("url", "no URL to dial within 300 ms")
    server.asked(3)


def test_a_question_is_given_up_with_its_attempt(start_web_server, serve_file) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    bridge = serve_file(asked(server))
    server.asked()
    bridge.post("/disconnect")
    assert bridge.status()["state"] == "closed"


def test_retry_after_of_a_provider_is_a_lower_bound(start_web_server, serve_file) -> None:
    bridge = serve_file(asked(start_web_server(lambda _: WebAnswer(429, b"", {"Retry-After": "3600"}))))
    record = bridge.stream("/events?types=status&since=start").until_status("reconnecting")
    assert record["delayMs"] == 3_600_000


def test_secrets_of_a_providers_url_and_answer_never_show(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    answer = upstream.url.replace("ws://", "ws://u:s3cret@") + "?s3cret"
    server = start_web_server(says(answer))
    url = server.url.replace("://", "://u:s3cret@") + "/?s3cret"
    more = f"http: {{ url: '{url}', headers: {{ A: s3cret }}, body: s3cret }}"
    bridge = serve_file(connection(f"{{ {more} }}"), "--log-level", "debug")
    status = bridge.await_ready()
    assert status["url"] == upstream.url
    assert f"the URL to dial is {upstream.url}" in bridge.err.text
    assert "s3cret" not in bridge.err.text + json.dumps(status)


def test_before_a_provider_was_asked_there_is_no_url(start_web_server, serve_file) -> None:
    server = start_web_server(says("ws://127.0.0.1:1/"))
    bridge = serve_file(connection(f"{{ http: {{ url: '{server.url}' }} }}", "connect: manual"))
    assert bridge.status()["url"] is None


def test_a_provider_is_asked_through_the_proxy_of_the_environment(
    start_upstream, start_web_server, serve_file
) -> None:
    upstream = start_upstream()
    proxy = start_web_server(says(upstream.url))
    environment = {"HTTP_PROXY": proxy.url, "NO_PROXY": "127.0.0.1"}
    text = connection("{ http: { url: 'http://provider.invalid/x?y' } }")
    serve_file(text, environment=environment).await_ready()
    assert proxy.requests[0].target == "http://provider.invalid/x?y"


def test_nothing_is_left_open_by_questions(start_web_server, serve_file) -> None:
    server = start_web_server(says("", 500))
    bridge = serve_file(asked(server))
    server.asked(3)
    count = len(os.listdir(f"/proc/{bridge.pid}/fd"))
    server.asked(30)
    bridge.post("/disconnect")
    await_truth(lambda: len(os.listdir(f"/proc/{bridge.pid}/fd")) <= count, "its descriptors are closed")


# Asking a command


class Scripts:
    """Shell scripts in a folder, and what they write beside themselves."""

    def __init__(self, folder: Path):
        self.folder = folder

    def command(self, text: str, *arguments: str) -> str:
        script = self.folder / "script"
        script.write_text("#!/bin/sh\n" + text + "\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return "[" + ", ".join(json.dumps(word) for word in (str(script), *arguments)) + "]"

    def written(self, name: str) -> list[str]:
        """Wait for a file of lines to be complete, which its last line `end` tells."""
        path = self.folder / name
        await_truth(lambda: path.exists() and path.read_text().endswith("end\n"), f"the script writes {name}")
        return path.read_text().splitlines()[:-1]


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


def running(command: str, more: str = QUICK, timeout: str = "30s") -> str:
    return connection(f"{{ command: {command}, timeout: {timeout} }}", more)


def is_gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_url_is_what_a_command_prints(start_upstream, scripts: Scripts, serve_file) -> None:
    upstream = start_upstream()
    bridge = serve_file(running(scripts.command(f"echo; echo '  {upstream.url}feed?s3cret'; echo")))
    assert bridge.await_ready()["url"] == upstream.url + "feed"
    assert upstream.peer().request.path == "/feed?s3cret"
    assert "s3cret" not in bridge.err.text


def test_a_command_gets_its_arguments_as_they_are_and_the_environment(
    start_upstream, scripts: Scripts, serve_file
) -> None:
    url = start_upstream().url
    text = f'printf "%s\\n" "$@" "$GIVEN" end > {scripts.folder}/seen; echo {url}'
    arguments = ["a b", "$HOME", "; exit 3", "", "*"]
    serve_file(
        running(scripts.command(text, *arguments)), environment={"GIVEN": "by the environment"}
    ).await_ready()
    assert scripts.written("seen") == [*arguments, "by the environment"]


def test_a_command_of_the_path_needs_no_folder(start_upstream, serve_file) -> None:
    serve_file(running(f"[echo, '{start_upstream().url}']")).await_ready()


def test_a_command_with_a_folder_counts_from_the_file(start_upstream, scripts: Scripts, serve_file) -> None:
    scripts.command(f"echo {start_upstream().url}")
    serve_file(running("[./script]"), folder=Path("/")).await_ready()


def test_a_command_is_asked_anew_for_every_attempt(start_upstream, scripts: Scripts, serve_file) -> None:
    upstream = start_upstream()
    bridge = serve_file(running(scripts.command(f"echo x >> {scripts.folder}/runs; echo {upstream.url}")))
    bridge.await_ready()
    upstream.peer().drop()
    upstream.peer(1)
    assert (scripts.folder / "runs").read_text() == "x\nx\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("echo ws://127.0.0.1:1/; exit 3", " exited with status 3"),
        ("kill -TERM $$", " was ended by signal 15"),
        ("", ": its answer is empty"),
        ("echo s3cret", ": its answer is no URL to dial: it must start with ws://"),
        (
            "echo ws://127.0.0.1:1/; echo ws://127.0.0.1:2/",
            ": its answer is no URL to dial: it has a control",
        ),
        ("exec yes", " printed more than 65536 bytes"),
        ("yes & yes", " printed more than 65536 bytes"),
        ("head -c 65537 /dev/zero", " printed more than 65536 bytes"),
        ("printf '\\377'", ": its answer is not UTF-8"),
    ],
    ids=[
        "exit 3",
        "signal",
        "nothing",
        "no URL",
        "two lines",
        "flood",
        "two floods",
        "one byte too many",
        "not UTF-8",
    ],
)
def test_a_command_without_a_url_is_a_failure_of_the_phase_url(
    scripts: Scripts, serve_file, text: str, error: str
) -> None:
    bridge = serve_file(running(scripts.command(text)))
    found = failure(bridge)
    assert (found["phase"], found["status"]) == ("url", None)
    assert found["error"].startswith(f"the command {scripts.folder}/script{error}")
    bridge.await_status(lambda status: status["counters"]["failures"] > 2, "it is retried")
    assert "s3cret" not in bridge.err.text


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("[/does/not/exist]", "the command /does/not/exist cannot be started: no such file or directory"),
        ("[no-such-program]", "the command no-such-program cannot be started: no such file or directory"),
        ("[/etc/passwd]", "the command /etc/passwd cannot be started: permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_says_why(serve_file, command: str, error: str) -> None:
    bridge = serve_file(running(command))
    assert failure(bridge)["error"] == error
    bridge.await_status(lambda status: status["counters"]["failures"] > 2, "it is retried")


def test_a_command_that_hangs_is_killed_with_its_group(scripts: Scripts, serve_file) -> None:
    text = f"""
    sleep 1000 &
    printf '%s\\n' $$ $! end >> {scripts.folder}/pids
    wait
    """
    bridge = serve_file(running(scripts.command(text), "reconnect: { maxRetries: 0 }", timeout="2s"))
    pids = scripts.written("pids")
    assert not any(map(is_gone, pids))
    found = failure(bridge)
    assert (found["phase"], found["error"]) == ("url", "no URL to dial within 2000 ms")
    await_truth(lambda: all(map(is_gone, pids)), "both processes are gone")


@pytest.mark.parametrize("end", ["disconnect", "stop"])
def test_a_command_is_killed_with_its_attempt(scripts: Scripts, serve_file, end: str) -> None:
    text = f"sleep 1000 & printf '%s\\n' $$ $! end >> {scripts.folder}/pids; wait"
    bridge = serve_file(running(scripts.command(text)))
    pids = scripts.written("pids")
    if end == "disconnect":
        bridge.post("/disconnect")
    else:
        bridge.stop()
    await_truth(lambda: all(map(is_gone, pids)), "both processes are gone")


def test_a_command_that_ended_is_not_waited_for_by_who_keeps_its_output_open(
    start_upstream, scripts: Scripts, serve_file
) -> None:
    text = f"sleep 1000 & printf '%s\\n' $! end > {scripts.folder}/pids; echo {start_upstream().url}"
    try:
        serve_file(running(scripts.command(text))).await_ready()
    finally:
        os.kill(int(scripts.written("pids")[0]), 9)


def test_what_a_command_complains_about_is_in_the_log_at_debug(scripts: Scripts, serve_file) -> None:
    command = scripts.command("echo 'no key' >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 3")
    bridge = serve_file(running(command), "--log-level", "debug")
    assert failure(bridge)["error"].endswith("exited with status 3")
    lines = [record["detail"] for record in bridge.records if "says" in record.get("detail", "")]
    assert lines[0].startswith(f"the command {scripts.folder}/script says: no key\nxxx")
    assert len(lines[0]) < 5000


def test_what_a_command_complains_about_is_not_in_the_log_by_default(scripts: Scripts, serve_file) -> None:
    bridge = serve_file(running(scripts.command("echo 'no key' >&2; exit 3")))
    failure(bridge)
    assert "no key" not in bridge.err.text


def test_a_command_inherits_no_descriptor_but_its_own(start_upstream, scripts: Scripts, serve_file) -> None:
    text = f"readlink /proc/self/fd/* > {scripts.folder}/seen; echo end >> {scripts.folder}/seen"
    upstream = start_upstream()
    bridge = serve_file(running(scripts.command(f"{text}; echo {upstream.url}")))
    bridge.await_ready()
    bridge.stream()  # one more socket
    upstream.peer().drop()
    upstream.peer(1)
    seen = scripts.written("seen")
    assert not [link for link in seen if link.startswith(("socket:", "anon_inode:"))]
    assert sum(link.startswith("pipe:") for link in seen) <= 1  # stderr; stdout is the file here
    assert "/dev/null" in seen


def test_nothing_is_left_by_commands(scripts: Scripts, serve_file) -> None:
    bridge = serve_file(running(scripts.command("exit 3"), "reconnect: { initialDelay: 10ms, factor: 1 }"))

    def attempts(count: int) -> None:
        bridge.await_status(lambda status: status["counters"]["failures"] >= count, f"attempt {count}")

    attempts(3)
    count = len(os.listdir(f"/proc/{bridge.pid}/fd"))
    attempts(40)
    bridge.post("/disconnect")
    children = Path(f"/proc/{bridge.pid}/task/{bridge.pid}/children")
    await_truth(lambda: not children.read_text(), "no child is left, not even as a zombie")
    await_truth(lambda: len(os.listdir(f"/proc/{bridge.pid}/fd")) <= count, "its descriptors are closed")


def test_a_reload_changes_who_is_asked(start_upstream, scripts: Scripts, serve_file, tmp_path: Path) -> None:
    old, new = start_upstream(), start_upstream()
    bridge = serve_file(running(f"[echo, {shlex.quote(old.url)}]"))
    bridge.await_ready()
    (tmp_path / "wsbridge.yaml").write_text(connection(f"[{new.url}]"))
    bridge.signal(signal.SIGHUP)
    new.peer()
    assert bridge.await_ready()["url"] == new.url
