"""The page in a real browser: what it shows, what it sends, and what it withstands."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from harness import Bridge, Relay, Upstream
from harness.browser import (
    LOST,
    REPORTS,
    WITHOUT_SHARED_WORKERS,
    Page,
    await_live,
    expect,
    payloads,
    rows,
)

SCHEMES = ("light", "dark")
WIDTHS = (320, 1280)


@pytest.fixture
def page(bridge: Bridge, visit) -> Page:
    """The page of a bridge whose connection is ready, once the stream is open; its list is empty."""
    page = visit(bridge).open()
    await_live(page)
    expect(rows(page, "status").filter(has_text="Ready")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    return page


def state_of(page: Page):
    return page.locator(".card .state")


# Sending and receiving


def test_it_opens_without_complaints_or_outside_requests(page: Page) -> None:
    expect(page).to_have_title("wsbridge")
    expect(state_of(page)).to_have_text("ready")
    expect(page.get_by_role("heading", name="Connection")).to_be_visible()
    expect(page.get_by_text("Nothing yet")).to_be_visible()


def test_a_message_sent_from_it_comes_back_on_it(page: Page, upstream: Upstream) -> None:
    page.get_by_role("textbox", name="Message").fill("echo: grüße 👋\nsecond line")
    page.get_by_role("button", name="Send").click()
    (message,) = upstream.peer().received(1)
    assert message == "echo: grüße 👋\nsecond line"
    upstream.peer().send(message)
    expect(rows(page, "text").locator(".payload")).to_have_text("echo: grüße 👋\nsecond line")
    expect(rows(page, "text").locator(".size")).to_have_text("30 B")
    expect(page.locator("#send-result")).to_have_text(re.compile(r"^(Queued|Sent), 30 B\.$"))


@pytest.mark.parametrize(
    ("kind", "text", "sent"),
    [
        ("Base64", "SGVs bG8=", b"Hello"),
        ("Base64", "_-8", b"\xff\xef"),
        ("Hex", "00 fF:0x7f", b"\x00\xff\x7f"),
        ("Text", "", ""),
        ("Hex", "", b""),
    ],
)
def test_it_sends_every_kind(page: Page, upstream: Upstream, kind: str, text: str, sent: str | bytes) -> None:
    page.get_by_text(kind, exact=True).first.click()
    page.get_by_role("textbox", name="Message").fill(text)
    page.get_by_role("button", name="Send").click()
    assert upstream.peer().received(1) == [sent]


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        ("Hex", "abc", "two digits for each byte"),
        ("Hex", "xy", "0 to 9 and a to f"),
        ("Base64", "?", "not base64"),
    ],
)
def test_it_says_what_cannot_be_sent(page: Page, kind: str, text: str, complaint: str) -> None:
    page.get_by_text(kind, exact=True).first.click()
    field = page.get_by_role("textbox", name="Message")
    field.fill(text)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#send-result")).to_contain_text(complaint)
    expect(field).to_have_attribute("aria-invalid", "true")


def test_it_sends_a_file_as_one_binary_message(page: Page, upstream: Upstream, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40
    file = tmp_path / "some.bin"
    file.write_bytes(content)
    page.get_by_text("File", exact=True).click()
    page.get_by_label("File, sent as one binary message").set_input_files(file)
    page.get_by_role("button", name="Send").click()
    assert upstream.peer().received(1) == [content]
    upstream.peer().send(content)
    expect(rows(page, "binary").locator(".payload")).to_contain_text("00 01 02 03")
    expect(rows(page, "binary").locator(".size")).to_have_text("10 KiB")


def test_it_says_when_the_bridge_refuses_a_message(bridge: Bridge, visit) -> None:
    visitor = visit(bridge)
    visitor.expected.append("status of 413")
    page = visitor.open()
    await_live(page)
    page.get_by_role("textbox", name="Message").fill("x" * (1 << 20) + "x")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#send-result")).to_contain_text("at most 1048576 bytes")


def test_a_row_unfolds_into_indented_json(page: Page, upstream: Upstream) -> None:
    upstream.peer().send('{"a":{"b":[1,2]}}')
    row = rows(page, "text")
    row.click()
    expect(row.locator(".payload")).to_have_text(
        json.dumps({"a": {"b": [1, 2]}}, indent=2), use_inner_text=True
    )
    row.click()
    expect(row.locator(".payload")).to_have_text('{"a":{"b":[1,2]}}')


def test_a_large_message_does_not_weigh_on_the_page(page: Page, upstream: Upstream) -> None:
    upstream.peer().send("y" * (3 << 20))
    row = rows(page, "text")
    expect(row.locator(".size")).to_have_text("3.0 MiB")
    assert len(row.locator(".payload").text_content() or "") < 1000
    row.click()
    expect(row.locator(".payload")).to_contain_text("cut here")
    assert len(row.locator(".payload").text_content() or "") < 20_000


# States


def test_the_state_follows_the_upstream(page: Page, upstream: Upstream) -> None:
    upstream.go_away()
    expect(page.locator(".card")).not_to_have_attribute("data-state", "ready")
    expect(rows(page, "status").filter(has_text="Closed by the server: 1006").first).to_be_visible()
    expect(rows(page, "status").filter(has_text="Attempt failed").first).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("Last error")
    upstream.come_back()
    expect(state_of(page)).to_have_text("ready")
    expect(rows(page, "status").filter(has_text="Open again")).to_be_visible()
    expect(page.locator("#announcer")).to_have_text("default is ready")


def test_its_buttons_disconnect_and_connect(page: Page, upstream: Upstream) -> None:
    page.get_by_role("button", name="Disconnect").click()
    assert upstream.peer().left() == (1000, "")
    expect(state_of(page)).to_have_text("closed")
    expect(page.locator(".facts")).to_contain_text("1000")
    connect = page.get_by_role("button", name="Connect", exact=True)
    # The button that was pressed has gone, and the focus must not go with it.
    expect(connect).to_be_focused()
    page.keyboard.press("Enter")
    upstream.peer(1)
    expect(state_of(page)).to_have_text("ready")


def test_it_finds_the_bridge_again_and_shows_the_gap(
    upstream: Upstream, start_bridge, bridge: Bridge, visit
) -> None:
    visitor = visit(bridge)
    visitor.expected.append(LOST)
    upstream.peer().send("before the page")
    await_received(bridge, 1)
    page = visitor.open()
    await_live(page)
    upstream.peer().send("before")
    expect(rows(page, "text")).to_have_count(2)
    bridge.stop()
    expect(page.get_by_text("The bridge does not answer")).to_be_visible()
    expect(page.locator("#feed-state")).to_have_text("reconnecting")
    again = start_bridge(upstream.url, listen=f"127.0.0.1:{bridge.address[1]}")
    await_live(page)
    expect(rows(page, "gap")).to_have_count(1)
    expect(page.get_by_text("The bridge does not answer")).to_be_hidden()
    again.await_ready()
    upstream.peer(1).send("after")
    expect(rows(page, "text")).to_have_count(3)
    visitor.picture("gap")
    # The gap stands between what came before and after it, and what was shown already is not shown again.
    shown = page.locator("#records .row:not(.status) .payload").all_text_contents()
    assert shown == ["after", "Messages are missing here", "before", "before the page"]


@pytest.mark.parametrize("refusal", ["refused", "unavailable"])
def test_it_comes_back_after_a_refusal(bridge: Bridge, upstream: Upstream, visit, refusal: str) -> None:
    visitor = visit(bridge)
    visitor.expected.append("status of 503")
    asked: list[str] = []

    def answer(route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
        elif refusal == "refused":
            body = "retry: 10\n\nevent: refused\ndata: {}\n\n"
            route.fulfill(status=200, content_type="text/event-stream", body=body)
        else:
            route.fulfill(status=503, content_type="application/problem+json", body="{}")

    # What a shared worker asks for cannot be answered here.
    visitor.page.add_init_script(WITHOUT_SHARED_WORKERS)
    visitor.page.route("**/events?*", answer)
    page = visitor.open()
    await_live(page)
    upstream.peer().send("after all")
    expect(rows(page, "text")).to_have_count(1)
    assert len(asked) == 2


def test_it_asks_for_a_token_until_it_is_right(upstream: Upstream, start_bridge, visit) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "s3cret&="})
    upstream.peer()
    visitor = visit(bridge)
    visitor.expected.append("status of 401")
    page = visitor.open()
    dialog = page.get_by_role("dialog", name="This bridge asks for a token")
    expect(dialog).to_be_visible()
    page.get_by_label("Access token").fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("does not know this token")).to_be_visible()
    visitor.picture("token")
    page.get_by_label("Access token").fill("s3cret&=")
    page.keyboard.press("Enter")
    await_live(page)
    expect(dialog).to_be_hidden()
    upstream.peer().send("for those with a token")
    expect(rows(page, "text")).to_have_count(1)
    page.get_by_role("textbox", name="Message").fill("sent with it")
    page.get_by_role("button", name="Send").click()
    assert upstream.peer().received(1) == ["sent with it"]
    page.reload()
    await_live(page)
    assert page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
    page.get_by_role("button", name="Log out").click()
    expect(dialog).to_be_visible()
    expect(dialog.get_by_text("does not know this token")).to_be_hidden()
    page.reload()
    expect(dialog).to_be_visible()


@pytest.mark.parametrize(
    ("address", "rest"),
    [
        ("/#token=s3cret%26%3D", "/"),
        ("/?access_token=s3cret%26%3D", "/"),
        ("/?access_token=s3cret%26%3D#default", "/#default"),
        ("/#token=s3cret&=", "/"),
    ],
)
def test_a_token_in_its_address_is_taken_out_of_it(
    upstream: Upstream, start_bridge, visit, address: str, rest: str
) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "s3cret&="})
    visitor = visit(bridge)
    visitor.expected.append("status of 401")
    page = visitor.page
    page.goto(bridge.base + address)
    await_live(page)
    shown = page.evaluate("location.href").removeprefix(bridge.base)
    # The page writes the connection that it shows into its address.
    assert shown in (rest, "/#default")
    seen = page.evaluate("document.documentElement.outerHTML + document.referrer + document.cookie")
    assert "s3cret" not in seen
    page.reload()
    await_live(page)
    page.go_back()
    assert "s3cret" not in page.url


def test_a_wrong_token_in_its_address_is_taken_out_and_asked_for(
    upstream: Upstream, start_bridge, visit
) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "right"})
    visitor = visit(bridge)
    visitor.expected.append("status of 401")
    page = visitor.page
    page.goto(f"{bridge.base}/#token=wr%ong")
    expect(page.get_by_text("does not know this token")).to_be_visible()
    assert page.url == f"{bridge.base}/"
    page.evaluate("location.hash = 'token=right'")
    await_live(page)
    assert "token" not in page.url


def test_a_session_that_ends_with_its_token_is_asked_for_again(
    upstream: Upstream, serve_file, tmp_path: Path, visit
) -> None:
    text = "http: {{ tokens: [{{ name: a, token: {} }}] }}\nconnections: {{ default: {{ url: '{}' }} }}\n"
    bridge = serve_file(text.format("first", upstream.url))
    visitor = visit(bridge)
    visitor.expected.append("status of 401")
    page = visitor.page
    page.goto(f"{bridge.base}/#token=first")
    await_live(page)
    (tmp_path / "wsbridge.yaml").write_text(text.format("second", upstream.url))
    bridge.signal(signal.SIGHUP)
    expect(page.get_by_role("dialog", name="This bridge asks for a token")).to_be_visible()
    page.get_by_label("Access token").fill("second")
    page.keyboard.press("Enter")
    await_live(page)


def test_it_says_what_a_token_may_not(bridge: Bridge, visit) -> None:
    visitor = visit(bridge)
    visitor.expected.append("status of 403")
    problem = {"type": "urn:wsbridge:problem:forbidden", "detail": "the token does not have the scope `read`"}
    visitor.page.route("**/v1/connections", lambda route: route.fulfill(status=403, json=problem))
    expect(visitor.open().get_by_text("does not have the scope")).to_be_visible()


def test_several_connections_can_be_chosen_from(bridge: Bridge, upstream: Upstream, visit) -> None:
    visitor = visit(bridge)

    def list_two(route) -> None:
        answer = route.fetch()
        (status,) = answer.json()["connections"]
        other = {**status, "name": "other <b>", "state": "failed", "ready": False}
        route.fulfill(response=answer, json={"connections": [status, other]})

    def stream(route) -> None:
        record = {
            "id": "x-1",
            "connection": "other <b>",
            "time": "2026-11-30T08:00:00.000Z",
            "direction": "in",
            "type": "text",
            "topic": "messages",
            "data": "of the other",
        }
        body = f"retry: 100000\n\nid: x-1\ndata: {json.dumps(record)}\n\n"
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    visitor.page.add_init_script(WITHOUT_SHARED_WORKERS)
    visitor.page.route("**/v1/connections", list_two)
    visitor.page.route(
        "**/v1/connections/other%20%3Cb%3E/subscribers", lambda route: route.fulfill(json={"subscribers": []})
    )
    visitor.page.route("**/v1/connections/other%20%3Cb%3E/events?*", stream)
    page = visitor.open()
    await_live(page)
    expect(page.get_by_role("radio", name="default ready")).to_be_checked()
    upstream.peer().send("of the default")
    expect(rows(page, "text")).to_have_count(1)
    visitor.picture("several")
    page.get_by_role("radio", name="other <b> failed").check()
    expect(rows(page, "text").locator(".payload")).to_have_text("of the other")
    expect(page.get_by_role("button", name="Connect", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("radio", name="other <b> failed")).to_be_checked()


# History


def kept(bridge: Bridge) -> list[dict[str, Any]]:
    """The records that the bridge has, oldest first."""
    records: list[dict[str, Any]] = []
    since = "start"
    while True:
        query = f"types=text,binary,status&direction=both&limit=1000&since={since}"
        page = bridge.get(f"/messages?{query}").json()
        if not page["messages"]:
            return records
        records += page["messages"]
        since = page["next"]


def await_received(bridge: Bridge, count: int) -> None:
    bridge.await_status(lambda status: status["counters"]["received"] == count, f"{count} messages")


def shown(page: Page) -> list[dict[str, str]]:
    """What the rows say, oldest first, payloads of status aside."""
    return page.locator("#records").evaluate(
        """(list) => Array.from(list.querySelectorAll(".row"), (row) => {
            const text = (name) => row.querySelector("." + name).textContent;
            const payload = row.matches(".status") ? null : text("payload");
            const time = row.querySelector("time").dateTime;
            const [direction, type, origin] = ["direction", "kind", "origin"].map(text);
            return { time, direction, type, origin, payload };
        }).reverse()"""
    )


def as_shown(record: dict[str, Any]) -> dict[str, Any]:
    topic = "" if record["topic"] is None else f" · {record['topic']}"
    payload = {
        "text": lambda data: data,
        "binary": lambda data: base64.b64decode(data).hex(" "),
        "status": lambda _: None,
    }[record["type"]](record["data"])
    return {
        "time": record["time"],
        "direction": record["direction"],
        "type": record["type"],
        "origin": record["connection"] + topic,
        "payload": payload,
    }


def test_it_begins_with_the_newest_records_at_their_times(upstream: Upstream, serve_file, visit) -> None:
    bridge = serve_file(
        f"connections: {{ default: {{ url: '{upstream.url}' }} }}\nhistory: {{ includeSent: true }}"
    )
    peer = upstream.peer()
    peer.send(*(f"message {index}" for index in range(250)), b"\x00\xff")
    await_received(bridge, 251)
    bridge.send("sent by another")
    peer.received(1)
    bridge.await_status(lambda status: status["counters"]["sent"] == 1, "the message is sent")
    page = visit(bridge, timezone_id="Asia/Kolkata").open()
    await_live(page)
    expect(rows(page)).to_have_count(200)
    records = kept(bridge)
    assert len(records) == 255
    assert [record["direction"] for record in records].count("out") == 1
    assert shown(page) == [as_shown(record) for record in records[-200:]]
    # What is read is the local time of the record's own.
    here = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    time = datetime.datetime.fromisoformat(records[-1]["time"]).astimezone(here)
    expect(rows(page).first.locator("time")).to_have_text(time.isoformat(timespec="milliseconds")[11:23])
    peer.send("new")
    expect(rows(page)).to_have_count(201)
    page.reload()
    await_live(page)
    expect(rows(page).first.locator(".payload")).to_have_text("new")
    expect(rows(page)).to_have_count(200)
    assert shown(page) == [as_shown(record) for record in kept(bridge)[-200:]]


def test_a_record_of_another_day_shows_its_day(bridge: Bridge, upstream: Upstream, visit) -> None:
    upstream.peer().send("yesterday")
    await_received(bridge, 1)
    time = datetime.datetime.fromisoformat(kept(bridge)[-1]["time"])
    visitor = visit(bridge, timezone_id="UTC")
    visitor.page.clock.set_fixed_time(time + datetime.timedelta(days=1))
    page = visitor.open()
    expect(rows(page, "text").locator("time")).to_have_text(time.isoformat(" ", "milliseconds")[:23])


def test_a_stream_that_is_dropped_again_and_again_shows_each_record_once(
    upstream: Upstream, serve_file, visit
) -> None:
    bridge = serve_file(f"http: {{ retry: 40ms }}\nconnections: {{ default: {{ url: '{upstream.url}' }} }}\n")
    peer = upstream.peer()
    peer.send("before")
    await_received(bridge, 1)
    with contextlib.closing(Relay(bridge.address)) as relay:
        visitor = visit(bridge, base=f"http://{relay.address}")
        visitor.expected.append(LOST)
        page = visitor.open()
        await_live(page)
        for turn in range(5):
            sending = peer.start_sending(
                (f"{turn}.{index}" for index in range(200)), between=lambda: asyncio.sleep(0.001)
            )
            relay.drop()
            sending.result()
            expect(rows(page, "text").first.locator(".payload")).to_have_text(f"{turn}.199")
        expect(rows(page, "gap")).to_have_count(0)
        assert shown(page) == [as_shown(record) for record in kept(bridge)]
        visitor.end()


# What the stream shows


def test_rows_can_be_filtered_by_text_and_kind(page: Page, upstream: Upstream) -> None:
    upstream.peer().send("Alpha", "beta", b"\xab\xcd", "alphabet")
    expect(rows(page)).to_have_count(4)
    field = page.get_by_role("searchbox")
    field.fill("ALPHA")
    assert payloads(page) == ["alphabet", "Alpha"]
    expect(page.locator("#count")).to_have_text("2 of 4 rows")
    upstream.peer().send("gamma", "an alpha again")
    expect(page.locator("#count")).to_have_text("3 of 6 rows")
    field.fill("nothing has this")
    expect(page.get_by_text("No row passes the filter")).to_be_visible()
    field.fill("")
    page.get_by_text("Text", exact=True).last.click()
    assert payloads(page) == []
    assert payloads(page, "binary") == ["ab cd"]
    page.get_by_text("Text", exact=True).last.click()
    assert len(payloads(page)) == 5


def test_it_can_be_paused_without_losing_anything(page: Page, upstream: Upstream) -> None:
    upstream.peer().send("one")
    expect(rows(page)).to_have_count(1)
    button = page.get_by_role("button", name="Pause")
    button.click()
    upstream.peer().send("two", "three")
    expect(page.locator("#held")).to_have_text("Paused. 2 new since.")
    assert payloads(page) == ["one"]
    page.get_by_role("button", name="Go on").click()
    expect(rows(page)).to_have_count(3)
    assert payloads(page) == ["three", "two", "one"]
    expect(page.locator("#held")).to_be_hidden()


def test_it_can_be_cleared(page: Page, upstream: Upstream) -> None:
    upstream.peer().send("one", "two")
    expect(rows(page)).to_have_count(2)
    page.get_by_role("button", name="Clear").click()
    expect(rows(page)).to_have_count(0)
    expect(page.get_by_text("Nothing yet")).to_be_visible()


@pytest.mark.parametrize("isPaused", [False, True], ids=["running", "paused"])
def test_it_keeps_the_newest_two_thousand_rows(page: Page, upstream: Upstream, isPaused: bool) -> None:
    if isPaused:
        page.get_by_role("button", name="Pause").click()
    upstream.peer().send(*(f"message {index}" for index in range(5000)))
    if isPaused:
        expect(page.locator("#held")).to_have_text("Paused. 5,000 new since.")
        page.get_by_role("button", name="Go on").click()
    expect(rows(page).first.locator(".payload")).to_have_text("message 4999")
    expect(rows(page)).to_have_count(2000)
    expect(rows(page).last.locator(".payload")).to_have_text("message 3000")
    expect(page.locator("#count")).to_have_text("2,000 rows")


def test_what_the_upstream_sends_is_only_shown(page: Page, upstream: Upstream) -> None:
    attacks = [
        "<img src=x onerror='window.hacked = 1'>",
        "<script>window.hacked = 2</script>",
        '{"a":"</span><svg onload=window.hacked=3>"}',
        "javascript:window.hacked=4",
    ]
    upstream.peer().send(*attacks, b"<img src=x onerror='window.hacked = 5'>")
    expect(rows(page)).to_have_count(5)
    assert payloads(page)[::-1] == attacks
    for row in rows(page).all():
        row.click()
    upstream.peer().close(4000, "<img src=x onerror='window.hacked = 6'>")
    expect(page.locator(".facts").get_by_text("<img src=x onerror='window.hacked = 6'>")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#records :is(img, script, svg), .card :is(img, script, svg)").count() == 0


# Keyboard


def test_a_message_can_be_sent_with_the_keyboard_alone(page: Page, upstream: Upstream) -> None:
    page.keyboard.press("m")
    page.keyboard.type("typed")
    page.keyboard.press("Control+Enter")
    assert upstream.peer().received(1) == ["typed"]
    # What was sent is selected, so that the next message takes its place.
    expect(page.locator("#send-result")).to_contain_text("5 B")
    page.keyboard.type("another, with ? and / and p")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert upstream.peer().received(2)[1] == "another, with ? and / and p"


def test_shortcuts_do_what_the_page_says(page: Page, upstream: Upstream) -> None:
    upstream.peer().send("first", "second")
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(rows(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows(page).last).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows(page).last).to_have_class(re.compile(r"\bopen\b"))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pause", include_hidden=True)).to_have_count(1)
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_every_stop_of_the_tab_key_shows_the_focus_and_has_a_name(bridge: Bridge, visit) -> None:
    page = visit(bridge).open()
    await_live(page)
    seen: list[str] = []
    while True:
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const element = document.activeElement;
                const shown = [element, element.nextElementSibling].filter(Boolean);
                const label = element.labels?.[0]?.textContent ?? element.ariaLabel ?? element.textContent;
                if (element === document.body) return null;
                const value = [element.name, element.value].filter(Boolean).join(" ");
                return {
                    id: element.id || value || element.textContent,
                    name: label.trim(),
                    visible: shown.some((one) => getComputedStyle(one).outlineStyle === "solid"),
                };
            }"""
        )
        if stop is None or stop["id"] in seen:
            break
        seen.append(stop["id"])
        assert stop["visible"], stop
        assert stop["name"], stop
    for control in (
        "open-help",
        "Disconnect",
        "kind text",
        "message",
        "Send",
        "filter",
        "shown status",
        "pause",
        "records",
    ):
        assert control in seen, seen


