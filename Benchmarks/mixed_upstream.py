"""The upstreams of `mixed.py`: both answer requests and say something; one also ends its connections."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed


class Upstream:
    """A WebSocket server on a free port of the loopback interface."""

    def __init__(self, *, is_flaky: bool = False):
        """If it `is_flaky`, connections end after a while, in one way after the other."""
        self._endings = itertools.cycle([1000, 1012, 4000, None]) if is_flaky else None
        #: Messages that it has sent.
        self.said = 0
        #: Texts that have come and have to be found again.
        self.taken: set[str] = set()

    async def listen(self) -> None:
        self._server = await serve(self._handle, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}/"

    async def _handle(self, connection: ServerConnection) -> None:
        talk = asyncio.create_task(self._talk(connection))
        if self._endings:
            asyncio.get_running_loop().call_later(3, lambda: asyncio.ensure_future(self._end(connection)))
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                if isinstance(message, str) and message.startswith("{"):
                    await connection.send(message)
                elif isinstance(message, str):
                    self.taken.add(message)
        talk.cancel()

    async def _talk(self, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for number in itertools.count():
                await asyncio.sleep(0.05)
                text = {"kind": f"k{number % 7}", "number": number, "text": "x" * (number * 37 % 3000)}
                await connection.send(json.dumps(text) if number % 5 else b"\0\1" * (number % 400))
                self.said += 1

    async def _end(self, connection: ServerConnection) -> None:
        assert self._endings
        code = next(self._endings)
        if code is None:
            connection.transport.abort()
        else:
            with contextlib.suppress(ConnectionClosed):
                await connection.close(code)
