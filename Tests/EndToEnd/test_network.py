"""Networks that go and come back: links, addresses, routes and rules, in namespaces of the test's own.

Heartbeats are an hour apart throughout, so that whatever is noticed is noticed by watching the network.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Cable, Stream, Upstream, WebAnswer, WebRequest
from harness.environment import ROOT


@pytest.fixture
def cable(start_upstream: Callable[..., Upstream], run_bridge: Callable[..., Bridge]) -> Iterator[Cable]:
    """A cable between the namespaces of the bridge and its upstream, which both end before it does.

    That is why it asks for what starts them: it would outlive the cable otherwise.
    """
    cable = Cable()
    yield cable
    cable.remove()


class Scene:
    """A bridge at the near end, with connections to the far one."""

    def __init__(self, cable: Cable, path: Path, run_bridge: Callable[..., Bridge]):
        self.cable = cable
        self.path = path
        self._run_bridge = run_bridge
        self.upstream: Upstream
        self.bridge: Bridge
        self.stream: Stream

    def configure(self, *urls: Any, **settings: Any) -> None:
        """Write the configuration file, in which the first connection is `a`, the next one `b`."""
        common = {"heartbeat": {"interval": "1h"}, "closeTimeout": "1h", **settings}
        connections = {name: {"url": url, **common} for name, url in zip("abc", urls, strict=False)}
        self.path.write_text(json.dumps({"connections": connections}))

    def start(self, *urls: Any, wrapper: list[str] | None = None, **settings: Any) -> Scene:
        self.configure(*urls, **settings)
        flags = ["--config", str(self.path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        self.bridge = self._run_bridge("serve", *flags, namespace=self.cable.near, wrapper=wrapper or [])
        self.bridge.listening()
        self.stream = self.bridge.stream("/v1/connections/a/events?types=text,status&since=start")
        return self

    def reload(self) -> None:
        """Have the file read again, and wait until that is done."""

        def count(text: str) -> int:
            return text.count('"message":"reloaded')

        before = count(self.bridge.err.text)
        self.bridge.signal(signal.SIGHUP)
        self.bridge.err.until(lambda text: count(text) > before or None, "the reload")

    def netlink_sockets(self) -> int:
        """Return how many sockets to the kernel's routing tables the bridge has."""
        process = Path(f"/proc/{self.bridge.pid}")
        # The last column is the socket's inode.
        known = {line.split()[-1] for line in (process / "net/netlink").read_text().splitlines()}
        held = []
        for file in (process / "fd").iterdir():
            # One may be closed meanwhile.
            with contextlib.suppress(FileNotFoundError):
                held.append(os.readlink(file))
        return sum(name.startswith("socket:[") and name[8:-1] in known for name in held)

    def status(self, name: str = "a") -> dict[str, Any]:
        return self.bridge.get(f"/v1/connections/{name}/status").json()

    def control(self, verb: str, name: str = "a") -> dict[str, Any]:
        response = self.bridge.post(f"/v1/connections/{name}/{verb}")
        assert response.status == 200, response
        return response.json()

    def types_until(self, last: str) -> list[str]:
        """Return the types of the status records up to the next one of this type."""
        types = []
        for status in self.stream.statuses():
            if status["type"] != "snapshot":
                types.append(status["type"])
            if types[-1:] == [last]:
                return types
        raise AssertionError("the stream ended")

    def opened(self) -> None:
        """The first dial succeeds; nothing else stands on record."""
        assert self.types_until("ready") == ["connecting", "open", "ready"]

    def expect_loss(self) -> None:
        """The open connection is lost, and waits for the network."""
        lost = next(self.stream.statuses())
        assert lost["type"] == "network-lost"
        closed = next(self.stream.statuses())
        assert closed["type"] == "closed"
        assert (closed["code"], closed["clean"], closed["by"]) == (1006, False, "bridge")
        self.expect_offline()

    def expect_offline(self) -> None:
        status = self.status()
        assert (status["state"], status["network"], status["ready"]) == ("offline", "unreachable", False)
        assert (status["attempt"], status["nextAttemptAt"]) == (0, None)

    def expect_return(self) -> None:
        """It is dialled when the network is back, at once and not before."""
        assert self.types_until("ready") == ["network-restored", "connecting", "open", "ready"]
        status = self.status()
        assert (status["state"], status["network"], status["attempt"]) == ("open", "reachable", 0)


