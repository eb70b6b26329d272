"""Secrets of every kind: each is a canary that must not be seen in anything that the bridge prints."""

from __future__ import annotations

import base64
import itertools
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import PATIENCE, Authority, Bridge, Upstream, WebAnswer, WebServer, await_truth
from harness.certificates import encrypt_key
from harness.environment import BINARY, clean_environment

#: No other text looks like this.
CANARY = re.compile(r"canary-[a-z-]+")

TOKEN = "canary-token"
BASIC = base64.b64encode(b"canary-user:canary-password").decode()
PROXY_BASIC = base64.b64encode(b"canary-proxy-user:canary-proxy-password").decode()
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def hidden_in(url: str, path: str = "feed") -> str:
    """The URL with secrets where a URL can have them."""
    return url.replace("://", "://canary-user:canary-password@").rstrip("/") + f"/{path}?key=canary-query"


@pytest.fixture
def settings(
    start_upstream: Callable[..., Upstream],
    start_web_server: Callable[..., WebServer],
    authority: Authority,
    tmp_path: Path,
) -> dict[str, Any]:
    """Settings with a secret wherever there can be one; `plain` and `script` reach an upstream."""
    upstream = start_upstream()
    talker = start_upstream(
        answers=lambda message: '{"session":"canary-captured"}' if message == "hello" else None
    )
    refusing = start_web_server(
        lambda request: WebAnswer(
            403, f"{request.target} {dict(request.headers)}".encode(), {"X-Seen": request.target}
        )
    )
    certificate, key = authority.issue("DNS:localhost")
    secret_header = {"Authorization": "Bearer canary-header", "X-Api-Key": "canary-header-value"}
    patient = {"reconnect": {"initialDelay": "50ms", "maxDelay": "50ms"}, "headers": secret_header}
    connections = {
        "default": {**patient, "url": hidden_in(upstream.url), "receiveOnly": False},
        "script": {
            **patient,
            "url": talker.url,
            "resumeUrl": f"{talker.url}{{{{var:session}}}}/canary-resume?key={{{{var:session}}}}",
            "onOpen": [
                {"send": {"text": "hello"}},
                {"expect": {"json": {"/session": None}}, "capture": {"session": "/session"}, "timeout": "5s"},
                {"send": {"text": '{"again":"{{var:session}}","is":"canary-sent-by-script"}'}},
            ],
            "heartbeat": {
                "interval": "200ms",
                "send": {"text": "canary-heartbeat {{var:session}}"},
                "expect": {"equals": "canary-answer"},
                "missLimit": 100,
            },
        },
        "refused": {**patient, "url": hidden_in(refusing.url)},
        "nobody": {**patient, "url": hidden_in("ws://127.0.0.1:1/")},
        "proxied": {
            **patient,
            "url": hidden_in("wss://upstream.invalid/"),
            "proxy": refusing.url.replace("://", "://canary-proxy-user:canary-proxy-password@"),
        },
        "keyed": {
            **patient,
            "url": hidden_in("wss://localhost:1/"),
            "tls": {
                "certificate": str(certificate),
                "key": str(encrypt_key(key, "canary-key-password")),
                "keyPassword": "canary-key-password",
            },
        },
        "provided": {
            **patient,
            "url": {
                "http": {
                    "url": hidden_in(refusing.url, "provider"),
                    "method": "POST",
                    "headers": {"Authorization": "Bearer canary-provider-header"},
                    "body": '{"secret":"canary-provider-body"}',
                    "pointer": "/url",
                }
            },
        },
        "answered": {
            **patient,
            "url": {"command": ["printf", "%s", "ws://canary-a:canary-b@127.0.0.1:1/x?k=canary-answered"]},
        },
        "commanded": {
            **patient,
            "url": {"command": ["/bin/sh", "-c", 'echo "cannot use $0" >&2; exit 3', "canary-argument"]},
        },
        "preset": {
            **patient,
            "preset": "discord",
            "url": hidden_in("ws://127.0.0.1:1/"),
            "parameters": {"token": "canary-parameter"},
        },
    }
    tokens = [
        {"name": "ops", "token": TOKEN},
        {"name": "reader", "token": "canary-reader", "allow": ["read"], "connections": ["default"]},
    ]
    http = {"tokens": tokens, "dynamicConnections": True}
    return {"http": http, "history": {"includeSent": False}, "connections": connections}


