"""SIGHUP: the configuration file is read again, and what stays the same is left alone."""

from __future__ import annotations

import hashlib
import json
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Authority, Bridge, Deadline, Upstream, await_truth


class Reloadable:
    """A bridge with its configuration file."""

    def __init__(self, path: Path, bridge: Bridge):
        self.path = path
        self.bridge = bridge
        self._seen = 0

    def reload(self, configuration: object) -> dict[str, Any]:
        """Write the file, tell the bridge, and return the log record that says what came of it."""
        text = configuration if isinstance(configuration, str) else json.dumps(configuration)
        self.path.write_text(text)
        return self.hang_up()

    def hang_up(self) -> dict[str, Any]:
        self.bridge.signal(signal.SIGHUP)
        self._seen += 1

        def find(text: str) -> dict[str, Any] | None:
            # The last line may not be there as a whole.
            records = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
            outcomes = [record for record in records if "reload" in record["message"]]
            return outcomes[self._seen - 1] if len(outcomes) >= self._seen else None

        return self.bridge.err.until(find, f"the outcome of reload {self._seen}")

    def names(self) -> list[str]:
        return [each["name"] for each in self.bridge.get("/v1/connections").json()["connections"]]


Serve = Callable[..., Reloadable]


@pytest.fixture
def serve(start_upstream, run_bridge, tmp_path: Path) -> Serve:
    """Serve a configuration, on a free port unless it names one, and wait until it listens."""

    def start(configuration: object, *flags: str, **options: Any) -> Reloadable:
        path = tmp_path / "wsbridge.yaml"
        path.write_text(json.dumps(configuration))
        flags = flags or ("--listen", "127.0.0.1:0")
        bridge = run_bridge("serve", "--config", str(path), "--log-format", "json", *flags, **options)
        return Reloadable(path, bridge.listening())

    return start


def test_what_stays_the_same_is_not_touched(start_upstream, serve: Serve) -> None:
    kept, old, new = start_upstream(), start_upstream(), start_upstream()
    served = serve({"connections": {"kept": {"url": kept.url}, "gone": {"url": old.url}}})
    bridge = served.bridge
    keeper, leaver = kept.peer(), old.peer()
    stream = bridge.stream("/v1/connections/kept/events?types=text,status")
    assert stream.next().type == "status"
    record = served.reload({"connections": {"kept": {"url": kept.url}, "new": {"url": new.url}}})
    assert (record["level"], record["message"]) == ("info", "reloaded")
    assert (record["added"], record["removed"]) == ("new", "gone")
    assert "replaced" not in record
    newcomer = new.peer()
    assert leaver.left() == (1001, "")
    assert served.names() == ["kept", "new"]
    # The stream and the connection below it know nothing of all that.
    keeper.send("still here")
    assert stream.until("message")[1].data == "still here"
    assert bridge.get("/v1/connections/kept/status").json()["counters"]["opens"] == 1
    assert bridge.post("/v1/connections/new/messages", b"hello").status == 202
    assert newcomer.received(1) == ["hello"]
    assert bridge.get("/v1/connections/gone/status").status == 404


def test_the_streams_of_a_removed_connection_end(start_upstream, serve: Serve) -> None:
    upstream, other = start_upstream(), start_upstream()
    connections = {"kept": {"url": upstream.url}, "gone": {"url": other.url}}
    served = serve({"connections": connections})
    peer = other.peer()
    stream = served.bridge.stream("/v1/connections/gone/events")
    peer.send("last")
    served.reload({"connections": {"kept": {"url": upstream.url}}})
    assert stream.next().data == "last"
    assert stream.rest() == []
    # What comes back under the same name is new: nothing of the old is left.
    served.reload({"connections": connections})
    again = served.bridge.stream("/v1/connections/gone/events?since=start")
    other.peer(1).send("first")
    assert again.next().data == "first"