Start = Callable[..., Scene]


@pytest.fixture
def scene(
    cable: Cable,
    start_upstream: Callable[..., Upstream],
    run_bridge: Callable[..., Bridge],
    tmp_path: Path,
) -> Scene:
    return Scene(cable, tmp_path / "wsbridge.yaml", run_bridge)


@pytest.fixture
def far(cable: Cable, start_upstream: Callable[..., Upstream]) -> Callable[[str], Upstream]:
    """Start an upstream at an address of the far end."""
    return lambda host: start_upstream(host=host, namespace=cable.far)


@pytest.fixture
def open_scene(scene: Scene, far: Callable[[str], Upstream]) -> Callable[..., Scene]:
    """A connection to the far end's address of one family, which is ready."""

    def start(host: str, **settings: Any) -> Scene:
        scene.upstream = far(host)
        scene.start(scene.upstream.url, **settings)
        scene.opened()
        return scene

    return start


BOTH = pytest.mark.parametrize("family", [4, 6])


# Links


@BOTH
def test_a_link_goes_down_and_comes_up(open_scene: Start, family: int) -> None:
    scene = open_scene(Cable.FAR[family])
    scene.cable.unplug()
    scene.expect_loss()
    reasons = scene.bridge.get("/readyz")
    assert reasons.status == 503
    assert reasons.json()["connections"] == [
        {"name": "a", "state": "offline", "reason": "there is no network to the upstream"}
    ]
    scene.cable.plug_in()
    scene.expect_return()
    assert scene.upstream.dials == 2


@BOTH
def test_a_cable_is_pulled_at_the_far_side(open_scene: Start, family: int) -> None:
    # The near link stays up and keeps its routes; only its carrier is gone.
    scene = open_scene(Cable.FAR[family])
    scene.cable.far.ip("link", "set", "far", "down")
    scene.expect_loss()
    scene.cable.far.ip("link", "set", "far", "up")
    if family == 6:
        scene.cable.far.ip("addr", "add", f"{Cable.FAR[6]}/64", "dev", "far", "nodad")
    scene.expect_return()
    assert scene.upstream.dials == 2


