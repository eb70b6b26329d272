"""`wss://` upstreams, with certificates made here."""

from __future__ import annotations

import random
import re
import ssl
from pathlib import Path

import pytest

from harness import Authority, Bridge, RawUpstream
from harness.certificates import self_signed_context

NAMES = ("DNS:localhost", "IP:127.0.0.1")


@pytest.fixture
def trust(authority: Authority) -> dict[str, str]:
    """The environment of a bridge that trusts the test's authority: OpenSSL's own variable."""
    return {"SSL_CERT_FILE": str(authority.certificate)}


def failure(bridge: Bridge) -> dict:
    return bridge.await_status(lambda status: status["lastError"], "the attempt fails")["lastError"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_messages_flow_both_ways_over_tls(start_upstream, start_bridge, authority, trust, host: str) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(upstream.url.replace("127.0.0.1", host), environment=trust)
    bridge.await_ready()
    stream = bridge.stream()
    upstream.peer().send("from above")
    bridge.send("from below")
    assert stream.next().data == "from above"
    assert upstream.peer().received(1) == ["from below"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_of_tls_work(start_upstream, start_bridge, authority, trust, version) -> None:
    context = authority.server_context(*NAMES)
    context.minimum_version = context.maximum_version = version
    bridge = start_bridge(start_upstream(tls=context).url, environment=trust)
    assert bridge.await_ready()["state"] == "open"


def test_large_messages_pass_tls_whole(start_upstream, start_bridge, authority, trust) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(upstream.url, environment=trust)
    stream = bridge.stream()
    text = random.Random(4).randbytes(1 << 19).hex()
    upstream.peer().send(text)
    assert stream.next().data == text
    bridge.send(text)
    assert upstream.peer().received(1) == [text]


def test_a_name_is_sent_for_the_server_to_choose_its_certificate(
    start_upstream, start_bridge, authority, trust
) -> None:
    names: list[str | None] = []
    context = authority.server_context(*NAMES)
    context.sni_callback = lambda _, name, __: names.append(name)
    upstream = start_upstream(tls=context)
    start_bridge(upstream.url.replace("127.0.0.1", "localhost"), environment=trust).await_ready()
    assert names == ["localhost"]


def test_an_address_is_not_sent_as_a_name(start_upstream, start_bridge, authority, trust) -> None:
    names: list[str | None] = []
    context = authority.server_context(*NAMES)
    context.sni_callback = lambda _, name, __: names.append(name)
    start_bridge(start_upstream(tls=context).url, environment=trust).await_ready()
    assert names == [None]


def test_a_self_signed_certificate_is_refused_and_the_error_says_why(
    start_upstream, start_bridge, tmp_path: Path
) -> None:
    bridge = start_bridge(start_upstream(tls=self_signed_context(tmp_path, *NAMES)).url)
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert re.search("self.signed", error["error"], re.IGNORECASE)


def test_a_certificate_of_an_unknown_authority_is_refused_and_the_error_says_why(
    start_upstream, start_bridge, authority
) -> None:
    bridge = start_bridge(start_upstream(tls=authority.server_context(*NAMES)).url)
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert re.search("issuer|self.signed|trust", error["error"], re.IGNORECASE)


@pytest.mark.parametrize("file", [None, "/nowhere/ca.pem", "/etc/hostname"])
def test_the_error_for_an_unknown_authority_says_where_to_name_it(
    start_upstream, start_bridge, authority, file: str | None
) -> None:
    environment = {"SSL_CERT_FILE": file} if file else {}
    bridge = start_bridge(start_upstream(tls=authority.server_context(*NAMES)).url, environment=environment)
    text = failure(bridge)["error"]
    assert "unable to get local issuer certificate" in text
    if file:
        assert f"SSL_CERT_FILE names {file}, which cannot be read: " in text
    else:
        assert text.endswith("for an authority of your own, set SSL_CERT_FILE to its PEM file")


@pytest.mark.parametrize(
    ("names", "host"),
    [
        (("DNS:other.example",), "localhost"),
        (("DNS:localhost",), "127.0.0.1"),
        (("IP:127.0.0.1",), "localhost"),
        (("IP:127.0.0.2",), "127.0.0.1"),
        # A name that looks like the address is no address (RFC 6125).
        (("DNS:127.0.0.1",), "127.0.0.1"),
    ],
)
def test_a_certificate_for_another_name_is_refused_and_the_error_says_why(
    start_upstream, start_bridge, authority, trust, names: tuple[str, ...], host: str
) -> None:
    upstream = start_upstream(tls=authority.server_context(*names))
    bridge = start_bridge(upstream.url.replace("127.0.0.1", host), environment=trust)
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert re.search("mismatch|match|name|valid for", error["error"], re.IGNORECASE)


def test_an_expired_certificate_is_refused_and_the_error_says_why(
    start_upstream, start_bridge, authority, trust
) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES, expired=True))
    error = failure(start_bridge(upstream.url, environment=trust))
    assert error["phase"] == "tls"
    assert "expired" in error["error"].lower()


def test_a_server_without_tls_is_reported_as_a_failure_of_tls(start_upstream, start_bridge) -> None:
    bridge = start_bridge(start_upstream().url.replace("ws://", "wss://"))
    assert failure(bridge)["phase"] == "tls"


def test_a_server_that_closes_within_the_tls_handshake_is_reported_as_its_failure(
    start_bridge, raw_upstream: RawUpstream
) -> None:
    bridge = start_bridge(raw_upstream.url.replace("ws://", "wss://"))
    raw_upstream.accept().close()
    assert failure(bridge)["phase"] == "tls"


def test_a_drop_over_tls_is_reported_as_1006(start_upstream, start_bridge, authority, trust) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(upstream.url, environment=trust)
    bridge.await_ready()
    upstream.peer().drop()
    closed = bridge.await_status(lambda status: status["lastClose"], "the close is recorded")["lastClose"]
    assert (closed["code"], closed["clean"], closed["by"]) == (1006, False, "server")


def test_a_close_over_tls_is_reported_exactly(start_upstream, start_bridge, authority, trust) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(upstream.url, environment=trust)
    bridge.await_ready()
    upstream.peer().close(4001, "because")
    closed = bridge.await_status(lambda status: status["lastClose"], "the close is recorded")["lastClose"]
    assert (closed["code"], closed["reason"], closed["clean"]) == (4001, "because", True)


def test_the_bridge_closes_tls_connections_with_1001_when_it_stops(
    start_upstream, start_bridge, authority, trust
) -> None:
    upstream = start_upstream(tls=authority.server_context(*NAMES))
    bridge = start_bridge(upstream.url, environment=trust)
    bridge.await_ready()
    bridge.stop()
    close_frame = upstream.peer().left()
    assert close_frame
    assert close_frame[0] == 1001
