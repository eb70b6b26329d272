"""At most one live socket for each connection, whatever is asked of it, as the upstream counts them."""

from __future__ import annotations

import json
import random
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, CountingUpstream, await_truth

FILE = ("a", "b")
NAMES = (*FILE, "c", "d")


@pytest.fixture
def count(run_bridge: Callable[..., Bridge]) -> Iterator[Callable[[int], CountingUpstream]]:
    """Start counting upstreams; they end before the bridge, which then need not wait for them."""
    upstreams: list[CountingUpstream] = []

    def start(seed: int) -> CountingUpstream:
        upstreams.append(CountingUpstream(seed))
        return upstreams[-1]

    yield start
    for upstream in upstreams:
        upstream.stop()


def test_two_at_once_are_noticed(count: Callable[[int], CountingUpstream]) -> None:
    upstream = count(1)
    address = upstream._listener.getsockname()
    with socket.create_connection(address), socket.create_connection(address):
        await_truth(lambda: upstream.accepted == 2, "both are there")
        assert (upstream.most, upstream.live) == (2, 2)
    await_truth(lambda: upstream.live == 0, "both are gone")


@pytest.mark.parametrize("reset", [False, True])
def test_one_after_the_other_is_one(count: Callable[[int], CountingUpstream], reset: bool) -> None:
    upstream = count(1)
    address = upstream._listener.getsockname()
    for _ in range(300):
        wire = socket.create_connection(address)
        wire.send(b"GET / HTTP/1.1\r\n")
        if reset:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        wire.close()
    await_truth(lambda: upstream.accepted == 300, "all have come")
    assert upstream.most == 1


class Turmoil:
    """Clients that ask for one thing after another at random, while the file is read again now and then."""

    def __init__(self, path: Path, upstreams: dict[str, CountingUpstream]):
        self.path = path
        self.upstreams = upstreams
        self.bridge: Bridge
        self.wrong: list[str] = []

    def settings(self, name: str, dice: random.Random) -> dict[str, Any]:
        return {
            "url": self.upstreams[name].url,
            "proxy": "none",
            "connectTimeout": "150ms",
            "closeTimeout": "50ms",
            "heartbeat": {"interval": dice.choice(["50ms", "1s"])},
            "reconnect": {"initialDelay": "10ms", "maxDelay": "30ms", "resetAfter": "10ms"},
            "outbox": {"maxMessages": dice.choice([10, 100]), "wakes": True},
            "connect": dice.choice(["always", "always", "onDemand", "manual"]),
            "idleTimeout": "20ms",
        }

    def write(self, dice: random.Random) -> None:
        names = [name for name in FILE if dice.random() < 0.8] or ["a"]
        connections = {name: self.settings(name, dice) for name in names}
        # In its place at once: the bridge may be reading.
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"http": {"dynamicConnections": True}, "connections": connections}))
        new.rename(self.path)

    def rage(self, seed: int) -> None:
        dice = random.Random(seed)
        with self.bridge.client() as client:
            for _ in range(250):
                name = dice.choice(NAMES)
                path = f"/v1/connections/{name}"
                verb = dice.choice(
                    [
                        "connect",
                        "reconnect",
                        "pause",
                        "resume",
                        "disconnect",
                        "PUT",
                        "PUT",
                        "DELETE",
                        "messages",
                    ]
                    + ["messages", "messages", "reconnect", "connect"]
                )
                if verb == "PUT":
                    body = json.dumps(self.settings(name, dice)).encode()
                    status = client.request("PUT", path, body).status
                elif verb == "DELETE":
                    status = client.request("DELETE", path).status
                else:
                    status = client.request(
                        "POST", f"{path}/{verb}", b"x" if verb == "messages" else b""
                    ).status
                if status not in (200, 201, 202, 204, 404, 409, 503):
                    self.wrong.append(f"{verb}: {status}")
                if seed == 0 and dice.random() < 0.1:
                    self.write(dice)
                    self.bridge.signal(signal.SIGHUP)


@pytest.mark.parametrize("seed", range(3))
def test_there_is_one_socket_at_a_time_whatever_is_asked(
    run_bridge: Callable[..., Bridge], count: Callable[[int], CountingUpstream], tmp_path: Path, seed: int
) -> None:
    upstreams = {name: count(seed * 10 + number) for number, name in enumerate(NAMES)}
    turmoil = Turmoil(tmp_path / "wsbridge.yaml", upstreams)
    turmoil.write(random.Random(seed))
    flags = ["--config", str(turmoil.path), "--listen", "127.0.0.1:0", "--log-format", "json"]
    bridge = turmoil.bridge = run_bridge("serve", *flags).listening()
    clients = [threading.Thread(target=turmoil.rage, args=(number,)) for number in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert turmoil.wrong == []
    # When it is over each is what was asked for last.
    for upstream in upstreams.values():
        upstream.is_decent = True
    for name in NAMES:
        settings = {**turmoil.settings(name, random.Random(seed)), "connect": "always"}
        body = json.dumps(settings).encode()
        assert bridge.request("PUT", f"/v1/connections/{name}", body).status in (200, 201)
        assert bridge.post(f"/v1/connections/{name}/reconnect").status == 200
        upstreams[name].await_open()
        await_truth(
            lambda name=name: bridge.get(f"/v1/connections/{name}").json()["ready"], f"{name} is ready"
        )
    assert {name: upstream.most for name, upstream in upstreams.items()} == dict.fromkeys(NAMES, 1)
    assert {name: upstream.live for name, upstream in upstreams.items()} == dict.fromkeys(NAMES, 1)
    assert all(upstream.accepted > 10 for upstream in upstreams.values())