def canaries(text: str) -> set[str]:
    found = set(CANARY.findall(text))
    return found | {what for what in (BASIC, PROXY_BASIC) if what in text}


def test_a_canary_is_seen() -> None:
    assert canaries(f"a {TOKEN}b {BASIC}") == {"canary-tokenb", BASIC}


def test_what_check_prints_has_none(settings: dict[str, Any], run_bridge, tmp_path: Path) -> None:
    path = tmp_path / "wsbridge.yaml"
    path.write_text(json.dumps(settings))
    for more in ((), ("--explain",)):
        check = run_bridge("check", "--config", str(path), *more)
        assert check.exit_code() == 0, check.err.text
        # What the bridge says itself is no secret: scripts and heartbeats are shown as they are configured.
        said = {"canary-heartbeat", "canary-answer", "canary-sent-by-script"}
        assert canaries(check.out.text + check.err.text) - said == set()


@pytest.mark.parametrize("mistake", ["token", "url", "headers", "proxy", "parameters", "resumeUrl"])
def test_complaints_about_a_configuration_have_none(
    settings: dict[str, Any], run_bridge, tmp_path: Path, mistake: str
) -> None:
    default = settings["connections"]["default"]
    match mistake:
        case "token":
            settings["http"]["tokens"][0]["token"] = "canary-token with a blank"
            settings["http"]["tokens"][1]["token"] = [TOKEN]
        case "url":
            default["url"] = "ws://canary-user:canary-password@host:port/?canary-query#canary-fragment"
        case "headers":
            default["headers"] = {"X Y": "canary-header", "Z": "canary-line\nend"}
        case "proxy":
            default["proxy"] = "ftp://canary-proxy-user:canary-proxy-password@host"
        case "parameters":
            settings["connections"]["preset"]["parameters"] = {
                "tokn": "canary-parameter",
                "token": ["canary-list"],
            }
        case "resumeUrl":
            settings["connections"]["script"]["resumeUrl"] = (
                "ws://canary-user:canary-password@x/{{vra:session}}"
            )
    path = tmp_path / "wsbridge.yaml"
    path.write_text(json.dumps(settings))
    for command in ("check", "serve"):
        done = run_bridge(command, "--config", str(path), "--listen", "127.0.0.1:0")
        assert done.exit_code() == 78
        assert canaries(done.out.text + done.err.text) == set()


