"""Fixtures: whatever a test starts here ends with it, and every bridge must end cleanly."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import (
    Authority,
    Bridge,
    DistantUpstream,
    LocalTLS,
    OpenSSLServer,
    Peer,
    RawUpstream,
    Readers,
    Taker,
    Upstream,
    WebServer,
)
from harness.browser import Browser, Visit, running_browser
from harness.environment import STREAM_MODE, TLS_FOR_ALL
from presets import Change, configuration
from services.service import Service

#: Input/output error, as `sysexits.h` has it.
STORE_UNUSABLE = 74


@pytest.fixture(params=["detached", "suspended", "pulled", "tls"])
def stream_mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have bridges write their event streams in each way in turn; modules of streams use it throughout.

    Over TLS that is the best way, through what encrypts.
    """
    if request.param == "tls":
        monkeypatch.setattr(Bridge, "tls", request.getfixturevalue("local_tls"))
        monkeypatch.setenv("CURL_CA_BUNDLE", str(request.getfixturevalue("authority").certificate))
    else:
        monkeypatch.setenv(STREAM_MODE, request.param)
    return request.param


@pytest.fixture(autouse=True)
def everything_over_tls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all bridges speak TLS to their clients, where the environment asks for that."""
    if os.environ.get(TLS_FOR_ALL):
        monkeypatch.setattr(Bridge, "tls", request.getfixturevalue("local_tls"))


@pytest.fixture(scope="session")
def local_tls(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> LocalTLS:
    """A certificate with which bridges may speak TLS to their clients."""
    return LocalTLS(authority, tmp_path_factory.mktemp("local-tls"))


@pytest.fixture
def start_upstream() -> Iterator[Callable[..., Upstream]]:
    """Start upstreams with options; each has a port of its own."""
    with contextlib.ExitStack() as stack:

        def start(**options: Any) -> Upstream:
            upstream = Upstream(**options)
            stack.callback(upstream.stop)
            return upstream

        yield start


@pytest.fixture
def start_web_server() -> Iterator[Callable[..., WebServer]]:
    """Start HTTP servers; each answers as its test says."""
    with contextlib.ExitStack() as stack:

        def start(answer: Callable[..., Any], **options: Any) -> WebServer:
            server = WebServer(answer, **options)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def start_bridge(start_upstream: Callable[..., Upstream]) -> Iterator[Callable[..., Bridge]]:
    """Start `wsbridge serve` with an upstream's URL; it is stopped before the upstreams are."""
    with contextlib.ExitStack() as stack:

        def start(url: str, *arguments: str, **options: Any) -> Bridge:
            bridge = Bridge.serve(url, *arguments, **options)
            stack.callback(bridge.finish)
            return bridge

        yield start


@pytest.fixture
def run_bridge() -> Iterator[Callable[..., Bridge]]:
    """Run `wsbridge` with any arguments, without waiting for anything."""
    with contextlib.ExitStack() as stack:

        def run(*arguments: str, **options: Any) -> Bridge:
            bridge = Bridge(*arguments, **options)
            stack.callback(bridge.finish)
            return bridge

        yield run


