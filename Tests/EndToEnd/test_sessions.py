"""Sessions: a browser shows a token once; and what becomes of streams whose rights end."""

from __future__ import annotations

import datetime
import json
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assertions import assert_problem
from harness import Bridge, Client, Stream, Upstream, await_truth
from harness.http1 import Response

TOKEN = "t0ken-of-the-test"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Guarded:
    """A bridge with tokens in its configuration file, which can be changed."""

    def __init__(self, serve_file: Callable[..., Bridge], path: Path, upstreams: dict[str, Upstream]):
        self._path = path / "wsbridge.yaml"
        self._upstreams = upstreams
        self.tokens: list[dict[str, Any]] = [
            {"name": "ops", "token": TOKEN},
            {"name": "other", "token": "another"},
        ]
        self.http: dict[str, Any] = {}
        self.bridge = serve_file(self._text)
        for upstream in upstreams.values():
            upstream.peer()

    @property
    def _text(self) -> str:
        connections = {name: {"url": upstream.url} for name, upstream in self._upstreams.items()}
        return json.dumps({"http": {"tokens": self.tokens, **self.http}, "connections": connections})

    def reload(self) -> None:
        """Have the bridge read the file with the tokens as they are now, and wait until it has."""
        before = self._reloads
        self._path.write_text(self._text)
        if Bridge.tls:
            Bridge.tls.secured(self._path)
        self.bridge.signal(signal.SIGHUP)
        await_truth(lambda: self._reloads > before, "the file is read again")

    @property
    def _reloads(self) -> int:
        return self.bridge.err.text.count('"message":"reloaded"')


@pytest.fixture
def guarded(start_upstream, serve_file, tmp_path: Path) -> Guarded:
    upstreams = {name: start_upstream() for name in ("default", "feed", "other")}
    return Guarded(serve_file, tmp_path, upstreams)


def begin(bridge: Bridge, token: str = TOKEN, **fields: str) -> Response:
    response = bridge.request("POST", "/v1/session", b"", {"Authorization": f"Bearer {token}", **fields})
    assert response.status == 200, response
    return response


def cookie_of(response: Response) -> dict[str, str]:
    """What a browser would send from now on."""
    return {"Cookie": response.header("Set-Cookie").split(";")[0]}


# Beginning and ending


def test_a_token_begins_a_session_and_the_cookie_takes_its_place(guarded: Guarded) -> None:
    bridge = guarded.bridge
    response = begin(bridge)
    assert response.header("Cache-Control") == "no-store"
    session = response.json()
    ends = datetime.datetime.fromisoformat(session.pop("expiresAt"))
    week = datetime.timedelta(days=7)
    assert abs(ends - datetime.datetime.now(datetime.UTC) - week) < datetime.timedelta(minutes=5)
    assert session == {"token": "ops", "allow": ["read", "send", "admin"], "connections": ["*"]}
    name, *attributes = response.header("Set-Cookie").split("; ")
    assert re.fullmatch(r"wsbridge-session-[0-9a-z]+=[0-9a-f]{80}", name)
    assert sorted(attributes) == ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Strict"]
    cookie = cookie_of(response)
    assert bridge.get("/v1/session", cookie).json() == response.json()
    assert bridge.get("/status", cookie).status == 200
    assert bridge.request("POST", "/messages", b"hello", cookie).status == 202
    assert bridge.request("POST", "/connect", b"", cookie).status == 200


def test_who_asks_with_a_token_is_told_what_it_may(guarded: Guarded) -> None:
    guarded.tokens[0] |= {"allow": ["send", "read"], "connections": ["f*", "default"]}
    guarded.reload()
    answer = guarded.bridge.get("/v1/session", BEARER).json()
    assert answer == {
        "token": "ops",
        "allow": ["read", "send"],
        "connections": ["f*", "default"],
        "expiresAt": None,
    }
    assert_problem(guarded.bridge.get("/v1/session"), 401, "unauthorized")


