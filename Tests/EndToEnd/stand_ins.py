"""What tests of presets at stand-ins share: fixtures that start and serve, and ends of connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness import Bridge
from presets import Change
from services.client import finished
from services.service import Service, Session

#: For `reconnect`.
QUICK = {"initialDelay": "20ms"}

#: Serves a connection with a preset, or what a change makes of it, to a stand-in.
Serve = Callable[..., Bridge]


def starting(kind: type[Service], **standard: Any) -> Any:
    """Return a fixture that starts a stand-in; the options of a test stand over these."""

    @pytest.fixture
    def start(start_service: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **options: start_service(kind, **standard | options)

    return start


def serving(name: str, **standard: Any) -> Any:
    """Return a fixture that serves a preset to a stand-in; the settings of a test stand over these."""

    @pytest.fixture
    def serve(serve_preset: Serve) -> Serve:
        def serve(service: Service, change: Change | None = None, **settings: Any) -> Bridge:
            url = settings.pop("url", service.url)
            return serve_preset(name, url, change, **standard | settings)

        return serve

    return serve


def unwelcoming(kind: type[Service], code: int) -> type[Service]:
    """Return the same stand-in, but that it closes each connection at once."""

    async def converse(_: Service, session: Session) -> None:
        await session.close(code)

    return type("Unwelcoming", (kind,), {"converse": converse})


def end(service: Service, bridge: Bridge, how: str | int, number: int) -> None:
    """End connection `number`: "drop" it, close it with a code, or have the user ask for another one."""
    if how == "drop":
        service.drop()
    elif isinstance(how, int):
        service.close(how)
    else:
        assert bridge.post("/reconnect").status == 200
    finished(service, number)


def await_opens(bridge: Bridge, opens: int) -> None:
    """Wait until the bridge is ready on the last of so many connections."""
    bridge.await_status(
        lambda status: status["ready"] and status["counters"]["opens"] == opens, "it is ready again"
    )