def everything(bridge: Bridge, cookie: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Ask for whatever shows something, and give each question with its answer, header included."""
    paths = [
        *(
            "/v1/connections",
            "/v1/session",
            "/readyz",
            "/healthz",
            "/metrics",
            "/openapi.yaml",
            "/",
            "/nothing",
        ),
        *(
            "/v1/events?types=status&since=start&limit=100&idle=100ms",
            "/events?types=status&direction=both&idle=100ms",
        ),
    ]
    names = [each["name"] for each in bridge.get("/v1/connections", BEARER).json()["connections"]]
    parts = (
        "",
        "/status",
        "/subscribers",
        "/outbox",
        "/outbox/none",
        "/messages?types=status&direction=both",
    )
    paths += [f"/v1/connections/{name}{part}" for name, part in itertools.product(names, parts)]
    credentials = [
        BEARER,
        cookie,
        {"Authorization": "Bearer canary-wrong"},
        {"Authorization": f"Basic {BASIC}"},
    ]
    credentials += [
        {"Authorization": "Bearer canary-reader"},
        {"Cookie": "wsbridge-session=canary-cookie"},
        {},
    ]
    for path, fields in itertools.product(paths, credentials):
        answer = bridge.get(path, fields)
        yield path, f"{answer.head.fields} {answer.body.decode()}"
    for path in (
        f"/status?access_token={TOKEN}",
        "/status?access_token=canary-wrong",
        "/?access_token=canary-wrong",
    ):
        for method in ("GET", "PUT", "OPTIONS", "BREW"):
            answer = bridge.request(method, path)
            yield path, f"{answer.head.fields} {answer.body.decode()}"
    for method, path, body in (
        ("POST", "/messages", b"canary-payload"),
        ("POST", "/messages", b"canary-payload\xff"),
        ("POST", "/messages?wait=1s", b"canary-payload"),
        ("POST", "/request?correlate=/id", b"canary-payload"),
        ("POST", "/disconnect", b'{"reason": canary-payload'),
        (
            "PUT",
            "/v1/connections/made",
            b'{"url":"ws://canary-user:canary-password@127.0.0.1:1/?canary-query"}',
        ),
        (
            "PUT",
            "/v1/connections/made",
            b'{"url":"ftp://canary-user:canary-password@x/","headers":"canary-header"}',
        ),
        ("GET", "/v1/connections/made", None),
        ("POST", "/reconnect", b""),
    ):
        answer = bridge.request(method, path, body, BEARER)
        yield f"{method} {path}", f"{answer.head.fields} {answer.body.decode()}"


@pytest.mark.parametrize("format", ["json", "text"])
def test_what_a_running_bridge_prints_and_answers_has_none(
    settings: dict[str, Any], run_bridge, tmp_path: Path, format: str
) -> None:
    path = tmp_path / "wsbridge.yaml"
    path.write_text(json.dumps(settings))
    flags = ("--config", str(path), "--listen", "127.0.0.1:0", "--log-level", "debug", "--log-format", format)
    bridge = run_bridge("serve", *flags, "--data-dir", str(tmp_path / "store"))
    bridge.listening()
    begun = bridge.request("POST", "/v1/session", b"", BEARER)
    name, value = begun.header("Set-Cookie").split(";")[0].split("=")
    cookie = {"Cookie": f"theme=canary-theme; {name}={value}"}

    def states() -> dict[str, Any]:
        return {each["name"]: each for each in bridge.get("/v1/connections", BEARER).json()["connections"]}

    failing = set(settings["connections"]) - {"default", "script"}
    await_truth(
        lambda: states()["default"]["ready"] and states()["script"]["ready"], "those that can are ready"
    )
    await_truth(lambda: all(states()[name]["lastError"] for name in failing), "the others have failed")
    await_truth(lambda: states()["script"]["counters"]["heartbeatsSent"] > 1, "heartbeats are sent")

    streams = [bridge.stream("/v1/events", cookie), bridge.stream(f"/events?access_token={TOKEN}")]
    for question, answer in everything(bridge, cookie):
        assert canaries(answer) == set(), question
        assert value[16:] not in answer, question
    # Of a script whose captured variables make the URL.
    assert bridge.request("POST", "/v1/connections/script/reconnect", b"", BEARER).status == 200
    await_truth(lambda: states()["script"]["counters"]["opens"] > 1, "the script is said again")
    assert canaries(json.dumps(states())) == set()

    for command in (
        ["send", "--connection", "default", "x"],
        ["tail", "--since", "start", "--format", "none"],
    ):
        done = subprocess.run(
            [str(BINARY), *command, "--listen", f"{bridge.address[0]}:{bridge.address[1]}"],
            env=clean_environment(WSBRIDGE_TOKEN="canary-wrong"),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode != 0
        assert canaries(done.stdout + done.stderr) == set()
    assert bridge.request("DELETE", "/v1/session", None, cookie).status == 204
    streams[0].rest()
    bridge.stop()
    assert canaries(bridge.out.text + bridge.err.text) == set()
    assert value not in bridge.err.text
    assert value[16:] not in bridge.err.text
    # The log told of all that, without them.
    for word in ("a session began", "403", "provided"):
        assert word in bridge.err.text