def test_without_tokens_everyone_may_everything_and_gets_no_cookie(bridge: Bridge) -> None:
    everything = {
        "token": None,
        "allow": ["read", "send", "admin"],
        "connections": ["*"],
        "expiresAt": None,
    }
    for method in ("GET", "POST"):
        response = bridge.request(method, "/v1/session", b"" if method == "POST" else None, BEARER)
        assert (response.status, response.json()) == (200, everything)
        assert "Set-Cookie" not in response.head
    assert bridge.request("DELETE", "/v1/session").status == 204


@pytest.mark.parametrize(
    "fields", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic b3BzOg=="}]
)
def test_without_a_right_token_there_is_no_session(guarded: Guarded, fields: dict[str, str]) -> None:
    response = guarded.bridge.request("POST", "/v1/session", b"", fields)
    assert_problem(response, 401, "unauthorized")
    assert response.header("WWW-Authenticate").startswith("Bearer")
    assert "Set-Cookie" not in response.head


def test_a_session_does_not_begin_another(guarded: Guarded) -> None:
    cookie = cookie_of(begin(guarded.bridge))
    assert_problem(guarded.bridge.request("POST", "/v1/session", b"", cookie), 401, "unauthorized")


def test_an_ended_session_is_of_no_use(guarded: Guarded) -> None:
    bridge = guarded.bridge
    cookie, other = cookie_of(begin(bridge)), cookie_of(begin(bridge))
    with bridge.client() as kept:
        # A head that comes again on the same connection is decided about once, unless rights have ended.
        assert kept.request("GET", "/status", None, cookie).status == 200
        response = bridge.request("DELETE", "/v1/session", None, cookie)
        assert (response.status, response.body) == (204, b"")
        name = cookie["Cookie"].split("=")[0]
        assert response.header("Set-Cookie") == f"{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
        refusal = kept.request("GET", "/status", None, cookie)
    assert_problem(refusal, 401, "unauthorized")
    assert "session has ended" in refusal.json()["detail"]
    assert bridge.get("/status", other).status == 200
    assert bridge.request("DELETE", "/v1/session", None, cookie).status == 204


def test_a_session_is_over_when_its_time_is(guarded: Guarded) -> None:
    guarded.http["sessionLifetime"] = "1s"
    guarded.reload()
    response = begin(guarded.bridge)
    assert "; Max-Age=1;" in response.header("Set-Cookie")
    cookie = cookie_of(response)
    stream = guarded.bridge.stream(fields=cookie)
    assert stream.rest() == []
    assert_problem(guarded.bridge.get("/status", cookie), 401, "unauthorized")


def test_sessions_are_bounded_for_each_token(guarded: Guarded) -> None:
    bridge = guarded.bridge
    other = cookie_of(begin(bridge, "another"))
    first = cookie_of(begin(bridge))
    stream = bridge.stream(fields=first)
    second = cookie_of(begin(bridge))
    with bridge.client() as client:
        for _ in range(254):
            assert client.request("POST", "/v1/session", b"", BEARER).status == 200
        assert bridge.get("/status", first).status == 200
        assert client.request("POST", "/v1/session", b"", BEARER).status == 200
    assert stream.rest() == []
    assert_problem(bridge.get("/status", first), 401, "unauthorized")
    assert bridge.get("/status", second).status == 200
    assert bridge.get("/status", other).status == 200


# Several bridges, and other cookies