def test_who_waits_for_a_removed_connection_is_told(start_upstream, serve: Serve) -> None:
    kept, gone = start_upstream(), start_upstream()
    connections = {"kept": {"url": kept.url}, "gone": {"url": gone.url}}
    served = serve({"connections": connections})
    gone.peer()
    gone.stop()
    path = "/v1/connections/gone"
    await_truth(lambda: not served.bridge.get(f"{path}/status").json()["ready"], "the connection is lost")
    with served.bridge.client() as client:
        client.send_head("POST", f"{path}/messages?wait=1m", {"Content-Length": "1"})
        client.wire.send(b"x")
        await_truth(
            lambda: served.bridge.get(f"{path}/status").json()["outbox"]["messages"], "the message waits"
        )
        served.reload({"connections": {"kept": {"url": kept.url}}})
        assert client.response().status == 404


def test_a_changed_connection_begins_anew_with_its_outbox(start_upstream, serve: Serve) -> None:
    old, new = start_upstream(), start_upstream()
    served = serve({"connections": {"a": {"url": old.url, "outbox": {"maxMessages": 100}}}})
    bridge = served.bridge
    leaver = old.peer()
    bridge.await_ready()
    bridge.send("to the old one")
    leaver.received(1)
    stream = bridge.stream()
    old.stop()
    bridge.await_status(lambda status: not status["ready"], "the connection is lost")
    for number in range(10):
        bridge.send(str(number))
    record = served.reload({"connections": {"a": {"url": new.url}}})
    assert (record["level"], record["replaced"]) == ("info", "a")
    bridge.send("after the reload")
    arrived = new.peer()
    assert arrived.received(11) == [*map(str, range(10)), "after the reload"]
    # The name, the stream and the counts go on.
    arrived.send("from the new one")
    assert stream.next().data == "from the new one"
    status = bridge.await_status(lambda status: status["counters"]["sent"] == 12, "all is sent")
    assert status["url"] == new.url
    assert status["outbox"]["maxMessages"] == 1000


def test_a_connection_that_is_replaced_says_goodbye(start_upstream, serve: Serve) -> None:
    old, new = start_upstream(), start_upstream()
    served = serve({"connections": {"a": {"url": old.url}}})
    leaver = old.peer()
    served.bridge.await_ready()
    stream = served.bridge.stream("/events?types=status")
    served.reload({"connections": {"a": {"url": new.url}}})
    assert leaver.left() == (1001, "")
    new.peer()
    types = []
    for status in stream.statuses():
        types.append(status["type"])
        if status["type"] == "ready":
            break
    assert types == ["snapshot", "closed", "connecting", "open", "ready"]


def test_access_changes_at_once(start_upstream, serve: Serve) -> None:
    upstream = start_upstream()
    connections = {"a": {"url": upstream.url}}
    served = serve({"connections": connections})
    peer = upstream.peer()
    assert served.bridge.get("/status").status == 200
    http = {
        "tokens": [{"name": "ops", "token": "t0ken"}],
        "allowedOrigins": ["https://example.org"],
        "maxBodyBytes": 4,
    }
    record = served.reload({"http": http, "connections": connections})
    assert record["settings"] == "http.tokens, http.allowedOrigins, http.maxBodyBytes"
    assert "t0ken" not in served.bridge.err.text
    assert served.bridge.get("/status").status == 401
    authorized = {"Authorization": "Bearer t0ken"}
    assert served.bridge.get("/status", {**authorized, "Origin": "https://example.org"}).status == 200
    assert served.bridge.post("/messages", b"12345", Authorization="Bearer t0ken").status == 413
    assert served.bridge.post("/messages", b"1234", Authorization="Bearer t0ken").status == 202
    assert peer.received(1) == ["1234"]


def test_the_page_and_its_files_stay(start_upstream, serve: Serve) -> None:
    upstream, other = start_upstream(), start_upstream()
    served = serve({"connections": {"a": {"url": upstream.url}}})
    paths = ["/", "/app.js", "/openapi.yaml", "/healthz"]
    before = {path: served.bridge.get(path).status for path in paths}
    served.reload({"connections": {"a": {"url": upstream.url}, "b": {"url": other.url}}})
    assert before["/"] == 200
    assert {path: served.bridge.get(path).status for path in paths} == before


