"""HTTPS: clients of the bridge speak TLS where `http.tls` names a certificate.

Event streams over TLS are in the modules of streams, which run in this way as well.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Authority, Bridge, Client, Curl, LocalTLS, Upstream, await_truth, curl
from harness.certificates import encrypt_key
from harness.environment import BINARY, clean_environment
from harness.patience import PATIENCE
from harness.rekeying import rekeying_client

UNREADABLE, CONFIGURATION, UNAVAILABLE = 66, 78, 69
Start = Callable[..., Bridge]


@pytest.fixture
def secure(local_tls: LocalTLS, monkeypatch: pytest.MonkeyPatch) -> LocalTLS:
    """Have bridges speak TLS to their clients."""
    monkeypatch.setattr(Bridge, "tls", local_tls)
    return local_tls


@pytest.fixture
def served(secure: LocalTLS, upstream: Upstream, start_bridge: Start) -> Bridge:
    bridge = start_bridge(upstream.url)
    bridge.await_ready()
    return bridge


def handshake(bridge: Bridge, context: ssl.SSLContext) -> ssl.SSLSocket:
    plain = socket.create_connection(tuple(bridge.address), PATIENCE)
    try:
        return context.wrap_socket(plain, server_hostname="localhost")
    except OSError:
        plain.close()
        raise


def warnings(bridge: Bridge) -> list[str]:
    """What the log warns of, but that the machine has few descriptors: over TLS a client takes three."""
    messages = [record["message"] for record in bridge.records if record["level"] == "warning"]
    return [message for message in messages if "(ulimit -n)" not in message]


# What is spoken


def test_curl_speaks_with_the_bridge(served: Bridge, authority: Authority, upstream: Upstream) -> None:
    trust = ["--cacert", str(authority.certificate)]
    assert json.loads(curl(*trust, served.base + "/healthz").stdout) == {"status": "ok"}
    assert b'"state":"queued"' in curl(*trust, "-d", "hello", served.base + "/messages").stdout
    assert upstream.peer().received(1) == ["hello"]
    # Nobody takes a certificate of an unknown authority.
    assert curl(served.base + "/healthz").returncode == 60


def test_the_log_says_how_the_bridge_is_spoken_to(served: Bridge) -> None:
    listening = next(record for record in served.records if record["message"] == "listening")
    assert listening["scheme"] == "https"
    assert warnings(served) == []


def test_a_page_that_came_without_tls_is_of_another_origin(served: Bridge, serve_file, upstream) -> None:
    host = f"{served.address[0]}:{served.address[1]}"
    assert served.get("/status", {"Origin": f"https://{host}"}).status == 200
    for method, target in (("GET", "/status"), ("POST", "/messages"), ("GET", "/events")):
        refused = served.request(method, target, b"", {"Origin": f"http://{host}"})
        assert_problem(refused, 403, "origin-not-allowed")
    origin = "http://localhost:8080"
    allowing = serve_file(
        f"http: {{ allowedOrigins: ['{origin}'] }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    answer = allowing.get("/status", {"Origin": origin, "Host": "localhost:8080"})
    assert (answer.status, answer.header("Access-Control-Allow-Origin")) == (200, origin)


@pytest.mark.parametrize("version", ["tls1", "tls1_1", "tls1_2", "tls1_3"])
def test_tls_1_2_is_the_least(served: Bridge, version: str) -> None:
    done = subprocess.run(
        # Whatever OpenSSL itself would not do any more, it is to try.
        [
            "openssl",
            "s_client",
            "-connect",
            f"{served.address[0]}:{served.address[1]}",
            f"-{version}",
            "-cipher",
            "ALL:@SECLEVEL=0",
        ],
        input=b"",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    if version in ("tls1", "tls1_1"):
        assert b"alert protocol version" in done.stderr
        assert done.returncode != 0
    else:
        assert f"TLSv1.{version[-1]}, Cipher is" in done.stdout.decode()
        assert done.returncode == 0


def test_old_ciphers_are_refused(served: Bridge, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=str(authority.certificate))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-ECDSA-AES128-SHA:AES128-SHA:ECDHE-RSA-AES128-SHA")
    with pytest.raises(ssl.SSLError, match="(?i)handshake.failure"):
        handshake(served, context)


@pytest.mark.parametrize(
    ("offered", "chosen"), [(["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), ([], None)]
)
def test_http_1_1_is_agreed_on(
    served: Bridge, authority: Authority, offered: list[str], chosen: str | None
) -> None:
    context = ssl.create_default_context(cafile=str(authority.certificate))
    if offered:
        context.set_alpn_protocols(offered)
    with handshake(served, context) as client:
        assert client.selected_alpn_protocol() == chosen


def test_who_speaks_nothing_that_the_bridge_does_is_told(served: Bridge, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=str(authority.certificate))
    context.set_alpn_protocols(["h2"])
    with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
        handshake(served, context)


def test_a_connection_is_kept_and_requests_may_come_at_once(served: Bridge) -> None:
    client = served.client()
    for _ in range(3):
        assert client.request("GET", "/healthz").status == 200
    request = b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client.wire.send(request * 20)
    assert [client.response().status for _ in range(20)] == [200] * 20


@pytest.mark.parametrize("size", [1, 16384, 16385, 1 << 20])
def test_bodies_of_all_sizes_come_and_go_whole(served: Bridge, upstream: Upstream, size: int) -> None:
    text = "0123456789abcdef" * (size // 16) + "x" * (size % 16)
    assert served.post("/messages?wait=20s", text.encode()).status == 200
    assert upstream.peer().received(1) == [text]
    upstream.peer().send(text)
    served.await_status(lambda status: status["counters"]["received"] == 1, "it came back")
    assert served.get("/messages").json()["messages"][0]["data"] == text


def test_a_body_that_is_too_large_is_refused(served: Bridge) -> None:
    with served.client() as client:
        client.send_head("POST", "/messages", {"Content-Length": str((1 << 20) + 1)})
        assert_problem(client.response("POST"), 413, "message-too-large")


def test_a_length_that_is_no_number_is_refused_once(served: Bridge) -> None:
    client = served.client()
    client.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: one\r\n\r\n")
    answer = client.rest()
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"urn:wsbridge:problem:invalid-framing" in answer


def test_origins_are_those_of_https(secure: LocalTLS, upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        json.dumps(
            {
                "http": {"allowedHosts": ["bridge.example"]},
                "connections": {"default": {"url": upstream.url}},
            }
        )
    )
    for host, origin in [
        ("bridge.example", "https://bridge.example"),
        ("bridge.example:443", "https://bridge.example"),
        ("bridge.example", "https://bridge.example:443"),
        ("localhost:8443", "https://localhost:8443"),
    ]:
        assert bridge.get("/status", {"Host": host, "Origin": origin}).status == 200, (host, origin)
    for host, origin in [("bridge.example", "https://other.example"), ("bridge.example", "null")]:
        answer = bridge.get("/status", {"Host": host, "Origin": origin})
        assert_problem(answer, 403, "origin-not-allowed")
    assert_problem(bridge.get("/status", {"Host": "other.example"}), 421, "misdirected-host")


def test_the_cookie_of_a_session_is_for_https_alone(
    secure: LocalTLS, upstream: Upstream, start_bridge: Start
) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "t0ken"})
    # Whether or not the browser says where its page is from.
    for fields in ({}, {"Origin": bridge.base}):
        begun = bridge.request("POST", "/v1/session", b"", {"Authorization": "Bearer t0ken", **fields})
        assert begun.header("Set-Cookie").endswith("; Secure")


def test_clients_are_told_apart_by_their_addresses(secure: LocalTLS, upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        json.dumps(
            {"http": {"maxConnectionsPerClient": 3}, "connections": {"default": {"url": upstream.url}}}
        )
    )
    streams = [bridge.stream() for _ in range(2)]
    clients = bridge.get("/v1/connections/default/subscribers").json()["subscribers"]
    assert [each["client"] for each in clients] == ["127.0.0.1"] * 2
    streams.append(bridge.stream())
    assert not is_answered(bridge)
    streams[0].close()
    await_truth(lambda: is_answered(bridge), "there is room again")


def is_answered(bridge: Bridge) -> bool:
    try:
        return bridge.get("/healthz").status == 200
    except OSError:
        return False


# What is not TLS


def test_plain_http_is_told_where_to_go(served: Bridge) -> None:
    done = curl("-i", served.base.replace("https:", "http:") + "/healthz")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"HTTP/1.1 400 ")
    assert b"https://" in done.stdout


@pytest.mark.parametrize("command", [["send", "x"], ["tail"], ["health"]])
def test_our_own_commands_say_that_it_is_https(served: Bridge, command: list[str]) -> None:
    listen = f"{served.address[0]}:{served.address[1]}"
    done = subprocess.run(
        [BINARY, *command, "--listen", listen], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode != 0
    assert "This port speaks HTTPS" in done.stderr


@pytest.mark.parametrize(
    "garbage",
    [b"\x00" * 100, b"\x16\x03\x01\x00\x05hello", b"\x16\x03\x01\xff\xff" + b"x" * 70000, b"SSH-2.0-x\r\n"],
    ids=["zeros", "no hello", "too long", "ssh"],
)
def test_what_is_not_tls_gets_a_close_and_no_reset(served: Bridge, garbage: bytes) -> None:
    with socket.create_connection(tuple(served.address), PATIENCE) as client:
        client.sendall(garbage)
        # More than the bridge wants to know.
        client.sendall(b"?" * 1000)
        while client.recv(4096):
            pass
    assert served.get("/healthz").status == 200


def test_clients_that_never_finish_a_handshake_are_let_go(
    secure: LocalTLS, upstream: Upstream, serve_file
) -> None:
    bridge = serve_file(
        json.dumps({"http": {"requestTimeout": "300ms"}, "connections": {"default": {"url": upstream.url}}})
    )
    clients = [socket.create_connection(tuple(bridge.address), PATIENCE) for _ in range(20)]
    for client in clients[10:]:
        # The beginning of a hello; libraries have been seen to turn in circles over that.
        client.sendall(b"\x16\x03")
    for client in clients:
        while client.recv(4096):
            pass
        client.close()
    assert descriptors_of_clients(bridge) == 0


def descriptors_of_clients(bridge: Bridge) -> int:
    port = f":{bridge.address[1]:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(1 for line in lines if line.split()[1].endswith(port) and line.split()[3] == "01")


@pytest.mark.unsanitized("a sanitizer makes system calls of its own")
def test_half_a_hello_burns_no_processor(
    secure: LocalTLS, upstream: Upstream, start_bridge: Start, tmp_path: Path
) -> None:
    log = tmp_path / "strace.log"
    bridge = start_bridge(upstream.url, wrapper=["strace", "-f", "-s", "64", "-o", str(log)])
    bridge.pid = int(log.read_text().split(maxsplit=1)[0])  # strace would not pass the signals on
    bridge.await_ready()
    with socket.create_connection(tuple(bridge.address), PATIENCE) as client:
        client.sendall(b"\x16\x03")
        assert bridge.get("/status?before").status == 400
        # Nothing can be awaited: nothing is to happen.
        await_time(1.0)
        assert bridge.get("/status?after").status == 400
    bridge.stop()
    lines = log.read_text().splitlines()
    # What the daemon gets is not encrypted any more.
    before, after = (
        next(at for at, line in enumerate(lines) if f"GET /status?{word}" in line)
        for word in ("before", "after")
    )
    waits = [line for line in lines[before:after] if "epoll_wait(" in line]
    # Two requests and some timers take dozens; a loop that turns in circles waits thousands of times.
    assert len(waits) < 200, "\n".join(lines[before : before + 50])


def await_time(seconds: float) -> None:
    end = time.monotonic() + seconds
    await_truth(lambda: time.monotonic() > end, "time passes")


def test_a_client_that_says_goodbye_to_tls_alone_counts_as_gone(served: Bridge) -> None:
    stream = served.stream()
    tls = stream.client.wire.socket
    assert isinstance(tls, ssl.SSLSocket)
    # A close_notify, and the bridge's in return; the connection itself stays open.
    plain = tls.unwrap()
    served.await_status(lambda status: status["subscribers"] == 0, "the stream has ended")
    plain.close()


def test_a_stream_ends_with_a_goodbye(served: Bridge, upstream: Upstream, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=str(authority.certificate))
    with handshake(served, context) as client:
        client.sendall(b"GET /events?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # It is open, and no message passes before it.
        received = client.recv(4096)
        upstream.peer().send("the only one")
        # Without one, reading fails here (suppress_ragged_eofs hides that from wrapped sockets).
        client.suppress_ragged_eofs = False
        while piece := client.recv(4096):
            received += piece
    assert received.endswith(b"0\r\n\r\n")


def test_requests_for_new_keys_whose_answers_are_not_taken_are_not_read_for_ever(served: Bridge) -> None:
    plain = socket.socket()
    # What the kernels hold for it is little, so that the answers soon wait in the bridge.
    for option, size in ((socket.SO_RCVBUF, 4096), (socket.SO_SNDBUF, 65_536)):
        plain.setsockopt(socket.SOL_SOCKET, option, size)
    plain.connect(tuple(served.address))
    client = rekeying_client(plain)
    # A stream has all the time in the world.
    client.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
    # While it is read it never waits for so long.
    client.settimeout(2.0)
    with pytest.raises(TimeoutError):
        # More than the kernels hold of requests and answers, which may be megabytes on either side.
        for _ in range(1_000_000):
            client.change_key(both=True)
    assert served.get("/healthz").status == 200
    client.close()
    await_truth(lambda: descriptors_of_clients(served) == 0, "it is let go of")


# Certificates that change


class Renewal:
    """A bridge whose certificate can be exchanged under it."""

    def __init__(self, authority: Authority, folder: Path, run_bridge: Start, upstream: Upstream):
        self.authority = authority
        self.folder = folder
        self.put(*authority.issue("DNS:localhost", "IP:127.0.0.1"))
        path = folder / "wsbridge.yaml"
        path.write_text(
            json.dumps(
                {
                    "http": {"tls": {"certificate": "cert.pem", "key": "key.pem"}},
                    "connections": {"default": {"url": upstream.url}},
                }
            )
        )
        flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        self.bridge = run_bridge("serve", *flags).listening()

    def put(self, certificate: Path, key: Path) -> None:
        for source, name in [(certificate, "cert.pem"), (key, "key.pem")]:
            shutil.copy(source, self.folder / f"{name}.new")
            os.rename(self.folder / f"{name}.new", self.folder / name)

    def shown(self) -> bytes:
        """The certificate that a new client is shown."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        with handshake(self.bridge, context) as client:
            certificate = client.getpeercert(binary_form=True)
        assert certificate
        return certificate

    def hang_up(self, outcome: str) -> dict[str, Any]:
        """Send SIGHUP, and wait for the next record of this kind."""
        before = sum(outcome in record["message"] for record in self.bridge.records)
        self.bridge.signal(signal.SIGHUP)

        def find(text: str) -> dict[str, Any] | None:
            lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
            found = [json.loads(line) for line in lines if outcome in line]
            return found[before] if len(found) > before else None

        return self.bridge.err.until(find, outcome)


