"""The process of a `DistantUpstream`: prints its port and serves until it is killed."""

from __future__ import annotations

import asyncio
import sys

from websockets.asyncio.server import ServerConnection, serve


async def answer(connection: ServerConnection) -> None:
    async for message in connection:
        if message == "ping":
            await connection.send("pong")


async def main() -> None:
    async with serve(answer, sys.argv[1], 0, ping_interval=None) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