def test_a_removed_connection_is_not_found_by_those_who_used_it(start_upstream, serve: Serve) -> None:
    kept, gone = start_upstream(), start_upstream()
    served = serve({"connections": {"kept": {"url": kept.url}, "gone": {"url": gone.url}}})
    gone.peer()
    # The same bytes each time, from the same client.
    statuses = [served.bridge.post("/v1/connections/gone/messages", b"x").status for _ in range(2)]
    served.reload({"connections": {"kept": {"url": kept.url}}})
    statuses += [served.bridge.post("/v1/connections/gone/messages", b"x").status for _ in range(2)]
    served.reload({"connections": {"kept": {"url": kept.url}, "gone": {"url": gone.url}}})
    statuses.append(served.bridge.post("/v1/connections/gone/messages", b"x").status)
    assert statuses == [202, 202, 404, 404, 202]


def test_some_settings_wait_for_a_restart(start_upstream, run_bridge, serve: Serve) -> None:
    upstream = start_upstream()
    connections = {"a": {"url": upstream.url}}
    served = serve({"http": {"listen": "127.0.0.1:0"}, "connections": connections}, "--log-level", "info")
    peer = upstream.peer()
    for _ in range(2):
        http = {"listen": "127.0.0.1:1", "retry": "5s"}
        record = served.reload({"http": http, "connections": connections})
        assert record["level"] == "warning"
        assert record["message"] == "reloaded, but some settings need a restart"
        assert record["needsRestart"] == "http.listen"
    assert served.bridge.status()["state"] == "open"
    assert not peer.gone


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        (
            "http: { listn: 1 }\nconnections: { a: { url: 7 } }\n",
            [":1: http.listn: ", ":2: connections.a.url: "],
        ),
        ("connections: { a: { url: wss://h, tls: { ca: wsbridge.yaml } } }", [":1: connections.a.tls.ca: "]),
        (
            "connections: { a: { url: ws://h } }\nhttp: { publicDirectory: nosuch }",
            [":2: http.publicDirectory: "],
        ),
        ("{", [":"]),
        ("", ["no upstream"]),
    ],
)
def test_a_wrong_file_changes_nothing(start_upstream, serve: Serve, text: str, complaints: list[str]) -> None:
    upstream = start_upstream()
    served = serve({"connections": {"a": {"url": upstream.url}}})
    peer = upstream.peer()
    stream = served.bridge.stream()
    record = served.reload(text)
    assert record["level"] == "error"
    assert record["message"] == "not reloaded: the bridge goes on with the configuration that it has"
    errors = [
        each["error"] for each in served.bridge.records if each["message"] == "the configuration is wrong"
    ]
    assert len(errors) == len(complaints)
    for error, complaint in zip(errors, complaints, strict=True):
        assert complaint in error
    peer.send("undisturbed")
    assert stream.next().data == "undisturbed"
    assert served.bridge.status()["counters"]["opens"] == 1


def test_a_file_that_is_gone_changes_nothing(start_upstream, serve: Serve) -> None:
    upstream = start_upstream()
    served = serve({"connections": {"a": {"url": upstream.url}}})
    upstream.peer()
    served.path.unlink()
    assert served.hang_up()["level"] == "error"
    assert served.names() == ["a"]


def test_a_file_that_is_the_same_changes_nothing(start_upstream, serve: Serve) -> None:
    upstream = start_upstream()
    served = serve({"connections": {"a": {"url": upstream.url}}})
    peer = upstream.peer()
    for _ in range(3):
        assert served.hang_up()["message"] == "reloaded: nothing has changed"
    assert not peer.gone
    assert served.bridge.status()["counters"]["opens"] == 1


def test_without_a_file_there_is_nothing_to_reload(upstream: Upstream, bridge: Bridge) -> None:
    bridge.signal(signal.SIGHUP)
    bridge.err.until(lambda text: True if "nothing to reload" in text else None, "the refusal")
    assert bridge.status()["counters"]["opens"] == 1


