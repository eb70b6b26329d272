"""Recipes that are about no service: each is followed, with an upstream or a stand-in at the other end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from harness import Bridge, Upstream, await_truth
from harness.browser import Browser, Visit, expect
from recipes import Recipe, here
from services.binance import Binance
from services.json_rpc import JSONRPC


def command_of(crontab: str) -> str:
    """Return the command of a crontab's only entry, as cron hands it to the shell."""
    (entry,) = (line for line in crontab.splitlines() if not line.startswith("#"))
    *schedule, command = entry.split(maxsplit=5)
    assert all(re.fullmatch(r"[\d*/,-]+", field) for field in schedule), schedule
    # An unescaped % is the end of the command.
    command = re.split(r"(?<!\\)%", command)[0]
    return command.replace(r"\%", "%")


def test_a_cron_job_posts_to_a_chat(
    upstream: Upstream, run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    recipe = Recipe("cron-to-chat", tmp_path)
    bridge = recipe.serve(run_bridge, upstream.url, CHAT_TOKEN="s3cret")
    peer = upstream.peer()
    assert peer.request.headers["Authorization"] == "Bearer s3cret"
    with recipe.start(here(command_of(recipe.block("crontab").text), bridge), bridge) as job:
        assert job.exit_code() == 0, job.err.text
        # Cron would mail what it says on stderr.
        assert job.err.text == ""
    (told,) = peer.received(1)
    assert re.fullmatch(r'\{"room":"ops","text":" *\d+%"\}', str(told))
    recipe.follow(bridge)
    assert [json.loads(each)["text"] for each in peer.received(3)[1:]] == ["Good morning", "saved"]


def test_a_shell_loop_looks_at_trades(
    start_service: Callable[..., Binance], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    service = start_service(Binance, streams=["btcusdt@trade"])
    recipe = Recipe("shell-loop-over-trades", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    script, shown = recipe.block("bash").text, recipe.block("text").text.splitlines()
    (tmp_path / "script").write_text(script)
    trades = [("90000.10", "12.50000000"), ("90000.20", "9.99999999"), ("90001.00", "10.00000000")]
    with recipe.start(f"bash '{tmp_path}/script'", bridge) as loop:
        await_truth(lambda: bridge.get("/subscribers").json()["subscribers"], "the loop reads")
        for price, quantity in trades:
            service.publish("btcusdt@trade", {"e": "trade", "p": price, "q": quantity})
        loop.out.until(lambda text: True if text.count("\n") == len(shown) else None, "the large trades")
        assert loop.out.text.splitlines() == shown
        assert loop.err.text == ""
    assert service.breaches == []


def test_a_page_shows_live_data(
    upstream: Upstream, run_bridge: Callable[..., Bridge], browser: Browser, tmp_path: Path
) -> None:
    recipe = Recipe("browser-page", tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text(recipe.block("html").text)
    (tmp_path / "site/live.js").write_text(recipe.block("js").text)
    bridge = recipe.serve(run_bridge, upstream.url)
    visit = Visit(browser, bridge)
    page = visit.open()
    expect(page.locator("#state")).to_have_text("live")
    upstream.peer().send('{"product":"BTC-USD","price":"90000.10"}', '{"product":"ETH-USD","price":"1"}')
    expect(page.locator("#price")).to_have_text("90000.10")
    # Were the other product shown, too, it would be by the time of what follows it.
    assert bridge.post("/disconnect").status == 200
    expect(page.locator("#state")).to_have_text("waiting for the market")
    expect(page.locator("#price")).to_have_text("90000.10")
    assert bridge.post("/connect").status == 200
    expect(page.locator("#state")).to_have_text("live")
    upstream.peer(1).send('{"product":"BTC-USD","price":"90001"}')
    expect(page.locator("#price")).to_have_text("90001")
    visit.end()


def test_a_shell_calls_methods(
    start_service: Callable[..., JSONRPC], run_bridge: Callable[..., Bridge], tmp_path: Path
) -> None:
    service = start_service(JSONRPC)
    recipe = Recipe("json-rpc-from-shell", tmp_path)
    bridge = recipe.serve(run_bridge, service.url)
    (tmp_path / "script").write_text(here(recipe.block("bash").text, bridge))
    with recipe.start(f"bash '{tmp_path}/script' 2>&1", bridge) as script:
        assert script.exit_code() == 0, script.out.text
        assert script.out.text == recipe.block("text").text
    assert service.breaches == []


def test_a_webhook_goes_out(upstream: Upstream, run_bridge: Callable[..., Bridge], tmp_path: Path) -> None:
    recipe = Recipe("webhook-to-websocket", tmp_path)
    bridge = recipe.serve(run_bridge, upstream.url, SHOP_TOKEN="s3cret", ORDERS_TOKEN="t0psecret")
    peer = upstream.peer()
    assert (peer.request.path, peer.request.headers["Authorization"]) == ("/orders", "Bearer t0psecret")
    recipe.follow(bridge)
    assert peer.received(3) == ['{"order":1}', '{"order":2}', '{"order":3}']
