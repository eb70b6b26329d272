"""The bridge that one writes in an afternoon with aiohttp: WebSocket in, server-sent events out, POST.

usage: aiohttp_bridge.py UPSTREAM_PORT LISTEN_PORT
"""

from __future__ import annotations

import asyncio
import sys

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

FIELDS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}


class Bridge:
    def __init__(self, upstream: ClientWebSocketResponse):
        self.upstream = upstream
        self.subscribers: set[asyncio.Queue[bytes]] = set()

    async def receive(self) -> None:
        number = 0
        async for message in self.upstream:
            if message.type is not WSMsgType.TEXT:
                continue
            number += 1
            event = f"id: 1-{number}\ndata: {message.data}\n\n".encode()
            for queue in self.subscribers:
                queue.put_nowait(event)

    async def events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers=FIELDS)
        response.enable_chunked_encoding()
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.subscribers.add(queue)
        try:
            await response.prepare(request)
            while True:
                await response.write(await queue.get())
        finally:
            self.subscribers.discard(queue)

    async def messages(self, request: web.Request) -> web.Response:
        await self.upstream.send_str(await request.text())
        return web.json_response({"state": "sent"}, status=202)


async def main(upstream_port: int, port: int) -> None:
    async with (
        ClientSession() as session,
        session.ws_connect(f"ws://127.0.0.1:{upstream_port}/", max_msg_size=0) as upstream,
    ):
        bridge = Bridge(upstream)
        application = web.Application()
        application.add_routes([web.get("/events", bridge.events), web.post("/messages", bridge.messages)])
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, backlog=4096).start()
        await bridge.receive()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