@pytest.fixture
def renewal(authority: Authority, upstream: Upstream, run_bridge: Start, tmp_path: Path) -> Renewal:
    return Renewal(authority, tmp_path, run_bridge, upstream)


def der(certificate: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate.read_text())


def test_a_renewed_certificate_is_shown_after_sighup(renewal: Renewal, upstream: Upstream) -> None:
    first = renewal.shown()
    context = ssl.create_default_context(cafile=str(renewal.authority.certificate))
    with handshake(renewal.bridge, context) as client:
        client.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(4096)
        renewed = renewal.authority.issue("DNS:localhost", "IP:127.0.0.1")
        renewal.put(*renewed)
        record = renewal.hang_up("reloaded")
        assert (record["message"], record["settings"]) == ("reloaded", "http.tls")
        assert renewal.shown() == der(renewed[0]) != first
        # Who is there notices nothing.
        upstream.peer().send("still here")
        received = b""
        while b"still here" not in received:
            received += client.recv(4096)


def test_a_renewed_certificate_is_shown_without_being_told_of(renewal: Renewal) -> None:
    renewed = renewal.authority.issue("DNS:localhost", "IP:127.0.0.1")
    renewal.put(*renewed)
    assert renewal.shown() == der(renewed[0])
    assert renewal.hang_up("reloaded")["message"] == "reloaded: nothing has changed"