def test_a_link_vanishes_for_good_and_another_takes_its_place(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    scene.cable.near.ip("link", "del", "near")
    scene.expect_loss()
    near, far = scene.cable.near, scene.cable.far
    near.ip("link", "add", "new", "type", "veth", "peer", "name", "far", "netns", far.name)
    far.ip("addr", "add", f"{Cable.FAR[4]}/24", "dev", "far")
    far.ip("link", "set", "far", "up")
    near.ip("addr", "add", Cable.NEAR[4], "dev", "new")
    near.ip("link", "set", "new", "up")
    scene.expect_return()


# Routes


ROUTES = {4: "10.77.0.0/24", 6: "fd77::/64"}


@BOTH
def test_a_route_is_deleted_and_added(open_scene: Start, family: int) -> None:
    scene = open_scene(Cable.FAR[family])
    scene.cable.near.ip("route", "del", ROUTES[family], "dev", "near")
    scene.expect_loss()
    scene.cable.near.ip("route", "add", ROUTES[family], "dev", "near")
    scene.expect_return()


@pytest.mark.parametrize("type", ["blackhole", "unreachable", "prohibit", "throw"])
@BOTH
def test_a_route_that_leads_nowhere_is_none(open_scene: Start, family: int, type: str) -> None:
    scene = open_scene(Cable.FAR[family])
    if type == "throw":
        # It ends the search in one table; there is no other one that knows the way.
        scene.cable.near.ip("route", "del", ROUTES[family], "dev", "near")
        scene.expect_loss()
        scene.cable.near.ip("route", "add", "throw", Cable.FAR[family])
        scene.cable.near.ip("route", "add", ROUTES[family], "dev", "near")
        scene.expect_offline()
    else:
        scene.cable.near.ip("route", "add", type, Cable.FAR[family])
        scene.expect_loss()
    scene.cable.near.ip("route", "del", type, Cable.FAR[family])
    scene.expect_return()


@BOTH
def test_the_default_route_is_lost_and_comes_back(open_scene: Start, scene: Scene, family: int) -> None:
    gateway = ["default", "via", Cable.FAR[family]]
    scene.cable.near.ip("route", "add", *gateway)
    open_scene(Cable.BEYOND[family])
    scene.cable.near.ip("route", "del", *gateway)
    scene.expect_loss()
    scene.cable.near.ip("route", "add", *gateway)
    scene.expect_return()


def test_a_worse_route_will_do(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    near = scene.cable.near
    near.ip("route", "add", "10.77.0.0/24", "dev", "near", "metric", "900")
    near.ip("route", "del", "10.77.0.0/24", "dev", "near", "metric", "0")
    near.ip("route", "del", "10.77.0.0/24", "dev", "near", "metric", "900")
    # Only the loss of the last one is told.
    scene.expect_loss()


@BOTH
def test_rules_decide_as_well_as_routes(open_scene: Start, family: int) -> None:
    scene = open_scene(Cable.FAR[family])
    rule = ["to", Cable.FAR[family], "prohibit"]
    scene.cable.near.ip(f"-{family}", "rule", "add", *rule)
    scene.expect_loss()
    scene.cable.near.ip(f"-{family}", "rule", "del", *rule)
    scene.expect_return()


def test_a_route_in_a_table_of_its_own_counts(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    near = scene.cable.near
    near.ip("route", "del", "10.77.0.0/24", "dev", "near")
    scene.expect_loss()
    near.ip("route", "add", "10.77.0.0/24", "dev", "near", "table", "77")
    near.ip("rule", "add", "to", "10.77.0.0/24", "lookup", "77")
    scene.expect_return()


# Addresses


@BOTH
def test_an_address_is_removed_and_given_again(open_scene: Start, family: int) -> None:
    scene = open_scene(Cable.FAR[family])
    scene.cable.take_address(Cable.NEAR[family])
    scene.expect_loss()
    scene.cable.give_address(Cable.NEAR[family])
    scene.expect_return()


@BOTH
def test_an_address_changes_and_the_dial_comes_at_once(open_scene: Start, family: int) -> None:
    scene = open_scene(Cable.FAR[family])
    # In a subnet of its own, else the kernel would take it away with the first one.
    scene.cable.give_address({4: "10.77.0.9/16", 6: "fd77::9/64"}[family])
    scene.cable.take_address(Cable.NEAR[family])
    # There is a way to the upstream all the time, but none for the socket.
    types = scene.types_until("ready")
    assert types == ["network-lost", "closed", "network-restored", "connecting", "open", "ready"]


# While the network is away


def test_nothing_is_dialled_while_the_network_is_away(scene: Scene, far, start_upstream) -> None:
    # The second connection is refused on loopback, over and over: that is how time passes.
    scene.upstream = far(Cable.FAR[4])
    nobody = start_upstream(away=True, namespace=scene.cable.near)
    reconnect = {"initialDelay": "10ms", "factor": 1, "resetAfter": "0s"}
    scene.start(scene.upstream.url, nobody.url, reconnect=reconnect)
    scene.opened()
    scene.cable.unplug()
    scene.expect_loss()
    busy = scene.bridge.stream("/v1/connections/b/events?types=status")
    for _ in range(30):
        busy.until_status("failed")
    scene.expect_offline()
    assert scene.status()["counters"]["failures"] == 0
    scene.cable.plug_in()
    scene.expect_return()
    assert scene.upstream.dials == 2


def test_a_bridge_that_starts_without_a_network_waits_for_it(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    scene.cable.unplug()
    scene.start(scene.upstream.url)
    assert scene.types_until("network-lost") == ["network-lost"]
    scene.expect_offline()
    scene.cable.plug_in()
    scene.expect_return()


@pytest.mark.parametrize("verb", ["connect", "reconnect"])
def test_a_missing_network_never_blocks_a_manual_connect(open_scene: Start, verb: str) -> None:
    scene = open_scene(Cable.FAR[4], reconnect={"maxRetries": 0})
    scene.cable.near.ip("route", "del", "10.77.0.0/24", "dev", "near")
    scene.expect_loss()
    for _ in range(2):
        scene.control(verb)
        assert scene.types_until("failed") == ["connecting", "failed"]
        scene.expect_offline()
    assert "unreachable" in scene.status()["lastError"]["error"]
    scene.cable.near.ip("route", "add", "10.77.0.0/24", "dev", "near")
    scene.expect_return()


def test_messages_wait_for_the_network(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    scene.cable.unplug()
    scene.expect_loss()
    for number in range(3):
        assert scene.bridge.post("/v1/connections/a/messages", str(number).encode()).status == 202
    scene.cable.plug_in()
    assert scene.upstream.peer(1).received(3) == ["0", "1", "2"]


def test_a_pause_outlasts_the_network(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    scene.cable.unplug()
    scene.expect_loss()
    assert scene.control("pause")["state"] == "paused"
    assert scene.control("resume")["state"] == "offline"
    assert scene.control("pause")["state"] == "paused"
    scene.cable.plug_in()
    assert scene.types_until("network-restored") == ["paused", "resumed", "paused", "network-restored"]
    status = scene.status()
    assert (status["state"], status["network"]) == ("paused", "reachable")
    scene.control("resume")
    assert scene.types_until("ready") == ["resumed", "connecting", "open", "ready"]


def test_disconnect_without_a_network_is_for_good(open_scene: Start) -> None:
    scene = open_scene(Cable.FAR[4])
    scene.cable.unplug()
    scene.expect_loss()
    assert scene.control("disconnect")["state"] == "closed"
    scene.cable.plug_in()
    assert scene.types_until("network-restored") == ["network-restored"]
    assert scene.status()["state"] == "closed"


def test_a_close_handshake_ends_with_the_network(open_scene: Start) -> None:
    # The upstream's end of the cable is cut before, so that its answer cannot come; closeTimeout is an hour.
    scene = open_scene(Cable.FAR[4])
    scene.cable.far.ip("route", "add", "blackhole", "10.77.0.1")
    assert scene.control("disconnect")["state"] == "closing"
    scene.cable.unplug()
    assert scene.types_until("closed") == ["network-lost", "closed"]
    assert scene.status()["state"] == "closed"
    # Its own close handshake would last as long as TCP tries.
    scene.upstream.peer(0).drop()


def test_a_reload_without_a_network(open_scene: Start, start_upstream) -> None:
    scene = open_scene(Cable.FAR[4])
    here = start_upstream(namespace=scene.cable.near)
    scene.cable.unplug()
    scene.expect_loss()
    # The same upstream with another setting waits on, and one that is here is dialled.
    scene.configure(scene.upstream.url, connectTimeout="9s")
    scene.reload()
    scene.expect_offline()
    scene.configure(here.url)
    scene.bridge.signal(signal.SIGHUP)
    here.peer()
    assert scene.types_until("ready") == ["network-restored", "connecting", "open", "ready"]


# What needs no network


def test_loopback_is_always_reachable(scene: Scene, start_upstream) -> None:
    scene.upstream = start_upstream(namespace=scene.cable.near)
    scene.cable.unplug()
    scene.start(scene.upstream.url, scene.upstream.url.replace("127.0.0.1", "localhost"))
    scene.opened()
    scene.cable.plug_in()
    scene.cable.unplug()
    # Its word comes after whatever the news would have brought about.
    scene.upstream.peer(0).send("still here")
    assert scene.stream.next().data == "still here"
    for name in "ab":
        status = scene.status(name)
        assert (status["network"], status["counters"]["closes"]) == ("reachable", 0)


def test_the_network_can_be_ignored(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    scene.start(scene.upstream.url, network="ignore")
    scene.opened()
    scene.cable.unplug()
    scene.cable.plug_in()
    scene.upstream.peer(0).send("still here")
    assert scene.stream.next().data == "still here"
    assert scene.status()["network"] == "ignored"


def test_the_network_is_watched_only_while_a_connection_wants_that(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    scene.start(scene.upstream.url)
    scene.opened()
    assert scene.netlink_sockets() > 0
    scene.configure(scene.upstream.url, network="ignore")
    scene.reload()
    assert scene.netlink_sockets() == 0
    scene.types_until("ready")
    scene.configure(scene.upstream.url)
    scene.reload()
    assert scene.netlink_sockets() > 0
    # It begins anew: what is lost while the old socket still closes is another story.
    scene.types_until("ready")
    scene.cable.unplug()
    scene.types_until("network-lost")


def test_where_netlink_is_denied_everything_counts_as_reachable(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    denial = [sys.executable, str(ROOT / "Tests/EndToEnd/harness/denial.py"), "netlink"]
    scene.start(scene.upstream.url, wrapper=denial)
    scene.opened()
    scene.reload()
    warnings = [record for record in scene.bridge.records if "cannot be watched" in record["message"]]
    assert [(each["level"], each["error"]) for each in warnings] == [("warning", "Permission denied")]
    assert scene.status()["network"] == "reachable"


# Names


def test_a_name_is_dialled_again_when_a_route_leads_to_its_address(scene: Scene, far) -> None:
    scene.cable.near.names(f"{Cable.FAR[4]} upstream.test")
    scene.upstream = far(Cable.FAR[4])
    scene.start(scene.upstream.url_at("upstream.test"))
    scene.opened()
    scene.cable.near.ip("route", "del", "10.77.0.0/24", "dev", "near")
    scene.expect_loss()
    scene.cable.near.ip("route", "add", "10.77.0.0/24", "dev", "near")
    scene.expect_return()


def test_a_name_that_cannot_be_resolved_without_any_network_waits_for_one(scene: Scene, far) -> None:
    scene.cable.near.names()
    scene.upstream = far(Cable.FAR[4])
    scene.cable.unplug()
    scene.start(scene.upstream.url_at("upstream.test"))
    assert scene.types_until("failed") == ["connecting", "network-lost", "failed"]
    scene.expect_offline()
    scene.cable.near.names(f"{Cable.FAR[4]} upstream.test")
    scene.cable.plug_in()
    scene.expect_return()


def test_a_name_that_means_this_machine_needs_no_network(scene: Scene, start_upstream) -> None:
    scene.cable.near.names("127.0.0.1 upstream.test")
    scene.cable.unplug()
    scene.upstream = start_upstream(namespace=scene.cable.near)
    scene.start(scene.upstream.url_at("upstream.test"))
    scene.opened()


# News in plenty


def test_news_that_the_kernel_could_not_deliver_are_noticed(open_scene: Start, tmp_path: Path) -> None:
    scene = open_scene(Cable.FAR[4])
    scene.bridge.signal(signal.SIGSTOP)
    flood = tmp_path / "flood"
    lines = [
        f"route {verb} blackhole 10.{n >> 8}.{n & 255}.0/24" for verb in ("add", "del") for n in range(3000)
    ]
    flood.write_text("\n".join([*lines, "route del 10.77.0.0/24 dev near", ""]))
    scene.cable.near.ip("-batch", str(flood))
    scene.bridge.signal(signal.SIGCONT)
    scene.expect_loss()
    # And it listens on.
    scene.cable.near.ip("route", "add", "10.77.0.0/24", "dev", "near")
    scene.expect_return()


def test_a_network_in_turmoil_costs_no_connection(open_scene: Start, tmp_path: Path) -> None:
    scene = open_scene(Cable.FAR[4])
    turmoil = tmp_path / "turmoil"
    lines = [f"route {verb} blackhole 198.51.100.{n}/32" for n in range(250) for verb in ("add", "del")]
    turmoil.write_text("\n".join([*lines, ""]))
    for _ in range(10):
        scene.cable.near.ip("-batch", str(turmoil))
    scene.upstream.peer(0).send("still here")
    assert scene.stream.next().data == "still here"
    assert scene.status()["counters"]["opens"] == 1


# Lists and providers


def test_of_a_list_one_url_within_reach_is_enough(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    lost = far(Cable.BEYOND[4])  # there is no default route
    scene.start([lost.url, scene.upstream.url], reconnect={"initialDelay": "10ms"})
    assert scene.types_until("ready") == [
        "connecting",
        "failed",
        "reconnecting",
        "connecting",
        "open",
        "ready",
    ]
    status = scene.status()
    assert (status["url"], status["network"]) == (scene.upstream.url, "reachable")
    assert status["lastError"]["phase"] == "tcp"
    # What becomes of the way to the other one does not concern the socket.
    scene.cable.near.ip("route", "add", "default", "via", Cable.FAR[4])
    scene.cable.near.ip("route", "del", "default")
    scene.cable.unplug()
    scene.expect_loss()
    scene.cable.plug_in()
    scene.expect_return()
    assert (scene.upstream.dials, lost.dials) == (2, 0)


def test_a_list_out_of_reach_is_not_dialled_until_one_of_it_is(scene: Scene, far) -> None:
    scene.upstream = far(Cable.FAR[4])
    lost = far(Cable.BEYOND[4])
    scene.cable.unplug()
    scene.start([scene.upstream.url, lost.url])
    assert scene.types_until("network-lost") == ["network-lost"]
    scene.expect_offline()
    scene.cable.plug_in()
    scene.expect_return()
    assert (scene.upstream.dials, lost.dials) == (1, 0)


def test_a_provider_out_of_reach_is_not_asked(scene: Scene, far, start_web_server) -> None:
    scene.upstream = far(Cable.FAR[4])
    provider = start_web_server(
        lambda _: WebAnswer(body=scene.upstream.url.encode()), host=Cable.FAR[4], namespace=scene.cable.far
    )
    scene.cable.unplug()
    scene.start({"http": {"url": provider.url}})
    assert scene.types_until("network-lost") == ["network-lost"]
    scene.expect_offline()
    assert provider.requests == []
    scene.cable.plug_in()
    scene.expect_return()
    assert (len(provider.requests), scene.upstream.dials) == (1, 1)
    # The socket is watched like any other, and its loss asks anew.
    scene.cable.unplug()
    scene.expect_loss()
    scene.cable.plug_in()
    scene.expect_return()
    assert (len(provider.requests), scene.upstream.dials) == (2, 2)


def test_a_question_is_given_up_with_the_network(scene: Scene, far, start_web_server) -> None:
    scene.upstream = far(Cable.FAR[4])

    def answer(_: WebRequest) -> WebAnswer:
        if len(provider.requests) == 1:
            provider.stopping.wait()
        return WebAnswer(body=scene.upstream.url.encode())

    provider = start_web_server(answer, host=Cable.FAR[4], namespace=scene.cable.far)
    scene.start({"http": {"url": provider.url}, "timeout": "1h"})
    provider.asked()
    scene.cable.unplug()
    assert scene.types_until("network-lost") == ["connecting", "network-lost"]
    assert scene.types_until("failed") == ["failed"]
    scene.expect_offline()
    scene.cable.plug_in()
    scene.expect_return()
    assert len(provider.requests) == 2


def test_the_url_that_a_provider_gave_needs_a_way_of_its_own(scene: Scene, far, start_web_server) -> None:
    scene.upstream = far(Cable.BEYOND[4])
    provider = start_web_server(
        lambda _: WebAnswer(body=scene.upstream.url.encode()), host=Cable.FAR[4], namespace=scene.cable.far
    )
    scene.start({"http": {"url": provider.url}}, reconnect={"initialDelay": "10ms", "factor": 1})
    provider.asked(3)
    assert scene.status()["lastError"]["phase"] == "tcp"
    scene.cable.near.ip("route", "add", "default", "via", Cable.FAR[4])
    scene.types_until("ready")
    scene.cable.near.ip("route", "del", "default")
    assert scene.types_until("closed") == ["network-lost", "closed"]


def test_a_command_may_find_a_url_within_reach_without_a_network(scene: Scene, start_upstream) -> None:
    upstream = start_upstream(namespace=scene.cable.near)
    scene.cable.unplug()
    scene.start({"command": ["echo", upstream.url]})
    assert scene.types_until("ready") == ["connecting", "open", "ready"]
