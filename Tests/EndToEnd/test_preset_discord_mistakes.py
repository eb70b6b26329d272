"""The preset `discord` with a mistake in it: Discord's stand-in finds each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from presets import both, leave_out, put, rewrite
from services import discord_rules as rules
from services.discord import Discord
from trials import Mistake, Trial, Try, rule, trying

NAME = "discord"


trial = trying(Discord, NAME, lambda discord: {"parameters": {"token": discord.TOKEN, "intents": 33281}})


def drop(it: Trial) -> None:
    """Drop a session that has got something."""
    settle(it)
    it.service.drop()


def settle(it: Trial) -> None:
    """Wait for a session that has proved to have got two events."""
    it.service.await_truth(lambda: it.service.gateways, "a session")
    it.service.dispatch("MESSAGE_CREATE", {})
    it.service.await_truth(lambda: it.service.gateways[0].got >= 2, "heartbeats")


def then(deed: Callable[[Discord], Any]) -> Callable[[Trial], None]:
    def act(it: Trial) -> None:
        settle(it)
        deed(it.service)

    return act


def go_deaf(it: Trial) -> None:
    """Acknowledge nothing any more, though events go on."""
    settle(it)
    it.service.acknowledges = False

    def beats() -> int:
        return sum(each.notes.get("beats", 0) for each in it.service.sessions)

    while not it.service.breaches:
        before = beats()
        it.service.dispatch("TYPING_START", {})
        it.service.await_truth(lambda: beats() > before or it.service.breaches, "a heartbeat")  # noqa: B023


def say_much(it: Trial) -> None:
    it.bridge.await_ready()
    lines = b"\n".join([b'{"op":3,"d":{}}'] * 130)
    assert it.bridge.post("/messages", lines, "application/x-ndjson").status == 202


IDENTIFY, RESUME = ("onOpen", 3, "send", "text"), ("onOpen", 1, "send", "text")
READY = ("onOpen", 4)
BEAT = ("heartbeat", "send", "text")
HELLO = rule(NAME, {"/op": 10})
ASKED = rule(NAME, {"/op": 1})
RECONNECT = rule(NAME, {"/op": 7})
RESUMABLE = rule(NAME, {"/op": 9, "/d": True})
INVALID = rule(NAME, {"/op": 9, "/d": False})
QUERY = "?v=10&encoding=json"
LIVELY = {"heartbeat_interval": 0.1}
SOON = LIVELY | {"return_within": 0.5}

MISTAKES = [
    # Where
    Mistake("no version", rewrite("v=10&", "", "url"), rules.VERSION),
    Mistake("another version", rewrite("v=10", "v=9", "url"), rules.VERSION),
    Mistake("another encoding", rewrite("json", "etf", "url"), rules.CONNECTING),
    Mistake("another path", rewrite("/?", "/gateway?", "url"), rules.CONNECTING),
    Mistake("the URL of the beginning", leave_out("resumeUrl"), rules.RESUME_URL, drop, LIVELY),
    Mistake("no query to resume with", rewrite(f"/{QUERY}", "", "resumeUrl"), rules.VERSION, drop, LIVELY),
    Mistake("another query", rewrite("json", "json&x=1", "resumeUrl"), rules.RESUME_URL, drop, LIVELY),
    # Identify
    Mistake("intents in quotes", rewrite("${parameter:intents}", '"513"', *IDENTIFY), rules.IDENTIFY),
    Mistake("no intents", rewrite('"intents":${parameter:intents},', "", *IDENTIFY), rules.IDENTIFY),
    Mistake("no device", rewrite(',"device":"wsbridge"', "", *IDENTIFY), rules.IDENTIFY),
    Mistake(
        "Bot", rewrite('"${parameter:token}', '"Bot ${parameter:token}', *IDENTIFY), rules.AUTHENTICATION
    ),
    Mistake("no object", put('{"op":2,"d":null}', *IDENTIFY), rules.IDENTIFY),
    Mistake("another opcode", rewrite('"op":2', '"op":22', *IDENTIFY), rules.OPCODES),
    Mistake("no JSON", rewrite('{"op":2', "{op:2", *IDENTIFY), rules.DECODE),
    Mistake("large", rewrite('"linux"', '"' + 4096 * "x" + '"', *IDENTIFY), rules.SENDING),
    Mistake(
        "twice",
        lambda tree: tree["onOpen"].append(tree["onOpen"][3] | {"when": {"any": True}}),
        rules.ALREADY,
    ),
    Mistake(
        "first of all a presence",
        lambda tree: tree["onOpen"].insert(1, {"send": {"text": '{"op":3,"d":{}}'}}),
        rules.NOT_AUTHENTICATED,
    ),
    # Resume
    Mistake("nothing captured", leave_out(*READY, "capture"), rules.RESUMING, drop, LIVELY),
    Mistake(
        "always Identify",
        both(
            put({"any": True}, "onOpen", 3, "when"),
            put({"any": True}, *READY, "when"),
            leave_out("onOpen", 2),
            leave_out("onOpen", 1),
        ),
        rules.RESUMING,
        drop,
        LIVELY,
    ),
    Mistake("no number", rewrite(',"seq":{{last:/s}}', "", *RESUME), rules.RESUME, drop, LIVELY),
    Mistake(
        "the number of nothing", rewrite("{{last:/s}}", "0", *RESUME), rules.RESUME_SEQUENCE, drop, LIVELY
    ),
    Mistake(
        "a number to come",
        rewrite("{{last:/s}}", "1{{last:/s}}", *RESUME),
        rules.RESUME_SEQUENCE,
        drop,
        LIVELY,
    ),
    Mistake(
        "a number in quotes", rewrite("{{last:/s}}", '"{{last:/s}}"', *RESUME), rules.RESUME, drop, LIVELY
    ),
    Mistake("another token", rewrite("${parameter:token}", "x", *RESUME), rules.AUTHENTICATION, drop, LIVELY),
    Mistake("another session", rewrite("{{var:session}}", "x", *RESUME), rules.INVALID_SESSION, drop, LIVELY),
    # Heartbeats
    Mistake(
        "no interval",
        leave_out("rules", HELLO, "heartbeatInterval"),
        rules.HEARTBEAT_INTERVAL,
        options={"heartbeat_interval": 0.2, "tolerance": 0.3},
    ),
    Mistake(
        "no heartbeats",
        both(put(0, "heartbeat", "interval"), leave_out("rules", HELLO, "heartbeatInterval")),
        rules.HEARTBEAT_INTERVAL,
        options={"heartbeat_interval": 0.2, "tolerance": 0.3},
    ),
    Mistake("no data", rewrite("{{last:/s}}", "null", *BEAT), rules.HEARTBEAT_DATA, options=LIVELY),
    Mistake(
        "data in quotes", rewrite("{{last:/s}}", '"{{last:/s}}"', *BEAT), rules.HEARTBEAT_DATA, options=LIVELY
    ),
    Mistake(
        "a counter for data",
        rewrite("{{last:/s}}", "9{{counter}}", *BEAT),
        rules.HEARTBEAT_DATA,
        options=LIVELY,
    ),
    Mistake("others for life", put("any", "heartbeat", "alive"), rules.ZOMBIE, go_deaf, LIVELY),
    Mistake("many misses", put(9, "heartbeat", "missLimit"), rules.ZOMBIE, go_deaf, LIVELY),
    Mistake("1000 to zombies", put(1000, "heartbeat", "closeCode"), rules.ZOMBIE, go_deaf, LIVELY),
    Mistake(
        "not when asked",
        leave_out("rules", ASKED),
        rules.HEARTBEAT_REQUESTS,
        lambda it: (
            it.service.await_truth(lambda: it.service.gateways, "a session"),
            it.service.ask_for_heartbeat(),
        ),
        {"tolerance": 0.3},
    ),
    # What Discord asks for
    Mistake(
        "Reconnect passes", leave_out("rules", RECONNECT), rules.RECONNECT, then(Discord.reconnect), SOON
    ),
    Mistake(
        "Reconnect ends all",
        put("stop", "rules", RECONNECT, "action"),
        rules.RECONNECT,
        then(Discord.reconnect),
        SOON,
    ),
    Mistake(
        "1000 to Reconnect",
        leave_out("rules", RECONNECT, "closeCode"),
        rules.ZOMBIE,
        then(Discord.reconnect),
        LIVELY,
    ),
    Mistake(
        "1001 to Invalid Session",
        put(1001, "rules", RESUMABLE, "closeCode"),
        rules.ZOMBIE,
        then(lambda discord: discord.invalidate(True)),
        LIVELY,
    ),
    Mistake(
        "Invalid Session passes",
        leave_out("rules", INVALID),
        rules.INVALID_SESSION,
        then(Discord.invalidate),
        SOON,
    ),
    Mistake(
        "an invalid session is kept",
        leave_out("rules", INVALID, "capture"),
        rules.INVALID_SESSION,
        then(Discord.invalidate),
        LIVELY,
    ),
    Mistake(
        "a session is kept after 4007",
        put([4009], "reconnect", "forgetOnCloseCodes"),
        rules.INVALID_SESSION,
        then(lambda discord: discord.close(4007)),
        LIVELY,
    ),
    Mistake(
        "a session is kept after 4009",
        leave_out("reconnect", "forgetOnCloseCodes"),
        rules.INVALID_SESSION,
        then(lambda discord: discord.close(4009)),
        LIVELY,
    ),
    Mistake(
        "rotation",
        both(put("rotate", "rules", RECONNECT, "action"), leave_out("rules", RECONNECT, "closeCode")),
        rules.RESUME_URL,
        then(Discord.reconnect),
        LIVELY,
    ),
    *(
        Mistake(
            f"back after {code}",
            leave_out("reconnect", "stopOnCloseCodes"),
            rules.CODES,
            then(lambda discord, code=code: discord.close(code)),
            LIVELY,
        )
        for code in (4004, 4010, 4014)
    ),
    Mistake("no rate", leave_out("rate"), rules.RATE, say_much),
    Mistake("another rate", put(125, "rate", "messages"), rules.RATE, say_much),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_mistakes_are_found(trial: Try, mistake: Mistake) -> None:
    mistake.is_found_in(trial(mistake.change, mistake.options, **mistake.settings))
