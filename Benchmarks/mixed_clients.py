"""The clients of `mixed.py`: each kind does its own again and again, and checks what it is told."""

from __future__ import annotations

import asyncio
import collections
import itertools
import json
import random
import time
from collections.abc import Awaitable, Callable

import aiohttp
from mixed_upstream import Upstream

TEXT = {"Content-Type": "text/plain"}
#: Fewer than are remembered, so that they take no more and more room.
KEYS = 500
FLAKY = "/v1/connections/flaky"
STREAMS = [
    "/events",
    "/events?format=json&types=text,binary,status",
    "/events?since=start&limit=500",
    "/events?topic=kinds.k3",
    "/events?match=/kind:k5&format=ndjson",
    "/events?last=20&idle=2s",
    f"{FLAKY}/events?types=text,status&direction=both",
    "/v1/events",
    "/v1/events?connection=dyn*&connection=default&format=ndjson",
    "/v1/connections/changing/events",
]


class Clients:
    """All that use the bridge at `base`; each pause is drawn at random and divided by `pace`."""

    def __init__(self, base: str, dice: random.Random, pace: float):
        self._base = base
        self._dice = dice
        self._pace = pace
        self._names = itertools.count()
        self._keys = itertools.count()
        self._session: aiohttp.ClientSession | None = None
        #: How often what was done.
        self.counts: collections.Counter[str] = collections.Counter()
        self._accepted: set[str] = set()

    async def await_ready(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if await self._ask("GET", "/status", {200}) is not None:
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)
        raise TimeoutError("the bridge does not answer")

    async def work(self, seconds: float, reload: Callable[[], None]) -> None:
        """Have all of them work for so long, while the configuration is read again and again."""
        async with self._open() as session:
            self._session = session
            end = time.monotonic() + seconds
            kinds = [
                *[(self._post, 0.3)] * 4,
                (self._post_to_flaky, 1),
                *[(self._read, 1)] * 12,
                (self._poll, 1),
                (self._request, 0.5),
                (self._look, 2),
                (self._come_and_go, 2),
                (self._replay, 5),
            ]
            async with asyncio.TaskGroup() as group:
                for kind, pause in kinds:
                    group.create_task(self._again(kind, pause, end))
                group.create_task(self._reload(reload, end))
        self._session = None

    async def leave(self) -> None:
        """Wait until nobody is connected and nothing is under way."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            status = json.loads(await self._ask("GET", "/status", {200}) or b"")
            if status["subscribers"] == 0 and status["outbox"]["messages"] == 0:
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)

    async def check(self, upstream: Upstream) -> None:
        """All that was accepted has come."""
        for _ in range(100):
            if not (missing := self._accepted - upstream.taken):
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"accepted and never sent: {sorted(missing)[:10]}")

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    # What they do

    async def _again(self, kind: Callable[[], Awaitable[None]], pause: float, end: float) -> None:
        while time.monotonic() < end:
            await kind()
            await asyncio.sleep(
                min(self._dice.random() * 2 * pause / self._pace, max(0, end - time.monotonic()))
            )

    async def _reload(self, reload: Callable[[], None], end: float) -> None:
        while time.monotonic() < end - 2:
            reload()
            self.counts["reloads"] += 1
            await asyncio.sleep(2 / self._pace)

    async def _post(self) -> None:
        name = f"m{next(self._names)}"
        texts, query, fields = [name], "", dict(TEXT)
        match self._dice.randrange(4):
            case 0:
                texts, fields = (
                    [f"{name}-{line}" for line in range(5)],
                    {"Content-Type": "application/x-ndjson"},
                )
            case 1:
                query = "?wait=5s"
            case 2:
                # Each comes again, as is, when its turn is there.
                texts = [f"keyed-{next(self._keys) % KEYS}"]
                fields["Idempotency-Key"] = texts[0]
        await self._ask("POST", f"/messages{query}", {200, 202}, "\n".join(texts).encode(), fields)
        self._accepted.update(texts)
        self.counts["messages accepted"] += len(texts)

    async def _post_to_flaky(self) -> None:
        await self._ask("POST", f"{FLAKY}/messages?queue=false", {202, 503}, b"now or never", TEXT)
        self.counts["messages for an upstream that comes and goes"] += 1

    async def _read(self) -> None:
        """Read a stream for a while, and leave in the middle of it."""
        target = self._dice.choice(STREAMS)
        until = time.monotonic() + self._dice.random() * 4
        assert self._session
        async with self._session.get(self._base + target) as response:
            assert response.status == 200, (target, response.status, await response.text())
            self.counts["streams"] += 1
            while (left := until - time.monotonic()) > 0:
                try:
                    piece = await asyncio.wait_for(response.content.readany(), left)
                except TimeoutError:
                    break
                if not piece:
                    break
            response.close()

    async def _replay(self) -> None:
        body = await self._ask("GET", "/messages?since=start&limit=1000&types=text,binary,status", {200})
        page = json.loads(body or b"")
        ids = [int(record["id"].split("-")[1]) for record in page["messages"]]
        assert ids == sorted(ids)
        self.counts["replays"] += 1

    async def _poll(self) -> None:
        page = json.loads(await self._ask("GET", "/messages?limit=1&types=text", {200}) or b"")
        await self._ask("GET", f"{FLAKY}/messages?wait=500ms&since={page['next']}", {200})
        self.counts["polls"] += 2

    async def _request(self) -> None:
        body = json.dumps({"id": next(self._names), "say": "x" * self._dice.randrange(500)}).encode()
        answer = await self._ask("POST", "/request?timeout=20s", {200}, body, TEXT)
        assert json.loads(answer or b"") == json.loads(body)
        self.counts["requests"] += 1

    async def _look(self) -> None:
        for target, statuses in [
            ("/status", {200}),
            ("/readyz", {200, 503}),
            ("/metrics", {200, 404}),
            ("/v1/connections", {200}),
            ("/", {200}),
            ("/outbox", {200}),
            ("/nothing", {404}),
            ("/events?since=never", {400}),
        ]:
            await self._ask("GET", target, statuses)
            self.counts["other questions"] += 1

    async def _come_and_go(self) -> None:
        path = f"/v1/connections/dyn{self._dice.randrange(20)}"
        status = json.loads(await self._ask("GET", "/status", {200}) or b"")
        body = json.dumps({"url": status["url"], "idleTimeout": f"{self._dice.randrange(1, 90)}s"}).encode()
        await self._ask("PUT", path, {200, 201}, body)
        await self._ask("POST", f"{path}/messages?wait=5s", {200, 202}, b'{"hello":"there"}', TEXT)
        await self._ask("DELETE", path, {204})
        self.counts["connections made and removed"] += 1

    async def _ask(
        self,
        method: str,
        target: str,
        statuses: set[int],
        body: bytes | None = None,
        fields: dict[str, str] | None = None,
    ) -> bytes | None:
        if self._session is None:
            async with self._open() as session:
                return await self._ask_in(session, method, target, statuses, body, fields)
        return await self._ask_in(self._session, method, target, statuses, body, fields)

    async def _ask_in(self, session, method, target, statuses, body, fields) -> bytes:
        async with session.request(method, self._base + target, data=body, headers=fields) as response:
            content = await response.read()
            assert response.status in statuses, (method, target, response.status, content[:500])
            return content

    @staticmethod
    def _open() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))
