"""Clients that take without end: slow ones, silent ones, too many. Whoever else asks is answered."""

from __future__ import annotations

import json
import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from assertions import assert_problem
from description import operations
from harness import Bridge, Client, Deadline, Upstream, await_truth
from harness.http1 import chunks
from harness.metrics import scrape
from harness.wire import Wire

#: What a client that never comes to an end has said so far, and what it goes on with, byte by byte.
DRIPS: dict[str, tuple[bytes, bytes]] = {
    "nothing": (b"", b""),
    "a request line": (b"GET /sta", b"x"),
    "a header": (b"GET /status HTTP/1.1\r\nHost: localhost\r\nX-Drip: ", b"x"),
    "header lines": (b"GET /status HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n"),
    "a body": (b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", b"x"),
    "chunks": (
        b"POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n",
    ),
    "one long chunk": (
        b"POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n",
        b"x",
    ),
    "a refused body": (b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", b"x"),
}


class Slow:
    """Many clients that drip."""

    def __init__(self, bridge: Bridge, count: int):
        self._kinds = list(DRIPS.values())
        self._open: dict[socket.socket, bytes] = {}
        self._address = bridge.address
        for number in range(count):
            said, drip = self._kinds[number % len(self._kinds)]
            client = socket.create_connection(bridge.address)
            client.setblocking(False)
            self._open[client] = drip
            self._say(client, said)

    @property
    def left(self) -> int:
        return len(self._open)

    def drip(self) -> None:
        """Every client says one bit more; those that were cut off are forgotten."""
        for client, drip in list(self._open.items()):
            if drip:
                self._say(client, drip)
        self.forget_closed()

    def forget_closed(self) -> None:
        with selectors.DefaultSelector() as selector:
            for client in self._open:
                selector.register(client, selectors.EVENT_READ)
            for key, _ in selector.select(0):
                client = key.fileobj
                try:
                    if client.recv(4096):
                        continue
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                self._forget(client)

    def _say(self, client: socket.socket, what: bytes) -> None:
        try:
            client.send(what)
        except BlockingIOError:
            pass
        except OSError:
            self._forget(client)

    def _forget(self, client: socket.socket) -> None:
        self._open.pop(client, None)
        client.close()

    def close(self) -> None:
        for client in list(self._open):
            self._forget(client)


@contextmanager
def slow_clients(bridge: Bridge, count: int) -> Iterator[Slow]:
    slow = Slow(bridge, count)
    try:
        yield slow
    finally:
        slow.close()


def use_everything(bridge: Bridge, upstream: Upstream, number: int) -> None:
    """Do what the control plane is for, each on a connection of its own."""
    assert bridge.get("/healthz").status == 200
    assert bridge.get("/readyz").status == 200
    assert bridge.get("/status").json()["ready"]
    assert bridge.request("POST", "/messages?wait=30s", f"message {number}".encode()).status == 200
    assert upstream.peer().received(number + 1)[number] == f"message {number}"
    with bridge.stream("/events?types=status&since=start&limit=2") as stream:
        assert len(stream.rest()) == 3
    assert bridge.request("POST", "/connect", b"").status == 200


def is_served(bridge: Bridge) -> bool:
    """Whether somebody who comes now is."""
    try:
        return bridge.get("/status").status == 200
    except OSError:
        return False


def is_closed(client: Client) -> bool:
    """Whether the bridge has ended the connection."""
    with selectors.DefaultSelector() as selector:
        selector.register(client.wire.socket, selectors.EVENT_READ)
        return bool(selector.select(0))


# Slow clients


def test_two_thousand_half_open_requests_stall_nobody(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url)
    bridge.await_ready()
    with bridge.client() as kept, slow_clients(bridge, 2000) as slow:
        for number in range(10):
            slow.drip()
            assert kept.request("GET", "/status").status == 200
            use_everything(bridge, upstream, number)
        assert slow.left == 2000


def test_half_open_requests_end_when_their_time_is_over_however_they_drip(
    upstream: Upstream, serve_file
) -> None:
    bridge = serve_file(
        f"http: {{ requestTimeout: 1s }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    with slow_clients(bridge, 400) as slow:
        number = 0
        deadline = Deadline("every slow client is cut off")
        while slow.left:
            slow.drip()
            use_everything(bridge, upstream, number)
            number += 1
            deadline.left()


#: What those who have said at least a request line are told.
TOLD = {
    kind: 404 if kind == "a refused body" else 408
    for kind in DRIPS
    if kind not in ("nothing", "a request line")
}


@pytest.mark.parametrize("kind", [kind for kind in DRIPS if kind != "nothing"])
def test_a_request_that_is_not_there_in_time_is_answered_408(
    upstream: Upstream, serve_file, kind: str
) -> None:
    bridge = serve_file(
        f"http: {{ requestTimeout: 200ms }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    with Client(bridge.address) as client, Client(bridge.address) as quick:
        client.wire.send(DRIPS[kind][0])
        if status := TOLD.get(kind):
            response = client.response()
            assert_problem(response, status, {404: "not-found", 408: "request-timeout"}[status])
            assert response.header("Connection") == "close"
        # And nothing of what was asked for.
        assert client.rest() == b""
        # Whoever goes on reads it all the same: nothing is reset at once.
        if kind in TOLD:
            client.wire.send(DRIPS[kind][1])
        # A connection that is kept for the next request may rest for longer.
        assert quick.wire.socket.fileno() >= 0
    bridge.send("next")
    assert upstream.peer().received(1) == ["next"]


def test_who_was_told_that_it_is_late_is_closed_however_it_goes_on(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        f"http: {{ requestTimeout: 200ms }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    with ExitStack() as stack:
        late: dict[Client, bytes] = {}
        for said, drip in (DRIPS[kind] for kind in TOLD):
            client = stack.enter_context(Client(bridge.address))
            client.wire.send(said)
            late[client] = drip
        for client in late:
            assert client.response().status in (404, 408)
        deadline = Deadline("all connections are closed")
        while late:
            for client, drip in list(late.items()):
                try:
                    client.wire.send(drip)
                except (BrokenPipeError, ConnectionResetError):
                    del late[client]
            deadline.left()
            # Not to be on the way of those that are to close them.
            assert bridge.get("/healthz").status == 200


# Many bodies at once


def arriving(bridge: Bridge) -> float:
    """The bytes of bodies that are not whole yet."""
    return scrape(bridge).value("wsbridge_memory_used_bytes", holder="bodies")


def test_bodies_that_arrive_have_a_bound_together(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        "memory: { maxBytes: 16MiB }\nhttp: { maxBodyBytes: 1MiB }\n"
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    most = 1 << 20
    with ExitStack() as stack:
        # An eighth is 2 MiB: two have almost all of it.
        halves = [stack.enter_context(Client(bridge.address)) for _ in range(2)]
        for client in halves:
            client.send_head("POST", "/messages", {"Content-Length": str(most)})
            client.wire.send(b"x" * (most - 10_000))
        await_truth(lambda: arriving(bridge) > 2 * (most - 20_000), "they have arrived so far")
        for framing in ({"Content-Length": "500000"}, {"Transfer-Encoding": "chunked"}):
            with Client(bridge.address) as client:
                client.send_head("POST", "/messages", {"Origin": bridge.base, **framing})
                body = b"x" * 500_000
                client.wire.send(chunks(body) if "Transfer-Encoding" in framing else body)
                refusal = client.response("POST")
                assert_problem(refusal, 503, "too-many-bodies")
                assert refusal.header("Retry-After")
                # What was refused was read, and the next one is served.
                assert client.request("GET", "/healthz").status == 200
        # A small message takes nobody's room.
        assert bridge.post("/messages", b"x" * 4096).status == 202
        halves.pop().wire.close()
        await_truth(lambda: bridge.post("/messages", b"x" * 500_000).status == 202, "there is room again")
        halves.pop().wire.send(b"x" * 10_000)
    await_truth(lambda: len(upstream.peer().received(3)) == 3, "what was whole is sent")


def test_one_body_alone_may_be_larger_than_the_bound(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        "memory: { maxBytes: 16MiB }\nhttp: { maxBodyBytes: 4MiB }\n"
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    for _ in range(3):
        assert bridge.request("POST", "/messages?wait=30s", b"x" * (3 << 20)).status == 200


# Too many connections


@pytest.fixture
def narrow(upstream: Upstream, start_bridge: Callable[..., Bridge]) -> tuple[Bridge, int]:
    """A bridge with few descriptors, and how many clients it has room for."""
    bridge = start_bridge(upstream.url, wrapper=["prlimit", "--nofile=200:200"])
    bridge.await_ready()
    record = next(record for record in bridge.records if "descriptors" in record["message"])
    return bridge, record["connections"]


def test_who_says_nothing_gives_way_to_who_does(upstream: Upstream, narrow: tuple[Bridge, int]) -> None:
    bridge, limit = narrow
    with slow_clients(bridge, 2000) as slow:
        # Who has just come has a moment to say what it wants, and is spared until then.
        await_truth(lambda: is_served(bridge), "the slow ones give way")
        for number in range(20):
            slow.drip()
            use_everything(bridge, upstream, number)
    assert bridge.get("/status").status == 200


def test_connections_between_two_requests_give_way_the_longest_idle_first(
    upstream: Upstream, narrow: tuple[Bridge, int]
) -> None:
    bridge, limit = narrow
    with ExitStack() as stack:
        idle: list[Client] = []
        for _ in range(limit):
            client = stack.enter_context(Client(bridge.address))
            assert client.request("GET", "/healthz").status == 200
            idle.append(client)
        await_truth(lambda: is_served(bridge), "an idle one gives way")
        # The first that is left has been of use just now, and the next one has not.
        first = next(index for index, client in enumerate(idle) if not is_closed(client))
        assert idle[first].request("GET", "/healthz").status == 200
        for _ in range(5):
            client = stack.enter_context(Client(bridge.address))
            assert client.request("GET", "/status").status == 200
        assert idle[first + 1].rest() == b""
        assert idle[first].request("GET", "/healthz").status == 200
        assert idle[-1].request("GET", "/healthz").status == 200


def test_who_is_served_keeps_its_connection(upstream: Upstream, narrow: tuple[Bridge, int]) -> None:
    bridge, limit = narrow
    with ExitStack() as stack:
        streams = [stack.enter_context(bridge.stream()) for _ in range(limit // 2)]
        polls = [stack.enter_context(Client(bridge.address)) for _ in range(limit // 4)]
        for poll in polls:
            poll.send_head("GET", "/messages?since=now&wait=5m")
        with slow_clients(bridge, 1000) as slow:
            await_truth(lambda: is_served(bridge), "the slow ones give way")
            for number in range(3):
                slow.drip()
                use_everything(bridge, upstream, number)
        upstream.peer().send("for all who wait")
        assert all(stream.next().data == "for all who wait" for stream in streams)
        assert all(poll.response().json()["messages"] for poll in polls)


def test_one_address_may_be_held_to_fewer_connections(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        f"http: {{ maxConnectionsPerClient: 20 }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    clients = [bridge.client() for _ in range(20)]
    for client in clients:
        assert client.request("GET", "/healthz").status == 200
    for _ in range(100):
        with pytest.raises(ConnectionError), bridge.client() as another:
            another.request("GET", "/healthz")
    # Other addresses are not affected, such as another one of loopback.
    wire = Wire.__new__(Wire)
    wire.socket, wire._buffer = (
        socket.create_connection(bridge.address, source_address=("127.0.0.2", 0)),
        bytearray(),
    )
    wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert wire.take_all(Deadline("the answer")).startswith(b"HTTP/1.1 200")
    wire.close()
    clients.pop().wire.close()
    await_truth(lambda: is_served(bridge), "there is room for another one")


# Too many subscribers


def pipelined(bridge: Bridge, request: bytes, count: int, status: bytes) -> None:
    """Send so many requests at once on one connection; all must get this status."""
    with bridge.client() as client:
        client.wire.send(request * count)
        deadline = Deadline("the answers")
        answers = b""
        while answers.count(b"HTTP/1.1 ") < count or not answers.endswith(b"}\n"):
            piece = client.wire.take(1 << 20, deadline)
            assert piece, "closed before all were answered"
            answers += piece
        assert answers.count(b"HTTP/1.1 " + status) == count
        assert answers.count(b"Retry-After: ") == count


@pytest.mark.usefixtures("stream_mode")
def test_a_flood_of_subscribers_takes_no_more_than_there_may_be(upstream: Upstream, serve_file) -> None:
    bridge = serve_file(
        f"http: {{ maxSubscribers: 100 }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    with ExitStack() as stack:
        streams = [stack.enter_context(bridge.stream()) for _ in range(99)]
        local = b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = stack.enter_context(bridge.stream())
        for number in range(40):
            target = (b"/events", b"/v1/events", b"/messages?since=now&wait=1m", b"/events?format=json")[
                number % 4
            ]
            pipelined(bridge, b"GET " + target + local, 250, b"503")
            assert bridge.get("/healthz").status == 200
            assert bridge.status()["subscribers"] == 100
        assert_problem(bridge.ask_for_stream().refusal(), 503, "too-many-subscribers")
        for number in range(500):
            # A browser, which would not come back after a 503.
            refused = bridge.ask_for_stream(fields={"Accept": "text/event-stream"})
            (event,) = refused.opened().rest()
            assert event.type == "refused"
            assert json.loads(event.data)["type"] == "urn:wsbridge:problem:too-many-subscribers"
            assert refused.parser.retry == 30_000
            refused.close()
            if number % 50 == 0:
                assert bridge.post("/messages", b"x").status == 202
        upstream.peer().send("for those who are there")
        for stream in (*streams, last):
            assert stream.next().data == "for those who are there"
        last.close()
        bridge.await_status(lambda status: status["subscribers"] == 99, "there is room for one")
        stack.enter_context(bridge.stream())


# Too large


def test_a_body_over_the_limit_is_refused_before_it_is_read_on_every_route(
    upstream: Upstream, serve_file
) -> None:
    bridge = serve_file(
        "http: { maxBodyBytes: 1KiB, dynamicConnections: true }\n"
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    for method, target, _ in operations():
        if method not in ("POST", "PUT"):
            continue
        with bridge.client() as client:
            client.send_head(method, target, {"Content-Length": "1025", "Expect": "100-continue"})
            refusal = client.response(method)
            assert_problem(refusal, 413, "message-too-large")
            assert client.rest() == b"", (method, target)
        with bridge.client() as client:
            # Nothing of it was sent: the answer does not wait for it.
            client.send_head(method, target, {"Content-Length": str(1 << 40)})
            assert client.response(method).status == 413, (method, target)


def test_the_body_of_a_refused_request_is_read_only_so_far(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url)
    chunk = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    with bridge.client() as client:
        client.send_head("POST", "/nothing", {"Transfer-Encoding": "chunked"})
        client.wire.send(chunk * 4 + b"0\r\n\r\n")
        assert_problem(client.response("POST"), 404, "not-found")
        # Nothing of it was taken for the next request.
        assert client.request("GET", "/healthz").status == 200
        client.send_head("POST", "/nothing", {"Transfer-Encoding": "chunked"})
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            deadline = Deadline("the connection is closed")
            while True:
                client.wire.send(chunk)
                deadline.left()
    assert bridge.get("/healthz").status == 200


def test_a_body_that_grows_over_the_limit_is_thrown_away_and_then_cut_off(
    upstream: Upstream, serve_file
) -> None:
    bridge = serve_file(
        f"http: {{ maxBodyBytes: 64KiB }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}"
    )
    bridge.await_ready()
    head = {"Transfer-Encoding": "chunked"}
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    with bridge.client() as client:
        client.send_head("POST", "/messages", head)
        client.wire.send(chunk * 17 + b"0\r\n\r\n")
        assert_problem(client.response("POST"), 413, "message-too-large")
    with bridge.client() as client:
        client.send_head("POST", "/messages", head)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            deadline = Deadline("the connection is closed")
            while True:
                client.wire.send(chunk)
                deadline.left()
    bridge.send("next")
    assert upstream.peer().received(1) == ["next"]