@pytest.mark.parametrize("damage", ["another key", "half a file", "gone"])
def test_the_certificate_of_before_stays_while_a_new_one_cannot_be_used(
    renewal: Renewal, damage: str
) -> None:
    before = renewal.shown()
    certificate = renewal.folder / "cert.pem"
    if damage == "another key":
        shutil.copy(renewal.authority.issue("DNS:localhost")[1], renewal.folder / "key.pem")
    elif damage == "half a file":
        certificate.write_text(certificate.read_text()[:200])
    else:
        certificate.unlink()
    # For each client that comes, and told once.
    assert [renewal.shown() for _ in range(3)] == [before] * 3
    complaint = "the certificate for clients was changed and cannot be used; the one before stays in use"
    assert warnings(renewal.bridge) == [complaint]
    record = renewal.hang_up("the configuration is wrong")
    key = "http.tls.key: " if damage == "another key" else "http.tls.certificate: "
    assert record["error"].startswith(f"{renewal.folder}/wsbridge.yaml:1: {key}")
    assert renewal.shown() == before


def test_an_expired_certificate_is_warned_of(renewal: Renewal) -> None:
    renewed = renewal.authority.issue("DNS:localhost", expired=True)
    renewal.put(*renewed)
    renewal.hang_up("reloaded")
    assert warnings(renewal.bridge) == ["the certificate for clients has expired"]
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        renewal.shown()


