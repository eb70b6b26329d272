"""With a data directory: what was accepted outlives the process, however that ends."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, RawUpstream, Upstream, await_truth
from harness.raw_upstream import frame

Durable = Callable[..., Bridge]
End = Callable[[Bridge], None]
TEXT, PING, PONG = 1, 9, 10


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(start_bridge: Callable[..., Bridge], data: Path) -> Durable:
    """Start a bridge to an upstream, with its store in `data`."""

    def start(upstream: Upstream, *arguments: str, **options: Any) -> Bridge:
        return start_bridge(upstream.url, "--data-dir", str(data), *arguments, **options)

    return start


@pytest.fixture
def configured(run_bridge: Callable[..., Bridge], tmp_path: Path, data: Path) -> Callable[..., Bridge]:
    """Start a bridge with these connections, and further sections, with its store in `data`."""

    def start(connections: dict[str, Any], **sections: Any) -> Bridge:
        path = tmp_path / "wsbridge.yaml"
        configuration = {"connections": connections, "storage": {"directory": data.name}, **sections}
        path.write_text(json.dumps(configuration))
        flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        return run_bridge("serve", *flags).listening()

    return start


def kill(bridge: Bridge) -> None:
    bridge.signal(signal.SIGKILL)
    assert bridge.exit_code() == -signal.SIGKILL


def settle(bridge: Bridge) -> None:
    """Have everything stored that has happened so far."""
    assert bridge.request("DELETE", "/outbox").json() == {"dropped": 0}


@pytest.fixture(params=[Bridge.stop, kill], ids=["stopped", "killed"])
def end(request: pytest.FixtureRequest) -> End:
    return request.param


# Messages


def test_what_was_accepted_is_sent_after_a_restart_in_order(
    away: Upstream, durable: Durable, end: End
) -> None:
    first = durable(away)
    ids = [first.send(f"message {number}").json()["id"] for number in range(20)]
    binary = first.post("/messages", b"\0\1\xff", "application/octet-stream")
    lines = first.post("/messages", b"one\ntwo\n", "application/x-ndjson")
    assert (binary.status, lines.status) == (202, 202)
    before = first.get("/outbox").json()["messages"]
    end(first)
    second = durable(away)
    assert second.get("/outbox").json()["messages"] == before
    assert [each["id"] for each in before[:20]] == ids
    away.come_back()
    second.post("/connect")
    expected = [*(f"message {number}" for number in range(20)), b"\0\1\xff", "one", "two"]
    assert away.peer().received(23) == expected
    second.await_status(lambda status: status["outbox"]["messages"] == 0, "all is sent")
    assert second.get(f"/outbox/{ids[7]}").json()["state"] == "sent"


def test_what_was_sent_is_not_sent_again_and_is_known(upstream: Upstream, durable: Durable, end: End) -> None:
    first = durable(upstream)
    sent = first.post("/messages?wait=10s", b"once").json()
    assert sent["state"] == "sent"
    known = first.get(f"/outbox/{sent['id']}").json()
    settle(first)
    end(first)
    second = durable(upstream)
    second.await_ready()
    assert second.get(f"/outbox/{sent['id']}").json() == known
    after = second.post("/messages?wait=10s", b"after")
    assert (after.status, after.json()["id"] > sent["id"]) == (200, True)
    assert upstream.peer(1).received(1) == ["after"]


def test_that_a_message_was_sent_is_stored_by_itself(
    upstream: Upstream, durable: Durable, data: Path
) -> None:
    """It waits for what is stored next, but not for long: nothing else comes here."""
    sent = durable(upstream).post("/messages?wait=10s", b"once").json()
    assert sent["state"] == "sent"

    def outcomes() -> list[tuple[int]]:
        with contextlib.closing(sqlite3.connect(data / "wsbridge.db")) as database:
            return database.execute("SELECT state FROM outcomes").fetchall()

    await_truth(lambda: outcomes() == [(1,)], "its end is on disk")


def test_what_was_dropped_stays_dropped(away: Upstream, durable: Durable, end: End) -> None:
    first = durable(away)
    ids = [first.send(text).json()["id"] for text in ("keep", "drop", "keep too")]
    assert first.request("DELETE", f"/outbox/{ids[1]}").json() == {"dropped": 1}
    end(first)
    second = durable(away)
    assert second.get(f"/outbox/{ids[1]}").json()["state"] == "dropped"
    assert [each["id"] for each in second.get("/outbox").json()["messages"]] == [ids[0], ids[2]]
    assert second.request("DELETE", "/outbox").json() == {"dropped": 2}
    end(second)
    third = durable(away)
    assert third.get("/outbox").json() == {"messages": []}


def test_messages_expire_while_no_process_is_there(away: Upstream, configured: Callable[..., Bridge]) -> None:
    connections = {"default": {"url": away.url, "outbox": {"maxAge": "100ms"}}}
    patient = {"default": {"url": away.url}}
    first = configured(patient)
    identifier = first.send("too late").json()["id"]
    kill(first)
    second = configured(connections)
    await_truth(
        lambda: second.get(f"/outbox/{identifier}").json()["state"] == "expired", "the message expires"
    )
    assert second.get("/outbox").json() == {"messages": []}


def test_a_message_without_a_proof_is_sent_again_and_a_proven_one_is_not(
    raw_upstream: RawUpstream, configured: Callable[..., Bridge]
) -> None:
    connection = {"url": raw_upstream.url, "heartbeat": {"interval": 0}, "outbox": {"confirm": "pong"}}
    first = configured({"default": connection})
    peer = raw_upstream.accept()
    peer.accept_handshake()
    first.await_ready()
    proven = first.send("proven").json()["id"]
    assert peer.frame() == (TEXT, b"proven")
    opcode, payload = peer.frame()
    assert opcode == PING
    peer.send(frame(PONG, payload))
    await_truth(lambda: first.get(f"/outbox/{proven}").json()["state"] == "sent", "the proof is there")
    first.send("in flight")
    assert peer.frame() == (TEXT, b"in flight")
    settle(first)
    kill(first)
    second = configured({"default": connection})
    peer = raw_upstream.accept()
    peer.accept_handshake()
    second.await_ready()
    assert peer.frame() == (TEXT, b"in flight")


def test_many_clients_share_what_is_stored_and_nothing_is_lost(
    away: Upstream, durable: Durable, end: End
) -> None:
    first = durable(away)

    def post(worker: int) -> list[str]:
        client = first.client()
        accepted = []
        for number in range(20):
            text = f"{worker} {number}"
            assert client.request("POST", "/messages", text.encode()).status == 202
            accepted.append(text)
        return accepted

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(post, range(8)))
    end(first)
    durable(away)
    away.come_back()
    received = away.peer().received(160)
    assert sorted(received) == sorted(text for texts in accepted for text in texts)
    for texts in accepted:
        assert [text for text in received if text in texts] == texts


# Idempotency keys


def test_a_repeat_after_a_restart_gets_the_first_answer_and_sends_nothing(
    away: Upstream, durable: Durable, end: End
) -> None:
    first = durable(away)
    answer = first.post("/messages", b"once", Idempotency_Key="k")
    assert answer.status == 202
    end(first)
    second = durable(away)
    repeat = second.post("/messages", b"once", Idempotency_Key="k")
    assert (repeat.status, repeat.json()) == (202, answer.json())
    assert repeat.header("Idempotency-Replayed") == "true"
    assert_problem(second.post("/messages", b"other", Idempotency_Key="k"), 422, "idempotency-mismatch")
    assert len(second.get("/outbox").json()["messages"]) == 1


def test_a_first_answer_that_told_of_sending_is_repeated(
    upstream: Upstream, durable: Durable, end: End
) -> None:
    first = durable(upstream)
    answer = first.post("/messages?wait=10s", b"once", Idempotency_Key="k")
    assert answer.status == 200
    settle(first)
    end(first)
    second = durable(upstream)
    second.await_ready()
    repeat = second.post("/messages?wait=10s", b"once", Idempotency_Key="k")
    assert (repeat.status, repeat.json()) == (200, answer.json())
    assert repeat.header("Idempotency-Replayed") == "true"


# Those who wait


def test_who_waits_for_sending_is_told_at_the_end_that_it_will_be(away: Upstream, durable: Durable) -> None:
    first = durable(away)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(first.post, "/messages?wait=30s", b"later")
        first.await_status(lambda status: status["outbox"]["messages"] == 1, "the message waits")
        settled = first.request("DELETE", "/outbox/000000000000-m1.1")
        assert settled.status == 404
        first.stop()
        answer = waiting.result()
    assert (answer.status, answer.json()["state"]) == (202, "queued")
    durable(away)
    away.come_back()
    assert away.peer().received(1) == ["later"]


def test_a_client_that_closes_its_sending_side_gets_its_answer(upstream: Upstream, durable: Durable) -> None:
    bridge = durable(upstream)
    bridge.await_ready()
    client = bridge.client()
    client.wire.send(b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi")
    client.wire.half_close()
    assert client.response().status == 202
    assert upstream.peer().received(1) == ["hi"]


# Connections


def unclaimed(bridge: Bridge) -> dict[str, int]:
    """Return how many messages there are of each connection that is kept without being configured."""
    return {
        record["connection"]: record["messages"]
        for record in bridge.records
        if "not configured" in record["message"]
    }


def test_what_a_connection_has_is_kept_while_it_is_not_configured(
    away: Upstream, configured: Callable[..., Bridge]
) -> None:
    connection = {"url": away.url}
    first = configured({"orders": connection, "trades": connection})
    for text in (b"one", b"two"):
        assert first.post("/v1/connections/orders/messages", text).status == 202
    first.stop()
    second = configured({"trades": connection})
    assert unclaimed(second) == {"orders": 2}
    second.stop()
    third = configured({"orders": connection, "trades": connection})
    assert unclaimed(third) == {}
    away.come_back()
    third.post("/v1/connections/orders/connect")
    await_truth(lambda: any(peer.messages == ["one", "two"] for peer in away.peers), "both arrive in order")


def test_what_a_removed_connection_had_is_gone(
    away: Upstream, configured: Callable[..., Bridge], end: End
) -> None:
    http = {"dynamicConnections": True}
    connection = {"url": away.url}
    first = configured({"orders": connection}, http=http)
    assert first.post("/v1/connections/orders/messages", b"one").status == 202
    assert first.request("DELETE", "/v1/connections/orders").status == 204
    end(first)
    second = configured({"orders": connection}, http=http)
    assert unclaimed(second) == {}
    assert second.get("/v1/connections/orders/outbox").json() == {"messages": []}


def test_a_reload_that_drops_a_connection_is_a_wish_to_be_rid_of_it(
    away: Upstream, configured: Callable[..., Bridge], tmp_path: Path
) -> None:
    bridge = configured({"orders": {"url": away.url}, "trades": {"url": away.url}})
    assert bridge.post("/v1/connections/orders/messages", b"one").status == 202
    path = tmp_path / "wsbridge.yaml"
    configuration = json.loads(path.read_text())
    del configuration["connections"]["orders"]
    path.write_text(json.dumps(configuration))
    bridge.signal(signal.SIGHUP)
    bridge.err.until(lambda text: "reloaded" in text or None, "the reload")
    settle_trades = bridge.request("DELETE", "/outbox")
    assert settle_trades.json() == {"dropped": 0}
    kill(bridge)
    again = configured({"orders": {"url": away.url}, "trades": {"url": away.url}})
    assert again.get("/v1/connections/orders/outbox").json() == {"messages": []}


def test_a_connection_that_a_client_made_goes_on_when_it_is_made_again(
    away: Upstream, configured: Callable[..., Bridge], end: End
) -> None:
    sections = {"http": {"dynamicConnections": True}}
    settings = json.dumps({"url": away.url}).encode()
    first = configured({}, **sections)
    assert first.request("PUT", "/v1/connections/job", settings).status == 201
    accepted = first.post("/v1/connections/job/messages", b"work").json()["id"]
    end(first)
    second = configured({}, **sections)
    assert unclaimed(second) == {"job": 1}
    assert second.get("/v1/connections/job/outbox").status == 404
    assert second.request("PUT", "/v1/connections/job", settings).status == 201
    assert [each["id"] for each in second.get("/v1/connections/job/outbox").json()["messages"]] == [accepted]


def test_no_id_of_a_message_is_given_twice(
    away: Upstream, configured: Callable[..., Bridge], end: End
) -> None:
    sections = {"http": {"dynamicConnections": True}}
    settings = json.dumps({"url": away.url}).encode()
    given: list[str] = []
    for _ in range(3):
        bridge = configured({}, **sections)
        for _ in range(2):
            assert bridge.request("PUT", "/v1/connections/job", settings).status == 201
            assert {bridge.get(f"/v1/connections/job/outbox/{old}").status for old in given} <= {404}
            given.append(bridge.post("/v1/connections/job/messages", b"work").json()["id"])
            assert bridge.get(f"/v1/connections/job/outbox/{given[-1]}").status == 200
            assert bridge.request("DELETE", "/v1/connections/job").status == 204
        end(bridge)
    assert len(set(given)) == len(given)


# The setting


def test_another_directory_needs_a_restart(
    away: Upstream, configured: Callable[..., Bridge], tmp_path: Path
) -> None:
    bridge = configured({"default": {"url": away.url}})
    path = tmp_path / "wsbridge.yaml"
    configuration = json.loads(path.read_text())
    configuration["storage"]["directory"] = "elsewhere"
    path.write_text(json.dumps(configuration))
    bridge.signal(signal.SIGHUP)
    bridge.err.until(lambda text: "some settings need a restart" in text or None, "the reload")
    [record] = [record for record in bridge.records if "restart" in record["message"]]
    assert record["needsRestart"] == "storage.directory"
    database = f"{tmp_path}/data/wsbridge.db"
    assert bridge.status()["storage"] == {"path": database, "error": None, "damage": None}
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_directory_nothing_is_written(lonely: Bridge, tmp_path: Path) -> None:
    lonely.send("hello")
    assert lonely.status()["storage"] is None
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_for_its_owner_alone(away: Upstream, durable: Durable, data: Path) -> None:
    durable(away).send("secret")
    assert data.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()} == {
        "wsbridge.db": 0o600,
        "wsbridge.db-wal": 0o600,
        "wsbridge.db-shm": 0o600,
        "wsbridge.lock": 0o600,
    }
