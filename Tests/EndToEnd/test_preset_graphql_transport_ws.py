"""The preset `graphql-transport-ws` at the stand-in for a GraphQL server."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge
from presets import both, leave_out, preset, put, rewrite
from recipes import Recipe
from services.client import finished
from services.graphql_transport_ws import (
    FATAL,
    FATAL_CODES,
    INIT_ONCE,
    INIT_PAYLOAD,
    INIT_TIME,
    INVALID,
    PONG,
    SUBPROTOCOL,
    UNAUTHORIZED,
    GraphQLTransportWS,
)
from trials import OFTEN, Mistake, Trial, Try, rule, trying

NAME = "graphql-transport-ws"
PAYLOAD = {"authorization": 'Bearer "x" {{y}} \\'}
PING = rule(NAME, {"/type": "ping"})


trial = trying(
    GraphQLTransportWS,
    NAME,
    lambda graph: {"parameters": {"payload": json.dumps(PAYLOAD)}},
    init_payload=PAYLOAD,
)


def query(text: str = "query { hero }", **variables: Any) -> Any:
    return {"type": "subscribe", "payload": {"query": text, "variables": variables}}


def subscription(identifier: str) -> Any:
    return {"id": identifier, **query("subscription { prices }")}


def test_queries_have_results(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    result = it.request(query(n=1))
    assert result["payload"] == {"data": {"n": 1}}
    topic, message = feed.message()
    assert (topic, message) == (f"graphql.{result['id']}", result)
    topic, message = feed.message()
    assert (topic, message["type"]) == (f"graphql.{result['id']}", "complete")
    assert it.bridge.status()["subprotocol"] == "graphql-transport-ws"
    assert not it.service.breaches


def test_many_queries_at_once(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    with ThreadPoolExecutor(8) as clients:
        results = list(clients.map(lambda n: it.request(query(n=n)), range(100)))
    assert [each["payload"]["data"]["n"] for each in results] == list(range(100))
    assert not it.service.breaches


def test_the_payload_is_empty_by_default(trial: Try) -> None:
    it = trial(options={"init_payload": {}}, parameters={})
    it.bridge.await_ready()
    assert not it.service.breaches


def test_subscriptions_have_their_id_as_topic(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    feed = it.feed()
    for identifier in ("prices", "orders"):
        it.send(subscription(identifier))
    it.service.await_subscriptions(2)
    it.service.next({"n": 1})
    assert [topic for topic, _ in feed.messages(2)] == ["graphql.prices", "graphql.orders"]
    it.send({"id": "prices", "type": "complete"})
    it.service.await_subscriptions(1)
    it.service.fail("no more")
    topic, error = feed.message()
    assert (topic, error["type"]) == ("graphql.orders", "error")
    assert not it.service.breaches


def test_pings_go_both_ways_and_nobody_sees_them(trial: Try) -> None:
    it = trial(heartbeat=OFTEN)
    it.bridge.await_ready()
    feed = it.feed()
    session = it.service.session()
    for number in range(1, 6):
        it.service.ping({"n": number})
        it.service.await_truth(lambda number=number: session.notes["pongs"] == number, "a pong")
    it.service.await_truth(lambda: it.service.pings >= 5, "pings")
    result = it.request(query())
    assert feed.message()[1] == result
    assert it.bridge.status()["counters"]["opens"] == 1
    assert not it.service.breaches


def test_silence_is_a_loss(trial: Try) -> None:
    it = trial(heartbeat={"interval": "500ms"})
    it.bridge.await_ready()
    feed = it.feed()
    it.service.answers_pings = False
    feed.until_status("heartbeat-lost")
    it.service.answers_pings = True
    feed.until_status("ready")
    it.request(query())
    assert not it.service.breaches


@pytest.mark.parametrize("end", ["drop", 1000, 1001, 1011, 4408, 4403])
def test_a_subscription_may_come_back_by_itself(trial: Try, end: Any) -> None:
    """As the head of the preset has it."""
    own = json.loads(json.dumps(preset(NAME)["onOpen"]).replace("${parameter:payload}", '{\\"a\\":1}'))
    steps = [{"send": {"text": json.dumps(subscription("prices"))}}]
    it = trial(options={"init_payload": {"a": 1}}, onOpen=own + steps)
    feed = it.feed()
    for number in range(3):
        feed.until_status("ready")
        it.service.await_subscriptions()
        it.service.next({"n": number})
        topic, result = feed.message()
        assert (topic, result["payload"]["data"]) == ("graphql.prices", {"n": number})
        it.service.drop() if end == "drop" else it.service.close(end)
        finished(it.service, number)
    feed.until_status("ready")
    assert not it.service.breaches


@pytest.mark.parametrize("code", FATAL_CODES)
def test_a_fatal_code_is_the_end(trial: Try, code: int) -> None:
    it = trial()
    it.bridge.await_ready()
    it.service.close(code)
    assert it.await_state("closed")["lastClose"]["code"] == code
    assert len(it.service.sessions) == 1
    assert not it.service.breaches


def test_a_server_without_the_subprotocol_is_refused(trial: Try) -> None:
    it = trial(connect="manual")
    it.service.subprotocols = []
    feed = it.feed()
    it.bridge.post("/connect")
    assert feed.until_status("failed")["phase"] == "handshake"


def test_it_takes_leave_with_1000(trial: Try) -> None:
    it = trial()
    it.bridge.await_ready()
    it.bridge.post("/disconnect")
    assert finished(it.service).close_frame == (1000, "")
    assert not it.service.breaches


def test_the_recipe(
    start_service: Callable[..., Any], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    graph = start_service(GraphQLTransportWS, init_payload={"authorization": "Bearer s3cret"})
    recipe = Recipe("graphql-transport-ws", tmp_path)
    bridge = recipe.serve(run_bridge, graph.url, GRAPH_TOKEN="s3cret")
    recipe.follow(bridge, lambda: graph.next({"prices": [1, 2]}))
    graph.await_subscriptions(1)
    assert not graph.breaches


# Mistakes


def ask(it: Trial) -> None:
    it.bridge.await_ready()
    it.bridge.post("/request?timeout=1s", json.dumps(query()).encode())


def be_pinged(it: Trial) -> None:
    it.bridge.await_ready()
    it.service.ping()


def close(code: int) -> Callable[[Trial], None]:
    def act(it: Trial) -> None:
        it.bridge.await_ready()
        it.service.close(code)

    return act


INIT, BEAT = ("onOpen", 0, "send", "text"), ("heartbeat", "send", "text")
SOON = {"init_within": 0.3}
LIVELY = {"heartbeat": {"interval": "50ms"}}

MISTAKES = [
    Mistake("no subprotocol", both(leave_out("subprotocols"), leave_out("requireSubprotocol")), SUBPROTOCOL),
    Mistake(
        "the older subprotocol",
        both(put(["graphql-ws"], "subprotocols"), leave_out("requireSubprotocol")),
        SUBPROTOCOL,
    ),
    Mistake("no connection_init", leave_out("onOpen", 0), INIT_TIME, options=SOON),
    Mistake("connection_init when greeted", lambda tree: tree["onOpen"].reverse(), INIT_TIME, options=SOON),
    Mistake("twice", lambda tree: tree["onOpen"].append(tree["onOpen"][0]), INIT_ONCE),
    Mistake("no payload", rewrite(',"payload":${parameter:payload}', "", *INIT), INIT_PAYLOAD),
    Mistake("an empty payload", rewrite("${parameter:payload}", "{}", *INIT), INIT_PAYLOAD),
    Mistake("a payload in quotes", rewrite("${parameter:payload}", '"${parameter:payload}"', *INIT), INVALID),
    Mistake("another field", rewrite('"payload"', '"payloads"', *INIT), INVALID),
    Mistake("an id", rewrite('{"type"', '{"id":"1","type"', *INIT), INVALID),
    Mistake("another type", rewrite("connection_init", "start", *INIT), INVALID),
    Mistake("bytes", put({"base64": "e30="}, "onOpen", 0, "send"), INVALID),
    Mistake("no JSON", rewrite('{"type"', "{type", *INIT), INVALID),
    Mistake(
        "a subscription first of all",
        lambda tree: tree["onOpen"].insert(0, {"send": {"text": json.dumps(subscription("a"))}}),
        UNAUTHORIZED,
    ),
    Mistake("nothing but operations", put([], "onOpen"), UNAUTHORIZED, lambda it: it.send(subscription("a"))),
    Mistake("no pongs", leave_out("rules", PING), PONG, be_pinged, {"pong_within": 0.3}),
    Mistake(
        "pongs to no pings",
        put("pong", "rules", PING, "when", "json", "/type"),
        PONG,
        be_pinged,
        {"pong_within": 0.3},
    ),
    Mistake("another answer", rewrite("pong", "ack", "rules", PING, "reply", "text"), INVALID, be_pinged),
    Mistake("a pong of text", put("pong", "rules", PING, "reply", "text"), INVALID, be_pinged),
    Mistake("a ping of text", put("ping", *BEAT), INVALID, settings=LIVELY),
    Mistake("a numbered ping", rewrite("}", ',"id":"{{counter}}"}', *BEAT), INVALID, settings=LIVELY),
    Mistake("ids that are numbers", put("counter", "request", "id"), INVALID, ask),
    Mistake("ids elsewhere", put("/number", "request", "correlate"), INVALID, ask),
    Mistake("no ids", leave_out("request"), INVALID, lambda it: it.send(query())),
    *(
        Mistake(f"back after {code}", leave_out("reconnect", "stopOnCloseCodes"), FATAL, close(code))
        for code in FATAL_CODES
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))