def test_other_files_may_be_named_but_tls_is_not_turned_off(renewal: Renewal, upstream: Upstream) -> None:
    path = renewal.folder / "wsbridge.yaml"
    renewed = renewal.authority.issue("DNS:localhost", "IP:127.0.0.1")
    settings = json.loads(path.read_text())
    settings["http"]["tls"] = {"certificate": str(renewed[0]), "key": str(renewed[1])}
    path.write_text(json.dumps(settings))
    assert renewal.hang_up("reloaded")["settings"] == "http.tls"
    assert renewal.shown() == der(renewed[0])
    settings["http"]["tls"] = None
    path.write_text(json.dumps(settings))
    assert renewal.hang_up("reloaded")["needsRestart"] == "http.tls"
    assert renewal.shown() == der(renewed[0])


# What is wrong from the start


def refusal(run_bridge: Start, folder: Path, tls: object) -> tuple[int, str]:
    """What `serve` says, and `check`, which must be the same."""
    path = folder / "wsbridge.yaml"
    path.write_text(
        json.dumps({"http": {"tls": tls}, "connections": {"default": {"url": "ws://127.0.0.1:9/"}}})
    )
    serve = run_bridge("serve", "--config", str(path), "--listen", "127.0.0.1:0")
    check = run_bridge("check", "--config", str(path))
    code = serve.exit_code()
    assert (check.exit_code(), check.err.text) == (code, serve.err.text)
    return code, serve.err.text


