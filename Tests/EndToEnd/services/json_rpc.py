"""A strict JSON-RPC 2.0 server over WebSocket that publishes as Ethereum nodes do."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Sequence
from typing import Any

from .service import Ended, Service, Session

SPECIFICATION = "https://www.jsonrpc.org/specification"
REQUEST_OBJECT = f"{SPECIFICATION}#request_object"
PARAMETERS = f"{SPECIFICATION}#parameter_structures"
PARSE_ERROR = f"{SPECIFICATION}#error_object"
BATCH = f"{SPECIFICATION}#batch"
PUBSUB = "https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub"
CANCEL = f"{PUBSUB}#cancel-subscription"
CONSIDERATIONS = f"{PUBSUB}#considerations"
SUPPORTED = f"{PUBSUB}#supported-subscriptions"

_STREAMS = {"newHeads", "logs", "newPendingTransactions", "syncing"}


class JSONRPC(Service):
    """Answers requests and publishes events; its rules:

    - what comes is JSON (PARSE_ERROR): a Request object (REQUEST_OBJECT), or a batch of at least one (BATCH);
    - `jsonrpc` is "2.0", `method` a string that does not begin with "rpc." (REQUEST_OBJECT);
    - `id` is a string or a number, not null, without a fraction, and, since nothing else tells replies
      apart, not that of a request that has no reply yet (REQUEST_OBJECT);
    - `params`, if there, is an array or an object (PARAMETERS);
    - `eth_subscribe` names a stream there is (SUPPORTED), `eth_unsubscribe` one subscription that this
      connection has (CANCEL), since subscriptions end with their connection (CONSIDERATIONS);
    - so every connection subscribes anew to what `subscriptions` lists, within `within` seconds
      (CONSIDERATIONS).

    Methods are `echo` (gives back its params), `fail` (an error), `hold` (answered by `release`),
    `eth_subscribe` and `eth_unsubscribe`.
    """

    def __init__(self, *, subscriptions: Sequence[str] = (), within: float = 10):
        self._wanted = subscriptions
        self._within = within
        self._ids = itertools.count(0xCD0C3E8AF590364C)
        #: Ids of subscriptions of all connections so far.
        self._given: set[str] = set()
        self._held: list[tuple[Session, Any]] = []
        super().__init__()

    # What tests do

    def publish(self, stream: str, result: Any) -> None:
        """Tell all who are subscribed."""

        async def publish() -> None:
            for session in self.sessions:
                for identifier, name in list(session.notes.get("subscriptions", {}).items()):
                    if name == stream and session.is_open:
                        params = {"subscription": identifier, "result": result}
                        with contextlib.suppress(Ended):
                            await session.send(
                                {"jsonrpc": "2.0", "method": "eth_subscription", "params": params}
                            )

        self.run(publish())

    def await_subscription(self, number: int = 0, count: int = 1) -> Session:
        """Wait until connection `number` has so many subscriptions."""
        session = self.session(number)
        self.await_truth(
            lambda: len(session.notes.get("subscriptions", {})) >= count,
            f"{count} subscriptions on connection {number}",
        )
        return session

    def release(self) -> None:
        """Answer the requests that are held, the newest first."""

        async def release() -> None:
            while self._held:
                session, identifier = self._held.pop()
                session.notes["pending"].discard(json.dumps(identifier))
                with contextlib.suppress(Ended):
                    await session.send(_reply(identifier, result="released"))

        self.run(release())

    def await_held(self, count: int) -> None:
        self.await_truth(lambda: len(self._held) >= count, f"{count} requests are held")

    # The service

    async def converse(self, session: Session) -> None:
        session.notes |= {"subscriptions": {}, "pending": set()}
        if self._wanted:
            session.alongside(self._expect_subscriptions(session))
        while True:
            if (answer := self._answer(session, await session.receive())) is not None:
                await session.send(answer)
            self.changed()

    async def _expect_subscriptions(self, session: Session) -> None:
        await asyncio.sleep(self._within)
        for stream in set(self._wanted) - set(session.notes["subscriptions"].values()):
            session.breach(CONSIDERATIONS, f"no subscription to {stream} on this connection")

    def _answer(self, session: Session, message: str | bytes) -> Any:
        try:
            call = json.loads(message)
        except ValueError:
            session.breach(PARSE_ERROR, "not JSON")
            return _reply(None, error=(-32700, "Parse error"))
        if not isinstance(call, list):
            return self._respond(session, call)
        if not call:
            session.breach(BATCH, "an empty batch")
            return _reply(None, error=(-32600, "Invalid Request"))
        return [answer for each in call if (answer := self._respond(session, each)) is not None] or None

    def _respond(self, session: Session, call: Any) -> Any:
        """Return the reply to a request; None for a notification, and for what is held."""
        if (fault := _fault(call)) is not None:
            session.breach(*fault)
            return _reply(None, error=(-32600, "Invalid Request"))
        pending: set[str] = session.notes["pending"]
        # The text tells the number 1 from the string "1", and 1 from true.
        key = json.dumps(call.get("id"))
        if "id" in call and key in pending:
            session.breach(
                REQUEST_OBJECT, f"a second request with the id {key} before the first has its reply"
            )
        if call["method"] == "hold" and "id" in call:
            pending.add(key)
            self._held.append((session, call["id"]))
            return None
        outcome = self._perform(session, call["method"], call.get("params", []))
        return _reply(call["id"], **outcome) if "id" in call else None

    def _perform(self, session: Session, method: str, params: Any) -> dict[str, Any]:
        match method:
            case "echo":
                return {"result": params}
            case "fail":
                return {"error": (-32000, "as you wished")}
            case "eth_subscribe":
                return self._subscribe(session, params)
            case "eth_unsubscribe":
                return self._unsubscribe(session, params)
        return {"error": (-32601, "Method not found")}

    def _subscribe(self, session: Session, params: Any) -> dict[str, Any]:
        if not isinstance(params, list) or not params or params[0] not in _STREAMS:
            session.breach(SUPPORTED, f"no such stream: {params}")
            return {"error": (-32602, "Invalid params")}
        identifier = hex(next(self._ids))
        self._given.add(identifier)
        session.notes["subscriptions"][identifier] = params[0]
        return {"result": identifier}

    def _unsubscribe(self, session: Session, params: Any) -> dict[str, Any]:
        if not isinstance(params, list) or len(params) != 1 or not isinstance(params[0], str):
            session.breach(CANCEL, "eth_unsubscribe takes one id of a subscription")
            return {"error": (-32602, "Invalid params")}
        if session.notes["subscriptions"].pop(params[0], None) is None:
            of_another = params[0] in self._given
            session.breach(CONSIDERATIONS if of_another else CANCEL, "no subscription of this connection")
            return {"error": (-32000, "subscription not found")}
        return {"result": True}


def _reply(identifier: Any, *, result: Any = None, error: tuple[int, str] | None = None) -> dict[str, Any]:
    if error:
        return {"jsonrpc": "2.0", "id": identifier, "error": {"code": error[0], "message": error[1]}}
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def _fault(call: Any) -> tuple[str, str] | None:
    """Return clause and fault of what should be a Request object."""
    if not isinstance(call, dict):
        return REQUEST_OBJECT, "not an object"
    if call.get("jsonrpc") != "2.0":
        return REQUEST_OBJECT, 'jsonrpc is not "2.0"'
    if not isinstance(method := call.get("method"), str) or method.startswith("rpc."):
        return REQUEST_OBJECT, f"method is {method!r}"
    if "params" in call and not isinstance(call["params"], list | dict):
        return PARAMETERS, "params is neither an array nor an object"
    identifier = call.get("id", 0)
    # bool is an int to Python.
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        return REQUEST_OBJECT, f"id is {identifier!r}"
    return None
