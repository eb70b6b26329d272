"""SIGTERM and SIGINT while everybody is at work: nothing accepted is lost, and everybody is told."""

from __future__ import annotations

import itertools
import json
import random
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Posters, RawUpstream, Readers, Taker, Upstream
from harness.raw_upstream import frame

POSTERS = 50
#: Of each kind.
STREAMS = 60
STREAM_KINDS = [
    ("/events?types=text,status&since=start", "1.1"),
    ("/events?format=json", "1.1"),
    ("/v1/events?types=text,status", "1.1"),
    ("/events", "1.0"),
]
#: More than any test waits for: what bounds a stop is the shutdown timeout alone.
ENDLESS = "10m"

Serve = Callable[..., Bridge]


@pytest.fixture
def serve(run_bridge: Callable[..., Bridge], tmp_path: Path) -> Serve:
    """Serve a configuration, on a free port, and wait until it listens; `wait` says otherwise."""

    def start(configuration: dict[str, Any], *, wait: bool = True, **options: Any) -> Bridge:
        path = tmp_path / "wsbridge.json"
        path.write_text(json.dumps(configuration))
        flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        bridge = run_bridge("serve", *flags, **options)
        return bridge.listening() if wait else bridge

    return start


def settings(url: str, store: str = "memory", timeout: str = "2s", **connection: Any) -> dict[str, Any]:
    """One connection with room for everything, whose close nobody waits for but the bridge's own limit."""
    outbox = {"maxMessages": 1_000_000, "maxBytes": "64MiB"}
    return {
        "http": {"shutdownTimeout": timeout, "retry": "8s"},
        "connections": {"default": {"url": url, "outbox": outbox, "closeTimeout": ENDLESS, **connection}},
        **({"storage": {"directory": "data"}} if store == "disk" else {}),
    }


class Bystanders:
    """Those who wait for an answer when the bridge stops."""

    def __init__(self, bridge: Bridge):
        self.polls = [self._ask(bridge, "GET", "/messages?topic=none&wait=1m") for _ in range(5)]
        request = "/request?correlate=/id&timeout=1m"
        self.requests = [self._ask(bridge, "POST", request, b'{"id":"%d"}' % number) for number in range(5)]

    @staticmethod
    def _ask(bridge: Bridge, method: str, target: str, body: bytes | None = None) -> Client:
        client = bridge.client()
        client.send_head(method, target, {} if body is None else {"Content-Length": str(len(body))})
        client.wire.send(body or b"")
        return client

    def assert_answered(self) -> None:
        for poll in self.polls:
            response = poll.response()
            assert (response.status, response.json()["messages"]) == (200, [])
        for request in self.requests:
            response = request.response("POST")
            assert response.status in (502, 503), response
            slug = "connection-lost" if response.status == 502 else "upstream-unavailable"
            assert_problem(response, response.status, slug)


def assert_told(readers: Readers) -> None:
    """Every stream has ended well, with a last `retry:`, and shows all ticks from its first one on."""
    readers.ended()
    for reading in readers.readings:
        _, is_whole = reading.body()
        assert is_whole, (reading.target, bytes(reading.bytes)[-200:])
        assert reading.last_retry() is not None, bytes(reading.bytes)[-200:]
        texts = [event.data for event in reading.events() if event.type == "message"]
        if "json" in reading.target or reading.target.startswith("/v1"):
            records = [json.loads(text) for text in texts]
            texts = [record["data"] for record in records if record["type"] == "text"]
        numbers = [int(text.removeprefix("tick ")) for text in texts]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), reading.target


def assert_prefixes(posters: Posters, arrived: list[str]) -> None:
    """Of each client, what has arrived is what it sent first, in its order."""
    places = {text: place for place, text in enumerate(arrived)}
    for accepted in posters.in_order:
        there = [text for text in accepted if text in places]
        assert there == accepted[: len(there)]
        assert [places[text] for text in there] == sorted(places[text] for text in there)


@pytest.mark.parametrize(
    ("store", "upstream", "number"),
    [
        *itertools.product(["memory", "disk"], ["answers", "never answers", "stalls"], [signal.SIGTERM]),
        ("disk", "answers", signal.SIGINT),
    ],
)
def test_a_stop_under_load_loses_nothing_and_tells_everybody(
    start_taker: Callable[..., Taker],
    serve: Serve,
    read_from,
    store: str,
    upstream: str,
    number: signal.Signals,
) -> None:
    taker = start_taker(answers_close=upstream == "answers")
    bridge = serve(settings(taker.url, store))
    bridge.await_ready()
    readers = read_from(bridge)
    for target, version in STREAM_KINDS:
        readers.open(target, STREAMS, version=version)
    bystanders = Bystanders(bridge)
    posters = Posters(bridge.address, POSTERS).start()
    readers.until(lambda: all(b"tick" in it.bytes for it in readers.readings), "all streams show something")
    if upstream == "stalls":
        taker.stall()
        # More than two kernels take.
        for _ in range(12):
            bridge.send("x" * 1_000_000)
    bridge.signal(number)
    posters.ended()
    bystanders.assert_answered()
    assert_told(readers)
    assert bridge.exit_code() == 0
    taker.go_on()
    taker.drained()
    assert posters.unexpected == []
    assert taker.closes in ([1001], [] if upstream == "stalls" else [1001])
    arrived = [text for text in taker.texts if text.startswith("p")]
    assert len(arrived) == len(set(arrived))
    assert not posters.refused.intersection(arrived)
    if upstream == "stalls":
        assert_prefixes(posters, arrived)
    elif store == "memory":
        assert posters.accepted - set(arrived) == set()
    if store == "disk":
        # With what was being stored when the signal came: that is answered for, and sent by the next one.
        again = serve(settings(taker.url, store, closeTimeout="100ms"))
        taker.has(posters.accepted)
        again.await_status(lambda status: status["outbox"]["messages"] == 0, "all is sent")
        assert_prefixes(posters, [text for text in taker.texts if text.startswith("p")])
        assert not posters.refused.intersection(taker.texts)