def test_a_bad_pair_is_refused(run_bridge: Start, authority: Authority, tmp_path: Path) -> None:
    place = f"{tmp_path}/wsbridge.yaml:1: http.tls"
    certificate, key = map(str, authority.issue("DNS:localhost"))
    other = str(authority.issue("DNS:localhost")[1])
    code, text = refusal(run_bridge, tmp_path, {"certificate": certificate, "key": other})
    assert (code, text.split(f"{other}: ")[0]) == (
        CONFIGURATION,
        f"{place}.key: no key for {certificate} can be read from ",
    )
    code, text = refusal(run_bridge, tmp_path, {"certificate": key, "key": key})
    assert (code, text.startswith(f"{place}.certificate: no certificate can be read")) == (
        CONFIGURATION,
        True,
    )
    code, text = refusal(run_bridge, tmp_path, {"certificate": "gone.pem", "key": key})
    assert (code, text) == (
        UNREADABLE,
        f"{place}.certificate: {tmp_path}/gone.pem cannot be read: no such file or directory\n",
    )
    code, text = refusal(run_bridge, tmp_path, {"key": key})
    assert (code, text) == (CONFIGURATION, f"{place}: needs certificate\n")


def test_a_key_may_be_locked_and_may_lie_beside_its_certificate(
    run_bridge: Start, authority: Authority, tmp_path: Path
) -> None:
    certificate, key = authority.issue("DNS:localhost")
    locked = encrypt_key(key, "open sesame")
    code, text = refusal(run_bridge, tmp_path, {"certificate": str(certificate), "key": str(locked)})
    assert (code, "`keyPassword` is not given" in text) == (CONFIGURATION, True)
    together = tmp_path / "together.pem"
    together.write_text(certificate.read_text() + locked.read_text())
    path = tmp_path / "right.yaml"
    tls = {"certificate": "together.pem", "keyPassword": "open sesame"}
    path.write_text(
        json.dumps(
            {
                "http": {"tls": tls},
                "connections": {"default": {"url": "ws://127.0.0.1:9/", "connect": "manual"}},
            }
        )
    )
    check = run_bridge("check", "--config", str(path))
    assert check.exit_code() == 0, check.err.text
    assert "open sesame" not in check.out.text
    bridge = run_bridge("serve", "--config", str(path), "--listen", "127.0.0.1:0").listening()
    done = curl("-k", f"https://127.0.0.1:{bridge.address[1]}/healthz")
    assert done.stdout == b'{"status":"ok"}\n' or json.loads(done.stdout) == {"status": "ok"}


