"""Answers that are there before the request is: whoever still writes gets to read them."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Upstream, await_truth, curl
from harness.front_servers import FRONTS, SITE
from harness.http1 import parse_head
from harness.metrics import scrape
from harness.patience import PATIENCE, Deadline
from harness.wire import Wire

MIB = 1 << 20
TOKEN = "t0ken-for-tests"
#: What a client wants to get rid of that reads no answer before: far more than sockets hold.
LARGE = 24 * MIB


def settings(upstream: Upstream, **http: object) -> str:
    return json.dumps({"http": http, "connections": {"default": {"url": upstream.url}}})


@pytest.fixture(params=["plain", "unix", "tls"])
def start(request: pytest.FixtureRequest, monkeypatch, upstream: Upstream, tmp_path: Path) -> Callable:
    """Serve in each of the ways in which clients come, and return how to connect."""
    if request.param == "tls":
        monkeypatch.setattr(Bridge, "tls", request.getfixturevalue("local_tls"))
    if request.param != "unix":
        serve_file = request.getfixturevalue("serve_file")
        return lambda **http: serve_file(settings(upstream, **http)).client
    run_bridge = request.getfixturevalue("run_bridge")

    def serve(**http: object) -> Callable[[], Client]:
        path = tmp_path / "bridge.sock"
        file = tmp_path / "unix.yaml"
        file.write_text(settings(upstream, **http))
        bridge = run_bridge(
            "serve", "--config", str(file), "--listen", f"unix:{path}", "--log-format", "json"
        )
        bridge.err.until(lambda text: '"listening"' in text or None, "the record `listening`")
        return lambda: client_of(path)

    return serve


def client_of(path: Path) -> Client:
    client = Client.__new__(Client)
    client._host = "localhost"
    client.wire = Wire.__new__(Wire)
    client.wire.socket = socket.socket(socket.AF_UNIX)
    client.wire.socket.connect(str(path))
    client.wire._buffer = bytearray()
    return client


def chunks(count: int) -> Iterator[bytes]:
    for _ in range(count // MIB):
        yield b"100000\r\n" + b"x" * MIB + b"\r\n"
    yield b"0\r\n\r\n"


def pieces(count: int) -> Iterator[bytes]:
    for _ in range(count // MIB):
        yield b"x" * MIB


#: What is refused before its body is read: the request, what the bridge is set to, and the answer.
REFUSED = {
    "no token": ("POST", "/messages", {}, {"tokens": [{"name": "a", "token": TOKEN}]}, (401, "unauthorized")),
    "another origin": (
        "POST",
        "/messages",
        {"Origin": "http://evil.example"},
        {},
        (403, "origin-not-allowed"),
    ),
    "no such path": ("POST", "/nothing", {}, {}, (404, "not-found")),
    "no such method": ("PUT", "/status", {}, {}, (405, "method-not-allowed")),
    "too large": ("POST", "/messages", {}, {}, (413, "message-too-large")),
    "a form": (
        "POST",
        "/messages",
        {"Content-Type": "multipart/form-data"},
        {},
        (415, "unsupported-media-type"),
    ),
    "another host": ("POST", "/messages", {"Host": "evil.example"}, {}, (421, "misdirected-host")),
}


@pytest.mark.parametrize("framing", ["announced", "in chunks"])
@pytest.mark.parametrize("kind", REFUSED)
def test_who_writes_everything_first_gets_the_answer(
    request: pytest.FixtureRequest, start, kind: str, framing: str
) -> None:
    method, target, fields, http, answer = REFUSED[kind]
    if kind == "another host" and request.node.callspec.params["start"] == "unix":
        # Where any host will do.
        answer = (413, "message-too-large")
    with start(**http)() as client:
        if framing == "announced":
            client.send_head(method, target, {**fields, "Content-Length": str(LARGE)})
            body = pieces(LARGE)
        else:
            client.send_head(method, target, {**fields, "Transfer-Encoding": "chunked"})
            body = chunks(LARGE)
        for piece in body:
            client.wire.send(piece)
        assert_problem(client.response(method), *answer)
        assert client.rest() == b""


def test_who_writes_slowly_gets_the_answer_at_once_and_may_go_on(start) -> None:
    with start()() as client:
        client.send_head("POST", "/messages", {"Content-Length": str(LARGE)})
        assert_problem(client.response("POST"), 413, "message-too-large")
        # Our side is closed, and what comes is thrown away: nothing is reset as long as the client goes on.
        assert client.rest() == b""
        for _ in range(64):
            client.wire.send(b"x" * 1024)
        assert_alive(client)


def assert_alive(client: Client) -> None:
    """Nothing has reset the connection: to write is still possible, and to read gives the end."""
    client.wire.send(b"x")
    assert client.wire.socket.recv(1) == b""


def test_a_client_that_asks_first_is_not_told_to_go_on(start) -> None:
    with start()() as client:
        client.send_head("POST", "/messages", {"Content-Length": str(LARGE), "Expect": "100-continue"})
        raw = client.wire.take_through(b"\r\n\r\n", Deadline("the head of the answer"))
        assert parse_head(raw).status == 413


def test_a_head_that_is_too_large_is_answered_while_it_is_written(start) -> None:
    connect = start()
    for head in (
        b"GET /status HTTP/1.1\r\nHost: localhost\r\n" + b"X-More: " + b"x" * LARGE,
        b"GET /" + b"x" * LARGE,
    ):
        with connect() as client:
            client.wire.send(head)
            assert client.response().status in (414, 431)
            assert client.rest() == b""


# Programs


@pytest.fixture
def bridge(upstream: Upstream, start_bridge: Callable[..., Bridge]) -> Bridge:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_ALLOWED_HOSTS": SITE})
    bridge.await_ready()
    return bridge


@pytest.mark.parametrize("fields", [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]])
@pytest.mark.parametrize("pace", [[], ["--limit-rate", "8M"]], ids=["fast", "slow"])
def test_curl_says_413(bridge: Bridge, tmp_path: Path, fields: list[str], pace: list[str]) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"x" * LARGE)
    answer = curl(
        *pace, *fields, "-w", "%{http_code}", "--data-binary", f"@{file}", bridge.base + "/messages"
    )
    assert answer.returncode == 0, answer
    assert b"message-too-large" in answer.stdout
    assert answer.stdout.endswith(b"413")


def test_pythons_http_client_gets_its_response(bridge: Bridge) -> None:
    connection = http.client.HTTPConnection(*bridge.address, timeout=PATIENCE)
    connection.request("POST", "/messages", b"x" * LARGE)
    response = connection.getresponse()
    assert response.status == 413
    assert json.loads(response.read())["type"].endswith("message-too-large")
    connection.close()


@pytest.mark.parametrize("kind", FRONTS)
@pytest.mark.parametrize("size", [2 * MIB, LARGE])
def test_a_proxy_passes_on_what_the_bridge_says(
    bridge: Bridge, authority, tmp_path: Path, kind: str, size: int
) -> None:
    """Where it lets more pass than the bridge does; in the files as they are it is the proxy that refuses."""
    front = FRONTS[kind](bridge.address[1], authority)
    try:
        text = front.configuration.read_text()
        front.configuration.write_text(text.replace("client_max_body_size 1m", "client_max_body_size 64m"))
        front.restart()
        file = tmp_path / "large"
        file.write_bytes(b"x" * size)
        place = ["--resolve", f"{SITE}:{front.port}:{front.host}", "--cacert", front.authority_file]
        for _ in range(5):
            answer = curl(*place, "--http1.1", "--data-binary", f"@{file}", front.base + "/messages")
            # Caddy has the bridge's answer, and resets its own client all the same.
            if kind == "caddy":
                continue
            assert answer.returncode == 0, (answer, front.log)
            assert b"urn:wsbridge:problem:message-too-large" in answer.stdout, (answer, front.log)
        await_truth(lambda: len(re.findall(r"[ :]413[ ,]", front.access_log)) == 5, "it logs five times 413")
        assert not re.search(r"[ :]502[ ,]", front.access_log), front.access_log
    finally:
        front.stop()


# Bounds


@contextmanager
def lingering(bridge: Bridge, count: int) -> Iterator[list[Client]]:
    """So many clients that have their answer, and neither close their side nor stop to write."""
    with ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = stack.enter_context(Client(bridge.address))
            client.send_head("POST", "/messages", {"Content-Length": str(1 << 40)})
            assert client.response("POST").status == 413
            clients.append(client)
        yield clients


def client_count(bridge: Bridge) -> float:
    return scrape(bridge).value("wsbridge_http_connections")


def test_clients_that_never_go_are_closed(bridge: Bridge) -> None:
    with lingering(bridge, 20) as clients:
        assert client_count(bridge) >= 20
        await_truth(lambda: client_count(bridge) <= 1, "all are closed")
        # The kernel says so to whoever goes on.
        for client in clients:
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                while True:
                    client.wire.send(b"x" * 65536)


def test_clients_that_write_for_ever_are_cut_off_and_cost_no_memory(bridge: Bridge) -> None:
    before = resident(bridge)
    sent: list[int] = []

    def write(client: Client) -> None:
        total = 0
        try:
            while total < 1 << 30:
                client.wire.send(b"x" * MIB)
                total += MIB
        except (ConnectionResetError, BrokenPipeError):
            sent.append(total)

    with lingering(bridge, 8) as clients:
        writers = [threading.Thread(target=write, args=(client,)) for client in clients]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert len(sent) == 8
    assert resident(bridge) - before < 16 * MIB


def resident(bridge: Bridge) -> int:
    """The most memory that the process ever had."""
    lines = Path(f"/proc/{bridge.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def test_clients_that_have_their_answer_give_way(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, wrapper=["prlimit", "--nofile=200:200"])
    bridge.await_ready()
    record = next(record for record in bridge.records if "descriptors" in record["message"])
    most = record["connections"]
    # More than there is room for, without a wait.
    with lingering(bridge, most), lingering(bridge, most):
        for _ in range(20):
            assert bridge.get("/status").status == 200
    assert bridge.get("/healthz").status == 200


def test_they_count_among_the_connections_of_an_address(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(settings(upstream, maxConnectionsPerClient=3))
    with lingering(bridge, 3), pytest.raises(ConnectionError):
        bridge.get("/healthz")
    await_truth(lambda: is_served(bridge), "they are gone")


def is_served(bridge: Bridge) -> bool:
    try:
        return bridge.get("/healthz").status == 200
    except OSError:
        return False


# What never gets to its end


@pytest.mark.parametrize("token", [None, TOKEN], ids=["a stranger", "a user"])
@pytest.mark.parametrize("line", [b"1;" + b"x" * 60_000, b"0" * 60_000], ids=["an extension", "zeros"])
@pytest.mark.parametrize("line_of_request", [("POST", "/messages"), ("GET", "/healthz")], ids=["POST", "GET"])
def test_a_line_of_a_body_that_is_longer_than_any_buffer_is_refused_at_once(
    start, line_of_request: tuple[str, str], line: bytes, token: str | None
) -> None:
    """Not when the time for the request is over, with which the answer would be a 408."""
    connect = start(tokens=[{"name": "a", "token": TOKEN}])
    method, target = line_of_request
    fields = {"Transfer-Encoding": "chunked"} | ({"Authorization": f"Bearer {token}"} if token else {})
    with connect() as client:
        client.send_head(method, target, fields)
        client.wire.send(line)
        answer = client.response(method)
        if token is None and method == "POST":
            assert_problem(answer, 401, "unauthorized")
        else:
            assert_problem(answer, 400, "invalid-framing")
        assert client.rest() == b""
    with connect() as client:
        assert client.request("GET", "/healthz").status == 200
