"""Replay: `Last-Event-ID` and `since`."""

from __future__ import annotations

import asyncio
import datetime
import json
import random
import urllib.parse

import pytest

from assertions import assert_problem
from harness import PATIENCE, Bridge, Event, Peer, Upstream

HISTORY = 10_000

pytestmark = pytest.mark.usefixtures("stream_mode")


@pytest.fixture
def kept(bridge: Bridge, peer: Peer) -> list[Event]:
    """The events of ten messages that the bridge has in its history."""
    stream = bridge.stream()
    peer.send(*map(str, range(10)))
    return stream.take(10)


@pytest.fixture
def foreign(upstream: Upstream, start_bridge, kept: list[Event]) -> str:
    """The id of an event of another run."""
    stream = start_bridge(upstream.url).stream()
    upstream.peer(1).send("of another run")
    return stream.next().id


def since(cursor: str) -> str:
    return f"/events?since={urllib.parse.quote(cursor, safe='')}"


def test_last_event_id_continues_after_that_event(bridge: Bridge, kept: list[Event]) -> None:
    assert bridge.stream(fields={"Last-Event-ID": kept[3].id}).take(6) == kept[4:]


def test_since_an_id_continues_after_that_event(bridge: Bridge, kept: list[Event]) -> None:
    assert bridge.stream(since(kept[3].id)).take(6) == kept[4:]


def test_last_event_id_wins_over_since(bridge: Bridge, kept: list[Event]) -> None:
    assert bridge.stream(since("start"), {"Last-Event-ID": kept[7].id}).take(2) == kept[8:]


def test_since_start_gives_all_that_is_kept(bridge: Bridge, kept: list[Event]) -> None:
    assert bridge.stream(since("start")).take(10) == kept


@pytest.mark.parametrize("target", ["/events", "/events?since=now"])
def test_a_stream_begins_with_what_comes_now(
    bridge: Bridge, peer: Peer, kept: list[Event], target: str
) -> None:
    stream = bridge.stream(target)
    peer.send("new")
    assert stream.next().data == "new"


@pytest.mark.parametrize("duration", ["10m", "1h30m", "3600", "2h"])
def test_since_a_duration_gives_what_came_within_it(bridge: Bridge, kept: list[Event], duration: str) -> None:
    assert bridge.stream(since(duration)).take(10) == kept


@pytest.mark.parametrize("offset", ["Z", "+02:00", "-03:30"])
def test_since_a_time_gives_what_came_after_it(
    bridge: Bridge, peer: Peer, kept: list[Event], offset: str
) -> None:
    hours, minutes = (0, 0) if offset == "Z" else (int(offset[:3]), int(offset[0] + offset[4:]))
    zone = datetime.timezone(datetime.timedelta(hours=hours, minutes=minutes))
    now = datetime.datetime.now(zone).replace(tzinfo=None, microsecond=0)
    hour = datetime.timedelta(hours=1)
    assert bridge.stream(since(f"{(now - hour).isoformat()}{offset}")).take(10) == kept
    later = bridge.stream(since(f"{(now + hour).isoformat()}{offset}"))
    peer.send("new")
    assert later.next().data == "new"


def test_the_newest_id_replays_nothing_old(bridge: Bridge, peer: Peer, kept: list[Event]) -> None:
    stream = bridge.stream(since(kept[-1].id))
    peer.send("new")
    assert stream.next().data == "new"


def test_an_id_of_a_filtered_stream_is_a_cursor_in_any_other(bridge: Bridge, peer: Peer) -> None:
    texts, everything = bridge.stream("/events?types=text"), bridge.stream("/events?types=text,binary")
    peer.send("one", b"\1", "two", b"\2", "three")
    assert everything.take(5)[3].data == "Ag=="
    one, two, three = texts.take(3)
    replayed = bridge.stream(since(two.id)).take(2)
    assert [event.data for event in replayed] == ["Ag==", "three"]
    assert replayed[1] == three
    assert one.id not in (event.id for event in replayed)


def test_replay_joins_the_live_stream_without_loss_or_duplicate(bridge: Bridge, peer: Peer) -> None:
    count = 3000
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    generator = random.Random(seed)
    # Yields to the loop, so that messages flow while the client reconnects.
    sending = peer.start_sending(map(str, range(count)), between=lambda: asyncio.sleep(0))
    seen: list[Event] = []
    while len(seen) < count:
        cursor = {"Last-Event-ID": seen[-1].id} if seen else {}
        stream = bridge.stream("/events" if seen else since("start"), cursor)
        seen += stream.take(min(generator.randint(1, 200), count - len(seen)))
        if generator.random() < 0.5:
            stream.client.wire.reset()
        else:
            stream.close()
    sending.result(PATIENCE)
    assert [(event.type, event.data) for event in seen] == [
        ("message", str(number)) for number in range(count)
    ]