@pytest.fixture
def crowd() -> Iterator[int]:
    """So many clients, for which this process may have descriptors."""
    count = 2000
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * count, before[1]), before[1]))
    yield count
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_thousands_are_told_to_come_back_at_different_times(
    start_taker: Callable[..., Taker], serve: Serve, read_from, crowd: int
) -> None:
    taker = start_taker()
    bridge = serve(settings(taker.url, timeout="20s"))
    bridge.await_ready()
    readers = read_from(bridge)
    readers.open("/events", crowd)
    bridge.signal(signal.SIGTERM)
    assert_told(readers)
    assert bridge.exit_code() == 0
    delays = sorted(reading.last_retry() or 0 for reading in readers.readings)
    # 8 s, give or take a quarter, and evenly: each eighth of the range has its share, within 6 standard
    # deviations.
    assert delays[0] >= 6000
    assert delays[-1] <= 10_000
    shares = [sum(6000 + 500 * part <= it <= 6500 + 500 * part for it in delays) for part in range(8)]
    assert min(shares) > crowd / 8 - 90, shares
    assert max(shares) < crowd / 8 + 90, shares


def test_while_it_stops_old_connections_are_told_so(start_taker: Callable[..., Taker], serve: Serve) -> None:
    taker = start_taker(answers_close=False)
    bridge = serve(settings(taker.url, timeout=ENDLESS))
    bridge.await_ready()
    # Each answer may be the last on its connection.
    kept = [bridge.client() for _ in range(6)]
    for client in kept:
        assert client.request("GET", "/readyz").status == 200
    bridge.signal(signal.SIGTERM)
    bridge.err.until(lambda text: "stopping" in text or None, "the end has begun")
    unready = kept[0].request("GET", "/readyz")
    assert (unready.status, unready.json()["ready"]) == (503, False)
    assert unready.json()["connections"][0]["reason"] == "the bridge is stopping"
    # Not before that was answered: the log says so first.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(bridge.address)
    # It lives, so nobody need restart it.
    assert kept[1].request("GET", "/healthz").status == 200
    for client, method, target in [
        (kept[2], "POST", "/messages"),
        (kept[3], "POST", "/request?correlate=next"),
        (kept[4], "GET", "/events"),
    ]:
        refused = client.request(method, target, b"late" if method == "POST" else None)
        assert_problem(refused, 503, "upstream-unavailable")
        assert refused.header("Retry-After")
        assert client.rest() == b""
    assert kept[5].request("GET", "/status").json()["state"] == "closing"
    taker.stop()
    assert bridge.exit_code() == 0
    assert "late" not in taker.texts


@pytest.mark.parametrize("store", ["memory", "disk"])
@pytest.mark.parametrize(
    ("first", "second"), [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)]
)
def test_a_second_signal_under_load_ends_it_at_once(
    start_taker: Callable[..., Taker],
    serve: Serve,
    read_from,
    store: str,
    first: signal.Signals,
    second: signal.Signals,
) -> None:
    taker = start_taker(answers_close=False)
    bridge = serve(settings(taker.url, store, timeout=ENDLESS))
    bridge.await_ready()
    readers = read_from(bridge)
    readers.open("/events", 100)
    posters = Posters(bridge.address, POSTERS).start()
    bridge.signal(first)
    bridge.err.until(lambda text: "stopping" in text or None, "the end has begun")
    bridge.signal(second)
    # As a shell reports a process that the signal ended.
    assert bridge.exit_code() == 128 + second
    posters.ended()
    readers.ended()
    if store == "disk":
        serve(settings(taker.url, store, closeTimeout="100ms"))
        taker.has(posters.accepted)


