"""Commands that are run for the URL of each attempt, and what becomes of them."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, WebAnswer, WebRequest, await_truth

QUICK = "reconnect: { initialDelay: 20ms, factor: 1 }"


def failure(bridge: Bridge) -> dict[str, Any]:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


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
    return f"connections: {{ default: {{ url: {{ command: {command}, timeout: {timeout} }}, {more} }} }}"


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
    bridge.stop()
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
    bridge.stop()
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
    assert len(lines[0].encode()) <= 1024 + len("…".encode())


def test_what_a_command_complains_about_is_not_in_the_log_by_default(scripts: Scripts, serve_file) -> None:
    bridge = serve_file(running(scripts.command("echo 'no key' >&2; exit 3")))
    failure(bridge)
    bridge.stop()
    assert "no key" not in bridge.err.text


def test_secrets_are_masked_in_what_a_command_complains_about(
    start_upstream, scripts: Scripts, serve_file
) -> None:
    url = start_upstream().url + "feed?ticket=s3cret-ticket"
    text = f"""
    echo "$@ $GIVEN" >&2
    echo "try {url}: s3cret-ticket" >&2
    echo {url}
    """
    arguments = ["--key=s3cret-argument", "Bearer s3cret-token"]
    bridge = serve_file(
        running(scripts.command(text, *arguments), f"headers: {{ X-Key: s3cret-field }}, {QUICK}"),
        "--log-level",
        "debug",
        environment={"GIVEN": "s3cret-field"},
    )
    bridge.await_ready()
    bridge.stop()
    assert "s3cret" not in bridge.err.text
    lines = [record["detail"] for record in bridge.records if "says" in record.get("detail", "")]
    assert lines == [f"the command {scripts.folder}/script says: *** *** ***\ntry ***: ***\n"]


def test_a_secret_at_the_end_of_what_is_shown_is_masked_as_well(scripts: Scripts, serve_file) -> None:
    # The log shows 1024 bytes of a text.
    dots = 1024 - len(f"the command {scripts.folder}/script says: ") - 3
    text = f'head -c {dots} /dev/zero | tr "\\0" . >&2; echo "$1 and more" >&2; exit 3'
    command = scripts.command(text, "s3cret-argument")
    bridge = serve_file(running(command), "--log-level", "debug")
    failure(bridge)
    bridge.stop()
    assert "script says" in bridge.err.text
    assert "s3c" not in bridge.err.text


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


def test_a_command_inherits_nothing_of_a_question_to_a_server(
    start_web_server, scripts: Scripts, serve_file
) -> None:
    def answer(_: WebRequest) -> WebAnswer:
        server.stopping.wait()
        return WebAnswer()

    server = start_web_server(answer)
    command = scripts.command(
        f"readlink /proc/$$/fd/* > {scripts.folder}/seen; echo end >> {scripts.folder}/seen"
    )
    asked = f"{{ http: {{ url: '{server.url}' }}, timeout: 1h }}"
    bridge = serve_file(
        f"connections: {{ a: {{ url: {asked} }}, b: {{ url: {{ command: {command} }}, connect: manual }} }}"
    )
    server.asked()
    bridge.post("/v1/connections/b/connect")
    assert not [link for link in scripts.written("seen") if link.startswith(("socket:", "anon_inode:"))]


def test_the_first_process_of_a_container_waits_for_what_commands_leave_behind(
    scripts: Scripts, run_bridge
) -> None:
    text = f"""
    sleep 1000 &
    printf '%s\\n' $! end >> {scripts.folder}/pids
    wait
    """
    path = scripts.folder / "wsbridge.yaml"
    path.write_text(running(scripts.command(text), "reconnect: { maxRetries: 0 }", timeout="500ms"))
    flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
    wrapper = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    bridge = run_bridge("serve", *flags, wrapper=wrapper).listening()
    wrapping = bridge.pid
    bridge.pid = int(Path(f"/proc/{wrapping}/task/{wrapping}/children").read_text())
    scripts.written("pids")
    assert failure(bridge)["error"] == "no URL to dial within 500 ms"
    children = Path(f"/proc/{bridge.pid}/task/{bridge.pid}/children")
    await_truth(lambda: not children.read_text(), "no child is left, not even as a zombie")


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
