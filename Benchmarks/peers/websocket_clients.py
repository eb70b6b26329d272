"""WebSocket clients that read and do nothing: what Python's libraries take from a socket.

usage: websocket_clients.py websockets|aiohttp UPSTREAM_PORT
"""

from __future__ import annotations

import asyncio
import sys

from aiohttp import ClientSession
from websockets.asyncio.client import connect


async def with_websockets(url: str) -> None:
    async with connect(url, max_size=None, compression=None) as connection:
        async for _ in connection:
            pass


async def with_aiohttp(url: str) -> None:
    async with ClientSession() as session, session.ws_connect(url, max_msg_size=0) as connection:
        async for _ in connection:
            pass


if __name__ == "__main__":
    run = {"websockets": with_websockets, "aiohttp": with_aiohttp}[sys.argv[1]]
    asyncio.run(run(f"ws://127.0.0.1:{sys.argv[2]}/"))