@pytest.fixture
def serve_file(
    start_upstream: Callable[..., Upstream], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> Callable[..., Bridge]:
    """Serve with a configuration file, on a free port, and wait until it listens."""

    def serve(text: str, *arguments: str, **options: Any) -> Bridge:
        path = tmp_path / "wsbridge.yaml"
        path.write_text(text)
        flags = ["--config", str(path), "--listen", "127.0.0.1:0", "--log-format", "json"]
        return run_bridge("serve", *flags, *arguments, **options).listening()

    return serve


@pytest.fixture
def serve_preset(serve_file: Callable[..., Bridge], tmp_path: Path) -> Callable[..., Bridge]:
    """Serve the connection `default` that begins with a preset, or with what `change` makes of it."""

    def serve(
        name: str, url: str, change: Change | None = None, *, environment: Any = None, **settings: Any
    ) -> Bridge:
        text = configuration(name, url, tmp_path, change, **settings)
        return serve_file(text, environment=environment)

    return serve


@pytest.fixture
def raw_upstream(start_bridge: Callable[..., Bridge]) -> Iterator[RawUpstream]:
    """An upstream made of bytes; it closes before the bridge is stopped, which then need not wait for it."""
    upstream = RawUpstream()
    yield upstream
    upstream.stop()


@pytest.fixture
def start_raw_upstream(start_bridge: Callable[..., Bridge]) -> Iterator[Callable[..., RawUpstream]]:
    """Start upstreams made of bytes, with options."""
    with contextlib.ExitStack() as stack:

        def start(**options: Any) -> RawUpstream:
            upstream = RawUpstream(**options)
            stack.callback(upstream.stop)
            return upstream

        yield start


@pytest.fixture
def start_taker(run_bridge: Callable[..., Bridge]) -> Iterator[Callable[..., Taker]]:
    """Start upstreams that take messages; they end before the bridge, which need not wait for them."""
    with contextlib.ExitStack() as stack:

        def start(**options: Any) -> Taker:
            taker = Taker(**options)
            stack.callback(taker.stop)
            return taker

        yield start


@pytest.fixture
def read_from() -> Iterator[Callable[[Bridge], Readers]]:
    """Have clients that read hundreds of streams of a bridge."""
    with contextlib.ExitStack() as stack:
        yield lambda bridge: stack.enter_context(Readers(bridge.address))


@pytest.fixture
def start_distant_upstream() -> Iterator[Callable[..., DistantUpstream]]:
    """Start upstreams in processes of their own."""
    with contextlib.ExitStack() as stack:

        def start(**options: Any) -> DistantUpstream:
            upstream = DistantUpstream(**options)
            stack.callback(upstream.stop)
            return upstream

        yield start


@pytest.fixture
def start_openssl() -> Iterator[Callable[..., OpenSSLServer]]:
    """Start OpenSSL's own server with a certificate, its key and options."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: Any) -> OpenSSLServer:
            server = OpenSSLServer(*arguments)
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def start_service() -> Iterator[Callable[..., Any]]:
    """Start stand-ins for services: their class, and its options."""
    with contextlib.ExitStack() as stack:

        def start(kind: Callable[..., Service], **options: Any) -> Service:
            service = kind(**options)
            stack.callback(service.stop)
            return service

        yield start


@pytest.fixture
def upstream(start_upstream: Callable[..., Upstream]) -> Upstream:
    """An upstream that accepts."""
    return start_upstream()


@pytest.fixture
def bridge(upstream: Upstream, start_bridge: Callable[..., Bridge]) -> Bridge:
    """A bridge whose connection to `upstream` is open and ready."""
    bridge = start_bridge(upstream.url)
    upstream.peer()
    bridge.await_ready()
    return bridge


@pytest.fixture
def peer(upstream: Upstream, bridge: Bridge) -> Peer:
    """The upstream's end of the bridge's connection."""
    return upstream.peer()


@pytest.fixture
def away(start_upstream: Callable[..., Upstream]) -> Upstream:
    """An upstream that does not listen yet."""
    return start_upstream(away=True)


@pytest.fixture
def lonely(away: Upstream, start_bridge: Callable[..., Bridge]) -> Bridge:
    """A bridge whose upstream is away."""
    return start_bridge(away.url)


@pytest.fixture
def refusal(run_bridge: Callable[..., Bridge]) -> Callable[..., str]:
    """Start a bridge that must not start, and return why; `check` must say the same where it can know."""

    def start(directory: Path, *, is_checkable: bool = True, **options: Any) -> str:
        flags = ["--upstream", "ws://127.0.0.1:9/", "--listen", "127.0.0.1:0", "--data-dir", str(directory)]
        serve = run_bridge("serve", *flags, **options)
        assert serve.exit_code() == STORE_UNUSABLE
        if is_checkable:
            check = run_bridge("check", *flags, **options)
            assert check.exit_code() == STORE_UNUSABLE
            assert check.err.text == serve.err.text
        return serve.err.text

    return start


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority that no system trusts by itself."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Prepare visits to a bridge's page; each must pass without complaints of the browser."""
    visits: list[Visit] = []

    def prepare(bridge: Bridge, **options) -> Visit:
        visits.append(Visit(browser, bridge, **options))
        return visits[-1]

    yield prepare
    for each in visits:
        each.end()


@pytest.fixture
def serve_with(upstream: Upstream, serve_file: Callable[..., Bridge]) -> Callable[[str], tuple[Bridge, Peer]]:
    """Serve one connection, `default`, with further sections, and wait until it is ready."""

    def serve(sections: str) -> tuple[Bridge, Peer]:
        bridge = serve_file(f"{sections}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}")
        bridge.await_ready()
        return bridge, upstream.peer()

    return serve
