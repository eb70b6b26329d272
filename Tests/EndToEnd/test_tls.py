"""`wss://` upstreams, with certificates made here."""

from __future__ import annotations

import json
import random
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Authority, Bridge, RawPeer, RawUpstream, await_truth
from harness.certificates import encrypt_key, self_signed_context
from harness.raw_upstream import frame
from harness.rekeying import RekeyingContext, RekeyingSocket

NEVER = {"enabled": False}
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


# The configuration


CONFIGURATION = 78


@pytest.fixture
def serve(serve_file, authority: Authority):
    """Serve a connection to this URL with these settings of TLS, and trust the test's authority."""

    def start(url: str, *flags: str, **tls: object) -> Bridge:
        settings = {"ca": authority.certificate, **tls}
        return serve_file(configuration(url, **settings), *flags)

    return start


def configuration(url: str, **tls: object) -> str:
    return json.dumps({"connections": {"default": {"url": url, "tls": tls}}}, default=str)


def test_a_server_name_is_verified_and_sent_in_place_of_the_host(start_upstream, serve, authority) -> None:
    names: list[str | None] = []
    context = authority.server_context("DNS:feed.example")
    context.sni_callback = lambda _, name, __: names.append(name)
    bridge = serve(start_upstream(tls=context).url, serverName="feed.example")
    bridge.await_ready()
    assert names == ["feed.example"]


def test_the_status_shows_the_version_and_that_the_certificate_is_verified(
    start_upstream, serve, authority
) -> None:
    bridge = serve(start_upstream(tls=authority.server_context(*NAMES)).url)
    assert bridge.await_ready()["tls"] == {"verified": True, "version": "TLSv1.3"}
    assert not [record for record in bridge.records if "not verified" in record["message"]]


def test_without_tls_the_status_shows_none(start_upstream, serve_file) -> None:
    bridge = serve_file(configuration(start_upstream().url, verify=False))
    assert bridge.await_ready()["tls"] is None
    assert not [record for record in bridge.records if "not verified" in record["message"]]


def test_verify_false_accepts_any_certificate_and_says_so(start_upstream, serve_file, tmp_path: Path) -> None:
    upstream = start_upstream(tls=self_signed_context(tmp_path, "DNS:other.example"))
    bridge = serve_file(configuration(upstream.url, verify=False))
    assert bridge.await_ready()["tls"]["verified"] is False
    warnings = [record for record in bridge.records if "not verified" in record["message"]]
    assert [(record["level"], record["connection"]) for record in warnings] == [("warning", "default")]


@pytest.mark.parametrize("form", [None, ("-v2", "des3"), ("-v2", "aes256", "-v2prf", "hmacWithSHA512")])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_our_certificate_is_shown_where_one_is_demanded(
    start_upstream, serve, authority, form: tuple[str, ...] | None, version
) -> None:
    certificate, key = authority.issue("DNS:client.example")
    settings = {"certificate": certificate, "key": key}
    if form is not None:
        settings |= {"key": encrypt_key(key, "p4ss wörd", *form), "keyPassword": "p4ss wörd"}
    context = authority.server_context(*NAMES, demands_certificate=True)
    context.minimum_version = context.maximum_version = version
    bridge = serve(start_upstream(tls=context).url, **settings)
    bridge.await_ready()


@pytest.mark.parametrize(
    ("version", "reason"),
    [(ssl.TLSVersion.TLSv1_2, "alert handshake failure"), (ssl.TLSVersion.TLSv1_3, "certificate required")],
)
def test_a_missing_certificate_of_ours_is_a_failure_of_tls_that_says_so(
    start_raw_upstream, serve, authority, version, reason: str
) -> None:
    context = authority.server_context(*NAMES, demands_certificate=True)
    context.minimum_version = context.maximum_version = version
    upstream = start_raw_upstream(tls=context)
    bridge = serve(upstream.url)
    with pytest.raises(ssl.SSLError):
        upstream.accept()
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert reason in error["error"]


def test_a_certificate_of_ours_that_is_not_trusted_is_a_failure_of_tls(
    start_raw_upstream, serve, authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path)
    certificate, key = stranger.issue("DNS:client.example")
    upstream = start_raw_upstream(tls=authority.server_context(*NAMES, demands_certificate=True))
    bridge = serve(upstream.url, certificate=certificate, key=key)
    with pytest.raises(ssl.SSLError):
        upstream.accept()
    error = failure(bridge)
    assert error["phase"] == "tls"
    assert "unknown ca" in error["error"]


