"""The stand-in for a GraphQL server has nothing against right clients, and the rule against wrong ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import gql
import pytest
from gql.transport.websockets import WebsocketsTransport

from services.client import Client, await_breach, finished
from services.graphql_transport_ws import (
    CLOSING,
    FATAL,
    FATAL_CODES,
    INIT_ONCE,
    INIT_PAYLOAD,
    INIT_TIME,
    INVALID,
    PONG,
    SUBPROTOCOL,
    SUBSCRIBE,
    SUBSCRIBER,
    UNAUTHORIZED,
    GraphQLTransportWS,
)

Start = Callable[..., GraphQLTransportWS]

OFFER = ["graphql-transport-ws"]
INIT = {"type": "connection_init"}


@pytest.fixture
def graph(start_service: Start) -> GraphQLTransportWS:
    return start_service(GraphQLTransportWS)


def subscribe(identifier: Any = "1", query: Any = "subscription { ticks }", **others: Any) -> dict[str, Any]:
    return {"id": identifier, "type": "subscribe", "payload": {"query": query} | others}


def acknowledged(graph: GraphQLTransportWS) -> Client:
    client = Client(graph.url, subprotocols=OFFER)
    client.send(INIT)
    assert client.receive() == {"type": "connection_ack"}
    return client


def test_a_right_client(graph: GraphQLTransportWS) -> None:
    with acknowledged(graph) as client:
        client.send(subscribe("a"), subscribe("b", "query ($n: Int) { n }", variables={"n": 1}))
        assert client.receive() == {"id": "b", "type": "next", "payload": {"data": {"n": 1}}}
        assert client.receive() == {"id": "b", "type": "complete"}
        graph.await_subscriptions()
        graph.next({"ticks": 1})
        assert client.receive() == {"id": "a", "type": "next", "payload": {"data": {"ticks": 1}}}
        graph.ping({"at": 1})
        assert client.receive() == {"type": "ping", "payload": {"at": 1}}
        client.send({"type": "pong", "payload": {"at": 1}}, {"type": "ping"}, {"type": "pong"})
        assert client.receive() == {"type": "pong"}
        client.send({"id": "a", "type": "complete"}, {"id": "a", "type": "complete"}, subscribe("a"))
        client.send({"type": "ping", "payload": {"n": 1}})
        assert client.receive() == {"type": "pong", "payload": {"n": 1}}
        graph.fail("no more")
        assert client.receive() == {"id": "a", "type": "error", "payload": [{"message": "no more"}]}
    finished(graph)
    assert not graph.breaches


def test_a_payload_as_agreed(start_service: Start) -> None:
    graph = start_service(GraphQLTransportWS, init_payload={"token": "x"})
    with Client(graph.url, subprotocols=OFFER) as client:
        client.send(INIT | {"payload": {"token": "x"}})
        assert client.receive() == {"type": "connection_ack"}
    assert not graph.breaches


@pytest.mark.parametrize("offer", [None, ["graphql-ws"], ["graphql-transport-ws-2", "mqtt"]])
def test_wrong_subprotocols(graph: GraphQLTransportWS, offer: list[str] | None) -> None:
    with Client(graph.url, subprotocols=offer) as client:
        client.send(INIT)
        assert client.closed() == 4406
    await_breach(graph, SUBPROTOCOL)


@pytest.mark.parametrize("pings", [False, True])
def test_a_client_that_does_not_initialize(start_service: Start, pings: bool) -> None:
    graph = start_service(GraphQLTransportWS, init_within=0.3)
    with Client(graph.url, subprotocols=OFFER) as client:
        if pings:
            client.send({"type": "ping"})
        assert client.closed() == 4408
    await_breach(graph, INIT_TIME)


@pytest.mark.parametrize(
    ("messages", "code", "clause"),
    [
        ([subscribe()], 4401, UNAUTHORIZED),
        ([INIT, INIT], 4429, INIT_ONCE),
        ([INIT | {"payload": {"token": "y"}}], 4403, INIT_PAYLOAD),
        ([INIT | {"payload": []}], 4400, INVALID),
        ([INIT | {"id": "1"}], 4400, INVALID),
        ([{"type": "connection_terminate"}], 4400, INVALID),
        ([{}], 4400, INVALID),
        (["connection_init"], 4400, INVALID),
        ([b'{"type":"connection_init"}'], 4400, INVALID),
        ([[INIT]], 4400, INVALID),
        ([{"type": "ping", "payload": "x"}], 4400, INVALID),
        ([INIT, {"type": "complete"}], 4400, INVALID),
        ([INIT, {"type": "subscribe", "payload": {"query": "{ a }"}}], 4400, INVALID),
        ([INIT, {"type": "subscribe", "id": "1"}], 4400, INVALID),
        ([INIT, {"type": "start", "id": "1", "payload": {"query": "{ a }"}}], 4400, INVALID),
        ([INIT, subscribe(1)], 4400, INVALID),
        ([INIT, subscribe("")], 4400, INVALID),
        ([INIT, subscribe(query=None)], 4400, SUBSCRIBE),
        ([INIT, subscribe(variables="x")], 4400, SUBSCRIBE),
        ([INIT, subscribe(operationName=1)], 4400, SUBSCRIBE),
        ([INIT, subscribe(others=1)], 4400, SUBSCRIBE),
        ([INIT, subscribe(), subscribe()], 4409, SUBSCRIBER),
        ([INIT, subscribe(), subscribe(query="{ a }")], 4409, SUBSCRIBER),
    ],
)
def test_wrong_messages(start_service: Start, messages: list[Any], code: int, clause: str) -> None:
    agreed = {"token": "x"} if clause == INIT_PAYLOAD else None
    graph = start_service(GraphQLTransportWS, init_payload=agreed)
    with Client(graph.url, subprotocols=OFFER) as client:
        client.send(*messages)
        assert client.closed() == code
    await_breach(graph, clause)


def test_a_ping_without_its_pong(start_service: Start) -> None:
    graph = start_service(GraphQLTransportWS, pong_within=0.3)
    with acknowledged(graph) as client:
        graph.ping()
        graph.ping()
        client.send({"type": "pong"})
        await_breach(graph, PONG)


@pytest.mark.parametrize("code", [1001, 4000])
def test_closing_with_another_code(graph: GraphQLTransportWS, code: int) -> None:
    acknowledged(graph).close(code)
    await_breach(graph, CLOSING)


@pytest.mark.parametrize("code", [*FATAL_CODES, 4403, 4408, 1012])
def test_coming_back_after_a_close_code(graph: GraphQLTransportWS, code: int) -> None:
    with acknowledged(graph) as client:
        graph.close(code)
        assert client.closed() == code
    finished(graph)
    with acknowledged(graph):
        pass
    finished(graph, 1)
    if code in FATAL_CODES:
        await_breach(graph, FATAL)
    else:
        assert not graph.breaches


def test_a_client_library(graph: GraphQLTransportWS) -> None:
    """`gql` asks, subscribes and pings."""

    async def run() -> None:
        transport = WebsocketsTransport(graph.url, subprotocols=OFFER, ping_interval=0.1, pong_timeout=30)
        async with gql.Client(transport=transport) as session:
            query = gql.gql("query ($n: Int) { n(n: $n) }")
            query.variable_values = {"n": 1}
            assert await session.execute(query) == {"n": 1}
            results = session.subscribe(gql.gql("subscription { ticks }"))
            first = asyncio.ensure_future(anext(results))
            await asyncio.to_thread(graph.await_subscriptions)
            await asyncio.to_thread(graph.next, {"ticks": 1})
            assert await first == {"ticks": 1}
            await asyncio.to_thread(graph.ping)
            await results.aclose()
            await asyncio.to_thread(graph.await_subscriptions, 0)
            await asyncio.to_thread(graph.await_truth, lambda: graph.pings >= 2, "two pings")

    asyncio.run(run())
    session = finished(graph)
    assert session.notes["pongs"] == 1
    assert not graph.breaches
