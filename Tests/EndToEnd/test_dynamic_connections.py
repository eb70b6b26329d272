"""`PUT` and `DELETE` of connections, where `http.dynamicConnections` is on."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, RawPeer, RawUpstream, Stream, Upstream, await_truth, curl
from harness.http1 import Response
from harness.raw_upstream import frame


class Dynamic:
    """A bridge whose connections clients may change, with its configuration file."""

    def __init__(self, path: Path, run_bridge: Callable[..., Bridge]):
        self.path = path
        self._run_bridge = run_bridge
        self._reloads = 0
        self.bridge: Bridge

    def write(self, connections: dict[str, Any], **http: Any) -> None:
        settings = {"http": {"dynamicConnections": True, **http}, "connections": connections}
        self.path.write_text(json.dumps(settings))

    def start(self, connections: dict[str, Any] | None = None, **http: Any) -> Dynamic:
        self.write(connections or {}, **http)
        flags = ["--config", str(self.path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        self.bridge = self._run_bridge("serve", *flags).listening()
        return self

    def reload(self, connections: dict[str, Any], **http: Any) -> dict[str, Any]:
        """Write the file, have it read again, and return the record of what came of it."""
        self.write(connections, **http)
        self.bridge.signal(signal.SIGHUP)
        self._reloads += 1

        def find(text: str) -> dict[str, Any] | None:
            lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
            found = [record for record in map(json.loads, lines) if "reload" in record["message"]]
            return found[self._reloads - 1] if len(found) >= self._reloads else None

        return self.bridge.err.until(find, f"the outcome of reload {self._reloads}")

    def put(self, name: str, settings: object, **fields: str) -> Response:
        body = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
        return self.bridge.request("PUT", f"/v1/connections/{name}", body, fields)

    def delete(self, name: str) -> Response:
        return self.bridge.request("DELETE", f"/v1/connections/{name}")

    def status(self, name: str) -> dict[str, Any]:
        return self.bridge.get(f"/v1/connections/{name}").json()

    def await_ready(self, name: str) -> dict[str, Any]:
        return await_truth(lambda: (it := self.status(name)).get("ready") and it, f"{name} is ready")

    def names(self) -> list[str]:
        return [each["name"] for each in self.bridge.get("/v1/connections").json()["connections"]]


@pytest.fixture
def dynamic(start_upstream, run_bridge, tmp_path: Path) -> Dynamic:
    """Not started; it ends before the upstreams do."""
    return Dynamic(tmp_path / "wsbridge.yaml", run_bridge)


def test_a_connection_is_made(upstream: Upstream, dynamic: Dynamic) -> None:
    dynamic.start()
    assert dynamic.names() == []
    made = dynamic.put("feed", {"url": upstream.url, "headers": {"X-From": "client"}})
    assert made.status == 201
    assert made.header("Location") == "/v1/connections/feed"
    assert made.json()["name"] == "feed"
    peer = upstream.peer()
    assert peer.request.headers["X-From"] == "client"
    dynamic.await_ready("feed")
    stream = dynamic.bridge.stream("/v1/connections/feed/events")
    peer.send("in")
    assert stream.next().data == "in"
    # It is the only one, so the short paths mean it.
    dynamic.bridge.send("out")
    assert peer.received(1) == ["out"]
    records = [it for it in dynamic.bridge.records if it["message"] == "a client made a connection"]
    assert [(it["connection"], it["client"]) for it in records] == [("feed", "anonymous")]


def test_it_works_with_curl(upstream: Upstream, dynamic: Dynamic) -> None:
    base = dynamic.start().bridge.base
    settings = json.dumps({"url": upstream.url})
    assert curl("-f", "-X", "PUT", "-d", settings, f"{base}/v1/connections/feed").returncode == 0
    upstream.peer()
    assert curl("-f", "-X", "DELETE", f"{base}/v1/connections/feed").returncode == 0
    assert curl("-f", f"{base}/v1/connections/feed").returncode != 0


def test_what_is_the_same_is_not_touched(upstream: Upstream, dynamic: Dynamic) -> None:
    dynamic.start()
    settings = {"url": upstream.url, "heartbeat": {"interval": "30s"}}
    assert dynamic.put("a", settings).status == 201
    peer = upstream.peer()
    dynamic.await_ready("a")
    for same in (settings, {**settings, "compression": True}, {**settings, "heartbeat": {"interval": 30}}):
        response = dynamic.put("a", same)
        assert (response.status, response.json()["state"]) == (200, "open")
    peer.send("undisturbed")
    assert dynamic.status("a")["counters"]["opens"] == 1
    assert upstream.dials == 1


def test_a_connection_of_the_file_that_is_the_same_is_not_touched(
    upstream: Upstream, dynamic: Dynamic
) -> None:
    dynamic.start({"a": {"url": upstream.url}})
    dynamic.await_ready("a")
    assert dynamic.put("a", {"url": upstream.url}).status == 200
    assert dynamic.status("a")["counters"]["opens"] == 1


def test_a_changed_connection_begins_anew_with_its_outbox_and_streams(start_upstream, dynamic) -> None:
    old, new = start_upstream(), start_upstream()
    dynamic.start()
    dynamic.put("a", {"url": old.url})
    leaver = old.peer()
    dynamic.await_ready("a")
    leaver.send("from the old one")
    stream = dynamic.bridge.stream("/events?types=text,status&since=start")
    assert stream.until("message")[1].data == "from the old one"
    dynamic.bridge.post("/pause")
    assert leaver.left()
    dynamic.bridge.send("waiting")
    changed = dynamic.put("a", {"url": new.url, "outbox": {"maxMessages": 7}})
    assert changed.status == 200
    arrived = new.peer()
    assert arrived.received(1) == ["waiting"]
    arrived.send("from the new one")
    assert stream.until("message")[1].data == "from the new one"
    status = dynamic.status("a")
    assert (status["url"], status["outbox"]["maxMessages"]) == (new.url, 7)
    assert status["counters"]["opens"] == 2


def test_a_changed_connection_says_goodbye(start_upstream, dynamic: Dynamic) -> None:
    old, new = start_upstream(), start_upstream()
    dynamic.start()
    dynamic.put("a", {"url": old.url})
    leaver = old.peer()
    dynamic.await_ready("a")
    stream = dynamic.bridge.stream("/events?types=status")
    dynamic.put("a", {"url": new.url})
    assert leaver.left() == (1001, "")
    statuses = stream.statuses()
    types = [next(statuses)["type"] for _ in range(5)]
    assert types == ["snapshot", "closed", "connecting", "open", "ready"]


@pytest.fixture
def changing(dynamic: Dynamic, start_raw_upstream) -> Callable[..., tuple[RawUpstream, RawPeer]]:
    """Change the settings of `a` while its upstream does not answer the close frame."""

    def change(**settings: Any) -> tuple[RawUpstream, RawPeer]:
        upstream = start_raw_upstream()
        dynamic.start()
        dynamic.put("a", {"url": upstream.url, "closeTimeout": "1h"})
        peer = upstream.accept()
        peer.accept_handshake()
        dynamic.await_ready("a")
        assert dynamic.put("a", {"url": upstream.url, **settings}).json()["state"] == "closing"
        return upstream, peer

    return change


def test_a_connect_while_a_connection_is_changed_is_obeyed(dynamic: Dynamic, changing) -> None:
    upstream, peer = changing(connect="manual")
    assert dynamic.bridge.post("/connect").status == 200
    peer.close()
    upstream.accept().accept_handshake()
    dynamic.await_ready("a")


def test_a_reconnect_does_not_wait_for_the_end_of_a_changed_connection(dynamic: Dynamic, changing) -> None:
    upstream, _ = changing(connect="manual")
    assert dynamic.bridge.post("/reconnect").status == 200
    upstream.accept().accept_handshake()
    dynamic.await_ready("a")


def test_a_disconnect_while_a_connection_is_changed_is_obeyed(dynamic: Dynamic, changing) -> None:
    _, peer = changing(headers={"X-New": "1"})
    stream = dynamic.bridge.stream("/events?types=status")
    assert dynamic.bridge.post("/disconnect").status == 200
    assert_problem(dynamic.bridge.post("/messages", b"late"), 409, "connection-closed")
    peer.close()
    await_truth(lambda: dynamic.status("a")["state"] == "closed", "it is closed")
    assert_problem(dynamic.bridge.post("/messages", b"late"), 409, "connection-closed")
    assert dynamic.delete("a").status == 204
    assert [json.loads(event.data)["type"] for event in stream.rest()] == ["snapshot", "closed"]


def test_a_pause_while_a_connection_is_changed_is_obeyed(dynamic: Dynamic, changing) -> None:
    upstream, peer = changing(headers={"X-New": "1"})
    stream = dynamic.bridge.stream("/events?types=status")
    assert dynamic.bridge.post("/pause").status == 200
    peer.close()
    statuses = stream.statuses()
    assert [next(statuses)["type"] for _ in range(3)] == ["snapshot", "closed", "paused"]
    assert dynamic.bridge.post("/resume").status == 200
    upstream.accept().accept_handshake()
    dynamic.await_ready("a")


def test_a_connection_is_removed(start_upstream, dynamic: Dynamic) -> None:
    upstream, other = start_upstream(), start_upstream()
    dynamic.start({"kept": {"url": other.url}})
    dynamic.put("gone", {"url": upstream.url})
    peer = upstream.peer()
    dynamic.await_ready("gone")
    stream = dynamic.bridge.stream("/v1/connections/gone/events?types=text,status")
    peer.send("last")
    response = dynamic.delete("gone")
    assert (response.status, response.body) == (204, b"")
    assert peer.left() == (1001, "")
    events = stream.rest()
    assert [event.data for event in events if event.type == "message"] == ["last"]
    assert json.loads(events[-1].data)["type"] == "closed"
    assert_problem(dynamic.delete("gone"), 404, "not-found")
    assert_problem(dynamic.bridge.get("/v1/connections/gone/status"), 404, "not-found")
    assert dynamic.names() == ["kept"]


@pytest.mark.parametrize("state", ["closed", "paused", "idle", "waiting", "failed"])
def test_a_connection_that_is_down_is_removed_with_its_streams(
    start_upstream, dynamic: Dynamic, state: str
) -> None:
    away = start_upstream(away=True)
    settings: dict[str, Any] = {"url": away.url}
    if state == "idle":
        settings["connect"] = "manual"
    if state == "failed":
        settings["reconnect"] = {"maxRetries": 0}
    if state == "waiting":
        settings["reconnect"] = {"initialDelay": "1h", "maxDelay": "1h"}
    dynamic.start()
    dynamic.put("a", settings)
    if verb := {"closed": "disconnect", "paused": "pause"}.get(state):
        dynamic.bridge.post(f"/{verb}")
    await_truth(lambda: dynamic.status("a")["state"] == state, state)
    streams = [
        dynamic.bridge.stream("/events?types=status", version=version) for version in ("HTTP/1.1", "HTTP/1.0")
    ]
    assert dynamic.delete("a").status == 204
    for stream in streams:
        assert [event.type for event in stream.rest()] == ["status"]


def test_who_waits_for_a_removed_connection_is_told(start_upstream, dynamic: Dynamic) -> None:
    away = start_upstream(away=True)
    dynamic.start()
    dynamic.put("gone", {"url": away.url})
    path = "/v1/connections/gone"
    with dynamic.bridge.client() as client:
        client.send_head("POST", f"{path}/messages?wait=1m", {"Content-Length": "1"})
        client.wire.send(b"x")
        await_truth(lambda: dynamic.status("gone")["outbox"]["messages"], "the message waits")
        with dynamic.bridge.client() as poller:
            poller.send_head("GET", f"{path}/messages?since=now&wait=1m", {})
            await_truth(lambda: dynamic.status("gone"), "it is still there")
            assert dynamic.delete("gone").status == 204
            assert_problem(client.response(), 404, "not-found")
            assert poller.response().status == 200


def leave(raw: RawUpstream, dynamic: Dynamic) -> tuple[RawPeer, Stream]:
    """Remove a connection, and return its peer, which was sent a close frame, and a stream of it."""
    dynamic.start()
    dynamic.put("a", {"url": raw.url, "closeTimeout": "1h"})
    peer = raw.accept()
    peer.accept_handshake()
    dynamic.await_ready("a")
    stream = dynamic.bridge.stream("/v1/connections/a/events?types=status")
    assert dynamic.delete("a").status == 204
    assert peer.close_frame() == (1001, "")
    return peer, stream


def test_what_comes_back_has_nothing_of_what_was_removed(start_upstream, start_raw_upstream, dynamic) -> None:
    # The peer never answers the close frame, so the old one would take its time to close.
    peer, stream = leave(start_raw_upstream(), dynamic)
    new = start_upstream()
    assert dynamic.put("a", {"url": new.url}).status == 201
    peer.gone()
    new.peer().send("first")
    dynamic.await_ready("a")
    assert [json.loads(event.data)["type"] for event in stream.rest()] == ["snapshot", "closed"]
    again = dynamic.bridge.stream("/v1/connections/a/events?types=text,status&since=start")
    before, first = again.until("message")
    assert [json.loads(event.data)["type"] for event in before] == ["snapshot", "connecting", "open", "ready"]
    assert first.data == "first"
    counters = dynamic.status("a")["counters"]
    assert (counters["opens"], counters["closes"]) == (1, 0)


def test_no_id_of_a_message_is_given_twice(start_upstream, dynamic: Dynamic) -> None:
    url = start_upstream().url
    dynamic.start()

    def send(name: str) -> str:
        return dynamic.bridge.post(f"/v1/connections/{name}/messages?wait=10s", b"x").json()["id"]

    def find(name: str, identifier: str) -> int:
        return dynamic.bridge.get(f"/v1/connections/{name}/outbox/{identifier}").status

    given = []
    for _ in range(3):
        for name in ("a", "b"):
            assert dynamic.put(name, {"url": url}).status == 201
            given += [send(name), send(name)]
        assert [find("a", identifier) for identifier in given[-4:]] == [200, 200, 404, 404]
        assert [find("b", identifier) for identifier in given[-4:]] == [404, 404, 200, 200]
        assert {find(name, identifier) for name in ("a", "b") for identifier in given[:-4]} <= {404}
        for name in ("a", "b"):
            assert dynamic.delete(name).status == 204
    assert len(set(given)) == len(given)


def test_a_stop_waits_for_what_is_being_removed(start_raw_upstream, dynamic: Dynamic) -> None:
    peer, stream = leave(start_raw_upstream(), dynamic)
    dynamic.bridge.signal(signal.SIGTERM)
    dynamic.bridge.err.until(lambda text: "stopping" in text, "it begins to stop")
    peer.send(frame(8, b"\x03\xe9"))
    peer.close()
    assert [json.loads(event.data)["type"] for event in stream.rest()] == ["snapshot", "closed"]
    assert dynamic.bridge.exit_code() == 0


def test_open_merged_streams_take_in_what_comes(start_upstream, dynamic: Dynamic) -> None:
    upstreams = {name: start_upstream() for name in "abc"}
    dynamic.start({"a": {"url": upstreams["a"].url}})
    stream = dynamic.bridge.stream("/v1/events?types=text")
    some = dynamic.bridge.stream("/v1/events?types=text&connection=[ab]".replace("[ab]", "?"))
    dynamic.put("b", {"url": upstreams["b"].url, "connect": "onDemand", "idleTimeout": "50ms"})
    upstreams["b"].peer().send("from b")
    for each in (stream, some):
        assert json.loads(each.next().data)["data"] == "from b"
    dynamic.delete("b")
    upstreams["a"].peer().send("from a")
    for each in (stream, some):
        assert json.loads(each.next().data)["data"] == "from a"


# What is refused


def test_it_is_off_by_default(bridge: Bridge) -> None:
    for method in ("PUT", "DELETE"):
        response = bridge.request(method, "/v1/connections/default", b"{}")
        assert_problem(response, 405, "method-not-allowed")
        assert response.header("Allow") == "GET, HEAD, OPTIONS"
        assert "http.dynamicConnections" in response.json()["detail"]
    assert bridge.status()["state"] == "open"


def test_what_is_wrong_is_told_at_once_and_changes_nothing(upstream: Upstream, dynamic: Dynamic) -> None:
    dynamic.start({"a": {"url": upstream.url}})
    dynamic.await_ready("a")
    wrong = {"url": upstream.url, "heartbeat": {"interval": "soon"}, "rate": {"messages": 0}, "colour": "red"}
    for name in ("a", "b"):
        response = dynamic.put(name, wrong)
        assert_problem(response, 400, "invalid-body")
        places = [error.split(":")[0] for error in response.json()["errors"]]
        assert places == ["heartbeat.interval", "rate.messages", "rate", "colour"]
    assert dynamic.names() == ["a"]
    assert dynamic.status("a")["counters"]["opens"] == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "${HOME}"},
        {"url": "ws://h/${file:/etc/hostname}"},
        {"url": "ws://h", "headers": {"X": "${PATH}"}},
        {"url": "ws+unix:/run/docker.sock:/"},
        {"url": {"command": ["touch", "/tmp/made-by-a-client"]}},
        {"url": {"http": {"url": "http://169.254.169.254/"}}},
        {"url": "wss://h", "tls": {"ca": "/etc/hostname"}},
        {"url": "wss://h", "tls": {"certificate": "/etc/hostname", "key": "/etc/hostname"}},
    ],
    ids=str,
)
def test_a_client_may_name_nothing_of_the_machine(dynamic: Dynamic, settings: dict[str, Any]) -> None:
    dynamic.start()
    response = dynamic.put("a", settings)
    assert_problem(response, 400, "invalid-body")
    assert all("only the configuration file may" in error for error in response.json()["errors"])
    # Nor does it learn whether something is there.
    assert "no such file" not in response.body.decode()
    assert dynamic.names() == []


@pytest.mark.parametrize("name", ["a%20b", "..", "%2E", "n" * 65, "a%2Fb", "%C3%A9"])
def test_names_are_checked(dynamic: Dynamic, name: str) -> None:
    dynamic.start()
    slug = "invalid-target" if name in ("..", "%2E") else "invalid-parameter"
    assert_problem(dynamic.put(name, {"url": "ws://127.0.0.1:1"}), 400, slug)
    assert dynamic.names() == []


def test_a_body_must_not_be_too_large(dynamic: Dynamic) -> None:
    dynamic.start(maxBodyBytes=100)
    response = dynamic.put("a", {"url": "ws://127.0.0.1:1", "headers": {"A": "x" * 100}})
    assert_problem(response, 413, "message-too-large")


def test_it_needs_the_scope_and_the_connection(upstream: Upstream, dynamic: Dynamic) -> None:
    tokens = [
        {"name": "reader", "token": "r", "allow": ["read", "send"]},
        {"name": "feeds", "token": "f", "connections": ["feed-*"]},
    ]
    dynamic.start(tokens=tokens)
    settings = {"url": upstream.url}
    assert dynamic.put("feed-1", settings).status == 401
    assert_problem(dynamic.put("feed-1", settings, Authorization="Bearer r"), 403, "forbidden")
    assert_problem(dynamic.put("other", settings, Authorization="Bearer f"), 403, "forbidden")
    assert dynamic.put("feed-1", settings, Authorization="Bearer f").status == 201

    def made() -> list[str]:
        return [
            it["client"] for it in dynamic.bridge.records if it["message"] == "a client made a connection"
        ]

    await_truth(lambda: made() == ["feeds"], "the log says who made it")


def test_pages_of_allowed_origins_may_preflight(dynamic: Dynamic) -> None:
    dynamic.start(allowedOrigins=["https://app.example"])
    fields = {"Origin": "https://app.example", "Access-Control-Request-Method": "PUT"}
    response = dynamic.bridge.request("OPTIONS", "/v1/connections/a", fields=fields)
    assert "PUT" in response.header("Access-Control-Allow-Methods")
    assert "DELETE" in response.header("Access-Control-Allow-Methods")


# The file


def test_a_reload_leaves_what_clients_made_alone(start_upstream, dynamic: Dynamic) -> None:
    upstreams = {name: start_upstream() for name in ("file", "client", "new")}
    file = {"file": {"url": upstreams["file"].url}}
    dynamic.start(file)
    dynamic.put("client", {"url": upstreams["client"].url})
    dynamic.await_ready("client")
    assert dynamic.reload(file)["message"] == "reloaded: nothing has changed"
    record = dynamic.reload({**file, "new": {"url": upstreams["new"].url}})
    assert (record["added"], "removed" in record, "replaced" in record) == ("new", False, False)
    assert dynamic.names() == ["client", "file", "new"]
    assert dynamic.status("client")["counters"]["opens"] == 1


def test_a_reload_makes_what_the_file_names_as_it_says(start_upstream, dynamic: Dynamic) -> None:
    old, new = start_upstream(), start_upstream()
    file = {"a": {"url": old.url}, "b": {"url": old.url}}
    dynamic.start(file)
    dynamic.put("a", {"url": new.url})
    dynamic.delete("b")
    new.peer()
    record = dynamic.reload(file)
    assert (record["added"], record["replaced"]) == ("b", "a")
    assert dynamic.await_ready("a")["url"] == old.url
    # From then on they are the file's.
    assert dynamic.reload({"b": {"url": old.url}})["removed"] == "a"


def test_without_the_setting_the_file_has_all_there_is(start_upstream, dynamic: Dynamic) -> None:
    file, client = start_upstream(), start_upstream()
    connections = {"file": {"url": file.url}}
    dynamic.start(connections)
    dynamic.put("client", {"url": client.url})
    peer = client.peer()
    record = dynamic.reload(connections, dynamicConnections=False)
    assert (record["removed"], record["settings"]) == ("client", "http.dynamicConnections")
    assert peer.left() == (1001, "")
    assert dynamic.put("client", {"url": client.url}).status == 405
    assert dynamic.names() == ["file"]
    assert "removed" not in dynamic.reload(connections)
    assert dynamic.names() == ["file"]


# Much of it


def descriptors(bridge: Bridge) -> int:
    return len(os.listdir(f"/proc/{bridge.pid}/fd"))


def resident(bridge: Bridge) -> int:
    """Return the bytes of memory that the process has."""
    pages = Path(f"/proc/{bridge.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_connections_come_and_go_without_a_trace(start_upstream, dynamic: Dynamic) -> None:
    upstream, kept = start_upstream(), start_upstream()
    # What the first connection brings about, such as watching the network, stays.
    dynamic.start({"kept": {"url": kept.url}})
    settings = json.dumps({"url": upstream.url}).encode()
    with dynamic.bridge.client() as client:

        def await_ready(path: str) -> None:
            await_truth(lambda: client.request("GET", path).json()["ready"], f"{path} is ready")

        await_ready("/v1/connections/kept")
        before = descriptors(dynamic.bridge)
        for number in range(1000):
            # Names that come back, and names that never do.
            path = f"/v1/connections/{'again' if number % 2 else number}"
            assert client.request("PUT", path, settings).status == 201
            if number % 3 == 0:
                await_ready(path)
            assert client.request("DELETE", path).status == 204
        await_truth(lambda: descriptors(dynamic.bridge) == before, "all descriptors are given back")
    assert dynamic.names() == ["kept"]


@pytest.mark.unsanitized("a sanitizer keeps what was freed, to see who still uses it")
def test_what_removed_connections_held_is_given_back(upstream: Upstream, dynamic: Dynamic) -> None:
    dynamic.start()
    size, count = 1 << 20, 400

    def hold(number: int) -> None:
        """Have a connection with a message in its history and one in its outbox, and remove it."""
        name, text = f"n{number}", "x" * size
        dynamic.put(name, {"url": upstream.url})
        upstream.peer(number).send(text)
        await_truth(lambda: dynamic.status(name)["counters"]["received"], "it is there")
        assert dynamic.delete(name).status == 204
        upstream.peer(number).left()

    for number in range(10):
        hold(number)
    before = resident(dynamic.bridge)
    for number in range(10, 10 + count):
        hold(number)
    # Of 400 MiB; the allocator keeps some.
    assert resident(dynamic.bridge) - before < size * count // 4


def test_clients_that_change_connections_at_once_do_no_harm(start_upstream, dynamic: Dynamic) -> None:
    upstreams = [start_upstream() for _ in range(2)]
    dynamic.start()
    wrong: list[object] = []

    def change(seed: int) -> None:
        with dynamic.bridge.client() as client:
            for number in range(60):
                url = upstreams[(seed + number) % 2].url
                body = json.dumps({"url": url}).encode()
                path = f"/v1/connections/c{number % 3}"
                status = (
                    client.request("DELETE", path).status
                    if (seed + number) % 4 == 0
                    else client.request("PUT", path, body).status
                )
                if status not in (200, 201, 204, 404):
                    wrong.append(status)

    threads = [threading.Thread(target=change, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    for name in ("c0", "c1", "c2"):
        assert dynamic.put(name, {"url": upstreams[0].url}).status in (200, 201)
        assert dynamic.await_ready(name)["url"] == upstreams[0].url