# At inconvenient moments


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_a_stop_while_it_starts(start_taker: Callable[..., Taker], serve: Serve, store: str) -> None:
    taker = start_taker(ticks=False)
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    codes = set()
    for _ in range(30):
        bridge = serve(settings(taker.url, store), wait=False)
        # Not to wait for anything: any moment is as good as another.
        time.sleep(dice.random() * 0.04)
        bridge.signal(signal.SIGTERM)
        codes.add(bridge.exit_code())
    # Before it knows what it is to do, it has nothing to tidy up.
    assert codes <= {0, -signal.SIGTERM}
    last = serve(settings(taker.url, store))
    last.await_ready()
    last.send("after all that")
    taker.has({"after all that"})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_that_come_before_it_listens_are_not_lost(
    start_taker: Callable[..., Taker], serve: Serve, number: signal.Signals
) -> None:
    taker = start_taker(ticks=False)
    bridge = serve(settings(taker.url, "disk"), wait=False)
    # The first thing that it says.
    bridge.err.until(lambda text: "the store is open" in text or None, "the store is open")
    bridge.signal(number)
    if number == signal.SIGHUP:
        bridge.err.until(lambda text: "nothing has changed" in text or None, "it has read its file again")
        bridge.listening().await_ready()
    else:
        assert bridge.exit_code() == 0


@pytest.mark.parametrize("store", ["memory", "disk"])
@pytest.mark.parametrize("order", [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP)])
def test_a_stop_beside_a_reload(
    start_taker: Callable[..., Taker], serve: Serve, read_from, tmp_path: Path, store: str, order
) -> None:
    taker, other = start_taker(), start_taker()
    before = settings(taker.url, store)
    bridge = serve(before)
    bridge.await_ready()
    readers = read_from(bridge)
    readers.open("/events", 100)
    posters = Posters(bridge.address, POSTERS).start()
    readers.until(lambda: all(b"tick" in it.bytes for it in readers.readings), "all streams show something")
    # The connection that all use is replaced, and another one comes.
    after = settings(taker.url, store, heartbeat={"interval": "19s"})
    after["connections"]["other"] = {"url": other.url}
    (tmp_path / "wsbridge.json").write_text(json.dumps(after))
    for number in order:
        bridge.signal(number)
    posters.ended()
    assert_told(readers)
    assert bridge.exit_code() == 0
    assert posters.unexpected == []
    if store == "disk":
        serve(before | {"http": {}})
    if store == "disk" or order[0] == signal.SIGTERM:
        taker.has(posters.accepted)


def test_a_stop_while_it_rotates_closes_the_old_socket_and_drops_the_new_one(
    raw_upstream: RawUpstream, serve: Serve
) -> None:
    rules = [{"when": {"equals": "rotate"}, "action": "rotate"}]
    bridge = serve(settings(raw_upstream.url, rules=rules))
    old = raw_upstream.accept()
    old.accept_handshake()
    bridge.await_ready()
    stream = bridge.stream()
    old.send(frame(1, b"rotate"))
    new = raw_upstream.accept()
    # The handshake of the new one is never answered.
    new.request()
    assert bridge.send("to the old one").status == 202
    assert old.frame() == (1, b"to the old one")
    bridge.signal(signal.SIGTERM)
    assert old.close_code() == 1001
    new.gone()
    old.send(frame(8, b"\x03\xe9"))
    old.close()
    assert [event.data for event in stream.rest()] == ["rotate"]
    assert bridge.exit_code() == 0


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_a_stop_while_it_opens_says_goodbye_and_keeps_what_waits(
    raw_upstream: RawUpstream, serve: Serve, start_taker: Callable[..., Taker], store: str
) -> None:
    steps = [{"send": {"text": "hello"}}, {"expect": {"equals": "welcome"}, "timeout": ENDLESS}]
    bridge = serve(settings(raw_upstream.url, store, onOpen=steps))
    peer = raw_upstream.accept()
    peer.accept_handshake()
    assert peer.frame() == (1, b"hello")
    bridge.send("for later")
    with bridge.client() as client:
        client.send_head("POST", "/messages?wait=1m", {"Content-Length": "4"})
        client.wire.send(b"wait")
        bridge.await_status(lambda status: status["outbox"]["messages"] == 2, "both wait")
        bridge.signal(signal.SIGTERM)
        # Nothing else is sent before the welcome.
        assert peer.frame() == (8, b"\x03\xe9")
        peer.send(frame(8, b"\x03\xe9"))
        peer.close()
        answer = client.response("POST")
    assert answer.status == (202 if store == "disk" else 503)
    assert bridge.exit_code() == 0
    if store == "disk":
        taker = start_taker(ticks=False)
        serve(settings(taker.url, store))
        taker.has({"for later", "wait"})


@pytest.mark.parametrize("stage", ["handshake", "refused", "waiting"])
def test_a_stop_while_it_dials(raw_upstream: RawUpstream, serve: Serve, start_upstream, stage: str) -> None:
    away: Upstream = start_upstream(away=True)
    url = raw_upstream.url if stage == "handshake" else away.url
    delay = "10ms" if stage == "refused" else ENDLESS
    reconnect = {"initialDelay": delay, "maxDelay": delay, "jitter": 0}
    bridge = serve(settings(url, timeout=ENDLESS, reconnect=reconnect))
    if stage == "handshake":
        raw_upstream.accept().request()
    else:
        bridge.await_status(lambda status: status["counters"]["failures"], "a dial has failed")
    stream = bridge.stream()
    bridge.signal(signal.SIGTERM)
    assert stream.rest() == []
    assert bridge.exit_code() == 0