def test_reloads_in_a_row_end_with_the_last(start_upstream, serve: Serve) -> None:
    upstreams = [start_upstream() for _ in range(4)]
    served = serve({"connections": {"a": {"url": upstreams[0].url}}})
    first = upstreams[0].peer()
    served.bridge.await_ready()
    for upstream in upstreams[1:]:
        served.reload({"connections": {"a": {"url": upstream.url}}})
    assert first.left() == (1001, "")
    served.bridge.await_status(
        lambda status: status["ready"] and status["url"] == upstreams[-1].url, "the last one is ready"
    )
    served.bridge.send("here")
    assert upstreams[-1].peer().received(1) == ["here"]


def connections(*names: str, **upstreams: Upstream) -> dict[str, Any]:
    return {"connections": {name: {"url": upstreams[name].url} for name in names}}


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_open_merged_streams_follow_what_comes_and_goes(start_upstream, serve: Serve, version: str) -> None:
    upstreams = {name: start_upstream() for name in ("a", "b", "other")}
    served = serve(connections("a", **upstreams))
    first = upstreams["a"].peer()
    served.bridge.await_ready()
    query = "types=text,status&since=now&format=ndjson"
    everything = served.bridge.ask_for_stream(f"/v1/events?{query}", version=version)
    some = served.bridge.ask_for_stream(f"/v1/events?{query}&connection=[ab]", version=version)
    assert some.refusal().status == 400
    some = served.bridge.ask_for_stream(f"/v1/events?{query}&connection=?", version=version)
    alone = served.bridge.ask_for_stream(f"/v1/events?{query}&connection=a", version=version)
    seen = [Records(stream) for stream in (everything, some, alone)]
    assert [records.next()["data"]["type"] for records in seen] == ["snapshot"] * 3
    # Two come.
    served.reload(connections("a", "b", "other", **upstreams))
    second, third = upstreams["b"].peer(), upstreams["other"].peer()
    for name in ("b", "other"):
        ready = f"/v1/connections/{name}/events?types=status&since=start"
        served.bridge.stream(ready).until_status("ready")
    first.send("from a")
    assert [records.text() for records in seen[:2]] == ["from a"] * 2
    assert seen[2].text() == "from a"
    second.send("from b")
    assert [records.text() for records in seen[:2]] == ["from b"] * 2
    third.send("from other")
    assert seen[0].text() == "from other"
    # One goes and comes back.
    served.reload(connections("a", "other", **upstreams))
    assert second.left() == (1001, "")
    assert [records.until("closed", "b")["by"] for records in seen[:2]] == ["bridge"] * 2
    served.reload(connections("a", "b", "other", **upstreams))
    upstreams["b"].peer(1).send("from b again")
    assert [records.text() for records in seen[:2]] == ["from b again"] * 2
    first.send("last")
    assert [records.text() for records in seen] == ["last"] * 3
    assert not any(records.gaps for records in seen)


class Records:
    """A stream of the format ndjson, record by record."""

    def __init__(self, stream: Any):
        assert stream.head.status == 200, stream.refusal()
        self.body = stream.body
        self.gaps = 0
        self._rest = b""

    def next(self) -> dict[str, Any]:
        deadline = Deadline("the next record")
        while b"\n" not in self._rest:
            piece = self.body.piece(deadline)
            assert piece, "the stream ended while a record was awaited"
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        record = json.loads(line)
        self.gaps += record["type"] == "gap"
        return record

    def text(self) -> str:
        """Return the next text, passing over what happens to connections."""
        while (record := self.next())["type"] != "text":
            pass
        return record["data"]

    def until(self, type: str, connection: str) -> dict[str, Any]:
        """Return the data of the next such status record; no text may come before it."""
        while True:
            record = self.next()
            assert record["type"] == "status", record
            if record["connection"] == connection and record["data"]["type"] == type:
                return record["data"]


