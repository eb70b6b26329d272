"""Presets on trial: what a bridge makes of one with a stand-in, and what that says to one with a mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness import Bridge
from presets import Change, preset
from services.client import clauses

Tree = dict[str, Any]

#: For `reconnect`: what is lost is dialled again at once, over and over.
AT_ONCE = {"initialDelay": "10ms", "factor": 1, "jitter": 0, "resetAfter": 0}


#: For `heartbeat`: many of them, none of which a busy machine can be too slow for.
OFTEN = {"interval": "50ms", "missLimit": 1000}


class Feed:
    """All that a connection tells its readers, from its beginning: messages of JSON, and status records."""

    def __init__(self, bridge: Bridge):
        self._stream = bridge.stream("/events?format=json&types=text,binary,status&since=start")

    def record(self) -> Tree:
        """Wait for the next record; nothing may be missing."""
        record = json.loads(self._stream.next().data)
        assert record["type"] != "gap", record
        return record

    def message(self) -> tuple[str, Any]:
        """Wait for the next message, passing over status records; return its topic and content."""
        while (record := self.record())["type"] == "status":
            pass
        return record["topic"], json.loads(record["data"])

    def messages(self, count: int) -> list[tuple[str, Any]]:
        return [self.message() for _ in range(count)]

    def until_status(self, kind: str) -> Tree:
        """Wait for the next status record of this type, passing over all else; return what it says."""
        while (record := self.record())["type"] != "status" or record["data"]["type"] != kind:
            pass
        return record["data"]


@dataclass
class Trial:
    """A stand-in for a service, and a bridge that a preset leads there."""

    service: Any
    bridge: Bridge

    def feed(self) -> Feed:
        return Feed(self.bridge)

    def await_beats(self, count: int) -> None:
        """Wait for so many further heartbeats of the bridge."""
        before = self.bridge.status()["counters"]["heartbeatsSent"]
        self.bridge.await_status(
            lambda status: status["counters"]["heartbeatsSent"] >= before + count, f"{count} more heartbeats"
        )

    def await_state(self, state: str) -> Tree:
        return self.bridge.await_status(lambda status: status["state"] == state, f"the state {state}")

    def send(self, message: Any) -> None:
        """Send JSON."""
        self.bridge.send(json.dumps(message))

    def request(self, body: Any) -> Any:
        """Send a request, and return the reply."""
        response = self.bridge.post("/request", json.dumps(body).encode())
        assert response.status == 200, response
        return response.json()


#: Starts a stand-in, with `options`, and leads there a preset, or what a change makes of it.
Try = Callable[..., Trial]


def trying(kind: type, name: str, settings: Callable[[Any], Tree] = lambda _: {}, **standard: Any) -> Any:
    """Return a fixture that tries a preset; `settings` are what its connection says with a stand-in.

    Options and settings of a test stand over these.
    """

    @pytest.fixture
    def trial(start_service: Callable[..., Any], serve_preset: Callable[..., Bridge]) -> Try:
        def trial(change: Change | None = None, options: Tree | None = None, **more: Any) -> Trial:
            service = start_service(kind, **standard | (options or {}))
            connection = {"url": service.url, "reconnect": AT_ONCE} | settings(service) | more
            return Trial(service, serve_preset(name, connection.pop("url"), change, **connection))

        return trial

    return trial


def rule(name: str, when: Tree) -> int:
    """Return where a preset has its rule for messages with these values, by their pointers."""
    (index,) = (i for i, each in enumerate(preset(name)["rules"]) if each["when"] == {"json": when})
    return index


@dataclass(frozen=True)
class Mistake:
    """A preset changed for the worse, and the rule of its service that it breaks."""

    name: str
    change: Change
    clause: str
    #: What happens to it, if being there is not enough; not all that it does need succeed.
    act: Callable[[Trial], None] = lambda _: None
    #: Of the stand-in, such as limits that are short enough to wait for.
    options: Tree = field(default_factory=dict)
    #: Settings of the connection beside the preset.
    settings: Tree = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def is_found_in(self, trial: Trial) -> None:
        """Act, and wait until the stand-in complains by the rule that is broken."""
        self.act(trial)
        service = trial.service
        service.await_truth(lambda: self.clause in clauses(service), f"a complaint by {self.clause}")