# Looks


def contrast(page: Page, selector: str) -> float:
    """The contrast of an element's text with what is behind it (WCAG 2)."""
    return page.locator(selector).first.evaluate(
        """(element) => {
            const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const paint = (color) => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); };
            const luminance = () => {
                const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
                    const value = part / 255;
                    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const behind = [];
            for (let one = element; one; one = one.parentElement) behind.unshift(one);
            for (const one of behind) paint(getComputedStyle(one).backgroundColor);
            const back = luminance();
            paint(getComputedStyle(element).color);
            const front = luminance();
            return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
        }"""
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_fits_and_can_be_read(bridge: Bridge, upstream: Upstream, visit, scheme: str, width: int) -> None:
    size = {"width": width, "height": 860 if width > 600 else 1500}
    visitor = visit(bridge, viewport=size, color_scheme=scheme)
    page = visitor.open()
    await_live(page)
    peer = upstream.peer()
    peer.send('{"type":"subscribed","channel":"trades"}', b"\x00\x01\x02\x03" * 64, "x" * 5000)
    peer.close(1012, "restart-without-any-space-" * 4)
    expect(state_of(page)).to_have_text("ready")
    upstream.peer(1).send(
        '{"symbol":"AAPL","price":228.52,"size":100,"venue":"XNAS","conditions":["@","T"]}', "ping"
    )
    expect(rows(page, "text")).to_have_count(4)
    rows(page, "text").filter(has_text="AAPL").click()
    page.mouse.move(0, 0)
    for selector in (
        "h2",
        ".state",
        ".facts dt",
        ".facts dd",
        ".payload",
        ".row time",
        ".row.status .payload",
        ".row.binary .kind",
        "button.main",
        ".chips span",
        ".choice span",
        "#feed-state",
        "#count",
        "#lag",
    ):
        assert contrast(page, selector) >= 4.5, selector
    visitor.picture(f"{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.keyboard.press("?")
    visitor.picture(f"help-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_schemes_differ(bridge: Bridge, visit) -> None:
    grounds = set()
    for scheme in SCHEMES:
        page = visit(bridge, color_scheme=scheme).open()
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


# A flood

RATE = 500


def flood(upstream: Upstream, count: int):
    """Start to send messages, `RATE` a second."""

    async def pace() -> None:
        await asyncio.sleep(1 / RATE)

    messages = (json.dumps({"index": index, "note": "n" * 60}) for index in range(count))
    return upstream.peer().start_sending(messages, pace)


def test_a_flood_leaves_the_page_most_of_its_time(page: Page, upstream: Upstream) -> None:
    session = page.context.new_cdp_session(page)
    # Time that the page's thread worked, not time that passed, so that others on the machine do not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    # The list is full from here on, which is when it costs most.
    upstream.peer().send(*(f"message {index}" for index in range(2000)))
    expect(page.locator("#count")).to_have_text("2,000 rows")
    start = worked()
    flood(upstream, 1500).result()
    expect(rows(page).first).to_contain_text('"index": 1499')
    share = (worked() - start) / 1500 * RATE
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "page-flood.json").write_text(json.dumps({"messages_per_second": RATE, "busy_share": share}))
    assert share < 0.75


def test_it_answers_its_user_while_messages_flood_in(page: Page, upstream: Upstream) -> None:
    page.evaluate(
        """() => {
            window.timings = [];
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) window.timings.push(entry.duration);
            }).observe({ type: "event", durationThreshold: 16 });
        }"""
    )
    sending = flood(upstream, 2500)
    field = page.get_by_role("searchbox")
    expect(rows(page).first).to_be_visible()
    handled = 0
    while not sending.done():
        field.press_sequentially("index")
        field.fill("")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Go on").click()
        handled += not sending.done()
    sending.result()
    expect(rows(page)).to_have_count(2000)
    timings = sorted(page.evaluate("window.timings"))
    REPORTS.mkdir(exist_ok=True)
    report = {"rounds": handled, "median_ms": timings[len(timings) // 2], "longest_ms": timings[-1]}
    (REPORTS / "page-input.json").write_text(json.dumps(report))
    # Each round is a dozen inputs and waits for what they do.
    assert handled >= 2