def test_bridges_on_one_host_do_not_take_one_anothers_cookies(upstream: Upstream, start_bridge) -> None:
    bridges = [start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": TOKEN}) for _ in range(2)]
    # As a browser keeps them: by host and name, whatever the port.
    jar = dict(cookie_of(begin(bridge))["Cookie"].split("=") for bridge in bridges)
    assert len(jar) == 2
    cookies = {"Cookie": "; ".join(["theme=dark", *(f"{name}={value}" for name, value in jar.items()), "a"])}
    for bridge in bridges:
        assert bridge.get("/status", cookies).status == 200
        name = bridge.request("DELETE", "/v1/session", None, cookies).header("Set-Cookie").split("=")[0]
        assert jar.pop(name)
        assert_problem(bridge.get("/status", cookies), 401, "unauthorized")
    assert jar == {}


def test_the_cookie_keeps_its_name_over_restarts(upstream: Upstream, start_bridge) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"environment": {"WSBRIDGE_TOKEN": TOKEN}, "listen": f"127.0.0.1:{port}"}
    bridge = start_bridge(upstream.url, **options)
    stale = cookie_of(begin(bridge))
    bridge.stop()
    again = start_bridge(upstream.url, **options)
    assert_problem(again.get("/status", stale), 401, "unauthorized")
    assert cookie_of(begin(again))["Cookie"].split("=")[0] == stale["Cookie"].split("=")[0]


