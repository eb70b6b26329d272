"""The page in many tabs of one browser, which share their streams."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Relay, Upstream, await_truth
from harness.browser import (
    LOST,
    WITHOUT_SHARED_WORKERS,
    Browser,
    Page,
    Visit,
    await_live,
    expect,
    payloads,
    rows,
)
from harness.environment import ROOT

#: More than the six connections that a browser opens to one host.
MANY = 10

#: Counts what a tab asks its worker, and what it is answered, before there was time to show it.
WATCHED_PORTS = """
    globalThis.asked = globalThis.answered = globalThis.unasked = 0;
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (...parts) {
        if (parts[0] !== null) asked += 1;
        return post.apply(this, parts);
    };
    const handler = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
    Object.defineProperty(MessagePort.prototype, "onmessage", {
        set(take) {
            handler.set.call(this, (event) => {
                answered += 1;
                if (answered > asked) unasked += 1;
                take(event);
            });
        },
    });
"""


def subscribers(bridge: Bridge, connection: str = "default") -> list[dict[str, Any]]:
    return bridge.get(f"/v1/connections/{connection}/subscribers").json()["subscribers"]


def await_subscribers(bridge: Bridge, count: int) -> None:
    await_truth(lambda: len(subscribers(bridge)) == count, f"{count} subscribers")


def await_received(bridge: Bridge, count: int) -> None:
    bridge.await_status(lambda status: status["counters"]["received"] == count, f"{count} messages")


def open_tabs(visitor: Visit, count: int) -> list[Page]:
    """Open the page in so many tabs, and wait until each has its stream."""
    tabs = [visitor.open(), *(visitor.open_tab() for _ in range(count - 1))]
    for tab in tabs:
        await_live(tab)
        expect(rows(tab, "status").filter(has_text="Ready")).to_be_visible()
    return tabs


def expect_newest(tabs: Iterable[Page], text: str) -> None:
    for tab in tabs:
        expect(rows(tab, "text").first.locator(".payload")).to_have_text(text)


# One stream


def test_many_tabs_share_one_stream_and_each_can_send(bridge: Bridge, upstream: Upstream, visit) -> None:
    tabs = open_tabs(visit(bridge), MANY)
    (reader,) = subscribers(bridge)
    upstream.peer().send("to all")
    expect_newest(tabs, "to all")
    for index, tab in enumerate(tabs):
        tab.get_by_role("textbox", name="Message").fill(f"from tab {index}")
        tab.get_by_role("button", name="Send").click()
        expect(tab.locator("#send-result")).to_contain_text("10 B")
    assert upstream.peer().received(MANY) == [f"from tab {index}" for index in range(MANY)]

    # Whoever came first may go; the others do not even notice.
    tabs.pop(0).close()
    upstream.peer().send("to those that are left")
    expect_newest(tabs, "to those that are left")
    assert subscribers(bridge) == [reader]
    for tab in tabs:
        assert payloads(tab) == ["to those that are left", "to all"]
        tab.close()
    await_subscribers(bridge, 0)


def test_a_new_tab_begins_with_the_newest_records(bridge: Bridge, upstream: Upstream, visit) -> None:
    visitor = visit(bridge)
    visitor.open()
    await_live(visitor.page)
    upstream.peer().send(*(f"message {index}" for index in range(250)))
    expect(rows(visitor.page, "text")).to_have_count(250)
    tab = visitor.open_tab()
    expect(rows(tab)).to_have_count(200)
    assert payloads(tab)[::-1] == [f"message {index}" for index in range(50, 250)]
    assert len(subscribers(bridge)) == 1


def test_filters_and_pauses_are_a_tabs_own(bridge: Bridge, upstream: Upstream, visit) -> None:
    first, second = open_tabs(visit(bridge), 2)
    first.get_by_role("searchbox").fill("even")
    second.get_by_role("button", name="Pause").click()
    upstream.peer().send("even 0", "odd 1", "even 2")
    expect(second.locator("#held")).to_have_text("Paused. 3 new since.")
    expect(first.locator("#count")).to_contain_text("2 of ")
    assert payloads(first) == ["even 2", "even 0"]
    assert payloads(second) == []


def test_tabs_of_other_connections_show_those(upstream: Upstream, serve_file, visit) -> None:
    names = [f"feed-{index}" for index in range(7)]
    urls = "".join(f"  {name}: {{ url: '{upstream.url}{name}' }}\n" for name in names)
    bridge = serve_file(f"http: {{ retry: 50ms }}\nconnections:\n{urls}")
    peers = {peer.request.path.strip("/"): peer for peer in map(upstream.peer, range(7))}
    visitor = visit(bridge)
    tabs = {name: visitor.open_tab(name) for name in names}
    # More streams than a browser has connections, and still each of these tabs shows what comes, and sends.
    for round in range(3):
        for name, tab in tabs.items():
            peers[name].send(f"{round} to {name}")
            expect_newest([tab], f"{round} to {name}")
    for name, tab in tabs.items():
        tab.get_by_role("textbox", name="Message").fill(f"from {name}")
        tab.get_by_role("button", name="Send").click()
        assert peers[name].received(1) == [f"from {name}"]
        await_live(tab)
        assert payloads(tab) == [f"{round} to {name}" for round in (2, 1, 0)]


def test_tabs_share_a_session_and_its_end(upstream: Upstream, start_bridge, visit) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "right"})
    visitor = visit(bridge)
    visitor.expected.append("status of 401")
    tabs = [visitor.open(), visitor.open_tab()]
    dialogs = [tab.get_by_role("dialog", name="This bridge asks for a token") for tab in tabs]
    for round in range(2):
        for dialog in dialogs:
            expect(dialog).to_be_visible()
        tabs[round].get_by_label("Access token").fill("right")
        tabs[round].keyboard.press("Enter")
        for tab, dialog in zip(tabs, dialogs, strict=True):
            await_live(tab)
            expect(dialog).to_be_hidden()
        fields = {"Authorization": "Bearer right"}
        answer = bridge.get("/v1/connections/default/subscribers", fields).json()
        assert len(answer["subscribers"]) == 1
        upstream.peer().send(f"to both, {round}")
        expect_newest(tabs, f"to both, {round}")
        tabs[1 - round].get_by_role("button", name="Log out").click()


# Losses


def test_all_tabs_come_back_to_a_bridge_that_was_killed(
    upstream: Upstream, start_bridge, bridge: Bridge, visit
) -> None:
    visitor = visit(bridge)
    visitor.expected.append(LOST)
    tabs = open_tabs(visitor, 3)
    upstream.peer().send("before")
    expect_newest(tabs, "before")
    bridge.signal(signal.SIGKILL)
    bridge.exit_code()
    for tab in tabs:
        expect(tab.get_by_text("The bridge does not answer")).to_be_visible()
        expect(tab.locator("#feed-state")).to_have_text("reconnecting")
        expect(tab.locator("#lag")).to_have_text("")
    again = start_bridge(upstream.url, listen=f"127.0.0.1:{bridge.address[1]}")
    for tab in tabs:
        await_live(tab)
    again.await_ready()
    upstream.peer(1).send("after")
    expect_newest(tabs, "after")
    for tab in tabs:
        shown = tab.locator("#records .row:not(.status) .payload").all_text_contents()
        assert shown == ["after", "Messages are missing here", "before"]
    assert len(subscribers(again)) == 1


def test_each_tab_shows_how_much_was_lost_meanwhile(upstream: Upstream, serve_file, visit) -> None:
    bridge = serve_file(
        "http: { retry: 50ms }\nhistory: { maxMessages: 50 }\n"
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}\n"
    )
    upstream.peer()
    bridge.await_ready()
    with contextlib.closing(Relay(bridge.address)) as relay:
        visitor = visit(bridge, base=f"http://{relay.address}")
        visitor.expected.append(LOST)
        tabs = open_tabs(visitor, 3)
        upstream.peer().send("before")
        expect_newest(tabs, "before")
        relay.is_closed = True
        relay.drop()
        upstream.peer().send(*(f"message {index}" for index in range(500)))
        await_received(bridge, 501)
        relay.is_closed = False
        expect_newest(tabs, "message 499")
        for tab in tabs:
            shown = tab.locator("#records .row:not(.status) .payload").all_text_contents()
            kept = [f"message {index}" for index in range(499, 449, -1)]
            assert shown == [*kept, "450 records missing here", "before"]
        visitor.end()


def test_a_tab_that_stood_still_is_told_what_passed_unseen(bridge: Bridge, upstream: Upstream, visit) -> None:
    visitor = visit(bridge)
    visitor.page.add_init_script(WATCHED_PORTS)
    stuck = visitor.open()
    await_live(stuck)
    other = visitor.open_tab()
    await_live(other)
    session = visitor.context.new_cdp_session(stuck)
    # A page that is visible cannot be frozen, but its thread can be held.
    session.send("Debugger.enable")
    paused: list[Any] = []
    session.on("Debugger.paused", lambda event: paused.append(event))
    session.send("Debugger.pause")
    await_truth(lambda: other.evaluate("0") or paused, "the tab stands still")
    # Each as long as a row keeps, so that these are more than the worker keeps.
    count = 1500
    for start in range(0, count, 100):
        upstream.peer().send(*(f"{index} {'x' * 16_384}" for index in range(start, start + 100)))
        expect(rows(other, "text").first.locator(".payload")).to_contain_text(f"{start + 99} x")
    session.send("Debugger.disable")
    expect(rows(stuck, "gap")).to_be_visible()
    shown = stuck.locator("#records .row .payload").evaluate_all(
        "(payloads) => payloads.map((payload) => payload.textContent.slice(0, 30))"
    )
    (gap,) = (index for index, text in enumerate(shown) if "passed unseen" in text)
    missed = int(shown[gap].split()[0].replace(",", ""))
    assert missed > 0
    # Lifecycle events may be all that came before.
    last_before = shown[gap + 1].split()[0]
    number = int(last_before) if last_before.isdigit() else -1
    assert int(shown[gap - 1].split()[0]) == number + missed + 1
    # What it had not asked for did not wait for it.
    assert stuck.evaluate("unasked") == 0


def test_a_tab_that_died_without_a_word_is_let_go(bridge: Bridge, visit) -> None:
    visitor = visit(bridge)
    # There is no favicon.
    visitor.expected.append("status of 404")
    page = visitor.page
    page.clock.install()
    # Just a place for a hub whose time this test tells.
    page.goto(f"{bridge.base}/app.css")
    page.evaluate(
        """async () => {
            const { Hub } = await import("/hub.js");
            const { port1, port2 } = new MessageChannel();
            new Hub().attach(port1);
            globalThis.silent = port2;
            const place = { ring: null, next: 0, after: null, state: "connecting", behind: 0 };
            port2.postMessage({ turn: 1, connection: "default", ...place, most: 10 });
        }"""
    )
    await_subscribers(bridge, 1)
    page.clock.run_for(120_000)
    assert len(subscribers(bridge)) == 1
    page.clock.run_for(60_000)
    await_subscribers(bridge, 0)


# How far behind


def test_it_tells_how_far_it_is_behind(bridge: Bridge, upstream: Upstream, visit) -> None:
    visitor = visit(bridge)
    visitor.page.clock.install()
    page = visitor.open()
    await_live(page)
    expect(rows(page, "status").filter(has_text="Ready")).to_be_visible()
    lag = page.locator("#lag")
    expect(lag).to_have_text("up to date")
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Pause").click()
    upstream.peer().send(*(f"message {index}" for index in range(250)))
    expect(page.locator("#held")).to_have_text("Paused. 250 new since.")
    expect(lag).to_have_text("")
    # From here on a frame comes when this test says so.
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.get_by_role("button", name="Go on").click()
    steps: list[int] = []
    while sum(steps) < 250:
        shown = rows(page).count()
        # The answer comes from the worker when it comes; only then is there something to show.
        await_truth(lambda shown=shown: page.clock.run_for(20) or rows(page).count() > shown, "more rows")
        steps.append(rows(page).count() - shown)
        text = lag.text_content() or ""
        left = re.fullmatch(r"(\d+) behind, \d+\.\d s", text)
        assert int(left[1]) == 250 - sum(steps) if left else text == "up to date"
    assert sum(steps) == 250
    assert len(steps) > 1
    assert lag.text_content() == "up to date"


def test_it_tells_how_far_the_slowest_subscriber_is_behind(bridge: Bridge, upstream: Upstream, visit) -> None:
    bridge.stream(receive_buffer=4096)
    page = visit(bridge).open()
    await_live(page)
    facts = page.locator(".facts")
    expect(facts.get_by_text("2", exact=True)).to_be_visible()
    upstream.peer().send(*("x" * 10_000 for _ in range(1000)))
    await_received(bridge, 1000)
    expect(facts).to_contain_text(re.compile(r"2, the slowest \d+ behind"))


# Where tabs cannot share


def hide(page: Page, is_hidden: bool) -> None:
    """Do as if the user looked at another tab; without a window every tab counts as seen."""
    page.evaluate(
        """(isHidden) => {
            Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_without_shared_workers_each_visible_tab_has_a_stream(
    bridge: Bridge, upstream: Upstream, visit
) -> None:
    visitor = visit(bridge)
    visitor.context.add_init_script(WITHOUT_SHARED_WORKERS)
    first, second = tabs = open_tabs(visitor, 2)
    assert len(subscribers(bridge)) == 2
    upstream.peer().send("to both")
    expect_newest(tabs, "to both")
    hide(first, True)
    await_subscribers(bridge, 1)
    upstream.peer().send("to the other")
    expect_newest([second], "to the other")
    hide(first, False)
    expect_newest([first], "to the other")
    await_subscribers(bridge, 2)
    assert payloads(first) == ["to the other", "to both"]
    expect(rows(first, "gap")).to_have_count(0)
    second.close()
    first.close()
    await_subscribers(bridge, 0)


def test_a_worker_that_cannot_be_loaded_is_done_without(
    upstream: Upstream, start_bridge, visit, tmp_path: Path
) -> None:
    folder = shutil.copytree(ROOT / "public", tmp_path / "page")
    (folder / "stream-worker.js").unlink()
    bridge = start_bridge(upstream.url, "--public", str(folder))
    upstream.peer()
    visitor = visit(bridge)
    visitor.expected.append("status of 404")
    (tab,) = open_tabs(visitor, 1)
    upstream.peer().send("all the same")
    expect_newest([tab], "all the same")


def test_tabs_go_on_when_their_worker_ends(
    bridge: Bridge, upstream: Upstream, visit, browser: Browser
) -> None:
    tabs = open_tabs(visit(bridge), 2)
    upstream.peer().send("before")
    expect_newest(tabs, "before")
    session = browser.new_browser_cdp_session()
    filters = [{"type": "shared_worker"}]
    (worker,) = session.send("Target.getTargets", {"filter": filters})["targetInfos"]
    session.send("Target.closeTarget", {"targetId": worker["targetId"]})
    await_subscribers(bridge, 0)
    upstream.peer().send("while there is none")
    expect_newest(tabs, "while there is none")
    await_subscribers(bridge, 1)
    for tab in tabs:
        assert payloads(tab) == ["while there is none", "before"]


@pytest.mark.parametrize("is_alone", [False, True], ids=["shared", "alone"])
def test_a_reloaded_tab_leaves_nothing_behind(
    bridge: Bridge, upstream: Upstream, visit, is_alone: bool
) -> None:
    visitor = visit(bridge)
    if is_alone:
        visitor.context.add_init_script(WITHOUT_SHARED_WORKERS)
    (tab,) = open_tabs(visitor, 1)
    for _ in range(3):
        tab.reload()
        await_live(tab)
        await_subscribers(bridge, 1)
    upstream.peer().send("after all")
    expect_newest([tab], "after all")