@pytest.mark.parametrize(
    ("password", "complaint"),
    [
        (None, "tls.key: no key for {certificate} can be read from {key}: it is encrypted"),
        ("wr0ng", "tls.keyPassword: it does not open the key in {key}: "),
        ("", "tls.keyPassword: expected a password of 1 to 1024 bytes"),
        ("x" * 1025, "tls.keyPassword: expected a password of 1 to 1024 bytes"),
    ],
    ids=["missing", "wrong", "empty", "endless"],
)
@pytest.mark.parametrize("command", ["check", "serve"])
def test_a_wrong_password_of_the_key_is_a_wrong_configuration_and_nobody_is_asked(
    run_bridge, authority, tmp_path: Path, command: str, password: str | None, complaint: str
) -> None:
    certificate, key = authority.issue("DNS:client.example")
    encrypted = encrypt_key(key, "right")
    path = tmp_path / "wsbridge.yaml"
    path.write_text(
        configuration("wss://127.0.0.1:1/", certificate=certificate, key=encrypted, keyPassword=password)
    )
    bridge = run_bridge(command, "--config", str(path))
    assert bridge.exit_code() == CONFIGURATION
    assert complaint.format(certificate=certificate, key=encrypted) in bridge.err.text
    assert "wr0ng" not in bridge.err.text
    assert "pass phrase" not in (bridge.out.text + bridge.err.text).lower()


def test_the_password_of_the_key_is_masked(run_bridge, authority, tmp_path: Path) -> None:
    certificate, key = authority.issue("DNS:client.example")
    (tmp_path / "password").write_text("s3cret\n")
    path = tmp_path / "wsbridge.yaml"
    settings = {"certificate": certificate, "key": encrypt_key(key, "s3cret")}
    path.write_text(configuration("wss://127.0.0.1:1/", **settings, keyPassword="${file:password}"))
    bridge = run_bridge("check", "--config", str(path))
    assert bridge.exit_code() == 0, bridge.err.text
    assert 'keyPassword: "***"' in bridge.out.text
    assert "s3cret" not in bridge.out.text


@pytest.mark.parametrize("key", ["key", "keyPassword"])
def test_what_belongs_to_a_certificate_needs_one(run_bridge, authority, tmp_path: Path, key: str) -> None:
    path = tmp_path / "wsbridge.yaml"
    path.write_text(configuration("wss://127.0.0.1:1/", **{key: authority.certificate}))
    bridge = run_bridge("check", "--config", str(path))
    assert bridge.exit_code() == CONFIGURATION
    assert f"tls.{key}: needs a certificate beside it" in bridge.err.text


# OpenSSL's own server


