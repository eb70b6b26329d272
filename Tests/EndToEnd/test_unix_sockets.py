"""`unix:PATH`: who may connect, what becomes of the file, and what cannot be listened on."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Bridge, LocalTLS, Upstream, curl
from harness.patience import PATIENCE

USAGE, CANNOT_BIND, CONFIGURATION = 64, 71, 78
Start = Callable[..., Bridge]


@pytest.fixture
def serve(upstream: Upstream, run_bridge: Start) -> Callable[..., Bridge]:
    """Serve on a path, and wait until it listens unless it is not to."""

    def start(path: object, *flags: str, listens: bool = True, **options) -> Bridge:
        words = [
            "serve",
            "--upstream",
            upstream.url,
            "--listen",
            f"unix:{path}",
            "--log-format",
            "json",
            *flags,
        ]
        bridge = run_bridge(*words, **options)
        if listens:
            bridge.err.until(lambda text: '"listening"' in text or None, "the record `listening`")
        return bridge

    return start


def health(path: Path) -> bytes:
    return curl("--unix-socket", str(path), "http://any.name.at.all/healthz").stdout


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_curl_comes_through_a_file(serve, upstream: Upstream, tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    bridge = serve(path)
    assert json.loads(health(path)) == {"status": "ok"}
    assert b"queued" in curl("--unix-socket", str(path), "-d", "hello", "http://x/messages").stdout
    assert upstream.peer().received(1) == ["hello"]
    bridge.stop()
    assert not path.exists()


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o277])
@pytest.mark.parametrize(("setting", "bits"), [(None, 0o600), ("0660", 0o660), ("0666", 0o666)])
def test_the_file_has_the_permissions_of_the_settings_whatever_the_umask_is(
    serve, tmp_path: Path, umask: int, setting: str | None, bits: int
) -> None:
    path = tmp_path / "a.sock"
    settings = tmp_path / "wsbridge.yaml"
    settings.write_text(f"http: {{ socketMode: {setting} }}\n" if setting else "{}\n")
    wrapper = [
        sys.executable,
        "-c",
        f"import os, sys; os.umask({umask}); os.execv(sys.argv[1], sys.argv[1:])",
    ]
    serve(path, "--config", str(settings), wrapper=wrapper)
    assert mode(path) == bits


def test_others_may_connect_only_where_they_are_let(serve, tmp_path: Path) -> None:
    for name, setting, is_let in [("own", "0600", False), ("all", "0666", True)]:
        folder = Path(f"/tmp/wsbridge-test-{os.getpid()}-{name}")
        folder.mkdir(mode=0o755)
        try:
            settings = tmp_path / f"{name}.yaml"
            settings.write_text(f"http: {{ socketMode: {setting} }}\n")
            bridge = serve(folder / "a.sock", "--config", str(settings))
            program = (
                "import os, socket, sys; os.setgid(65534); os.setuid(65534); "
                "socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
            )
            done = subprocess.run(
                [sys.executable, "-c", program, str(folder / "a.sock")],
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
            assert (done.returncode == 0, b"PermissionError" in done.stderr) == (is_let, not is_let)
            bridge.stop()
        finally:
            folder.rmdir()


def test_what_a_killed_bridge_left_is_replaced(serve, tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    first = serve(path)
    first.process.kill()
    first.process.wait()
    assert path.is_socket()
    serve(path)
    assert json.loads(health(path)) == {"status": "ok"}


def test_a_socket_that_answers_is_not_replaced(serve, tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    serve(path)
    second = serve(path, listens=False)
    assert second.exit_code() == CANNOT_BIND
    assert "in use" in second.err.text
    assert json.loads(health(path)) == {"status": "ok"}


def test_what_stands_there_and_is_no_socket_stays(serve, tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    path.write_text("precious")
    bridge = serve(path, listens=False)
    assert bridge.exit_code() == CANNOT_BIND
    assert "the path exists and is not a socket" in bridge.err.text
    assert path.read_text() == "precious"


def test_a_socket_that_somebody_else_has_put_there_meanwhile_stays(serve, tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    bridge = serve(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        bridge.stop()
        assert path.is_socket()


def test_a_folder_that_is_not_there_is_told(serve, tmp_path: Path) -> None:
    bridge = serve(tmp_path / "gone" / "a.sock", listens=False)
    assert bridge.exit_code() == CANNOT_BIND
    assert f"there is no folder {tmp_path}/gone" in bridge.err.text


@pytest.mark.parametrize("path", ["x" * 108, "@name"])
def test_what_can_be_no_path_is_refused(
    serve, upstream: Upstream, run_bridge: Start, tmp_path: Path, path: str
) -> None:
    bridge = serve(path, listens=False)
    assert bridge.exit_code() == USAGE
    assert bridge.err.text.startswith("wsbridge: --listen: expected unix:PATH with ")
    settings = tmp_path / "wsbridge.yaml"
    settings.write_text(
        json.dumps({"http": {"listen": f"unix:{path}"}, "connections": {"a": {"url": upstream.url}}})
    )
    bridge = run_bridge("serve", "--config", str(settings))
    assert bridge.exit_code() == CONFIGURATION
    assert bridge.err.text.startswith(f"{settings}:1: http.listen: expected unix:PATH with ")


def test_tls_is_spoken_over_files_as_well(
    serve, local_tls: LocalTLS, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Bridge, "tls", local_tls)
    path = tmp_path / "a.sock"
    serve(path)
    done = curl("-k", "--unix-socket", str(path), "https://any.name.at.all/healthz")
    assert json.loads(done.stdout) == {"status": "ok"}