# The commands that talk to a bridge


def command(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(BINARY), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=clean_environment(),
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def configured(renewal: Renewal) -> list[str]:
    """The flags by which commands find the bridge, and learn that it speaks TLS."""
    address = renewal.bridge.address
    return ["--config", str(renewal.folder / "wsbridge.yaml"), "--listen", f"{address[0]}:{address[1]}"]


def test_commands_speak_tls(renewal: Renewal, configured: list[str], upstream: Upstream) -> None:
    assert command("health", *configured) == (0, "", "")
    assert command("send", *configured, "--wait", "20s", "over TLS") == (0, "", "")
    assert upstream.peer().received(1) == ["over TLS"]
    large = "x" * 1_000_000
    with Curl(str(BINARY), "tail", *configured, "--since", "start") as tail:
        upstream.peer().send(large, "last")
        tail.out.until(lambda text: text == f"{large}\nlast\n" or None, "both messages")
        tail.interrupt()
        assert tail.exit_code() == 0


def test_commands_send_to_the_holder_of_the_certificate_alone(
    renewal: Renewal, configured: list[str], upstream: Upstream
) -> None:
    # Another bridge, of the same authority and name, stands where ours is looked for.
    certificate, key = renewal.authority.issue("DNS:localhost", "IP:127.0.0.1")
    path = renewal.folder / "other.yaml"
    tls = {"certificate": str(certificate), "key": str(key)}
    path.write_text(json.dumps({"http": {"tls": tls}}))
    flags = ["--config", str(path), *configured[2:]]
    code, _, errors = command("send", *flags, "for nobody else")
    assert code == UNAVAILABLE
    assert f"its certificate is not the one in {certificate}" in errors
    # Whether it is alive may be asked of anybody.
    assert command("health", *flags) == (0, "", "")


def test_commands_say_which_certificate_they_miss(renewal: Renewal, configured: list[str]) -> None:
    (renewal.folder / "cert.pem").unlink()
    code, _, errors = command("send", *configured, "never sent")
    assert code == UNREADABLE
    assert errors.startswith(f"{renewal.folder}/wsbridge.yaml:1: http.tls.certificate: ")
    assert command("health", *configured) == (0, "", "")
    # The key is the bridge's alone.
    renewal.put(*renewal.authority.issue("DNS:localhost", "IP:127.0.0.1"))
    (renewal.folder / "key.pem").rename(renewal.folder / "moved.pem")
    assert "http.tls.key" not in command("send", *configured, "x")[2]


# The end


def test_a_client_that_reads_late_gets_the_end_before_the_bridge_ends(
    served: Bridge, upstream: Upstream
) -> None:
    stream = served.stream(receive_buffer=4096)
    texts = [f"{number} " + "x" * 10_000 for number in range(200)]
    upstream.peer().start_sending(texts)
    served.await_status(lambda status: status["counters"]["received"] == len(texts), "all came")
    served.signal(signal.SIGTERM)
    served.err.until(lambda text: '"message":"stopping"' in text or None, "it stops")
    # The last of it waits in the bridge and in kernels: its end as well, or this would fail.
    got = [event.data for event in stream.rest()]
    assert got == texts[: len(got)]
    assert served.exit_code() == 0


def test_the_bridge_ends_cleanly_with_clients_in_every_state(
    secure: LocalTLS, upstream: Upstream, start_bridge: Start
) -> None:
    bridge = start_bridge(upstream.url)
    bridge.await_ready()
    silent = socket.create_connection(tuple(bridge.address), PATIENCE)
    idle = bridge.client()
    assert idle.request("GET", "/healthz").status == 200
    stream = bridge.stream()
    waiting = Client(bridge.address)
    waiting.send_head("GET", "/messages?since=now&wait=60s")
    bridge.await_status(lambda status: status["subscribers"] >= 1, "they are there")
    bridge.stop()
    assert stream.rest() == []
    assert waiting.response().status in (200, 503)
    assert idle.rest() == b""
    silent.close()
    waiting.wire.close()
    assert warnings(bridge) == []