@pytest.mark.parametrize(
    "options",
    [["-tls1_2"], ["-tls1_3"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"], ["-no_ticket"]],
    ids=" ".join,
)
def test_the_server_of_openssl_is_understood(start_openssl, serve, authority, options: list[str]) -> None:
    server = start_openssl(*authority.issue(*NAMES), *options)
    bridge = serve(server.url)
    server.accept_handshake()
    version = bridge.await_ready()["tls"]["version"]
    assert version == ("TLSv1.2" if "-tls1_2" in options else "TLSv1.3")
    stream = bridge.stream()
    server.say(b"\x81\x05hello")
    assert stream.next().data == "hello"
    bridge.send("answer")
    await_truth(lambda: bridge.status()["counters"]["sent"] == 1, "the answer is written")


def test_the_server_of_openssl_gets_our_certificate(start_openssl, serve, authority) -> None:
    ours, key = authority.issue("DNS:client.example")
    demand = ["-Verify", "1", "-verify_return_error", "-CAfile", str(authority.certificate)]
    server = start_openssl(*authority.issue(*NAMES), *demand)
    bridge = serve(server.url, certificate=ours, key=encrypt_key(key, "p4ss"), keyPassword="p4ss")
    server.accept_handshake()
    bridge.await_ready()
    server.said("subject=.*CN ?= ?server")  # what the harness calls all certificates


def test_the_server_of_openssl_refuses_us_without_a_certificate(start_openssl, serve, authority) -> None:
    demand = ["-Verify", "1", "-verify_return_error", "-CAfile", str(authority.certificate)]
    error = failure(serve(start_openssl(*authority.issue(*NAMES), *demand).url))
    assert (error["phase"], error["error"]) == ("tls", "TLS: tlsv13 alert certificate required")


def test_an_outdated_server_is_a_failure_of_tls(start_openssl, serve, authority) -> None:
    server = start_openssl(*authority.issue(*NAMES), "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
    error = failure(serve(server.url))
    assert error["phase"] == "tls"
    assert "protocol version" in error["error"]


def test_a_server_that_asks_for_another_handshake_amid_messages_does_not_get_it(
    start_openssl, serve, authority
) -> None:
    server = start_openssl(*authority.issue(*NAMES), "-tls1_2")
    bridge = serve(server.url)
    server.accept_handshake()
    bridge.await_ready()
    server.say(b"r\n")
    # This one insists, and leaves.
    closed = bridge.await_status(lambda status: status["lastClose"], "the close is recorded")["lastClose"]
    assert (closed["code"], closed["by"]) == (1006, "server")
    server.accept_handshake()
    assert bridge.await_ready()["counters"]["opens"] == 2


# New keys amid messages (RFC 8446 §4.6.3)


@pytest.fixture
def rekeying(authority, start_raw_upstream, serve_file) -> Iterator[tuple[Bridge, RawPeer, RekeyingSocket]]:
    """A bridge, its upstream, and the socket of that, which can change its key."""
    context = RekeyingContext(*authority.issue(*NAMES))
    upstream = start_raw_upstream(tls=context)
    settings = {"url": upstream.url, "tls": {"ca": str(authority.certificate)}, "heartbeat": {"interval": 0}}
    bridge = serve_file(json.dumps({"connections": {"default": settings}}))
    peer = upstream.accept()
    peer.accept_handshake()
    bridge.await_ready()
    yield bridge, peer, context.sockets[0]
    peer.close()


def test_each_request_for_a_new_key_is_answered_before_the_next_frame(rekeying) -> None:
    _, peer, secure = rekeying
    for count in range(1, 101):
        secure.change_key(both=True)
        # Its pong is the first frame that the bridge sends after it has seen the request (RFC 8446 §4.6.3).
        peer.send(frame(9, b"%d" % count))
        assert peer.frame() == (10, b"%d" % count)
        assert secure.foreign_keys == count


def test_new_keys_amid_messages_change_nothing(rekeying) -> None:
    bridge, peer, secure = rekeying
    stream = bridge.stream()
    random_bytes = random.Random(5).randbytes
    for number in range(100):
        # Larger than a record of TLS, and than what the kernel takes at once.
        down, up = (random_bytes(1 << (18 if number % 10 == 0 else 6)).hex() for _ in range(2))
        bridge.send(up)
        secure.change_key(both=number % 2 == 0)
        peer.send(frame(1, down.encode())[:7])
        secure.change_key(both=number % 3 == 0)
        peer.send(frame(1, down.encode())[7:])
        assert peer.frame() == (1, up.encode())
        assert stream.next().data == down
    assert secure.foreign_keys > 0
    assert bridge.status()["counters"]["opens"] == 1


def test_a_flood_of_requests_for_new_keys_is_survived(rekeying) -> None:
    bridge, peer, secure = rekeying
    stream = bridge.stream()
    # Their answers are taken now and then: those that are not end the connection, as the next test has it.
    for number in range(20):
        for _ in range(500):
            secure.change_key(both=True)
        peer.send(frame(1, b"%d" % number))
        assert stream.next().data == str(number)
        bridge.send(f"answer {number}")
        assert peer.frame() == (1, b"answer %d" % number)


def test_requests_for_new_keys_whose_answers_are_not_taken_end_the_connection(
    authority, serve_file, tmp_path: Path
) -> None:
    # A unix socket holds little, so that the answers soon wait in the bridge.
    context = RekeyingContext(*authority.issue("DNS:localhost"))
    settings = {"url": f"wss+unix:{tmp_path}/u.sock:/", "tls": {"ca": str(authority.certificate)}}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "u.sock"))
        listener.listen()
        bridge = serve_file(json.dumps({"connections": {"default": settings | {"reconnect": NEVER}}}))
        peer = RawPeer(context.wrap_socket(listener.accept()[0], server_side=True))
        peer.accept_handshake()
        bridge.await_ready()
        with pytest.raises(ConnectionError):
            while True:
                context.sockets[0].change_key(both=True)
        peer.close()
    status = bridge.await_status(lambda status: status["lastClose"], "the connection ends")
    assert (status["lastClose"]["code"], status["lastClose"]["by"]) == (1006, "server")