def test_an_open_merged_stream_wakes_what_comes(start_upstream, serve: Serve) -> None:
    upstreams = {name: start_upstream() for name in ("a", "b")}
    served = serve(connections("a", **upstreams))
    stream = served.bridge.stream("/v1/events")
    new = {"url": upstreams["b"].url, "connect": "onDemand", "idleTimeout": "100ms"}
    settings = {"a": {"url": upstreams["a"].url}, "b": new}
    served.reload({"connections": settings})
    upstreams["b"].peer().send("awake")
    assert json.loads(stream.next().data)["data"] == "awake"
    stream.close()
    assert upstreams["b"].peer().left() == (1000, "")


def test_a_merged_stream_goes_on_when_all_its_connections_are_replaced(start_upstream, serve: Serve) -> None:
    upstreams = {name: start_upstream() for name in ("a", "b")}
    served = serve(connections("a", **upstreams))
    upstreams["a"].peer()
    stream = served.bridge.stream("/v1/events")
    named = served.bridge.stream("/v1/events?connection=a")
    served.reload(connections("b", **upstreams))
    upstreams["b"].peer().send("here")
    assert json.loads(stream.next().data)["data"] == "here"
    # Nothing is left that this one could ever show, unless it asks anew.
    assert named.rest() == []


def test_a_merged_reader_that_comes_back_has_missed_nothing(start_upstream, serve: Serve) -> None:
    upstreams = {name: start_upstream() for name in ("a", "b")}
    served = serve(connections("a", **upstreams))
    first = upstreams["a"].peer()
    stream = served.bridge.stream("/v1/events")
    served.reload(connections("a", "b", **upstreams))
    second = upstreams["b"].peer()
    texts, seen = [], []
    for number in range(5):
        for peer in (second, first):
            texts.append(f"{number} of {peer.request.headers['Host']}")
            peer.send(texts[-1])
            seen.append(json.loads(stream.next().data))
        # It leaves, and misses two.
        stream.close()
        for peer in (first, second):
            texts.append(f"missed {number} of {peer.request.headers['Host']}")
            received = total(served)
            peer.send(texts[-1])
            await_truth(lambda received=received: total(served) > received, "it is there")
        stream = served.bridge.stream("/v1/events", {"Last-Event-ID": seen[-1]["id"]})
        seen += [json.loads(stream.next().data) for _ in range(2)]
    assert [record["data"] for record in seen] == texts


def total(served: Reloadable) -> int:
    """Count what all connections have received."""
    every = served.bridge.get("/v1/connections").json()["connections"]
    return sum(each["counters"]["received"] for each in every)


@pytest.mark.parametrize("most", [5, 300])
def test_the_number_of_subscribers_goes_down_and_up_again(start_upstream, serve: Serve, most: int) -> None:
    upstream = start_upstream()
    a = {"a": {"url": upstream.url}}
    served = serve({"http": {"maxSubscribers": 5}, "connections": a})
    for limit in (1, 3, most):
        record = served.reload({"http": {"maxSubscribers": limit}, "connections": a})
        assert (record["message"], record["settings"]) == ("reloaded", "http.maxSubscribers")
        streams = [served.bridge.stream() for _ in range(limit)]
        refused = served.bridge.get("/events")
        assert_problem(refused, 503, "too-many-subscribers")
        assert str(limit) in refused.json()["detail"]
        for stream in streams:
            stream.close()
        await_truth(lambda: served.bridge.status()["subscribers"] == 0, "all are gone")
    record = served.reload({"http": {"maxSubscribers": 1_000_000}, "connections": a})
    assert record["needsRestart"] == "http.maxSubscribers"