@pytest.mark.parametrize("others", [60, 180])
def test_a_session_is_found_among_the_many_cookies_of_localhost(guarded: Guarded, others: int) -> None:
    own = cookie_of(begin(guarded.bridge))["Cookie"]
    crowd = [f"cookie-{number}={'x' * 60}" for number in range(others)]
    for place in (0, others // 2, others):
        cookies = {"Cookie": "; ".join([*crowd[:place], own, *crowd[place:]])}
        assert guarded.bridge.get("/status", cookies).status == 200


# Other pages


def test_the_cookie_is_secure_where_the_page_is_on_tls(upstream: Upstream, start_bridge) -> None:
    environment = {"WSBRIDGE_TOKEN": TOKEN, "WSBRIDGE_ALLOWED_HOSTS": "bridge.example"}
    bridge = start_bridge(upstream.url, environment=environment)
    for scheme, is_secure in (("https", True), ("http", False)):
        fields = {"Host": "bridge.example", "Origin": f"{scheme}://bridge.example"}
        assert ("; Secure" in begin(bridge, **fields).header("Set-Cookie")) == is_secure


FOREIGN = [
    {"Origin": "http://localhost:3000"},
    {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("path", ["/events", "/status", "/v1/session"])
def test_an_image_on_a_page_of_another_port_gets_nothing(upstream: Upstream, start_bridge, path: str) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": TOKEN})
    fields = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    for credentials in (cookie_of(begin(bridge)), BEARER, {}):
        assert_problem(bridge.get(path, {**fields, **credentials}), 403, "origin-not-allowed")


@pytest.mark.parametrize("fields", FOREIGN)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/events"), ("POST", "/messages"), ("POST", "/disconnect")]
)
def test_a_page_of_another_port_cannot_use_the_session(
    upstream: Upstream, start_bridge, method: str, path: str, fields: dict[str, str]
) -> None:
    allowed = {"WSBRIDGE_TOKEN": TOKEN, "WSBRIDGE_ALLOWED_ORIGINS": "http://localhost:3000"}
    bridge = start_bridge(upstream.url, environment=allowed)
    cookie = cookie_of(begin(bridge))
    body = b"" if method == "POST" else None
    assert_problem(bridge.request(method, path, body, {**fields, **cookie}), 401, "unauthorized")
    assert_problem(
        bridge.request("DELETE", "/v1/session", None, {**fields, **cookie}), 403, "origin-not-allowed"
    )
    # Its own token it may use, but not to begin a session.
    assert bridge.get("/status", {**fields, **BEARER}).status == 200
    assert_problem(
        bridge.request("POST", "/v1/session", b"", {**fields, **BEARER}), 403, "origin-not-allowed"
    )
    assert bridge.get("/status", cookie).status == 200


def test_a_forged_request_with_the_cookie_is_refused(guarded: Guarded) -> None:
    cookie = cookie_of(begin(guarded.bridge))
    for fields in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        response = guarded.bridge.request("POST", "/messages", b"forged", {**fields, **cookie})
        assert_problem(response, 403, "origin-not-allowed")
        assert_problem(
            guarded.bridge.request("DELETE", "/v1/session", None, {**fields, **cookie}),
            403,
            "origin-not-allowed",
        )
    guarded.bridge.request("POST", "/messages", b"own", cookie)
    assert guarded._upstreams["default"].peer().received(1) == ["own"]


# Streams of rights that end


class Readers:
    """Streams and polls in one right's name."""

    def __init__(self, bridge: Bridge, name: str, fields: dict[str, str], query: str = ""):
        self.name = name
        self.streams = {
            "one connection": bridge.stream(f"/events?{query}", fields),
            "merged": bridge.stream(f"/v1/events?{query}", fields),
            "with a limit": bridge.stream(f"/events?limit=1000&{query}", fields),
            "HTTP/1.0": bridge.stream(f"/events?{query}", fields, version="HTTP/1.0"),
        }
        self.poll: Client = bridge.client()
        self.poll.send_head("GET", f"/messages?since=now&wait=5m&{query}", fields)

    def assert_ended(self) -> None:
        for kind, stream in self.streams.items():
            assert stream.rest() == [], (self.name, kind)
        answer = self.poll.response()
        assert (answer.status, answer.json()["messages"]) == (200, [])

    def assert_alive(self, bridge: Bridge, upstream: Upstream) -> None:
        upstream.peer().send("still here")
        for stream in self.streams.values():
            event = stream.next()
            assert "still here" in event.data
        assert self.poll.response().json()["messages"][0]["data"] == "still here"


@pytest.mark.usefixtures("stream_mode")
def test_streams_and_polls_of_an_ended_session_end_and_no_others(guarded: Guarded) -> None:
    bridge = guarded.bridge
    ending, staying = cookie_of(begin(bridge)), cookie_of(begin(bridge))
    ended = Readers(bridge, "the ended session", ending)
    others = [
        Readers(bridge, "another session", staying),
        Readers(bridge, "the token", BEARER),
        Readers(bridge, "the token in the query", {}, f"access_token={TOKEN}"),
    ]
    bridge.request("DELETE", "/v1/session", None, ending)
    ended.assert_ended()
    (first, *rest) = others
    first.assert_alive(bridge, guarded._upstreams["default"])
    for readers in rest:
        for stream in readers.streams.values():
            assert "still here" in stream.next().data


CHANGES: dict[str, Callable[[Guarded], Any]] = {
    "removed": lambda guarded: guarded.tokens.pop(0),
    "another value": lambda guarded: guarded.tokens[0].update(token="changed"),
    "fewer scopes": lambda guarded: guarded.tokens[0].update(allow=["send"]),
    "fewer connections": lambda guarded: guarded.tokens[0].update(connections=["feed"]),
}


@pytest.mark.usefixtures("stream_mode")
@pytest.mark.parametrize("change", CHANGES)
def test_streams_and_polls_of_a_token_that_changed_end_and_no_others(guarded: Guarded, change: str) -> None:
    bridge = guarded.bridge
    cookie = cookie_of(begin(bridge))
    ended = [
        Readers(bridge, "the session", cookie),
        Readers(bridge, "the token", BEARER),
        Readers(bridge, "the token in the query", {}, f"access_token={TOKEN}"),
    ]
    other = Readers(bridge, "another token", {"Authorization": "Bearer another"})
    CHANGES[change](guarded)
    guarded.reload()
    for readers in ended:
        readers.assert_ended()
    other.assert_alive(bridge, guarded._upstreams["default"])
    expected = 403 if "fewer" in change else 401
    assert bridge.get("/status", BEARER).status == expected
    assert bridge.get("/status", cookie).status == expected


def test_a_session_has_what_its_token_allows_now(guarded: Guarded) -> None:
    bridge = guarded.bridge
    cookie = cookie_of(begin(bridge))
    guarded.tokens[0] |= {"name": "renamed", "allow": ["read"]}
    guarded.reload()
    assert bridge.get("/v1/session", cookie).json()["token"] == "renamed"
    assert bridge.get("/status", cookie).status == 200
    assert_problem(bridge.request("POST", "/messages", b"x", cookie), 403, "forbidden")
    guarded.tokens[0]["allow"] = ["send"]
    guarded.reload()
    assert_problem(bridge.get("/status", cookie), 403, "forbidden")
    assert bridge.request("POST", "/messages", b"x", cookie).status == 202


def test_a_reload_that_changes_no_rights_leaves_sessions_and_streams_alone(guarded: Guarded) -> None:
    bridge = guarded.bridge
    cookie = cookie_of(begin(bridge))
    readers = Readers(bridge, "the session", cookie)
    guarded.http["maxBodyBytes"] = "2MiB"
    guarded.tokens.reverse()
    guarded.tokens.append({"name": "new", "token": "new-one"})
    guarded.reload()
    readers.assert_alive(bridge, guarded._upstreams["default"])
    assert bridge.get("/status", cookie).status == 200


def test_streams_of_anyone_end_when_tokens_are_asked_for(guarded: Guarded) -> None:
    guarded.tokens.clear()
    guarded.reload()
    readers = Readers(guarded.bridge, "anyone", {})
    guarded.tokens.append({"name": "ops", "token": TOKEN})
    guarded.reload()
    readers.assert_ended()
    assert_problem(guarded.bridge.get("/status"), 401, "unauthorized")


@pytest.mark.usefixtures("stream_mode")
def test_a_reader_that_stands_still_gets_nothing_more_once_its_right_has_ended(guarded: Guarded) -> None:
    bridge, peer = guarded.bridge, guarded._upstreams["default"].peer()
    stalled = bridge.stream(fields=BEARER, receive_buffer=4096)
    reader = bridge.stream(fields={"Authorization": "Bearer another"})
    texts = [f"{number} " + "x" * 10_000 for number in range(2000)]
    peer.start_sending(texts)
    reader.take(2000)
    guarded.tokens.pop(0)
    guarded.reload()
    # What it was being sent ends well, at an event's end; the rest of the history is not for it any more.
    got = [event.data for event in stalled.rest()]
    assert got == texts[: len(got)]
    assert len(got) < 1000


@pytest.mark.usefixtures("stream_mode")
def test_a_reader_of_the_history_gets_nothing_more_once_its_right_has_ended(guarded: Guarded) -> None:
    bridge, peer = guarded.bridge, guarded._upstreams["default"].peer()
    reader = bridge.stream(fields={"Authorization": "Bearer another"})
    texts = [f"{number} " + "x" * 10_000 for number in range(2000)]
    peer.start_sending(texts)
    reader.take(2000)
    replaying: Stream = bridge.stream("/events?since=start", BEARER, receive_buffer=4096)
    replaying.take(1)
    guarded.tokens.pop(0)
    guarded.reload()
    assert len(replaying.rest()) < 1000


def test_the_session_shows_nowhere(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, "--log-level", "debug", environment={"WSBRIDGE_TOKEN": TOKEN})
    response = begin(bridge)
    cookie = cookie_of(response)
    secret = cookie["Cookie"].split("=")[1]
    bridge.stream(fields=cookie)
    answers = [
        bridge.get(path, cookie)
        for path in ("/status", "/v1/session", "/v1/connections", "/subscribers", "/nothing", "/readyz")
    ]
    answers += [
        bridge.request("PUT", "/status", b"", cookie),
        bridge.request("POST", "/v1/session", b"", cookie),
        bridge.request("DELETE", "/v1/session", None, cookie),
        bridge.get("/status", cookie),
        response,
    ]
    bridge.stop()
    for answer in answers:
        assert secret not in answer.body.decode()
    assert secret[16:] not in bridge.err.text
    assert secret not in bridge.err.text