def test_several_clients_that_reconnect_at_random_all_see_everything(bridge: Bridge, peer: Peer) -> None:
    count, clients = 1000, 8
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    generator = random.Random(seed)
    streams = [bridge.stream() for _ in range(clients)]
    seen: list[list[Event]] = [[] for _ in range(clients)]
    peer.start_sending(map(str, range(count)), between=lambda: asyncio.sleep(0))
    while any(len(events) < count for events in seen):
        at = generator.choice([at for at in range(clients) if len(seen[at]) < count])
        seen[at] += streams[at].take(min(generator.randint(1, 100), count - len(seen[at])))
        if generator.random() < 0.3:
            streams[at].close()
            streams[at] = bridge.stream(fields={"Last-Event-ID": seen[at][-1].id})
    for events in seen:
        assert [event.data for event in events] == [str(number) for number in range(count)]


@pytest.mark.parametrize("query", ["", "?types=binary,text", "?limit=1", "?format=json", "?since=now"])
def test_a_stream_that_is_interrupted_before_its_first_event_continues_without_loss(
    bridge: Bridge, peer: Peer, kept: list[Event], query: str
) -> None:
    stream = bridge.stream(f"/events{query}")
    stream.until_cursor(kept[-1].id)
    stream.close()
    watching = bridge.stream()
    peer.send("while nobody was there")
    missed = watching.next()
    again = bridge.stream(f"/events{query}", {"Last-Event-ID": stream.parser.last_event_id})
    assert again.next().id == missed.id


# What cannot be replayed


@pytest.mark.parametrize(
    "cursor",
    ["garbage", "abc-xyz", "-", "-1", "1-", "1-2-x", "1 2", "yesterday", "10x", "2026-13-45T00:00:00Z"],
)
def test_a_malformed_cursor_is_refused(bridge: Bridge, cursor: str) -> None:
    refusal = bridge.ask_for_stream(since(cursor)).refusal()
    assert_problem(refusal, 400, "invalid-parameter")


@pytest.mark.parametrize("id", ["garbage", "abc-xyz", "-", "-1", "1-", "1 2", "start", "now", "10m"])
def test_a_malformed_last_event_id_is_refused(bridge: Bridge, id: str) -> None:
    refusal = bridge.ask_for_stream(fields={"Last-Event-ID": id}).refusal()
    assert refusal.status == 400, refusal
    assert refusal.header("Content-Type").split(";")[0] == "application/problem+json"


def test_a_sequence_number_beyond_all_integers_is_refused(bridge: Bridge, kept: list[Event]) -> None:
    epoch = kept[0].id.rsplit("-", 1)[0]
    refusal = bridge.ask_for_stream(since(f"{epoch}-{10**40}")).refusal()
    assert refusal.status == 400, refusal


def test_an_id_of_an_earlier_run_gives_one_gap_and_then_all_that_is_kept(
    bridge: Bridge, kept: list[Event], foreign: str
) -> None:
    assert foreign.rsplit("-", 1)[0] != kept[0].id.rsplit("-", 1)[0]
    gap, *events = bridge.stream(since(foreign)).take(11)
    assert gap.type == "gap"
    assert json.loads(gap.data)["missed"] is None
    assert events == kept


def test_an_id_of_the_future_gives_one_gap_and_then_all_that_is_kept(
    bridge: Bridge, kept: list[Event]
) -> None:
    epoch, number = kept[-1].id.rsplit("-", 1)
    gap, *events = bridge.stream(since(f"{epoch}-{int(number) + 1000}")).take(11)
    assert gap.type == "gap"
    assert events == kept


def test_the_id_of_a_gap_is_a_cursor_from_which_nothing_is_missing(
    bridge: Bridge, kept: list[Event], foreign: str
) -> None:
    gap = bridge.stream(since(foreign)).next()
    assert bridge.stream(since(gap.id)).take(10) == kept


def test_evicted_history_gives_one_gap_with_the_right_count(bridge: Bridge, peer: Peer) -> None:
    extra = 50
    live = bridge.stream()
    peer.send(*map(str, range(HISTORY + extra)))
    events = live.take(HISTORY + extra)
    # After the first message HISTORY + extra - 1 came, of which HISTORY are kept.
    gap, *replayed = bridge.stream(since(events[0].id)).take(HISTORY + 1)
    assert gap.type == "gap"
    assert json.loads(gap.data) == {"missed": extra - 1, "oldest": events[extra].id}
    assert gap.id == events[extra - 1].id
    assert replayed == events[extra:]
    assert bridge.status()["history"]["messages"] == HISTORY


def test_start_is_what_is_kept_without_a_gap(bridge: Bridge, peer: Peer) -> None:
    live = bridge.stream()
    peer.send(*map(str, range(HISTORY + 5)))
    events = live.take(HISTORY + 5)
    assert bridge.stream(since("start")).next() == events[5]


def test_of_several_ids_the_first_one_counts(bridge: Bridge, peer: Peer) -> None:
    first = bridge.stream("/events")
    peer.send("one", "two", "three")
    one, two, _ = first.take(3)
    again = bridge.stream("/events?limit=1", {"Last-Event-ID": one.id, "last-event-id": two.id})
    assert [event.data for event in again.rest()] == ["two"]