def test_a_bridge_on_the_network_is_not_opened_by_a_file_that_would_take_it_off(
    start_upstream, serve: Serve
) -> None:
    upstream = start_upstream()
    connections = {"a": {"url": upstream.url}}
    tokens = [{"name": "ops", "token": "t0ken"}]
    served = serve(
        {"http": {"listen": "0.0.0.0:0", "tokens": tokens}, "connections": connections}, "--log-level=info"
    )
    assert_problem(served.bridge.get("/status"), 401, "unauthorized")
    record = served.reload({"http": {"listen": "127.0.0.1:0"}, "connections": connections})
    assert record["needsRestart"] == "http.listen, http.tokens"
    assert_problem(served.bridge.get("/status"), 401, "unauthorized")
    assert served.bridge.get("/status", {"Authorization": "Bearer t0ken"}).status == 200
    # A file that would leave it there without a token is wrong, and changes nothing.
    record = served.reload({"http": {"listen": "0.0.0.0:0"}, "connections": connections})
    assert "not reloaded" in record["message"]
    assert_problem(served.bridge.get("/status"), 401, "unauthorized")


def test_the_page_is_there_after_a_reload(start_upstream, serve: Serve) -> None:
    upstream = start_upstream()
    served = serve({"connections": {"a": {"url": upstream.url}}})
    for path in ("/", "/openapi.yaml"):
        assert served.bridge.get(path).status == 200
    served.reload({"http": {"retry": "5s"}, "connections": {"a": {"url": upstream.url}}})
    for path in ("/", "/openapi.yaml"):
        assert served.bridge.get(path).status == 200


# Certificates


def tls(url: str) -> dict[str, Any]:
    settings = {"ca": "ca.pem", "certificate": "ours.pem", "key": "ours.key", "serverName": "localhost"}
    return {"connections": {"a": {"url": url, "tls": settings}}}


@pytest.fixture
def renew(authority: Authority, tmp_path: Path) -> Callable[[], str]:
    """Write the files of TLS, with a new certificate of ours each time; gives its fingerprint."""

    def write() -> str:
        certificate, key = authority.issue("DNS:client.example")
        for source, name in [(authority.certificate, "ca.pem"), (certificate, "ours.pem"), (key, "ours.key")]:
            # In its place at once, as tools that renew certificates do.
            (tmp_path / "new").write_bytes(source.read_bytes())
            (tmp_path / "new").rename(tmp_path / name)
        pem = ssl.PEM_cert_to_DER_cert(certificate.read_text())
        return hashlib.sha256(pem).hexdigest()

    return write


def test_changed_certificates_are_used_by_the_next_dial_and_disturb_nothing(
    start_upstream, serve: Serve, authority: Authority, renew
) -> None:
    upstream = start_upstream(tls=authority.server_context("DNS:localhost", demands_certificate=True))
    first = renew()
    served = serve(tls(upstream.url))
    assert upstream.peer(0).fingerprint == first
    second = renew()
    record = served.hang_up()
    assert (record["message"], record["certificates"]) == ("reloaded", "a")
    assert "replaced" not in record
    upstream.peer(0).send("undisturbed")
    assert served.bridge.await_ready()["counters"]["opens"] == 1
    served.bridge.post("/reconnect")
    assert upstream.peer(1).fingerprint == second
    assert served.hang_up()["message"] == "reloaded: nothing has changed"


def test_changed_certificates_that_are_wrong_are_reported_and_the_old_ones_stay(
    start_upstream, serve: Serve, authority: Authority, renew, tmp_path: Path
) -> None:
    upstream = start_upstream(tls=authority.server_context("DNS:localhost", demands_certificate=True))
    first = renew()
    served = serve(tls(upstream.url))
    upstream.peer(0)
    (tmp_path / "ours.key").write_text("no key")
    assert served.hang_up()["message"].startswith("not reloaded")
    errors = [each["error"] for each in served.bridge.records if "error" in each]
    assert any("tls.key: no key for" in error for error in errors)
    upstream.peer(0).drop()
    assert upstream.peer(1).fingerprint == first
    warnings = [each for each in served.bridge.records if "changed files of TLS" in each["message"]]
    assert len(warnings) == 1
    third = renew()
    upstream.peer(1).drop()
    assert upstream.peer(2).fingerprint == third
